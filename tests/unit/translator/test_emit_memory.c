/* SPDX-License-Identifier: Apache-2.0
 *
 * ld, st, mov: spaces, widths, vectors, alignment, polls.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

Test(memory, vector_add_runs_for_every_thread)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
        ".reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;\n"
        "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
        "ld.param.u32 %r2, [n];\n"
        "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
        "mad.lo.s32 %r1, %r3, %r4, %r5;\n"
        "setp.ge.s32 %p1, %r1, %r2;\n@%p1 bra $L__BB0_2;\n"
        "cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;\n"
        "cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;\n"
        "ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f2, %f1;\n"
        "cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5; st.global.f32 [%rd10], %f3;\n"
        "$L__BB0_2:\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "vadd", true, &err), PXR_OK, "%s", err.message);
    float a[10], b[10], c[10] = {0};
    for (int i = 0; i < 10; i++) {
        a[i] = (float)i;
        b[i] = 100.0f * (float)i;
    }
    struct {
        const float *a, *b;
        float *c;
        uint32_t n;
    } params = {a, b, c, 9};
    harness.grid[0] = 3;
    harness.block[0] = 4;
    harness_run(&harness, &params);
    for (int i = 0; i < 9; i++)
        cr_expect_eq(c[i], 101.0f * (float)i);
    cr_expect_eq(c[9], 0.0f);
    harness_close(&harness);
}

Test(memory, narrow_loads_extend_by_their_type)
{
    uint8_t in[4] = {0x80, 0xff, 0x34, 0x92};
    uint64_t out[4] = {0};
    harness_eval("ld.s8 %r1, [%in]; cvt.s64.s32 %rd1, %r1; st.b64 [%out], %rd1;\n"
                 "ld.u8 %rd2, [%in]; st.u64 [%out+8], %rd2;\n"
                 "ld.s16 %rd3, [%in+2]; st.u64 [%out+16], %rd3;\n"
                 "ld.b16 %r4, [%in+2]; cvt.u64.u32 %rd4, %r4; st.u64 [%out+24], %rd4;\n",
                 in, out);
    cr_expect_eq(out[0], (uint64_t)-128);
    cr_expect_eq(out[1], 0x80);
    cr_expect_eq(out[2], 0xffffffffffff9234);
    cr_expect_eq(out[3], 0x9234);
}

Test(memory, narrow_stores_take_the_low_bits)
{
    uint32_t in = 0x12345678;
    uint32_t out = 0xffffffff;
    harness_eval("ld.u32 %r1, [%in]; st.u8 [%out+2], %r1; st.u16 [%out], %r1;", &in, &out);
    cr_expect_eq(out, 0xff785678);
}

Test(memory, vectors_may_overwrite_their_own_address)
{
    uint64_t in[2] = {7, 9};
    uint64_t out[2] = {0};
    harness_eval("mov.u64 %rd1, %in; ld.v2.u64 {%rd1, %rd2}, [%rd1];\n"
                 "st.v2.u64 [%out], {%rd2, %rd1};",
                 in, out);
    cr_expect_eq(out[0], 9);
    cr_expect_eq(out[1], 7);
}

Test(memory, vector_registers_have_components)
{
    uint32_t in[4] = {1, 2, 3, 4};
    uint32_t out[4] = {0};
    harness_eval(".reg .v4 .u32 %v; ld.v4.u32 %v, [%in]; add.u32 %v.x, %v.y, %v.w;\n"
                 "st.v4.u32 [%out], %v;",
                 in, out);
    cr_expect_eq(out[0], 6);
    cr_expect_eq(out[1], 2);
    cr_expect_eq(out[3], 4);
}

Test(memory, whole_vector_registers_pack_and_unpack)
{
    uint64_t in = 0x1122334455667788;
    uint64_t out = 0;
    harness_eval(".reg .v2 .b32 %v; ld.u64 %rd1, [%in]; mov.b64 %v, %rd1;\n"
                 "add.u32 %v.y, %v.y, 1; mov.b64 %rd2, %v; st.u64 [%out], %rd2;",
                 &in, &out);
    cr_expect_eq(out, 0x1122334555667788);
}

Test(memory, mov_packs_and_unpacks)
{
    uint64_t in = 0x1122334455667788;
    uint64_t out[3] = {0};
    harness_eval("ld.u64 %rd1, [%in]; mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r2, %r1};\n"
                 "st.u64 [%out], %rd2;\n"
                 "mov.b64 {%h1, %h2, %h3, %h4}, %rd1; mov.b32 %r3, {%h4, %h1};\n"
                 "st.u32 [%out+8], %r3;\n"
                 "mov.b32 {%h5, _}, %r1; st.u16 [%out+16], %h5;",
                 &in, out);
    cr_expect_eq(out[0], 0x5566778811223344);
    cr_expect_eq(out[1], 0x77881122);
    cr_expect_eq(out[2], 0x7788);
}

Test(memory, registers_start_as_zero)
{
    uint64_t out[2] = {1, 1};
    harness_eval("st.u64 [%out], %rd9; selp.u64 %rd1, 5, 6, %p3; st.u64 [%out+8], %rd1;", NULL,
                 out);
    cr_expect_eq(out[0], 0);
    cr_expect_eq(out[1], 6);
}

Test(memory, immediates_take_the_type_of_the_instruction)
{
    uint64_t out[4] = {0};
    harness_eval("mov.f32 %f1, 0f3F800000; st.f32 [%out], %f1;\n"
                 "mov.b32 %r1, 0f40000000; st.u32 [%out+4], %r1;\n"
                 "mov.f64 %fd1, 0d4000000000000000; st.f64 [%out+8], %fd1;\n"
                 "mov.f32 %f2, 0.5; st.f32 [%out+16], %f2;\n"
                 "st.u32 [%out+20], -1; st.u16 [%out+24], 70000;",
                 NULL, out);
    cr_expect_eq(out[0], 0x400000003f800000);
    cr_expect_eq(out[1], 0x4000000000000000);
    cr_expect_eq(out[2], 0xffffffff3f000000);
    cr_expect_eq(out[3], 70000 & 0xffff);
}

static const char alignment_text[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p];\nld.global.v2.u32 {%r1, %r2}, [%rd1+4];\n"
    "st.global.u32 [%rd1], %r2;\nret;\n}\n";

Test(memory, misaligned_accesses_fault_when_asked_to)
{
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, alignment_text, NULL, true, &err), PXR_OK, "%s",
                 err.message);
    _Alignas(16) uint32_t memory[6] = {0, 1, 2, 3, 4, 5};
    uint64_t param = (uint64_t)memory;
    harness_run(&harness, &param);
    cr_expect_eq(harness.fault, PXR_FAULT_MISALIGNED);
    cr_expect_eq(harness.fault_address, (uint64_t)(memory + 1));
    param = (uint64_t)(memory + 1);
    harness_run(&harness, &param);
    cr_expect_eq(harness.fault, PXR_OK);
    cr_expect_eq(memory[1], 3);
    harness_close(&harness);
}

Test(memory, strong_loads_count_polls_and_give_way)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %rd1, [p];\nld.volatile.global.u32 %r1, [%rd1];\n"
        "ld.relaxed.gpu.global.u32 %r2, [%rd1]; ld.acquire.gpu.global.u32 %r3, [%rd1];\n"
        "ld.global.u32 %r4, [%rd1]; st.volatile.global.u32 [%rd1], %r4;\n"
        "atom.global.cas.b32 %r5, [%rd1], 0, 1; atom.global.exch.b32 %r6, [%rd1], 1;\n"
        "atom.global.add.u32 %r7, [%rd1], 0; red.global.add.u32 [%rd1], 1;\n"
        "ret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, false, &err), PXR_OK, "%s", err.message);
    uint32_t cell = 0;
    uint64_t param = (uint64_t)&cell;
    harness.poll_budget = 5;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "poll\n");
    harness.poll_budget = 6;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "");
    harness_close(&harness);
}

Test(memory, volatile_accesses_to_shared_memory_bring_lanes_together)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<9>;\n"
        ".shared .align 4 .b8 s[16];\n"
        "ld.param.u64 %rd1, [p];\ncvta.shared.u64 %rd2, 0;\n"
        "st.volatile.shared.u32 [s], 7; ld.volatile.shared.u32 %r1, [s];\n"
        "st.volatile.u32 [%rd2], 7; ld.volatile.u32 %r2, [%rd2]; st.volatile.u32 [%rd1], %r2;\n"
        "ld.volatile.global.u32 %r3, [%rd1]; ld.shared.u32 %r4, [s]; st.shared.u32 [s+4], %r4;\n"
        "ret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, false, &err), PXR_OK, "%s", err.message);
    uint32_t cell = 0;
    uint64_t param = (uint64_t)&cell;
    harness.poll_budget = 100;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "converge 0\nconverge 1\nconverge 2\nconverge 3\n");
    cr_expect_eq(cell, 7);
    harness_close(&harness);
}

/* What the placeholders log when one thread runs these instructions. */
static void expect_meetings(const char *instructions, const char *log)
{
    char text[1024];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 p)\n{\n"
             ".reg .pred %%p<2>; .reg .b32 %%r<9>; .shared .align 4 .b8 s[16];\n%s\nret;\n}\n",
             instructions);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, false, &err), PXR_OK, "%s", err.message);
    uint64_t param = 0;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, log, "%s: %s", instructions, harness.log);
    harness_close(&harness);
}

