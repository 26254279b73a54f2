#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What LLVM's scheduling model of a CPU says of the loops of plain/costs.c: the source of the rows of
# translator/module/target.def for CPUs that nobody had at hand. Loops with branches have no number.
# Usage: costs_model.sh CPU [OPTIONS OF CLANG]      e.g. costs_model.sh haswell -march=haswell
#   costs_model.sh neoverse-n1 --target=aarch64-linux-gnu -mcpu=neoverse-n1 -ffreestanding
set -eu
cpu=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang-22 -std=gnu11 -O3 -Wno-psabi -mprefer-vector-width=512 "$@" -I"$here/../.." -DCOSTS_MODEL \
    -S "$here/plain/costs.c" -o "$work/costs.s" 2>"$work/messages" ||
    clang-22 -std=gnu11 -O3 -Wno-psabi "$@" -I"$here/../.." -DCOSTS_MODEL \
        -S "$here/plain/costs.c" -o "$work/costs.s"
case " $* " in
*aarch64*) architecture=-march=aarch64 ;;
*) architecture= ;;
esac

# A file for each function: what stands between the marks.
awk -v work="$work" '
    /^cost_[a-z_]*:/ { name = $1; sub(/:.*/, "", name); sub(/^cost_/, "", name) }
    /LLVM-MCA-END/ { inside = 0 }
    inside { print > (work "/" name ".loop") }
    /LLVM-MCA-BEGIN/ { inside = 1 }' "$work/costs.s"

cycles() {
    llvm-mca-22 -mcpu="$cpu" $architecture -iterations=200 "$1" 2>/dev/null |
        awk '/^Total Cycles:/ { print $3 }'
}
unit=$(cycles "$work/scalar.loop")
for loop in "$work"/*.loop; do
    all=$(cycles "$loop")
    [ -n "$all" ] && awk -v name="$(basename "$loop" .loop)" -v all="$all" -v unit="$unit" \
        'BEGIN { printf "%-24s %6.1f\n", name, all / unit }'
done
