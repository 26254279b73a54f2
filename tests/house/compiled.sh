#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every unit test in the tree is compiled by something.
# Usage: compiled.sh ROOT BUILD OBJECTS
# OBJECTS: a file with the object files of the unit tests, below BUILD, one a line.
set -eu
root=$1 build=$2 objects=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$here/sources.sh" "$root" | grep '^tests/unit/.*/test_[^/]*\.c$' >"$work/tests" || true
sh "$here/objects.sh" "$build" "$objects" | cut -d' ' -f2 | LC_ALL=C sort -u >"$work/compiled"
LC_ALL=C comm -23 "$work/tests" "$work/compiled" | sed 's/$/ is compiled by nothing/' >"$work/lost"
cat "$work/lost"
echo "$(wc -l <"$work/tests") unit tests"
[ -s "$work/tests" ] && [ ! -s "$work/lost" ]
