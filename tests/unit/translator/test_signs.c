/* SPDX-License-Identifier: Apache-2.0
 *
 * module/signs.c: signed arithmetic on numbers that are never negative.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <llvm-c/Analysis.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"

/* i / 64 and i % 64 as nvcc writes them, of a number that was cut with these flags. */
static const char division[] = "define i32 @f(i64 %%i) {\n"
                               "  %%n = trunc %s i64 %%i to i32\n"
                               "  %%sign = ashr i32 %%n, 31\n"
                               "  %%bias = lshr i32 %%sign, 26\n"
                               "  %%sum = add i32 %%bias, %%n\n"
                               "  %%quotient = ashr i32 %%sum, 6\n"
                               "  %%multiple = and i32 %%sum, -64\n"
                               "  %%rest = sub i32 %%n, %%multiple\n"
                               "  %%is_negative = icmp ne i32 %%sign, 0\n"
                               "  %%either = select i1 %%is_negative, i32 1, i32 %%rest\n"
                               "  %%result = mul i32 %%quotient, %%either\n"
                               "  ret i32 %%result\n}\n";

/* What the step makes of it; free with LLVMDisposeMessage. */
static char *rewritten(const char *flags)
{
    char text[1024];
    snprintf(text, sizeof text, division, flags);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    tr_use_signs(module);
    char *message = NULL;
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    char *result = LLVMPrintModuleToString(module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return result;
}

Test(signs, divisions_are_shifts)
{
    static const char *const lines[] = {"lshr i32 %n, 6", "and i32 %n, -64",
                                        "sub i32 %n, %multiple", "icmp ne i32 0, 0"};
    char *text = rewritten("nuw nsw");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(text, lines[i]) != NULL, "no '%s' in\n%s", lines[i], text);
    cr_expect(strstr(text, "ashr") == NULL, "%s", text);
    cr_expect(strstr(text, "add") == NULL, "%s", text);
    LLVMDisposeMessage(text);
}

Test(signs, numbers_that_may_be_negative_stay)
{
    static const char *const flags[] = {"", "nsw", "nuw"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char *text = rewritten(flags[i]);
        cr_expect(strstr(text, "ashr i32 %n, 31") != NULL, "%s", text);
        cr_expect(strstr(text, "ashr i32 %sum, 6") != NULL, "%s", text);
        LLVMDisposeMessage(text);
    }
}
