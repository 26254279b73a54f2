#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No line of a paragraph in a page of text is longer than 120 characters. Tables, blocks of code and the
# pages that a program makes ("Made by ...") may have longer ones.
# Usage: lines.sh ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
pages=$(mktemp)
trap 'rm -f "$pages"' EXIT
sh "$here/sources.sh" . '*.md' >"$pages"
[ -s "$pages" ] || {
    echo "no pages"
    exit 1
}
echo "$(wc -l <"$pages") pages"
# Not every awk counts characters: without the bytes that go on with one, bytes are characters.
long=$(while read -r page; do
    grep -q '^Made by `' "$page" || LC_ALL=C tr -d '\200-\277' <"$page" | LC_ALL=C awk -v page="$page" '
        /^ *```/ { code = !code }
        !code && !/^ *\|/ && !/^    / && length($0) > 120 {
            print page ":" FNR ": a line of " length($0) " characters"
        }'
done <"$pages")
[ -z "$long" ] || {
    echo "$long"
    echo "Lines of paragraphs have at most 120 characters."
    exit 1
}
