/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX text at and beyond every limit: nesting, sizes, counts. Each gives its CUDA code and a
 * sentence, soon and without much memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "cudart/core/code/module.h"
#include "cudart/driver/cuda_driver.h"

#define HEAD               ".version 9.0\n.target sm_75\n.address_size 64\n"
#define EMPTY              ".visible .entry k() { ret; }\n"
#define MEMORY_KIB         (1L << 20)
#define TIME_LIMIT_SECONDS 300

/* HEAD, before, count times `part`, after */
struct extreme {
    const char *before;
    const char *part;
    unsigned count;
    const char *after;
    enum crt_result code; /* of loading, or else of the launch */
    const char *message;  /* part of it, if loading fails */
};

static const struct extreme extremes[] = {
    {".global .u32 x = ", "(", 300000, "1;\n" EMPTY, CRT_INVALID_PTX, "nested too deeply"},
    {".global .u32 x = ", "-", 300000, "1;\n" EMPTY, CRT_INVALID_PTX, "nested too deeply"},
    {".global .u32 x = ", "1 ? ", 300000, "1;\n" EMPTY, CRT_INVALID_PTX, "nested too deeply"},
    {".global .u32 x = ", "1 + ", 300000, "1;\n" EMPTY, CRT_SUCCESS, NULL},
    {".global .u32 x[2] = ", "{", 300000, "1;\n" EMPTY, CRT_INVALID_PTX, "nested more deeply"},
    {".global .u32 x", "[1]", 300000, ";\n" EMPTY, CRT_INVALID_PTX, "too many dimensions"},
    {".global .u32 x", "[65536]", 8, ";\n" EMPTY, CRT_INVALID_PTX, "too large"},
    {".visible .entry k() {", "{", 300000, "", CRT_INVALID_PTX, "nested too deeply"},
    {".global .b8 x[9223372036854775807]; ", "", 0, EMPTY, CRT_INVALID_PTX, "out of range"},
    {".global .b8 x[1099511627776] = {1};\n", "", 0, EMPTY, CRT_INVALID_PTX, "too large"},
    {".global .align 2147483648 .b8 x[4];\n", "", 0, EMPTY, CRT_INVALID_PTX, "alignment"},
    {".visible .entry k(.param .b8 x[32764]) { ret; }", "", 0, "", CRT_SUCCESS, NULL},
    {".visible .entry k(.param .b8 x[32765]) { ret; }", "", 0, "", CRT_INVALID_PTX,
     "parameters of 'k' take more than 32764 bytes"},
    {".visible .entry k(.param .b8 x[4294967295]) { ret; }", "", 0, "", CRT_INVALID_PTX,
     "parameters of 'k' take more than 32764 bytes"},
    {".visible .entry k() { .shared .b8 x[1048576]; st.shared.u32 [x], 1; }", "", 0, "",
     CRT_LAUNCH_OUT_OF_RESOURCES, NULL},
    {".visible .entry k() { .shared .b8 x[4294967295]; .shared .b8 y[4294967295];"
     " st.shared.u32 [x], 1; st.shared.u32 [y], 1; }",
     "", 0, "", CRT_LAUNCH_OUT_OF_RESOURCES, NULL},
    {".visible .entry k() { .local .b8 x[4294967295]; .local .b8 y[4294967295];"
     " st.local.u32 [x], 1; st.local.u32 [y], 1; }",
     "", 0, "", CRT_LAUNCH_OUT_OF_RESOURCES, NULL},
    {".visible .entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4294967290, 1; }", "", 0, "",
     CRT_SUCCESS, NULL},
    {".visible .entry k() {", "ret;", 100000, "}", CRT_SUCCESS, NULL},
    {".visible .entry k() { ret; } /*", "*", 300000, "", CRT_INVALID_PTX, "unterminated"},
    {".pragma \"", "a", 300000, "\";\n" EMPTY, CRT_SUCCESS, NULL},
    {".visible .entry ", "k", 300000, "() { ret; }\n", CRT_SUCCESS, NULL},
    {".visible .entry k() .maxntid 4294967295, 4294967295, 4294967295 { ret; }", "", 0, "",
     CRT_SUCCESS, NULL},
    {".section .debug_info {", ".b8 1,2,3\n", 100000, "", CRT_INVALID_PTX, "end of the text"},
};

static char *make_text(const struct extreme *extreme)
{
    size_t part_len = strlen(extreme->part);
    size_t bytes =
        sizeof HEAD + strlen(extreme->before) + part_len * extreme->count + strlen(extreme->after);
    char *text = malloc(bytes);
    CHECK(text);
    char *end = stpcpy(stpcpy(text, HEAD), extreme->before);
    for (unsigned i = 0; i < extreme->count; i++)
        end = stpcpy(end, extreme->part);
    strcpy(end, extreme->after);
    return text;
}

static enum crt_result run(struct crt_library *library, CUcontext ctx)
{
    CUmodule module;
    static uint8_t params[1 << 16];
    void *arguments[] = {params, params};
    CUresult result = crt_module_get(library, ctx, &module);
    if (result == CRT_SUCCESS)
        result = cuLaunchKernel(library->kernels[0], 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
    return result == CRT_SUCCESS ? cuCtxSynchronize() : result;
}

static void try_extreme(const struct extreme *extreme, CUcontext ctx)
{
    struct crt_library *library;
    struct pxr_error error = {0};
    char *text = make_text(extreme);
    CUresult result = crt_library_load(text, strlen(text), false, &library, &error);
    if (result == CRT_SUCCESS) {
        CHECK(extreme->message == NULL);
        result = run(library, ctx);
        crt_library_unload(library);
    }
    if (result != extreme->code || (extreme->message && !strstr(error.message, extreme->message))) {
        printf("'%s%s...%s': %d, %s\n", extreme->before, extreme->part, extreme->after, (int)result,
               error.message);
        exit(1);
    }
    free(text);
}

int main(void)
{
    CUcontext ctx;
    struct rusage usage;
    alarm(TIME_LIMIT_SECONDS);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++)
        try_extreme(&extremes[i], ctx);
    getrusage(RUSAGE_SELF, &usage);
    printf("all refused or run, with %ld KiB\n", usage.ru_maxrss);
    CHECK(usage.ru_maxrss < MEMORY_KIB);
    OK(cuDevicePrimaryCtxReset_v2(0));
    return 0;
}
