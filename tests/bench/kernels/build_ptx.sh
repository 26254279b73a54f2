#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the checked-in PTX from the .cu files beside it. Needs the CUDA toolkit (nvcc); nobody else does.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
    arch=compute_75
    [ "$source" = table_matrices.cu ] && arch=compute_80
    math=
    [ "$source" = table_fast.cu ] && math=-use_fast_math
    # shellcheck disable=SC2086
    ${NVCC:-nvcc} -O3 -arch=$arch $math -ptx -o - "$source" | sed -e '/^\/\//d' -e '/^$/d' \
        >"${source%.cu}.ptx"
done
wc -l ./*.ptx
