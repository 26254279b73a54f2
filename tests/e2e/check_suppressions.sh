#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_suppressions.sh PTXRUN MEMORY_DEFECTS HOST_DEFECTS: which findings suppressions hide, and those that are written.
set -u
PTXRUN=$1
KERNELS=$2
HOST=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PTXRUN_CACHE_DIR="$dir/cache"
failures=0

fail() # MESSAGE
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# run WANTED-CODE PROGRAM CASE OPTION...
run()
{
    wanted=$1
    program=$2
    case=$3
    shift 3
    "$PTXRUN" --check --check-report="$dir/report" "$@" "$program" "$case" wrong > /dev/null 2> "$dir/err"
    code=$?
    [ $code -eq "$wanted" ] || fail "$case: ended with $code, not $wanted, with $(cat "$dir/file"): $(cat "$dir/err")"
}

# hides PROGRAM CASE LINE...: the entry with these lines does, and the last line says so.
hides()
{
    program=$1
    case=$2
    shift 2
    printf '%s\n' "$@" > "$dir/file"
    run 0 "$program" "$case" --leak-check --suppressions="$dir/file"
    grep -qx 'ptxrun: check: no errors ([0-9]* suppressed)' "$dir/err" || fail "$case: $(cat "$dir/err")"
    grep -qx '0 places' "$dir/report" || fail "$case: $(cat "$dir/report")"
}

shows()
{
    program=$1
    case=$2
    shift 2
    printf '%s\n' "$@" > "$dir/file"
    run 1 "$program" "$case" --suppressions="$dir/file"
    grep -q suppressed "$dir/err" && fail "$case: $(cat "$dir/err")"
}

for detail in 'kernel _Z14stencil_borderPKfPfii' 'kernel stencil_*' 'kernel stencil_border' 'at /tests/*' \
    'kernel stencil_border(float const*, float*, int, int)' 'at /tests/cuda/memory_defects.cu:134' \
    'at memory_defects.cu:134' 'at cuda/*.cu:134' 'at memory_defects.cu'; do
    hides "$KERNELS" stencil_border '# known' 'suppress out-of-bounds' "    $detail" '' 'suppress leak'
done
for detail in 'kernel other' 'at memory_defects.cu:135' 'at defects.cu:134' 'at other.cu' 'call main'; do
    shows "$KERNELS" stencil_border 'suppress *' "    $detail"
done
shows "$KERNELS" stencil_border 'suppress use-after-free'
shows "$KERNELS" stencil_border 'suppress out-of-bounds' '    kernel stencil_border' '    at memory_defects.cu:1'
hides "$KERNELS" stencil_border 'suppress *'
hides "$HOST" copy_past_end 'suppress api-*' '    call main'
hides "$HOST" copy_past_end 'suppress api-*' '    call cudaMemcpy' '	at host_defects.cu:79'
shows "$HOST" copy_past_end 'suppress api-*' '    call cudaMemset'
shows "$HOST" copy_past_end 'suppress api-*' '    kernel *'

# One of two places.
printf 'suppress *\n    at memory_defects.cu:123\n' > "$dir/file"
run 1 "$KERNELS" unrolled_tail --suppressions="$dir/file"
grep -q 'errors at 2 places ([0-9]* suppressed)$' "$dir/err" || fail "$case: $(cat "$dir/err")"

# Files that are wrong hide nothing.
shows "$KERNELS" stencil_border 'suppress *' 'nothing'
grep -qF "line 2 of the suppressions '$dir/file': an entry begins with 'suppress RULE'; none is used" "$dir/err" ||
    fail "nothing: $(cat "$dir/err")"
shows "$KERNELS" stencil_border '    kernel *'
shows "$KERNELS" stencil_border 'suppress *' '    colour red'
run 1 "$KERNELS" stencil_border --suppressions="$dir/none"
grep -q "the suppressions '$dir/none' cannot be read: No such file" "$dir/err" || fail "none: $(cat "$dir/err")"

# What is written hides just that.
for case in stencil_border shared_past_end unrolled_tail; do
    rm -f "$dir/file"
    run 1 "$KERNELS" $case --print-suppressions="$dir/file"
    run 0 "$KERNELS" $case --suppressions="$dir/file"
    run 1 "$KERNELS" bytes_past_end --suppressions="$dir/file"
done
for case in copy_past_end free_inside leaked; do
    rm -f "$dir/file"
    run 1 "$HOST" $case --leak-check --print-suppressions="$dir/file"
    run 0 "$HOST" $case --leak-check --suppressions="$dir/file"
    run 1 "$HOST" free_twice --leak-check --suppressions="$dir/file"
done
# A program without lines of the host.
rm -f "$dir/file"
run 1 "$KERNELS" columns --leak-check --print-suppressions="$dir/file"
grep -q '^    call [a-zA-Z_]' "$dir/file" || fail "columns: $(cat "$dir/file")"
run 0 "$KERNELS" columns --leak-check --suppressions="$dir/file"
echo "$failures failures"
[ $failures -eq 0 ]
