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

small='16 KB|32 KB| 256x256$|64x64x64'
"$ptxbench" table --filter "$small" --rounds 1 --threads 1,2 --json "$work/jit.json"
"$ptxbench" table --filter "$small" --rounds 1 --threads 1 --mode normal

rows=$(grep -c '"kernel": "vector_add", "size": "16 KB"' "$work/jit.json")
[ "$rows" = 2 ] || fail "vector_add is there $rows times, not for 1 and 2 threads"
for key in kernel size threads ours_s plain_s tuned_s ratio limit_share collapse width jam \
    compile_ms; do
    grep '"kernel": "vector_add"' "$work/jit.json" | grep -q "\"$key\": " || fail "no $key"
done
grep -q '"ratio": [0-9]' "$work/jit.json" || fail "no number for ratio"
grep -q '^"geomean": [0-9]' "$work/jit.json" || fail "no number for geomean"
if grep '"error"' "$work/jit.json"; then
    fail "a row has an error"
fi

status=0
"$ptxbench" table --filter 'vector_add 16' --collapse sideways 2>"$work/usage" || status=$?
[ $status = 2 ] || fail "an unknown collapse gives exit status $status"
grep -q '^usage:' "$work/usage" || fail "no usage"
