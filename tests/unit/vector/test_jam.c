/* SPDX-License-Identifier: Apache-2.0
 *
 * How many copies run side by side, as --explain says it: of a product of tiles whose inner loop
 * somebody has unrolled, of a loop over a grid, whose turns are far from each other, and of long
 * code without loops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/vector.h"

static const char before[] =
    "define void @kernel(ptr noalias %a, ptr noalias %b, ptr noalias %c) {\n"
    "entry:\n  br label %row\n"
    "row:\n  %y = phi i32 [ 0, %entry ], [ %y.next, %y.latch ]\n  br label %iteration\n"
    "iteration:\n  %x = phi i32 [ 0, %row ], [ %x.next, %x.latch ]\n"
    "  %x64 = zext nneg i32 %x to i64\n  %y64 = zext nneg i32 %y to i64\n"
    "  %first = shl nuw nsw i64 %y64, 4\n  %own = add nuw nsw i64 %first, %x64\n";

static const char after[] = "  br label %x.latch\n"
                            "x.latch:\n  %x.next = add nuw nsw i32 %x, 1\n"
                            "  %x.more = icmp ult i32 %x.next, 16\n"
                            "  br i1 %x.more, label %iteration, label %y.latch\n"
                            "y.latch:\n  %y.next = add nuw nsw i32 %y, 1\n"
                            "  %y.more = icmp ult i32 %y.next, 16\n"
                            "  br i1 %y.more, label %row, label %done\n"
                            "done:\n  ret void\n}\n";

/* c[y][x] = 0 + a[y][0] * b[0][x] + … of 16 elements in a row. */
static void print_products(FILE *out, const char *type, int count)
{
    fprintf(out, "  %%s0 = fadd %s 0.0, 0.0\n", type);
    for (int k = 0; k < count; k++) {
        fprintf(out, "  %%ia%d = add nuw nsw i64 %%first, %d\n", k, k);
        fprintf(out, "  %%pa%d = getelementptr %s, ptr %%a, i64 %%ia%d\n", k, type, k);
        fprintf(out, "  %%va%d = load %s, ptr %%pa%d\n", k, type, k);
        fprintf(out, "  %%ib%d = add nuw nsw i64 %%x64, %d\n", k, 16 * k);
        fprintf(out, "  %%pb%d = getelementptr %s, ptr %%b, i64 %%ib%d\n", k, type, k);
        fprintf(out, "  %%vb%d = load %s, ptr %%pb%d\n", k, type, k);
        fprintf(out, "  %%m%d = fmul %s %%va%d, %%vb%d\n", k, type, k, k);
        fprintf(out, "  %%s%d = fadd %s %%s%d, %%m%d\n", k + 1, type, k, k);
    }
    fprintf(out, "  %%pc = getelementptr %s, ptr %%c, i64 %%own\n", type);
    fprintf(out, "  store %s %%s%d, ptr %%pc\n", type, count);
}

/* has_rows: the last loop over threads is one over rows. */
static void expect_reason_of(uint32_t vector_bits, const char *text, bool has_rows,
                             const char *copies, uint32_t block_row)
{
    struct tr_target target = tr_target_find("", vector_bits);
    struct tr_vector_options options = {.target = &target, .is_forced = true};
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    LLVMBasicBlockRef latch = LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function));
    if (has_rows) {
        tr_mark_threads(latch, 'y', 0);
        latch = LLVMGetPreviousBasicBlock(latch);
    }
    tr_mark_threads(latch, 'x', block_row);
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    cr_expect_not_null(strstr(report.explanation, copies), "%s of:\n%s\n%s", copies, text,
                       report.explanation);
    free(report.explanation);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static void expect_reason_along(const char *text, bool has_rows, const char *copies,
                                uint32_t block_row)
{
    expect_reason_of(512, text, has_rows, copies, block_row);
}

static void expect_reason(const char *text, bool has_rows, const char *copies)
{
    expect_reason_along(text, has_rows, copies, 0);
}

