/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 1 for kernels that are too large for passes (translator/module/budget.h): everything in time
 * and memory that grow like the text.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_LINEAR_H
#define PTXRUN_TRANSLATOR_EMIT_LINEAR_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

struct ptx_func;
struct tr_ctx;

/* Asks the budget for a function that is about to be emitted. */
void tr_measure_text(struct tr_ctx *ctx, const struct ptx_func *func);

/* The function is about to be deleted: it is the one that was begun last. */
void tr_forget_registers(struct tr_ctx *ctx, LLVMValueRef function);

#endif
