#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --matrix=fast: a program with products of bf16 gets dot products of a CPU that gains by them, says so, and does not
# take its code from the cache of exact products, or give it to them.
# fast_matrices.sh PTXRUN PROGRAM FOLDER
set -eu
ptxrun=$1
program=$2
folder=$3
cpu=cooperlake
line='products of matrices of bf16: dot products of the CPU'

fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$folder"
mkdir -p "$folder"

run() { # OPTION...
    "$ptxrun" --cache-dir "$folder/cache" --explain --tier=best "$@" "$program" 128 1 >"$folder/out" 2>&1
}

[ "$(uname -m)" = x86_64 ] || exit 77
grep -q avx512_bf16 /proc/cpuinfo || exit 77

for order in 'exact fast' 'fast exact'; do
    for matrix in $order; do
        run --cpu=$cpu --matrix=$matrix || fail "$matrix: $(cat "$folder/out")"
        grep -q PASSED "$folder/out" || fail "$matrix: other results"
        case $matrix in
        exact) ! grep -q "$line" "$folder/out" || fail "exact products are not exact" ;;
        fast) [ "$(grep -c "$line" "$folder/out")" = 1 ] || fail "no dot products: $(cat "$folder/out")" ;;
        esac
    done
done

run --cpu=x86-64-v3 --matrix=fast || fail "v3: $(cat "$folder/out")"
! grep -q "$line" "$folder/out" || fail "v3 has no dot products"
