#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the checked-in programs in prebuilt/ anew. Needs the CUDA toolkit (nvcc); nobody else does.
#   static/  default options: the CUDA runtime is inside the program
#   shared/  -cudart shared: the program asks for libcudart.so.13
# Usage: build_prebuilt.sh [NAME...]      default: every .cu file here
set -eu
cd "$(dirname "$0")"
NVCC=${NVCC:-nvcc}
FLAGS="-O2 -Xcompiler -ffunction-sections,-fdata-sections -Xlinker --gc-sections"
mkdir -p prebuilt/static prebuilt/shared

build() # NAME KIND
{
    $NVCC $FLAGS -cudart "$2" -o "prebuilt/$2/$1" "$1.cu"
    strip --strip-all -R .comment -R .note.ABI-tag "prebuilt/$2/$1"
}

[ $# -gt 0 ] || set -- *.cu
for name; do
    build "${name%.cu}" static
    build "${name%.cu}" shared
done
du -ch prebuilt/static/* prebuilt/shared/* | tail -n 1
