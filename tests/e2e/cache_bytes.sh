#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every byte of the entries that a small program has in the cache (of its code, its module's summary,
# the machine's description) is changed in turn: the program says in one line that it does not use
# the entry, makes it anew, and computes what it should; through both loaders.
# Usage: cache_bytes.sh PTXRUN EXAMPLES FLIP_BYTE [STEP]; STEP: only each STEPth byte
set -u
ptxrun=$1
examples=$2/examples
flip=$3
step=${4:-1}
[ "$(uname -m)" = x86_64 ] || {
    echo "skipped: the programs are built for x86_64"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PTXRUN_CACHE CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE PTXRUN_CPU PTXRUN_SKIP
export PTXRUN_CACHE_DIR="$work/cache"
failures=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/err" "$work/out"
    failures=$((failures + 1))
}

# run WHAT: in quick code, which is compiled in no time
run() {
    "$ptxrun" --stats --tier=quick --loader=$loader "$examples/prebuilt/shared/vector_add" \
        >"$work/out" 2>"$work/err" || fail "$1: status $?"
    cmp -s "$work/out" "$examples/expected/vector_add.txt" || fail "$1: other output"
}

# says WHAT COUNT PATTERN: so many lines of standard error
says() {
    [ "$(grep -c "$3" "$work/err")" -eq "$2" ] || fail "$1: not $2 lines '$3'"
}

loader=own
run "nothing is there"
[ $failures -eq 0 ] || exit 1
cp -R "$work/cache" "$work/whole"

bytes=0
at=0
for entry in $(cd "$work/whole" && find . -type f -path './??/*'); do
    size=$(stat -c %s "$work/whole/$entry")
    while [ "$at" -lt "$size" ]; do
        for loader in own orc; do
            what="byte $at of $size in $entry, loaded by $loader"
            "$flip" "$work/whole/$entry" "$work/cache/$entry" "$at" || exit 1
            run "$what"
            says "$what" 1 'is not used'
        done
        bytes=$((bytes + 1))
        at=$((at + step))
    done
    cp "$work/whole/$entry" "$work/cache/$entry"
    at=$((at - size))
done
for loader in own orc; do
    run "all is there, loaded by $loader"
    says "all is there, loaded by $loader" 0 'is not used'
    says "all is there, loaded by $loader" 1 'compiled code: 1 from the cache, 0 not'
done
echo "$bytes bytes changed, $failures failures"
[ $failures -eq 0 ] && [ $bytes -gt 0 ]
