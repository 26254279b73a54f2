#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the C of `ptxbench table` with one compiler for one CPU: a shared library.
# Usage: build.sh OUTPUT CPU OPENMP COMPILER...
#   CPU     as the compiler calls it, or native
#   OPENMP  LLVM's OpenMP library, for gcc's code too; "": C has one thread
set -eu
output=$1 cpu=$2 openmp=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Tuned C means its vectors as long as they are.
case $("$@" -dumpmachine) in
x86_64*) cpu=-march=$cpu long_vectors=-mprefer-vector-width=512 ;;
*) cpu=-mcpu=$cpu long_vectors= ;;
esac
parallel=-fopenmp link=
if [ -n "$openmp" ]; then
    link="$openmp -Wl,-rpath,$(dirname "$openmp")"
else
    parallel=-fopenmp-simd
fi

for name in table_regular table_irregular table_images table_matrices table_votes table_regular_tuned table_irregular_tuned table_matrices_tuned limits costs memory; do
    case $name in
    *_tuned | limits | costs | memory) more=$long_vectors ;;
    *) more= ;;
    esac
    "$@" -std=gnu11 -O3 "$cpu" -fno-math-errno $parallel $more -Wall -Wextra -Wno-psabi -fPIC \
        -fno-semantic-interposition -I"$here/../../.." -c "$here/$name.c" -o "$work/$name.o"
done
"$@" -shared "$work"/*.o $link -lm -o "$output"
