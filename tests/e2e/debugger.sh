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
failed=0

skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "$program is built for x86_64"
command -v gdb >/dev/null 2>&1 || skip "there is no gdb"
gdb -nx -batch -ex run -ex quit --args true 2>&1 | grep -q 'exited normally' ||
    skip "gdb cannot run a program here"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# expect WHAT PATTERN FILE
expect() {
    if ! grep -q -- "$2" "$dir/$3"; then
        echo "FAILED: $1: no '$2' in what gdb said:"
        cat "$dir/$3"
        failed=1
    fi
}

# debug FILE BREAKPOINT: one session of gdb; other threads wait while one steps.
debug() {
    cat >"$dir/commands" <<END
set pagination off
set confirm off
set breakpoint pending on
break $2
run
bt 1
delete
set scheduler-locking on
step
step
set scheduler-locking off
continue
END
    gdb -nx -batch -x "$dir/commands" --args env "$ptxrun" --debug=gdb --dump-dir="$dir" \
        "$program" >"$dir/$1" 2>&1
}

debug by_name "$kernel"
expect "a stop by the kernel's name" "hit Breakpoint 1.*at .*$kernel.ptx:[0-9]" by_name
expect "a frame with the kernel's name" "^#0 .*$kernel.*$kernel.ptx:[0-9]" by_name
expect "the program goes on to its end" "PASSED" by_name

line=$(grep -n "^[[:space:]]*$statement" "$dir/$kernel.ptx" | head -n 1 | cut -d: -f1)
if [ -z "$line" ]; then
    echo "FAILED: no '$statement' in the kernel's PTX"
    exit 1
fi
debug by_line "$kernel.ptx:$line"
expect "a stop by a line" "hit Breakpoint 1.*$kernel.ptx:$line" by_line
expect "the line itself" "^$line[[:space:]].*$statement" by_line
steps=$(grep -c "^[1-9][0-9]*[[:space:]].*;" "$dir/by_line")
if [ "$steps" -lt 3 ]; then
    echo "FAILED: the stop and two steps show $steps lines of PTX"
    cat "$dir/by_line"
    failed=1
fi
exit $failed
