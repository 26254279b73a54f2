#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing ptxrun needs, and those named as arguments, if any is missing.
set -eu

packages="ninja-build cmake clang-22 clang-format-22 libclang-rt-22-dev llvm-22-dev lld-22 libelf-dev
libmpfr-dev libzstd-dev liblz4-dev zlib1g-dev libcriterion-dev uthash-dev libc6-dev libstdc++-12-dev libdw1 $*"

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "These Debian packages are missing; install them as root:$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "Installing Debian packages:$missing"
$as_root apt-get update -q
if ! $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $missing; then
    echo "LLVM 22 comes with Debian 12's security updates: is the suite bookworm-security" >&2
    echo "in /etc/apt/sources.list?" >&2
    exit 1
fi
