/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of races in the program of a block: lanes of a vector tell of their accesses together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "jit/llvm_target.h"
#include "ptx/ptx.h"
#include "translator/pipeline.h"

/* A thread's element of each of two arrays, by its number in a block of three dimensions. */
static const char copies[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
    ".reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .f32 %f;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; ld.param.u32 %r4, [n];\n"
    "setp.ge.s32 %p, %r1, %r4;\n@%p ret;\n"
    "mad.lo.s32 %r5, %r3, 4, %r2; mad.lo.s32 %r6, %r5, 64, %r1;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mul.wide.s32 %d3, %r6, 4;\n"
    "add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n"
    "ld.global.f32 %f, [%d4];\nst.global.f32 [%d5], %f;\nret;\n}\n";

/* Each thread follows a list of its own: without checks vectors would gain nothing. */
static const char lists[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 in)\n{\n"
    ".reg .pred %p; .reg .b32 %r; .reg .b64 %d<4>;\n"
    "mov.u32 %r, %tid.x; ld.param.u64 %d1, [in];\n"
    "mul.wide.u32 %d2, %r, 8; add.s64 %d1, %d1, %d2; ld.global.u64 %d3, [%d1];\n"
    "next:\nst.global.u64 [%d3+8], %d1;\nld.global.u64 %d3, [%d3];\n"
    "setp.ne.u64 %p, %d3, 0;\n@%p bra next;\nret;\n}\n";

static LLVMModuleRef translate(const char *text, const struct jit_target *target,
                               LLVMContextRef context)
{
    struct pxr_error err = {0};
    struct ptx_module *ptx;
    struct ptx_kernel_layout layout;
    LLVMModuleRef module = NULL;
    cr_assert_eq(ptx_parse(pxr_str_from(text), "test.ptx", &ptx, &err), PXR_OK, "%s", err.message);
    const struct ptx_func *kernel = ptx_find_entry(ptx, "k");
    cr_assert_eq(ptx_layout_kernel(ptx, kernel, &layout, &err), PXR_OK, "%s", err.message);
    struct tr_options options = {
        .checks_races = true, .triple = target->triple, .data_layout = target->data_layout};
    cr_assert_eq(tr_translate_kernel(ptx, kernel, &layout, &options, context, &module, &err),
                 PXR_OK, "%s", err.message);
    ptx_layout_fini(&layout);
    ptx_module_destroy(ptx);
    return module;
}

/* The program of a block of this shape. LLVMDisposeMessage. */
static char *block_of(const char *text, const struct tr_facts *facts)
{
    struct pxr_error err = {0};
    struct jit_target *target;
    LLVMContextRef context = LLVMContextCreate();
    cr_assert_eq(jit_target_acquire(&target, &err), PXR_OK, "%s", err.message);
    struct tr_target vectors = tr_target_find("", 512);
    struct tr_budget budget = {.effort = TR_EFFORT_FULL};
    struct tr_compilation compilation = {
        .module = translate(text, target, context), .budget = &budget, .machine = target->machine};
    struct tr_collapse_options options = {
        .collapse = PXR_COLLAPSE_AUTO, .is_vector = true, .target = &vectors};
    struct tr_collapsed collapsed;
    cr_assert_eq(tr_make_block(&compilation, facts, &options, &collapsed, &err), PXR_OK, "%s",
                 err.message);
    char *ir = LLVMPrintModuleToString(compilation.module);
    free(collapsed.explanation);
    LLVMDisposeModule(compilation.module);
    tr_compilation_fini(&compilation);
    LLVMContextDispose(context);
    jit_target_release(target);
    return ir;
}

static bool calls(const char *ir, const char *function)
{
    char text[64];
    snprintf(text, sizeof text, "call void @%s(", function);
    return strstr(ir, text) != NULL;
}

static void expect_together(const char *ir)
{
    cr_expect(calls(ir, "rt_race_row") || calls(ir, "rt_race_scatter"), "%s", ir);
    cr_expect_not(calls(ir, "rt_race_access"), "%s", ir);
}

Test(race_rows, lanes_tell_together_whatever_the_shape_of_the_block_is)
{
    static const struct tr_facts shapes[] = {
        {.block = {64, 1, 1}}, {.block = {64, 4, 1}}, {.block = {64, 4, 2}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char *ir = block_of(copies, &shapes[i]);
        expect_together(ir);
        LLVMDisposeMessage(ir);
    }
}

Test(race_rows, lanes_tell_together_where_vectors_gain_nothing_else)
{
    static const struct tr_facts facts = {.block = {64, 1, 1}};
    char *ir = block_of(lists, &facts);
    expect_together(ir);
    LLVMDisposeMessage(ir);
}
