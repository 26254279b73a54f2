/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores, variables, addresses of all spaces and the checks of every access.
 */
#include "kernel.h"

/* ---- loads and stores ---- */

Test(oracle_memory, loads_extend_to_a_wider_register)
{
    EXPECT_WORDS(KERNEL("st.global.u32 [%rd0], 0xfedcba98;\n"
                        "ld.global.s8 %r1, [%rd0];\n"
                        "ld.global.u8 %r2, [%rd0];\n"
                        "ld.global.s16 %r3, [%rd0+2];\n"
                        "ld.global.b16 %r4, [%rd0+2];\n"
                        "ld.global.s32 %rd2, [%rd0];\n"
                        "shr.u64 %rd3, %rd2, 32;\n"
                        "st.global.v4.u32 [%rd0+16], {%r1, %r2, %r3, %r4};\n"
                        "st.global.u64 [%rd0+8], %rd3;\n"
                        "ret;"),
                 1, 0xfedcba98, 0, 0xffffffff, 0, 0xffffff98, 0x98, 0xfffffedc, 0xfedc);
}

Test(oracle_memory, stores_keep_to_their_size)
{
    EXPECT_WORDS(KERNEL("st.global.u32 [%rd0], 0x11111111;\n"
                        "mov.u32 %r1, 0xaabbccdd;\n"
                        "st.global.u8 [%rd0+1], %r1;\n"
                        "st.global.u16 [%rd0+2], %r1;\n"
                        "st.global.f32 [%rd0+4], 0f3f800000;\n"
                        "ret;"),
                 1, 0xccdddd11, 0x3f800000);
}

Test(oracle_memory, vectors_skip_sinks)
{
    EXPECT_WORDS(KERNEL("st.global.v4.u32 [%rd0], {1, 2, 3, 4};\n"
                        "ld.global.v4.u32 {%r1, _, _, %r2}, [%rd0];\n"
                        "st.global.v2.u32 [%rd0+16], {%r1, %r2};\n"
                        "ret;"),
                 1, 1, 2, 3, 4, 1, 4);
}

Test(oracle_memory, a_vector_register_is_its_elements)
{
    EXPECT_WORDS(KERNEL(".reg .v2 .b32 %v;\n"
                        "st.global.v2.u32 [%rd0], {7, 9};\n"
                        "ld.global.v2.u32 %v, [%rd0];\n"
                        "add.u32 %r1, %v.x, %v.y;\n"
                        "st.global.u32 [%rd0+8], %r1;\n"
                        "ret;"),
                 1, 7, 9, 16);
}

Test(oracle_memory, b128_moves_sixteen_bytes)
{
    EXPECT_WORDS(KERNEL("st.global.v4.u32 [%rd0], {1, 2, 3, 4};\n"
                        "ld.global.b128 %q0, [%rd0];\n"
                        "mov.b128 {%rd2, %rd3}, %q0;\n"
                        "mov.b128 %q1, {%rd3, %rd2};\n"
                        "st.global.b128 [%rd0+16], %q1;\n"
                        "ret;"),
                 1, 1, 2, 3, 4, 3, 4, 1, 2);
}

Test(oracle_memory, a_misaligned_address_is_a_fault)
{
    EXPECT_STATUS(KERNEL("ld.global.u32 %r1, [%rd0+2]; ret;"), 1, PXR_FAULT_MISALIGNED);
    EXPECT_STATUS(KERNEL("ld.global.v2.u32 {%r1, %r2}, [%rd0+4]; ret;"), 1, PXR_FAULT_MISALIGNED);
    EXPECT_STATUS(KERNEL(".shared .align 16 .b8 s[64]; st.shared.u64 [s+4], %rd0; ret;"), 1,
                  PXR_FAULT_MISALIGNED);
}

