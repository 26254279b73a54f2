/* SPDX-License-Identifier: Apache-2.0
 *
 * mov: registers, special registers, addresses of symbols, packing and unpacking of vectors. The
 * forms are forms of operands, so emit_operand.c does the work.
 */
#include "translator/emit.h"

enum pxr_status tr_emit_mov(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    tr_set(ctx, inst, 0, type, tr_value(ctx, inst, 1, type));
    return PXR_OK;
}
