#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A library exports exactly the functions of its table, each with the version that programs ask for.
# Usage: check_exports.sh LIBRARY SYMBOLS.DEF [VERSION]
set -u
command -v nm >/dev/null || {
    echo "skipped: no nm"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$1" | sed -n 's/^[0-9a-f]* T //p' | sort >"$work/exported"
sed -n "s/^[A-Z_]*(\(.*\))\$/\1${3:+@@$3}/p" "$2" | sort >"$work/table"
diff -u "$work/table" "$work/exported"
