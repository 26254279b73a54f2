/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, the end of a thread, traps. Calls are in emit_call.c.
 */
#include "translator/emit/emit.h"

#include <stddef.h>

#include "translator/analysis/calls.h"
#include "translator/module/walk.h"

/* Whether the first instruction behind the label is a barrier that every lane comes to. */
static bool leads_to_barrier(const struct tr_ctx *ctx, const struct ptx_label *label)
{
    const struct ptx_func *func = ctx->func;
    uint32_t i = ctx->label_stmts[label->index];
    while (i < func->stmt_count && func->stmts[i].kind != PTX_STMT_INST)
        i++;
    if (i == func->stmt_count)
        return false;
    const struct ptx_inst *inst = &func->stmts[i].inst;
    return inst->guard == NULL && (inst->op == PTX_OP_BAR_SYNC || inst->op == PTX_OP_BARRIER_SYNC);
}

/* Sites are numbered along the text, and lanes further back go first. A branch back must not put a
 * lane before those that are still in the loop's body. */
enum pxr_status tr_emit_bra(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    const struct ptx_label *label = tr_operand(inst, 0)->label;
    if (ctx->keeps_step && label->line <= inst->line && tr_step_needed(ctx, true) &&
        !leads_to_barrier(ctx, label))
        tr_converge(ctx);
    LLVMBuildBr(ctx->builder, tr_label_block(ctx, label));
    return PXR_OK;
}

static bool leads_back(const struct ptx_inst *inst, const struct ptx_operand *list)
{
    for (uint32_t i = 0; i < list->label_count; i++)
        if (list->labels[i]->line <= inst->line)
            return true;
    return false;
}

/* "the behavior is undefined if the value of index is greater than or equal to the length of
 * tlist" (PTX ISA "brx.idx"): the thread traps. */
enum pxr_status tr_emit_brx_idx(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    const struct ptx_operand *list = tr_operand(inst, 1);
    if (list->kind != PTX_OPERAND_LABELS)
        return tr_unsupported(ctx, inst, "the second operand is no list of branch targets");
    if (ctx->keeps_step && leads_back(inst, list) && tr_step_needed(ctx, true))
        tr_converge(ctx);
    LLVMValueRef index = tr_value(ctx, inst, 0, PTX_TYPE_U32);
    LLVMBasicBlockRef outside = tr_new_block(ctx, "no_target");
    LLVMValueRef jump = LLVMBuildSwitch(ctx->builder, index, outside, list->label_count);
    for (uint32_t i = 0; i < list->label_count; i++)
        LLVMAddCase(jump, tr_const_int(ctx, 32, i), tr_label_block(ctx, list->labels[i]));
    LLVMPositionBuilderAtEnd(ctx->builder, outside);
    tr_call_fault(ctx, PXR_FAULT_INSTRUCTION, tr_const_int(ctx, 64, 0));
    return PXR_OK;
}

/* inst may be NULL: the end of the function's body. */
enum pxr_status tr_emit_ret(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    LLVMBuildRetVoid(ctx->builder);
    return PXR_OK;
}

enum pxr_status tr_emit_exit(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (ctx->func->is_entry)
        return tr_emit_ret(ctx, inst);
    tr_placeholder(ctx, RT_CALL_EXIT, ctx->thread);
    LLVMBuildUnreachable(ctx->builder);
    return PXR_OK;
}

enum pxr_status tr_emit_trap(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    tr_call_fault(ctx, PXR_FAULT_TRAP, tr_const_int(ctx, 64, 0));
    return PXR_OK;
}

enum pxr_status tr_emit_nanosleep(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef duration = tr_value(ctx, inst, 0, PTX_TYPE_U32);
    tr_placeholder(ctx, RT_CALL_NANOSLEEP, ctx->thread, duration);
    return PXR_OK;
}

/* Instructions that mean nothing on this machine, or hints:
 *   pmevent          there are no performance monitors to trigger
 *   setmaxnreg       registers are the compiler's
 *   griddepcontrol   a grid starts when those before it have completed, and signals by its end
 *   cp.async.bulk.commit_group, wait_group   bulk copies are complete at once
 *   discard, applypriority   hints to caches; discarded memory may hold anything, also what it did
 */
enum pxr_status tr_emit_nop(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)ctx;
    (void)inst;
    return PXR_OK;
}

void tr_poll(struct tr_ctx *ctx)
{
    tr_placeholder(ctx, RT_CALL_SPIN, ctx->thread);
}

static void call_at_ends_of(struct tr_ctx *ctx, LLVMValueRef function,
                            enum rt_placeholder placeholder)
{
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        bool is_end = function == ctx->functions[ctx->kernel->index] && LLVMIsAReturnInst(inst);
        if (!is_end && tr_placeholder_of(inst) != RT_CALL_EXIT)
            continue;
        LLVMPositionBuilderBefore(ctx->builder, inst);
        LLVMSetCurrentDebugLocation2(ctx->builder, LLVMInstructionGetDebugLoc(inst));
        tr_placeholder(ctx, placeholder, LLVMGetParam(function, 0));
    }
}

void tr_call_at_ends(struct tr_ctx *ctx, enum rt_placeholder placeholder)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(ctx->module); f != NULL; f = LLVMGetNextFunction(f))
        call_at_ends_of(ctx, f, placeholder);
}
