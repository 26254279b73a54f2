/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: direct, recursive, through handles, and of the device library.
 */
#include "harness.h"

#include <string.h>

#include <criterion/criterion.h>

#define HEADER ".version 9.0\n.target sm_100a\n.address_size 64\n"

static void open_text(struct harness *harness, const char *text)
{
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(harness, text, "k", true, &err), PXR_OK, "%s", err.message);
}

static const char factorial[] =
    HEADER ".func (.param .b64 r) fact(.param .b64 n)\n{\n.reg .b64 %rd<6>; .reg .pred %p;\n"
           "ld.param.u64 %rd1, [n];\nsetp.gt.u64 %p, %rd1, 1;\n@%p bra more;\n"
           "st.param.b64 [r], 1;\nret;\nmore:\n"
           "{\n.param .b64 n0;\n.param .b64 r0;\nsub.u64 %rd2, %rd1, 1;\nst.param.b64 [n0], %rd2;\n"
           "call.uni (r0), fact, (n0);\nld.param.b64 %rd3, [r0];\n}\n"
           "mul.lo.u64 %rd4, %rd3, %rd1;\nst.param.b64 [r], %rd4;\nret;\n}\n"
           ".visible .entry k(.param .u64 p, .param .u64 n)\n{\n.reg .b64 %rd<6>;\n"
           "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [n];\n"
           "{\n.param .b64 n0;\n.param .b64 r0;\nst.param.b64 [n0], %rd2;\n"
           "call.uni (r0), fact, (n0);\nld.param.b64 %rd3, [r0];\n}\n"
           "st.global.u64 [%rd1], %rd3;\nret;\n}\n";

Test(call, functions_recurse)
{
    struct harness harness;
    open_text(&harness, factorial);
    uint64_t out = 0;
    uint64_t params[2] = {(uint64_t)&out, 10};
    harness_run(&harness, params);
    cr_expect_eq(out, 3628800);
    harness_close(&harness);
}

Test(call, endless_recursion_is_a_stack_fault)
{
    struct harness harness;
    open_text(&harness, factorial);
    uint64_t out = 0;
    uint64_t params[2] = {(uint64_t)&out, UINT64_C(1) << 40};
    harness_run(&harness, params);
    cr_expect_eq(harness.fault, PXR_FAULT_STACK);
    harness_close(&harness);
}

static const char indirect[] =
    HEADER ".func (.param .b32 r) one(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
           "ld.param.u32 %r1, [a]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2;\nret;\n}\n"
           ".func (.param .b32 r) two(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
           "ld.param.u32 %r1, [a]; add.u32 %r2, %r1, 2; st.param.b32 [r], %r2;\nret;\n}\n"
           ".visible .entry k(.param .u64 p, .param .u64 h)\n{\n"
           ".reg .b64 %rd<9>; .reg .b32 %r<6>; .reg .pred %p<3>;\n"
           "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [h];\n"
           "mov.u64 %rd3, one; mov.u64 %rd4, two;\n"
           "setp.eq.u64 %p1, %rd2, 1; selp.u64 %rd5, %rd3, %rd4, %p1;\n"
           "setp.gt.u64 %p2, %rd2, 2; selp.u64 %rd5, %rd2, %rd5, %p2;\n"
           "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], 40;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (r0), %rd5, (a0), proto;\nld.param.b32 %r1, [r0];\n}\n"
           "st.global.u32 [%rd1], %r1;\nret;\n}\n";

Test(call, handles_lead_to_their_functions)
{
    struct harness harness;
    open_text(&harness, indirect);
    uint32_t out = 0;
    for (uint64_t which = 1; which <= 2; which++) {
        uint64_t params[2] = {(uint64_t)&out, which};
        harness_run(&harness, params);
        cr_expect_eq(harness.fault, PXR_OK);
        cr_expect_eq(out, 40 + which);
    }
    harness_close(&harness);
}

Test(call, bad_handles_fault)
{
    static const uint64_t handles[] = {0x101, 0x120, 0xf0, UINT64_MAX, 0x7fff00001000};
    struct harness harness;
    open_text(&harness, indirect);
    uint32_t out = 0;
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        uint64_t params[2] = {(uint64_t)&out, handles[i]};
        harness_run(&harness, params);
        cr_expect_eq(harness.fault, PXR_FAULT_PC, "%zu", i);
        cr_expect_eq(harness.fault_address, handles[i]);
    }
    harness_close(&harness);
}

