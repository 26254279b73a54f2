/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels from text; see kernel_text.h.
 */
#include "kernel_text.h"

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARATIONS                                                                               \
    "target datalayout = \"" KERNEL_TEXT_LAYOUT "\"\n"                                             \
    "declare i32 @rt_sreg_tid_x(ptr)\n"                                                            \
    "declare i32 @rt_sreg_ctaid_x(ptr)\n"                                                          \
    "declare i32 @rt_sreg_ntid_x(ptr)\n"                                                           \
    "declare i32 @rt_sreg_clock(ptr)\n"                                                            \
    "declare void @rt_bar_sync(ptr, i32, i32) convergent\n"                                        \
    "declare i32 @rt_bar_red(ptr, i32, i32, i32, i32) convergent\n"                                \
    "declare void @rt_bar_arrive(ptr, i32, i32) convergent\n"                                      \
    "declare i64 @rt_shfl(ptr, i32, i32, i32, i32, i32) convergent\n"                              \
    "declare void @use(i64)\n"                                                                     \
    "define void @ptxrun_kernel(ptr %ctx) {\n"

struct kernel_text kernel_text_parse(const char *body)
{
    struct kernel_text text = {.context = LLVMContextCreate()};
    char *module = NULL;
    int len = asprintf(&module, "%s%s", DECLARATIONS, body);
    cr_assert_gt(len, 0);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(module, (size_t)len, "test.ll");
    char *message = NULL;
    LLVMBool failed = LLVMParseIRInContext2(text.context, buffer, &text.module, &message);
    cr_assert(!failed, "%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    free(module);
    return text;
}

void kernel_text_plan(struct kernel_text *text, enum tr_scope scope)
{
    struct pxr_error err = {0};
    struct tr_facts facts = {0};
    struct tr_target target = tr_target_find("", 512);
    text->function = LLVMGetNamedFunction(text->module, "ptxrun_kernel");
    cr_assert_eq(tr_kernel_build(&text->kernel, text->function, scope, &facts, &err), PXR_OK, "%s",
                 err.message);
    cr_assert_eq(tr_storage_plan(&text->kernel, &target.again, &text->storage, &err), PXR_OK, "%s",
                 err.message);
}

void kernel_text_end(struct kernel_text *text)
{
    tr_kernel_fini(&text->kernel);
    LLVMDisposeModule(text->module);
    LLVMContextDispose(text->context);
}

uint32_t kernel_text_value(const struct kernel_text *text, const char *name)
{
    for (uint32_t v = 0; v < text->kernel.graph.value_count; v++) {
        size_t len = 0;
        if (strcmp(LLVMGetValueName2(text->kernel.graph.values[v].llvm, &len), name) == 0)
            return v;
    }
    cr_assert_fail("no value %s", name);
    return TR_NONE;
}