#define READ  "ld.volatile.shared.u32 %r1, [s];"
#define WRITE "st.volatile.shared.u32 [s], %r1;"
#define MEET  "bar.sync 0;"

Test(memory, lanes_come_together_only_where_order_matters)
{
    expect_meetings(MEET READ READ, "bar_sync 0 0\n");
    expect_meetings(MEET WRITE, "bar_sync 0 0\n");
    expect_meetings(MEET READ WRITE, "bar_sync 0 0\nconverge 0\n");
    expect_meetings(MEET WRITE READ, "bar_sync 0 0\nconverge 0\n");
    expect_meetings(MEET WRITE WRITE, "bar_sync 0 0\nconverge 0\n");
    expect_meetings(MEET READ MEET WRITE, "bar_sync 0 0\nbar_sync 0 0\n");
    expect_meetings(MEET "here:" READ, "bar_sync 0 0\nconverge 0\n");
    expect_meetings("mov.u32 %r1, 0; again: " MEET WRITE
                    "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 2; @%p1 bra again;",
                    "bar_sync 0 0\nbar_sync 0 0\n");
    expect_meetings("mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @%p1 " MEET READ,
                    "bar_sync 0 0\nconverge 0\n");
}

/* Whether this faults as misaligned with two addresses, the second of which is odd. */
static bool faults(const char *instructions)
{
    char text[1024];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
             ".reg .pred %%p<2>; .reg .b64 %%rd<4>; .reg .b32 %%r<9>; .reg .b16 %%h<3>;\n"
             "ld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q];\n%s\nret;\n}\n",
             instructions);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, true, &err), PXR_OK, "%s", err.message);
    _Alignas(16) uint8_t memory[64] = {0};
    uint64_t params[2] = {(uint64_t)memory, (uint64_t)(memory + 1)};
    harness_run(&harness, params);
    bool is_fault = harness.fault == PXR_FAULT_MISALIGNED;
    cr_expect(is_fault || harness.fault == PXR_OK);
    harness_close(&harness);
    return is_fault;
}

