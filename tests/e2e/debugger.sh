#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GDB stops in a kernel by its name and by a line of its PTX, shows that line, and steps to others.
#   sh tests/e2e/debugger.sh PTXRUN PROGRAM KERNEL STATEMENT
# STATEMENT: the start of a line of PTX of the program's KERNEL (mangled), for a basic pattern.
set -u
ptxrun=$1
program=$2
kernel=$3
statement=$4
. "$(dirname "$0")/gdb_session.sh"
[ "$(uname -m)" = x86_64 ] || skip "$program is built for x86_64"

debug by_name "$kernel" --debug=gdb
expect "a stop by the kernel's name" "hit Breakpoint 1.*at .*$kernel.ptx:[0-9]" by_name
expect "a frame with the kernel's name" "^#0 .*$kernel.*$kernel.ptx:[0-9]" by_name
expect "the program goes on to its end" "PASSED" by_name

line=$(grep -n "^[[:space:]]*$statement" "$dir/$kernel.ptx" | head -n 1 | cut -d: -f1)
if [ -z "$line" ]; then
    echo "FAILED: no '$statement' in the kernel's PTX"
    exit 1
fi
debug by_line "$kernel.ptx:$line" --debug=gdb
expect "a stop by a line" "hit Breakpoint 1.*$kernel.ptx:$line" by_line
expect "the line itself" "^$line[[:space:]].*$statement" by_line
steps=$(grep -c "^[1-9][0-9]*[[:space:]].*;" "$dir/by_line")
if [ "$steps" -lt 3 ]; then
    echo "FAILED: the stop and two steps show $steps lines of PTX"
    cat "$dir/by_line"
    failed=1
fi
exit $failed
