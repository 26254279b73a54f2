/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 1 for kernels that are too large for passes (translator/module/budget.h): its time and
 * memory are linear in the text.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_LINEAR_H
#define PTXRUN_TRANSLATOR_EMIT_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "util/error.h"

struct ptx_func;
struct tr_ctx;

/* Asks the budget for a function that is about to be emitted. */
void tr_measure_text(struct tr_ctx *ctx, const struct ptx_func *func);

/* Memory for passing an argument or result. Without passes every alloca has a place of its own in
 * the frame, so this memory is used again where the source block that it belongs to has ended.
 * NULL: this function gets passes, or the memory cannot be shared. */
LLVMValueRef tr_passing_memory(struct tr_ctx *ctx, uint64_t size_bytes, unsigned align);
void tr_begin_text_block(struct tr_ctx *ctx);
void tr_end_text_block(struct tr_ctx *ctx);

/* Call it before the function is deleted: it is the one that was begun last. */
void tr_forget_registers(struct tr_ctx *ctx, LLVMValueRef function);

#endif
