#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one prebuilt CUDA program under ptxrun and compares its standard output and exit status.
# Usage: run_program.sh PTXRUN PROGRAM EXPECTED-STDOUT [PTXRUN-OPTION...]
set -u
ptxrun=$1
program=$2
expected=$3
shift 3

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: $program is built for x86_64"
    exit 77
fi
# Our libcudart, even where a CUDA toolkit is installed and its own would be found.
libraries=$(cd "$(dirname "$ptxrun")/../lib/ptxrun/cudart" && pwd) || exit 1
LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptxrun" "$@" "$program" >stdout 2>stderr
status=$?
if [ $status -ne 0 ] || ! diff -u "$expected" stdout; then
    echo "FAILED: exit status $status: ptxrun $* $program"
    echo "standard error:"
    cat stderr
    exit 1
fi
