/* SPDX-License-Identifier: Apache-2.0
 *
 * Bits that are flipped of a sum are flipped of the part that has them, where the loop over threads
 * says that the other part has none of them, and nowhere else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "parse_ir.h"
#include "translator/module/marks.h"
#include "translator/vector/plan/plan.h"

/* A loop of so many threads that stores %flipped, made by these lines of %high, %low and %x. */
static const char loop[] =
    "define void @row(ptr %%a, i32 %%k) {\n"
    "entry:\n  %%high = shl i32 %%k, 11\n  br label %%iteration\n"
    "iteration:\n  %%x = phi i32 [ 0, %%entry ], [ %%x.next, %%iteration ]\n"
    "  %%low = shl nuw nsw i32 %%x, 2\n%s"
    "  store i32 %%flipped, ptr %%a\n"
    "  %%x.next = add nuw nsw i32 %%x, 1\n  %%x.more = icmp ult i32 %%x.next, %s\n"
    "  br i1 %%x.more, label %%iteration, label %%done\n"
    "done:\n  ret void\n}\n";

/* Whether %flipped is a sum afterwards, one part of which is the other with flipped bits. */
static bool flips_part(const char *lines, const char *threads)
{
    char text[2048];
    snprintf(text, sizeof text, loop, lines, threads);
    LLVMContextRef context = LLVMContextCreate();
    LLVMValueRef function = LLVMGetNamedFunction(parse_ir(context, text), "row");
    LLVMBasicBlockRef latch = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(function));
    struct tr_nest *nests = NULL;
    uint32_t count = 0;
    tr_mark_threads(latch, 'x', 0);
    cr_assert_eq(tr_find_nests(function, &nests, &count, NULL), PXR_OK);
    cr_assert_eq(count, 1);
    tr_flip_parts(function, nests, count);
    free(nests);
    LLVMValueRef store = LLVMGetFirstInstruction(latch);
    while (LLVMIsAStoreInst(store) == NULL)
        store = LLVMGetNextInstruction(store);
    LLVMValueRef sum = LLVMGetOperand(store, 0);
    bool is_sum = LLVMGetInstructionOpcode(sum) == LLVMOr && LLVMGetIsDisjoint(sum);
    LLVMContextDispose(context);
    return is_sum;
}

#define SUM(a, b)  "  %sum = or disjoint i32 " a ", " b "\n"
#define FLIP(bits) "  %flipped = xor i32 %sum, " bits "\n"

Test(flipped_bits, bits_above_those_of_all_threads_are_flipped_of_the_other_part)
{
    cr_expect(flips_part(SUM("%high", "%low") FLIP("2048"), "256"));
    cr_expect(flips_part(SUM("%low", "%high") FLIP("2048"), "512"));
    cr_expect(flips_part(
        "  %more = or disjoint i32 %high, 1024\n" SUM("%more", "%low") FLIP("3072"), "256"));
    cr_expect(flips_part("  %even = and i32 %low, 56\n" SUM("%high", "%even") FLIP("64"), "1024"));
    cr_expect(flips_part("  %half = lshr i32 %low, 1\n" SUM("%high", "%half") FLIP("512"), "256"));
}

Test(flipped_bits, bits_that_threads_may_have_stay_flipped_of_the_sum)
{
    cr_expect_not(flips_part(SUM("%high", "%low") FLIP("2048"), "513"));
    cr_expect_not(flips_part(SUM("%high", "%low") FLIP("2052"), "256"));
    cr_expect_not(flips_part(SUM("%high", "%low") FLIP("-1"), "256"));
    cr_expect_not(flips_part(SUM("%high", "%low") FLIP("2048"), "%k"));
    cr_expect_not(flips_part("  %sum = or i32 %high, %low\n" FLIP("2048"), "256"));
}
