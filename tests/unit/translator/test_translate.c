/* SPDX-License-Identifier: Apache-2.0
 *
 * The module as a whole: names, lines, refusals, nothing absolute, no flags that PTX does not
 * grant.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "jit/llvm_target.h"
#include "translator/pipeline.h"

static const char text[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.global .align 4 .u32 cell;\n"
    ".func (.param .b32 r) half(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "shr.u32 %r2, %r1, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry k()\n{\n.reg .b32 %total<4>; .reg .f32 %f<5>;\n"
    "ld.global.u32 %total1, [cell];\n"
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %total1;\ncall (b), half, (a);\n"
    "ld.param.b32 %total2, [b];\n}\n"
    "cvt.rn.f32.u32 %f1, %total2;\nmul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;\n"
    "cvt.rzi.u32.f32 %total3, %f3;\nst.global.u32 [cell], %total3;\nret;\n}\n";

static void open_text(struct harness *harness)
{
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(harness, text, "k", true, &err), PXR_OK, "%s", err.message);
}

Test(translate, values_are_called_after_their_registers)
{
    struct harness harness;
    open_text(&harness);
    cr_expect(strstr(harness.ir, "%total1 = load i32") != NULL, "%s", harness.ir);
    cr_expect(strstr(harness.ir, "define void @ptxrun_kernel(ptr %ctx)") != NULL);
    cr_expect(strstr(harness.ir, "define internal void @ptx.half(ptr") != NULL);
    harness_close(&harness);
}

Test(translate, every_instruction_has_its_line)
{
    struct harness harness;
    open_text(&harness);
    cr_expect(strstr(harness.ir, "!\"Dwarf Version\", i32 5") != NULL);
    cr_expect(strstr(harness.ir, "DIFile(filename: \"test.ptx\"") != NULL);
    /* the multiplication, on line 25 */
    cr_expect(strstr(harness.ir, "!DILocation(line: 25,") != NULL, "%s", harness.ir);
    harness_close(&harness);
}

Test(translate, arithmetic_is_neither_contracted_nor_fast)
{
    struct harness harness;
    open_text(&harness);
    static const char *const words[] = {"fast",     "contract", "reassoc",
                                        "inbounds", "!tbaa",    "fmuladd"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(harness.ir, words[i]) == NULL, "%s in %s", words[i], harness.ir);
    harness_run(&harness, NULL);
    cr_expect_eq(*(uint32_t *)harness_var(&harness, "cell"), 0);
    *(uint32_t *)harness_var(&harness, "cell") = 7;
    harness_run(&harness, NULL);
    cr_expect_eq(*(uint32_t *)harness_var(&harness, "cell"), 12);
    harness_close(&harness);
}

Test(translate, the_same_kernel_gives_the_same_module)
{
    struct harness first, second;
    open_text(&first);
    open_text(&second);
    cr_expect_str_eq(first.ir, second.ir);
    cr_expect(strstr(first.ir, "inttoptr (i64") == NULL, "a constant address: %s", first.ir);
    harness_close(&first);
    harness_close(&second);
}

Test(translate, helpers_are_inlined_and_leave_no_trace)
{
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(
        harness_open(&harness,
                     ".version 8.0\n.target sm_75\n.address_size 64\n"
                     ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;.reg .f32 %f<3>;\n"
                     "ld.param.u64 %rd1, [p]; ld.global.f32 %f1, [%rd1];\n"
                     "atom.add.f32 %f2, [%rd1], %f1;\nret;\n}\n",
                     "k", false, &err),
        PXR_OK, "%s", err.message);
    cr_expect(strstr(harness.ir, "@rt_atomic") == NULL, "%s", harness.ir);
    cr_expect(strstr(harness.ir, "cmpxchg") != NULL);
    cr_expect(strstr(harness.ir, "target-features") == NULL);
    cr_expect(strstr(harness.ir, "PIC Level") == NULL, "%s", harness.ir);
    harness_close(&harness);
}

/* Nobody else accesses a block's shared memory: no loop of attempts is needed there. */
Test(translate, additions_to_shared_memory_are_a_load_and_a_store)
{
    static const char *const types[] = {"u32", "u64", "f32", "f64"};
    char ptx[512];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct harness harness;
        struct pxr_error err = {0};
        snprintf(ptx, sizeof ptx,
                 ".version 8.0\n.target sm_75\n.address_size 64\n"
                 ".visible .entry k()\n{\n.reg .%s %%v<3>; .shared .align 8 .b8 s[8];\n"
                 "ld.shared.%s %%v1, [s]; atom.shared.add.%s %%v2, [s], %%v1;\n"
                 "red.shared.add.%s [s], %%v2;\nret;\n}\n",
                 types[i], types[i], types[i], types[i]);
        cr_assert_eq(harness_open(&harness, ptx, "k", false, &err), PXR_OK, "%s", err.message);
        cr_expect(strstr(harness.ir, "store volatile") != NULL, "%s", harness.ir);
        cr_expect(strstr(harness.ir, "cmpxchg") == NULL, "%s", harness.ir);
        harness_close(&harness);
    }
}

