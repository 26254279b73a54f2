/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels through the driver API: parameters, variables, limits, faults, printing.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

/* out[i] = in * i + table[i % 4] */
static const char scale_ptx[] = HEAD
    ".visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .global .align 8 .u64 pointer = counter;\n"
    ".visible .entry scale(.param .u64 out, .param .u8 unused, .param .u32 factor)\n"
    "{\n .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [factor];\n"
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    " mad.lo.u32 %r5, %r3, %r4, %r2; and.b32 %r6, %r5, 3;\n"
    " mul.wide.u32 %rd2, %r6, 4; mov.u64 %rd3, table; add.u64 %rd4, %rd3, %rd2;\n"
    " ld.const.u32 %r7, [%rd4]; mad.lo.u32 %r8, %r5, %r1, %r7;\n"
    " mul.wide.u32 %rd5, %r5, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r8; ret;\n}\n"
    ".visible .entry limited() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry increment()\n"
    "{\n .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
    " ld.global.u64 %rd1, [pointer]; ld.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1;\n"
    " st.u32 [%rd1], %r2; ret;\n}\n"
    ".visible .entry store(.param .u64 out)\n"
    "{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out];\n st.global.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry stop() { trap; }\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry shared()\n"
    "{\n .reg .b64 %rd<2>; .shared .align 4 .b8 fixed[1024]; \n"
    " st.shared.u32 [fixed], 1; st.shared.u32 [dynamic], 2; ret;\n}\n"
    ".visible .entry texture() { .reg .b32 %r<2>; .reg .b64 %rd<2>; \n"
    " tex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
    " ret; }\n";

static CUmodule load(const char *ptx)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, ptx));
    return module;
}

static CUfunction get(CUmodule module, const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void **params)
{
    static void *none[1];
    return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, params ? params : none,
                          NULL);
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer;
    OK(cuMemAlloc_v2(&pointer, bytes));
    return pointer;
}

static void expect_scaled(CUdeviceptr out, unsigned factor)
{
    unsigned host[256];
    OK(cuMemcpyDtoH_v2(host, out, sizeof host));
    for (unsigned i = 0; i < 256; i++)
        cr_assert_eq(host[i], i * factor + (i % 4 + 1) * 10, "at %u: %u", i, host[i]);
}

Test(kernels, parameters_and_variables_reach_the_kernel, .init = make_context)
{
    CUfunction scale = get(load(scale_ptx), "scale");
    CUdeviceptr out = allocate(1024);
    unsigned char unused = 1;
    unsigned factor = 3;
    void *params[] = {&out, &unused, &factor};
    OK(launch(scale, 4, 64, params));
    factor = 100; /* copied at the call */
    expect_scaled(out, 3);
}

