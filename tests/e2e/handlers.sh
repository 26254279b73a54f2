#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program that has handlers of its own for faults, in each of its modes.
# Usage: handlers.sh COMMAND...
set -u
ulimit -c 0
"$@" all || { echo "FAILED: exit status $?"; exit 1; }
for mode in default ignore; do
    "$@" $mode
    status=$?
    # 128 + SIGSEGV
    [ $status -eq 139 ] || { echo "FAILED: $mode: exit status $status"; exit 1; }
done
