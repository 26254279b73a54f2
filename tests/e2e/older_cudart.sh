#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of toolkit 12 or 11 that finds no libcudart gets ours; one that finds another keeps it.
# Usage: older_cudart.sh PTXRUN PROGRAM SONAME FOLDER-OF-STUB
set -u
ptxrun=$1 program=$2 soname=$3 stub=$4
unset LD_LIBRARY_PATH

fail() {
    echo "FAILED: $1"
    exit 1
}

# The libcudart that the program finds under ptxrun.
used() {
    (
        eval "$("$ptxrun" --print-env "$program")"
        LD_TRACE_LOADED_OBJECTS=1 "$program" | grep -F "$soname"
    )
}

if LD_TRACE_LOADED_OBJECTS=1 "$program" | grep -q "$soname => /"; then
    echo "skipped: this machine has a $soname"
    exit 77
fi
"$ptxrun" "$program" || fail "exit status $?"
case $(used) in
    *"/cudart/older/$soname "*) ;;
    *) fail "it uses $(used)" ;;
esac
LD_LIBRARY_PATH=$stub
export LD_LIBRARY_PATH
case $(used) in
    *"$stub/$soname "*) ;;
    *) fail "with another libcudart in its path it uses $(used)" ;;
esac