Test(call, register_parameters_are_passed_too)
{
    static const char text[] =
        HEADER ".func (.reg .u32 %res) add3(.reg .u32 %a, .reg .u32 %b)\n{\nadd.u32 %res, %a, %b;\n"
               "add.u32 %res, %res, 3;\nret;\n}\n"
               ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .u32 %r<3>;\n"
               "ld.param.u64 %rd1, [p]; mov.u32 %r1, 10;\ncall (%r2), add3, (%r1, 20);\n"
               "st.global.u32 [%rd1], %r2;\nret;\n}\n";
    struct harness harness;
    open_text(&harness, text);
    uint32_t out = 0;
    uint64_t param = (uint64_t)&out;
    harness_run(&harness, &param);
    cr_expect_eq(out, 33);
    harness_close(&harness);
}

Test(call, library_functions_are_placeholders)
{
    static const char text[] = HEADER
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".extern .func free(.param .b64 p);\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, "
        ".param .b64 c);\n"
        ".global .align 1 .b8 str[4] = {65, 66, 67, 0};\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<6>;\n"
        ".local .align 8 .b8 stack[8];\nld.param.u64 %rd8, [p];\n"
        "mov.u64 %rd1, stack; cvta.local.u64 %rd2, %rd1; st.local.u32 [stack], 17;\n"
        "mov.u64 %rd3, str; cvta.global.u64 %rd4, %rd3;\n"
        "{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n"
        ".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r1, [r0];\n}\n"
        "{\n.param .b64 p0;\nst.param.b64 [p0], 24;\n.param .b64 r0;\n"
        "call.uni (r0), malloc, (p0);\nld.param.b64 %rd5, [r0];\n}\n"
        "{\n.param .b64 p0;\nst.param.b64 [p0], %rd5;\ncall.uni free, (p0);\n}\n"
        "st.global.u32 [%rd8], %r1; st.global.u64 [%rd8+8], %rd5;\n"
        "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 p2;\n.param .b64 p3;\n.param .b64 p4;\n"
        "st.param.b64 [p0], %rd4; st.param.b64 [p1], %rd4; st.param.b32 [p2], 99;\n"
        "st.param.b64 [p3], %rd4; st.param.b64 [p4], 1;\n"
        "call.uni __assertfail, (p0, p1, p2, p3, p4);\n}\n"
        "st.global.u32 [%rd8], 77; ret;\n}\n"; /* the thread has ended before */
    struct harness harness;
    open_text(&harness, text);
    uint64_t out[2] = {0};
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "vprintf ABC 17\nmalloc 24\nfree 1000\nassertfail 99 1\n");
    cr_expect_eq(out[0], 1);
    cr_expect_eq(out[1], 0x1000);
    harness_close(&harness);
}

#define EXTERN_CALLER                                                                              \
    HEADER ".extern .func nowhere();\n"                                                            \
           ".visible .entry bad()\n{\ncall nowhere;\nret;\n}\n"                                    \
           ".visible .entry good()\n{\nret;\n}\n"

Test(call, an_undefined_function_sync_points_only_the_kernels_that_reach_it)
{
    struct harness harness;
    struct pxr_error err = {0};
    cr_expect_eq(harness_open(&harness, EXTERN_CALLER, "good", true, &err), PXR_OK, "%s",
                 err.message);
    harness_close(&harness);
    cr_expect_eq(harness_open(&harness, EXTERN_CALLER, "bad", true, &err), PXR_NOT_FOUND);
    cr_expect(strstr(err.message, "'nowhere'") != NULL, "%s", err.message);
    cr_expect_eq(err.line, 7);
    harness_close(&harness);
}

Test(call, an_unknown_function_of_the_device_runtime_is_refused_by_name)
{
    static const char text[] = HEADER ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
                                      ".visible .entry k()\n{\n.param .b32 r;\n"
                                      "call (r), cudaDeviceSynchronize, ();\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_expect_eq(harness_open(&harness, text, "k", true, &err), PXR_UNSUPPORTED, "%s", err.message);
    cr_expect(strstr(err.message, "'cudaDeviceSynchronize'") != NULL, "%s", err.message);
    cr_expect(strstr(err.message, "device runtime") != NULL, "%s", err.message);
    harness_close(&harness);
}

