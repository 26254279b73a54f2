#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No function of a program takes the place of one of ours. What our libraries export begins with
# ptxrun_, if it is not part of an API that others have named; what they take from outside is libc's.
# Programs that define all these names, and some of libraries that are inside ours, run as if they
# did not.
# Usage: host_names.sh PTXRUN LIBRARIES C-COMPILER HOST.c INCLUDES PTX-FILES
set -u
ptxrun=$1 libraries=$2 compiler=$3 host=$4 includes=$5 data=$6
command -v nm >/dev/null || {
    echo "skipped: no nm"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

find "$libraries" -name '*.so*' >"$work/files"
[ "$(wc -l <"$work/files")" -ge 8 ] || fail "fewer libraries than there should be"

# Names without their versions; "A" is the name of a version.
while read -r file; do
    nm -D --defined-only "$file"
done <"$work/files" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
api='^\(cu\|__cuda\|nvml\|nvrtc\|nvJitLink\|__nvJitLink\|nvtx\|__jit_debug_\)' # the last is GDB's
grep -v "$api" "$work/exported" >"$work/own"

# ptx_run has the name of the shim that it stands in for.
strange=$(grep -v -x -e 'ptxrun_.*' -e ptx_run "$work/own" | tr '\n' ' ')
[ -z "$strange" ] || fail "exported without the prefix ptxrun_: $strange"

# The weak names are asked for by every C compiler's start files.
while read -r file; do
    nm -D --undefined-only "$file"
done <"$work/files" | awk '{ print $2 }' |
    grep -v -x -e '.*@GLIBC_.*' -e '_ITM_.*' -e __gmon_start__ | sed 's/@.*//' | sort -u >"$work/outside"
[ ! -s "$work/outside" ] || fail "taken from outside, not from libc: $(tr '\n' ' ' <"$work/outside")"

cat >"$work/inside" <<'END'
crt_init
crt_launch_kernel
pxr_log
sch_grid_run
jit_compile
ZSTD_decompress
ZSTD_isError
ZSTD_compress2
ZSTD_trace_decompress_begin
LZ4_decompress_safe
elf_begin
elf_memory
gelf_getshdr
crc32
compress2
uncompress
LLVMContextCreate
_Znwm
_ZdlPv
END

# traps NAMES...: functions of these names, in $work/traps.c
traps() {
    echo 'void host_function_called(const char *name);'
    sort -u "$@" | sed 's/.*/void &(void) { host_function_called("&"); }/'
} >"$work/traps.c"

# run_host WHAT OPTION...: a program with the traps, for every version of the runtime.
run_host() {
    what=$1
    shift
    "$compiler" -std=gnu11 -w -rdynamic "-I$includes" -o "$work/host" "$host" "$work/traps.c" "$@" \
        -ldl || { fail "$what: building it"; return; }
    nm -D --defined-only "$work/host" | grep -q ' ptxrun_launch$' ||
        fail "$what: the program exports nothing"
    for cudart in libcudart.so.13 libcudart.so.12 libcudart.so.11.0; do
        "$ptxrun" "$work/host" "$(find "$libraries" -name $cudart)" "$data/default.exe" \
            "$data/mode_speed.exe" "$data/two.a" || fail "$what, $cudart: exit status $?"
    done
}

traps "$work/exported" "$work/outside" "$work/inside"
run_host "a program that opens the libraries"

grep -v "$api" "$work/outside" >"$work/outside_own"
traps "$work/own" "$work/outside_own" "$work/inside"
run_host "a program that is linked with the libraries" -DCALLS_EARLY -Wl,--no-as-needed \
    "$libraries/libcuda.so.1" "$libraries/libnvidia-ml.so.1" "$libraries/cudart/libcudart.so.13" \
    -Wl,--allow-shlib-undefined

exit $failed
