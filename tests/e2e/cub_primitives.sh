#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs CUB's primitives so many rounds on each of the given numbers of workers; each case is compiled
# once and then repeated, by the next number of workers too: code does not depend on it.
# Usage: cub_primitives.sh PTXRUN CUDA-TESTS-FOLDER "ROUNDS [PART...]" "WORKERS..." [PTXRUN-OPTION...]
set -u
ptxrun=$1
folder=$2
rounds=$3
workers=$4
shift 4

. "$(dirname "$0")/prebuilt_shared.sh"

cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export PTXRUN_CACHE=on PTXRUN_CACHE_DIR="$cache"
wanted=$(cat "$folder/expected/cub_primitives.txt")
status=0
for count in $workers; do
    start=$(date +%s)
    # shellcheck disable=SC2086
    found=$("$ptxrun" --threads "$count" "$@" "$folder/prebuilt/shared/cub_primitives" $rounds 2>&1)
    if [ "$found" = "$wanted" ]; then
        echo "$count workers, rounds $rounds: right, $(($(date +%s) - start)) s"
    else
        echo "$count workers, rounds $rounds: FAILED: $found"
        status=1
    fi
done
exit $status