Test(kernels, a_parameter_buffer_works_as_well, .init = make_context)
{
    CUfunction scale = get(load(scale_ptx), "scale");
    CUdeviceptr out = allocate(1024);
    struct {
        CUdeviceptr out;
        unsigned char unused;
        unsigned factor;
    } buffer = {out, 0, 7};
    size_t bytes = sizeof buffer;
    void *extra[] = {(void *)1, &buffer, (void *)2, &bytes, NULL};
    OK(cuLaunchKernel(scale, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
    expect_scaled(out, 7);
}

Test(kernels, parameter_layout_can_be_asked_for, .init = make_context)
{
    CUfunction scale = get(load(scale_ptx), "scale");
    size_t offset;
    size_t bytes;
    OK(cuFuncGetParamInfo(scale, 2, &offset, &bytes));
    cr_expect_eq(offset, 12);
    cr_expect_eq(bytes, 4);
    EXPECT(CRT_INVALID_VALUE, cuFuncGetParamInfo(scale, 3, &offset, &bytes));
}

Test(kernels, globals_have_their_initial_values_and_addresses, .init = make_context)
{
    CUmodule module = load(scale_ptx);
    CUdeviceptr counter;
    size_t bytes;
    unsigned value;
    OK(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
    cr_expect_eq(bytes, 4);
    OK(launch(get(module, "increment"), 1, 1, NULL));
    OK(cuMemcpyDtoH_v2(&value, counter, 4));
    cr_expect_eq(value, 6);
    EXPECT(CRT_NOT_FOUND, cuModuleGetGlobal_v2(&counter, &bytes, module, "no_such"));
}

Test(kernels, bad_launches_get_their_codes, .init = make_context)
{
    CUmodule module = load(scale_ptx);
    CUfunction limited = get(module, "limited");
    CUfunction scale = get(module, "scale");
    CUfunction none;
    void *holes[] = {NULL, NULL, NULL};
    EXPECT(CRT_NOT_FOUND, cuModuleGetFunction(&none, module, "no_such"));
    EXPECT(CRT_INVALID_VALUE, launch(limited, 0, 1, NULL));
    EXPECT(CRT_INVALID_VALUE, launch(limited, 1, 0, NULL));
    EXPECT(CRT_INVALID_VALUE, launch(limited, 1, 1025, NULL));
    EXPECT(CRT_LAUNCH_OUT_OF_RESOURCES, launch(limited, 1, 65, NULL));
    EXPECT(CRT_INVALID_VALUE, launch(scale, 1, 1, holes));
    EXPECT(CRT_INVALID_HANDLE, launch(NULL, 1, 1, NULL));
    EXPECT(CRT_INVALID_VALUE, cuLaunchKernel(limited, 1, 65536, 1, 1, 1, 1, 0, NULL, holes, NULL));
    EXPECT(CRT_INVALID_VALUE, cuLaunchKernel(limited, 1, 1, 1, 1, 1, 65, 0, NULL, holes, NULL));
    EXPECT(CRT_INVALID_VALUE, cuLaunchKernel(limited, 1, 1, 1, 1, 1, 1, 49153, NULL, holes, NULL));
    EXPECT(CRT_SUCCESS, launch(limited, 1, 64, NULL));
    OK(cuCtxSynchronize());
}

static void make_context_of_75(void)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "7.5", 1);
    make_context();
}

Test(kernels, dynamic_shared_memory_has_the_limits_of_the_device, .init = make_context_of_75)
{
    CUfunction shared = get(load(scale_ptx), "shared");
    void *none[1];
    int value;
    OK(cuFuncGetAttribute(&value, 1, shared));
    cr_expect_eq(value, 1024);
    OK(cuFuncGetAttribute(&value, 8, shared));
    cr_expect_eq(value, 48 * 1024 - 1024);
    EXPECT(CRT_INVALID_VALUE, cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, 50000, NULL, none, NULL));
    EXPECT(CRT_INVALID_VALUE, cuFuncSetAttribute(shared, 8, 65536));
    OK(cuFuncSetAttribute(shared, 8, 60000));
    EXPECT(CRT_SUCCESS, cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, 60000, NULL, none, NULL));
    OK(cuCtxSynchronize());
    int blocks;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 32, 60000));
    cr_expect_eq(blocks, 1);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 256, 0));
    cr_expect_eq(blocks, 4);
    size_t bytes;
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, shared, 2, 64));
    cr_expect_eq(bytes, 31 * 1024);
}

/* Behind an allocation of a page or less and its margin, in which a write is only told. */
#define IN_GUARD ((CUdeviceptr)4096 + (64 << 10))

Test(kernels, a_fault_is_sticky_until_the_context_is_reset, .init = make_context)
{
    CUmodule module = load(scale_ptx);
    CUdeviceptr bad = allocate(4096) + IN_GUARD;
    CUdeviceptr good;
    void *params[] = {&bad};
    OK(launch(get(module, "store"), 1, 1, params));
    EXPECT(CRT_ILLEGAL_ADDRESS, cuCtxSynchronize());
    EXPECT(CRT_ILLEGAL_ADDRESS, cuMemAlloc_v2(&good, 4));
    EXPECT(CRT_ILLEGAL_ADDRESS, cuStreamSynchronize(NULL));
    OK(cuDevicePrimaryCtxReset(0));
    EXPECT(CRT_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&good, 4));
    make_context();
    good = allocate(64);
    params[0] = &good;
    module = load(scale_ptx);
    OK(launch(get(module, "store"), 1, 1, params));
    OK(cuCtxSynchronize());
}

#define REPORT_BYTES 2000

/* What was written to standard error, which is closed. */
static void read_report(char text[REPORT_BYTES])
{
    FILE *errors = cr_get_redirected_stderr();
    fflush(stderr);
    close(STDERR_FILENO);
    size_t len = fread(text, 1, REPORT_BYTES - 1, errors);
    cr_assert_gt(len, 0);
    text[len] = '\0';
}

Test(kernels, a_fault_report_names_kernel_block_line_and_allocation, .init = cr_redirect_stderr)
{
    make_context();
    CUmodule module = load(scale_ptx);
    CUdeviceptr bad = allocate(100) + IN_GUARD + 8;
    void *params[] = {&bad};
    OK(launch(get(module, "store"), 1, 1, params));
    EXPECT(CRT_ILLEGAL_ADDRESS, cuCtxSynchronize());
    char text[REPORT_BYTES];
    read_report(text);
    cr_expect(strstr(text, "kernel 'store'"), "%s", text);
    cr_expect(strstr(text, "block (0,0,0)"), "%s", text);
    cr_expect(strstr(text, "PTX line 28"), "%s", text);
    cr_expect(strstr(text, "69540 bytes after the nearest allocation"), "%s", text);
}

