#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program that needs a closed library of NVIDIA's gets one line that names it: before the loader's
# own when it is missing, and when it is there, as soon as it begins to use the driver.
# Usage: vendor_library.sh PTXRUN PROGRAM FOLDER-OF-LIBRARY
set -u
ptxrun=$1
program=$2
libraries=$3
failed=0

expect() { # what, wanted status, pattern, how often
    what=$1
    [ "$status" = "$2" ] || { echo "FAILED: $what: exit status $status"; failed=1; }
    count=$(grep -c "$3" "$log")
    [ "$count" = "$4" ] || { echo "FAILED: $what: '$3' came $count times"; cat "$log"; failed=1; }
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$ptxrun" "$program" >"$log" 2>&1
status=$?
expect "missing" 127 "needs libcublas.so.99 (cuBLAS), which is not on this machine" 1
head -1 "$log" | grep -q cuBLAS || { echo "FAILED: the line does not come first"; failed=1; }

LD_LIBRARY_PATH=$libraries
export LD_LIBRARY_PATH
"$ptxrun" "$program" >"$log" 2>&1
status=$?
expect "runtime inside" 0 "uses cuBLAS (libcublas.so.99), a closed library" 1
expect "runtime inside" 0 "not on this machine" 0
"$ptxrun" "$program" image >"$log" 2>&1
status=$?
expect "image inside" 0 "uses cuBLAS (libcublas.so.99), a closed library" 1
exit $failed
