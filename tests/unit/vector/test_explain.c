/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of a loop over threads, by the debug locations in its turn. How good vectors
 * are by the estimate is not looked at: only that it is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/vector.h"

#define LINES 40 /* !101 is line 1 */

static const char before[] =
    "declare void @callee(i32)\n"
    "define void @kernel(ptr noalias %a, ptr noalias %b, i32 %n) !dbg !10 {\n"
    "entry:\n  br label %iteration\n"
    "iteration:\n  %x = phi i32 [ 0, %entry ], [ %x.next, %latch ]\n  %x64 = sext i32 %x to i64\n";

static const char after[] =
    "latch:\n"
    "  %x.next = add nuw nsw i32 %x, 1\n  %x.more = icmp ult i32 %x.next, 256\n"
    "  br i1 %x.more, label %iteration, label %done\n"
    "done:\n  ret void\n}\n"
    "!llvm.module.flags = !{!0}\n!llvm.dbg.cu = !{!1}\n"
    "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)\n"
    "!2 = !DIFile(filename: \"k.ptx\", directory: \"\")\n"
    "!3 = !DISubroutineType(types: !4)\n!4 = !{}\n"
    "!10 = distinct !DISubprogram(name: \"kernel\", scope: !2, file: !2, type: !3, unit: !1,\n"
    "  spFlags: DISPFlagDefinition)\n";

static char *make_text(const char *iteration)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fprintf(out, "%s%s%s", before, iteration, after);
    for (int line = 1; line <= LINES; line++)
        fprintf(out, "!%d = !DILocation(line: %d, scope: !10)\n", 100 + line, line);
    fclose(out);
    return text;
}

static LLVMModuleRef parse(LLVMContextRef context, const char *iteration)
{
    char *text = make_text(iteration);
    LLVMModuleRef module = parse_ir(context, text);
    free(text);
    return module;
}

/* malloc. The latch is the block before the last. */
static char *explain_without(const char *iteration, uint32_t jam, bool is_forced, uint32_t skipped)
{
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {
        .width = 16, .jam = jam, .target = &target, .is_forced = is_forced, .skipped = skipped};
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, iteration);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    tr_mark_threads(LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function)), 'x');
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return report.explanation;
}

static char *explain_jammed(const char *iteration, uint32_t jam, bool is_forced)
{
    return explain_without(iteration, jam, is_forced, 0);
}

static char *explain(const char *iteration, bool is_forced)
{
    return explain_jammed(iteration, 2, is_forced);
}

/* Two lines that begin so, and then exactly these. */
static void expect(const char *explanation, const char *choice, const char *rest)
{
    static const char estimate[] = "    estimate: ";
    const char *second = strchr(explanation, '\n');
    cr_assert_not_null(second, "%s", explanation);
    const char *third = strchr(second + 1, '\n');
    cr_assert_not_null(third, "%s", explanation);
    cr_expect_eq(strncmp(explanation, choice, strlen(choice)), 0, "%s", explanation);
    cr_expect_eq(strncmp(second + 1, estimate, strlen(estimate)), 0, "%s", explanation);
    cr_expect_str_eq(third + 1, rest, "%s", explanation);
}

Test(explain, accesses_are_named_by_their_shape)
{
    char *said =
        explain("  %u = load float, ptr %b, align 4, !dbg !103\n"
                "  %p = getelementptr float, ptr %b, i64 %x64, !dbg !104\n"
                "  %c = load float, ptr %p, align 4, !dbg !104\n"
                "  %p1 = getelementptr i8, ptr %p, i64 4, !dbg !105\n"
                "  %c1 = load float, ptr %p1, align 4, !dbg !105\n"
                "  %back = sub i64 0, %x64, !dbg !106\n"
                "  %pr = getelementptr float, ptr %b, i64 %back, !dbg !106\n"
                "  %r = load float, ptr %pr, align 4, !dbg !106\n"
                "  %x2 = shl i64 %x64, 1, !dbg !107\n"
                "  %p2 = getelementptr float, ptr %b, i64 %x2, !dbg !107\n"
                "  %s = load float, ptr %p2, align 4, !dbg !107\n"
                "  %i = fptosi float %s to i64, !dbg !108\n"
                "  %pg = getelementptr float, ptr %b, i64 %i, !dbg !109\n"
                "  %g = load float, ptr %pg, align 4\n"
                "  %s1 = fadd float %u, %c, !dbg !110\n  %s2 = fadd float %s1, %c1, !dbg !110\n"
                "  %s3 = fadd float %s2, %r, !dbg !110\n  %s4 = fadd float %s3, %g, !dbg !110\n"
                "  %pa = getelementptr float, ptr %a, i64 %x64, !dbg !111\n"
                "  store float %s4, ptr %pa, align 4, !dbg !111\n"
                "  %po = getelementptr float, ptr %a, i64 %i, !dbg !112\n"
                "  store float %s4, ptr %po, align 4, !dbg !112\n"
                "  %pn = getelementptr i8, ptr %pa, i64 64, !dbg !112\n"
                "  store float %s4, ptr %pn, align 4, !dbg !112, !ptxrun.nontemporal !4\n"
                "  br label %latch, !dbg !113\n",
                true);
    expect(said,
           "  lines 3-13: vectors of 16 threads (asked for), 2 x 1 side by side, row x rows (asked "
           "for)",
           "    loads: uniform (line 3); contiguous (line 4, 5); "
           "reversed (line 6); stride 2 (line 7); gather (line unknown)\n"
           "    stores: contiguous (line 11); scatter (line 12); "
           "contiguous, past the caches if it is much (line 12)\n");
    free(said);
}