/* Stores the column at [row * 4096 + column]. */
static const char rows_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry rows(.param .u64 p)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [p];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r4, %tid.y;\n"
    "shl.b32 %r4, %r4, 12; add.u32 %r4, %r4, %r1;\n"
    "mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

Test(kernels, a_fault_in_one_of_several_blocks_that_run_as_one_names_them_all,
     .init = cr_redirect_stderr)
{
    setenv("PTXRUN_TIER", "best", 1);
    make_context();
    CUmodule module = load(rows_ptx);
    /* The first blocks, which begin one by one, are inside; the last of a row are behind the
     * margin. */
    CUdeviceptr too_short = allocate(96 << 10);
    void *params[] = {&too_short};
    OK(cuLaunchKernel(get(module, "rows"), 1024, 8, 1, 32, 4, 1, 0, NULL, params, NULL));
    EXPECT(CRT_ILLEGAL_ADDRESS, cuCtxSynchronize());
    char text[REPORT_BYTES];
    read_report(text);
    cr_expect(strstr(text, "kernel 'rows'"), "%s", text);
    cr_expect(strstr(text, ",0) to ("), "%s", text);
}

Test(kernels, trap_is_a_launch_failure, .init = make_context)
{
    OK(launch(get(load(scale_ptx), "stop"), 1, 1, NULL));
    EXPECT(CRT_LAUNCH_FAILED, cuCtxSynchronize());
}

Test(kernels, a_misaligned_address_is_reported_as_such, .init = make_context)
{
    CUdeviceptr odd = allocate(64) + 2;
    void *params[] = {&odd};
    OK(launch(get(load(scale_ptx), "store"), 1, 1, params));
    EXPECT(CRT_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

/* The other kernels of the module work all the same. */
Test(kernels, an_unsupported_instruction_fails_only_its_kernel, .init = make_context)
{
    CUmodule module = load(scale_ptx);
    EXPECT(CRT_NOT_SUPPORTED, launch(get(module, "texture"), 1, 1, NULL));
    EXPECT(CRT_SUCCESS, launch(get(module, "limited"), 1, 1, NULL));
    OK(cuCtxSynchronize());
}

Test(kernels, variables_belong_to_a_context, .init = make_context)
{
    CUlibrary library;
    CUkernel increment;
    CUdeviceptr first;
    CUdeviceptr second;
    CUcontext own;
    unsigned value;
    OK(cuLibraryLoadData(&library, scale_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&increment, library, "increment"));
    OK(launch(increment, 1, 1, NULL));
    OK(cuLibraryGetGlobal(&first, NULL, library, "counter"));
    OK(cuMemcpyDtoH_v2(&value, first, 4));
    cr_expect_eq(value, 6);
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuLibraryGetGlobal(&second, NULL, library, "counter"));
    cr_expect_neq(first, second);
    OK(cuMemcpyDtoH_v2(&value, second, 4));
    cr_expect_eq(value, 5);
    OK(cuCtxDestroy_v2(own));
    OK(cuLibraryUnload(library));
    EXPECT(CRT_INVALID_HANDLE, launch(increment, 1, 1, NULL));
    EXPECT(CRT_INVALID_HANDLE, cuLibraryUnload(library));
}

static const char print_ptx[] =
    HEAD ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 args);\n"
         ".global .align 1 .b8 text[8] = {37, 100, 46, 37, 100, 10, 0, 0};\n" /* "%d.%d\n" */
         ".visible .entry print()\n"
         "{\n .reg .b32 %r<4>; .reg .b64 %rd<4>; .local .align 8 .b8 buffer[8];\n"
         " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n"
         " st.local.u32 [buffer], %r1; st.local.u32 [buffer+4], %r2;\n"
         " mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;\n"
         " mov.u64 %rd1, buffer; cvta.local.u64 %rd3, %rd1;\n"
         " { .param .b64 p0; .param .b64 p1; .param .b32 r;\n"
         "  st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd3;\n"
         "  call.uni (r), vprintf, (p0, p1); ld.param.b32 %r3, [r]; }\n"
         " ret;\n}\n";

Test(kernels, text_comes_out_at_synchronisation_in_block_order, .init = cr_redirect_stdout)
{
    make_context();
    OK(launch(get(load(print_ptx), "print"), 4, 2, NULL));
    OK(cuCtxSynchronize());
    cr_assert_stdout_eq_str("0.0\n0.1\n1.0\n1.1\n2.0\n2.1\n3.0\n3.1\n");
}
