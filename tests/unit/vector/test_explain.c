/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of a loop over threads, by the debug locations in its iteration. How good
 * vectors are by the estimate is not looked at: only that it is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/paragraphs.h"
#include "translator/vector/vector.h"

#define LINES 40 /* !101 is line 1 */

static const char before[] =
    "declare void @callee(i32)\ndeclare void @llvm.assume(i1)\n"
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
    "  line: 40, spFlags: DISPFlagDefinition)\n";

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
static char *explain_with(const char *iteration, const struct tr_vector_options *options)
{
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, iteration);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    tr_mark_threads(LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function)), 'x', 0);
    cr_assert_eq(tr_vectorise(function, options, &report, NULL), PXR_OK);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return report.explanation;
}

static char *explain_without(const char *iteration, uint32_t jam, bool is_forced, uint32_t skipped)
{
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {
        .width = 16, .jam = jam, .target = &target, .is_forced = is_forced, .skipped = skipped};
    return explain_with(iteration, &options);
}

static char *explain_jammed(const char *iteration, uint32_t jam, bool is_forced)
{
    return explain_without(iteration, jam, is_forced, 0);
}

static char *explain(const char *iteration, bool is_forced)
{
    return explain_jammed(iteration, 2, is_forced);
}

/* The lines that are no details, or only these, without their tabs. malloc. */
static char *lines_of(const char *explanation, bool are_details)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    for (const char *line = explanation; *line != '\0'; line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        bool is_detail = *line == '\t';
        if (is_detail == are_details)
            fprintf(out, "%.*s\n", (int)len - is_detail, line + is_detail);
        line += len;
    }
    fclose(out);
    return text;
}

/* Exactly these lines, and the details. */
static void expect(const char *explanation, const char *lines)
{
    char *said = lines_of(explanation, false);
    cr_expect_str_eq(said, lines, "%s", explanation);
    free(said);
}

/* Among the details. */
static void expect_detail(const char *explanation, const char *detail)
{
    char *said = lines_of(explanation, true);
    cr_expect_not_null(strstr(said, detail), "%s\n%s", detail, explanation);
    free(said);
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
           "loop over vectors of 16 threads, 2 side by side: lines 3-13\n"
           "  loads: one element for all threads (line 3); neighbouring elements (lines 4, 5); "
           "neighbouring elements, backwards (line 6); elements 2 apart (line 7); gather (line 9)\n"
           "  stores: neighbouring elements (line 11); scatter (line 12); "
           "neighbouring elements, past the caches if there are many (line 12)\n");
    expect_detail(said, "  why: 16 threads: asked for; 2 side by side: asked for\n");
    expect_detail(said, "  estimated time: ");
    free(said);
}

/* An index of 32 bits, of which parts are known not to wrap: how the access is named that uses it.
 * The vectors ask first whether it wraps. */
static void expect_index(const char *index, const char *name)
{
    char *iteration = NULL;
    char *expected = NULL;
    cr_assert_gt(asprintf(&iteration,
                          "%s  %%p = getelementptr float, ptr %%b, i64 %%i, !dbg !103\n"
                          "  %%v = load float, ptr %%p, align 4, !dbg !103\n"
                          "  %%pa = getelementptr float, ptr %%a, i64 %%x64, !dbg !104\n"
                          "  store float %%v, ptr %%pa, align 4, !dbg !104\n"
                          "  br label %%latch, !dbg !105\n",
                          index),
                 0);
    cr_assert_gt(asprintf(&expected,
                          "loop over vectors of 16 threads, 2 side by side: lines 3-5\n"
                          "  loads: %s (line 3)\n  stores: neighbouring elements (line 4)\n",
                          name),
                 0);
    char *said = explain(iteration, true);
    expect(said, expected);
    expect_detail(said, "  numbers of 32 bits that are expected not to wrap from thread to thread: "
                        "indices (line 3)\n");
    free(said);
    free(expected);
    free(iteration);
}