Test(oracle_memory, an_address_outside_of_memory_is_a_fault)
{
    EXPECT_STATUS(KERNEL("ld.global.u32 %r1, [%rd0+256]; ret;"), 1, PXR_FAULT_ADDRESS);
    EXPECT_STATUS(KERNEL("st.global.u32 [%rd0+-4], %r1; ret;"), 1, PXR_FAULT_ADDRESS);
    EXPECT_STATUS(KERNEL("mov.u64 %rd2, 0; ld.u8 %r1, [%rd2]; ret;"), 1, PXR_FAULT_ADDRESS);
    EXPECT_STATUS(KERNEL(".shared .b8 s[64]; ld.shared.u8 %r1, [s+64]; ret;"), 1,
                  PXR_FAULT_ADDRESS);
    EXPECT_STATUS(KERNEL(".local .b8 l[16]; ld.local.u8 %r1, [l+16]; ret;"), 1, PXR_FAULT_ADDRESS);
}

Test(oracle_memory, the_message_names_line_and_thread)
{
    struct pxr_error err = {0};

    cr_assert_eq(status_of(KERNEL("setp.eq.u32 %p1, %r0, 3;\n"
                                  "@%p1 ld.global.u32 %r1, [%rd0+256];\nret;"),
                           4, &err),
                 PXR_FAULT_ADDRESS);
    cr_assert(strstr(err.message, "'ld.global.u32', block (0,0,0), thread (3,0,0)"), "%s",
              err.message);
    cr_assert_eq(err.line, 13, "%d", err.line);
}

/* ---- variables ---- */

Test(oracle_memory, variables_have_their_initial_values)
{
    EXPECT_WORDS(".global .align 4 .u32 a[3] = {5, 6};\n"
                 ".const .f32 c = 1.0;\n"
                 ".global .b8 unset[4];\n" KERNEL("ld.global.u32 %r1, [a];\n"
                                                  "ld.global.u32 %r2, [a+4];\n"
                                                  "ld.global.u32 %r3, [a+8];\n"
                                                  "ld.const.u32 %r4, [c];\n"
                                                  "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n"
                                                  "ld.global.u8 %r5, [unset+3];\n"
                                                  "st.global.u32 [%rd0+16], %r5;\n"
                                                  "ret;"),
                 1, 5, 6, 0, 0x3f800000, 0);
}

Test(oracle_memory, initial_values_are_addresses_of_variables_and_functions)
{
    EXPECT_WORDS(".global .u32 a[2] = {10, 20};\n"
                 ".global .u64 p = a+4;\n"
                 ".global .u64 g = generic(a);\n"
                 ".func (.reg .u32 r) f() { mov.u32 r, 77; ret; }\n"
                 ".global .u64 h[1] = {f};\n" KERNEL("proto: .callprototype (.reg .u32 _) _ ();\n"
                                                     "ld.global.u64 %rd2, [p];\n"
                                                     "ld.global.u32 %r1, [%rd2];\n"
                                                     "ld.global.u64 %rd3, [g];\n"
                                                     "ld.u32 %r2, [%rd3];\n"
                                                     "ld.global.u64 %rd4, [h];\n"
                                                     "call (%r3), %rd4, (), proto;\n"
                                                     "st.global.v2.u32 [%rd0], {%r1, %r2};\n"
                                                     "st.global.u32 [%rd0+8], %r3;\n"
                                                     "ret;"),
                 1, 20, 10, 77);
}

Test(oracle_memory, a_const_variable_cannot_be_written)
{
    EXPECT_STATUS(".const .u32 c = 1;\n" KERNEL("mov.u64 %rd2, c; st.u32 [%rd2], 2; ret;"), 1,
                  PXR_FAULT_ADDRESS);
}

Test(oracle_memory, dynamic_shared_memory_lies_behind_static)
{
    uint32_t words[4] = {0};
    struct kernel_run run = {
        .text = ".extern .shared .align 16 .b8 dyn[];\n" KERNEL(
            ".shared .u32 s[3];\n"
            "st.shared.u32 [s+8], 1;\n"
            "st.shared.u32 [dyn+28], 2;\n"
            "ld.shared.u32 %r1, [s+8];\n"
            "ld.shared.u32 %r2, [dyn+28];\n"
            "mov.u32 %r3, %dynamic_smem_size;\n"
            "mov.u32 %r4, %total_smem_size;\n"
            "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n"
            "ret;"),
        .dynamic_shared_bytes = 32,
        .out = words,
        .out_bytes = sizeof(words),
    };

    cr_assert_eq(run_kernel(&run), PXR_OK, "%s", run.err.message);
    cr_assert_eq(words[0], 1);
    cr_assert_eq(words[1], 2);
    cr_assert_eq(words[2], 32);
    cr_assert_eq(words[3], 48);
    run.dynamic_shared_bytes = 28;
    cr_assert_eq(run_kernel(&run), PXR_FAULT_ADDRESS);
}

