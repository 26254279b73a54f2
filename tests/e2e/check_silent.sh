#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_silent.sh CHECK PTXRUN PROGRAM...: --check=CHECK finds nothing in these programs, and what they print is the same
# with it and without.
set -u
CHECK=$1
PTXRUN=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PTXRUN_CACHE_DIR="$dir/cache"
failures=0
for program in "$@"; do
    for tier in quick best; do
        "$PTXRUN" --tier=$tier "$program" > "$dir/plain" 2> /dev/null
        "$PTXRUN" --tier=$tier "--check=$CHECK" "$program" > "$dir/out" 2> "$dir/err"
        if ! grep -q '^ptxrun: check: no errors$' "$dir/err" || ! cmp -s "$dir/plain" "$dir/out"; then
            echo "FAILED: $program, $tier: $(cat "$dir/err")"
            failures=$((failures + 1))
        fi
    done
done
echo "$# programs, $failures failures"
[ $failures -eq 0 ]
