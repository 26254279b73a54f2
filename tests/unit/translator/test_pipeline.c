/* SPDX-License-Identifier: Apache-2.0
 *
 * translator/pipeline: the table, and that broken promises are found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/pipeline.h"
#include "translator/step_names.h"

static LLVMContextRef context;

static LLVMModuleRef parse(const char *text)
{
    char *message = NULL;
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    return module;
}

/* What verifying says of the text behind a step that promises this; NULL: nothing. */
static const char *complaint(const char *text, uint32_t leaves, uint32_t marks)
{
    static struct pxr_error err;
    struct tr_step step = {.name = "tested", .promises.leaves = leaves};
    context = LLVMContextCreate();
    LLVMModuleRef module = parse(text);
    enum pxr_status status = tr_verify_step(module, &step, marks, &err);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status == PXR_OK ? NULL : err.message;
}

#define KERNEL(body) "define void @ptxrun_kernel(ptr %p) {\nentry:\n" body "  ret void\n}\n"

Test(pipeline, steps_have_names_of_their_own_and_something_to_do)
{
    for (uint32_t s = 0; s < TR_STEP_COUNT; s++) {
        const struct tr_step *step = &tr_steps[s];
        for (uint32_t other = 0; other < s; other++)
            cr_expect_str_neq(step->name, tr_steps[other].name);
        cr_expect_neq(step->run != NULL, step->passes != NULL, "%s", step->name);
        cr_expect(!step->is_of_kernel || step->passes != NULL, "%s", step->name);
        cr_expect_not_null(step->condition, "%s", step->name);
        cr_expect(s == 0 || step->stage >= tr_steps[s - 1].stage, "%s", step->name);
    }
}

