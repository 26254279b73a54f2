#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_reports.sh PTXRUN MEMORY_DEFECTS HOST_DEFECTS: the reports of --check in each format, and what programs end with.
set -u
PTXRUN=$1
PROGRAM=$2
HOST_PROGRAM=$3
case=stencil_border
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PTXRUN_CACHE_DIR="$dir/cache"
failures=0

fail() # MESSAGE
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# check FORMAT WANTED-CODE TWIN OPTION...: the report in $dir/report
check()
{
    format=$1
    wanted=$2
    twin=$3
    shift 3
    "$PTXRUN" --check --check-format="$format" --check-report="$dir/report" "$@" "$PROGRAM" "$case" "$twin" \
        2> "$dir/err"
    code=$?
    [ $code -eq "$wanted" ] || fail "$format $twin: ended with $code, not $wanted"
}

has() # TEXT
{
    grep -qF -- "$1" "$dir/report" || fail "$format $twin: no '$1' in $(cat "$dir/report")"
}

is_json()
{
    command -v python3 > /dev/null || return
    python3 -m json.tool "$dir/report" > "$dir/parsed" || fail "$format $twin: no JSON"
}

check text 1 wrong
has 'read of 4 bytes outside of every allocation [out-of-bounds]'
has '  in stencil_border(float const*, float*, int, int), block (3,0,0), thread (232,0,0)'
has '1 places'
grep -q '^ptxrun: check: 1 errors at 1 place$' "$dir/err" || fail "the last line: $(tail -1 "$dir/err")"
grep -q 'cudaMalloc' "$dir/err" || fail "nobody has allocated it: $(cat "$dir/err")"
check json 1 wrong
is_json
has '"rule": "out-of-bounds"'
has '"count": 1'
has '"thread": [232, 0, 0]'
check sarif 1 wrong
is_json
has '"version": "2.1.0"'
has '"ruleId": "out-of-bounds"'
has '"uri": "file:///tests/cuda/memory_defects.cu"'
check junit 1 wrong
has '<testsuite name="ptxrun.check" tests="1" failures="1">'
check junit 0 right
has '<testcase classname="ptxrun.check" name="no errors"/>'
check json 0 right
is_json
has '"findings": []'
check json 7 wrong --error-exitcode=7
check json 0 wrong --error-exitcode=0
check json 1 wrong --check-report="$dir/none/report"
grep -q "'$dir/none/report' cannot be written: No such file" "$dir/err" || fail "no report: $(cat "$dir/err")"
"$PTXRUN" "$PROGRAM" stencil_border wrong 2> "$dir/err"
[ $? -eq 0 ] && [ ! -s "$dir/err" ] || fail "without --check: $(cat "$dir/err")"
PROGRAM=$HOST_PROGRAM
case=copy_past_end
check text 1 wrong
has 'write of 404 bytes by cudaMemcpy outside of an allocation [api-out-of-bounds]'
has '  at /tests/cuda/host_defects.cu:79'
has ': it goes 4 bytes beyond the end of the 400-byte block at 0x'
has ', allocated at /tests/cuda/host_defects.cu:78'
has '    main in /tests/cuda/host_defects.cu:79 [0x'
check json 1 wrong
is_json
has '"kernel": null'
has '"function": "cudaMemcpy"'
check sarif 1 wrong
is_json
has '"uri": "file:///tests/cuda/host_defects.cu"'
has '"startLine": 79'
check junit 1 wrong
has 'name="api-out-of-bounds: /tests/cuda/host_defects.cu:79"'
rm -f "$dir/report"
"$PTXRUN" --check --check-format=junit --check-report="$dir/report" "$PROGRAM" $case wrong abort 2> "$dir/err"
[ $? -eq 134 ] || fail "a program that aborts ended with $?: $(cat "$dir/err")"
has 'name="api-out-of-bounds: /tests/cuda/host_defects.cu:79"'
has '</testsuite>'
case=fill_of_freed
check text 1 wrong
has ', freed at /tests/cuda/host_defects.cu:137'
case=leaked
check text 0 wrong
check text 1 wrong --leak-check
has '400 bytes of device memory never given back [leak]'
check json 0 right --leak-check
PROGRAM=$2
case=heap_leaked
check text 0 wrong
check text 1 wrong --leak-check
has "640 bytes of the kernels' heap in 32 blocks never given back [leak]"
has 'allocated by heap_leaked(int*, int)'
check text 1 right --leak-check # other memory
! grep -q "kernels' heap" "$dir/report" || fail "right: $(cat "$dir/report")"
echo "$failures failures"
[ $failures -eq 0 ]
