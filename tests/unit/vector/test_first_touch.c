/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that begin with rows of loads side by side ask for their lines in the order of memory,
 * once, before the first load; others do not.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/plan/vector_options.h"
#include "translator/vector/vector.h"

#define THREADS 256

/* out[x] = in[x] + in[x + …] + in[x + …] of THREADS floats. */
static const char sum_of_three[] =
    "define void @kernel(ptr noalias %%in, ptr noalias %%out) {\n"
    "entry:\n  br label %%iteration\n"
    "iteration:\n  %%x = phi i32 [ 0, %%entry ], [ %%x.next, %%iteration ]\n"
    "  %%i = zext nneg i32 %%x to i64\n"
    "  %%at = getelementptr float, ptr %%in, i64 %%i\n  %%a = load float, ptr %%at\n"
    "  %%at1 = getelementptr i8, ptr %%at, i64 %d\n  %%b = load float, ptr %%at1\n"
    "  %%at2 = getelementptr i8, ptr %%at, i64 %d\n  %%c = load float, ptr %%at2\n"
    "  %%ab = fadd float %%a, %%b\n  %%abc = fadd float %%ab, %%c\n"
    "  %%to = getelementptr float, ptr %%out, i64 %%i\n  store float %%abc, ptr %%to\n"
    "  %%x.next = add nuw nsw i32 %%x, 1\n  %%more = icmp ult i32 %%x.next, 256\n"
    "  br i1 %%more, label %%iteration, label %%done\n"
    "done:\n  ret void\n}\n";

static void mark_loads(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst;
             inst = LLVMGetNextInstruction(inst))
            if (LLVMIsALoadInst(inst))
                tr_mark(inst, TR_MARK_FIRST);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* lines: what the loop that asks ends at, in bytes; 0: there is none. */
static void expect_lines_of(const char *text, bool is_marked, uint32_t skipped, unsigned lines)
{
    char end[64];
    struct tr_target target = tr_target_find("", 512);
    struct tr_vector_options options = {.target = &target, .is_forced = true, .skipped = skipped};
    struct tr_vector_report report;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    if (is_marked)
        mark_loads(function);
    tr_mark_threads(LLVMGetPreviousBasicBlock(LLVMGetLastBasicBlock(function)), 'x', 0);
    cr_assert_eq(tr_vectorise(function, &options, &report, NULL), PXR_OK);
    cr_assert_eq(report.widened_count, 1u, "%s", report.explanation);
    char *ir = LLVMPrintValueToString(function);
    cr_expect_eq(count_of(ir, "call void @llvm.prefetch"), lines > 0, "%s", ir);
    snprintf(end, sizeof end, ", %u\n", lines);
    cr_expect(lines == 0 || strstr(ir, end) != NULL, "%u in\n%s", lines, ir);
    LLVMDisposeMessage(ir);
    free(report.explanation);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static void expect_lines(int second, int third, bool is_marked, uint32_t skipped, unsigned lines)
{
    char text[sizeof sum_of_three + 32];
    snprintf(text, sizeof text, sum_of_three, second, third);
    expect_lines_of(text, is_marked, skipped, lines);
}

/* out[x] = in[x] + in[x + 64] + … of count rows of 64 floats. */
static char *sum_of_rows(unsigned count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fputs("define void @kernel(ptr noalias %in, ptr noalias %out) {\n"
          "entry:\n  br label %iteration\n"
          "iteration:\n  %x = phi i32 [ 0, %entry ], [ %x.next, %iteration ]\n"
          "  %i = zext nneg i32 %x to i64\n  %at = getelementptr float, ptr %in, i64 %i\n"
          "  %sum0 = load float, ptr %at\n",
          out);
    for (unsigned i = 1; i < count; i++)
        fprintf(out,
                "  %%at%u = getelementptr i8, ptr %%at, i64 %u\n  %%v%u = load float, ptr %%at%u\n"
                "  %%sum%u = fadd float %%sum%u, %%v%u\n",
                i, i * 256, i, i, i, i - 1, i);
    fprintf(out,
            "  %%to = getelementptr float, ptr %%out, i64 %%i\n  store float %%sum%u, ptr %%to\n"
            "  %%x.next = add nuw nsw i32 %%x, 1\n  %%more = icmp ult i32 %%x.next, 64\n"
            "  br i1 %%more, label %%iteration, label %%done\ndone:\n  ret void\n}\n",
            count - 1);
    fclose(out);
    return text;
}

Test(first_touch, rows_side_by_side_are_asked_for_once)
{
    expect_lines(4 * THREADS, 8 * THREADS, true, 0, 12 * THREADS);
    expect_lines(8 * THREADS, 4 * THREADS, true, 0, 12 * THREADS);
    expect_lines(-4 * THREADS, 4 * THREADS, true, 0, 12 * THREADS);
}

Test(first_touch, rows_elsewhere_are_streams_of_their_own)
{
    expect_lines(1 << 20, 2 << 20, true, 0, 0);
    expect_lines(1 << 20, 4 * THREADS, true, 0, 8 * THREADS);
}

/* Rows that nearly are the same are one stream. */
Test(first_touch, one_row_and_its_neighbours_are_not)
{
    expect_lines(0, 0, true, 0, 0);
    expect_lines(-4, 4, true, 0, 0);
}

Test(first_touch, only_where_blocks_begin)
{
    expect_lines(4 * THREADS, 8 * THREADS, false, 0, 0);
}

Test(first_touch, it_can_be_skipped)
{
    expect_lines(4 * THREADS, 8 * THREADS, true, 1u << TR_TUNING_PREFETCH, 0);
}

/* Each row is compared with all others, which takes too long where there are many. */
Test(first_touch, many_rows_are_left_alone)
{
    char *few = sum_of_rows(32), *many = sum_of_rows(33);
    expect_lines_of(few, true, 0, 32 * 256);
    expect_lines_of(many, true, 0, 0);
    free(few);
    free(many);
}
