/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the floating-point, comparison and conversion emitters. Private to translator/.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_EMIT_FLOAT_H
#define PTXRUN_TRANSLATOR_EMIT_EMIT_FLOAT_H

#include "translator/emit/emit.h"
#include "translator/rt/arith.h"

/* RN for anything that is no rounding mode. */
enum rt_round tr_round_mode(enum ptx_mod mod);

/* Subnormals to zero, keeping the sign. */
LLVMValueRef tr_ftz_f32(struct tr_ctx *ctx, LLVMValueRef value);

/* The same for a source of an instruction of the CPU, which may flush it by itself; not if LLVM
 * computes with it at once. */
LLVMValueRef tr_cpu_source_f32(struct tr_ctx *ctx, LLVMValueRef value);

/* ---- 16-bit types and pairs of them (emit_half.c) ---- */

static inline bool tr_is_half(enum ptx_type type)
{
    return type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 || type == PTX_TYPE_F16X2 ||
           type == PTX_TYPE_BF16X2;
}

static inline bool tr_is_half_pair(enum ptx_type type)
{
    return type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2;
}

/* enum rt_half of the type, as the constant helpers take. */
LLVMValueRef tr_half_format(struct tr_ctx *ctx, enum ptx_type type);

/* An i32 with a 16-bit result joined to the pair made so far (NULL: the low half). */
LLVMValueRef tr_half_join(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef part);

/* Half `index` of source operand `operand` as f32, flushed if the instruction says .ftz. */
LLVMValueRef tr_half_source_f32(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned operand,
                                enum ptx_type type, unsigned index);

/* d = helper(a, …, format) on each half, with .ftz, .sat, .relu and .oob; helper NULL: fma. */
enum pxr_status tr_half_arithmetic(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   const char *helper, unsigned source_count);

/* d = a op mask on each half: abs and neg. */
enum pxr_status tr_half_sign(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMOpcode op,
                             uint32_t mask);

/* ---- pairs of 4-, 6- and 8-bit floats (emit_convert_small.c) ---- */

bool tr_is_small(enum ptx_type type);

/* cvt to or from such a pair. */
enum pxr_status tr_convert_small(struct tr_ctx *ctx, const struct ptx_inst *inst);

/* flags: enum rt_minmax. */
enum pxr_status tr_half_minmax(struct tr_ctx *ctx, const struct ptx_inst *inst, uint32_t flags);

#endif
