#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cooperative grids whose blocks wait for each other in a loop begin in their best code, those of
# later launches with other shapes too.
# Usage: grid_sync.sh PTXRUN CUDA-TESTS-FOLDER
set -u
ptxrun=$1
program=$2/prebuilt/shared/grid_sync

. "$(dirname "$0")/prebuilt_shared.sh"

found=$("$ptxrun" --tier=auto --cache=off --stats --explain "$program" 2>&1)
status=$?
count=$(echo "$found" | grep -c '^ptxrun:   tier: best at once')
quick=$(echo "$found" | grep 'quick code ran for' | grep -v 'ran for 0\.0 ms')
[ $status -eq 0 ] && [ "$count" -ge 3 ] && [ -z "$quick" ] && exit 0
echo "$count of 3 kernels begin in their best code; exit status $status"
echo "$found"
exit 1
