#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How much faster `ptxcache warm` is on several jobs than on one: the examples' kernels, in copies that are all
# different (a fault names its line, so code at other lines is other code), at least 200. Interleaved rounds with an
# empty cache each; medians. The machine should be idle; its load is printed.
# Usage: warm_jobs.sh [BUILD-DIRECTORY [JOBS [ROUNDS]]]
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "${1:-build}" && pwd)
jobs=${2:-2}
rounds=${3:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PTXRUN_CPU

mkdir "$work/one" "$work/ptx"
for example in examples/prebuilt/static/*; do
    "$build/bin/ptxdump" extract -o "$work/one" "$example" >/dev/null
done
copy=0
while [ $copy -lt ${COPIES:-24} ]; do
    for text in "$work/one"/*.ptx; do
        {
            yes '//' | head -n $copy || true
            cat "$text"
        } >"$work/ptx/$copy.$(basename "$text")"
    done
    copy=$((copy + 1))
done
echo "kernels: $(grep -c '^\.visible \.entry' "$work"/ptx/*.ptx | awk -F: '{ sum += $2 } END { print sum }')"
echo "load:    $(cut -d' ' -f1-3 /proc/loadavg), on $(nproc) CPUs"

# One line of ptxcache's, and the seconds as another.
measure() {
    rm -rf "$work/cache"
    "$build/bin/ptxcache" --cache-dir "$work/cache" warm -j "$1" "$work/ptx" 2>/dev/null >"$work/said"
    echo "$1 jobs: $(cat "$work/said")"
    sed -n 's/.*; \([0-9.]*\) s, .*/\1/p' "$work/said" >>"$work/seconds.$1"
}

median() {
    sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

round=0
while [ $round -lt "$rounds" ]; do
    measure 1
    measure "$jobs"
    round=$((round + 1))
done
one=$(median "$work/seconds.1")
many=$(median "$work/seconds.$jobs")
echo "medians: $one s on one job, $many s on $jobs: $(awk "BEGIN { printf \"%.2f\", $one / $many }") times as fast"
