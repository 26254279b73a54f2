/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules, libraries, kernels and the compiler's logs through the driver API.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

static const char two_ptx[] =
    HEAD ".visible .global .align 4 .u32 counter = 5;\n"
         ".visible .const .align 4 .u32 table[3] = {1, 2, 3};\n"
         ".visible .global .attribute(.managed) .align 4 .u32 shared_value = 9;\n"
         ".visible .entry store(.param .u64 out, .param .u32 value)\n"
         "{\n .reg .b64 %rd<2>; .reg .b32 %r<2>; .shared .align 4 .b8 room[128];\n"
         " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; st.shared.u32 [room], %r1;\n"
         " st.global.u32 [%rd1], %r1; ret;\n}\n"
         ".visible .entry other() { ret; }\n";

/* Counts *out up until there is nothing to do: some tenths of a second. */
static const char slow_ptx[] =
    HEAD ".visible .entry slow(.param .u64 out)\n"
         "{\n .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .pred %p<2>;\n"
         " ld.param.u64 %rd1, [out]; mov.u32 %r1, 0;\n"
         "again: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1;\n"
         " st.volatile.global.u32 [%rd1], %r2; add.u32 %r1, %r1, 1;\n"
         " setp.lt.u32 %p1, %r1, 50000000; @%p1 bra again; ret;\n}\n";

static const char broken_ptx[] = HEAD ".visible .entry broken()\n{\n frobnicate.u32;\n}\n";

static CUlibrary load_library(const char *ptx)
{
    CUlibrary library;
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

/* ---- logs ---- */

struct logs {
    char error[512];
    char info[2048];
    CUjit_option options[5];
    void *values[5];
};

static void init_logs(struct logs *logs)
{
    *logs = (struct logs){.options = {CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER,
                                      CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                                      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
                          .values = {NULL, logs->info, (void *)sizeof logs->info, logs->error,
                                     (void *)sizeof logs->error}};
    memset(logs->error, 'x', sizeof logs->error);
    memset(logs->info, 'x', sizeof logs->info);
}

static float wall_time_of(const struct logs *logs)
{
    float ms;
    memcpy(&ms, &logs->values[0], sizeof ms);
    return ms;
}

Test(modules, a_load_that_works_fills_the_information_log, .init = make_context)
{
    struct logs logs;
    CUmodule module;
    init_logs(&logs);
    OK(cuModuleLoadDataEx(&module, two_ptx, 5, logs.options, logs.values));
    cr_expect(strstr(logs.info, "kernel 'store': 12 bytes of parameters, 128 bytes of shared"),
              "%s", logs.info);
    cr_expect(strstr(logs.info, "kernel 'other'"), "%s", logs.info);
    cr_expect(strstr(logs.info, "12 bytes of constant memory"), "%s", logs.info);
    cr_expect_eq((size_t)logs.values[2], strlen(logs.info));
    cr_expect_eq((size_t)logs.values[4], 0);
    cr_expect_str_empty(logs.error);
    cr_expect(wall_time_of(&logs) > 0 && wall_time_of(&logs) < 60000);
}

Test(modules, a_load_that_fails_says_why_in_the_error_log, .init = make_context)
{
    struct logs logs;
    CUmodule module;
    CUlibrary library;
    init_logs(&logs);
    EXPECT(CRT_INVALID_PTX, cuModuleLoadDataEx(&module, broken_ptx, 5, logs.options, logs.values));
    cr_expect(strstr(logs.error, "frobnicate"), "%s", logs.error);
    cr_expect(strstr(logs.error, ":6:"), "the line is told: %s", logs.error);
    cr_expect_eq((size_t)logs.values[4], strlen(logs.error));
    cr_expect_eq((size_t)logs.values[2], 0);
    init_logs(&logs);
    EXPECT(CRT_INVALID_PTX,
           cuLibraryLoadData(&library, broken_ptx, logs.options, logs.values, 5, NULL, NULL, 0));
    cr_expect(strstr(logs.error, "frobnicate"), "%s", logs.error);
}

/* A real driver refuses any text of a later version than its own. Here those run that only hold
 * what is known; the others get its code, and a sentence with both versions. */
Test(modules, ptx_of_a_later_version_runs_if_all_of_it_is_known, .init = make_context)
{
    static const char later[] = ".version 9.7\n.target sm_75\n.address_size 64\n"
                                ".visible .entry k() { ret; }\n";
    static const char unknown[] = ".version 9.7\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry k() { frobnicate.u32; }\n";
    struct logs logs;
    CUmodule module;
    CUfunction function;
    CUlibrary library;
    OK(cuModuleLoadData(&module, later));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    init_logs(&logs);
    EXPECT(CRT_UNSUPPORTED_PTX_VERSION,
           cuModuleLoadDataEx(&module, unknown, 5, logs.options, logs.values));
    cr_expect(strstr(logs.error, "'frobnicate' is not a PTX instruction (the text is of PTX ISA "
                                 "9.7; known is 9.0)"),
              "%s", logs.error);
    EXPECT(CRT_UNSUPPORTED_PTX_VERSION,
           cuLibraryLoadData(&library, unknown, NULL, NULL, 0, NULL, NULL, 0));
}

Test(modules, a_log_is_cut_to_its_buffer, .init = make_context)
{
    struct logs logs;
    CUmodule module;
    init_logs(&logs);
    logs.values[4] = (void *)(uintptr_t)8;
    logs.values[2] = (void *)(uintptr_t)1;
    EXPECT(CRT_INVALID_PTX, cuModuleLoadDataEx(&module, broken_ptx, 5, logs.options, logs.values));
    cr_expect_eq(strlen(logs.error), 7);
    cr_expect_eq(logs.error[8], 'x', "nothing beyond it is touched");
    cr_expect_eq((size_t)logs.values[4], 7);
    cr_expect_str_empty(logs.info);
    cr_expect_eq(logs.info[1], 'x');
}

Test(modules, a_link_gathers_the_log_of_all_its_steps, .init = make_context)
{
    struct logs logs;
    CUlinkState state;
    void *image;
    size_t bytes;
    init_logs(&logs);
    OK(cuLinkCreate(5, logs.options, logs.values, &state));
    EXPECT(CRT_FILE_NOT_FOUND,
           cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, NULL, NULL));
    cr_expect(strstr(logs.error, "/nonexistent.ptx"), "%s", logs.error);
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)two_ptx, sizeof two_ptx, "two", 0,
                     NULL, NULL));
    OK(cuLinkComplete(state, &image, &bytes));
    cr_expect(strstr(logs.error, "/nonexistent.ptx"), "still there: %s", logs.error);
    cr_expect(strstr(logs.info, "kernel 'store'"), "%s", logs.info);
    cr_expect_eq((size_t)logs.values[2], strlen(logs.info));
    cr_expect(wall_time_of(&logs) > 0);
    OK(cuLinkDestroy(state));
    EXPECT(CRT_INVALID_HANDLE, cuLinkDestroy(state));
    EXPECT(CRT_INVALID_HANDLE, cuLinkComplete(state, &image, &bytes));
}

