/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles a kernel while it runs, for the architecture that its argument names, and runs what
 * comes out. Prints the log of the compilation. Usage: nvrtc_user OPTION...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/driver/cuda_driver.h"

int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *,
                       const char *const *);
int nvrtcDestroyProgram(void **);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetCUBINSize(void *, size_t *);
int nvrtcGetCUBIN(void *, char *);
int nvrtcGetPTXSize(void *, size_t *);
int nvrtcGetPTX(void *, char *);
int nvrtcGetProgramLogSize(void *, size_t *);
int nvrtcGetProgramLog(void *, char *);
const char *nvrtcGetErrorString(int);

static const char source[] = "extern \"C\" __global__ void twice(unsigned *data)\n"
                             "{\n"
                             "    data[threadIdx.x] *= 2;\n"
                             "}\n";

static int run(const char *image)
{
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr data;
    unsigned values[32];
    if (cuInit(0) != CRT_SUCCESS || cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS ||
        cuCtxSetCurrent(ctx) != CRT_SUCCESS || cuModuleLoadData(&module, image) != CRT_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "twice") != CRT_SUCCESS ||
        cuMemAlloc_v2(&data, sizeof values) != CRT_SUCCESS ||
        cuMemsetD32_v2(data, 21, 32) != CRT_SUCCESS)
        return 1;
    void *params[] = {&data};
    if (cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) != CRT_SUCCESS ||
        cuMemcpyDtoH_v2(values, data, sizeof values) != CRT_SUCCESS)
        return 1;
    return values[0] != 42 || values[31] != 42;
}

static void print_log(void *program)
{
    size_t bytes = 0;
    char *log = NULL;
    if (nvrtcGetProgramLogSize(program, &bytes) == 0 && (log = calloc(1, bytes + 1)) &&
        nvrtcGetProgramLog(program, log) == 0)
        fputs(log, stdout);
    free(log);
}

/* The cubin, or the PTX where none was asked for. */
static char *get_image(void *program)
{
    size_t bytes = 0;
    char *image = NULL;
    if (nvrtcGetCUBINSize(program, &bytes) == 0 && bytes > 0) {
        puts("a cubin");
        image = malloc(bytes);
        if (image && nvrtcGetCUBIN(program, image) == 0)
            return image;
    } else if (nvrtcGetPTXSize(program, &bytes) == 0 && bytes > 0) {
        puts("PTX");
        image = malloc(bytes);
        if (image && nvrtcGetPTX(program, image) == 0)
            return image;
    }
    free(image);
    return NULL;
}

int main(int argc, char **argv)
{
    void *program;
    int is_bad = argc > 1 && strcmp(argv[1], "--bad") == 0;
    int result = nvrtcCreateProgram(&program, is_bad ? "no C" : source, "twice.cu", 0, NULL, NULL);
    if (result != 0) {
        printf("nvrtcCreateProgram: %d %s\n", result, nvrtcGetErrorString(result));
        return 3;
    }
    result =
        nvrtcCompileProgram(program, argc - 1 - is_bad, (const char *const *)argv + 1 + is_bad);
    print_log(program);
    if (result != 0) {
        printf("nvrtcCompileProgram: %s\n", nvrtcGetErrorString(result));
        nvrtcDestroyProgram(&program);
        return 4;
    }
    char *image = get_image(program);
    int failed = !image || run(image);
    free(image);
    if (nvrtcDestroyProgram(&program) != 0 || program)
        failed = 1;
    puts(failed ? "FAILED" : "PASSED");
    return failed;
}