Test(pipeline, what_names_no_step_is_refused_with_the_names_there_are)
{
    static const char *const good[] = {NULL, "", "vectorise", "unroll,prefetch,barriers"};
    static const char *const bad[] = {"vectorise_", "emit", "all", "unroll,,facts",
                                      "unroll,vector"};
    struct pxr_error err;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect_eq(tr_check_skip(good[i], &err), PXR_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(tr_check_skip(bad[i], &err), PXR_INVALID_ARGUMENT, "%s", bad[i]);
    cr_expect_not_null(
        strstr(err.message,
               "'vector' is no step that can be left out; there are call-helpers, low-bits, "));
    cr_expect_eq(tr_check_dump("ptx,after:emit,after:all", &err), PXR_OK);
    cr_expect_eq(tr_check_dump("after:prefetch", &err), PXR_INVALID_ARGUMENT, "inside vectorise");
    cr_expect_eq(tr_check_dump("asm,after:unrol", &err), PXR_INVALID_ARGUMENT);
    cr_expect_not_null(strstr(err.message, "'unrol' is no step; there are emit, "));
}

Test(pipeline, an_honest_module_passes)
{
    uint32_t all = TR_FORM_LINKED | TR_FORM_DEFINED | TR_FORM_SREGS | TR_FORM_LOOPS | TR_FORM_BYTES;
    cr_expect_null(complaint(KERNEL("  store i32 0, ptr %p\n"), all, 0));
}

Test(pipeline, a_mark_that_no_step_makes_is_found)
{
    static const char text[] = KERNEL("  store i32 0, ptr %p, !ptxrun.ahead !0\n") "!0 = !{}\n";
    const char *found = complaint(text, 0, TR_MARKS(LINE));
    cr_assert_not_null(found);
    cr_expect_not_null(strstr(found, "'tested' does not keep its promise: ptxrun.ahead"), "%s",
                       found);
    cr_expect_null(complaint(text, 0, TR_MARKS(AHEAD)));
}

Test(pipeline, what_is_not_as_promised_is_found)
{
    static const struct {
        uint32_t form;
        const char *text;
        const char *word;
    } rows[] = {
        {TR_FORM_DEFINED, KERNEL("  store i32 poison, ptr %p\n"), "undefined"},
        {TR_FORM_LINKED,
         "declare i32 @rt_fns(i32, i32, i32)\n" KERNEL(
             "  %r = call i32 @rt_fns(i32 1, i32 0, i32 1)\n"),
         "int"},
        {TR_FORM_SREGS,
         "declare i32 @rt_sreg_tid_x(ptr)\n" KERNEL("  %t = call i32 @rt_sreg_tid_x(ptr %p)\n"),
         "rt_sreg_tid_x"},
        {TR_FORM_BYTES, KERNEL("  store i1 true, ptr %p\n"), "bit"},
        {TR_FORM_BYTES, KERNEL("  %v = load i1, ptr %p\n"), "bit"},
        {TR_FORM_LOOPS,
         "define void @ptxrun_kernel(i1 %a) {\nentry:\n  br i1 %a, label %head, label %other\n"
         "other:\n  br label %head\nhead:\n  br i1 %a, label %head, label %end\n"
         "end:\n  ret void\n}\n",
         "loop"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *found = complaint(rows[i].text, rows[i].form, 0);
        cr_assert_not_null(found, "%zu", i);
        cr_expect_not_null(strstr(found, rows[i].word), "%s", found);
        cr_expect_null(complaint(rows[i].text, 0, 0), "%zu", i);
    }
}

static bool refuse(void *data, const char *name)
{
    (void)name;
    (*(unsigned *)data)++;
    return false;
}

static void expect_required(void *data, const struct tr_step *step, LLVMModuleRef module)
{
    (void)data;
    (void)module;
    cr_expect_eq(step->kind, TR_STEP_REQUIRED, "%s", step->name);
}

/* An observer may leave out every step but the required ones. */
Test(pipeline, observers_decide_on_optional_steps)
{
    unsigned asked = 0;
    struct tr_budget budget = {0};
    struct pxr_error err;
    context = LLVMContextCreate();
    struct tr_compilation compilation = {
        .module = parse(KERNEL("")),
        .budget = &budget,
        .observer = {.data = &asked, .may_run = refuse, .before = expect_required}};
    cr_expect_eq(tr_make_code(&compilation, PXR_COLLAPSE_PRECISE, &err), PXR_OK, "%s", err.message);
    cr_expect_gt(asked, 0);
    LLVMDisposeModule(compilation.module);
    LLVMContextDispose(context);
}

/* ---- rows of accesses ---- */

/* A kernel with so many lines of this text. */
static LLVMModuleRef parse_lines(const char *line, unsigned count)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    fputs("declare void @llvm.masked.store.v4i64.p0(<4 x i64>, ptr, <4 x i1>)\n"
          "define void @ptxrun_kernel(ptr %p) {\n",
          file);
    for (unsigned i = 0; i < count; i++)
        fputs(line, file);
    fputs("  ret void\n}\n", file);
    fclose(file);
    LLVMModuleRef module = parse(text);
    free(text);
    return module;
}

static bool leave_out(void *data, const char *name)
{
    (void)data;
    (void)name;
    return false;
}

/* The most of these instructions that the code generator gets in a row without a fence. */
static unsigned longest_row(const char *line, unsigned count)
{
    context = LLVMContextCreate();
    LLVMModuleRef module = parse_lines(line, count);
    struct tr_budget budget = {0};
    struct pxr_error err;
    struct tr_compilation compilation = {
        .module = module, .budget = &budget, .observer = {.may_run = leave_out}};
    cr_expect_eq(tr_make_code(&compilation, PXR_COLLAPSE_PRECISE, &err), PXR_OK, "%s", err.message);
    unsigned row = 0, longest = 0;
    LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "ptxrun_kernel"));
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); LLVMIsATerminatorInst(inst) == NULL;
         inst = LLVMGetNextInstruction(inst)) {
        row = LLVMIsAFenceInst(inst) != NULL ? 0 : row + 1;
        longest = row > longest ? row : longest;
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return longest;
}

#define MASKED_STORE(mask)                                                                         \
    "  call void @llvm.masked.store.v4i64.p0(<4 x i64> zeroinitializer, ptr %p, <4 x i1> " mask    \
    ")\n"

