#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our libnvJitLink links PTX by itself, and code for link-time optimisation by the one that is
# installed: one of the tests, and the toolkit's where there is one.
# Usage: nvjitlink.sh PTXRUN NVJITLINK-USER DIRECTORY-OF-THE-FAKE FAT-BINARIES PTXRUN-PTXAS
set -u
. "$(dirname "$0")/../tools/check.sh"
ptxrun=$1 user=$2 fake=$3 data=$4 ptxas=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset CUDA_HOME CUDA_PATH

head='.version 7.0
.target sm_75
.address_size 64'
cat >kernel.ptx <<END
$head
.extern .func (.param .b32 r) helper (.param .b32 a);
.visible .entry answer (.param .u64 data)
{ .reg .b32 %r<3>; .reg .b64 %rd<2>; .param .b32 a; .param .b32 b;
  mov.u32 %r1, 41; st.param.b32 [a], %r1; call (b), helper, (a); ld.param.b32 %r2, [b];
  ld.param.u64 %rd1, [data]; st.global.u32 [%rd1], %r2; ret; }
END
cat >helper.ptx <<END
$head
.visible .func (.param .b32 r) helper (.param .b32 a)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
END
sed 's/sm_75/sm_80/' helper.ptx >newer.ptx
echo '.version 7.0 bad' >bad.ptx
echo 'no such thing' >text
printf '\355CN\177 and so on' >lto
printf '\355CN\177 and so on!' >lto_bad

user() {
    "$ptxrun" "$user" "$@"
}
fake() {
    env LD_LIBRARY_PATH="$fake" "$ptxrun" "$user" "$@"
}

answer="^the answer is 42$"
check "two texts" 0 "$answer" user -arch=sm_75 ptx=kernel.ptx ptx=helper.ptx
check "in the other order, by name, of any type" 0 "$answer" user -arch=sm_75 any:helper.ptx ptx:kernel.ptx
check "architectures that a toolkit has dropped, or does not have yet" 0 "$answer" \
    user -arch=sm_120a ptx=kernel.ptx ptx=helper.ptx
check "options about machine code" 0 "$answer" user -arch=sm_75 -O3 -verbose -maxrregcount=32 -Xptxas=-v \
    -lineinfo -kernels-used=answer -ftz=1 -prec-div=0 ptx=kernel.ptx ptx=helper.ptx
"$ptxas" -arch=sm_75 kernel.ptx -o kernel.cubin || fail "assembling"
check "a cubin that carries PTX" 0 "$answer" user -arch=sm_75 cubin=kernel.cubin ptx=helper.ptx
check "with a fat binary" 0 "$answer" user -arch=sm_75 fatbin:"$data/one.fatbin" ptx=kernel.ptx ptx=helper.ptx
check "with an object" 0 "$answer" user -arch=sm_75 object:"$data/one.obj" ptx=kernel.ptx ptx=helper.ptx
check "with a library, for a newer architecture" 1 "Unresolved extern function '_Z5twicei'" \
    user -arch=sm_90 library:"$data/two.a" ptx=kernel.ptx ptx=helper.ptx
check "no PTX is no PTX" 0 "^GetLinkedPtxSize: INVALID_INPUT$" user -arch=sm_75 ptx=kernel.ptx ptx=helper.ptx

