/* SPDX-License-Identifier: Apache-2.0
 *
 * module/distances.c: whether the distance from a place to the end of a row needs 32 bits.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <llvm-c/Analysis.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

/* What nvcc asks before it divides n - 1 - i: of an n in this range, on this side of this
 * comparison. */
static const char question[] = "define i1 @f(ptr %%p, i64 %%i) {\n"
                               "  %%n = load i64, ptr %%p, !range !0\n"
                               "  %%is_left = icmp %s\n"
                               "  br i1 %%is_left, label %s\n"
                               "inside:\n"
                               "  br label %%further\n"
                               "further:\n"
                               "  %%behind = xor i64 %%i, -1\n"
                               "  %%distance = add i64 %%n, %%behind\n"
                               "  %%is_short = icmp ult i64 %%distance, 4294967296\n"
                               "  ret i1 %%is_short\n"
                               "outside:\n"
                               "  ret i1 false\n}\n"
                               "!0 = !{i64 %s}\n";
#define INSIDE  "%inside, label %outside"
#define OUTSIDE "%outside, label %inside"
#define SMALL   "0, i64 1073741825"

static void expect_answered(const char *comparison, const char *ways, const char *range,
                            bool is_answered)
{
    char text[1024];
    snprintf(text, sizeof text, question, comparison, ways, range);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_bound_distances(module);
    char *message = NULL;
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    char *result = LLVMPrintModuleToString(module);
    cr_expect_eq(strstr(result, "ret i1 true") != NULL, is_answered, "%s", result);
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

Test(distances, of_a_place_before_a_near_end_are_short)
{
    expect_answered("ult i64 %i, %n", INSIDE, SMALL, true);
    expect_answered("ugt i64 %n, %i", INSIDE, SMALL, true);
    expect_answered("uge i64 %i, %n", OUTSIDE, SMALL, true);
    expect_answered("ule i64 %n, %i", OUTSIDE, "0, i64 4294967297", true);
}

Test(distances, of_other_places_and_ends_are_asked_for)
{
    expect_answered("ult i64 %i, %n", OUTSIDE, SMALL, false);
    expect_answered("ule i64 %i, %n", INSIDE, SMALL, false);
    expect_answered("slt i64 %i, %n", INSIDE, SMALL, false);
    expect_answered("ult i64 %n, %i", INSIDE, SMALL, false);
    expect_answered("ult i64 %i, %n", INSIDE, "0, i64 4294967298", false);
    expect_answered("ult i64 %i, %n", INSIDE, "-1, i64 5", false);
}
