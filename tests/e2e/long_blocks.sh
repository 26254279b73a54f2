#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Best code that comes while the only blocks of a launch run goes on inside them, but not where
# threads meet at barriers. Later processes find it in the cache.
# Usage: long_blocks.sh PTXRUN CUDA-TESTS-FOLDER
set -u
ptxrun=$1
program=$2/prebuilt/shared/long_blocks

. "$(dirname "$0")/prebuilt_shared.sh"

cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT

fail()
{
    echo "$1"
    echo "$found"
    exit 1
}

explain()
{
    found=$("$ptxrun" --tier=auto --tier-patience=0 --compile-threads=2 --threads=2 --cache=on --cache-dir "$cache" \
        --explain "$program" 2>&1) || fail "the program has failed"
}

# Kernels whose best code goes on with blocks that have begun.
going_on()
{
    echo "$found" |
        awk '/^ptxrun: kernel / { name = $3 } /it goes on with blocks that have begun/ { print name }' | sort -u
}

# Whether blocks of all four that can be taken over have been.
is_taken_over()
{
    for kernel in in_rows in_boxes beside_lanes with_arrays; do
        going_on | grep -q "^'$kernel(" || return 1
    done
}

# On a busy machine a block may be through before its kernel's best code is there.
for attempt in 1 2 3; do
    rm -rf "$cache"/*
    explain
    is_taken_over && break
    [ $attempt -lt 3 ] || fail "blocks end in quick code"
done
going_on | grep -q with_barriers && fail "a block with barriers is taken over"
# A process that is soon over may not have kept the last of it.
for process in 2 3 4 5; do
    explain
    kept=$(echo "$found" | grep -A 1 'tier: best, as it was in the cache' | grep -c 'blocks that have begun')
    [ "$kept" -ge 4 ] && exit 0
done
fail "it is not found in the cache"
