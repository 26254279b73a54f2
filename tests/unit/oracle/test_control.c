/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, the places of threads and blocks, calls, and what the system provides.
 */
#include "kernel.h"

Test(oracle_control, guards_and_branches_choose)
{
    EXPECT_WORDS(KERNEL("setp.lt.u32 %p1, %r0, 2;\n"
                        "@%p1 bra LOW;\n"
                        "mov.u32 %r1, 100; bra DONE;\n"
                        "LOW: mov.u32 %r1, 200;\n"
                        "@!%p1 mov.u32 %r1, 300;\n"
                        "DONE: st.global.u32 [%rd1], %r1;\n"
                        "ret;"),
                 4, 200, 200, 100, 100);
}

Test(oracle_control, a_body_may_end_without_ret)
{
    EXPECT_WORDS(KERNEL("st.global.u32 [%rd1], 9;"), 2, 9, 9);
}

Test(oracle_control, brx_idx_goes_to_the_label_of_its_index)
{
    EXPECT_WORDS(KERNEL("T: .branchtargets A, B, C;\n"
                        "brx.idx %r0, T;\n"
                        "A: mov.u32 %r1, 1; bra E;\n"
                        "B: mov.u32 %r1, 2; bra E;\n"
                        "C: mov.u32 %r1, 3;\n"
                        "E: st.global.u32 [%rd1], %r1; ret;"),
                 3, 1, 2, 3);
    EXPECT_STATUS(KERNEL("T: .branchtargets A;\nbrx.idx %r0, T;\nA: ret;"), 2,
                  PXR_FAULT_INSTRUCTION);
}

Test(oracle_control, exit_in_a_function_ends_the_thread)
{
    EXPECT_WORDS(
        ".func f(.reg .u32 a) { .reg .pred %p; setp.eq.u32 %p, a, 1; @%p exit; ret; }\n" KERNEL(
            "call f, (%r0); st.global.u32 [%rd1], 5; ret;"),
        3, 5, 0, 5);
}

Test(oracle_control, trap_is_a_fault)
{
    EXPECT_STATUS(KERNEL("trap;"), 1, PXR_FAULT_TRAP);
    EXPECT_STATUS(KERNEL("brkpt;"), 1, PXR_FAULT_TRAP);
}

Test(oracle_control, steps_are_limited)
{
    uint32_t word = 0;
    struct kernel_run run = {
        .text = KERNEL("L: bra L;"), .max_steps = 5000, .out = &word, .out_bytes = sizeof(word)};

    cr_assert_eq(run_kernel(&run), PXR_OUT_OF_RESOURCES);
}

Test(oracle_control, blocks_and_threads_have_their_places)
{
    uint32_t words[24] = {0};
    struct kernel_run run = {
        .text = KERNEL("mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.x;\n"
                       "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;\n"
                       "mad.lo.u32 %r6, %r2, %r5, %r1;\n" /* z * ny + y */
                       "mad.lo.u32 %r6, %r6, %r4, %r0;\n"
                       "mad.lo.u32 %r6, %r3, 8, %r6;\n"
                       "mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd0, %rd2;\n"
                       "mad.lo.u32 %r7, %r3, 1000, %r0;\n"
                       "mad.lo.u32 %r7, %r1, 10, %r7; mad.lo.u32 %r7, %r2, 100, %r7;\n"
                       "st.global.u32 [%rd2], %r7; ret;"),
        .blocks = 3,
        .threads = 2,
        .threads_y = 2,
        .threads_z = 2,
        .out = words,
        .out_bytes = sizeof(words),
    };

    cr_assert_eq(run_kernel(&run), PXR_OK, "%s", run.err.message);
    for (uint32_t i = 0; i < 24; i++)
        cr_assert_eq(words[i], i / 8 * 1000 + i / 4 % 2 * 100 + i / 2 % 2 * 10 + i % 2);
}

