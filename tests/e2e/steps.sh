#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps of compiling as users meet them: dumped, timed, checked, left out, and found by bisection.
#   sh tests/e2e/steps.sh PTXRUN PROGRAM CLUSTERS
# PROGRAM has a kernel with barriers that becomes vectors, and says PASSED. CLUSTERS has predicates that threads keep
# from one step to the next, and says it, too.
set -u
ptxrun=$1
program=$2
clusters=$3
here=$(dirname "$0")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# expect WHAT COMMAND...
expect() {
    what=$1
    shift
    if ! "$@" >"$dir/out" 2>&1; then
        echo "FAILED: $what"
        tail -5 "$dir/out"
        failed=1
    fi
}

has() { grep -q -- "$1" "$dir/$2"; }
passes() { "$@" 2>&1 | grep -q PASSED; }

"$ptxrun" --dump=after:vectorise,after:blocks --dump-dir "$dir/some" "$program" >/dev/null
expect "two files of two steps" test "$(ls "$dir/some" | grep -c '\.\(vectorise\|blocks\)\.ll$')" = "$(ls "$dir/some" | wc -l)"
expect "there is one behind vectorise" sh -c "ls $dir/some | grep -q vectorise"
"$ptxrun" --dump=after:all --dump-dir "$dir/all" "$program" >/dev/null
expect "after:all has emit and whole-accesses" sh -c "ls $dir/all | grep -q '\.00\.emit\.ll' && ls $dir/all | grep -q whole-accesses"

"$ptxrun" --time-steps "$program" >"$dir/times" 2>&1
expect "times name steps" has ' vectorise  *[0-9]' times
expect "times have a title" has "steps of kernel '" times

expect "every step keeps its promise" passes "$ptxrun" --verify-steps "$program"
expect "every step of threads that part keeps it, too" passes "$ptxrun" --verify-steps --collapse=vector "$clusters"

# refuses WHAT MESSAGE OPTION: with status 2, before the program is started
refuses() {
    status=0
    "$ptxrun" "$3" touch "$dir/started" >"$dir/bad" 2>&1 || status=$?
    expect "$1 has status 2" test $status = 2
    expect "$1 does not start the program" test ! -e "$dir/started"
    expect "$1 is named" has "$2" bad
}
refuses "an unknown step to skip" "'unrol' is no step that can be left out; there are .*facts, " --skip=facts,unrol
refuses "a required step to skip" "'emit' is no step that can be left out" --skip=emit
refuses "an unknown step to dump" "'unrol' is no step; there are emit, " --dump=ir,after:unrol
PTXRUN_SKIP=unrol "$ptxrun" "$program" >"$dir/bad" 2>&1
expect "a variable is checked by the first compilation" has "'unrol' is no step that can be left out" bad

for step in $(sed -n 's/^| `\([a-z-]*\)` | .* | \(optimisation\|tuning\) | .*/\1/p' "$here/../../docs/pipeline.md"); do
    expect "right without $step" passes "$ptxrun" --verify-steps --skip="$step" "$program"
done

PTXRUN=$ptxrun
export PTXRUN
sh "$here/../../tools/bisect_steps.sh" '[ "$PTXRUN_STEP_LIMIT" -lt 7 ] && "$@"' "$program" >"$dir/found" 2>&1
expect "bisection names the seventh step" has '^step 7: .* of kernel ' found
sh "$here/../../tools/bisect_steps.sh" '"$@"' "$program" >"$dir/found" 2>&1
expect "bisection says when nothing is wrong" has 'all is well' found
exit $failed
