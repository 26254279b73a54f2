#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs with damaged fat binaries under ptxrun: they end by themselves, in time and with an exit
# status of their own, and somebody says what is wrong with the image.
# Usage: damaged_programs.sh PTXRUN PTXDUMP DAMAGE_PROGRAM COPIES PROGRAM...
set -u
ptxrun=$1
ptxdump=$2
damage=$3
copies=$4
shift 4

. "$(dirname "$0")/prebuilt_shared.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ulimit -c 0
ulimit -v 16000000

failures=0
complaints=0
fail() {
    echo "FAILED: $*"
    tail -n 3 stderr
    failures=$((failures + 1))
}

for program; do
    seed=0
    while [ $seed -lt "$copies" ]; do
        seed=$((seed + 1))
        "$damage" $seed "$program" copy || exit 1
        timeout 60 "$ptxrun" ./copy >stdout 2>stderr
        status=$?
        if [ $status -ge 124 ]; then
            fail "exit status $status: seed $seed of $program"
        elif grep -q '^ptxrun: error: copy: image [0-9]* ([^)]*)[:,]' stderr; then
            complaints=$((complaints + 1))
        elif [ $status -ne 0 ] && ! grep -q . stdout; then
            fail "exit status $status without a word: seed $seed of $program"
        fi
        rm -rf out
        timeout 60 "$ptxdump" list copy >stdout 2>stderr || grep -q '^ptxdump: copy: ' stderr ||
            fail "ptxdump list: seed $seed of $program"
        timeout 60 "$ptxdump" extract -o out copy >stdout 2>stderr ||
            grep -q '^ptxdump: copy: ' stderr || fail "ptxdump extract: seed $seed of $program"
    done
done
echo "$(($# * copies)) damaged programs: $complaints damaged images reported, $failures failures"
[ $failures -eq 0 ] && [ $complaints -gt 0 ]
