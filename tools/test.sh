#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs the tests.
#
#   sh tools/test.sh            everything: release build, then the unit tests under sanitizers
#   sh tools/test.sh release    one of: release asan-ubsan tsan
set -eu
cd "$(dirname "$0")/.."

sh tools/install_deps.sh

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

run_preset() {
    preset=$1
    shift
    echo "== $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset"
    log=$(mktemp)
    ctest --preset "$preset" "$@" 2>&1 | tee "$log" || true
    count_results "$log"
    rm -f "$log"
}

# Long fuzzing and benchmarks are not here: see tests/README.md.
for preset in ${*:-release asan-ubsan tsan}; do
    case $preset in
    release) run_preset release ;;
    asan-ubsan) run_preset "$preset" -L unit ;;
    tsan) run_preset tsan -L threads ;;
    *)
        echo "unknown preset '$preset'" >&2
        exit 2
        ;;
    esac
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