Test(modules, unknown_options_and_values_are_refused, .init = make_context)
{
    CUmodule module;
    CUjit_option option = CU_JIT_NUM_OPTIONS;
    void *value = NULL;
    EXPECT(CRT_INVALID_VALUE, cuModuleLoadDataEx(&module, two_ptx, 1, &option, &value));
    option = -1;
    EXPECT(CRT_INVALID_VALUE, cuModuleLoadDataEx(&module, two_ptx, 1, &option, &value));
    option = CU_JIT_OPTIMIZATION_LEVEL;
    value = (void *)(uintptr_t)5;
    EXPECT(CRT_INVALID_VALUE, cuModuleLoadDataEx(&module, two_ptx, 1, &option, &value));
    value = (void *)(uintptr_t)4;
    OK(cuModuleLoadDataEx(&module, two_ptx, 1, &option, &value));
    EXPECT(CRT_INVALID_VALUE, cuModuleLoadDataEx(&module, two_ptx, 1, NULL, NULL));
}

/* ---- lazy and eager loading ---- */

Test(modules, a_kernel_counts_as_loaded_once_it_was_asked_for, .init = make_context)
{
    CUmodule module;
    CUfunction functions[2] = {NULL, NULL};
    CUfunction named;
    CUmoduleLoadingMode mode;
    unsigned count = 0;
    int state = -1;
    OK(cuModuleGetLoadingMode(&mode));
    cr_expect_eq(mode, CU_MODULE_LAZY_LOADING);
    OK(cuModuleLoadFatBinary(&module, two_ptx));
    OK(cuModuleGetFunctionCount(&count, module));
    cr_expect_eq(count, 2);
    OK(cuModuleEnumerateFunctions(functions, 2, module));
    cr_assert(functions[0] && functions[1] && functions[0] != functions[1]);
    for (int i = 0; i < 2; i++) {
        OK(cuFuncIsLoaded(&state, functions[i]));
        cr_expect_eq(state, 0);
    }
    OK(cuFuncLoad(functions[0]));
    OK(cuFuncIsLoaded(&state, functions[0]));
    cr_expect_eq(state, 1);
    OK(cuModuleGetFunction(&named, module, "other"));
    OK(cuFuncIsLoaded(&state, named));
    cr_expect_eq(state, 1);
    OK(cuModuleUnload(module));
    EXPECT(CRT_INVALID_HANDLE, cuFuncIsLoaded(&state, named));
}