/* The code generator takes time for the cube of their number. */
Test(pipeline, long_rows_of_stores_are_parted)
{
    static const char store[] = "  store i16 7, ptr %p\n";
    static const char two[] = MASKED_STORE("<i1 true, i1 false, i1 true, i1 false>");
    static const char whole[] = MASKED_STORE("splat (i1 true)");
    cr_expect_eq(longest_row(store, 60), 60);
    cr_expect_eq(longest_row(store, 1000), 64);
    cr_expect_eq(longest_row(two, 1000), 32);
    cr_expect_eq(longest_row(whole, 1000), 64);
}

/* And for the square of the number of vectors that are loaded. */
Test(pipeline, long_rows_of_loads_are_parted)
{
    static const char load[] = "  load <16 x i8>, ptr %p\n";
    static const char scalar[] = "  load i32, ptr %p\n";
    static const char both[] = "  load <16 x i8>, ptr %p\n  store i16 7, ptr %p\n";
    cr_expect_eq(longest_row(load, 120), 120);
    cr_expect_eq(longest_row(load, 1000), 128);
    cr_expect_eq(longest_row(scalar, 1000), 1000);
    cr_expect_eq(longest_row(both, 1000), 129); /* as many stores as may be, and a load more */
}

/* ---- passes of the kernel alone ---- */

/* What it takes to prepare the step function for a vectoriser that never sees it is saved. */
Test(pipeline, the_step_function_is_not_prepared_for_vectors)
{
    static const char text[] =
        "define internal i32 @ptxrun_step(ptr %t, i32 %e) {\n  %twice = add i32 %e, 0\n"
        "  ret i32 %twice\n}\n" KERNEL("  %same = ptrtoint ptr %p to i64\n"
                                       "  %sum = add i64 %same, 0\n"
                                       "  store i64 %sum, ptr %p\n"
                                       "  %used = call i32 @ptxrun_step(ptr %p, i32 0)\n");
    const struct tr_step *step = &tr_steps[TR_STEP_VECTOR_PREPARE];
    struct pxr_error err;
    context = LLVMContextCreate();
    LLVMModuleRef module = parse(text);
    cr_assert(step->is_of_kernel);
    cr_assert_eq(tr_run_function_passes(LLVMGetNamedFunction(module, TR_KERNEL_NAME), step->passes,
                                        NULL, &err),
                 PXR_OK, "%s", err.message);
    char *made = LLVMPrintModuleToString(module);
    cr_expect_not_null(strstr(made, "%twice"), "%s", made);
    cr_expect_null(strstr(made, "%sum"), "%s", made);
    LLVMDisposeMessage(made);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* ---- conversions that saturate ---- */

/* Lane by lane they would be most of a kernel's code. */
Test(pipeline, saturating_conversions_of_vectors_are_not_left_to_the_code_generator)
{
    static const char text[] =
        "declare <16 x i32> @llvm.fptosi.sat.v16i32.v16f32(<16 x float>)\n"
        "declare <8 x i64> @llvm.fptoui.sat.v8i64.v8f64(<8 x double>)\n" KERNEL(
            "  %f = load <16 x float>, ptr %p\n"
            "  %i = call <16 x i32> @llvm.fptosi.sat.v16i32.v16f32(<16 x float> %f)\n"
            "  store volatile <16 x i32> %i, ptr %p\n"
            "  %d = load <8 x double>, ptr %p\n"
            "  %u = call <8 x i64> @llvm.fptoui.sat.v8i64.v8f64(<8 x double> %d)\n"
            "  store volatile <8 x i64> %u, ptr %p\n");
    struct tr_budget budget = {0};
    struct pxr_error err;
    context = LLVMContextCreate();
    struct tr_compilation compilation = {.module = parse(text), .budget = &budget};
    cr_assert_eq(tr_make_code(&compilation, PXR_COLLAPSE_VECTOR, &err), PXR_OK, "%s", err.message);
    char *made = LLVMPrintModuleToString(compilation.module);
    cr_expect_null(strstr(made, ".sat."), "%s", made);
    cr_expect_not_null(strstr(made, "fptosi <16 x float>"), "%s", made);
    LLVMDisposeMessage(made);
    LLVMDisposeModule(compilation.module);
    LLVMContextDispose(context);
}
