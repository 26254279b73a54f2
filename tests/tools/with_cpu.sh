#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test with code for another level of x86-64; skipped on a machine that cannot run it.
# with_cpu.sh x86-64-v2|x86-64-v3 PROGRAM [ARGUMENT...]
set -eu
level=$1
shift

case $level in
x86-64-v2) needed="cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3" ;;
x86-64-v3) needed="avx avx2 bmi1 bmi2 f16c fma abm movbe" ;;
*)
    echo "unknown level '$level'" >&2
    exit 2
    ;;
esac

flags=" $(sed -n 's/^flags[^:]*: *//p' /proc/cpuinfo | head -n 1) "
for flag in $needed; do
    case $flags in
    *" $flag "*) ;;
    *)
        echo "this machine lacks $flag"
        exit 77
        ;;
    esac
done
PTXRUN_CPU=$level exec "$@"
