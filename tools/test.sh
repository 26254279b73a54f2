#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs the tests.
#
#   sh tools/test.sh            everything: release build, then the unit tests under sanitizers
#   sh tools/test.sh release    one of: release asan-ubsan tsan
#   sh tools/test.sh release-v2 release-v3    the release build's tests with code for SSE4, for AVX2
#   sh tools/test.sh aarch64    cross-built, in an emulator (docs/aarch64.md)
set -eu
cd "$(dirname "$0")/.."

# NumPy: for the Python binding's test.
sh tools/install_deps.sh python3-numpy

passed=0
failed=0
skipped=0

# Adds the figures of ctest's closing lines in the file $1 to the totals.
count_results() {
    total=$(sed -n 's/.* tests failed out of \([0-9]*\).*/\1/p' "$1")
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$1")
    skips=$(grep -c '\*\*\*Skipped' "$1" || true)
    failed=$((failed + ${bad:-1}))
    skipped=$((skipped + skips))
    passed=$((passed + ${total:-0} - ${bad:-0} - skips))
}

# Builds a preset and runs its tests; further arguments are ctest's.
run_preset() {
    preset=$1
    shift
    echo "== $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset"
    log=$(mktemp)
    PTXRUN_CPU=$cpu ctest --preset "$preset" "$@" 2>&1 | tee "$log" || true
    count_results "$log"
    rm -f "$log"
}

# Tests of tests take turns by the commit, so that all turns are taken before long (tests/support/turn.h).
if [ -z "${PTXRUN_TEST_TURN:-}" ]; then
    commit=$(git rev-parse --short=6 HEAD 2>/dev/null || echo 0)
    PTXRUN_TEST_TURN=$(printf %d "0x$commit" 2>/dev/null || echo 0)
fi
export PTXRUN_TEST_TURN
echo "== PTXRUN_TEST_TURN=$PTXRUN_TEST_TURN"

# Long fuzzing and benchmarks are not here: see tests/README.md.
cpu=${PTXRUN_CPU:-}
for preset in ${*:-release asan-ubsan tsan}; do
    case $preset in
    release) run_preset release ;;
    release-v[234])
        cpu=x86-64-${preset#release-}
        echo "== code for $cpu"
        run_preset release
        cpu=${PTXRUN_CPU:-}
        ;;
    asan-ubsan) run_preset "$preset" -L unit ;;
    tsan) run_preset tsan -L threads ;;
    aarch64)
        export PTXRUN_AARCH64_SYSROOT="${PTXRUN_AARCH64_SYSROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/ptxrun-aarch64}"
        sh tools/aarch64_deps.sh "$PTXRUN_AARCH64_SYSROOT"
        run_preset aarch64
        ;;
    *)
        echo "unknown preset '$preset'" >&2
        exit 2
        ;;
    esac
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
