/* SPDX-License-Identifier: Apache-2.0
 *
 * Origins of values (struct tr_origin): of registers, and how they meet. Private to translator/.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_ORIGIN_H
#define PTXRUN_TRANSLATOR_EMIT_ORIGIN_H

#include "kernel_abi/numbers.h"
#include "translator/emit/emit.h"

/* Nothing is wrong. */
struct tr_origin tr_no_origin(struct tr_ctx *ctx);

/* Of a register; of anything else: none. */
struct tr_origin tr_origin_of(struct tr_ctx *ctx, const struct ptx_operand *operand);
void tr_set_origin(struct tr_ctx *ctx, const struct ptx_operand *operand,
                   const struct tr_origin *origin);

/* condition ? a : b */
struct tr_origin tr_choose_origin(struct tr_ctx *ctx, LLVMValueRef condition,
                                  const struct tr_origin *a, const struct tr_origin *b);

/* Of what is computed from both. */
struct tr_origin tr_meet_origins(struct tr_ctx *ctx, const struct tr_origin *a,
                                 const struct tr_origin *b);

/* The origin if the condition holds, or none. */
struct tr_origin tr_origin_if(struct tr_ctx *ctx, LLVMValueRef condition,
                              const struct tr_origin *origin);

/* i1: whether it is of this kind; whether there is one; whether the number is none, or another than
 * it should be. */
LLVMValueRef tr_origin_is(struct tr_ctx *ctx, const struct tr_origin *origin,
                          enum rt_number_kind kind);
LLVMValueRef tr_has_origin(struct tr_ctx *ctx, const struct tr_origin *origin);
LLVMValueRef tr_is_wrong_number(struct tr_ctx *ctx, const struct tr_origin *origin);

/* i32: the bits of a kind. */
LLVMValueRef tr_kind_bits(struct tr_ctx *ctx, enum rt_number_kind kind);

#endif
