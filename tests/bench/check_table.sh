#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Not for its numbers: the quick rows of `ptxbench table` are right in both modes, and the JSON has
# what a reader of it needs. Usage: check_table.sh PTXBENCH
set -eu
ptxbench=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    exit 1
}

small='16 KB|32 KB| 256x256$|64x64x64|mma_s8'
"$ptxbench" table --filter "$small" --rounds 1 --threads 1,2 --json "$work/jit.json"
"$ptxbench" table --filter "$small" --rounds 1 --threads 1 --mode normal

rows=$(grep -c '"kernel": "vector_add", "size": "16 KB"' "$work/jit.json")
[ "$rows" = 2 ] || fail "vector_add is there $rows times, not for 1 and 2 threads"
for key in kernel size threads ours_s plain_s tuned_s ratio limit_share collapse width jam \
    compile_ms; do
    grep '"kernel": "vector_add"' "$work/jit.json" | grep -q "\"$key\": " || fail "no $key"
done
grep -q '^{"machine": ".' "$work/jit.json" || fail "no CPU"
grep -q '^"caches": "L1 [0-9]*K.*L2' "$work/jit.json" || grep -q '^"caches": "unknown"' "$work/jit.json" || fail "no caches"
grep -q '"ratio": [0-9]' "$work/jit.json" || fail "no number for ratio"
grep -q '^"geomean": [0-9]' "$work/jit.json" || fail "no number for geomean"
if grep '"error"' "$work/jit.json"; then
    fail "a row has an error"
fi

# The page, with what only the page has.
"$ptxbench" table --filter 'vector_add 16|reduce_shuffle 32|vote_any|nbody n=' --rounds 1 --threads 1,2 --html "$work/html" \
    >"$work/page"
grep -q '^vote_any ' "$work/page" || fail "no row that votes"
grep -q '^geometric mean of 6 ratios' "$work/page" || fail "a row of the page alone is in the mean"
for title in 'Kernels against C' 'JIT mode against normal mode' 'Flat against hierarchical' 'Shuffles and votes' \
    'Compiling against running' 'Quick code against the best' 'Scaling over threads' 'Scaling over blocks' 'All numbers' '<details><summary>vote_any'; do
    grep -q "$title" "$work/html" || fail "the page has no '$title'"
done
if grep -q FAILED "$work/html"; then
    fail "a row of the page is wrong"
fi
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$work/html"
fi

status=0
"$ptxbench" table --filter 'vector_add 16' --collapse sideways 2>"$work/usage" || status=$?
[ $status = 2 ] || fail "an unknown collapse gives exit status $status"
grep -q '^usage:' "$work/usage" || fail "no usage"

status=0
"$ptxbench" table --filter 'vector_add 16' --skip=unroll,unrol 2>"$work/usage" || status=$?
[ $status = 2 ] || fail "an unknown step gives exit status $status"
grep -q "'unrol' is no step that can be left out" "$work/usage" || fail "the unknown step is not named"
"$ptxbench" table --filter 'vector_add 16' --rounds 1 --threads 1 --skip=vectorise \
    --json "$work/skip.json" >"$work/skip"
grep -q '; without vectorise$' "$work/skip" || fail "the skipped step is not in the header"
grep -q '"skip": "vectorise"' "$work/skip.json" || fail "the skipped step is not in the JSON"
grep -q '"width": 0' "$work/skip.json" || fail "vectors without the step that makes them"

# Code and C for another CPU.
status=0
"$ptxbench" table --filter 'vector_add 16' --cpu no-such-cpu 2>"$work/error" || status=$?
[ $status = 2 ] || fail "an unknown CPU gives exit status $status"
grep -q "no-such-cpu" "$work/error" || fail "the unknown CPU is not named"
if [ "$(uname -m)" = x86_64 ]; then
    "$ptxbench" table --filter "$small" --rounds 1 --threads 1 --cpu x86-64-v2 \
        --json "$work/v2.json" >"$work/v2"
    grep -q '^.*; caches: ' "$work/v2" || fail "the header does not name the machine"
    grep -q '^code for CPU x86-64-v2; C by .*[0-9]' "$work/v2" || fail "the header does not name CPU and compilers"
    grep -q '"cpu": "x86-64-v2"' "$work/v2.json" || fail "no CPU in the JSON"
    if grep '"error"' "$work/v2.json"; then
        fail "a row has an error on another CPU"
    fi
fi