/* A row of blocks of 64 threads: %s is the test that a thread passes before it stores. */
static const char row_of_blocks[] =
    "define void @kernel(ptr noalias %%a, i32 %%first, i32 %%n, i32 %%blocks) {\n"
    "entry:\n  %%count = shl nuw nsw i32 %%blocks, 6\n  br label %%iteration\n"
    "iteration:\n  %%x = phi i32 [ 0, %%entry ], [ %%x.next, %%x.latch ]\n"
    "  %%place = add nuw nsw i32 %%first, %%x\n"
    "  %%in = icmp %s\n  br i1 %%in, label %%store, label %%x.latch\n"
    "store:\n  %%i = zext nneg i32 %%place to i64\n"
    "  %%at = getelementptr float, ptr %%a, i64 %%i\n"
    "  store float 1.0, ptr %%at\n  br label %%x.latch\n"
    "x.latch:\n  %%x.next = add nuw nsw i32 %%x, 1\n"
    "  %%x.more = icmp ult i32 %%x.next, %%count\n"
    "  br i1 %%x.more, label %%iteration, label %%done\n"
    "done:\n  ret void\n}\n";

static void expect_copies_of_blocks(const char *test, const char *copies, uint32_t block_row)
{
    char text[sizeof row_of_blocks + 64];
    snprintf(text, sizeof text, row_of_blocks, test);
    expect_reason_along(text, false, copies, block_row);
}

Test(jam, rows_of_several_blocks_have_two_copies_and_one_at_borders)
{
    expect_copies_of_blocks("ult i32 %place, %n", "vectors of 16 threads, 2 side by side", 64);
    expect_copies_of_blocks("ult i32 %place, %n", "vectors of 16 threads, 4 side by side", 0);
    expect_copies_of_blocks("ult i32 %place, %n", "vectors of 16 threads, 2 side by side", 1);
    expect_copies_of_blocks("sgt i32 %place, 0", "; 1 side by side: more would gain little", 64);
}

/* Threads outside of an image of %nx by %ny do nothing. */
static const char copy_of_image[] =
    "  %in.x = icmp ult i32 %x, %nx\n  %in.y = icmp ult i32 %y, %ny\n"
    "  %in = and i1 %in.x, %in.y\n  br i1 %in, label %copy, label %x.latch\n"
    "copy:\n  %from = getelementptr float, ptr %a, i64 %own\n  %v = load float, ptr %from\n"
    "  %to = getelementptr float, ptr %c, i64 %own\n  store float %v, ptr %to\n";

/* Narrow rectangles cross borders less often, but have lines of the caches as a whole. */
Test(jam, rectangles_at_borders_are_a_line_wide)
{
    char text[4096];
    size_t length = strlen("define void @kernel(ptr noalias %a, ptr noalias %b, ptr noalias %c");
    snprintf(text, sizeof text, "%.*s, i32 %%nx, i32 %%ny%s%s%s", (int)length, before,
             before + length, copy_of_image, after);
    expect_reason_of(512, text, true, "vectors of 16 threads, 4 rows side by side", 0);
    expect_reason_of(256, text, true, "vectors of 8 threads, 2 side by side in each of 2 rows", 0);
    expect_reason_of(128, text, true, "vectors of 4 threads, 4 side by side", 0);
}

static void expect_copies(const char *type, int count, const char *copies)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fputs(before, out);
    print_products(out, type, count);
    fputs(after, out);
    fclose(out);
    expect_reason(text, true, copies);
    free(text);
}

Test(jam, an_unrolled_product_has_eight_registers_of_sums)
{
    expect_copies("float", 16, "8 side by side: they share what they load");
    expect_copies("double", 16, "threads, 4 rows side by side");
}

Test(jam, a_few_shared_loads_are_no_unrolled_loop)
{
    expect_copies("float", 4, "threads, 4 rows side by side");
}

