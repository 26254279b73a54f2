#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds examples from their source, with nvcc's default options, and runs them: the prebuilt
# programs are not the only ones that work. Without nvcc: skipped.
# Usage: fresh_build.sh PTXRUN EXAMPLES-DIRECTORY NAME...
set -eu
if ! command -v nvcc >/dev/null; then
    echo "skipped: there is no nvcc on this machine"
    exit 77
fi
ptxrun=$1
examples=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name; do
    nvcc -o "$work/$name" "$examples/$name.cu"
    "$ptxrun" "$work/$name" >"$work/output"
    cmp "$work/output" "$examples/expected/$name.txt"
done