Test(explain, neighbours_are_found_behind_indices_of_fewer_bits)
{
    expect_index("  %t = add i32 %n, %x\n  %i = zext i32 %t to i64\n", "neighbouring elements");
    expect_index("  %t = add nuw i32 %n, %x\n  %i = zext i32 %t to i64\n", "neighbouring elements");
    expect_index("  %s = shl nuw i32 %n, 4\n  %t = or disjoint i32 %s, %x\n"
                 "  %i = zext i32 %t to i64\n",
                 "neighbouring elements");
    expect_index("  %t = add nuw i32 %n, %x\n  %n64 = sext i32 %n to i64\n"
                 "  %z = zext i32 %t to i64\n  %i = sub i64 %z, %n64\n",
                 "neighbouring elements");
    expect_index("  %t = add i32 %n, %x\n  %n64 = sext i32 %n to i64\n"
                 "  %s = sext i32 %t to i64\n  %i = sub i64 %s, %n64\n",
                 "neighbouring elements");
    expect_index("  %x2 = shl nuw i32 %x, 1\n  %t = add nuw i32 %n, %x2\n"
                 "  %i = zext i32 %t to i64\n",
                 "elements 2 apart");
}

#define CHOICE "loop over vectors of 16 threads, 2 side by side: lines 3-9\n"

/* What is said with and without a step of tuning, of accesses that it does. */
static void expect_of_step(const char *iteration, const char *step, const char *with,
                           const char *without)
{
    enum tr_tuning tuning = tr_find_tuning(step, strlen(step));
    cr_assert_neq(tuning, TR_TUNING_COUNT);
    const char *const rest[2] = {with, without};
    for (int i = 0; i < 2; i++) {
        char *said = explain_without(iteration, 2, true, i == 0 ? 0 : UINT32_C(1) << tuning);
        expect(said, rest[i]);
        free(said);
    }
}

Test(explain, rows_whose_ends_are_neighbours_are_asked)
{
    expect_of_step("  %is.first = icmp eq i32 %x, 0, !dbg !103\n"
                   "  %before = add i32 %x, -1, !dbg !104\n"
                   "  %left = select i1 %is.first, i32 %n, i32 %before, !dbg !105\n"
                   "  %left64 = sext i32 %left to i64, !dbg !106\n"
                   "  %p = getelementptr float, ptr %b, i64 %left64, !dbg !107\n"
                   "  %v = load float, ptr %p, align 4, !dbg !107\n"
                   "  %pa = getelementptr float, ptr %a, i64 %x64, !dbg !108\n"
                   "  store float %v, ptr %pa, align 4, !dbg !108\n"
                   "  br label %latch, !dbg !109\n",
                   "ask-neighbours",
                   CHOICE "  loads: gather, neighbouring elements except at borders (line 7)\n"
                          "  stores: neighbouring elements (line 8)\n",
                   CHOICE "  loads: gather (line 7)\n"
                          "  stores: neighbouring elements (line 8)\n");
}

/* Copies the element of %b at %place. */
#define COPY_OF_PLACE                                                                              \
    "  %place64 = sext i32 %place to i64, !dbg !106\n"                                             \
    "  %p = getelementptr float, ptr %b, i64 %place64, !dbg !107\n"                                \
    "  %v = load float, ptr %p, align 4, !dbg !107\n"                                              \
    "  %pa = getelementptr float, ptr %a, i64 %x64, !dbg !108\n"                                   \
    "  store float %v, ptr %pa, align 4, !dbg !108\n"                                              \
    "  br label %latch, !dbg !109\n"

/* The element at a place in a row of so many, where rows lie further apart. */
#define ELEMENT(divisor)                                                                           \
    "  %row = sdiv i32 %x, " divisor ", !dbg !103\n"                                               \
    "  %whole = mul i32 %row, " divisor ", !dbg !104\n"                                            \
    "  %column = sub i32 %x, %whole, !dbg !105\n"                                                  \
    "  %pitch = add i32 %n, 3, !dbg !105\n"                                                        \
    "  %first = mul i32 %row, %pitch, !dbg !105\n"                                                 \
    "  %place = add i32 %first, %column, !dbg !105\n" COPY_OF_PLACE
#define STORES "  stores: neighbouring elements (line 8)\n"

