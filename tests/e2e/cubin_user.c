/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the cubin that its argument names in each way that the driver has, and runs its kernel
 * `twice` with each. Usage: cubin_user FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "cudart/driver/cuda_driver.h"

static char image[1 << 20];

static int run(CUfunction kernel)
{
    CUdeviceptr data;
    unsigned values[128];
    if (cuMemAlloc_v2(&data, sizeof values) != CRT_SUCCESS ||
        cuMemsetD32_v2(data, 21, 128) != CRT_SUCCESS)
        return 1;
    void *params[] = {&data};
    int failed = cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL) != CRT_SUCCESS ||
                 cuCtxSynchronize() != CRT_SUCCESS ||
                 cuMemcpyDtoH_v2(values, data, sizeof values) != CRT_SUCCESS;
    for (int i = 0; i < 128; i++)
        failed |= values[i] != 42;
    cuMemFree_v2(data);
    return failed;
}

static int run_module(const char *how, CUresult result, CUmodule module)
{
    CUfunction kernel;
    if (result != CRT_SUCCESS || cuModuleGetFunction(&kernel, module, "twice") != CRT_SUCCESS ||
        run(kernel)) {
        printf("%s: FAILED\n", how);
        return 1;
    }
    printf("%s: PASSED\n", how);
    return 0;
}

static int run_linked(size_t len)
{
    CUlinkState link;
    CUmodule module = NULL;
    void *linked;
    size_t linked_len;
    CUresult result = CRT_INVALID_VALUE;
    if (cuLinkCreate_v2(0, NULL, NULL, &link) == CRT_SUCCESS &&
        cuLinkAddData_v2(link, CU_JIT_INPUT_CUBIN, image, len, "cubin", 0, NULL, NULL) ==
            CRT_SUCCESS &&
        cuLinkComplete(link, &linked, &linked_len) == CRT_SUCCESS)
        result = cuModuleLoadData(&module, linked);
    return run_module("cuLinkAddData", result, module);
}

int main(int argc, char **argv)
{
    CUcontext ctx;
    CUmodule module = NULL;
    FILE *file = argc > 1 ? fopen(argv[1], "re") : NULL;
    size_t len = file ? fread(image, 1, sizeof image, file) : 0;
    if (len == 0 || fclose(file) != 0 || cuInit(0) != CRT_SUCCESS ||
        cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS || cuCtxSetCurrent(ctx) != CRT_SUCCESS)
        return 2;
    CUresult result = cuModuleLoad(&module, argv[1]);
    int failed = run_module("cuModuleLoad", result, module);
    result = cuModuleLoadData(&module, image);
    failed |= run_module("cuModuleLoadData", result, module);
    return failed | run_linked(len);
}