check "nothing at all" 1 "^GetLinkedCubin: SUCCESS$" user -arch=sm_75
check "no architecture" 1 "^Create: MISSING_ARCH$" user
check "no such architecture" 1 "^Create: UNRECOGNIZED_ARCH$" user -arch=sm_999
check "no such option" 1 "^Create: UNRECOGNIZED_OPTION$" user -arch=sm_75 -frob
check "and its line" 1 "^unrecognized option: -frob$" user -arch=sm_75 -frob
check "an option without its value" 1 "^unrecognized option: -ftz$" user -arch=sm_75 -ftz
check "a level that there is not" 1 "^unsupported value of -O: 1. Only 0 and 3 are supported.$" user -arch=sm_75 -O1
check "PTX of what is no link-time code" 1 "^ERROR: -ptx requires -lto$" user -arch=sm_75 -ptx
check "a virtual architecture for a cubin" 1 "^Create: INCOMPATIBLE_OPTIONS$" user -arch=compute_75
check "bad PTX" 1 "^AddData: PTX_COMPILE$" user -arch=sm_75 ptx=bad.ptx
check "its log" 1 "^ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (bad.ptx)$" user -arch=sm_75 ptx=bad.ptx
check "PTX for a newer architecture" 1 "^AddData: PTX_COMPILE$" user -arch=sm_75 ptx=newer.ptx
check "no PTX, said to be" 1 "^AddData: PTX_COMPILE$" user -arch=sm_75 ptx=text
check "no file" 1 "^no such file: nothing$" user -arch=sm_75 ptx:nothing
check "and its code" 1 "^AddFile: INVALID_INPUT$" user -arch=sm_75 ptx:nothing
check "an empty one" 1 "^AddData: INVALID_INPUT$" user -arch=sm_75 ptx=/dev/null
check "another type than it is" 1 "^AddData: INCORRECT_TYPE$" user -arch=sm_75 fatbin=kernel.ptx
check "a type that there is not" 1 "^unsupported input type: kernel.ptx$" user -arch=sm_75 none=kernel.ptx
check "no type at all" 1 "^AddData: UNRECOGNIZED_INPUT$" user -arch=sm_75 any=text
check "machine code alone" 1 "only machine code" user -arch=sm_80 cubin:"$data/sm_80.cubin"
check "a function that nobody has" 1 "Unresolved extern function 'helper', called by 'answer'" \
    user -arch=sm_75 ptx=kernel.ptx
check "and its code" 1 "^Complete: INTERNAL$" user -arch=sm_75 ptx=kernel.ptx
check "a function twice" 1 "'helper' is defined a second time" \
    user -arch=sm_75 ptx=kernel.ptx ptx=helper.ptx ptx=helper.ptx

check "link-time code has to be asked for" 1 "^AddData: LTO_NOT_ENABLED$" fake -arch=sm_75 lto=lto
check "link-time code goes to the installed one" 0 "^input of type 3$" fake -arch=sm_75 -lto ptx=kernel.ptx lto=lto
check "as PTX" 0 "^option -ptx$" fake -arch=sm_75 -lto ptx=kernel.ptx lto=lto
check "and is linked with the rest" 0 "$answer" fake -arch=sm_75 -lto ptx=kernel.ptx lto=lto
check "for the next older architecture" 0 "^option -arch=compute_75$" fake -arch=sm_86 -lto ptx=kernel.ptx lto=lto
check "other options are handed on" 0 "^option -ftz=1$" fake -arch=sm_90 -lto -ftz=1 ptx=kernel.ptx lto=lto
check "PTX of link-time code" 1 "^GetLinkedPtx: SUCCESS$" fake -arch=compute_75 -lto -ptx lto=lto
check "not of anything else" 1 "^ERROR: -ptx requires that all inputs have LTOIR$" \
    fake -arch=sm_75 -lto -ptx lto=lto ptx=kernel.ptx
check "its errors are its own" 1 "^AddData: NVVM_COMPILE$" fake -arch=sm_75 -lto lto=lto_bad
check "its log, too" 1 "^bad code$" fake -arch=sm_75 -lto lto=lto_bad

if [ -n "$(find -L /usr/local/cuda*/lib64 /usr/lib -name 'libnvJitLink.so.1*' 2>/dev/null)" ]; then
    echo '__device__ int helper(int); extern "C" __global__ void answer(int *p) { *p = helper(41); }' >kernel.cu
    echo '__device__ int helper(int a) { return a + 1; }' >helper.cu
    for arch in sm_52 sm_75 sm_90a sm_103; do
        check "the toolkit's, for $arch" 0 "$answer" user -arch=$arch -lto lto+kernel.cu lto+helper.cu
    done
    check "its PTX" 0 "$answer" user -arch=sm_75 -lto -ptx lto+kernel.cu lto+helper.cu
    check "what it lacks" 1 "Unresolved extern function '_Z6helperi'" user -arch=sm_75 -lto lto+kernel.cu
else
    check "no nvJitLink" 1 "none is installed" user -arch=sm_75 -lto lto=lto
    check "and its error" 1 "^AddData: NVVM_COMPILE$" user -arch=sm_75 -lto lto=lto
fi
[ "$failures" -eq 0 ] && echo "all passed"
