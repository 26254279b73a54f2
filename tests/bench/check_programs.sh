#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Not for its numbers: `ptxbench programs` runs programs in both settings and has a row for each
# kernel; what fails is said. Usage: check_programs.sh PTXBENCH PROGRAM
set -eu
ptxbench=$1
program=$2
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: $program is built for x86_64"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    cat "$work/out"
    exit 1
}

printf '# comment\n\n%s\n%s 1 2\n' "$program" "$program" >"$work/manifest"
"$ptxbench" programs --rounds 2 --a '--collapse=flat --threads 1' \
    --b 'PTXRUN_THREADS=1 --collapse=precise' "$work/manifest" >"$work/out" || fail "exit status $?"
rows=$(grep -c '^vector_add .*[0-9]-.*add' "$work/out") || true
[ "$rows" = 2 ] || fail "$rows rows, not one for each line of the manifest"
grep -q 'of 2 kernels' "$work/out" || fail "no mean of two kernels"

"$ptxbench" programs --rounds 1 --markdown "$work/manifest" >"$work/out" || fail "exit status $?"
grep -q '^| vector_add | `.*add.*` | [0-9.]* | [0-9.]* | [0-9.]* |' "$work/out" || fail "no row of Markdown"

# A wrong option is in B only: A must not be reported as if there were a comparison.
status=0
"$ptxbench" programs --rounds 1 --b '--collapse=sideways' "$work/manifest" >"$work/out" 2>&1 || status=$?
[ $status = 1 ] || fail "a program that fails gives exit status $status"
grep -q 'vector_add.*exit status 2 in setting B' "$work/out" || fail "nothing said of the failure"

status=0
"$ptxbench" programs "$work/none" >"$work/out" 2>&1 || status=$?
[ $status = 2 ] || fail "a missing manifest gives exit status $status"
