/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/emit/linear.h"

#include "translator/emit/emission.h"
#include "translator/emit/emit.h"

/* ---- measuring ---- */

static bool leads_back(const struct ptx_inst *inst)
{
    if (inst->op == PTX_OP_BRA)
        return inst->operands[0].kind == PTX_OPERAND_LABEL &&
               inst->operands[0].label->line <= inst->line;
    if (inst->op != PTX_OP_BRX_IDX || inst->operand_count < 2 ||
        inst->operands[1].kind != PTX_OPERAND_LABELS)
        return false;
    for (uint32_t i = 0; i < inst->operands[1].label_count; i++)
        if (inst->operands[1].labels[i]->line <= inst->line)
            return true;
    return false;
}

static uint32_t branch_targets(const struct ptx_inst *inst)
{
    if (inst->op == PTX_OP_BRX_IDX && inst->operand_count > 1 &&
        inst->operands[1].kind == PTX_OPERAND_LABELS)
        return inst->operands[1].label_count;
    return inst->op == PTX_OP_BRA || inst->guard != NULL ? 1 : 0;
}

void tr_measure_text(struct tr_ctx *ctx, const struct ptx_func *func)
{
    uint64_t instructions = 0, branches = 0, edges = 0;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        bool is_inst = stmt->kind == PTX_STMT_INST;
        uint32_t targets = is_inst ? branch_targets(&stmt->inst) : 0;
        instructions += is_inst;
        branches += stmt->kind == PTX_STMT_LABEL || targets > 0;
        edges += targets;
        ctx->budget->loops += targets > 0 && leads_back(&stmt->inst);
    }
    tr_budget_allows(ctx->budget, TR_LIMIT_STATEMENTS, instructions);
    tr_budget_allows(ctx->budget, TR_LIMIT_BRANCHES, branches);
    tr_budget_allows(ctx->budget, TR_LIMIT_EDGES, edges);
    tr_budget_allows(ctx->budget, TR_LIMIT_TEXT_LOOPS, ctx->budget->loops);
    tr_budget_allows(ctx->budget, TR_LIMIT_FUNCTIONS, ++ctx->function_count);
}

static uint64_t call_count(LLVMValueRef function)
{
    uint64_t count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use))
        count++;
    return count;
}

/* Helpers count as often as they are called. */
static uint64_t length_with_helpers(LLVMModuleRef module)
{
    uint64_t length = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        length += tr_instruction_count(f) * (tr_is_always_inline(f) ? call_count(f) : 1);
    return length;
}

void tr_measure_module(struct tr_ctx *emission)
{
    tr_budget_allows(emission->budget, TR_LIMIT_RAW_INSTRUCTIONS,
                     length_with_helpers(emission->module));
}

/* ---- arguments and results ---- */

/* The alignment of memory that any variable of its size may use. */
#define PASSING_ALIGN 16

static unsigned size_class_of(uint64_t size_bytes)
{
    unsigned size_class = 3;
    while (size_bytes > UINT64_C(1) << size_class)
        size_class++;
    return size_class;
}

static struct tr_passing *make_passing(struct tr_ctx *ctx, unsigned size_class)
{
    struct tr_passing *passing = pxr_arena_alloc(&ctx->arena, sizeof *passing);
    if (passing == NULL)
        return NULL;
    LLVMTypeRef type = LLVMArrayType2(ctx->i8, UINT64_C(1) << size_class);
    passing->memory = tr_alloca(ctx, type, size_class > 3 ? PASSING_ALIGN : 8, "passing");
    passing->size_class = size_class;
    return passing;
}

LLVMValueRef tr_passing_memory(struct tr_ctx *ctx, uint64_t size_bytes, unsigned align)
{
    if (ctx->budget->effort < TR_EFFORT_LINEAR || align > PASSING_ALIGN ||
        size_bytes >> (TR_PASSING_CLASSES - 2) != 0)
        return NULL;
    unsigned size_class = size_class_of(size_bytes > align ? size_bytes : align);
    struct tr_passing *passing = ctx->free_passing[size_class];
    if (passing != NULL)
        ctx->free_passing[size_class] = passing->next;
    else
        passing = make_passing(ctx, size_class);
    if (passing == NULL)
        return NULL;
    passing->depth = ctx->block_depth;
    passing->next = ctx->taken_passing;
    ctx->taken_passing = passing;
    return passing->memory;
}

void tr_begin_text_block(struct tr_ctx *ctx)
{
    ctx->block_depth++;
}

void tr_end_text_block(struct tr_ctx *ctx)
{
    while (ctx->taken_passing != NULL && ctx->taken_passing->depth == ctx->block_depth) {
        struct tr_passing *passing = ctx->taken_passing;
        ctx->taken_passing = passing->next;
        passing->next = ctx->free_passing[passing->size_class];
        ctx->free_passing[passing->size_class] = passing;
    }
    ctx->block_depth--;
}

/* ---- cleaning up ---- */

/* Stores in one block. */
#define CLEARED_AT_ONCE 64

static LLVMValueRef function_of(const struct tr_slot *slot)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(slot->memory));
}

void tr_forget_registers(struct tr_ctx *ctx, LLVMValueRef function)
{
    while (ctx->slots != NULL && function_of(ctx->slots) == function)
        ctx->slots = ctx->slots->next;
}

/* A register that is read before it is written is 0. Slots are in a function's first block, which
 * leads to the second. Returns the next function's slots. */
static const struct tr_slot *clear_registers(struct tr_ctx *ctx, const struct tr_slot *slot)
{
    LLVMValueRef function = function_of(slot);
    LLVMBasicBlockRef entry = LLVMGetFirstBasicBlock(function);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(entry);
    LLVMBasicBlockRef body = LLVMGetSuccessor(end, 0);
    LLVMInstructionEraseFromParent(end);
    LLVMPositionBuilderAtEnd(ctx->builder, entry);
    for (uint32_t count = 1; slot != NULL && function_of(slot) == function; count++) {
        LLVMTypeRef type = LLVMGetAllocatedType(slot->memory);
        LLVMBuildStore(ctx->builder, LLVMConstNull(type), slot->memory);
        slot = slot->next;
        if (count % CLEARED_AT_ONCE != 0)
            continue;
        LLVMBasicBlockRef more = LLVMInsertBasicBlockInContext(ctx->llvm, body, "clear");
        LLVMBuildBr(ctx->builder, more);
        LLVMPositionBuilderAtEnd(ctx->builder, more);
    }
    LLVMBuildBr(ctx->builder, body);
    return slot;
}

void tr_clear_registers(struct tr_ctx *emission)
{
    LLVMSetCurrentDebugLocation2(emission->builder, NULL);
    for (const struct tr_slot *slot = emission->slots; slot != NULL;)
        slot = clear_registers(emission, slot);
}