/* What is said with and without a step of tuning, of accesses that it does. */
static void expect_of_step(const char *iteration, const char *step, const char *with,
                           const char *without)
{
    static const char choice[] = "  lines 3-9: vectors of 16 threads (asked for), 2 x 1 side by "
                                 "side, row x rows (asked for)";
    enum tr_tuning tuning = tr_find_tuning(step, strlen(step));
    cr_assert_neq(tuning, TR_TUNING_COUNT);
    const char *const rest[2] = {with, without};
    for (int i = 0; i < 2; i++) {
        char *said = explain_without(iteration, 2, true, i == 0 ? 0 : UINT32_C(1) << tuning);
        expect(said, choice, rest[i]);
        free(said);
    }
}

Test(explain, words_of_far_lanes_are_blocks)
{
    expect_of_step("  %row = mul i64 %x64, 64, !dbg !103\n"
                   "  %p0 = getelementptr float, ptr %b, i64 %row, !dbg !103\n"
                   "  %p1 = getelementptr i8, ptr %p0, i64 4, !dbg !104\n"
                   "  %p2 = getelementptr i8, ptr %p0, i64 8, !dbg !105\n"
                   "  %p3 = getelementptr i8, ptr %p0, i64 12, !dbg !106\n"
                   "  %v0 = load float, ptr %p0, align 4, !dbg !103\n"
                   "  %v1 = load float, ptr %p1, align 4, !dbg !104\n"
                   "  %v2 = load float, ptr %p2, align 4, !dbg !105\n"
                   "  %v3 = load float, ptr %p3, align 4, !dbg !106\n"
                   "  %s1 = fadd float %v0, %v1, !dbg !107\n"
                   "  %s2 = fadd float %v2, %v3, !dbg !107\n"
                   "  %s3 = fadd float %s1, %s2, !dbg !107\n"
                   "  %pa = getelementptr float, ptr %a, i64 %x64, !dbg !108\n"
                   "  store float %s3, ptr %pa, align 4, !dbg !108\n"
                   "  br label %latch, !dbg !109\n",
                   "word-blocks",
                   "    loads: gather, words in blocks (line 3, 4, 5, 6)\n"
                   "    stores: contiguous (line 8)\n",
                   "    loads: gather (line 3, 4, 5, 6)\n"
                   "    stores: contiguous (line 8)\n");
}

Test(explain, ways_that_threads_take_are_named_by_what_becomes_of_them)
{
    /* So many side by side that a guard is worth its while. */
    char *said = explain_jammed(
        "  %in = icmp slt i32 %x, %n, !dbg !105\n"
        "  br i1 %in, label %inside, label %latch, !dbg !106\n"
        "inside:\n"
        "  %p = getelementptr i32, ptr %b, i64 %x64, !dbg !107\n"
        "  %v = load i32, ptr %p, align 4, !dbg !107\n"
        "  %odd = trunc i32 %v to i1, !dbg !108\n"
        "  br i1 %odd, label %small, label %join, !dbg !109\n"
        "small:\n  %w = add i32 %v, 1, !dbg !110\n  br label %join, !dbg !110\n"
        "join:\n  %m = phi i32 [ %v, %inside ], [ %w, %small ]\n"
        "  %big = icmp sgt i32 %m, 9, !dbg !111\n"
        "  br i1 %big, label %write, label %loop.before, !dbg !112\n"
        "write:\n  %q = getelementptr i32, ptr %a, i64 %x64, !dbg !113\n"
        "  store i32 %m, ptr %q, align 4, !dbg !113\n  br label %loop.before, !dbg !114\n"
        "loop.before:\n  br label %loop, !dbg !114\n"
        "loop:\n  %k = phi i32 [ %m, %loop.before ], [ %k.next, %loop ]\n"
        "  %k.next = add i32 %k, 7, !dbg !115\n"
        "  %again = icmp slt i32 %k.next, 100, !dbg !116\n"
        "  br i1 %again, label %loop, label %last, !dbg !117\n"
        "last:\n  %k.last = phi i32 [ %k.next, %loop ]\n"
        "  %r = getelementptr i32, ptr %a, i64 %x64, !dbg !118\n"
        "  store i32 %k.last, ptr %r, align 4, !dbg !118\n  br label %latch, !dbg !119\n",
        16, true);
    expect(said, "  lines 5-19: vectors of 16 threads",
           "    guards: all lanes are expected to pass (line 6)\n"
           "    loads: contiguous (line 7)\n"
           "    stores: contiguous (line 13, 18)\n"
           "    divergent branches: flattened (line 9); "
           "masked behind a branch, without masks if all lanes come (line 12)\n"
           "    loops that lanes leave one by one: lines 15-17\n");
    free(said);
}

