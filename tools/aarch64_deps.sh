#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Provides what building for AArch64, and testing that on another machine, needs besides install_deps.sh: an emulator,
# and Debian's packages for AArch64 in a directory of their own. The system keeps its packages and its list of
# architectures: LLVM's for two architectures cannot be installed side by side.
#
#   sh tools/aarch64_deps.sh DIRECTORY
set -eu
[ $# -eq 1 ] || {
    echo "usage: aarch64_deps.sh DIRECTORY" >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
root=$(cd "$1" && pwd)

# ---- the emulator ----

sh "$here/install_deps.sh" qemu-user-static

# Tests start programs that start others, so the system has to know how all of them are run.
formats=/proc/sys/fs/binfmt_misc
if [ "$(uname -m)" != aarch64 ] && [ ! -e $formats/qemu-aarch64 ]; then
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    [ -e $formats/register ] || $as_root mount -t binfmt_misc binfmt_misc $formats
    $as_root sh -c "cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register"
fi

# ---- packages ----

# With all that they depend on; and one of which the files alone are wanted, not tools and interpreters.
packages="libc6-dev libstdc++-12-dev libllvm22 libelf-dev libmpfr-dev libzstd-dev liblz4-dev zlib1g-dev
libcriterion-dev uthash-dev"
alone=llvm-22-dev
stamp=$root/.packages
[ "$(cat "$stamp" 2>/dev/null)" != "$packages $alone" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial"
: >"$work/status"
cat >"$work/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Debug::NoLocking "true";
Dir::State "$work";
Dir::State::status "$work/status";
Dir::Cache "$work";
CONF
export APT_CONFIG="$work/apt.conf"

apt-get update -q
apt-get install -q -y --download-only $packages
(cd "$work/archives" && apt-get download -q $alone)
for package in "$work"/archives/*.deb; do
    dpkg-deb --extract "$package" "$root"
done
# Links from that machine's root become relative ones.
find "$root" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="${link%/*}" "$root$(readlink "$link")")" "$link"
done

# What LLVM finds out about the processor comes from here; without this it would see the other machine's.
mkdir -p "$root/proc"
cat >"$root/proc/cpuinfo" <<'CPUINFO'
processor	: 0
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x4
CPU part	: 0xd0c
CPU revision	: 1

CPUINFO
echo "$packages $alone" >"$stamp"
