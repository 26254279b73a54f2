#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Calls at exit neither crash nor hang.
# Usage: late_calls.sh PTXRUN PROGRAM
set -u
out=$("$1" "$2") || { echo "FAILED: exit status $?"; exit 1; }
[ "$out" = "exit handler
destructor" ] || { echo "FAILED: $out"; exit 1; }
