#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lines of text are not too long, and every source is formatted as .clang-format says. Versions of
# clang-format differ: it must be LLVM 22's.
# Usage: format.sh ROOT CLANG-FORMAT
set -eu
root=$1 format=$2
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/lines.sh" "$root"
case $("$format" --version 2>/dev/null || true) in
*"version 22."*) ;;
*)
    echo "skipped: no clang-format 22 (Debian: clang-format-22)"
    exit 77
    ;;
esac
cd "$root"
sources=$(mktemp)
trap 'rm -f "$sources"' EXIT
sh "$here/sources.sh" . | grep '\.[ch]$' >"$sources" || true
[ -s "$sources" ] || {
    echo "no sources"
    exit 1
}
echo "$(wc -l <"$sources") sources"
if ! xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 100 "$format" --dry-run -Werror <"$sources"; then
    echo "To format: clang-format-22 -i FILE"
    exit 1
fi