/* Arguments of all sizes, a struct among them; results of both sizes. */
static const char runtime_calls[] = HEADER
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, "
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2_ptsz(.param .b64 b, .param .b64 s);\n"
    ".extern .func (.param .b32 r) cudaGetLastError();\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<5>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u64 %rd2, k;\n"
    "{\n.param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"
    ".param .b64 r; st.param.b64 [f], %rd2; st.param.b32 [g], 1; st.param.b32 [g+4], 2;\n"
    "st.param.b32 [g+8], 3; st.param.b32 [b], 4; st.param.b32 [b+4], 5;\n"
    "st.param.b32 [b+8], 6; st.param.b32 [s], 7;\n"
    "call.uni (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n"
    "ld.param.b64 %rd3, [r];\n}\n"
    "{\n.param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], %rd3;\n"
    "st.param.b64 [s], 0; call.uni (r), cudaLaunchDeviceV2_ptsz, (b, s);\n"
    "ld.param.b32 %r1, [r];\n}\n"
    "{\n.param .b32 r; call.uni (r), cudaGetLastError, (); ld.param.b32 %r2, [r];\n}\n"
    "st.global.u64 [%rd1], %rd3; st.global.u32 [%rd1+8], %r1;\n"
    "st.global.u32 [%rd1+12], %r2; ret;\n}\n";

Test(call, functions_of_the_device_runtime_get_their_arguments_in_memory)
{
    struct harness harness;
    struct pxr_error err = {0};
    open_text(&harness, runtime_calls);
    uint64_t out[2] = {0};
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "GetParameterBufferV2 100 2:1 3 5:4 6 7\n"
                                  "LaunchDeviceV2 per thread 500000007 0\n"
                                  "GetLastError\n");
    cr_expect_eq(out[0], 0x500000007);
    cr_expect_eq(out[1], (uint64_t)0x500000007 << 32 | 7);
    harness_close(&harness);

    static const char wrong[] = HEADER ".extern .func (.param .b32 r) cudaFree(.param .b32 p);\n"
                                       ".visible .entry k()\n{\n.param .b32 p;\n.param .b32 r;\n"
                                       "call (r), cudaFree, (p);\nret;\n}\n";
    cr_expect_eq(harness_open(&harness, wrong, "k", true, &err), PXR_UNSUPPORTED, "%s",
                 err.message);
    harness_close(&harness);
}

/* The function at handle h is called; `bad` holds what cannot be translated. */
static const char partly_unsupported[] =
    HEADER ".extern .func nowhere();\n"
           ".func (.param .b32 r) good(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
           "ld.param.u32 %r1, [a]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2;\nret;\n}\n"
           ".func deeper()\n{\n.reg .b64 %rd;\nmultimem.st.weak.global.b32 [%rd], 1;\nret;\n}\n"
           ".func (.param .b32 r) bad(.param .b32 a)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
           "add.u32 %r1, %r1, 1;\nmultimem.ld_reduce.weak.global.add.u32 %r2, [%rd1];\nret;\n}\n"
           ".func (.param .b32 r) worse(.param .b32 a)\n{\ncall deeper;\nret;\n}\n"
           ".func (.param .b32 r) lost(.param .b32 a)\n{\ncall nowhere;\nret;\n}\n"
           ".global .u64 handles[4] = {good, bad, worse, lost};\n"
           ".visible .entry k(.param .u64 p, .param .u64 h)\n{\n"
           ".reg .b64 %rd<9>; .reg .b32 %r<6>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [h];\n"
           "{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], 41;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (r0), %rd2, (a0), proto;\nld.param.b32 %r1, [r0];\n}\n"
           "st.global.u32 [%rd1], %r1;\nret;\n}\n";

static void call_handle(struct harness *harness, const char *name, uint32_t *out)
{
    uint64_t handle = (uint64_t)ptx_func_handle(harness->ptx, ptx_find_func(harness->ptx, name));
    uint64_t params[2] = {(uint64_t)out, handle};
    harness_run(harness, params);
}

