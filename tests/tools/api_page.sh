#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page about every function of the CUDA API: does it work, and which test says so.
#   sh tests/tools/api_page.sh          writes docs/api.md anew
#   sh tests/tools/api_page.sh --print  prints it
#   sh tests/tools/api_page.sh --json   prints the same as JSON
#   sh tests/tools/api_page.sh --check  fails when the page is stale, or a function that works is
#                                       called by no test
# A function counts as proved when a test calls it by its own name, in its body or in a function or
# table of the same file or of a fixture. Tests of tests/unit/cudart come first, then programs of
# tests/cuda, then rows of the tables of misuses.
set -eu
cd "$(dirname "$0")/../.."
action=${1:-write}

# test_entry_points.c is left out: it compares addresses and calls nothing.
# Lines "call NAME place": in the order of preference, the first place of a name is the one named.
calls() {
    awk -f tests/tools/api_calls.awk tests/unit/cudart/*.h $(ls tests/unit/cudart/test_*.c | grep -v test_entry_points)
    for file in tests/cuda/*.cu; do
        awk -f tests/tools/api_words.awk -v place="program $(basename "$file" .cu)" "$file"
    done
    awk -f tests/tools/api_words.awk -v place=misuse tests/unit/cudart/misuse_*.def
}

# Lines "state api NAME"; state: works or missing.
symbols() {
    sed -n 's/^IMPLEMENTED(\(.*\))$/works driver \1/p; s/^MISSING(\(.*\))$/missing driver \1/p' \
        cudart/driver/symbols.def
    sed -n 's/^CUDART_IMPLEMENTED(\(.*\))$/works runtime \1/p; s/^CUDART_STUB(\(.*\))$/missing runtime \1/p' \
        cudart/runtime/symbols.def
}

page() {
    { calls; symbols; } | awk -v format="$1" -f tests/tools/api_page.awk
}

case $action in
write) page markdown >docs/api.md ;;
--print) page markdown ;;
--json) page json ;;
--check)
    status=0
    page unproved | grep . && {
        echo "these functions work, but no test calls them"
        status=1
    }
    page markdown | diff docs/api.md - >/dev/null || {
        echo "docs/api.md is stale: run 'sh tests/tools/api_page.sh'"
        status=1
    }
    exit $status
    ;;
*)
    echo "usage: $0 [--print | --json | --check]" >&2
    exit 2
    ;;
esac
