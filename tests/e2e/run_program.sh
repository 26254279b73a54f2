#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one prebuilt CUDA program under ptxrun and compares its standard output and exit status.
# Usage: run_program.sh PTXRUN PROGRAM EXPECTED-STDOUT [PTXRUN-OPTION...]
# Options that the program cannot do without are in a file beside the expected output, NAME.options.
set -u
ptxrun=$1
program=$2
expected=$3
shift 3
# shellcheck disable=SC2046
[ ! -f "${expected%.txt}.options" ] || set -- $(cat "${expected%.txt}.options") "$@"

. "$(dirname "$0")/prebuilt_shared.sh"

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
