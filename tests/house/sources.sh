#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the C sources and headers below ROOT, or the files with another name. Paths begin at ROOT; build
# trees are left out.
# Usage: sources.sh ROOT [NAME]
set -eu
cd "$1"
find . \( -type d ! -name . \( -name '.*' -o -exec test -e '{}/CMakeCache.txt' \; \) -prune \) \
    -o -type f \( -name "${2:-*.[chS]}" -o -name "${2:-*.def}" \) -print |
    sed 's|^\./||' | LC_ALL=C sort
