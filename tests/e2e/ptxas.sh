#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stand-ins for ptxas, cuobjdump and nvdisasm, as compilers of kernels call them: command lines,
# texts that callers search, exit statuses; and the driver takes what they make.
# Usage: ptxas.sh PTXRUN PTXRUN-PTXAS PTXDUMP CUBIN-USER DIRECTORY-WITH-FIXTURES
set -u
. "$(dirname "$0")/../tools/check.sh"
ptxrun=$1 ptxas=$2 ptxdump=$3 user=$4 data=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset TRITON_PTXAS_PATH TRITON_CUOBJDUMP_PATH TRITON_NVDISASM_PATH TRITON_LIBCUDA_PATH NUMBA_CUDA_DRIVER

# fatal PATTERN ARGUMENT...: what is refused, by ptxas' own words and exit status
fatal() {
    pattern=$1
    shift
    check "refusal of $*" 255 "^ptxas fatal   : $pattern\$" "$ptxas" "$@"
}

# In the style of Triton.
cat >twice.ptx <<'END'
//
.version 8.7
.target sm_90a
.address_size 64

.extern .shared .align 16 .b8 global_smem[];
.visible .entry twice(
	.param .u64 .ptr .global .align 1 twice_param_0
)
.reqntid 128
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<4>;
	ld.param.b64 	%rd1, [twice_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 4;
	add.s64 	%rd3, %rd1, %rd2;
	mov.u32 %r2, 0x0;
	ld.global.b32 { %r2 }, [ %rd3 + 0 ];
	bar.sync 	0;
	add.s32 	%r3, %r2, %r2;
	st.global.b32 [ %rd3 + 0 ], { %r3 };
	ret;
}
END
sed 's/add.s32/addx.s32/; s/\[ %rd3 + 0 \], { %r3 }/[ %rd9 + 0 ], { %r3 }/' twice.ptx >bad.ptx
sed 's/sm_90a/sm_80/' twice.ptx >twice80.ptx

check "version as Triton looks for it" 0 '.*release [0-9]*\.[0-9]*' "$ptxas" --version
check "version as XLA looks for it" 0 'V[0-9]*\.[0-9]*\.[0-9]*$' "$ptxas" --version
check "Triton's command line" 0 "^ptxas info    : Used [0-9]* registers, used 1 barriers, 8 bytes cmem" \
    "$ptxas" -lineinfo -v --gpu-name=sm_90a twice.ptx -o twice.cubin
check "for each kernel" 0 "^ptxas info    : Compiling entry function 'twice' for 'sm_90a'$" \
    "$ptxas" -v --gpu-name sm_90a twice.ptx -o twice.cubin
[ "$(head -c 4 twice.cubin | tail -c 3)" = ELF ] || { echo "FAILED: no ELF file"; failures=1; }
for how in cuModuleLoad cuModuleLoadData cuLinkAddData; do
    check "the driver takes it by $how" 0 "^$how: PASSED$" "$ptxrun" "$user" twice.cubin
done
check "ptxdump knows it" 0 "ptx  *compute_90a" "$ptxdump" list twice.cubin
check "what other command lines have" 0 "" "$ptxas" -arch sm_80 -m64 -O3 -c --fmad=false -maxrregcount=64 \
    -dlcm=ca -g --opt-level 3 -suppress-debug-info --entry twice twice80.ptx -o other.cubin
rm -f elf.o
echo '-v -arch=sm_80 "twice80.ptx"' >options
check "options in a file, and the default name" 0 "8 bytes cmem" "$ptxas" -optf options
[ -s elf.o ] || { echo "FAILED: no elf.o"; failures=1; }
check "PTX in an argument" 0 "entry function 'twice'" \
    "$ptxas" -v -arch=sm_80 --input-as-string "$(cat twice80.ptx)" -o string.cubin