Test(oracle_control, blocks_that_wait_for_each_other_all_run)
{
    uint32_t words[2] = {0};
    struct kernel_run run = {
        .text = KERNEL("atom.global.add.u32 %r1, [%rd0], 1;\n"
                       "L: ld.volatile.global.u32 %r1, [%rd0];\n"
                       "setp.lt.u32 %p1, %r1, 40; @%p1 bra L;\n"
                       "atom.global.add.u32 %r1, [%rd0+4], 1;\n"
                       "ret;"),
        .blocks = 40,
        .out = words,
        .out_bytes = sizeof(words),
    };

    cr_assert_eq(run_kernel(&run), PXR_OK, "%s", run.err.message);
    cr_assert_eq(words[1], 40);
}

/* ---- calls ---- */

Test(oracle_call, parameters_and_results_are_param_variables)
{
    EXPECT_WORDS(
        ".func (.param .b32 r) sum(.param .b32 a, .param .align 8 .b8 b[16]) {\n"
        ".reg .b32 %x<4>;\n"
        "ld.param.u32 %x0, [a]; ld.param.u32 %x1, [b+4]; ld.param.u32 %x2, [b+12];\n"
        "add.u32 %x0, %x0, %x1; add.u32 %x0, %x0, %x2; st.param.b32 [r], %x0; ret; }\n" KERNEL(
            "{ .param .b32 p0; .param .align 8 .b8 p1[16]; .param .b32 q;\n"
            "st.param.b32 [p0], %r0; st.param.v2.b32 [p1], {1, 10};\n"
            "st.param.v2.b32 [p1+8], {100, 1000};\n"
            "call (q), sum, (p0, p1); ld.param.b32 %r1, [q]; }\n"
            "st.global.u32 [%rd1], %r1; ret;"),
        2, 1010, 1011);
}

Test(oracle_call, registers_and_constants_are_parameters)
{
    EXPECT_WORDS(
        ".func (.reg .u32 r) f(.reg .u32 a, .reg .f32 b, .param .u64 c) {\n"
        ".reg .u64 %c; .reg .u32 %d;\n"
        "ld.param.u64 %c, [c]; cvt.u32.u64 %d, %c; cvt.rzi.u32.f32 r, b;\n"
        "add.u32 r, r, a; add.u32 r, r, %d; ret; }\n" KERNEL("mov.f32 %f1, 0f41a00000;\n"
                                                             "call (%r1), f, (%r0, %f1, 300);\n"
                                                             "st.global.u32 [%rd1], %r1; ret;"),
        2, 320, 321);
}

Test(oracle_call, recursion_has_registers_and_memory_of_its_own)
{
    /* local memory of the caller is not the callee's */
    EXPECT_WORDS(".func (.reg .u32 r) fact(.reg .u32 n) {\n"
                 ".reg .pred %p; .reg .b32 %t; .local .u32 keep;\n"
                 "st.local.u32 [keep], n; mov.u32 r, 1;\n"
                 "setp.eq.u32 %p, n, 0; @%p ret;\n"
                 "sub.u32 %t, n, 1; call (r), fact, (%t);\n"
                 "ld.local.u32 %t, [keep]; mul.lo.u32 r, r, %t; ret; }\n" KERNEL(
                     "call (%r1), fact, (%r0); st.global.u32 [%rd1], %r1; ret;"),
                 6, 1, 1, 2, 6, 24, 120);
}

Test(oracle_call, endless_recursion_is_a_fault)
{
    EXPECT_STATUS(".func f() { call f; ret; }\n" KERNEL("call f; ret;"), 1, PXR_FAULT_STACK);
}

Test(oracle_call, a_bad_function_pointer_is_a_fault)
{
    EXPECT_STATUS(KERNEL("P: .callprototype _ ();\nmov.u64 %rd2, 0; call %rd2, (), P; ret;"), 1,
                  PXR_FAULT_PC);
    EXPECT_STATUS(KERNEL("P: .callprototype _ ();\ncall %rd0, (), P; ret;"), 1, PXR_FAULT_PC);
}