/* Of rows that are shorter than a vector it would have more than two. */
Test(explain, elements_of_rows_are_asked_whether_they_are_neighbours)
{
    static const char asked[] =
        CHOICE "  loads: gather, neighbouring elements except at borders (line 7)\n" STORES;
    static const char plain[] = CHOICE "  loads: gather (line 7)\n" STORES;
    static const struct {
        const char *iteration, *said;
    } rows[] = {{ELEMENT("%n"), asked},
                {ELEMENT("64"), asked},
                {ELEMENT("16"), asked},
                {ELEMENT("15"), plain}};
    uint32_t groups = UINT32_C(1) << tr_find_tuning("common-places", strlen("common-places"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = explain_without(rows[i].iteration, 2, true, groups);
        expect(said, rows[i].said);
        free(said);
    }
    expect_of_step(ELEMENT("16"), "ask-neighbours", asked, plain);
}

Test(explain, rows_of_flat_indices_make_groups)
{
    char *said = explain(ELEMENT("%n"), true);
    expect(said,
           CHOICE "  loads: neighbouring elements unless a 32-bit index wraps (line 7)\n" STORES);
    cr_expect_not_null(
        strstr(said, "to have in common: quotients of places, group by group (line 3)\n"), "%s",
        said);
    cr_expect_null(strstr(said, "branches on which threads part"), "%s", said);
    cr_expect_null(strstr(said, "loops that threads leave at different times"), "%s", said);
    free(said);
}

/* A division as compilers write it: the upper half of a product, shifted. */
Test(explain, quotients_that_are_shifted_products_make_rows)
{
#define PLACE(shift)                                                                               \
    "  %product = mul nsw i64 %x64, 2021161081, !dbg !103\n"                                       \
    "  %upper = lshr i64 %product, 32, !dbg !103\n"                                                \
    "  %half = trunc nuw i64 %upper to i32, !dbg !103\n"                                           \
    "  %row = ashr i32 %half, " shift ", !dbg !104\n"                                              \
    "  %first = mul i32 %row, %n, !dbg !105\n"                                                     \
    "  %place = add i32 %first, %x, !dbg !105\n" COPY_OF_PLACE
    static const char asked[] =
        CHOICE "  loads: gather, neighbouring elements except at borders (line 7)\n" STORES;
    static const char plain[] = CHOICE "  loads: gather (line 7)\n" STORES;
    expect_of_step(PLACE("4"), "ask-neighbours", asked, plain); /* by 34 */
    expect_of_step(PLACE("2"), "ask-neighbours", plain, plain); /* by 8.5 */
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
                   CHOICE
                   "  loads: gather, several words of each thread at once (lines 3, 4, 5, 6)\n"
                   "  stores: neighbouring elements (line 8)\n",
                   CHOICE "  loads: gather (lines 3, 4, 5, 6)\n"
                          "  stores: neighbouring elements (line 8)\n");
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
    expect(said, "loop over vectors of 16 threads, 16 side by side: lines 5-19\n"
                 "  loads: neighbouring elements (line 7)\n"
                 "  stores: neighbouring elements (lines 13, 18)\n"
                 "  loops that threads leave at different times: lines 15-17\n");
    expect_detail(said, "  branches that all threads are expected to take in one direction: "
                        "into the kernel's work (line 6)\n");
    expect_detail(said, "  branches on which threads part: "
                        "all threads do both ways, results are selected (line 9); "
                        "masked, without masks where all threads go (line 12)\n");
    free(said);
}

/* Sums of three elements `far` apart, of five fields of each thread, where a flag is set: one field
 * is `far` elements from that of the next thread. malloc. */
static char *fields_where_a_flag_is_set(unsigned far)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fprintf(out,
            "  %%pf = getelementptr i32, ptr %%b, i64 %%x64, !dbg !101\n"
            "  %%f = load i32, ptr %%pf, align 4, !dbg !101\n"
            "  %%some = icmp ne i32 %%f, 0, !dbg !102\n"
            "  %%place = mul nuw nsw i64 %%x64, %u, !dbg !102\n"
            "  br i1 %%some, label %%work, label %%latch, !dbg !103\n"
            "work:\n",
            far);
    for (unsigned field = 0; field < 5; field++) {
        for (unsigned i = 0; i < 3; i++)
            fprintf(out,
                    "  %%i%u.%u = add nuw nsw i64 %%place, %u, !dbg !104\n"
                    "  %%p%u.%u = getelementptr float, ptr %%a, i64 %%i%u.%u, !dbg !104\n"
                    "  %%v%u.%u = load float, ptr %%p%u.%u, align 4, !dbg !104\n",
                    field, i, field + i * far, field, i, field, i, field, i, field, i);
        fprintf(out,
                "  %%s%u = fadd float %%v%u.0, %%v%u.1, !dbg !105\n"
                "  %%t%u = fadd float %%s%u, %%v%u.2, !dbg !105\n"
                "  store float %%t%u, ptr %%p%u.0, align 4, !dbg !106\n",
                field, field, field, field, field, field, field, field);
    }
    fprintf(out, "  br label %%latch, !dbg !107\n");
    fclose(out);
    return text;
}

