#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the C sources and headers below ROOT, whose paths begin there; those of build trees are none.
# Usage: sources.sh ROOT
set -eu
cd "$1"
find . \( -type d ! -name . \( -name '.*' -o -exec test -e '{}/CMakeCache.txt' \; \) -prune \) \
    -o -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.S' \) -print |
    sed 's|^\./||' | LC_ALL=C sort
