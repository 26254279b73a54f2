/* SPDX-License-Identifier: Apache-2.0
 *
 * mov: registers, special registers, addresses of symbols, packing and unpacking of vectors. Its
 * forms are forms of operands, so emit_operand.c does the work.
 */
#include "translator/emit/emit.h"

/* mov.v2, mov.v4: element by element; all sources are read first. */
static enum pxr_status move_vector(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    unsigned count = ptx_inst_vector_len(inst);
    struct ptx_operand parts[TR_MAX_VECTOR];
    LLVMValueRef values[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 1), parts) < count)
        return tr_unsupported(ctx, inst, "fewer sources than elements");
    for (unsigned i = 0; i < count; i++)
        values[i] = tr_operand_value(ctx, &parts[i], type);
    if (tr_vector_parts(tr_operand(inst, 0), parts) < count)
        return tr_unsupported(ctx, inst, "fewer destinations than elements");
    for (unsigned i = 0; i < count; i++)
        tr_set_operand(ctx, &parts[i], type, values[i]);
    return PXR_OK;
}

enum pxr_status tr_emit_mov(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    if (ptx_inst_has(inst, PTX_GROUP_VEC))
        return move_vector(ctx, inst);
    LLVMValueRef value = tr_value(ctx, inst, 1, type);
    tr_set(ctx, inst, 0, type, value);
    tr_note_constant(ctx, tr_operand(inst, 0), value);
    return PXR_OK;
}
