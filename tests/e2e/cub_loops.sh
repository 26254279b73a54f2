#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CUB's kernels that look back, and those with a hundred shuffles, run in loops over threads: none of
# them gets a stack for each thread.
# Usage: cub_loops.sh PTXRUN CUDA-TESTS-FOLDER
set -u
ptxrun=$1
folder=$2

. "$(dirname "$0")/prebuilt_shared.sh"

found=$("$ptxrun" --threads 2 --tier=best --stats "$folder/prebuilt/shared/cub_primitives" 1 \
    scan_4 by_key_4 run_length_4 select_4 sort_4 2>&1)
loops=$(echo "$found" | grep -c ' \(flat\|hierarchical\|vector [0-9]*x[0-9]*\) .*cub::')
stacks=$(echo "$found" | grep ' precise .*cub::')
if [ "$loops" -lt 5 ]; then
    echo "too few kernels: $found"
    exit 1
fi
if [ -n "$stacks" ]; then
    echo "kernels with a stack for each thread: $stacks"
    exit 1
fi
