/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs fill a table in shared memory, each thread some words of it, and look things up in all
 * of it behind __threadfence_block(), which waits for nobody: a barrier is missing. On a GPU the
 * warps of a block begin together, and are done with the table long before the first of them needs
 * it. Here the first threads would read what the others have not written.
 *
 * So at such a fence the block meets. All threads have to come there, once each, and none may wait
 * for another before: a lock that is taken in front of the fence and given back behind it would
 * never be free again. The text has to show that, as this is for kernels of every length.
 */
#include "translator/emit/emit.h"

static bool is_shared(const struct ptx_inst *inst)
{
    return inst->type_count > 0 && ptx_inst_space(inst) == PTX_SPACE_SHARED;
}

static bool stores(const struct ptx_inst *inst)
{
    return inst->operand_count > 0 && inst->operands[0].kind == PTX_OPERAND_ADDRESS;
}

static bool is_block_fence(const struct ptx_inst *inst)
{
    return (inst->op == PTX_OP_MEMBAR || inst->op == PTX_OP_FENCE) &&
           ptx_inst_mod(inst, PTX_GROUP_SCOPE) == PTX_MOD_CTA && inst->guard == NULL;
}

static uint32_t target_of(const struct tr_ctx *ctx, const struct ptx_inst *bra)
{
    return ctx->label_stmts[bra->operands[0].label->index];
}

static bool is_weak(const struct ptx_inst *inst)
{
    enum ptx_mod sem = ptx_inst_mod(inst, PTX_GROUP_SEM);
    return sem == PTX_MOD_NONE || sem == PTX_MOD_WEAK;
}

/* Whether threads that do this may leave, wait for others or keep others waiting. */
static bool is_private(const struct ptx_inst *inst)
{
    switch (ptx_op_table[inst->op].family) {
    case PTX_FAMILY_ATOMIC:
    case PTX_FAMILY_BARRIER:
    case PTX_FAMILY_WARP:
    case PTX_FAMILY_MATRIX:
        return false;
    case PTX_FAMILY_CONTROL:
        return inst->op == PTX_OP_BRA && inst->operands[0].kind == PTX_OPERAND_LABEL;
    case PTX_FAMILY_MEMORY:
        return is_weak(inst);
    default:
        return true;
    }
}

/* The first fence behind the filling of a table that all threads come to; stmt_count: none. */
static uint32_t first_fence(const struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    uint32_t joined = 0; /* from here on all threads are together again */
    bool has_stored = false;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_inst *inst = &func->stmts[i].inst;
        if (func->stmts[i].kind != PTX_STMT_INST)
            continue;
        if (has_stored && joined <= i && is_block_fence(inst))
            return i;
        if (!is_private(inst))
            break;
        if (inst->op == PTX_OP_BRA && target_of(ctx, inst) > joined)
            joined = target_of(ctx, inst);
        has_stored = has_stored || (is_shared(inst) && stores(inst));
    }
    return func->stmt_count;
}

static bool leads_before(const struct tr_ctx *ctx, const struct ptx_inst *inst, uint32_t place)
{
    return inst->op == PTX_OP_BRX_IDX ||
           (inst->op == PTX_OP_BRA &&
            (inst->operands[0].kind != PTX_OPERAND_LABEL || target_of(ctx, inst) <= place));
}

/* Whether threads read shared memory behind it before they meet, and never come back. */
static bool is_read_behind(const struct tr_ctx *ctx, uint32_t fence)
{
    const struct ptx_func *func = ctx->func;
    bool is_read = false, has_met = false;
    for (uint32_t i = fence + 1; i < func->stmt_count; i++) {
        const struct ptx_inst *inst = &func->stmts[i].inst;
        if (func->stmts[i].kind != PTX_STMT_INST)
            continue;
        if (leads_before(ctx, inst, fence))
            return false;
        has_met = has_met || ptx_op_table[inst->op].family == PTX_FAMILY_BARRIER;
        is_read = is_read || (!has_met && is_shared(inst) && !stores(inst));
    }
    return is_read;
}

const struct ptx_inst *tr_find_table_fence(const struct tr_ctx *ctx)
{
    uint32_t fence = ctx->func->is_entry ? first_fence(ctx) : ctx->func->stmt_count;
    bool is_found = fence < ctx->func->stmt_count && is_read_behind(ctx, fence);
    return is_found ? &ctx->func->stmts[fence].inst : NULL;
}
