# SPDX-License-Identifier: Apache-2.0
# What tests with GDB share; read by them. They set $ptxrun and $program, and get $dir, which is
# gone at the end, and $failed.
failed=0

skip() {
    echo "skipped: $1"
    exit 77
}
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

# debug FILE BREAKPOINT OPTION...: one session of gdb; other threads wait while one steps.
debug() {
    file=$1
    cat >"$dir/commands" <<END
set pagination off
set confirm off
set breakpoint pending on
directory $dir
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
    shift 2
    gdb -nx -batch -x "$dir/commands" --args env "$ptxrun" "$@" --dump-dir="$dir" \
        "$program" >"$dir/$file" 2>&1
}
