/* SPDX-License-Identifier: Apache-2.0
 *
 * atom, red, fences: every operation on global and shared memory.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

/* Runs "atom.<space>.<op> old, [cell], b[, c]" on a cell that holds `cell`. */
static void run_atomic(const char *space, const char *op, const char *reg, const char *store,
                       uint64_t cell, uint64_t b, uint64_t c, uint64_t out[2])
{
    char text[1024];
    bool is_cas = strncmp(op, "cas", 3) == 0;
    bool is_shared = strcmp(space, "shared") == 0;
    snprintf(text, sizeof text,
             ".shared .align 8 .b64 cell;\n"
             "ld.u64 %%rd1, [%%in]; ld.%s %%%s2, [%%in+8]; ld.%s %%%s3, [%%in+16];\n"
             "st.shared.u64 [cell], %%rd1; st.global.u64 [%%out+8], %%rd1;\n"
             "atom.%s.%s %%%s1, [%s], %%%s2%s%s%s;\nst.%s [%%out], %%%s1;\n"
             "%s",
             store, reg, store, reg, space, op, reg, is_shared ? "cell" : "%out+8", reg,
             is_cas ? ", %" : "", is_cas ? reg : "", is_cas ? "3" : "", store, reg,
             is_shared ? "ld.shared.u64 %rd9, [cell]; st.u64 [%out+8], %rd9;" : "");
    uint64_t in[3] = {cell, b, c};
    out[0] = 0;
    out[1] = 0;
    harness_eval(text, in, out);
}

struct atomic_case {
    const char *op;
    const char *reg;
    const char *store;
    uint64_t cell, b, c, expected;
};

static const struct atomic_case cases[] = {
    {"add.u32", "r", "u32", 0xfffffffe, 5, 0, 3},
    {"add.s32", "r", "s32", 3, 5, 0, 8},
    {"add.u64", "rd", "u64", 0xffffffff, 1, 0, 0x100000000},
    {"and.b32", "r", "b32", 0xff0, 0x0ff, 0, 0x0f0},
    {"or.b64", "rd", "b64", 0xf000000000, 0xf, 0, 0xf00000000f},
    {"xor.b32", "r", "b32", 0xff, 0x0f, 0, 0xf0},
    {"exch.b32", "r", "b32", 1, 2, 0, 2},
    {"exch.b64", "rd", "b64", 1, UINT64_MAX, 0, UINT64_MAX},
    {"min.s32", "r", "s32", 1, 0xffffffff, 0, 0xffffffff},
    {"min.u32", "r", "u32", 1, 0xffffffff, 0, 1},
    {"max.s32", "r", "s32", 1, 0xffffffff, 0, 1},
    {"max.u32", "r", "u32", 1, 0xffffffff, 0, 0xffffffff},
    {"max.s64", "rd", "s64", UINT64_MAX, 5, 0, 5},
    {"min.u64", "rd", "u64", UINT64_MAX, 5, 0, 5},
    {"inc.u32", "r", "u32", 7, 7, 0, 0},
    {"inc.u32", "r", "u32", 6, 7, 0, 7},
    {"inc.u32", "r", "u32", 9, 7, 0, 0},
    {"dec.u32", "r", "u32", 0, 7, 0, 7},
    {"dec.u32", "r", "u32", 9, 7, 0, 7},
    {"dec.u32", "r", "u32", 6, 7, 0, 5},
    {"cas.b32", "r", "b32", 4, 4, 9, 9},
    {"cas.b32", "r", "b32", 4, 5, 9, 4},
    {"cas.b64", "rd", "b64", 1ull << 40, 1ull << 40, 9, 9},
    {"cas.b16", "h", "b16", 4, 4, 9, 9},
    {"add.f32", "f", "f32", 0x3f800000, 0x40000000, 0, 0x40400000},
    {"add.f64", "fd", "f64", 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000},
    {"add.noftz.f16", "h", "b16", 0x3c00, 0x4000, 0, 0x4200},
    {"add.noftz.f16x2", "r", "b32", 0x3c003c00, 0x40003c00, 0, 0x42004000},
    {"add.noftz.bf16", "h", "b16", 0x3f80, 0x4000, 0, 0x4040},
    {"add.noftz.bf16x2", "r", "b32", 0x3f803f80, 0x40003f80, 0, 0x40404000},
};

