/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for tests of the collapse, from LLVM's text: one thread's program, with placeholders.
 */
#ifndef PTXRUN_TESTS_COLLAPSE_KERNEL_TEXT_H
#define PTXRUN_TESTS_COLLAPSE_KERNEL_TEXT_H

#include "translator/collapse/collapse.h"

#define KERNEL_TEXT_LAYOUT                                                                         \
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

#define BARRIER "call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)\n"

/* %out: the first parameter, an address */
#define PARAMETER                                                                                  \
    "%record = load ptr, ptr %ctx, !invariant.load !0\n"                                           \
    "%launch = load ptr, ptr %record, !invariant.load !0\n"                                        \
    "%params = load ptr, ptr %launch, !invariant.load !0\n"                                        \
    "%out = load ptr, ptr %params, !invariant.load !0\n"

struct kernel_text {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMValueRef function;
    struct tr_kernel kernel;
    struct tr_storage storage;
};

/* body: what comes behind "define void @ptxrun_kernel(ptr %ctx) {", to the end of the module, with
 * "!0 = !{}" if it uses PARAMETER. */
struct kernel_text kernel_text_parse(const char *body);

/* Analyses the kernel of text->module, whose other fields may be empty, and plans its storage. */
void kernel_text_plan(struct kernel_text *text, enum tr_scope scope);

/* After kernel_text_plan. */
void kernel_text_end(struct kernel_text *text);

/* After kernel_text_plan: the value called so. */
uint32_t kernel_text_value(const struct kernel_text *text, const char *name);

#endif
