/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernels line up before their first warp operation, so that the loop before it runs for all
 * warps at once.
 */
#include "translator/collapse/tuning/line_up.h"

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "kernel_text.h"
#include "translator/analysis/calls.h"

#define THREAD "%t = call i32 @rt_sreg_tid_x(ptr %ctx)\n"

/* Adds up something per thread, as often as its number says, to %sum. */
#define LOOP                                                                                       \
    "br label %loop\n"                                                                             \
    "loop:\n%i = phi i32 [ 0, %0 ], [ %next, %loop ]\n"                                            \
    "%old = phi i32 [ 0, %0 ], [ %sum, %loop ]\n%sum = add i32 %old, %i\n"                         \
    "%next = add i32 %i, 1\n%more = icmp ult i32 %next, %t\n"                                      \
    "br i1 %more, label %loop, label %behind\nbehind:\n"

#define SHUFFLE(name, what)                                                                        \
    "%" name " = call i64 @rt_shfl(ptr %ctx, i32 0, i32 " what ", i32 1, i32 31, i32 -1)\n"        \
    "call void @use(i64 %" name ")\n"

#define END "ret void\n}\n!0 = !{}\n"

static uint32_t line_ups(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, "rt_line_up");
    uint32_t count = 0;
    for (LLVMUseRef use = function == NULL ? NULL : LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef behind = LLVMGetNextInstruction(LLVMGetUser(use));
        cr_expect(tr_placeholder_of(behind) == RT_CALL_SHFL, "it stands before the operation");
        count++;
    }
    return count;
}

static uint32_t count_line_ups(const char *body, enum pxr_collapse collapse)
{
    struct kernel_text text = kernel_text_parse(body);
    struct tr_facts facts = {0};
    struct tr_collapse_options options = {.facts = &facts};
    struct tr_collapsing collapsing = {.module = text.module,
                                       .function =
                                           LLVMGetNamedFunction(text.module, "ptxrun_kernel"),
                                       .options = &options,
                                       .collapse = collapse};
    struct pxr_error err = {0};
    cr_assert_eq(tr_line_up_warps(&collapsing, &err), PXR_OK, "%s", err.message);
    uint32_t count = line_ups(text.module);
    LLVMDisposeModule(text.module);
    LLVMContextDispose(text.context);
    return count;
}

Test(line_up, behind_a_loop_and_before_the_first_operation_of_a_warp)
{
    const char *body = THREAD LOOP SHUFFLE("a", "%sum") SHUFFLE("b", "%t") END;
    cr_expect_eq(count_line_ups(body, PXR_COLLAPSE_HIERARCHICAL), 1);
    cr_expect_eq(count_line_ups(body, PXR_COLLAPSE_FLAT), 0, "no group is a warp");
}

Test(line_up, not_without_a_loop)
{
    cr_expect_eq(count_line_ups(THREAD SHUFFLE("a", "%t") END, PXR_COLLAPSE_HIERARCHICAL), 0);
}

Test(line_up, not_before_what_comes_again)
{
    cr_expect_eq(
        count_line_ups(THREAD LOOP "br label %again\nagain:\n" SHUFFLE(
                           "a", "%sum") "%stop = trunc i64 %a to i1\n"
                                        "br i1 %stop, label %again, label %end\nend:\n" END,
                       PXR_COLLAPSE_HIERARCHICAL),
        0);
}

Test(line_up, not_where_some_never_come)
{
    cr_expect_eq(count_line_ups(THREAD LOOP "%some = icmp ult i32 %sum, 9\n"
                                            "br i1 %some, label %meet, label %end\n"
                                            "meet:\n" SHUFFLE("a", "%sum") "br label %end\n"
                                                                           "end:\n" END,
                                PXR_COLLAPSE_HIERARCHICAL),
                 0);
    cr_expect_eq(
        count_line_ups(THREAD LOOP BARRIER SHUFFLE("a", "%sum") END, PXR_COLLAPSE_HIERARCHICAL), 0,
        "they meet before");
}