static void check_space(const char *space)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct atomic_case *c = &cases[i];
        uint64_t out[2];
        run_atomic(space, c->op, c->reg, c->store, c->cell, c->b, c->c, out);
        cr_expect_eq(out[0], c->cell, "%s %s (case %zu) returns %llx", space, c->op, i,
                     (unsigned long long)out[0]);
        cr_expect_eq(out[1], c->expected, "%s %s (case %zu) leaves %llx", space, c->op, i,
                     (unsigned long long)out[1]);
    }
}

Test(atomic, every_operation_on_global_memory)
{
    check_space("global");
}

Test(atomic, every_operation_on_shared_memory)
{
    check_space("shared");
}

Test(atomic, f32_addition_flushes_subnormals_on_global_memory_only)
{
    uint64_t out[2];
    run_atomic("global", "add.f32", "f", "f32", 0x80000001, 0x00000002, 0, out);
    cr_expect_eq(out[1], 0);
    run_atomic("global", "add.f32", "f", "f32", 0x80000001, 0x80000002, 0, out);
    cr_expect_eq(out[1], 0x80000000);
    run_atomic("shared", "add.f32", "f", "f32", 0x00000001, 0x00000002, 0, out);
    cr_expect_eq(out[1], 3);
}

Test(atomic, generic_addition_flushes_by_where_the_address_leads)
{
    uint32_t in[2] = {1, 2};
    uint32_t out[2] = {1, 0};
    harness_eval(".shared .align 4 .b32 cell; ld.f32 %f1, [%in]; ld.f32 %f2, [%in+4];\n"
                 "st.shared.f32 [cell], %f1; mov.u64 %rd1, cell; cvta.shared.u64 %rd2, %rd1;\n"
                 "atom.add.f32 %f3, [%rd2], %f2; ld.shared.f32 %f4, [cell];\n"
                 "atom.add.f32 %f3, [%out], %f2; st.f32 [%out+4], %f4;",
                 in, out);
    cr_expect_eq(out[0], 0);
    cr_expect_eq(out[1], 3);
}

Test(atomic, red_updates_and_fences_pass)
{
    uint32_t out[2] = {40, 8};
    harness_eval("red.global.add.u32 [%out], 2; membar.gl; fence.sc.gpu; membar.cta;\n"
                 "red.release.gpu.global.max.s32 [%out+4], -1; fence.acq_rel.cta;",
                 NULL, out);
    cr_expect_eq(out[0], 42);
    cr_expect_eq(out[1], 8);
}

static void run_wide(const char *space, const char *instruction, const uint64_t in[6],
                     uint64_t out[4])
{
    char text[1024];
    bool is_shared = strcmp(space, "shared") == 0;
    snprintf(
        text, sizeof text,
        ".shared .align 16 .b8 cell[16];\n.reg .b128 %%q<6>;\n"
        "ld.b128 %%q1, [%%in]; ld.b128 %%q2, [%%in+16]; ld.b128 %%q3, [%%in+32];\n"
        "st.b128 [%%out+16], %%q1; st.shared.b128 [cell], %%q1;\n%s\nst.b128 [%%out], %%q4;\n%s",
        instruction, is_shared ? "ld.shared.b128 %q5, [cell]; st.b128 [%out+16], %q5;" : "");
    memset(out, 0, 32);
    harness_eval(text, in, out);
}