Test(memory, what_is_known_of_an_address_ends_where_it_changes)
{
    cr_expect(!faults("ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1+8]; ld.u16 %h1, [%rd1+2];"));
    cr_expect(faults("ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1+6];"));
    cr_expect(faults("ld.u32 %r1, [%rd1+4]; ld.u64 %rd3, [%rd1+4];"));
    cr_expect(faults("ld.u32 %r1, [%rd1]; mov.u64 %rd1, %rd2; ld.u32 %r2, [%rd1];"));
    cr_expect(faults("ld.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 2; st.u32 [%rd1], %r1;"));
    cr_expect(faults("setp.ne.u64 %p1, %rd1, %rd1; @%p1 ld.u32 %r1, [%rd2]; ld.u32 %r1, [%rd2];"));
    cr_expect(faults("ld.u32 %r1, [%rd1]; mov.u32 %r2, 0;\n"
                     "again: ld.u32 %r1, [%rd1]; mov.u64 %rd1, %rd2; add.u32 %r2, %r2, 1;\n"
                     "setp.lt.u32 %p1, %r2, 2; @%p1 bra again;"));
    cr_expect(faults(".shared .align 8 .b8 s[32]; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1];\n"
                     "add.u32 %r1, %r1, 2; ld.shared.u32 %r2, [%r1];"));
    cr_expect(!faults(".shared .align 8 .b8 s[32]; mov.u32 %r1, s; add.u32 %r1, %r1, 6;\n"
                      "ld.shared.u32 %r2, [%r1+2]; ld.shared.u32 %r2, [%r1+-2];"));
}

