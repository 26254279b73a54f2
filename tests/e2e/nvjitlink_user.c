/* SPDX-License-Identifier: Apache-2.0
 *
 * Links its inputs while it runs, and runs the kernel `answer` of what comes out, which stores 42.
 * Prints the result of each call and the log.
 * Usage: nvjitlink_user [-OPTION | TYPE=FILE | TYPE:FILE | lto+FILE]...
 *   TYPE=FILE as data, TYPE:FILE by its name, lto+FILE: source that NVRTC makes link-time code of
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/driver/cuda_driver.h"

/* As a program of toolkit 13.0 calls them, but for the last. */
int __nvJitLinkCreate_13_0(void **, uint32_t, const char **);
int __nvJitLinkDestroy_13_0(void **);
int __nvJitLinkAddData_13_0(void *, int, const void *, size_t, const char *);
int __nvJitLinkAddFile_13_0(void *, int, const char *);
int __nvJitLinkComplete_13_0(void *);
int __nvJitLinkGetLinkedCubinSize_13_0(void *, size_t *);
int __nvJitLinkGetLinkedCubin_13_0(void *, void *);
int __nvJitLinkGetLinkedPtxSize_13_0(void *, size_t *);
int __nvJitLinkGetLinkedPtx_13_0(void *, char *);
int __nvJitLinkGetErrorLogSize_13_0(void *, size_t *);
int __nvJitLinkGetErrorLog_13_0(void *, char *);
int nvJitLinkVersion(unsigned *, unsigned *);

int nvrtcCreateProgram(void **, const char *, const char *, int, const char *const *,
                       const char *const *);
int nvrtcDestroyProgram(void **);
int nvrtcCompileProgram(void *, int, const char *const *);
int nvrtcGetLTOIRSize(void *, size_t *);
int nvrtcGetLTOIR(void *, char *);

static const char *name_of(int result)
{
    static const char *const NAMES[] = {
        "SUCCESS",         "UNRECOGNIZED_OPTION", "MISSING_ARCH",
        "INVALID_INPUT",   "PTX_COMPILE",         "NVVM_COMPILE",
        "INTERNAL",        "THREADPOOL",          "UNRECOGNIZED_INPUT",
        "FINALIZE",        "NULL_INPUT",          "INCOMPATIBLE_OPTIONS",
        "INCORRECT_TYPE",  "ARCH_MISMATCH",       "OUTDATED_LIBRARY",
        "MISSING_FATBIN",  "UNRECOGNIZED_ARCH",   "UNSUPPORTED_ARCH",
        "LTO_NOT_ENABLED",
    };
    return result >= 0 && (size_t)result < sizeof NAMES / sizeof *NAMES ? NAMES[result] : "?";
}

static int say(const char *what, int result)
{
    printf("%s: %s\n", what, name_of(result));
    return result;
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    char *data = calloc(1, 1 << 20);
    *bytes = file && data ? fread(data, 1, (1 << 20) - 1, file) : 0;
    if (file)
        fclose(file);
    return data;
}

static char *compile_link_time(const char *path, size_t *bytes)
{
    static const char *const options[] = {"-arch=sm_75", "-dlto", "-rdc=true"};
    void *program;
    char *image = NULL;
    char *source = read_file(path, bytes);
    if (nvrtcCreateProgram(&program, source, path, 0, NULL, NULL) != 0 ||
        nvrtcCompileProgram(program, 3, options) != 0 || nvrtcGetLTOIRSize(program, bytes) != 0 ||
        !(image = malloc(*bytes + 1)) || nvrtcGetLTOIR(program, image) != 0)
        puts("no link-time code");
    nvrtcDestroyProgram(&program);
    free(source);
    return image;
}

static int add(void *link, const char *input)
{
    static const char *const TYPES[] = {"none",    "cubin", "ptx", "lto", "fatbin", "object",
                                        "library", "index", "",    "",    "any"};
    size_t len = strcspn(input, "=:+");
    const char *path = input + len + 1;
    int type = 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strlen(TYPES[i]) == len && strncmp(TYPES[i], input, len) == 0)
            type = (int)i;
    if (input[len] == ':')
        return say("AddFile", __nvJitLinkAddFile_13_0(link, type, path));
    size_t bytes;
    char *data = input[len] == '+' ? compile_link_time(path, &bytes) : read_file(path, &bytes);
    int result = say("AddData", __nvJitLinkAddData_13_0(link, type, data, bytes, path));
    free(data);
    return result;
}

static void print_log(void *link)
{
    size_t bytes = 0;
    char *text = NULL;
    if (__nvJitLinkGetErrorLogSize_13_0(link, &bytes) == 0 && bytes > 0 &&
        (text = calloc(1, bytes)) && __nvJitLinkGetErrorLog_13_0(link, text) == 0)
        fputs(text, stdout);
    free(text);
}

/* The cubin, or with -ptx the PTX. */
static char *get_image(void *link)
{
    size_t bytes = 0;
    char *image = NULL;
    int result = __nvJitLinkGetLinkedPtxSize_13_0(link, &bytes);
    say("GetLinkedPtxSize", result);
    if (result == 0 && (image = calloc(1, bytes + 1)) &&
        say("GetLinkedPtx", __nvJitLinkGetLinkedPtx_13_0(link, image)) == 0)
        return image;
    if (say("GetLinkedCubinSize", __nvJitLinkGetLinkedCubinSize_13_0(link, &bytes)) == 0 &&
        (image = calloc(1, bytes)) &&
        say("GetLinkedCubin", __nvJitLinkGetLinkedCubin_13_0(link, image)) == 0)
        return image;
    free(image);
    return NULL;
}

static int run(const char *image)
{
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr data;
    unsigned value = 0;
    if (cuInit(0) != CRT_SUCCESS || cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS ||
        cuCtxSetCurrent(ctx) != CRT_SUCCESS || cuModuleLoadData(&module, image) != CRT_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "answer") != CRT_SUCCESS ||
        cuMemAlloc_v2(&data, sizeof value) != CRT_SUCCESS)
        return 1;
    void *params[] = {&data};
    if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) != CRT_SUCCESS ||
        cuMemcpyDtoH_v2(&value, data, sizeof value) != CRT_SUCCESS)
        return 1;
    printf("the answer is %u\n", value);
    return value != 42;
}

int main(int argc, char **argv)
{
    void *link = NULL;
    unsigned major, minor;
    int options = 1;
    while (options < argc && argv[options][0] == '-')
        options++;
    if (nvJitLinkVersion(&major, &minor) != 0 || major != 13)
        return 2;
    int result = say("Create",
                     __nvJitLinkCreate_13_0(&link, (uint32_t)options - 1, (const char **)argv + 1));
    for (int i = options; i < argc && result == 0; i++)
        result = add(link, argv[i]);
    if (result == 0)
        result = say("Complete", __nvJitLinkComplete_13_0(link));
    print_log(link);
    char *image = result == 0 ? get_image(link) : NULL;
    if (image)
        result = run(image);
    free(image);
    return say("Destroy", __nvJitLinkDestroy_13_0(&link)) != 0 || result != 0;
}