Test(explain, lanes_that_wait_for_each_other_are_told_from_those_that_are_combined)
{
    char *said = explain("  %p = getelementptr i32, ptr %b, i64 %x64, !dbg !102\n"
                         "  %v = load i32, ptr %p, align 4, !dbg !102\n"
                         "  %o0 = atomicrmw add ptr %a, i32 %v monotonic, align 4, !dbg !103\n"
                         "  %v64 = zext i32 %v to i64, !dbg !104\n"
                         "  %q = getelementptr i32, ptr %a, i64 %v64, !dbg !104\n"
                         "  %o1 = atomicrmw add ptr %q, i32 1 monotonic, align 4, !dbg !105\n"
                         "  call void @callee(i32 %v), !dbg !106\n"
                         "  call void @callee(i32 7), !dbg !106\n"
                         "  %l = load volatile i32, ptr %q, align 4, !dbg !107\n"
                         "  br label %latch, !dbg !108\n",
                         false);
    expect(said, "  lines 2-8: scalar: too little of it gains by vectors\n",
           "    loads: contiguous (line 2)\n"
           "    combined: done once for many lanes (line 3)\n"
           "    one lane after the other: atomic operation (line 5); "
           "call (line 6); volatile load (line 7)\n");
    free(said);
}

Test(explain, a_loop_that_cannot_be_widened_is_named_by_its_lines)
{
    char *said = explain("  %odd = trunc i32 %x to i1, !dbg !104\n"
                         "  br i1 %odd, label %one, label %two, !dbg !105\n"
                         "one:\n  %k = load volatile i32, ptr %a, align 4, !dbg !107\n"
                         "  %on = icmp slt i32 %k, 100, !dbg !107\n"
                         "  br i1 %on, label %two, label %latch, !dbg !108\n"
                         "two:\n  store volatile i32 1, ptr %b, align 4, !dbg !109\n"
                         "  br label %one, !dbg !112\n",
                         true);
    cr_expect_str_eq(said, "  lines 4-12: scalar: a loop in an iteration has several entries\n");
    free(said);
}

/* A list of lines stays short. */
Test(explain, a_long_list_is_cut)
{
    char *iteration = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&iteration, &bytes);
    cr_assert_not_null(out);
    for (int line = 30; line > 5; line -= 2)
        fprintf(out,
                "  %%p%d = getelementptr i32, ptr %%a, i64 %%x64, !dbg !%d\n"
                "  store i32 %d, ptr %%p%d, align 4, !dbg !%d\n",
                line, 100 + line, line, line, 100 + line);
    fprintf(out, "  br label %%latch\n");
    fclose(out);
    char *said = explain(iteration, true);
    expect(said, "  lines 6-30: vectors of 16 threads",
           "    stores: contiguous (line 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, ...)\n");
    free(said);
    free(iteration);
}

/* Instructions in front of the nest, which has little to do itself. */
static char *explain_behind(uint32_t instructions)
{
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {.width = 16, .target = &target, .is_forced = true};
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module =
        parse(context, "  %p = getelementptr float, ptr %a, i64 %x64, !dbg !101\n"
                       "  store float 1.0, ptr %p, align 4, !dbg !101\n"
                       "  br label %latch, !dbg !101\n");
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderBefore(builder,
                              LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(function)));
    for (uint32_t i = 0; i < instructions; i++)
        LLVMBuildFreeze(builder, LLVMGetParam(function, 2), "");
    LLVMDisposeBuilder(builder);
    tr_mark_threads(LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function)), 'x');
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return report.explanation;
}

Test(explain, nests_of_long_functions_have_fewer_copies)
{
    static const char long_reason[] = "(more would take too long to compile)";
    char *said = explain_behind(0);
    cr_expect_not_null(strstr(said, "4 x 1 side by side"), "%s", said);
    free(said);
    said = explain_behind(3000);
    cr_expect_not_null(strstr(said, "2 x 1 side by side"), "%s", said);
    cr_expect_not_null(strstr(said, long_reason), "%s", said);
    free(said);
    said = explain_behind(9000);
    cr_expect_not_null(strstr(said, "1 x 1 side by side"), "%s", said);
    cr_expect_not_null(strstr(said, long_reason), "%s", said);
    free(said);
}