Test(memory, branches_back_bring_lanes_together_where_volatile_accesses_do)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>; .reg .b32 %r<9>;\n"
        ".shared .align 4 .b8 s[16];\nmov.u32 %r1, 0;\n"
        "again:\nst.volatile.shared.u32 [s], %r1;\nadd.u32 %r1, %r1, 1;\n"
        "setp.eq.u32 %p1, %r1, 2;\n@%p1 bra done;\nbra again;\ndone:\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, false, &err), PXR_OK, "%s", err.message);
    uint64_t param = 0;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, "converge 0\nconverge 1\nconverge 0\n");
    harness_close(&harness);
}

Test(memory, v8_and_b128_move_32_and_16_bytes)
{
    _Alignas(32) uint32_t in[12];
    _Alignas(32) uint32_t out[12] = {0};
    for (unsigned i = 0; i < 12; i++)
        in[i] = 100 + i;
    harness_eval(
        ".reg .b128 %q<3>;\n"
        "ld.global.v8.b32 {%r1,%r2,_,%r4,%r5,%r6,%r7,%r8}, [%in];\nmov.u32 %r3, 7;\n"
        "st.global.v8.b32 [%out], {%r8,%r2,%r3,%r4,%r5,%r6,%r7,%r1};\n"
        "ld.relaxed.gpu.global.b128 %q1, [%in+32];\nst.release.gpu.global.b128 [%out+32], %q1;",
        in, out);
    static const uint32_t expected[12] = {107, 101, 7, 103, 104, 105, 106, 100, 108, 109, 110, 111};
    cr_expect_arr_eq(out, expected, sizeof out);
}

/* How often text stands in ir. */
static unsigned count_of(const char *ir, const char *text)
{
    unsigned count = 0;
    for (const char *at = ir; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

#define PTX_HEAD ".version 8.8\n.target sm_100\n.address_size 64\n"

static void expect_accesses(const char *instruction, const char *access, unsigned count)
{
    char text[1024];
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
                      ".reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .b128 %%q;\n"
                      ".shared .align 16 .b8 mine[16]; .local .align 16 .b8 own[16];\n"
                      "ld.param.u64 %%rd0, [p];\n%s\nret;\n}\n",
             instruction);
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, NULL, true, &err), PXR_OK, "%s: %s", instruction,
                 err.message);
    cr_expect_eq(count_of(harness.ir, access), count, "%s:\n%s", instruction, harness.ir);
    harness_close(&harness);
}

