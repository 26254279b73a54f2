/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols, state spaces and conversions between them.
 */
#include "harness.h"

#include <string.h>

#include <criterion/criterion.h>

static void run(const char *text, uint32_t dynamic_shared_bytes, const void *params,
                struct harness *harness)
{
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    harness->dynamic_shared_bytes = dynamic_shared_bytes;
    harness_run(harness, params);
    cr_assert_eq(harness->fault, PXR_OK, "fault %d", harness->fault);
}

Test(address, shared_variables_are_offsets_and_dynamic_ones_follow)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".shared .align 4 .b8 first[12];\n.extern .shared .align 8 .b8 rest[];\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %rd1, [p];\n"
        "mov.u32 %r1, first; mov.u64 %rd2, rest; cvt.u32.u64 %r2, %rd2;\n"
        "st.shared.u32 [first+8], 11; st.shared.u32 [rest+4], 22;\n"
        "ld.shared.u32 %r3, [%r1+8]; ld.shared.u32 %r4, [%rd2+4];\n"
        "add.u32 %r5, %r2, 8; ld.shared.u32 %r6, [%r5+-4];\n"
        "st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r6};\nret;\n}\n";
    _Alignas(16) uint32_t out[4] = {0};
    uint64_t param = (uint64_t)out;
    struct harness harness;
    run(text, 16, &param, &harness);
    cr_expect_eq(out[0], harness.layout.shared_static_bytes);
    cr_expect_eq(out[1], 11);
    cr_expect_eq(out[2], 22);
    cr_expect_eq(out[3], 22);
    harness_close(&harness);
}

Test(address, all_parameters_may_be_loaded_before_a_condition_that_guards_one)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 last)\n{\n.reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [p];\nst.global.u64 [%rd1], 1;\nret;\n}\n";
    _Alignas(16) uint64_t out[1] = {0};
    const struct {
        uint64_t out;
        uint32_t n;
        uint32_t last;
    } params = {(uint64_t)out, 0, 0};
    struct harness harness;
    run(text, 0, &params, &harness);
    const char *params_load = strstr(harness.ir, "%params = load ptr");
    cr_assert_not_null(params_load);
    const char *size = strstr(params_load, "!dereferenceable !");
    cr_assert(size != NULL && size < strchr(params_load, '\n'));
    cr_expect_not_null(strstr(harness.ir, "!{i64 16}"));
    cr_expect_eq(out[0], 1);
    harness_close(&harness);
}

Test(address, generic_addresses_reach_shared_and_local_memory)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.shared .align 4 .u32 cell;\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        ".local .align 4 .b8 stack[16];\n.reg .pred %p<5>;\n"
        "ld.param.u64 %rd1, [p];\n"
        "mov.u64 %rd2, cell; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], 5;\n"
        "ld.shared.u32 %r1, [cell]; cvta.to.shared.u64 %rd4, %rd3; ld.shared.u32 %r2, [%rd4];\n"
        "mov.u64 %rd5, stack; cvta.local.u64 %rd6, %rd5; st.u32 [%rd6+4], 6;\n"
        "ld.local.u32 %r3, [stack+4]; ld.local.u32 %r4, [%rd5+4];\n"
        "st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\n"
        "isspacep.shared %p1, %rd3; isspacep.local %p2, %rd6; isspacep.global %p3, %rd1;\n"
        "isspacep.shared %p4, %rd1;\n"
        "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;\n"
        "selp.u32 %r4, 1, 0, %p4; st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, %r4};\n"
        "isspacep.global %p1, %rd3; isspacep.global %p2, %rd6; isspacep.local %p3, %rd1;\n"
        "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;\n"
        "st.global.v4.u32 [%rd1+32], {%r1, %r2, %r3, 0};\nret;\n}\n";
    static _Alignas(16) uint32_t out[12];
    uint64_t param = (uint64_t)out;
    struct harness harness;
    run(text, 0, &param, &harness);
    static const uint32_t expected[12] = {5, 5, 6, 6, 1, 1, 1, 0, 0, 0, 0, 0};
    for (int i = 0; i < 12; i++)
        cr_expect_eq(out[i], expected[i], "%d", i);
    harness_close(&harness);
}

Test(address, module_variables_are_reached_through_slots)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".global .align 4 .u32 counter = 41;\n.const .align 4 .u32 table[3] = {7, 8, 9};\n"
        ".visible .entry k()\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
        "ld.global.u32 %r1, [counter]; ld.const.u32 %r2, [table+8]; add.u32 %r1, %r1, %r2;\n"
        "mov.u64 %rd1, table; ld.const.u32 %r3, [%rd1+4]; add.u32 %r1, %r1, %r3;\n"
        "cvta.const.u64 %rd2, %rd1; isspacep.const %p1, %rd2; selp.u32 %r4, 100, 0, %p1;\n"
        "add.u32 %r1, %r1, %r4; st.global.u32 [counter], %r1;\nret;\n}\n";
    struct harness harness;
    run(text, 0, NULL, &harness);
    cr_expect_eq(*(uint32_t *)harness_var(&harness, "counter"), 41 + 9 + 8 + 100);
    harness_close(&harness);
}

