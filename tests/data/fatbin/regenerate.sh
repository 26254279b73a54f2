#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rebuilds the fixtures of this directory with nvcc 13.0. The tests only need the checked-in files.
# Executables link the CUDA runtime dynamically: a static one would add a megabyte to each.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

exe() { # exe NAME OPTIONS...: an executable from one.cu
    name=$1
    shift
    "$nvcc" -cudart shared -Xlinker -s -o "$name.exe" "$@" one.cu
}

exe default
exe sm_80 -arch=sm_80
exe compute_only -gencode arch=compute_80,code=compute_80
exe cubin_only -gencode arch=compute_80,code=sm_80
exe many -gencode arch=compute_75,code=sm_75 -gencode 'arch=compute_80,code=[sm_80,compute_80]' \
    -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' \
    -gencode arch=compute_100f,code=compute_100f -gencode arch=compute_90,code=compute_90
exe named -arch=sm_75 -Xfatbin -ident=one.cu
for mode in default size speed balance none; do
    exe "mode_$mode" -arch=sm_75 --compress-mode=$mode
done
exe compress_all -arch=sm_75 -Xfatbin -compress-all

"$nvcc" -cudart shared -Xlinker -s -rdc=true -arch=sm_75 -o rdc.exe two_a.cu two_b.cu
"$nvcc" -rdc=true -arch=sm_75 -c -o rdc_a.obj two_a.cu
"$nvcc" -arch=sm_75 -DFIXTURE_NO_MAIN -c -o one.obj one.cu
strip --strip-debug one.obj rdc_a.obj
"$nvcc" -cudart shared -shared -Xcompiler -fPIC -DFIXTURE_NO_MAIN -Xlinker -s -arch=sm_75 \
    -o one.so one.cu
"$nvcc" -fatbin -arch=sm_75 -o one.fatbin one.cu
"$nvcc" -fatbin -gencode arch=compute_75,code=compute_75 -o table.fatbin table.cu
"$nvcc" -fatbin -gencode arch=compute_75,code=compute_75 --compress-mode=speed -o table_speed.fatbin table.cu
"$nvcc" -cubin -arch=sm_80 -o sm_80.cubin one.cu
"$nvcc" -cubin -arch=sm_100 -o sm_100.cubin one.cu
"$nvcc" -ptx -arch=sm_75 -o one.ptx one.cu
rm -f two.a
cp one.obj "$work/one.o"
cp rdc_a.obj "$work/rdc_a.o"
(cd "$work" && ar rcD two.a one.o rdc_a.o)
cp "$work/two.a" two.a