static char *explain_with_avx2(char *iteration)
{
    struct tr_target target = tr_target_find("", 256);
    struct tr_vector_options options = {.width = 8, .target = &target};
    char *said = explain_with(iteration, &options);
    free(iteration);
    return said;
}

/* Without instructions for it, some lanes' elements far apart take longer than threads one by one,
 * whose indices are parts of addresses. */
Test(explain, elements_apart_of_some_lanes_stay_scalar_where_no_instruction_is_for_them)
{
    char *said = explain_with_avx2(fields_where_a_flag_is_set(5));
    cr_expect_not_null(strstr(said, "vectors would gain too little"), "%s", said);
    free(said);
    said = explain_with_avx2(fields_where_a_flag_is_set(1));
    cr_expect_null(strstr(said, "vectors would gain too little"), "%s", said);
    free(said);
}

/* Otherwise each of its turns would have masks. */
Test(explain, a_long_loop_under_a_condition_has_a_copy_for_all_threads)
{
    char work[1024] = "";
    for (int i = 0; i < 24; i++)
        sprintf(work + strlen(work), "  %%w%d = xor i32 %%%s%d, %%k, !dbg !105\n", i + 1,
                i == 0 ? "v" : "w", i);
    char iteration[2048];
    snprintf(iteration, sizeof iteration,
             "  %%p = getelementptr i32, ptr %%b, i64 %%x64, !dbg !101\n"
             "  %%v0 = load i32, ptr %%p, align 4, !dbg !101\n"
             "  %%some = icmp sgt i32 %%v0, 9, !dbg !102\n"
             "  br i1 %%some, label %%before, label %%latch, !dbg !103\n"
             "before:\n  br label %%loop, !dbg !104\n"
             "loop:\n  %%k = phi i32 [ 0, %%before ], [ %%k.next, %%loop ]\n%s"
             "  %%q = getelementptr i32, ptr %%a, i64 %%x64, !dbg !106\n"
             "  store i32 %%w24, ptr %%q, align 4, !dbg !106\n"
             "  %%k.next = add i32 %%k, %%v0, !dbg !107\n"
             "  %%again = icmp slt i32 %%k.next, 100, !dbg !107\n"
             "  br i1 %%again, label %%loop, label %%last, !dbg !108\n"
             "last:\n  br label %%latch, !dbg !109\n",
             work);
    char *said = explain_jammed(iteration, 16, true);
    expect_detail(said, "  branches on which threads part: "
                        "masked, without masks where all threads go (line 3)\n");
    free(said);
}

/* The loop for the remainder of a warp's turns along a row, of a number of turns of which two
 * digits are asked first. */
