#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What run.sh says of programs that pass, fail, crash, hang and so on.
# Usage: self_test.sh PTXRUN PROGRAM PROGRAM-THAT-NAMES-A-VENDOR-LIBRARY
set -u
ptxrun=$1
run=$(cd "$(dirname "$0")" && pwd)/run.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/with\ blank
mkdir -p "$tree/sub/CMakeFiles"
for name in passes argument own_directory fails says_failed crashes hangs waived unsupported; do
    cp "$2" "$tree/sub/$name"
done
cp "$3" "$tree/vendor"
cp "$3" "$tree/passes_with_vendor"
cp "$2" "$tree/sub/CMakeFiles/tried_out"
cp "$2" "$tree/libnothing.so"
printf '#!/bin/sh\nexit 0\n' >"$tree/script"
chmod +x "$tree/script"
printf '# a comment\nargument wanted\nargument  wanted \nargument other\n' >"$work/arguments"

failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# row PROGRAM RESULT REASON: the table has this row, and the reason begins so
row() {
    awk -v name="$1" -v result="$2" -v reason="$3" '
        $1 == name && $2 == result {
            sub(/^[^ ]+ +[^ ]+ +[^ ]+ */, "")
            found = index($0, reason) == 1 && (reason != "" || $0 == "")
        }
        END { exit !found }' "$work/table" || fail "no row '$1 $2 $3' in the table"
}

sh "$run" --timeout 2 --jobs 4 --args "$work/arguments" --logs "$work/logs" --json "$work/json" \
    --junit "$work/junit" "$ptxrun" "$tree" >"$work/table" 2>&1
[ $? -eq 1 ] || fail "exit status with failures is not 1"
row passes pass ""
row passes_with_vendor pass ""
row own_directory pass ""
row argument/1 pass ""
row argument/2 pass ""
row argument/3 fail "status 3"
row fails fail 'status 1: CUDA error at line 7: <"invalid"> & more'
row says_failed fail "it says: Test FAILED"
row crashes fail "killed by signal ABRT"
row hangs fail "no end after 2 s"
row waived skip "waived itself: two devices are required"
row unsupported skip "ptxrun: warning: cuExample is not supported"
row vendor skip "needs libcublas.so.13"
grep -q '^5 passed, 5 failed, 3 skipped, of 13$' "$work/table" || fail "totals"
grep -q 'some progress' "$work/logs/fails.txt" || fail "--logs keeps what was printed"
grep -q '"name": "fails".*"reason": "status 1: CUDA error at line 7: <\\"invalid' "$work/json" ||
    fail "--json"
grep -q '<failure message="status 1: CUDA error at line 7: &lt;&quot;invalid' "$work/junit" ||
    fail "--junit"

# expect STATUS LINE NAME...: status and a line of the table when these are expected to pass
expect() {
    status=$1 line=$2
    shift 2
    printf '%s\n' "$@" >"$work/names"
    sh "$run" --only '^(passes|waived|argument)$' --args "$work/good" --expect "$work/names" \
        "$ptxrun" "$tree" >"$work/table" 2>&1
    [ $? -eq "$status" ] || fail "exit status when $* are expected"
    grep -q "$line" "$work/table" || fail "no line '$line' when $* are expected"
}
printf 'argument wanted\nargument wanted\n' >"$work/good"
expect 0 '^3 passed, 0 failed, 1 skipped' passes argument
expect 1 '^expected to pass: waived (skip)$' passes waived
expect 1 '^expected to pass: gone (not found)$' passes gone

# refused NAME ARGUMENTS...: status 2 and the usage
refused() {
    what=$1
    shift
    sh "$run" "$@" >"$work/table" 2>&1
    [ $? -eq 2 ] || fail "$what: exit status is not 2"
    grep -q '^usage:' "$work/table" || fail "$what: no usage"
}
refused "unknown option" --frobnicate "$ptxrun" "$tree"
refused "option without its value" --only
refused "no directory" "$ptxrun"
refused "directory that is not there" "$ptxrun" "$work/gone"
refused "time that is no number" --timeout soon "$ptxrun" "$tree"
refused "option that ptxrun does not know" --option --frobnicate "$ptxrun" "$tree"

[ $failures -eq 0 ] && echo "what run.sh says of programs: as promised"
exit $((failures > 0))