Test(oracle_call, addresses_of_parameters_are_local)
{
    EXPECT_WORDS(".func (.param .b32 r) f(.param .align 4 .b8 a[8]) {\n"
                 ".reg .u64 %d; .reg .u32 %x;\n"
                 "mov.u64 %d, a; ld.local.u32 %x, [%d+4];\n"
                 "st.param.b32 [r], %x; ret; }\n" KERNEL(
                     "{ .param .align 4 .b8 p[8]; .param .b32 q;\n"
                     "st.param.b32 [p+4], 42; call (q), f, (p); ld.param.b32 %r1, [q]; }\n"
                     "st.global.u32 [%rd1], %r1; ret;"),
                 1, 42);
}

Test(oracle_call, a_function_without_body_is_refused_by_name)
{
    struct pxr_error err = {0};

    cr_assert_eq(status_of(".extern .func nowhere();\n" KERNEL("call nowhere; ret;"), 1, &err),
                 PXR_UNSUPPORTED);
    cr_assert(strstr(err.message, "nowhere"), "%s", err.message);
}

/* ---- what the system provides ---- */

#define VPRINTF ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"

Test(oracle_call, vprintf_formats_its_buffer)
{
    char log[256];
    uint32_t word = 0;
    /* "%d|%5.1f|%s|%llx|%c|%%\n" */
    struct kernel_run run = {
        .text = VPRINTF
        ".global .align 1 .b8 fmt[24] = {37,100,124,37,53,46,49,102,124,37,115,124,37,108,108,120,"
        "124,37,99,124,37,37,10,0};\n"
        ".global .align 1 .b8 str[4] = {97,98,99,0};\n" KERNEL(
            ".local .align 8 .b8 buf[40];\n"
            "st.local.u32 [buf], -5; st.local.f64 [buf+8], 2.25;\n"
            "cvta.global.u64 %rd2, str; st.local.u64 [buf+16], %rd2;\n"
            "st.local.u64 [buf+24], 0x123456789a; st.local.u32 [buf+32], 81;\n"
            "cvta.global.u64 %rd3, fmt; cvta.local.u64 %rd4, buf;\n"
            "{ .param .b64 p0; .param .b64 p1; .param .b32 q;\n"
            "st.param.b64 [p0], %rd3; st.param.b64 [p1], %rd4;\n"
            "call (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }\n"
            "st.global.u32 [%rd0], %r1; ret;"),
        .out = &word,
        .out_bytes = sizeof(word),
        .log = log,
    };

    cr_assert_eq(run_kernel(&run), PXR_OK, "%s", run.err.message);
    cr_assert_str_eq(log, "-5|  2.2|abc|123456789a|Q|%\n");
    cr_assert_eq(word, 5);
}

#define HEAP                                                                                       \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"

Test(oracle_call, the_heap_gives_memory_and_takes_it_back)
{
    EXPECT_WORDS(HEAP KERNEL("{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8;\n"
                             "call (r), malloc, (n); ld.param.b64 %rd2, [r]; }\n"
                             "st.u32 [%rd2+4], 6; ld.global.u32 %r1, [%rd2+4];\n"
                             "{ .param .b64 p; st.param.b64 [p], %rd2; call free, (p); }\n"
                             "st.global.u32 [%rd1], %r1; ret;"),
                 2, 6, 6);
    EXPECT_STATUS(HEAP KERNEL("{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8;\n"
                              "call (r), malloc, (n); ld.param.b64 %rd2, [r]; }\n"
                              "{ .param .b64 p; st.param.b64 [p], %rd2; call free, (p); }\n"
                              "ld.u32 %r1, [%rd2]; ret;"),
                  1, PXR_FAULT_ADDRESS);
}

Test(oracle_call, a_failed_assertion_is_a_fault_with_its_text)
{
    struct pxr_error err = {0};

    cr_assert_eq(status_of(".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l,"
                           " .param .b64 n, .param .b64 c);\n"
                           ".global .b8 msg[6] = {120,32,62,32,49,0};\n" KERNEL(
                               "cvta.global.u64 %rd2, msg;\n"
                               "call __assertfail, (%rd2, %rd2, 7, %rd2, 1); ret;"),
                           1, &err),
                 PXR_FAULT_ASSERT);
    cr_assert(strstr(err.message, "assertion 'x > 1' failed"), "%s", err.message);
}
