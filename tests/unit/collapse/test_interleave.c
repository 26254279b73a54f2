/* SPDX-License-Identifier: Apache-2.0
 *
 * Which local arrays lie element after element, and that one that a thread has alone is the array
 * it was.
 */
#include "translator/collapse/interleave.h"

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

#include "kernel_text.h"

#define ARRAY                                                                                      \
    "entry:\n"                                                                                     \
    "%array = alloca [64 x i8], align 16\n"                                                        \
    "%start = ptrtoint ptr %array to i64\n"                                                        \
    "%index = call i32 @rt_sreg_tid_x(ptr %ctx)\n"                                                 \
    "%wide = zext i32 %index to i64\n"                                                             \
    "%offset = shl i64 %wide, 2\n"                                                                 \
    "%place = add i64 %start, %offset\n"                                                           \
    "%element = inttoptr i64 %place to ptr\n"

#define END                                                                                        \
    "ret void\n}\n"                                                                                \
    "declare void @rt_fault(ptr, i32, i64)\n"                                                      \
    "declare void @outside(ptr)\n"                                                                 \
    "!0 = !{}\n"

/* Bytes of the array's elements, 0 if it stays in one piece. The kernel must stay one. */
static uint32_t unit_of(const char *body)
{
    struct kernel_text text = kernel_text_parse(body);
    bool has_changed = false;
    char *message = NULL;
    LLVMValueRef function = LLVMGetNamedFunction(text.module, "ptxrun_kernel");
    LLVMValueRef array = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    cr_assert_eq(tr_interleave(function, &has_changed, NULL), PXR_OK);
    cr_assert(!LLVMVerifyModule(text.module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    uint32_t unit = tr_interleaved_unit(array);
    cr_assert_eq(has_changed, unit != 0);
    LLVMDisposeModule(text.module);
    LLVMContextDispose(text.context);
    return unit;
}

Test(interleave, elements_have_the_size_of_the_smallest_access)
{
    cr_assert_eq(unit_of(ARRAY "store i32 1, ptr %element, align 4\n"
                               "%v = load float, ptr %element, align 4\n" END),
                 4);
    cr_assert_eq(unit_of(ARRAY "store i32 1, ptr %element, align 4\n"
                               "%v = load double, ptr %array, align 8\n" END),
                 4);
    cr_assert_eq(unit_of(ARRAY "%v = load i8, ptr %element, align 1\n" END), 1);
}

Test(interleave, words_of_less_than_four_bytes_are_not_put_together)
{
    cr_assert_eq(unit_of(ARRAY "store i16 1, ptr %element, align 2\n"
                               "%v = load i32, ptr %array, align 4\n" END),
                 0);
}

Test(interleave, pointers_that_go_through_the_array_are_of_it)
{
    cr_assert_eq(unit_of(ARRAY "%end = add i64 %start, 64\n"
                               "br label %loop\n"
                               "loop:\n"
                               "%p = phi i64 [ %place, %entry ], [ %q, %loop ]\n"
                               "%at = inttoptr i64 %p to ptr\n"
                               "%third = getelementptr float, ptr %at, i32 -3\n"
                               "store float 1.0, ptr %third, align 4\n"
                               "%q = add i64 %p, 4\n"
                               "%more = icmp ne i64 %q, %end\n"
                               "br i1 %more, label %loop, label %after\n"
                               "after:\n" END),
                 4);
}

Test(interleave, a_misaligned_address_is_still_found)
{
    cr_assert_eq(unit_of(ARRAY "%bits = and i64 %place, 3\n"
                               "%is_bad = icmp ne i64 %bits, 0\n"
                               "br i1 %is_bad, label %bad, label %good\n"
                               "bad:\n"
                               "call void @rt_fault(ptr %ctx, i32 1, i64 %place)\n"
                               "unreachable\n"
                               "good:\n"
                               "store float 1.0, ptr %element, align 4\n" END),
                 4);
}

Test(interleave, an_array_whose_address_goes_elsewhere_stays_in_one_piece)
{
    static const char *const ways[] = {
        "call void @outside(ptr %element)\n",
        "store i64 %place, ptr %element, align 8\n",
        "store ptr %element, ptr %ctx, align 8\n",
        "%half = trunc i64 %place to i32\nstore i32 %half, ptr %array, align 4\n",
        "%is_low = icmp ult i64 %place, %wide\n",
        "%bits = and i64 %place, 31\n",
        "%is_one = icmp eq ptr %element, %ctx\n",
        "%twice = add i64 %place, %start\n",
        "%either = select i1 true, ptr %element, ptr %ctx\nstore i32 1, ptr %either, align 4\n",
        "%v = load volatile i32, ptr %element, align 4\n",
        "store atomic i32 1, ptr %element monotonic, align 4\n",
        "%v = load <2 x float>, ptr %element, align 4\n",
        "%v = load ptr, ptr %array, align 8\n",
        "%v = atomicrmw add ptr %element, i32 1 monotonic\n",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s%s%s", ARRAY, "store i32 1, ptr %element, align 4\n",
                 ways[i], END);
        cr_expect_eq(unit_of(body), 0, "%s", ways[i]);
    }
}

Test(interleave, a_thread_alone_has_a_pitch_of_one)
{
    struct kernel_text text = kernel_text_parse(ARRAY "store i32 1, ptr %element, align 4\n" END);
    bool has_changed = false;
    LLVMValueRef function = LLVMGetNamedFunction(text.module, "ptxrun_kernel");
    cr_assert_eq(tr_interleave(function, &has_changed, NULL), PXR_OK);
    tr_interleave_alone(function);
    char *printed = LLVMPrintValueToString(function);
    cr_assert_null(strstr(printed, "pitch"), "%s", printed);
    LLVMDisposeMessage(printed);
    LLVMDisposeModule(text.module);
    LLVMContextDispose(text.context);
}
