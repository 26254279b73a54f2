/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernels may run in a mode in which the CPU flushes subnormals.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "ptx/flush.h"

/* Whether a kernel of these instructions may; halves: whether the CPU converts f16. */
static bool is_flushed_with(const char *insts, bool halves)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_100a\n.address_size 64\n"
             ".func twice(.reg .f32 %%x) { .reg .f32 %%y; add.f32 %%y, %%x, %%x; ret; }\n"
             ".entry k(.param .u64 p) {\n"
             ".reg .f32 %%f<5>; .reg .f64 %%d<5>; .reg .b16 %%h<5>; .reg .b32 %%r<5>;"
             ".reg .b64 %%rd<5>; .reg .pred %%p<5>;\n%s\nret;\n}\n",
             insts);
    struct ptx_module *module;
    struct pxr_error err = {0};
    cr_assert_eq(ptx_parse(pxr_str_from(text), "k.ptx", &module, &err), PXR_OK, "%s: %s", insts,
                 err.message);
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    struct ptx_kernel_layout layout = {0};
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, &err), PXR_OK, "%s", err.message);
    bool is = ptx_is_flushed(kernel, &layout, halves);
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
    return is;
}

static bool is_flushed(const char *insts)
{
    return is_flushed_with(insts, true);
}

#define FTZ "mul.rn.ftz.f32 %f1, %f2, %f3; "

/* Whether kernels with each of them and one with .ftz may. */
static void expect_beside_flushes(const char *const *others, size_t count, bool wanted)
{
    for (size_t i = 0; i < count; i++) {
        char insts[256];
        snprintf(insts, sizeof insts, "%s%s", FTZ, others[i]);
        cr_expect_eq(is_flushed(insts), wanted, "%s", others[i]);
    }
}

Test(flush, kernels_without_flushes_need_none)
{
    cr_expect(!is_flushed("add.s32 %r1, %r2, %r3;"));
    cr_expect(!is_flushed("mul.f32 %f1, %f2, %f3;"));
    cr_expect(is_flushed(FTZ));
}

Test(flush, one_instruction_that_keeps_subnormals_is_enough)
{
    static const char *const keepers[] = {
        "add.f32 %f1, %f2, %f3;",
        "fma.rn.f32 %f1, %f2, %f3, %f4;",
        "setp.lt.f32 %p1, %f1, %f2;",
        "min.f32 %f1, %f2, %f3;",
        "ex2.approx.f32 %f1, %f2;",
        "cvt.rmi.s32.f32 %r1, %f1;",
        "cvt.f64.f32 %d1, %f1;",
        "add.f64 %d1, %d2, %d3;",
        "rsqrt.approx.ftz.f64 %d1, %d2;",
        "fma.rn.bf16 %h1, %h2, %h3, %h4;",
        "cvt.f32.bf16 %f1, %h1;",
        "atom.shared.add.f32 %f1, [%rd1], %f2;",
        "atom.add.f32 %f1, [%rd1], %f2;",
        "atom.global.add.f64 %d1, [%rd1], %d2;",
        "redux.sync.min.f32 %f1, %f2, 0xffffffff;",
        "slct.f32.f32 %f1, %f2, %f3, %f4;",
        "call twice, (%f1);",
    };
    expect_beside_flushes(keepers, sizeof keepers / sizeof *keepers, false);
}

/* The CPU's mode rounds as the thread does, and the helpers of other modes count on subnormals. */
Test(flush, directed_rounding_is_done_by_hand)
{
    cr_expect(!is_flushed("add.rz.ftz.f32 %f1, %f2, %f3;"));
    cr_expect(!is_flushed("fma.rp.ftz.f32 %f1, %f2, %f3, %f4;"));
    cr_expect(!is_flushed("rcp.rm.ftz.f32 %f1, %f2;"));
}

Test(flush, what_only_moves_or_has_no_subnormals_may_be_there)
{
    static const char *const others[] = {
        "ld.global.f32 %f1, [%rd1];",
        "ld.global.f64 %d1, [%rd1];",
        "st.global.v2.f32 [%rd1], {%f1, %f2};",
        "mov.b32 %r1, %f1;",
        "mov.f64 %d1, %d2;",
        "selp.f32 %f1, %f2, %f3, %p1;",
        "copysign.f32 %f1, %f2, %f3;",
        "testp.subnormal.f32 %p1, %f1;",
        "shfl.sync.down.b32 %r1, %r2, 1, 31, 0xffffffff;",
        "cvt.rn.f32.s32 %f1, %r1;",
        "cvt.rzi.s32.f32 %r1, %f1;",
        "cvt.rni.s32.f32 %r1, %f1;",
        "cvt.rmi.ftz.s32.f32 %r1, %f1;",
        "cvt.f32.f16 %f1, %h1;",
        "cvt.rn.f16.f32 %h1, %f1;",
        "cvt.rn.bf16.f32 %h1, %f1;",
        "fma.rn.f16 %h1, %h2, %h3, %h4;",
        "tanh.approx.f32 %f1, %f2;",
        "setp.lt.ftz.f32 %p1, %f1, %f2;",
        "div.full.ftz.f32 %f1, %f2, %f3;",
        "atom.global.add.f32 %f1, [%rd1], %f2;",
        "add.rn.ftz.f32x2 %rd1, %rd2, %rd3;",
    };
    expect_beside_flushes(others, sizeof others / sizeof *others, true);
}

/* Without an instruction for it f16 becomes f32 by arithmetic on subnormals. */
Test(flush, halves_need_a_cpu_that_converts_them)
{
    cr_expect(is_flushed_with(FTZ "cvt.f32.f16 %f1, %h1;", true));
    cr_expect(!is_flushed_with(FTZ "cvt.f32.f16 %f1, %h1;", false));
    cr_expect(is_flushed_with(FTZ, false));
}
