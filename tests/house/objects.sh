#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints each object file of a list, and behind it the source: DIR/CMakeFiles/TARGET.dir/a.c.o in the
# build tree comes from DIR/a.c.
# Usage: objects.sh BUILD LIST
set -eu
build=$1 list=$2
while read -r object; do
    printf '%s %s\n' "$object" "${object#"$build"/}"
done <"$list" |
    sed -E 's| ([^ ]*)CMakeFiles/[^/ ]*\.dir/| \1|; s|/\./|/|g; :up; s|( [^ ]*)\b[^/ ]+/__/|\1|; t up; s|\.o$||'