Test(oracle_memory, local_memory_is_each_threads_own)
{
    EXPECT_WORDS(".local .u32 m;\n" KERNEL(".local .u32 l[2];\n"
                                           "mov.u32 %r1, l;\n"
                                           "st.local.u32 [%r1+4], %r0;\n"
                                           "st.local.u32 [m], %r0;\n"
                                           "bar.sync 0;\n"
                                           "ld.local.u32 %r2, [l+4];\n"
                                           "ld.local.u32 %r3, [m];\n"
                                           "add.u32 %r2, %r2, %r3;\n"
                                           "st.global.u32 [%rd1], %r2;\n"
                                           "ret;"),
                 3, 0, 2, 4);
}

/* ---- addresses ---- */

Test(oracle_memory, generic_addresses_reach_every_space)
{
    EXPECT_WORDS(KERNEL(".shared .u32 s; .local .u32 l;\n"
                        "st.shared.u32 [s], 3; st.local.u32 [l], 4;\n"
                        "mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2;\n"
                        "cvta.local.u64 %rd4, l;\n"
                        "mov.u64 %rd8, out; cvta.param.u64 %rd9, %rd8;\n"
                        "ld.u32 %r1, [%rd3]; ld.u32 %r2, [%rd4]; ld.u64 %rd10, [%rd9];\n"
                        "setp.eq.u64 %p1, %rd10, %rd0; selp.u32 %r3, 1, 0, %p1;\n"
                        "cvta.to.shared.u64 %rd5, %rd3; ld.shared.u32 %r4, [%rd5];\n"
                        "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n"
                        "ret;"),
                 1, 3, 4, 1, 3);
}

Test(oracle_memory, isspacep_tells_windows_apart)
{
    /* rows: shared, local, const, global, param; bits of a row in that order */
    EXPECT_WORDS(
        ".const .u32 c;\n.global .u32 g;\n"
        ".func (.reg .u32 r) classes(.reg .u64 a) {\n"
        ".reg .pred %p<5>; .reg .b32 %t;\n"
        "isspacep.shared %p0, a; isspacep.local %p1, a; isspacep.const %p2, a;\n"
        "isspacep.global %p3, a; isspacep.param %p4, a;\n"
        "mov.u32 r, 0;\n"
        "@%p0 or.b32 r, r, 1; @%p1 or.b32 r, r, 2; @%p2 or.b32 r, r, 4; @%p3 or.b32 r, r, 8;\n"
        "@%p4 or.b32 r, r, 16;\n"
        "ret; }\n" KERNEL(".shared .u32 s; .local .u32 l;\n"
                          "cvta.shared.u64 %rd2, s; cvta.local.u64 %rd3, l;\n"
                          "cvta.const.u64 %rd4, c; cvta.global.u64 %rd5, g;\n"
                          "cvta.param.u64 %rd6, out;\n"
                          "call (%r1), classes, (%rd2); call (%r2), classes, (%rd3);\n"
                          "call (%r3), classes, (%rd4); call (%r4), classes, (%rd5);\n"
                          "call (%r5), classes, (%rd6);\n"
                          "st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n"
                          "st.global.u32 [%rd0+16], %r5;\n"
                          "ret;"),
        1, 1, 2, 4, 8, 24);
}

Test(oracle_memory, alloca_gives_aligned_memory_and_stackrestore_takes_it)
{
    EXPECT_WORDS(KERNEL("stacksave.u64 %rd2;\n"
                        "mov.u64 %rd5, 100;\n"
                        "alloca.u64 %rd3, %rd5, 64;\n"
                        "st.local.u32 [%rd3+96], 5;\n"
                        "ld.local.u32 %r1, [%rd3+96];\n"
                        "and.b64 %rd4, %rd3, 63;\n"
                        "cvt.u32.u64 %r2, %rd4;\n"
                        "stackrestore.u64 %rd2;\n"
                        "alloca.u64 %rd6, %rd5, 64;\n"
                        "setp.eq.u64 %p1, %rd3, %rd6;\n"
                        "selp.u32 %r3, 1, 0, %p1;\n"
                        "st.global.v2.u32 [%rd0], {%r1, %r2};\n"
                        "st.global.u32 [%rd0+8], %r3;\n"
                        "ret;"),
                 1, 5, 0, 1);
}