/* An atomic addition in the block's own memory, as translator/collapse leaves it. */
static const char histogram[] = "define void @kernel(ptr noalias %bins, ptr noalias %from) {\n"
                                "entry:\n  br label %iteration\n"
                                "iteration:\n  %x = phi i32 [ 0, %entry ], [ %x.next, %x.latch ]\n"
                                "  %place = zext nneg i32 %x to i64\n"
                                "  %source = getelementptr i32, ptr %from, i64 %place\n"
                                "  %v = load i32, ptr %source\n"
                                "  %bin = zext i32 %v to i64\n"
                                "  %target = getelementptr i32, ptr %bins, i64 %bin\n"
                                "  %old = load volatile i32, ptr %target\n"
                                "  %new = add i32 %old, 1\n"
                                "  store volatile i32 %new, ptr %target\n"
                                "  br label %x.latch\n"
                                "x.latch:\n  %x.next = add nuw nsw i32 %x, 1\n"
                                "  %x.more = icmp ult i32 %x.next, 256\n"
                                "  br i1 %x.more, label %iteration, label %done\n"
                                "done:\n  ret void\n}\n";

Test(jam, atomic_operations_lane_by_lane_are_done_in_one_copy)
{
    expect_reason(histogram, false, "1 side by side: accesses lane by lane are no faster");
}

/* A column of a matrix, for threads up to a place: the field of the block's record at %d and x. */
static const char column_of_some[] =
    "define void @kernel(ptr noalias %%record, ptr noalias %%to, ptr noalias %%from, i32 %%n) {\n"
    "entry:\n  %%field = getelementptr i8, ptr %%record, i64 %d\n"
    "  %%first = load i32, ptr %%field\n  br label %%iteration\n"
    "iteration:\n  %%x = phi i32 [ 0, %%entry ], [ %%x.next, %%x.latch ]\n"
    "  %%place = add nuw nsw i32 %%first, %%x\n  %%in = icmp slt i32 %%place, %%n\n"
    "  br i1 %%in, label %%copy, label %%x.latch\n"
    "copy:\n  %%i = zext nneg i32 %%x to i64\n  %%j = mul nuw nsw i64 %%i, 33\n"
    "  %%source = getelementptr i32, ptr %%from, i64 %%j\n  %%v = load i32, ptr %%source\n"
    "  %%s = mul i32 %%v, %%v\n"
    "  %%target = getelementptr i32, ptr %%to, i64 %%i\n  store i32 %%s, ptr %%target\n"
    "  br label %%x.latch\n"
    "x.latch:\n  %%x.next = add nuw nsw i32 %%x, 1\n"
    "  %%x.more = icmp ult i32 %%x.next, 256\n"
    "  br i1 %%x.more, label %%iteration, label %%done\n"
    "done:\n  ret void\n}\n";

/* Nearly all threads of a grid are inside of it; of a block's threads often few go on. */
Test(jam, accesses_lane_by_lane_of_some_threads_of_a_block_are_done_in_one_copy)
{
    char text[sizeof column_of_some + 32];
    snprintf(text, sizeof text, column_of_some, (int)offsetof(struct rt_block, ctaid));
    expect_reason_of(256, text, false, "4 side by side: more would gain little", 0);
    snprintf(text, sizeof text, column_of_some, (int)offsetof(struct rt_block, words));
    expect_reason_of(256, text, false, "1 side by side: accesses lane by lane are no faster", 0);
}

