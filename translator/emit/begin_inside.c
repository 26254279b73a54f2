/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that may begin inside a block: threads that have run in other code (rt_block.first_thread)
 * are over before their first instruction.
 */
#include "translator/emit/emit.h"

static LLVMValueRef special_register(struct tr_ctx *ctx, enum ptx_sreg sreg)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_SREG, .sreg = sreg};
    return tr_operand_value(ctx, &operand, PTX_TYPE_U32);
}

/* The thread's number in its block: %tid.x changes fastest. Never wraps, as there are at most 1024.
 */
static LLVMValueRef thread_number(struct tr_ctx *ctx)
{
    static const enum ptx_sreg places[3] = {PTX_SREG_TID_X, PTX_SREG_TID_Y, PTX_SREG_TID_Z};
    static const enum ptx_sreg sizes[3] = {PTX_SREG_NTID_X, PTX_SREG_NTID_Y, PTX_SREG_NTID_Z};
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef number = special_register(ctx, places[2]);
    for (int d = 1; d >= 0; d--) {
        number = LLVMBuildNUWMul(b, number, special_register(ctx, sizes[d]), "");
        number = LLVMBuildNUWAdd(b, number, special_register(ctx, places[d]), "");
    }
    return number;
}

void tr_leave_out_first_threads(struct tr_ctx *ctx)
{
    if (!ctx->options->begins_inside || !ctx->func->is_entry)
        return;
    LLVMBasicBlockRef over = tr_new_block(ctx, "has_run");
    LLVMBasicBlockRef begin = tr_new_block(ctx, "begin");
    LLVMValueRef first = special_register(ctx, PTX_SREG_FIRST_THREAD);
    LLVMValueRef has_run = LLVMBuildICmp(ctx->builder, LLVMIntULT, thread_number(ctx), first, "");
    LLVMBuildCondBr(ctx->builder, has_run, over, begin);
    LLVMPositionBuilderAtEnd(ctx->builder, over);
    LLVMBuildRetVoid(ctx->builder);
    LLVMPositionBuilderAtEnd(ctx->builder, begin);
}
