#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files that tests take as cases are those that cases.txt lists: one that is lost, or that nobody has
# added, would not be missed otherwise. "update" writes the list anew.
# Usage: cases.sh check|update [ROOT [LIST]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${2:-$here/../..} list=${3:-$here/cases.txt}

cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A folder that is gone has no cases: the comparison says so.
for folder in examples/expected examples/prebuilt tests/cuda/expected tests/cuda/prebuilt tests/data/fatbin \
    tests/golden tests/ptx tests/unit/analysis/cases tests/unit/jit/fixtures tests/vector/cases \
    tests/vector/iterations; do
    [ ! -d "$folder" ] || find "$folder" -type f ! -name README.md -print
done | LC_ALL=C sort >"$work/cases"

case $1 in
update) cp "$work/cases" "$list" ;;
check)
    [ -s "$list" ] || {
        echo "no list of cases: $list"
        exit 1
    }
    if ! diff "$list" "$work/cases" >"$work/difference"; then
        sed -n 's/^< \(.*\)/\1 is lost/p; s/^> \(.*\)/\1 is not in the list of cases/p' "$work/difference"
        echo "If that is meant: sh tests/house/cases.sh update"
        exit 1
    fi
    echo "$(wc -l <"$list") cases"
    ;;
*)
    echo "Usage: cases.sh check|update [ROOT [LIST]]"
    exit 2
    ;;
esac