Test(modules, loading_a_kernel_finds_out_whether_it_can_run, .init = make_context)
{
    static const char texture_ptx[] =
        HEAD ".visible .entry texture() { .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
             " tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
             " ret; }\n";
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, texture_ptx));
    OK(cuModuleGetFunction(&function, module, "texture"));
    EXPECT(CRT_NOT_SUPPORTED, cuFuncLoad(function));
}

Test(modules, eager_loading_parses_at_once_and_everything_is_loaded)
{
    CUlibrary library;
    CUkernel kernels[2];
    CUmoduleLoadingMode mode;
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = (void *)(uintptr_t)1;
    int state = 0;
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    make_context();
    OK(cuModuleGetLoadingMode(&mode));
    cr_expect_eq(mode, CU_MODULE_EAGER_LOADING);
    EXPECT(CRT_INVALID_PTX,
           cuLibraryLoadData(&library, broken_ptx, NULL, NULL, 0, &option, &value, 1));
    OK(cuLibraryLoadData(&library, two_ptx, NULL, NULL, 0, &option, &value, 1));
    OK(cuLibraryEnumerateKernels(kernels, 2, library));
    OK(cuFuncIsLoaded(&state, kernels[0]));
    cr_expect_eq(state, 1);
}

Test(modules, a_preserved_image_is_parsed_at_its_first_use, .init = make_context)
{
    CUlibrary library;
    CUkernel kernel;
    unsigned count;
    CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = (void *)(uintptr_t)1;
    OK(cuLibraryLoadData(&library, broken_ptx, NULL, NULL, 0, &option, &value, 1));
    EXPECT(CRT_INVALID_PTX, cuLibraryGetKernel(&kernel, library, "broken"));
    EXPECT(CRT_INVALID_PTX, cuLibraryGetKernelCount(&count, library));
    OK(cuLibraryUnload(library));
}

/* ---- libraries and kernels ---- */

Test(modules, a_library_tells_of_its_kernels_and_variables, .init = make_context)
{
    CUlibrary library = load_library(two_ptx);
    CUlibrary owner = NULL;
    CUkernel kernels[3] = {NULL, NULL, NULL};
    CUkernel store;
    CUfunction function;
    CUdeviceptr pointer = 0;
    CUdeviceptr again = 0;
    const char *name;
    void *unified;
    size_t bytes = 0;
    size_t offset = 0;
    unsigned count = 0;
    OK(cuLibraryGetKernelCount(&count, library));
    cr_expect_eq(count, 2);
    OK(cuLibraryEnumerateKernels(kernels, 1, library));
    cr_expect(kernels[0] && !kernels[1], "as many as asked for");
    OK(cuLibraryEnumerateKernels(kernels, 3, library));
    cr_expect(kernels[1] && !kernels[2], "as many as there are");
    OK(cuLibraryGetKernel(&store, library, "store"));
    OK(cuKernelGetLibrary(&owner, store));
    cr_expect_eq(owner, library);
    OK(cuKernelGetName(&name, store));
    cr_expect_str_eq(name, "store");
    OK(cuKernelGetParamInfo(store, 1, &offset, &bytes));
    cr_expect(offset == 8 && bytes == 4);
    OK(cuKernelGetFunction(&function, store));
    OK(cuFuncGetName(&name, function));
    cr_expect_str_eq(name, "store");
    OK(cuLibraryGetManaged(&pointer, &bytes, library, "shared_value"));
    cr_expect_eq(bytes, 4);
    cr_expect_eq(*(unsigned *)(uintptr_t)pointer, 9);
    OK(cuLibraryGetGlobal(&again, &bytes, library, "counter"));
    cr_expect(again != pointer && bytes == 4);
    EXPECT(CRT_NOT_FOUND, cuLibraryGetManaged(&again, &bytes, library, "counter"));
    EXPECT(CRT_NOT_FOUND, cuLibraryGetUnifiedFunction(&unified, library, "store"));
    OK(cuLibraryUnload(library));
    EXPECT(CRT_INVALID_HANDLE, cuKernelGetName(&name, store));
}

Test(modules, attributes_of_kernels_are_those_of_functions, .init = make_context)
{
    CUlibrary library = load_library(two_ptx);
    CUkernel store;
    int value = 0;
    OK(cuLibraryGetKernel(&store, library, "store"));
    OK(cuKernelGetAttribute(&value, 1 /* static shared memory */, store, 0));
    cr_expect_eq(value, 128);
    OK(cuKernelSetAttribute(8 /* most dynamic shared memory */, 1000, store, 0));
    OK(cuFuncGetAttribute(&value, 8, store));
    cr_expect_eq(value, 1000);
    OK(cuKernelSetCacheConfig(store, 1, 0));
    OK(cuFuncSetCacheConfig(store, 2));
    OK(cuFuncSetSharedMemConfig(store, 1));
    EXPECT(CRT_INVALID_VALUE, cuFuncSetCacheConfig(store, 4));
    EXPECT(CRT_INVALID_VALUE, cuFuncSetSharedMemConfig(store, 3));
    EXPECT(CRT_INVALID_DEVICE, cuKernelGetAttribute(&value, 1, store, 99));
}

