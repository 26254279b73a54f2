#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where PTX tells lines of its source, GDB stops there and steps by them, in any collapse; by lines
# of PTX if asked for those. A report of a fault names both lines.
#   sh tests/e2e/source_lines.sh PTXRUN PROGRAM
# PROGRAM: placed_user.
set -u
ptxrun=$1
program=$2
. "$(dirname "$0")/gdb_session.sh"

cat >"$dir/twice.cu" <<'END'
__global__ void twice(int *in, int *out)
{
    int i = threadIdx.x;
    int old = in[i];
    out[i] = old * 2;
}
END
# The load of line 4 may become part of the instruction that adds, which is line 5's.
debug precise twice.cu:4 --debug=gdb --collapse=precise
expect "a stop by a line of the source" "hit Breakpoint 1.*twice.cu:4" precise
expect "the line itself" "^4[[:space:]].*int old = in" precise
expect "a step to another line" "^[35][[:space:]].*;" precise
debug auto twice.cu:5 --debug=gdb
expect "a stop by a line of the source" "hit Breakpoint 1.*twice.cu:5" auto
expect "the line itself" "^5[[:space:]].*out.i. = old" auto
expect "the program goes on to its end" "PASSED" auto
debug ptx twice.ptx:15 --debug=gdb-ptx
expect "a stop by a line of PTX" "hit Breakpoint 1.*twice.ptx:15" ptx

for options in "" --debug=gdb --tier=quick; do
    # shellcheck disable=SC2086 # none or one
    "$ptxrun" $options --dump-dir="$dir" "$program" fault >"$dir/fault" 2>&1
    expect "both lines of a fault, $options" "PTX line 15 (src/twice.cu:5)" fault
done
exit $failed
