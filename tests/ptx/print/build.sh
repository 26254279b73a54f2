#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the PTX files of this folder again, from its sources. clang-22 suffices for clang_*.ptx and
# opencl.ptx; nvcc_*.ptx and nvrtc.ptx need a CUDA toolkit, and are left alone without one.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-22}

device() { "$clang" -x cuda --cuda-device-only -S -nocudalib -nocudainc -w "$@" kernels.cu; }
device --cuda-gpu-arch=sm_75 -O2 -o clang_release.ptx
device --cuda-gpu-arch=sm_90 -O0 -g -o clang_debug.ptx
"$clang" -target nvptx64-nvidia-nvcl -march=sm_80 -x cl -cl-std=CL2.0 -O1 -S -w -o opencl.ptx kernels.cl

if command -v nvcc >/dev/null; then
    nvcc -ptx -arch=compute_75 -o nvcc_release.ptx kernels.cu
    nvcc -ptx -arch=compute_90a -rdc=true -lineinfo -o nvcc_lines.ptx kernels.cu
    nvcc -ptx -arch=compute_100f -G -o nvcc_debug.ptx kernels.cu
    toolkit=$(dirname "$(dirname "$(command -v nvcc)")")
    cc -o nvrtc_compile nvrtc_compile.c -I"$toolkit/include" -L"$toolkit/lib64" -lnvrtc \
        -Wl,-rpath,"$toolkit/lib64"
    ./nvrtc_compile kernels.cu nvrtc.ptx compute_80
    rm nvrtc_compile
fi
# paths of the machine are no part of the files, nor are the many comments of debug information
sed -i "s|$(pwd)|/src|g" ./*.ptx
sed -i 's|[[:space:]]*//.*$||' clang_debug.ptx nvcc_debug.ptx
