#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python binding and its examples, with a Python that has NumPy. Usage: python_binding.sh ROOT LIBRARY
set -u
root=$1
export PYTHONPATH="$root/python" PTXRUN_LIBRARY="$2" PYTHONDONTWRITEBYTECODE=1
for python in python3 /usr/bin/python3 ""; do
    [ -z "$python" ] || "$python" -c 'import numpy' 2>/dev/null && break
done
if [ -z "$python" ]; then
    echo "skipped: no Python with NumPy (Debian: python3-numpy)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0
"$python" "$root/tests/e2e/python_binding.py" || status=1
"$python" "$root/tests/e2e/triton_style.py" || status=1
"$python" "$root/examples/python/mandelbrot.py" | grep '^mandelbrot.pgm: 640x480, [0-9]* points inside' || status=1
"$python" "$root/examples/python/heat.py" | grep 'PASSED$' || status=1
[ "$(head -c 2 mandelbrot.pgm)$(head -c 2 heat.ppm)" = P5P6 ] || status=1
[ "$(wc -c <mandelbrot.pgm)" -eq $((640 * 480 + 15)) ] || status=1
exit "$status"