/* Where other workers see them, in pieces of 16 bytes. */
Test(memory, strong_vectors_are_accessed_at_once)
{
    static const struct {
        const char *instruction;
        const char *access;
        unsigned count;
    } cases[] = {
        {"ld.relaxed.gpu.v2.u64 {%rd1, %rd2}, [%rd0];", "load atomic <2 x i64>,", 1},
        {"ld.acquire.gpu.global.v4.f32 {%r1, %r2, %r3, %r4}, [%rd0];", "load atomic <4 x i32>,", 1},
        {"ld.volatile.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];", "load atomic volatile <4 x i32>,", 1},
        {"ld.cv.v2.u64 {%rd1, %rd2}, [%rd0];", "load atomic <2 x i64>,", 1},
        {"ld.cg.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];", "load atomic <4 x i32>,", 1},
        {"ld.relaxed.gpu.v2.u32 {%r1, %r2}, [%rd0];", "load atomic i64,", 1},
        {"ld.relaxed.gpu.v4.u16 {%h1, %h2, %h3, %h4}, [%rd0];", "load atomic i64,", 1},
        {"ld.relaxed.gpu.v4.u8 {%h1, %h2, %h3, %h4}, [%rd0];", "load atomic i32,", 1},
        {"ld.relaxed.gpu.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd0];", "load atomic <2 x i64>,",
         2},
        {"st.relaxed.gpu.v2.u64 [%rd0], {%rd1, %rd2};", "store atomic <2 x i64> ", 1},
        {"st.release.gpu.global.v4.f32 [%rd0], {%r1, 0f3f800000, %r3, %r4};",
         "store atomic <4 x i32> ", 1},
        {"st.volatile.v4.u32 [%rd0], {%r1, %r2, %r3, 5};", "store atomic volatile <4 x i32> ", 1},
        {"st.cg.v2.u64 [%rd0], {%rd1, %rd2};", "store atomic <2 x i64> ", 1},
        {"st.wt.v2.u64 [%rd0], {%rd1, %rd2};", "store atomic <2 x i64> ", 1},
        {"st.relaxed.gpu.v2.u16 [%rd0], {%h1, %h2};", "store atomic i32 ", 1},
        {"st.relaxed.gpu.global.v8.b32 [%rd0], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
         "store atomic <4 x i32> ", 2},
        {"ld.relaxed.gpu.b128 %q, [%rd0];", "load atomic i128,", 1},
        {"st.mmio.relaxed.sys.b128 [%rd0], %q;", "store atomic volatile i128 ", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_accesses(cases[i].instruction, cases[i].access, cases[i].count);
}

/* What is weak, or nobody else's, leaves LLVM more to do with. */
Test(memory, other_vectors_are_accessed_by_elements)
{
    static const struct {
        const char *instruction;
        const char *access;
        unsigned count;
    } cases[] = {
        {"ld.global.v2.u32 {%r1, %r2}, [%rd0]; st.global.v2.u32 [%rd0], {%r2, %r1};",
         "= load i32, ptr %", 2},
        {"ld.weak.v4.f32 {%r1, %r2, %r3, %r4}, [%rd0];", "atomic", 0},
        {"ld.global.cg.v2.f64 {%rd1, %rd2}, [%rd0];", "atomic", 0},
        {"ld.global.cg.nc.v2.u64 {%rd1, %rd2}, [%rd0];", "atomic", 0},
        {"st.global.wt.v2.u64 [%rd0], {%rd1, %rd2};", "atomic", 0},
        {"st.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};", "store i32 ", 4},
        {"ld.volatile.shared.v4.u32 {%r1, %r2, %r3, %r4}, [mine];", "load atomic volatile i32,", 4},
        {"ld.relaxed.cta.shared.v2.u64 {%rd1, %rd2}, [mine];", "load atomic i64,", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_accesses(cases[i].instruction, cases[i].access, cases[i].count);
}

Test(memory, pieces_of_strong_vectors_keep_their_elements_apart)
{
    _Alignas(32) uint8_t in[96];
    _Alignas(32) uint8_t out[96] = {0};
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(3 * i + 1);
    harness_eval("ld.relaxed.gpu.global.v4.u32 {%r1,%r2,%r3,%r4}, [%in];\n"
                 "st.release.gpu.global.v4.u32 [%out], {%r4,%r3,%r2,%r1};\n"
                 "ld.volatile.global.v2.f64 {%fd1,%fd2}, [%in+16];\n"
                 "st.volatile.global.v2.f64 [%out+16], {%fd2,%fd1};\n"
                 "ld.acquire.gpu.global.v4.b64 {%rd1,_,%rd3,%rd4}, [%in+32];\n"
                 "st.relaxed.gpu.global.v4.b64 [%out+32], {%rd4,%rd3,5,%rd1};\n"
                 "ld.relaxed.gpu.global.v4.u8 {%h1,%h2,%h3,%h4}, [%in+64];\n"
                 "st.relaxed.gpu.global.v4.u8 [%out+64], {%h4,%h3,%h2,%h1};\n"
                 "ld.relaxed.gpu.global.v2.s8 {%h1,%h2}, [%in+90];\n"
                 "st.relaxed.gpu.global.v2.u16 [%out+68], {%h1,%h2};\n"
                 "ld.relaxed.gpu.global.v4.u16 {%h1,%h2,%h3,%h4}, [%in+72];\n"
                 "st.relaxed.gpu.global.v4.u16 [%out+72], {%h4,%h1,%h2,%h3};\n",
                 in, out);
    static const struct {
        uint8_t to, from, bytes;
    } moves[] = {{0, 12, 4},  {4, 8, 4},   {8, 4, 4},   {12, 0, 4},  {16, 24, 8}, {24, 16, 8},
                 {32, 56, 8}, {40, 48, 8}, {56, 32, 8}, {64, 67, 1}, {65, 66, 1}, {66, 65, 1},
                 {67, 64, 1}, {72, 78, 2}, {74, 72, 2}, {76, 74, 2}, {78, 76, 2}};
    uint8_t expected[sizeof out] = {[48] = 5};
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        memcpy(expected + moves[i].to, in + moves[i].from, moves[i].bytes);
    int16_t extended[2] = {(int8_t)in[90], (int8_t)in[91]};
    memcpy(expected + 68, extended, sizeof extended);
    cr_expect_arr_eq(out, expected, sizeof out);
}

Test(memory, hints_and_policies_do_not_change_what_is_moved)
{
    uint64_t in[2] = {0x1122334455667788, 9};
    uint64_t out[2] = {0};
    harness_eval("createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;\n"
                 "ld.global.L1::evict_last.L2::cache_hint.L2::256B.b64 %rd2, [%in], %rd1;\n"
                 "st.global.L2::cache_hint.b64 [%out], %rd2, %rd1;\n"
                 "prefetch.global.L2::evict_last [%in]; prefetchu.L1 [%in];\n"
                 "applypriority.global.L2::evict_normal [%in], 128; discard.global.L2 [%in], 128;\n"
                 "ld.mmio.relaxed.sys.global.u64 %rd3, [%in+8];\nst.mmio.relaxed.sys.global.u64 "
                 "[%out+8], %rd3;",
                 in, out);
    cr_expect_arr_eq(out, in, sizeof out);
}

Test(memory, short_addresses_of_local_and_constant_memory)
{
    uint32_t out[2] = {0};
    harness_eval(".const .b32 constants[3] = {5, 6, 7};\n.local .b32 mine[4];\n"
                 "mov.u32 %r1, constants; ld.const.u32 %r2, [%r1+8];\nst.u32 [%out], %r2;\n"
                 "mov.u32 %r3, mine; st.local.u32 [%r3+4], 11; ld.local.u32 %r4, [mine+4];\n"
                 "st.u32 [%out+4], %r4;",
                 NULL, out);
    cr_expect_eq(out[0], 7);
    cr_expect_eq(out[1], 11);
}

Test(memory, short_addresses_of_global_memory_are_refused)
{
    struct pxr_error err = {0};
    cr_expect_eq(harness_eval_status("ld.global.u32 %r1, [%r2];", &err), PXR_UNSUPPORTED);
    cr_expect_not_null(strstr(err.message, "32-bit"), "%s", err.message);
}

Test(memory, module_scope_local_variables_belong_to_each_thread)
{
    static const char text[] =
        ".version 2.0\n.target sm_20\n.address_size 64\n"
        ".local .align 4 .b32 first[3];\n.local .align 64 .b32 second;\n"
        ".func add_one()\n{\n.reg .b32 %r;\nld.local.u32 %r, [second];\nadd.u32 %r, %r, 1;\n"
        "st.local.u32 [second], %r;\nret;\n}\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .pred %p;\n"
        "mov.u32 %r1, %tid.x;\nst.local.u32 [second], %r1;\nst.local.u32 [first+8], 100;\n"
        "call add_one;\nmov.u64 %rd1, second;\ncvta.local.u64 %rd2, %rd1;\nld.u32 %r2, [%rd2];\n"
        "ld.local.u32 %r3, [first+8];\nadd.u32 %r2, %r2, %r3;\n"
        "isspacep.local %p, %rd2;\n@!%p mov.u32 %r2, 0;\n"
        "ld.param.u64 %rd3, [p];\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd3, %rd3, %rd4;\n"
        "st.global.u32 [%rd3], %r2;\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    uint32_t out[3] = {0};
    uint64_t param = (uint64_t)out;
    harness.block[0] = 3;
    harness_run(&harness, &param);
    static const uint32_t expected[3] = {101, 102, 103};
    cr_expect_arr_eq(out, expected, sizeof out, "%u %u %u", out[0], out[1], out[2]);
    harness_close(&harness);
}

/* ---- cp.async ---- */

static void copy_async(const char *instructions, uint32_t out[4])
{
    static const uint32_t in[4] = {0x11111111, 0x22222222, 0x33333333, 0x44444444};
    char text[1024];
    memset(out, 0, 16);
    snprintf(text, sizeof text,
             ".shared .align 16 .b8 to[16];\nmov.u64 %%rd1, -1;\n"
             "st.shared.v2.u64 [to], {%%rd1, %%rd1};\nmov.u32 %%r9, to;\n"
             "setp.eq.u32 %%p1, 1, 1; mov.u32 %%r1, 6;\n%s\n"
             "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n"
             "ld.shared.v2.u64 {%%rd2, %%rd3}, [to];\nst.v2.u64 [%%out], {%%rd2, %%rd3};",
             instructions);
    harness_eval(text, in, out);
}

Test(memory, asynchronous_copies_have_happened_after_the_wait)
{
    _Alignas(16) uint32_t out[4];
    copy_async("cp.async.cg.shared.global.L2::128B [%r9], [%in], 16;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0x11111111, 0x22222222, 0x33333333, 0x44444444}), 16);
    copy_async("cp.async.ca.shared.global [to+4], [%in+8], 4;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){~0u, 0x33333333, ~0u, ~0u}), 16);
    copy_async("cp.async.ca.shared.global.L2::cache_hint [%r9+8], [%in], 8, %rd1;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){~0u, ~0u, 0x11111111, 0x22222222}), 16);
}

Test(memory, asynchronous_copies_fill_with_zeros_what_has_no_source)
{
    _Alignas(16) uint32_t out[4];
    copy_async("cp.async.ca.shared.global [%r9], [%in], 16, %r1;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0x11111111, 0x2222, 0, 0}), 16);
    copy_async("cp.async.ca.shared.global [%r9], [%in], 8, 8;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0x11111111, 0x22222222, ~0u, ~0u}), 16);
    /* The address of what is not read may be anything. */
    copy_async("mov.u64 %rd4, 0; cp.async.cg.shared.global [%r9], [%rd4], 16, 0;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0, 0, 0, 0}), 16);
    copy_async("mov.u64 %rd4, 0; cp.async.cg.shared.global [%r9], [%rd4], 16, %p1;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0, 0, 0, 0}), 16);
    copy_async("cp.async.cg.shared.global [%r9], [%in], 16, !%p1;", out);
    cr_expect_arr_eq(out, ((uint32_t[]){0x11111111, 0x22222222, 0x33333333, 0x44444444}), 16);
}

Test(memory, asynchronous_copies_check_alignment)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<3>; .reg .b32 %r<3>;\n.shared .align 16 .b8 to[32];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, to;\n"
        "cp.async.ca.shared.global [%r1], [%rd1+4], 8;\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    _Alignas(16) uint32_t in[4] = {0};
    uint64_t param = (uint64_t)in;
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    harness_run(&harness, &param);
    cr_expect_eq(harness.fault, PXR_FAULT_MISALIGNED);
    cr_expect_eq(harness.fault_address, param + 4);
    harness_close(&harness);
}

Test(memory, mov_of_vectors_reads_all_before_it_writes)
{
    _Alignas(16) uint32_t in[4] = {1, 2, 3, 4};
    _Alignas(16) uint32_t out[4] = {0};
    harness_eval(".reg .v4 .b32 %v, %w;\nld.v4.b32 %v, [%in];\nmov.v4.b32 %w, %v;\n"
                 "mov.v2.b32 {%w.x, %w.y}, {%w.y, %w.x};\nmov.v2.b32 {%w.z, _}, {7, 8};\n"
                 "st.v4.b32 [%out], %w;",
                 in, out);
    cr_expect_arr_eq(out, ((uint32_t[]){2, 1, 7, 4}), sizeof out);
}
