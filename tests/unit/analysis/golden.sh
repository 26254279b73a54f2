#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# golden.sh ANALYSE DIRECTORY: what the analyses say about each DIRECTORY/*.ll is what the .txt beside it
# says. A line "; block X,Y,Z" at the beginning of a case gives the block's shape. With UPDATE=1 the .txt
# files are written instead: read the difference before keeping it.
analyse=$1
directory=$2
failed=0
for case in "$directory"/*.ll; do
    expected=${case%.ll}.txt
    block=$(sed -n '1s/^; block //p' "$case")
    if [ -n "$UPDATE" ]; then
        "$analyse" ${block:+--block "$block"} "$case" >"$expected" || failed=1
        continue
    fi
    "$analyse" ${block:+--block "$block"} "$case" | diff -u "$expected" - || {
        echo "golden.sh: ${case##*/} differs" >&2
        failed=1
    }
done
exit $failed
