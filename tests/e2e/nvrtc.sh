#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our libnvrtc stands in front of another one: of one of the tests, and of the toolkit's where there is
# one. Usage: nvrtc.sh PTXRUN NVRTC-USER DIRECTORY-OF-THE-FAKE
set -u
. "$(dirname "$0")/../tools/check.sh"
ptxrun=$1 user=$2 fake=$3

fake() {
    env LD_LIBRARY_PATH="$fake" "$ptxrun" "$user" "$@"
}

check "it is not taken for a closed library" 0 "^0$" \
    sh -c 'LD_LIBRARY_PATH="$2" "$0" "$1" -arch=sm_90 2>&1 | grep -c "closed library" || true' "$ptxrun" "$user" "$fake"
check "machine code is asked for as PTX" 0 "^option --gpu-architecture=compute_90$" \
    fake --gpu-architecture=sm_90
check "and comes as a cubin that runs" 0 "^a cubin$" fake --gpu-architecture=sm_90
check "with the result" 0 "^PASSED$" fake --gpu-architecture=sm_90
check "the short name" 0 "^option --gpu-architecture=compute_75$" fake -arch=sm_75
check "a value of its own" 0 "^option compute_90a$" fake --std=c++17 --gpu-architecture sm_90a
check "the option before it stays" 0 "^option --gpu-architecture$" fake --gpu-architecture sm_90
check "an architecture that is too new" 0 "^option --gpu-architecture=compute_90$" fake -arch=sm_120a
check "one that lies between" 0 "^option --gpu-architecture=compute_75$" fake -arch=sm_86
check "one that is too old" 0 "^option --gpu-architecture=compute_75$" fake -arch=sm_52
check "PTX stays PTX" 0 "^PTX$" fake -arch=compute_75
check "no architecture is none" 0 "^PTX$" fake --fmad=false
check "other options stay" 0 "^option -DA=sm_90$" fake -DA=sm_90
check "what is no architecture stays" 0 "^option -arch=native$" fake -arch=native
check "errors are those of the compiler" 4 "^nvrtcCompileProgram: NVRTC_ERROR_COMPILATION$" fake --bad

if [ -n "$(find -L /usr/local/cuda*/lib64 /usr/lib -name 'libnvrtc.so.1*' 2>/dev/null)" ]; then
    for arch in sm_52 sm_75 sm_80 sm_90 sm_90a sm_103; do
        check "the toolkit's NVRTC for $arch" 0 "^PASSED$" "$ptxrun" "$user" "--gpu-architecture=$arch"
    done
    check "link-time code is no cubin: nvJitLink takes it" 1 "^FAILED$" "$ptxrun" "$user" -arch=sm_90 -dlto
    check "its log" 4 "twice.cu(1): error" "$ptxrun" "$user" --bad -arch=sm_90
else
    check "no NVRTC" 3 "no NVRTC is installed" "$ptxrun" "$user"
    check "and its error" 3 "^nvrtcCreateProgram: 2 NVRTC_ERROR_PROGRAM_CREATION_FAILURE$" "$ptxrun" "$user"
fi
[ "$failures" -eq 0 ] && echo "all passed"