static char *explain_turns(const char *length)
{
    static const char format[] =
        "%s  %%backwards = xor i32 %%x, -1, !dbg !102\n"
        "  %%left = add nsw i32 %%length, %%backwards, !dbg !102\n"
        "  %%digits = and i32 %%left, 96, !dbg !103\n"
        "  %%is.whole = icmp eq i32 %%digits, 96, !dbg !103\n"
        "  br i1 %%is.whole, label %%whole, label %%some, !dbg !103\n"
        "some:\n  %%quotient = lshr i32 %%left, 5, !dbg !104\n"
        "  %%turns = add nuw nsw i32 %%quotient, 1, !dbg !104\n"
        "  %%rest = and i32 %%turns, 3, !dbg !104\n  br label %%one, !dbg !104\n"
        "one:\n  %%k = phi i32 [ %%rest, %%some ], [ %%k.next, %%one ]\n"
        "  %%i = phi i64 [ %%x64, %%some ], [ %%i.next, %%one ]\n"
        "  %%p = getelementptr i32, ptr %%b, i64 %%i, !dbg !105\n"
        "  %%v = load i32, ptr %%p, align 4, !dbg !105\n"
        "  %%i.next = add nuw nsw i64 %%i, 32, !dbg !106\n"
        "  %%k.next = add nsw i32 %%k, -1, !dbg !106\n"
        "  %%is.done = icmp eq i32 %%k.next, 0, !dbg !106\n"
        "  br i1 %%is.done, label %%whole, label %%one, !dbg !106\n"
        "whole:\n  %%sum = phi i32 [ 0, %%iteration ], [ %%v, %%one ]\n"
        "  %%q = getelementptr i32, ptr %%a, i64 %%x64, !dbg !107\n"
        "  store i32 %%sum, ptr %%q, align 4, !dbg !107\n  br label %%latch, !dbg !107\n";
    char iteration[4096];
    snprintf(iteration, sizeof iteration, format, length);
    return explain(iteration, true);
}

#define CHOICE_OF_TURNS "loop over vectors of 16 threads, 2 side by side: lines 1-7\n"

Test(explain, turns_along_rows_are_counted_for_all_threads_but_those_of_sparse_rows)
{
    char *said = explain_turns("  %length = add i32 %n, 7, !dbg !101\n");
    expect(said, CHOICE_OF_TURNS "  loads: neighbouring elements (line 5)\n"
                                 "  stores: neighbouring elements (line 7)\n");
    free(said);
    said = explain_turns("  %length = load i32, ptr %b, align 4, !dbg !101\n");
    cr_expect_not_null(strstr(said, "leave at different times"), "%s", said);
    free(said);
}

/* A table asked for bytes, in a loop whose step the launch decides. */
static char *explain_table_in_steps(const char *step)
{
    static const char format[] =
        "  br label %%loop, !dbg !101\n"
        "loop:\n  %%i = phi i64 [ %%x64, %%iteration ], [ %%i.next, %%loop ]\n"
        "  %%p = getelementptr i8, ptr %%b, i64 %%i, !dbg !102\n"
        "  %%v = load i8, ptr %%p, align 1, !dbg !102\n"
        "  %%index = zext i8 %%v to i64, !dbg !103\n"
        "  %%place = getelementptr i8, ptr %%a, i64 %%index, !dbg !103\n"
        "  %%found = load i8, ptr %%place, align 1, !dbg !103\n"
        "  store i8 %%found, ptr %%p, align 1, !dbg !104\n"
        "  %%i.next = add nsw i64 %%i, %s, !dbg !105\n"
        "  %%again = icmp slt i64 %%i.next, 4096, !dbg !105\n"
        "  br i1 %%again, label %%loop, label %%latch, !dbg !106\n";
    char iteration[2048];
    snprintf(iteration, sizeof iteration, format, step);
    return explain(iteration, false);
}