Test(atomic, of_128_bits_exchange_and_compare)
{
    _Alignas(16) uint64_t in[6] = {1, 2, 1, 2, 30, 40}; /* cell, compare, value */
    _Alignas(16) uint64_t out[4];
    run_wide("global", "atom.global.cas.b128 %q4, [%out+16], %q2, %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 30, 40}), sizeof out);
    run_wide("shared", "atom.shared.cas.b128 %q4, [cell], %q2, %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 30, 40}), sizeof out);
    run_wide("global", "atom.global.exch.b128 %q4, [%out+16], %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 30, 40}), sizeof out);
    run_wide("shared", "atom.acq_rel.cta.shared.exch.b128 %q4, [cell], %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 30, 40}), sizeof out);
    in[3] = 3; /* only the high half differs */
    run_wide("global", "atom.cas.b128 %q4, [%out+16], %q2, %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 1, 2}), sizeof out);
    run_wide("shared", "atom.shared::cta.cas.b128 %q4, [cell], %q2, %q3;", in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 2, 1, 2}), sizeof out);
}

Test(atomic, of_vectors_work_on_each_element)
{
    _Alignas(16) float values[8] = {1, 2, 3, 4, 0.5f, 0.25f, -3, 10};
    _Alignas(16) float out[4] = {0};
    harness_eval("ld.v4.f32 {%f1,%f2,%f3,%f4}, [%in]; ld.v4.f32 {%f5,%f6,%f7,%f8}, [%in+16];\n"
                 "st.v4.f32 [%out], {%f1,%f2,%f3,%f4};\n"
                 "atom.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%out], {%f5,%f6,%f7,%f8};\n"
                 "red.global.add.v2.f32 [%out], {%f1,%f2};",
                 values, out);
    cr_expect_arr_eq(out, ((float[]){2.5f, 4.25f, 0, 14}), sizeof out);
}

Test(atomic, of_half_vectors_add_and_choose)
{
    /* f16: 1, 2, NaN, -0 with 3, 1, 2, +0 */
    _Alignas(16) uint16_t in[8] = {0x3c00, 0x4000, 0x7e00, 0x8000, 0x4200, 0x3c00, 0x4000, 0x0000};
    static const struct {
        const char *op;
        uint16_t expected[4];
    } ops[] = {
        {"min", {0x3c00, 0x3c00, 0x4000, 0x8000}},
        {"max", {0x4200, 0x4000, 0x4000, 0x0000}},
        {"add", {0x4400, 0x4200, 0x7fff, 0x0000}},
    };
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        _Alignas(16) uint16_t out[8];
        snprintf(
            text, sizeof text,
            "ld.v4.b16 {%%h1,%%h2,%%h3,%%h4}, [%%in]; ld.v4.b16 {%%h5,%%h6,%%h7,%%h8}, [%%in+8];\n"
            "st.v4.b16 [%%out], {%%h1,%%h2,%%h3,%%h4};\n"
            "atom.global.v4.f16.%s.noftz {%%h1,%%h2,%%h3,%%h4}, [%%out], "
            "{%%h5,%%h6,%%h7,%%h8};\nst.v4.b16 [%%out+8], {%%h1,%%h2,%%h3,%%h4};",
            ops[i].op);
        harness_eval(text, in, out);
        cr_expect_arr_eq(out, ops[i].expected, 8, "%s: %x %x %x %x", ops[i].op, out[0], out[1],
                         out[2], out[3]);
        cr_expect_arr_eq(out + 4, in, 8, "%s returns something else", ops[i].op);
    }
}

Test(atomic, of_packed_half_vectors_reduce_each_half)
{
    /* bf16x2: {1, 2}, {-1, 4} with {3, 1}, {-2, 8} */
    _Alignas(8) uint32_t in[4] = {0x40003f80, 0x4080bf80, 0x3f804040, 0x4100c000};
    _Alignas(8) uint32_t out[2] = {0};
    harness_eval("ld.v2.b32 {%r1,%r2}, [%in]; ld.v2.b32 {%r3,%r4}, [%in+8];\n"
                 "st.v2.b32 [%out], {%r1,%r2};\nred.global.v2.bf16x2.max.noftz [%out], {%r3,%r4};",
                 in, out);
    cr_expect_eq(out[0], 0x40004040);
    cr_expect_eq(out[1], 0x4100bf80);
}

Test(atomic, every_form_of_fence_passes)
{
    uint32_t out = 0;
    harness_eval("fence.proxy.alias; fence.proxy.async; fence.proxy.async.shared::cta;\n"
                 "membar.proxy.alias; membar.sys; fence.acquire.gpu; fence.release.sys;\n"
                 "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
                 "fence.release.sync_restrict::shared::cta.cluster;\n"
                 "fence.mbarrier_init.release.cluster; fence.sc.cluster;\n"
                 "fence.proxy.tensormap::generic.release.gpu;\n"
                 "fence.proxy.tensormap::generic.acquire.gpu [%in], 128; st.u32 [%out], 1;",
                 NULL, &out);
    cr_expect_eq(out, 1);
}