Test(address, kernel_parameters_keep_their_offsets)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u8 a, .param .align 8 .b8 s[12], .param .u64 p)\n{\n"
        ".reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "ld.param.u8 %r1, [a]; ld.param.u32 %r2, [s+8]; ld.param.u64 %rd1, [p];\n"
        "mov.b64 %rd2, s; ld.param.u32 %r3, [%rd2+4];\n"
        "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;\n"
        "ret;\n}\n";
    uint32_t out[3] = {0};
    struct {
        uint8_t a;
        _Alignas(8) uint32_t s[3];
        uint64_t p;
    } params = {200, {1, 2, 3}, (uint64_t)out};
    struct harness harness;
    run(text, 0, &params, &harness);
    cr_expect_eq(out[0], 200);
    cr_expect_eq(out[1], 3);
    cr_expect_eq(out[2], 2);
    harness_close(&harness);
}

Test(address, an_undefined_variable_is_named_with_its_line)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".extern .global .u32 elsewhere;\n.visible .entry k()\n{\n"
                               ".reg .b32 %r<3>;\nld.global.u32 %r1, [elsewhere];\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_expect_eq(harness_open(&harness, text, "k", true, &err), PXR_NOT_FOUND);
    cr_expect(strstr(err.message, "'elsewhere'") != NULL, "%s", err.message);
    cr_expect_eq(err.line, 8);
    harness_close(&harness);
}

Test(address, an_index_register_counts_elements)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".global .u32 words[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n"
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .s32 %s; .reg .u16 %h;\n"
        ".shared .align 8 .u64 tile[4];\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, 3; mov.s32 %s, -1; mov.u16 %h, 5;\n"
        "ld.global.u32 %r2, words[%r1]; ld.global.u32 %r3, words[%s+2]; ld.global.u32 %r4, "
        "words[%h];\n"
        "mov.u32 %r6, tile[%r1+-1]; st.shared.u64 [%r6+8], 99; ld.shared.u32 %r5, [tile+24];\n"
        "st.shared.u64 tile[%r1], 98; ld.shared.u32 %r7, [%r6+8]; sub.u32 %r5, %r5, %r7;\n"
        "st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};\nret;\n}\n";
    _Alignas(16) uint32_t out[4] = {0};
    uint64_t param = (uint64_t)out;
    struct harness harness;
    run(text, 0, &param, &harness);
    cr_expect_eq(out[0], 13);
    cr_expect_eq(out[1], 11);
    cr_expect_eq(out[2], 15);
    cr_expect_eq(out[3], 1);
    harness_close(&harness);
}

Test(address, kernel_parameters_are_in_two_spaces)
{
    static const char text[] =
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .pred %p<5>;\nld.param.u64 %rd1, [p];\n"
        "cvta.param.u64 %rd2, p;\nisspacep.param::entry %p1, %rd2; isspacep.global %p2, %rd2;\n"
        "isspacep.param %p3, %rd1; isspacep.shared::cluster %p4, %rd2;\n"
        "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;\n"
        "selp.u32 %r4, 1, 0, %p4; st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\nret;\n}\n";
    struct harness harness;
    _Alignas(16) uint32_t out[4] = {9, 9, 9, 9};
    uint64_t param = (uint64_t)out;
    run(text, 0, &param, &harness);
    cr_expect_arr_eq(out, ((uint32_t[]){1, 1, 0, 0}), sizeof out);
    harness_close(&harness);
}

Test(address, halves_of_addresses_come_back)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<9>; .reg .b32 %r<9>;\n.shared .b32 mine[4];\n.local .b32 own[4];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, mine; add.u32 %r1, %r1, 8;\n"
        "cvta.shared.u32 %r2, %r1; cvta.to.shared.u32 %r3, %r2; sub.u32 %r4, %r3, %r1;\n"
        "st.global.u32 [%rd1], %r4;\nmov.u32 %r5, own; cvt.u64.u32 %rd2, %r5;\n"
        "st.local.u32 [%rd2+4], 77; cvta.local.u64 %rd3, %rd2; ld.u32 %r6, [%rd3+4];\n"
        "st.global.u32 [%rd1+4], %r6;\nret;\n}\n";
    struct harness harness;
    uint32_t out[2] = {9, 9};
    uint64_t param = (uint64_t)out;
    run(text, 0, &param, &harness);
    cr_expect_eq(out[0], 0);
    cr_expect_eq(out[1], 77);
    harness_close(&harness);
}