/* A copy of n elements, %1$s, by all threads of a grid: each turn of a thread is %2$s on. */
static const char copy_by_grid[] =
    "define void @kernel(ptr noalias %%to, ptr noalias %%from, i64 %%n, i64 %%threads) {\n"
    "entry:\n  br label %%iteration\n"
    "iteration:\n  %%x = phi i32 [ 0, %%entry ], [ %%x.next, %%x.latch ]\n"
    "  %%place = zext nneg i32 %%x to i64\n"
    "  br label %%turn\n"
    "turn:\n  %%i = phi i64 [ %%place, %%iteration ], [ %%i.next, %%turn ]\n"
    "  %%source = getelementptr %1$s, ptr %%from, i64 %%i\n"
    "  %%target = getelementptr %1$s, ptr %%to, i64 %%i\n"
    "  %%v = load %1$s, ptr %%source\n"
    "%3$s"
    "  store %1$s %%v%4$d, ptr %%target\n"
    "  %%i.next = add nuw nsw i64 %%i, %2$s\n"
    "  %%on = icmp ult i64 %%i.next, %%n\n"
    "  br i1 %%on, label %%turn, label %%x.latch\n"
    "x.latch:\n  %%x.next = add nuw nsw i32 %%x, 1\n"
    "  %%x.more = icmp ult i32 %%x.next, 256\n"
    "  br i1 %%x.more, label %%iteration, label %%done\n"
    "done:\n  ret void\n}\n";

/* sums: of the element with itself, before it is stored. */
static void expect_turns(const char *type, const char *step, int sums, const char *copies)
{
    char *work = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&work, &bytes);
    cr_assert_not_null(out);
    fprintf(out, "  %%v0 = add %s %%v, 0\n", type);
    for (int i = 1; i <= sums; i++)
        fprintf(out, "  %%v%d = mul %s %%v%d, %%v%d\n", i, type, i - 1, i - 1);
    fclose(out);
    char text[8192];
    cr_assert_lt((size_t)snprintf(text, sizeof text, copy_by_grid, type, step, work, sums),
                 sizeof text);
    expect_reason(text, false, copies);
    free(work);
}

Test(jam, turns_far_apart_fill_registers)
{
    static const char *const expected[][2] = {
        {"i8", "vectors of 64 threads, 4 side by side"}, /* all of the row */
        {"i32", "16 side by side: turns of a loop are far apart"},
        {"i64", "8 side by side: turns of a loop are far apart"},
    };
    for (int i = 0; i < 3; i++)
        expect_turns(expected[i][0], "%threads", 0, expected[i][1]);
    expect_turns("i32", "4096", 0, "16 side by side: turns of a loop are far apart");
}

Test(jam, turns_that_follow_each_other_in_memory_do_not)
{
    expect_turns("i32", "256", 0, "4 side by side: more would gain little");
}

Test(jam, long_turns_do_not)
{
    expect_turns("i32", "%threads", 30, "8 side by side: turns of a loop are far apart");
    expect_turns("i32", "%threads", 100, "4 side by side: more would gain little");
}

/* A thread of a row of 1024 adds so many numbers to its own. */
static void expect_copies_of_sum(int count, const char *copies)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fputs("define void @kernel(ptr noalias %a) {\n"
          "entry:\n  br label %iteration\n"
          "iteration:\n  %x = phi i32 [ 0, %entry ], [ %x.next, %iteration ]\n"
          "  %i = zext nneg i32 %x to i64\n  %at = getelementptr float, ptr %a, i64 %i\n"
          "  %s0 = load float, ptr %at\n",
          out);
    for (int k = 0; k < count; k++)
        fprintf(out, "  %%s%d = fadd float %%s%d, %d.0\n", k + 1, k, k + 1);
    fprintf(out,
            "  store float %%s%d, ptr %%at\n  %%x.next = add nuw nsw i32 %%x, 1\n"
            "  %%x.more = icmp ult i32 %%x.next, 1024\n"
            "  br i1 %%x.more, label %%iteration, label %%done\n"
            "done:\n  ret void\n}\n",
            count);
    fclose(out);
    expect_reason(text, false, copies);
    free(text);
}

Test(jam, long_straight_code_has_fewer_copies)
{
    expect_copies_of_sum(200, "vectors of 16 threads, 4 side by side");
    expect_copies_of_sum(450, "vectors of 16 threads, 2 side by side");
}