/* Lanes of a loop of attempts with the same address would nearly all attempt theirs in vain. */
Test(translate, sums_of_floats_in_global_memory_are_one_instruction_each)
{
    static const char *const types[] = {"f32", "f64"};
    char ptx[512];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct harness harness;
        struct pxr_error err = {0};
        snprintf(ptx, sizeof ptx,
                 ".version 8.0\n.target sm_75\n.address_size 64\n"
                 ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<2>;.reg .%s %%v<2>;\n"
                 "ld.param.u64 %%rd1, [p]; ld.global.%s %%v1, [%%rd1];\n"
                 "red.global.add.%s [%%rd1], %%v1;\nret;\n}\n",
                 types[i], types[i], types[i]);
        cr_assert_eq(harness_open(&harness, ptx, "k", false, &err), PXR_OK, "%s", err.message);
        cr_expect(strstr(harness.ir, "atomicrmw fadd") != NULL, "%s", harness.ir);
        cr_expect(strstr(harness.ir, "cmpxchg") == NULL, "%s", harness.ir);
        harness_close(&harness);
    }
}

Test(translate, an_unsupported_instruction_is_refused_by_name)
{
    struct pxr_error err = {0};
    enum pxr_status status =
        harness_eval_status("mov.u32 %r1, 1;\ntex.2dms.v4.u32.s32 {%r1, %r1, %r1, %r1}, "
                            "[%rd1, {%r1, %r1, %r1, %r1}];",
                            &err);
    cr_expect_eq(status, PXR_UNSUPPORTED, "%s", err.message);
    cr_expect(strstr(err.message, "'tex.2dms.v4.u32.s32'") != NULL, "%s", err.message);
    cr_expect(strstr(err.message, "kernel 'eval'") != NULL, "%s", err.message);
    cr_expect(strstr(err.message, "test.ptx") != NULL, "%s", err.message);
    cr_expect_gt(err.line, 0);
}

Test(translate, code_behind_a_terminator_is_ignored)
{
    uint32_t out = 0;
    harness_eval("st.u32 [%out], 1;\nbra over;\nst.u32 [%out], 2;\nover:\n", NULL, &out);
    cr_expect_eq(out, 1);
}

/* The kernel's code of one thread with checks of barriers. */
static char *with_meetings(const char *body)
{
    char ptx[512];
    struct pxr_error err = {0};
    struct ptx_module *module;
    struct ptx_kernel_layout layout;
    struct jit_target *target;
    LLVMModuleRef translated = NULL;
    LLVMContextRef context = LLVMContextCreate();
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n%s\nret;\n}\n",
             body);
    cr_assert_eq(ptx_parse(pxr_str_from(ptx), "test.ptx", &module, &err), PXR_OK);
    const struct ptx_func *kernel = ptx_find_entry(module, "k");
    cr_assert_eq(ptx_layout_kernel(module, kernel, &layout, &err), PXR_OK);
    cr_assert_eq(jit_target_acquire(&target, &err), PXR_OK);
    struct tr_options options = {
        .checks_meetings = true, .triple = target->triple, .data_layout = target->data_layout};
    cr_assert_eq(tr_translate_kernel(module, kernel, &layout, &options, context, &translated, &err),
                 PXR_OK, "%s", err.message);
    char *ir = LLVMPrintModuleToString(translated);
    LLVMDisposeModule(translated);
    LLVMContextDispose(context);
    jit_target_release(target);
    ptx_layout_fini(&layout);
    ptx_module_destroy(module);
    return ir;
}

Test(translate, ends_are_told_where_somebody_may_wait_for_them)
{
    static const struct {
        const char *body;
        bool is_told;
    } cases[] = {
        {"", false},
        {"bar.sync 0;", true},
        {"bar.warp.sync 0xffffffff;", true},
        {".shared .u32 __nvptx_uni[32]; .reg .u64 %d; mov.u64 %d, __nvptx_uni; bar.sync 0;",
         false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *ir = with_meetings(cases[i].body);
        cr_expect_eq(strstr(ir, "@rt_meet_end") != NULL, cases[i].is_told, "%s", ir);
        LLVMDisposeMessage(ir);
    }
}
