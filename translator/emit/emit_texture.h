/* SPDX-License-Identifier: Apache-2.0
 *
 * What textures and surfaces share: handles and places.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_TEXTURE_H
#define PTXRUN_TRANSLATOR_EMIT_TEXTURE_H

#include "kernel_abi/texture.h"
#include "translator/emit/emit.h"

/* The handle in an operand [handle …], an i64: the address of a descriptor. Faults if what is there
 * has not this mark. */
LLVMValueRef tr_image_handle(struct tr_ctx *ctx, const struct ptx_operand *operand, uint32_t mark);

/* Whether the operand names a reference to a texture, sampler or surface; its handle, an i64. */
bool tr_is_reference(const struct ptx_operand *base);
LLVMValueRef tr_reference_handle(struct tr_ctx *ctx, const struct ptx_operand *base);

/* The kind of coordinates that the instruction has. */
enum rt_texture_kind tr_image_kind(const struct ptx_inst *inst);

/* x, y, z and the layer, each an i32; 0 where the kind has none. */
struct tr_place {
    LLVMValueRef at[4];
};
struct tr_place tr_read_place(struct tr_ctx *ctx, const struct ptx_operand *vector,
                              enum rt_texture_kind kind, enum ptx_type type);

/* Two i32 as an i64. */
LLVMValueRef tr_join(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high);

#endif
