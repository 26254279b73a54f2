#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptxrun --cpu: code for other CPUs gives the same results with the vectors that those have, and a
# CPU that cannot be is named in an error that the program sees.
# other_cpu.sh PTXRUN PROGRAM EXPECTED FOLDER
set -eu
ptxrun=$1
program=$2
expected=$3
folder=$4

fail() {
    echo "$*" >&2
    exit 1
}

rm -rf "$folder"
mkdir -p "$folder"

# Runs the program on CPU $1; its assembly is in $folder/$1.
run() {
    "$ptxrun" --cpu "$1" --dump asm --dump-dir "$folder/$1" "$program" >"$folder/out" 2>"$folder/err" || return 1
    cmp "$folder/out" "$expected" || fail "$1: other results"
}

case $(uname -m) in
x86_64) ;;
*) exit 77 ;;
esac

for cpu in x86-64 x86-64-v2; do
    run $cpu || fail "$cpu: $(cat "$folder/err")"
    grep -q '%xmm' "$folder/$cpu"/*.s || fail "$cpu: no vectors"
    ! grep -q '%[yz]mm' "$folder/$cpu"/*.s || fail "$cpu: vectors of another CPU"
done

# As far as this machine has them.
if run x86-64-v3; then
    grep -q '%ymm' "$folder"/x86-64-v3/*.s || fail "x86-64-v3: narrow vectors"
    ! grep -q '%zmm' "$folder"/x86-64-v3/*.s || fail "x86-64-v3: vectors of another CPU"
else
    grep -q "lacks '" "$folder/err" || fail "x86-64-v3: $(cat "$folder/err")"
fi

! run no-such-cpu || fail "no-such-cpu: the program works"
grep -q "knows no CPU 'no-such-cpu'" "$folder/err" || fail "no-such-cpu: $(cat "$folder/err")"
