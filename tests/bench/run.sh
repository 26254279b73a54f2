#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures what the top README and docs/measurements.md say: start to exit of a process, compile
# time, the scheduler's own operations, kernels against C and the machine, kernels in every
# collapse. Run it on an idle machine:  sh tests/bench/run.sh [BUILD-DIRECTORY]
set -eu
cd "$(dirname "$0")/../.."
export PTXRUN_CACHE=off
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Median wall time in microseconds of 31 runs of a command.
median_us() {
    i=0
    while [ $i -lt 31 ]; do
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        echo $(((end - start) / 1000))
        i=$((i + 1))
    done | sort -n | sed -n 16p
}

echo "== process, start to exit, median of 31 runs"
echo "true:                                  $(median_us true) us"
echo "ptxrun true:                           $(median_us "$build/bin/ptxrun" true) us"
for example in vector_add matmul_tiled; do
    printf 'ptxrun %-32s%s us\n' "$example:" \
        "$(median_us "$build/bin/ptxrun" examples/prebuilt/static/$example)"
done

echo "== compile, the examples' kernels"
for example in examples/prebuilt/static/*; do
    "$build/bin/ptxdump" extract -o "$work" "$example" >/dev/null
done
"$build/bin/bench_compile" "$work"/*.ptx

echo "== loading, by ptxrun's loader and by ORC, the examples' kernels"
"$build/bin/bench_loaders" "$work"/*.ptx

echo "== scheduler"
"$build/bin/bench_fiber"
"$build/bin/bench_variants"
"$build/bin/bench_graphs"

echo "== kernels against plain and tuned C, and against the machine"
"$build/bin/ptxbench" table --json "$build/ptxbench.json"

echo "== kernels in every collapse against plain C"
"$build/bin/bench_collapse" --rounds 21 --json "$build/bench_collapse.json"
