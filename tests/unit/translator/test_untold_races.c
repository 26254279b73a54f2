/* SPDX-License-Identifier: Apache-2.0
 *
 * barriers/untold_races.c: kernels whose blocks tell each other nothing.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "kernel_abi/rt.h"
#include "tests/unit/vector/parse_ir.h"
#include "translator/barriers/untold_races.h"

/* A volatile write, with this in front of it. */
static const char kernel[] =
    "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"
    "declare void @rt_race_release(ptr, i64, i32)\n"
    "declare void @rt_race_fence(ptr)\n"
    "define void @f(ptr %%thread, i64 %%place, i32 %%is_ordered) {\n"
    "  %s\n"
    "  call void @rt_race_release(ptr %%thread, i64 %%place, i32 0)\n"
    "  call void @rt_race_access(ptr %%thread, i64 %%place, i64 4, i64 0, i32 17, i32 5)\n"
    "  ret void\n}\n";

/* What the check is told then; 0: the step does nothing. */
static unsigned told_behind(const char *line)
{
    char text[1024];
    snprintf(text, sizeof text, kernel, line);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse_ir(context, text);
    unsigned what = 0;
    if (tr_has_untold_races(module)) {
        tr_mark_untold_races(module);
        LLVMValueRef access = LLVMGetNamedFunction(module, "rt_race_access");
        LLVMValueRef call = LLVMGetUser(LLVMGetFirstUse(access));
        what = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 4));
        cr_expect_null(LLVMGetFirstUse(LLVMGetNamedFunction(module, "rt_race_release")));
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return what;
}

Test(untold_races, are_marked_without_fences)
{
    cr_expect_eq(told_behind(""), 17 | RT_RACE_UNTOLD);
}

Test(untold_races, are_not_marked_where_blocks_may_know)
{
    static const char *const lines[] = {
        "call void @rt_race_fence(ptr %thread)",
        "call void @rt_race_release(ptr %thread, i64 %place, i32 1)",
        "call void @rt_race_release(ptr %thread, i64 %place, i32 %is_ordered)",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_eq(told_behind(lines[i]), 0, "%s", lines[i]);
}
