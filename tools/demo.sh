#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs a prebuilt CUDA program on this machine's CPU.
set -eu
cd "$(dirname "$0")/.."

sh tools/install_deps.sh
cmake --preset release -DPTXRUN_TESTS=OFF >/dev/null
cmake --build --preset release

for example in vector_add scan_cooperative device_printf mandelbrot; do
    echo
    echo "\$ build/bin/ptxrun examples/prebuilt/static/$example"
    if [ "$example" = mandelbrot ]; then
        build/bin/ptxrun "examples/prebuilt/static/$example" build/mandelbrot.pgm
    else
        build/bin/ptxrun "examples/prebuilt/static/$example"
    fi
done
