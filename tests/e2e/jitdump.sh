#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --profile=perf writes a jitdump file in which every kernel has its name, code and lines: of its
# source where the PTX tells them, else of PTX.
#   sh tests/e2e/jitdump.sh PTXRUN READER PROGRAM KERNEL PLACED
# KERNEL is mangled. PLACED: placed_user, whose kernel `twice` tells lines of twice.cu. Where there is a perf that can record, it shows the kernel, too.
set -u
ptxrun=$1
reader=$2
program=$3
kernel=$4
placed=$5
failed=0

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: $program is built for x86_64"
    exit 77
fi
JITDUMPDIR=$(mktemp -d) || exit 1
export JITDUMPDIR
trap 'rm -rf "$JITDUMPDIR"' EXIT
cd "$JITDUMPDIR" || exit 1

"$ptxrun" "$program" >plain 2>&1
if [ -n "$(find . -name '*.dump')" ]; then
    echo "FAILED: a jitdump file that nobody asked for"
    failed=1
fi

for loader in auto orc; do
    rm -rf .debug
    if ! "$ptxrun" --profile=perf --loader=$loader "$program" >out 2>&1; then
        echo "FAILED: the program under --profile=perf --loader=$loader"
        cat out
        failed=1
    fi
    dump=$(find . -name '*.dump')
    if ! "$reader" "$dump" >records; then
        echo "FAILED: '$dump' is no jitdump file"
        failed=1
    elif ! grep -q "^$kernel\.[0-9]* [1-9][0-9]* [1-9][0-9]* .*$kernel\.ptx\$" records; then
        echo "FAILED: no $kernel with code and lines of its PTX (--loader=$loader):"
        cat records
        failed=1
    fi
done

# Also where the code comes out of the cache.
for round in 1 2; do
    rm -rf .debug
    "$ptxrun" --profile=perf --cache=on --cache-dir="$JITDUMPDIR/cache" "$placed" >out 2>&1
    "$reader" "$(find . -name '*.dump')" >records
    if ! grep -q '^twice\.[0-9]* [1-9][0-9]* [1-9][0-9]* .*twice\.cu$' records; then
        echo "FAILED: no lines of the source, round $round:"
        cat out records
        failed=1
    fi
done

rm -rf .debug
if perf record -k 1 -o data "$ptxrun" --profile=perf "$program" >record 2>&1 &&
    perf inject --jit -i data -o injected >inject 2>&1; then
    image=$(find . -name 'jitted-*.so' | head -n 1)
    if [ -z "$image" ] || ! nm "$image" | grep -q "$kernel"; then
        echo "FAILED: perf makes no image of $kernel out of it"
        failed=1
    fi
else
    echo "not tried: perf cannot record here"
fi
exit $failed