Test(modules, a_function_leads_to_its_module_and_that_ends_with_its_library, .init = make_context)
{
    CUlibrary library = load_library(two_ptx);
    CUkernel store;
    CUmodule module = NULL;
    CUmodule same = NULL;
    OK(cuLibraryGetKernel(&store, library, "store"));
    OK(cuFuncGetModule(&module, store));
    OK(cuLibraryGetModule(&same, library));
    cr_expect_eq(module, same);
    EXPECT(CRT_NOT_PERMITTED, cuModuleUnload(module));
    OK(cuLibraryUnload(library));
    EXPECT(CRT_INVALID_HANDLE, cuModuleUnload(module));
    EXPECT(CRT_INVALID_HANDLE, cuLibraryUnload(library));
}

Test(modules, files_are_libraries_too, .init = make_context)
{
    CUlibrary library;
    CUmodule module;
    struct logs logs;
    char path[] = "/tmp/ptxrun_module_XXXXXX";
    int fd = mkstemp(path);
    init_logs(&logs);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, two_ptx, sizeof two_ptx - 1), (ssize_t)sizeof two_ptx - 1);
    close(fd);
    OK(cuLibraryLoadFromFile(&library, path, logs.options, logs.values, 5, NULL, NULL, 0));
    cr_expect(strstr(logs.info, "kernel 'store'"), "%s", logs.info);
    cr_expect(strstr(logs.info, "ptxrun_module_"), "the file is named: %s", logs.info);
    OK(cuModuleLoad(&module, path));
    unlink(path);
    EXPECT(CRT_FILE_NOT_FOUND,
           cuLibraryLoadFromFile(&library, path, logs.options, logs.values, 5, NULL, NULL, 0));
    EXPECT(CRT_FILE_NOT_FOUND, cuModuleLoad(&module, path));
}

Test(modules, functions_of_a_module_run_in_its_context_and_kernels_of_a_library_in_any,
     .init = make_context)
{
    CUmodule module;
    CUfunction function;
    CUlibrary library = load_library(two_ptx);
    CUkernel kernel;
    CUcontext ctx;
    CUstream stream;
    void *none[1] = {NULL};
    OK(cuLibraryGetKernel(&kernel, library, "other"));
    OK(cuModuleLoadData(&module, two_ptx));
    OK(cuModuleGetFunction(&function, module, "other"));
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuStreamCreate(&stream, 1));
    EXPECT(CRT_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, none, NULL));
    EXPECT(CRT_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, none, NULL));
    OK(cuCtxDestroy_v2(ctx));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL));
    OK(cuCtxSynchronize());
}

/* ---- unloading ---- */

Test(modules, unloading_waits_for_the_kernels_that_run, .init = make_context)
{
    CUmodule module;
    CUfunction slow;
    CUstream stream;
    CUdeviceptr out;
    unsigned value = 0;
    void *params[] = {&out};
    OK(cuMemAlloc_v2(&out, 4));
    OK(cuMemsetD32_v2(out, 0, 1));
    OK(cuStreamCreate(&stream, 1));
    OK(cuModuleLoadData(&module, slow_ptx));
    OK(cuModuleGetFunction(&slow, module, "slow"));
    OK(cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuModuleUnload(module));
    OK(cuMemcpyDtoH_v2(&value, out, 4));
    cr_expect_eq(value, 50000000);
    EXPECT(CRT_INVALID_HANDLE, cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuCtxSynchronize());
}

Test(modules, a_reset_ends_modules_and_leaves_libraries, .init = make_context)
{
    CUlibrary library = load_library(two_ptx);
    CUmodule module;
    CUmodule own;
    CUdeviceptr counter;
    unsigned value = 77;
    OK(cuModuleLoadData(&module, two_ptx));
    OK(cuLibraryGetModule(&own, library));
    OK(cuModuleGetGlobal_v2(&counter, NULL, own, "counter"));
    OK(cuMemcpyHtoD_v2(counter, &value, 4));
    OK(cuDevicePrimaryCtxReset_v2(0));
    make_context();
    EXPECT(CRT_INVALID_HANDLE, cuModuleUnload(module));
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    OK(cuMemcpyDtoH_v2(&value, counter, 4));
    cr_expect_eq(value, 5, "variables start anew: %u", value);
}
