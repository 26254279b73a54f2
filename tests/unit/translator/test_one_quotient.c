/* SPDX-License-Identifier: Apache-2.0
 *
 * module/one_quotient.c: numbers of turns that nvcc divides as 32 or as 64 bits.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <llvm-c/Analysis.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

/* With the divisor, the question, the ways it leads to, and what becomes of the quotient. */
static const char function[] = "define i64 @f(i64 %%a, i32 %%threads, i64 %%b, i64 %%c) {\n"
                               "  %%divisor = %s\n"
                               "  %%both = or i64 %%a, %%divisor\n"
                               "  %%is_short = icmp %s\n"
                               "  br i1 %%is_short, label %s\n"
                               "wide:\n"
                               "  %%long = udiv i64 %%a, %%divisor\n"
                               "  br label %%end\n"
                               "narrow:\n"
                               "  %%low = trunc i64 %%a to i32\n"
                               "  %%half = %s\n"
                               "  %%short = udiv i32 %%low, %%half\n"
                               "  %%extended = zext i32 %%short to i64\n"
                               "  br label %%end\n"
                               "end:\n"
                               "  %%q = phi i64 [ %%long, %%wide ], [ %%extended, %%narrow ]\n"
                               "  %%r = %s\n"
                               "  ret i64 %%r\n}\n";
#define OTHER  "add i64 %b, 0"
#define SHORT  "ult i64 %a, 4294967296"
#define NARROW "%narrow, label %wide"
#define WIDE   "%wide, label %narrow"
#define TURNS  "and i64 %q, 3"

struct division {
    const char *divisor;
    const char *question;
    const char *ways;
    const char *half;
    const char *use;
};

