/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a kernel whose PTX tells lines of its source. With an argument it has no
 * memory to store into.
 */
#include <stdio.h>

#include "cudart/driver/cuda_driver.h"

static const char twice_ptx[] = ".version 8.0\n"
                                ".target sm_75\n"
                                ".address_size 64\n"
                                ".visible .entry twice(.param .u64 in, .param .u64 out)\n"
                                "{\n"
                                ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"
                                ".loc 1 3 5\n"
                                "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                                "ld.param.u64 %rd1, [in]; add.u64 %rd3, %rd1, %rd2;\n"
                                ".loc 1 4 5\n"
                                "ld.volatile.global.u32 %r2, [%rd3];\n"
                                ".loc 1 5 5\n"
                                "ld.param.u64 %rd4, [out]; add.u64 %rd5, %rd4, %rd2;\n"
                                "add.u32 %r3, %r2, %r2;\n"
                                "st.volatile.global.u32 [%rd5], %r3;\n"
                                "ret;\n"
                                "}\n"
                                ".file 1 \"src\" \"twice.cu\"\n";

int main(int argc, char **argv)
{
    (void)argv;
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr in;
    unsigned value = 21;
    if (cuInit(0) != CRT_SUCCESS || cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS ||
        cuCtxSetCurrent(ctx) != CRT_SUCCESS ||
        cuModuleLoadData(&module, twice_ptx) != CRT_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "twice") != CRT_SUCCESS)
        return 2;
    if (cuMemAlloc_v2(&in, 32 * sizeof value) != CRT_SUCCESS ||
        cuMemsetD32_v2(in, value, 32) != CRT_SUCCESS)
        return 2;
    CUdeviceptr out = argc > 1 ? 0 : in;
    void *params[] = {&in, &out};
    if (cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) != CRT_SUCCESS ||
        cuCtxSynchronize() != CRT_SUCCESS ||
        cuMemcpyDtoH_v2(&value, out, sizeof value) != CRT_SUCCESS || value != 42)
        return 1;
    puts("PASSED");
    return 0;
}
