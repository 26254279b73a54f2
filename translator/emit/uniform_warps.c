/* SPDX-License-Identifier: Apache-2.0
 *
 * GCC's code for OpenMP (nvptx-none, -muniform-simt) lets all lanes of a warp execute what one
 * thread of the program does. Only atomic operations and calls of the system are left to the first
 * lane; loads, stores and the stack, which the lanes share, are done by all of them at once: each
 * adds one to a counter, and on a GPU, where the lanes are in step, one is added. Kernels of that
 * kind have the array __nvptx_uni, which says of each warp whether its lanes are apart (not 0), in
 * a loop over lanes.
 *
 * Where no lane ever asks for its number, but to know whether it is the first, all do the same for
 * ever, and the first can do it alone: the others end at once. Barriers count warps, and operations
 * of warps do not wait for lanes that have ended.
 *
 * Elsewhere lanes gather before the first access behind a place where they may have waited, lest
 * other warps come between one lane's access and another's, and before a store that follows a load;
 * unless they are apart.
 */
#include <string.h>

#include "translator/emit/emit.h"

/* In this register a function gets the lane's number to know whether it is the first. */
#define OWN_LANE "%ustmp0"

/* ---- whether lanes part ---- */

static bool tells_lane(const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VECTOR)
        return tells_lane(&operand->elems[0]);
    return operand->kind == PTX_OPERAND_SREG &&
           (operand->sreg == PTX_SREG_TID_X || operand->sreg == PTX_SREG_LANEID ||
            (operand->sreg >= PTX_SREG_LANEMASK_EQ && operand->sreg <= PTX_SREG_LANEMASK_GT));
}

static bool is_own_lane(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG && strcmp(operand->var->name, OWN_LANE) == 0;
}

/* Of operations of the warp these leave lanes as equal as they were. */
static bool keeps_lanes_equal(const struct ptx_inst *inst)
{
    return ptx_op_table[inst->op].family != PTX_FAMILY_WARP ||
           ptx_inst_mod(inst, PTX_GROUP_SHFLMODE) == PTX_MOD_IDX;
}

static bool parts_lanes(const struct ptx_inst *inst)
{
    if (!keeps_lanes_equal(inst))
        return true;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (tells_lane(&inst->operands[i]) && !is_own_lane(&inst->operands[0]))
            return true;
    return false;
}

static bool some_part_lanes(const struct ptx_module *module)
{
    for (uint32_t f = 0; f < module->func_count; f++) {
        const struct ptx_func *func = module->funcs[f];
        for (uint32_t i = 0; i < func->stmt_count; i++)
            if (func->stmts[i].kind == PTX_STMT_INST && parts_lanes(&func->stmts[i].inst))
                return true;
    }
    return false;
}

static const struct ptx_var *find_uni(const struct ptx_kernel_layout *layout)
{
    for (uint32_t i = 0; i < layout->shared_count; i++)
        if (strcmp(layout->shared_vars[i]->name, PTX_UNI_ARRAY) == 0)
            return layout->shared_vars[i];
    return NULL;
}

void tr_find_uniform_warps(struct tr_ctx *ctx)
{
    ctx->uniform.array = find_uni(ctx->layout);
    ctx->uniform.is_for_ever = ctx->uniform.array != NULL && !some_part_lanes(ctx->ptx);
}

static LLVMValueRef special_register(struct tr_ctx *ctx, enum ptx_sreg sreg)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_SREG, .sreg = sreg};
    return tr_operand_value(ctx, &operand, PTX_TYPE_U32);
}

void tr_leave_first_lane(struct tr_ctx *ctx)
{
    if (!ctx->uniform.is_for_ever || !ctx->func->is_entry)
        return;
    LLVMBasicBlockRef others = tr_new_block(ctx, "others");
    LLVMBasicBlockRef first = tr_new_block(ctx, "first");
    LLVMValueRef is_first =
        LLVMBuildICmp(ctx->builder, LLVMIntEQ, special_register(ctx, PTX_SREG_LANEID),
                      tr_const_int(ctx, 32, 0), "");
    LLVMBuildCondBr(ctx->builder, is_first, first, others);
    LLVMPositionBuilderAtEnd(ctx->builder, others);
    LLVMBuildRetVoid(ctx->builder);
    LLVMPositionBuilderAtEnd(ctx->builder, first);
}

/* ---- lanes that may part keep step until they do ---- */

/* Of memory that other lanes may access, too; and fences, which come before what others see. */
static bool is_access(const struct ptx_inst *inst)
{
    enum ptx_family family = ptx_op_table[inst->op].family;
    if (family != PTX_FAMILY_MEMORY)
        return family == PTX_FAMILY_ATOMIC;
    enum ptx_space space = ptx_inst_space(inst);
    return space == PTX_SPACE_NONE || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED;
}

static bool may_wait(const struct ptx_inst *inst)
{
    enum ptx_family family = ptx_op_table[inst->op].family;
    return family == PTX_FAMILY_BARRIER || family == PTX_FAMILY_WARP || inst->op == PTX_OP_CALL;
}

/* GCC's blocks are 32 threads wide: %tid.y is the warp's number. */
static LLVMValueRef are_together(struct tr_ctx *ctx)
{
    struct ptx_operand array = {.kind = PTX_OPERAND_VAR, .var = ctx->uniform.array};
    LLVMValueRef warp = special_register(ctx, PTX_SREG_TID_Y);
    LLVMValueRef place = tr_address(ctx, &array, PTX_SPACE_SHARED);
    place = LLVMBuildGEP2(ctx->builder, ctx->i32, place, &warp, 1, "");
    LLVMValueRef uni = LLVMBuildLoad2(ctx->builder, ctx->i32, place, "");
    return LLVMBuildICmp(ctx->builder, LLVMIntEQ, uni, tr_const_int(ctx, 32, 0), "");
}

static void gather(struct tr_ctx *ctx)
{
    LLVMBasicBlockRef together = tr_new_block(ctx, "together");
    LLVMBasicBlockRef behind = tr_new_block(ctx, "behind");
    LLVMBuildCondBr(ctx->builder, are_together(ctx), together, behind);
    LLVMPositionBuilderAtEnd(ctx->builder, together);
    tr_converge(ctx);
    LLVMBuildBr(ctx->builder, behind);
    LLVMPositionBuilderAtEnd(ctx->builder, behind);
}

void tr_keep_uniform(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct tr_uniform *uniform = &ctx->uniform;
    if (uniform->array == NULL || uniform->is_for_ever)
        return;
    if (may_wait(inst))
        uniform->region = 0;
    if (!is_access(inst))
        return;
    bool is_atomic = ptx_op_table[inst->op].family == PTX_FAMILY_ATOMIC;
    bool is_store = is_atomic || inst->operands[0].kind == PTX_OPERAND_ADDRESS;
    bool is_met = uniform->region == ctx->region;
    if (!is_met || (is_store && uniform->has_read) || (is_atomic && uniform->has_written)) {
        gather(ctx);
        *uniform = (struct tr_uniform){.array = uniform->array, .region = ctx->region};
    }
    uniform->has_read |= is_atomic || !is_store;
    uniform->has_written |= is_store;
}