Test(call, a_function_that_cannot_be_translated_is_refused_when_it_is_called)
{
    struct harness harness;
    open_text(&harness, partly_unsupported);
    uint32_t out = 0;
    call_handle(&harness, "good", &out);
    cr_expect_eq(harness.fault, PXR_OK);
    cr_expect_eq(out, 42);
    static const char *const names[3] = {"bad", "worse", "lost"};
    static const char *const reasons[3] = {"multimem.ld_reduce", "multimem.st", "nowhere"};
    for (int i = 0; i < 3; i++) {
        call_handle(&harness, names[i], &out);
        cr_expect_eq(harness.fault, PXR_FAULT_INSTRUCTION);
        cr_expect_not_null(strstr(harness.log, "unsupported function '"), "%s", harness.log);
        cr_expect_not_null(strstr(harness.log, reasons[i]), "%s", harness.log);
    }
    harness_close(&harness);
}

Test(call, registers_of_every_kind_are_passed)
{
    static const char text[] = HEADER
        ".func (.reg .b32 r, .reg .pred q) pick(.reg .pred p, .reg .b32 a, .reg .v2 .b32 v)\n"
        "{\nselp.b32 r, a, v.y, p;\nnot.pred q, p;\nret;\n}\n"
        ".visible .entry k(.param .u64 o)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<9>;\n"
        ".reg .pred %p<5>; .reg .v2 .b32 %v;\nld.param.u64 %rd1, [o];\nmov.b32 %v.x, 5;\n"
        "mov.b32 %v.y, 6;\nsetp.eq.u32 %p1, 1, 1;\nsetp.ne.u32 %p2, 1, 1;\n"
        "call (%r1, %p3), pick, (%p1, 9, %v);\ncall (%r2, %p4), pick, (%p2, %r1, %v);\n"
        "selp.b32 %r3, 1, 0, %p3;\nselp.b32 %r4, 1, 0, %p4;\n"
        "st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};\nret;\n}\n";
    struct harness harness;
    _Alignas(16) uint32_t out[4] = {0};
    uint64_t param = (uint64_t)out;
    open_text(&harness, text);
    harness_run(&harness, &param);
    cr_expect_arr_eq(out, ((uint32_t[]){9, 6, 0, 1}), sizeof out);
    harness_close(&harness);
}

Test(call, structs_and_open_arrays_are_passed_by_value)
{
    static const char text[] = HEADER
        ".func (.param .align 8 .b8 r[24]) turn(.param .align 8 .b8 s[24])\n{\n"
        ".reg .b64 %d<4>;\nld.param.b64 %d1, [s]; ld.param.b64 %d2, [s+8];\n"
        "ld.param.b64 %d3, [s+16];\nst.param.b64 [r], %d3; st.param.b64 [r+8], %d2;\n"
        "st.param.b64 [r+16], %d1;\nret;\n}\n"
        ".func (.param .b32 r) pick(.param .b32 n, .param .align 4 .b8 a[])\n{\n"
        ".reg .b32 %r<3>;\nld.param.b32 %r1, [n]; ld.param.b32 %r2, [a+8];\n"
        "add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1;\nret;\n}\n"
        ".visible .entry k(.param .u64 o)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %rd1, [o];\n{\n.param .align 8 .b8 s[24];\n.param .align 8 .b8 t[24];\n"
        "st.param.b64 [s], 1; st.param.b64 [s+8], 2; st.param.b64 [s+16], 3;\n"
        "call.uni (t), turn, (s);\nld.param.b64 %rd2, [t]; ld.param.b64 %rd3, [t+16];\n"
        "ld.param.b64 %rd4, [s];\n}\n"
        "{\n.param .b32 n;\n.param .align 4 .b8 a[12];\n.param .b32 r0;\n"
        "st.param.b32 [n], 100; st.param.b32 [a+8], 11;\ncall (r0), pick, (n, a);\n"
        "ld.param.b32 %r1, [r0];\n}\ncvt.u64.u32 %rd5, %r1;\n"
        "st.global.u64 [%rd1], %rd2; st.global.u64 [%rd1+8], %rd3;\n"
        "st.global.u64 [%rd1+16], %rd4; st.global.u64 [%rd1+24], %rd5;\nret;\n}\n";
    struct harness harness;
    uint64_t out[4] = {0};
    uint64_t param = (uint64_t)out;
    open_text(&harness, text);
    harness_run(&harness, &param);
    cr_expect_arr_eq(out, ((uint64_t[]){3, 1, 1, 111}), sizeof out);
    harness_close(&harness);
}
