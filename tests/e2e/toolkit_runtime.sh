#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs linked with -cudart shared, with the runtime of an installed CUDA toolkit above our driver:
# the answers are those with our own runtime.
# Usage: toolkit_runtime.sh PTXRUN FOLDER NAME...   FOLDER has prebuilt/shared/NAME and expected/NAME.txt
set -u
ptxrun=$1
folder=$2
shift 2

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: the programs are built for x86_64"
    exit 77
fi
runtime=
for candidate in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda-13*; do
    [ -e "$candidate/lib64/libcudart.so.13" ] && runtime=$candidate/lib64 && break
done
if [ -z "$runtime" ]; then
    echo "skipped: no CUDA 13 toolkit is installed"
    exit 77
fi
LD_LIBRARY_PATH=$runtime${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for name; do
    used=$(LD_TRACE_LOADED_OBJECTS=1 "$folder/prebuilt/shared/$name" | grep -c "libcudart.so.13 => $runtime")
    [ "$used" = 1 ] || { echo "FAILED: $name does not use the runtime in $runtime"; failed=1; }
    (cd "$work" && "$ptxrun" "$folder/prebuilt/shared/$name" >stdout 2>stderr)
    status=$?
    if [ $status -ne 0 ] || ! diff -u "$folder/expected/$name.txt" "$work/stdout"; then
        echo "FAILED: exit status $status: $name"
        cat "$work/stderr"
        failed=1
    fi
done
exit $failed
