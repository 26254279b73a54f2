/* SPDX-License-Identifier: Apache-2.0
 *
 * module/flushes.c: what is flushed by arithmetic is flushed by nothing else.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

#define MARK(result, value) "  %" result " = call float @llvm.canonicalize.f32(float %" value ")\n"

/* The marks that are left in a function of these lines, which end with a mark %r. */
static unsigned marks_left(const char *lines)
{
    char text[2048];
    snprintf(text, sizeof text,
             "declare float @llvm.canonicalize.f32(float)\n"
             "declare float @llvm.fma.f32(float, float, float)\n"
             "declare float @llvm.fabs.f32(float)\n"
             "define float @f(ptr %%p, float %%x, float %%y, i1 %%c, i32 %%i, half %%h) {\n"
             "%s  ret float %%r\n}\n",
             lines);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_end_flushes(module);
    char *result = LLVMPrintModuleToString(module);
    unsigned marks = 0;
    for (const char *at = result; (at = strstr(at, "call float @llvm.canon")) != NULL; at++)
        marks++;
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return marks;
}

Test(flushes, arithmetic_needs_no_mark)
{
    static const char *const done[] = {
        "  %a = fmul float %x, %y\n" MARK("r", "a"),
        "  %a = call float @llvm.fma.f32(float %x, float %y, float %x)\n" MARK("r", "a"),
        "  %a = fdiv float 1.0, %y\n" MARK("r", "a"),
        "  %a = fadd float %x, %y\n  %b = fneg float %a\n" MARK("r", "b"),
        "  %a = fadd float %x, %y\n  %b = call float @llvm.fabs.f32(float %a)\n" MARK("r", "b"),
        "  %a = fadd float %x, %y\n  %b = select i1 %c, float %a, float 1.0\n" MARK("r", "b"),
        "  %a = sitofp i32 %i to float\n" MARK("r", "a"),
        "  %a = fpext half %h to float\n" MARK("r", "a"),
    };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        cr_expect_eq(marks_left(done[i]), 0, "%s", done[i]);
}

/* x * 1.0 is x, once LLVM's passes have seen it. */
Test(flushes, what_no_arithmetic_has_made_keeps_it)
{
    static const char *const left[] = {
        MARK("r", "x"),
        "  %a = load float, ptr %p\n" MARK("r", "a"),
        "  %a = bitcast i32 %i to float\n" MARK("r", "a"),
        "  %a = fadd float %x, %y\n  %b = select i1 %c, float %a, float %x\n" MARK("r", "b"),
        "  %a = fadd float %x, %y\n"
        "  %b = select i1 %c, float %a, float 0x3800000000000000\n" MARK("r", "b"),
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        cr_expect_eq(marks_left(left[i]), 1, "%s", left[i]);
}

Test(flushes, a_mark_behind_a_mark_is_enough)
{
    cr_expect_eq(marks_left(MARK("a", "x") MARK("r", "a")), 1);
}

/* LLVM 22 has no code for two. */
Test(flushes, two_floats_are_flushed_as_four)
{
    static const char text[] = "declare <2 x float> @llvm.canonicalize.v2f32(<2 x float>)\n"
                               "define <2 x float> @f(<2 x float> %x) {\n"
                               "  %r = call <2 x float> @llvm.canonicalize.v2f32(<2 x float> %x)\n"
                               "  ret <2 x float> %r\n}\n";
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_end_flushes(module);
    char *result = LLVMPrintModuleToString(module);
    cr_expect(strstr(result, "call <4 x float> @llvm.canonicalize.v4f32") != NULL, "%s", result);
    cr_expect(strstr(result, "call <2 x float>") == NULL, "%s", result);
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}
