#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every prebuilt program of examples/ and tests/cuda/ and prints one line for each: the same
# programs as the tests labelled e2e, for use by hand.
# Usage: run_all.sh PTXRUN [PTXRUN-OPTION...]
set -u
export PTXRUN_CACHE=off
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ptxrun=$(realpath "$1")
shift

passed=0
failed=0
for set in examples tests/cuda; do
    for program in "$root/$set"/prebuilt/*/*; do
        name=$(basename "$program")
        [ -f "$root/$set/expected/$name.txt" ] || continue # plugin.so
        if timeout 120 sh "$here/run_program.sh" "$ptxrun" "$program" \
            "$root/$set/expected/$name.txt" "$@" >/dev/null 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED ${program#"$root"/}"
        fi
    done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