static void expect_once(struct division division, bool is_once)
{
    char text[2048];
    snprintf(text, sizeof text, function, division.divisor, division.question, division.ways,
             division.half, division.use);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_divide_once(module);
    char *message = NULL;
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    char *result = LLVMPrintModuleToString(module);
    cr_expect_eq(strstr(result, "phi") == NULL, is_once, "%s", result);
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

#define LOW "trunc i64 %divisor to i32"

Test(one_quotient, of_numbers_asked_for_is_divided_once)
{
    expect_once((struct division){OTHER, "ult i64 %both, 4294967296", NARROW, LOW, TURNS}, true);
    expect_once((struct division){OTHER, "ugt i64 %both, 4294967295", WIDE, LOW, TURNS}, true);
    expect_once((struct division){OTHER, "ult i64 %both, 4294967296", NARROW, LOW, "add i64 %q, 1"},
                true);
    expect_once((struct division){OTHER, SHORT, NARROW, "trunc nuw i64 %divisor to i32", TURNS},
                true);
}

Test(one_quotient, of_numbers_that_may_be_long_keeps_its_branch)
{
    expect_once((struct division){OTHER, SHORT, NARROW, LOW, TURNS}, false);
    expect_once((struct division){OTHER, "ult i64 %both, 4294967297", NARROW, LOW, TURNS}, false);
    expect_once((struct division){OTHER, "ult i64 %both, 4294967296", WIDE, LOW, TURNS}, false);
    expect_once((struct division){OTHER, "ult i64 %c, 4294967296", NARROW, LOW, TURNS}, false);
    expect_once(
        (struct division){OTHER, "ult i64 %both, 4294967296", NARROW, "trunc i64 %c to i32", TURNS},
        false);
}

Test(one_quotient, that_counts_no_turns_keeps_its_branch)
{
    expect_once(
        (struct division){OTHER, "ult i64 %both, 4294967296", NARROW, LOW, "mul i64 %q, %c"},
        false);
    expect_once(
        (struct division){OTHER, "ult i64 %both, 4294967296", NARROW, LOW, "add i64 %q, %c"},
        false);
}

/* What is extended has 32 bits anyway. */
Test(one_quotient, by_an_extended_number_is_divided_once)
{
    static const char text[] = "define i64 @f(i64 %a, i32 %threads) {\n"
                               "  %is_short = icmp ult i64 %a, 4294967296\n"
                               "  br i1 %is_short, label %narrow, label %wide\n"
                               "wide:\n"
                               "  %divisor = zext i32 %threads to i64\n"
                               "  %long = udiv i64 %a, %divisor\n"
                               "  br label %end\n"
                               "narrow:\n"
                               "  %low = trunc i64 %a to i32\n"
                               "  %short = udiv i32 %low, %threads\n"
                               "  %extended = zext i32 %short to i64\n"
                               "  br label %end\n"
                               "end:\n"
                               "  %q = phi i64 [ %long, %wide ], [ %extended, %narrow ]\n"
                               "  %r = and i64 %q, 3\n"
                               "  ret i64 %r\n}\n";
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_divide_once(module);
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
    char *result = LLVMPrintModuleToString(module);
    cr_expect_null(strstr(result, "phi"), "%s", result);
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* With what becomes of the quotient: the divisor may be 0. */
static const char asking[] = "define i64 @f(i64 %%a, i32 %%threads) {\n"
                             "  %%divisor = zext i32 %%threads to i64\n"
                             "  %%is_short = icmp ult i64 %%a, 4294967296\n"
                             "  br i1 %%is_short, label %%narrow, label %%wide\n"
                             "wide:\n"
                             "  %%none = icmp eq i32 %%threads, 0\n"
                             "  %%some = call i64 @llvm.umax.i64(i64 %%divisor, i64 1)\n"
                             "  %%long = udiv i64 %%a, %%some\n"
                             "  %%chosen = select i1 %%none, i64 %s, i64 %%long\n"
                             "  br label %%end\n"
                             "narrow:\n"
                             "  %%low = trunc i64 %%a to i32\n"
                             "  %%no = icmp eq i32 %%threads, 0\n"
                             "  %%one = call i32 @llvm.umax.i32(i32 %%threads, i32 1)\n"
                             "  %%short = udiv i32 %%low, %%one\n"
                             "  %%half = select i1 %%no, i32 -1, i32 %%short\n"
                             "  %%extended = zext i32 %%half to i64\n"
                             "  br label %%end\n"
                             "end:\n"
                             "  %%q = phi i64 [ %%chosen, %%wide ], [ %%extended, %%narrow ]\n"
                             "  %s\n"
                             "  ret i64 %%r\n}\n"
                             "declare i32 @llvm.umax.i32(i32, i32)\n"
                             "declare i64 @llvm.umax.i64(i64, i64)\n";

static void expect_once_asking(const char *of_zero, const char *use, bool is_once)
{
    char text[2048];
    snprintf(text, sizeof text, asking, of_zero, use);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_divide_once(module);
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
    char *result = LLVMPrintModuleToString(module);
    cr_expect_eq(strstr(result, "phi") == NULL, is_once, "%s", result);
    LLVMDisposeMessage(result);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

Test(one_quotient, by_what_may_be_zero_is_divided_once_where_nobody_can_tell)
{
    expect_once_asking("-1", "%r = and i64 %q, 3", true);
    expect_once_asking("-1", "%n = add i64 %q, 1\n %r = and i64 %n, 3", true);
    expect_once_asking("-1", "%p = icmp ult i64 %q, 3\n %r = zext i1 %p to i64", true);
    expect_once_asking("-1", "%r = add i64 %q, 1", false);
    expect_once_asking("-1", "%r = and i64 %q, 4294967299", false);
    expect_once_asking("-1", "%p = icmp ult i64 %q, 4294967295\n %r = zext i1 %p to i64", false);
    expect_once_asking("-1", "%p = icmp slt i64 %q, 3\n %r = zext i1 %p to i64", false);
    expect_once_asking("0", "%r = and i64 %q, 3", false);
}