check "standard input" 0 "" sh -c '"$0" -arch=sm_80 -o stdin.cubin - <twice80.ptx' "$ptxas"
check "a later real architecture" 0 "" "$ptxas" -arch=sm_120 -o later.cubin twice80.ptx
check "no code for a virtual one" 0 "" "$ptxas" -arch=compute_80 -o virtual.cubin twice80.ptx
[ ! -e virtual.cubin ] || { echo "FAILED: code for compute_80"; failures=1; }

check "an error names line and instruction" 255 "^ptxas bad.ptx, line 21; error   : .*addx" \
    "$ptxas" -arch sm_90a bad.ptx -o bad.cubin
check "all errors are told" 255 "^ptxas bad.ptx, line 22; error   : .*%rd9" "$ptxas" -arch sm_90a bad.ptx
fatal "Ptx assembly aborted due to errors" -arch sm_90a bad.ptx -o bad.cubin
[ ! -e bad.cubin ] || { echo "FAILED: a cubin of bad PTX"; failures=1; }
fatal "Input file 'none.ptx' could not be opened" none.ptx
fatal "Unknown option '-dryrun'" --dryrun twice.ptx
fatal "Unknown option 'frob'" -frob=1 twice.ptx
fatal "Value 'sm_999' is not defined for option 'gpu-name'" --gpu-name=sm_999 twice.ptx
fatal "Value '32' is not defined for option 'machine'" -m32 twice.ptx
fatal "argument expected after '-arch'" twice.ptx -arch
fatal "no argument expected after '-v'" -v=1 twice.ptx
fatal "'maybe': expected true or false" --fmad maybe twice.ptx
fatal "'fast': expected a number" -Ofast twice.ptx
fatal "Invalid value 'few' for option 'maxrregcount'" -maxrregcount few twice.ptx
fatal "Could not open options file 'none'" -optf none
fatal "Unknown function other" -arch sm_90a -e other twice.ptx
fatal "SM version specified by .target is higher than default SM version assumed" -arch sm_80 twice.ptx
fatal "PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'" -arch sm_90 twice.ptx
fatal "Program with .target 'sm_90a' cannot be compiled to future architecture" -arch sm_100 twice.ptx
fatal "Output file '/nowhere/x' could not be opened" -arch sm_90a twice.ptx -o /nowhere/x
check "an option given twice" 0 "incompatible redefinition for option 'opt-level'" \
    "$ptxas" -O3 -O2 -arch=sm_80 twice80.ptx -o twice80.cubin

check "ptxrun names it to Triton" 0 "" \
    "$ptxrun" sh -c '"$TRITON_PTXAS_PATH" -arch=sm_90a twice.ptx -o named.cubin'
check "and puts it on the PATH" 0 "ptxrun" "$ptxrun" ptxas --version
check "cuobjdump prints PTX" 0 "^.visible .entry _Z5scalePii" "$ptxrun" cuobjdump -ptx "$data/many.exe"
check "as the genuine one heads it" 0 "^code version = " "$ptxrun" cuobjdump --dump-ptx "$data/many.exe"
check "of one architecture" 0 "^1$" \
    sh -c '"$0" cuobjdump -arch sm_90a -ptx "$1" | grep -c "^arch = "' "$ptxrun" "$data/many.exe"
check "of a cubin of ours" 0 "^.visible .entry twice" "$ptxrun" cuobjdump -ptx twice.cubin
check "lists PTX" 0 "^PTX file    1: many.exe.1.sm_" "$ptxrun" cuobjdump -lptx "$data/many.exe"
check "file without PTX" 0 "does not contain device code" "$ptxrun" cuobjdump -ptx "$data/cubin_only.exe"
check "cuobjdump of machine code" 255 "no machine code.*'-sass'" "$ptxrun" cuobjdump -sass twice.cubin
check "nvdisasm" 255 "nothing to disassemble" "$ptxrun" nvdisasm -c twice.cubin
check "nvdisasm's version" 0 " release " "$ptxrun" nvdisasm --version

[ "$failures" -eq 0 ] && echo "all passed"