Test(explain, threads_whose_turns_are_far_apart_are_not_run_one_after_another)
{
    char *said = explain_table_in_steps("16384");
    cr_expect_null(strstr(said, "vectors would gain too little"), "%s", said);
    free(said);
    said = explain_table_in_steps("16");
    cr_expect_not_null(strstr(said, "vectors would gain too little"), "%s", said);
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
    expect(said, "loop over single threads, because vectors would gain too little: lines 2-8\n"
                 "  loads: neighbouring elements (line 2)\n"
                 "  done once for a whole vector: atomic operation (line 3)\n"
                 "  done for one thread after another: atomic operation (line 5); "
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
    cr_expect_str_eq(said, "loop over single threads, because a loop of the kernel has several "
                           "entries: lines 4-12\n");
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
    expect(said, "loop over vectors of 16 threads, 2 side by side: lines 6-30\n"
                 "  stores: neighbouring elements "
                 "(lines 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, ...)\n");
    free(said);
    free(iteration);
}

/* ---- lines that LLVM has taken ---- */

Test(explain, what_has_no_line_gets_its_neighbours)
{
    /* The first store has a neighbour behind it only, the second one before it and one behind. */
    char *said = explain("  %p = getelementptr i32, ptr %a, i64 %x64\n"
                         "  store i32 1, ptr %p, align 4\n"
                         "  %q = getelementptr i32, ptr %p, i64 4096, !dbg !107\n"
                         "  store i32 2, ptr %q, align 4\n"
                         "  %r = getelementptr i32, ptr %q, i64 4096, !dbg !109\n"
                         "  store i32 3, ptr %r, align 4, !dbg !109\n"
                         "  br label %latch, !dbg !109\n",
                         true);
    expect(said, "loop over vectors of 16 threads, 2 side by side: lines 7-9\n"
                 "  stores: neighbouring elements (lines 7, 9)\n");
    free(said);
}

Test(explain, where_no_line_is_known_the_kernels_first_is_said)
{
    char *said = explain("  %p = getelementptr i32, ptr %a, i64 %x64\n"
                         "  store i32 1, ptr %p, align 4\n  br label %latch\n",
                         true);
    expect(said, "loop over vectors of 16 threads, 2 side by side: line 40\n"
                 "  stores: neighbouring elements (line 40)\n");
    free(said);
}

/* ---- what the collapse has made ---- */

/* %a as struct rt_block: an element of each thread in the frame, and where local arrays are. */
static const char with_frame[] = "  %at = getelementptr i8, ptr %a, i64 40, !dbg !103\n"
                                 "  %frame = load ptr, ptr %at, align 8, !dbg !103\n"
                                 "  %kept = getelementptr i32, ptr %frame, i64 %x64, !dbg !104\n"
                                 "  store i32 1, ptr %kept, align 4, !dbg !104\n"
                                 "  %far = mul i64 %x64, 48, !dbg !105\n"
                                 "  %local = getelementptr i8, ptr %frame, i64 %far, !dbg !105\n"
                                 "  store i32 2, ptr %local, align 4, !dbg !105\n"
                                 "  br label %latch, !dbg !106\n";

static char *explain_frame(bool has_local_arrays)
{
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {.width = 16,
                                        .jam = 2,
                                        .target = &target,
                                        .has_local_arrays = has_local_arrays,
                                        .is_forced = true};
    return explain_with(with_frame, &options);
}

Test(explain, values_that_are_kept_are_no_accesses_of_the_program)
{
    char *said = explain_frame(false);
    expect(said, "loop over vectors of 16 threads, 2 side by side: lines 3-6\n"
                 "  loads: one element for all threads (line 3)\n");
    expect_detail(said, "  values kept across barriers and warp operations: 0 loads, 2 stores\n");
    free(said);
}

Test(explain, local_arrays_in_the_frame_are_accesses_of_the_program)
{
    char *said = explain_frame(true);
    expect(said, "loop over vectors of 16 threads, 2 side by side: lines 3-6\n"
                 "  loads: one element for all threads (line 3)\n"
                 "  stores: scatter (line 5)\n");
    expect_detail(said, "  values kept across barriers and warp operations: 0 loads, 1 stores\n");
    free(said);
}

/* ---- loops of which the same is said ---- */

static struct tr_paragraph make_loop(const char *choice, uint32_t first, const char *load)
{
    struct tr_paragraph loop = {.loops = 1, .has_estimate = true};
    snprintf(loop.choice, sizeof loop.choice, "%s", choice);
    tr_ranges_add(&loop.where, (struct tr_range){first, first + 3});
    tr_list_add(&loop.lists[TR_SAID_LOADS], load, first + 1);
    tr_list_add(&loop.lists[TR_SAID_BRANCHES], load, first + 2);
    loop.percent.least = loop.percent.most = first;
    return loop;
}

/* malloc */
static char *text_of(const struct tr_paragraph *loops, uint32_t count)
{
    struct tr_paragraphs paragraphs = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(tr_paragraphs_add(&paragraphs, &loops[i]));
    tr_paragraphs_print(&paragraphs, out);
    tr_paragraphs_fini(&paragraphs);
    fclose(out);
    return text;
}

Test(explain, equal_loops_are_one_paragraph_with_all_their_lines)
{
    const struct tr_paragraph loops[] = {
        make_loop("over A", 50, "gather"), make_loop("over B", 30, "gather"),
        make_loop("over A", 10, "gather"), make_loop("over A", 20, "neighbours"),
        make_loop("over A", 10, "gather"),
    };
    char *said = text_of(loops, sizeof loops / sizeof *loops);
    expect(said, "3 loops over A: lines 10-13, 50-53\n  loads: gather (lines 11, 51)\n"
                 "loop over B: lines 30-33\n  loads: gather (line 31)\n"
                 "loop over A: lines 20-23\n  loads: neighbours (line 21)\n");
    expect_detail(said, "  branches on which threads part: gather (lines 12, 52)\n"
                        "  estimated time: 10-50% of that of single threads;");
    free(said);
}

Test(explain, of_very_many_loops_some_are_only_counted)
{
    static struct tr_paragraph loops[TR_PARAGRAPHS_MAX + 3];
    for (uint32_t i = 0; i < TR_PARAGRAPHS_MAX + 3; i++) {
        char choice[32];
        snprintf(choice, sizeof choice, "over %u", i);
        loops[i] = make_loop(choice, i + 1, "gather");
    }
    loops[TR_PARAGRAPHS_MAX + 2] = loops[7];
    char *said = text_of(loops, TR_PARAGRAPHS_MAX + 3);
    cr_expect_not_null(strstr(said, "2 loops over 7: lines 8-11\n"), "%s", said);
    cr_expect_not_null(strstr(said, "\nmore loops: 2\n"), "%s", said);
    free(said);
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
    tr_mark_threads(LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function)), 'x', 0);
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return report.explanation;
}

