#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Promises of an installation: it can be moved, ptxrun in it uses its own libraries, and a C program
# finds the C API through pkg-config. Usage: installed.sh CMAKE BUILD-DIR C-COMPILER API-USER.c PROGRAM EXPECTED
set -u
cmake=$1 build=$2 compiler=$3 source=$4 program=$5 expected=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH

fail() {
    echo "FAILED: $1"
    exit 1
}

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "cmake --install"; }
prefix="$work/moved here"
mv "$work/first" "$prefix"
ln -s "$prefix/bin/ptxrun" "$work/link"

cd / || exit 1
if [ "$(uname -m)" = x86_64 ]; then
    for command in "$prefix/bin/ptxrun" "$work/link"; do
        "$command" "$program" >"$work/stdout" || fail "$command: status $?"
        diff -u "$expected" "$work/stdout" || fail "$command: wrong output"
    done
    LD_DEBUG=libs "$work/link" "$program" 2>&1 | grep -F "calling init: $build/" &&
        fail "the installation uses the build tree"
fi

[ -n "$(find "$prefix" -path '*/ptxrun/libnvrtc.so.12')" ] || fail "libnvrtc is not installed"
for name in libcudart.so.13 older/12/libcudart.so.12 older/11.0/libcudart.so.11.0; do
    [ -n "$(find "$prefix" -path "*/ptxrun/cudart/$name")" ] || fail "$name is not installed"
done
[ -n "$(find "$prefix" -path '*/ptxrun/libcuda.so' -type l)" ] || fail "libcuda.so is not installed"
for name in ptxas cuobjdump nvdisasm; do
    "$work/link" "$name" --version | grep -q ptxrun || fail "$name is not installed"
done
"$prefix/bin/ptxrun-ptxas" --version | grep -q ' release ' || fail "ptxrun-ptxas is not installed"
"$work/link" nvidia-smi -L | grep -q '^GPU 0: ' || fail "nvidia-smi is not installed"

"$prefix/bin/ptxcache" --cache-dir "$work/cache" -s | grep -q '^entries: 0' || fail "ptxcache is not installed"
"$prefix/bin/ptxrun-sanitizer" --version | grep -q '^ptxrun-sanitizer ' || fail "ptxrun-sanitizer is not installed"
"$prefix/bin/ptxbench" --help | grep -q '^usage: ptxbench' || fail "ptxbench is not installed"
for command in compare programs table; do
    "$prefix/bin/ptxbench" "$command" --help | grep -q "^usage: ptxbench $command" || fail "no help of ptxbench $command"
done
if [ "$(uname -m)" = x86_64 ]; then
    "$prefix/bin/ptxbench" compare --rounds 1 --tier '' --width '' --collapse '' --threads '' "$program" >"$work/compared" ||
        fail "ptxbench compare: status $?"
    grep -q '^--mode=jit  *[0-9]' "$work/compared" || fail "ptxbench compare has not measured"
fi

binding=$(find "$prefix" -path '*/ptxrun/python/ptxrun.py')
[ -n "$binding" ] || fail "no ptxrun.py"
if command -v python3 >/dev/null; then
    PYTHONPATH=$(dirname "$binding") PYTHONDONTWRITEBYTECODE=1 python3 -c 'import ptxrun; print(ptxrun.version())' ||
        fail "ptxrun.py finds no library"
fi

pkg_config=$(find "$prefix" -name ptxrun.pc)
[ -n "$pkg_config" ] || fail "no ptxrun.pc"
config=$(find "$prefix" -name ptxrunConfig.cmake)
[ -n "$config" ] || fail "no ptxrunConfig.cmake"
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$pkg_config")
    export PKG_CONFIG_PATH
    # The flags are quoted for a shell, as the path has a blank.
    eval "\"\$compiler\" -std=c11 -Wall -Werror -o \"\$work/user\" \"\$source\" \
        $(pkg-config --cflags --libs ptxrun)" || fail "building a user of the C API"
    "$work/user" || fail "the user of the C API: status $?"
fi
echo "all passed"