Test(oracle_memory, a_stack_without_end_is_a_fault)
{
    EXPECT_STATUS(KERNEL("mov.u64 %rd5, 100000;\nL: alloca.u64 %rd3, %rd5; bra L;"), 1,
                  PXR_FAULT_STACK);
}

/* ---- mov, cp.async ---- */

Test(oracle_memory, mov_packs_the_first_element_lowest)
{
    EXPECT_WORDS(KERNEL("mov.u16 %rs1, 0x1111; mov.u16 %rs2, 0x2222;\n"
                        "mov.b32 %r1, {%rs1, %rs2};\n"
                        "mov.b32 {%rs3, %rs4}, 0xaaaabbbb;\n"
                        "mov.b32 %r2, {%rs4, %rs3};\n"
                        "mov.b64 %rd2, {%r1, %r2};\n"
                        "mov.b64 {_, %r3}, %rd2;\n"
                        "st.global.v2.u32 [%rd0], {%r1, %r2};\n"
                        "st.global.u32 [%rd0+8], %r3;\n"
                        "ret;"),
                 1, 0x22221111, 0xbbbbaaaa, 0xbbbbaaaa);
}

Test(oracle_memory, constants_take_the_width_they_are_used_in)
{
    EXPECT_WORDS(KERNEL("mov.f32 %f1, 0d3ff8000000000000;\n"
                        "mov.b32 %r1, %f1;\n"
                        "mov.u16 %rs1, -1;\n"
                        "cvt.u32.u16 %r2, %rs1;\n"
                        "mov.u64 %rd2, -2;\n"
                        "st.global.v2.u32 [%rd0], {%r1, %r2};\n"
                        "st.global.u64 [%rd0+8], %rd2;\n"
                        "mov.f64 %fd1, 2.0; st.global.f64 [%rd0+16], %fd1;\n"
                        "ret;"),
                 1, 0x3fc00000, 0xffff, 0xfffffffe, 0xffffffff, 0, 0x40000000);
}

Test(oracle_memory, cp_async_copies_and_fills_with_zeroes)
{
    EXPECT_WORDS(KERNEL(".shared .align 16 .u32 s[4];\n"
                        "st.global.v4.u32 [%rd0], {1, 2, 3, 4};\n"
                        "cp.async.cg.shared.global [s], [%rd0], 16, 8;\n"
                        "cp.async.commit_group; cp.async.wait_group 0;\n"
                        "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s];\n"
                        "st.global.v4.u32 [%rd0+16], {%r1, %r2, %r3, %r4};\n"
                        "cp.async.ca.shared.global [s+4], [%rd0+12], 4;\n"
                        "cp.async.wait_all;\n"
                        "ld.shared.u32 %r5, [s+4];\n"
                        "st.global.u32 [%rd0+32], %r5;\n"
                        "ret;"),
                 1, 1, 2, 3, 4, 1, 2, 0, 0, 4);
}

Test(oracle_memory, hints_and_prefetches_do_nothing)
{
    EXPECT_WORDS(KERNEL("createpolicy.fractional.L2::evict_last.b64 %rd2, 0f3f800000;\n"
                        "prefetch.global.L1 [%rd0+100000]; prefetchu.L1 [%rd0];\n"
                        "st.global.L2::cache_hint.u32 [%rd0], 8, %rd2;\n"
                        "ldu.global.u32 %r1, [%rd0];\n"
                        "ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %r2, [%rd0], %rd2;\n"
                        "add.u32 %r1, %r1, %r2; membar.gl; fence.acq_rel.gpu; nanosleep.u32 5;\n"
                        "st.global.u32 [%rd0+4], %r1; ret;"),
                 1, 8, 16);
}
