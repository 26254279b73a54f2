#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Promises of the ptxdump command. Usage: ptxdump.sh PTXDUMP DIRECTORY-WITH-FIXTURES
set -u
. "$(dirname "$0")/check.sh"
ptxdump=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check "list shows architecture, version, packing and kernels" 0 \
    "ptx  *compute_90a  *9.0  *zstd .*_Z5scalePii" "$ptxdump" list "$data/many.exe"
check "list shows cubins" 0 "cubin  *sm_80" "$ptxdump" list "$data/cubin_only.exe"
check "list shows LZ4" 0 " lz4 " "$ptxdump" list "$data/mode_speed.exe"
check "list names archive members" 0 "rdc_a.o __nv_relfatbin" "$ptxdump" list "$data/two.a"
check "list --kernels" 0 "^ *_Z10accumulatePKi$" "$ptxdump" list --kernels "$data/one.ptx"
check "several files" 0 "one.fatbin: fat binary$" "$ptxdump" list "$data/one.so" "$data/one.fatbin"

check "extract tells what it wrote" 0 "many.exe.2.sm_90a.ptx" \
    "$ptxdump" extract -o "$work/out" "$data/many.exe"
[ "$(ls "$work/out" | wc -l)" -eq 4 ] || { echo "FAILED: four files"; failures=$((failures + 1)); }
check "extracted text is PTX" 0 "^.target sm_100f" cat "$work/out/many.exe.3.sm_100f.ptx"
check "extract without PTX" 1 "holds no PTX" "$ptxdump" extract -o "$work" "$data/cubin_only.exe"
check "extract into a file" 1 "Not a directory" \
    "$ptxdump" extract -o "$data/one.ptx" "$data/one.fatbin"

check "print shows each PTX entry as parsed" 0 "^// .*many.exe: fat binary 2 in .nv_fatbin, entry" \
    "$ptxdump" print "$data/many.exe"
"$ptxdump" print "$data/one.ptx" >"$work/printed.ptx"
check "what is printed parses and prints the same" 0 "^same$" \
    sh -c '"$1" print "$2" | cmp - "$2" && echo same' sh "$ptxdump" "$work/printed.ptx"
check "print --normal has one form of numbers" 0 "^.version 9.0$" \
    "$ptxdump" print --normal "$data/one.ptx"
check "print without PTX" 1 "holds no PTX" "$ptxdump" print "$data/cubin_only.exe"
printf '.version 8.0\n.target sm_75\n.bad x;\n.worse y;\n.global .u32 z;\n' >"$work/bad.ptx"
check "print tells the first error" 1 "bad.ptx.*:3:1: error: " "$ptxdump" print "$work/bad.ptx"
check "print tells further errors" 1 "bad.ptx.*:4:1: error: " "$ptxdump" print "$work/bad.ptx"

check "ops as JSON" 0 '"lop3", "form": "lop3.b32", "types": ."b32"., .*"fidelity": "exact"' \
    "$ptxdump" ops --json
check "ops says what proves a row" 0 '"proved_by": ."conformance' "$ptxdump" ops --json
check "every row that is translated is proved" 0 "^0$" \
    sh -c '"$0" ops --json | grep -v "\"unsupported\"" | grep -c "\"proved_by\": \[\]" || true' "$ptxdump"
check "ops in no other format" 2 "takes no arguments but" "$ptxdump" ops --xml

head -c 5000 "$data/one.fatbin" >"$work/cut.fatbin"
check "truncated file" 1 "cut.fatbin: fat binary claims" "$ptxdump" list "$work/cut.fatbin"
check "damaged file does not stop the next" 1 "one.ptx: PTX text" \
    "$ptxdump" list "$work/cut.fatbin" "$data/one.ptx"
check "PTX text is no fat binary" 0 "one.ptx: PTX text$" "$ptxdump" list "$data/one.ptx"
check "program without device code" 0 "no CUDA device code" "$ptxdump" list "$ptxdump"
check "other file" 1 "not an ELF file" "$ptxdump" list "$0"
check "missing file" 1 "No such file" "$ptxdump" list "$work/nothing"

check "no command" 2 "usage:" "$ptxdump"
check "unknown command" 2 "'frobnicate' is not a command" "$ptxdump" frobnicate
check "unknown option" 2 "'--all' is not an option" "$ptxdump" list --all x
check "option of another command" 2 "'--kernels' is not an option" "$ptxdump" print --kernels x
check "no file" 2 "needs a file" "$ptxdump" extract
check "help" 0 "usage: ptxdump list" "$ptxdump" --help
check "version" 0 "^ptxdump " "$ptxdump" --version
if [ -w /dev/full ]; then
    check "full disk is noticed" 1 "cannot write the output" \
        sh -c '"$0" list "$1" >/dev/full' "$ptxdump" "$data/many.exe"
fi

[ "$failures" -eq 0 ] && echo "all passed"
