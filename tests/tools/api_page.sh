#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page about every function of the CUDA API: does it work, and which test says so. It is made by
# running the tests of tests/unit/cudart, which can tell which functions they call and can leave one
# out (api_calls.h there).
#   sh tests/tools/api_page.sh BUILD              writes docs/api.md anew (some minutes)
#   sh tests/tools/api_page.sh BUILD --check [N]  fails when docs/api.md is not what the tables of symbols
#                                                 say, or when a row of every N (default 1: of all)
#                                                 says of a test what is not true
# Each function that is missing needs a reason in api_reasons.txt.
# A test proves a function when it passes, but not when the function does nothing and says success.
# Of several the one is named that calls the fewest functions; one that hangs then only if there is
# no other.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/api.md
build=${1:?usage: $0 BUILD [--check [N]]}
action=${2:-write}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
share=${3:-1}
jobs=$(nproc)
TRIES=3        # without a function that waits, a test may pass by luck
HANGS_AFTER=10 # seconds, of a test without a function
HANGS=124      # its exit status then
ulimit -c 0

# Lines "STATE API FUNCTION"; STATE: works or missing.
symbols() {
    sed -n 's/^IMPLEMENTED(\(.*\))$/works driver \1/p; s/^MISSING(\(.*\))$/missing driver \1/p' \
        "$root/cudart/driver/symbols.def"
    sed -n 's/^CUDART_IMPLEMENTED(\(.*\))$/works runtime \1/p; s/^CUDART_STUB(\(.*\))$/missing runtime \1/p' \
        "$root/cudart/runtime/symbols.def"
}

page_of() {
    awk -v reasons="$root/tests/tools/api_reasons.txt" -f "$root/tests/tools/api_page.awk"
}

# run SECONDS PROGRAM SUITE TEST
run() {
    timeout -k 1 "$1" "$2" -j1 --filter "$3/$4" </dev/null >/dev/null 2>&1
}

# fails_without FUNCTION PROGRAM SUITE TEST: every time. Sets status to that of the last run.
fails_without() {
    for _ in $(seq $TRIES); do
        status=0
        API_CALLS_WITHOUT=$1 run $HANGS_AFTER "$2" "$3" "$4" || status=$?
        [ $status != 0 ] || return 1
        [ $status != $HANGS ] || return 0
    done
}

# passes_without FUNCTION PROGRAM SUITE TEST: every time.
passes_without() {
    for _ in $(seq $TRIES); do
        API_CALLS_WITHOUT=$1 run $HANGS_AFTER "$2" "$3" "$4" || return 1
    done
}

# Lines "PROGRAM SUITE".
suites() {
    for program in "$build"/tests/driver/test_*; do
        [ -f "$program" ] && [ ! -h "$program" ] || continue
        "$program" --list | sed -n "s|^\([a-z0-9_]*\): .*|$program \1|p"
    done
}

# ---- making the page ----

# Lines "FUNCTION COUNT SUITE TEST PROGRAM": who calls it, and how many functions that test calls.
callers() {
    cut -d' ' -f1 "$work/suites" | sort -u | while read -r program; do
        API_CALLS_DIR=$work/calls "$program" -j"$jobs" --quiet >/dev/null 2>&1 </dev/null || {
            echo "$program fails" >&2
            exit 1
        }
    done
    ls "$work/calls" | tr . ' ' >"$work/called"
    awk 'FILENAME ~ /suites$/ { program[$2] = $1; next }
         { count[$1, $2]++; line[++n] = $0 }
         END {
             for (i = 1; i <= n; i++) {
                 split(line[i], part, " ")
                 print part[3], count[part[1], part[2]], part[1], part[2], program[part[1]]
             }
         }' "$work/suites" "$work/called" | sort -k1,1 -k2,2n -k3,4
}

# Prints "proved|called FUNCTION SUITE TEST". $1: the function; on the input: its callers.
find_proof() {
    best=
    while read -r _ _ suite test program; do
        : "${best:=called $1 $suite $test}"
        if fails_without "$1" "$program" "$suite" "$test"; then
            best="proved $1 $suite $test"
            [ $status = $HANGS ] || break
        fi
    done
    [ -z "$best" ] || echo "$best"
}

# ---- checking it ----

# Lines "proved|called FUNCTION SUITE TEST" of the page's rows.
rows() {
    awk -F'[|]' '/^\| `/ {
        gsub(/[`: ]+/, " ")
        print ($4 == " " ? "called" $2 $5 : "proved" $2 $4)
    }' "$page"
}

# try VERB FUNCTION SUITE TEST PROGRAM: says what is not true of a row.
try() {
    case $1 in
    proved)
        if passes_without "$2" "$5" "$3" "$4"; then
            echo "$3: $4 passes without $2, too"
        fi
        ;;
    called)
        calls=$(mktemp -d -p "$work")
        API_CALLS_DIR=$calls run 100 "$5" "$3" "$4" || echo "$3: $4 fails"
        [ -e "$calls/$3.$4.$2" ] || echo "$3: $4 does not call $2"
        ;;
    esac
}

# The share that is looked at changes with the tests.
row_share() {
    first=$(cat "$root"/tests/unit/cudart/* | cksum | cut -d' ' -f1)
    awk -v share="$share" -v first="$first" '(NR + first) % share == 0'
}

case $action in
--proof)
    grep "^$3 " "$4" | find_proof "$3"
    ;;
--try)
    shift 2
    try "$@"
    ;;
write)
    suites >"$work/suites"
    mkdir "$work/calls"
    callers >"$work/callers"
    cut -d' ' -f1 "$work/callers" | uniq |
        xargs -r -P "$jobs" -I{} sh "$0" "$build" --proof {} "$work/callers" >"$work/proofs"
    { cat "$work/proofs" && symbols; } | page_of >"$work/page"
    mv "$work/page" "$page"
    ;;
--check)
    suites >"$work/suites"
    rows | row_share | awk 'NR == FNR { program[$2] = $1; next } { print $0, program[$3] }' "$work/suites" - |
        xargs -r -P "$jobs" -L1 sh "$0" "$build" --try >"$work/untrue"
    { rows && symbols; } | page_of | diff "$page" - >>"$work/untrue" || true
    [ ! -s "$work/untrue" ] || {
        cat "$work/untrue"
        echo "docs/api.md is stale: run 'sh tests/tools/api_page.sh BUILD'"
        exit 1
    }
    ;;
*)
    echo "usage: $0 BUILD [--check [N]]" >&2
    exit 2
    ;;
esac
