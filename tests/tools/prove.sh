#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes tools/proved.def: which tests run each row of the op table and judge the result.
#   sh tests/tools/prove.sh BUILD
#   conformance  tests/conformance, against the oracle      golden  there, against a GPU's results
#   random       kernels of tests/random                    shapes  files of tests/ptx
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build/tests/conformance/conformance" --verbose --cases 1 |
    awk '/ samples / && $3 > 0 && $(NF - 1) == 0 {print $1, "conformance"}' | grep -v '^[0-9]' >"$work/all"
"$build/tests/conformance/conformance" --verbose --golden compare tests/golden/sm_90 --cases 2000 \
    --max-sm 90 |
    awk '/ samples / && $4 > 0 && $(NF - 1) == 0 {print $1, "golden"}' | grep -v '^[0-9]' >>"$work/all"

seed=1
while [ $seed -le 300 ]; do
    "$build/tests/cases/random_kernels" --print $seed >"$work/$seed.ptx"
    seed=$((seed + 1))
done
"$build/tests/tools/rows_used" "$work"/*.ptx | sed 's/$/ random/' >>"$work/all"
"$build/tests/tools/rows_used" tests/ptx/shapes/*.ptx tests/ptx/regress/*.ptx | sed 's/$/ shapes/' >>"$work/all"

{
    echo '/* SPDX-License-Identifier: Apache-2.0'
    echo ' *'
    echo ' * The tests that run each row of the op table: PROVED(ROW, "tests"). Written by'
    echo ' * tests/tools/prove.sh, which says what the tests are. */'
    sort -u "$work/all" |
        awk '$1 != row {if (row) printf "PROVED(%s, \"%s\")\n", row, tests; row = $1; tests = $2; next}
             {tests = tests " " $2} END {printf "PROVED(%s, \"%s\")\n", row, tests}'
} >tools/proved.def