Test(explain, nests_of_long_functions_have_fewer_copies)
{
    static const char long_reason[] = "more would take too long to compile";
    char *said = explain_behind(0);
    cr_expect_not_null(strstr(said, "4 side by side: line 1\n"), "%s", said);
    free(said);
    said = explain_behind(3000);
    cr_expect_not_null(strstr(said, "2 side by side: line 1\n"), "%s", said);
    cr_expect_not_null(strstr(said, long_reason), "%s", said);
    free(said);
    said = explain_behind(9000);
    cr_expect_null(strstr(said, "threads, "), "%s", said);
    cr_expect_not_null(strstr(said, long_reason), "%s", said);
    free(said);
}

/* How often the loop over threads runs that vectors have not replaced; 0: it is not constant. */
static uint64_t count_of_loop(const char *iteration, char **said)
{
    struct tr_vector_report report;
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {.width = 16, .target = &target};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, iteration);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    LLVMBasicBlockRef latch = LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function));
    tr_mark_threads(latch, 'x', 0);
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    LLVMValueRef more = LLVMGetCondition(LLVMGetBasicBlockTerminator(latch));
    cr_assert_eq(LLVMGetICmpPredicate(more), LLVMIntULT);
    LLVMValueRef count = LLVMGetOperand(more, 1);
    uint64_t constant = LLVMIsAConstantInt(count) ? LLVMConstIntGetZExtValue(count) : 0;
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    *said = report.explanation;
    return constant;
}

/* What a launch's facts have made known of %tid is no work. */
Test(explain, single_threads_end_with_the_last_one_that_has_work)
{
    char *said;
    uint64_t count =
        count_of_loop("  %known = icmp ult i32 %x, 256\n  call void @llvm.assume(i1 %known)\n"
                      "  %first = icmp eq i32 %x, 0, !dbg !101\n"
                      "  br i1 %first, label %add, label %latch, !dbg !102\n"
                      "add:\n  %o = atomicrmw add ptr %a, i32 %n monotonic, align 4, !dbg !103\n"
                      "  br label %latch, !dbg !103\n",
                      &said);
    expect(said, "loop over single threads, because one thread of each row has work: lines 1-3\n"
                 "  done once for a whole vector: atomic operation (line 3)\n");
    cr_expect_eq(count, 1, "%llu", (unsigned long long)count);
    free(said);
    count = count_of_loop("  %few = icmp ult i32 %x, 40, !dbg !101\n"
                          "  br i1 %few, label %add, label %latch, !dbg !102\n"
                          "add:\n  call void @callee(i32 %x), !dbg !103\n"
                          "  call void @callee(i32 7), !dbg !104\n"
                          "  br label %latch, !dbg !104\n",
                          &said);
    cr_expect_eq(count, 40, "%llu: %s", (unsigned long long)count, said);
    free(said);
}
