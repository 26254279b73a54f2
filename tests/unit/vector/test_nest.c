/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks of loops over threads: what they leave alone, and that loops are found by them. Forms of
 * loops are in tests/vector/iterations.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/plan/plan.h"

static const char rows[] =
    "define void @rows(ptr %a) {\n"
    "entry:\n  br label %row\n"
    "row:\n  %y = phi i32 [ 0, %entry ], [ %y.next, %row.latch ]\n  br label %iteration\n"
    "iteration:\n  %x = phi i32 [ 0, %row ], [ %x.next, %iteration ]\n"
    "  store i32 %x, ptr %a\n"
    "  %x.next = add nuw nsw i32 %x, 1\n  %x.more = icmp ult i32 %x.next, 32\n"
    "  br i1 %x.more, label %iteration, label %row.latch, !llvm.loop !0\n"
    "row.latch:\n"
    "  %y.next = add nuw nsw i32 %y, 1\n  %y.more = icmp ult i32 %y.next, 8\n"
    "  br i1 %y.more, label %row, label %done\n"
    "done:\n  ret void\n}\n"
    "!0 = distinct !{!0, !1}\n!1 = !{!\"llvm.loop.unroll.disable\"}\n";

struct parsed {
    LLVMContextRef context;
    LLVMValueRef function;
    LLVMBasicBlockRef x_latch;
    LLVMBasicBlockRef y_latch;
};

static struct parsed parse(void)
{
    struct parsed parsed = {.context = LLVMContextCreate()};
    parsed.function = LLVMGetNamedFunction(parse_ir(parsed.context, rows), "rows");
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(parsed.function);
    parsed.x_latch = LLVMGetNextBasicBlock(LLVMGetNextBasicBlock(entry));
    parsed.y_latch = LLVMGetNextBasicBlock(parsed.x_latch);
    return parsed;
}

static uint32_t count_nests(const struct parsed *parsed, bool *has_rows)
{
    struct tr_nest *nests = NULL;
    uint32_t count = 0;
    cr_assert_eq(tr_find_nests(parsed->function, &nests, &count, NULL), PXR_OK);
    *has_rows = count > 0 && nests[0].y.header != NULL;
    free(nests);
    return count;
}

Test(nest, loops_without_a_mark_are_left_alone)
{
    struct parsed parsed = parse();
    bool has_rows = false;
    cr_assert_eq(count_nests(&parsed, &has_rows), 0);
    LLVMContextDispose(parsed.context);
}

Test(nest, a_row_is_found_without_rows_and_with_them)
{
    struct parsed parsed = parse();
    bool has_rows = true;
    tr_mark_threads(parsed.x_latch, 'x', 0);
    cr_assert_eq(count_nests(&parsed, &has_rows), 1);
    cr_assert_not(has_rows);
    tr_mark_threads(parsed.y_latch, 'y', 0);
    cr_assert_eq(count_nests(&parsed, &has_rows), 1);
    cr_assert(has_rows);
    LLVMContextDispose(parsed.context);
}

Test(nest, rows_alone_are_no_nest)
{
    struct parsed parsed = parse();
    bool has_rows = false;
    tr_mark_threads(parsed.y_latch, 'y', 0);
    cr_assert_eq(count_nests(&parsed, &has_rows), 0);
    LLVMContextDispose(parsed.context);
}

Test(nest, a_mark_keeps_what_the_loop_said_of_itself)
{
    struct parsed parsed = parse();
    tr_mark_threads(parsed.x_latch, 'x', 0);
    char *text = LLVMPrintModuleToString(LLVMGetGlobalParent(parsed.function));
    cr_assert_not_null(strstr(text, "llvm.loop.unroll.disable"));
    cr_assert_not_null(strstr(text, "\"ptxrun.threads\", !\"x\""));
    LLVMDisposeMessage(text);
    LLVMContextDispose(parsed.context);
}

Test(nest, a_row_knows_the_blocks_that_it_goes_through)
{
    static const uint32_t widths[] = {0, 1, 24};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        struct parsed parsed = parse();
        struct tr_nest *nests = NULL;
        uint32_t count = 0;
        tr_mark_threads(parsed.x_latch, 'x', widths[i]);
        cr_assert_eq(tr_find_nests(parsed.function, &nests, &count, NULL), PXR_OK);
        cr_assert_eq(count, 1);
        cr_expect_eq(nests[0].x.block_row, widths[i]);
        free(nests);
        LLVMContextDispose(parsed.context);
    }
}

Test(nest, two_loops_have_marks_of_their_own)
{
    struct parsed parsed = parse();
    tr_mark_threads(parsed.x_latch, 'x', 0);
    tr_mark_threads(parsed.y_latch, 'x', 0);
    unsigned kind = LLVMGetMDKindIDInContext(parsed.context, "llvm.loop", 9);
    LLVMValueRef first = LLVMGetMetadata(LLVMGetBasicBlockTerminator(parsed.x_latch), kind);
    LLVMValueRef second = LLVMGetMetadata(LLVMGetBasicBlockTerminator(parsed.y_latch), kind);
    cr_assert_neq(LLVMValueAsMetadata(first), LLVMValueAsMetadata(second));
    LLVMContextDispose(parsed.context);
}
