/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM moves a read into the branch that alone uses it. A read of a shared result that stands right
 * behind a barrier in PTX is then behind the branch on who has anything to do with the result. That
 * all threads make it at once shows in the lines only: they say that nothing but straight code is
 * between it and the barrier. Such a read goes back to where it was.
 *
 * What has been moved when the PTX was made can be made early, too: by those that take the branch.
 * The others read something that is always there.
 */
#include <llvm-c/Core.h>

#include "translator/analysis/calls.h"
#include "translator/barriers/early_reads.h"
#include "translator/barriers/effects.h"

/* Through how many branches a read is searched. */
#define BRANCHES_MAX 8

struct sunk_reads {
    const struct tr_graph *graph;
    const struct ptx_func *kernel;
    LLVMBuilderRef builder;
    LLVMValueRef barrier;
    uint32_t behind;    /* the segment that begins at the barrier */
    uint32_t statement; /* the first one behind the barrier in PTX; 0: not looked for yet */
    bool has_raised;
};

static int line_of(LLVMValueRef inst)
{
    return (int)LLVMGetDebugLocLine(inst);
}

static bool ends_straight_code(const struct ptx_stmt *stmt)
{
    if (stmt->kind != PTX_STMT_INST)
        return stmt->kind == PTX_STMT_LABEL;
    switch (stmt->inst.op) {
    case PTX_OP_BRA:
    case PTX_OP_BRX_IDX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        return true;
    default:
        return false;
    }
}

/* Of the one behind the instruction of that line. */
static uint32_t statement_behind(const struct ptx_func *kernel, int line)
{
    uint32_t i = 0;
    while (i < kernel->stmt_count &&
           (kernel->stmts[i].kind != PTX_STMT_INST || kernel->stmts[i].inst.line != line))
        i++;
    return i + 1;
}

/* Whether all threads that come to the statement come to the instruction of that line, and execute
 * it. */
static bool leads_straight(const struct ptx_func *kernel, uint32_t statement, int line)
{
    for (uint32_t i = statement; i < kernel->stmt_count; i++) {
        const struct ptx_stmt *stmt = &kernel->stmts[i];
        if (stmt->kind == PTX_STMT_INST && stmt->inst.line == line)
            return stmt->inst.guard == NULL;
        if (ends_straight_code(stmt))
            return false;
    }
    return false;
}

static bool is_write(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMLoad:
        return LLVMGetVolatile(value->llvm) ||
               LLVMGetOrdering(value->llvm) != LLVMAtomicOrderingNotAtomic;
    case LLVMCall:
        return tr_effect_of_call(value->llvm) != RT_EFFECT_NONE;
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    default:
        return false;
    }
}

/* Whether the pointer is to a fixed place from a pointer that the whole kernel has. */
static bool is_fixed_place(LLVMValueRef pointer)
{
    if (LLVMIsAGetElementPtrInst(pointer)) {
        for (int i = 1; i < LLVMGetNumOperands(pointer); i++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, (unsigned)i)))
                return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    if (!LLVMIsALoadInst(pointer) || !tr_is_invariant_load(pointer))
        return false;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(pointer);
    return block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));
}

static bool is_sunk(struct sunk_reads *r, const struct tr_value *value)
{
    if (value->opcode != LLVMLoad || value->segment == r->behind ||
        !is_fixed_place(LLVMGetOperand(value->llvm, 0)))
        return false;
    if (r->statement == 0)
        r->statement = statement_behind(r->kernel, line_of(r->barrier));
    return leads_straight(r->kernel, r->statement, line_of(value->llvm));
}

/* The pointer of a read from a fixed place, made where the builder is. */
static LLVMValueRef pointer_here(LLVMBuilderRef builder, LLVMValueRef read)
{
    LLVMValueRef pointer = LLVMGetOperand(read, 0);
    if (!LLVMIsAGetElementPtrInst(pointer))
        return pointer;
    LLVMValueRef copy = LLVMInstructionClone(pointer);
    LLVMInsertIntoBuilder(builder, copy);
    return copy;
}

static void move_here(LLVMBuilderRef builder, LLVMValueRef read, LLVMValueRef pointer)
{
    LLVMSetOperand(read, 0, pointer);
    LLVMInstructionRemoveFromParent(read);
    LLVMInsertIntoBuilder(builder, read);
}

static void raise(struct sunk_reads *r, LLVMValueRef read)
{
    const struct tr_segment *segment = &r->graph->segments[r->behind];
    uint32_t last = segment->first_value + segment->value_count - 1;
    LLVMPositionBuilderBefore(r->builder, r->graph->values[last].llvm);
    move_here(r->builder, read, pointer_here(r->builder, read));
    r->has_raised = true;
}

/* From a segment to which only threads from behind the barrier come, with nothing written. */
static void search(struct sunk_reads *r, uint32_t s, int branches)
{
    const struct tr_segment *segment = &r->graph->segments[s];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        const struct tr_value *value = &r->graph->values[segment->first_value + i];
        if (is_write(value))
            return;
        if (is_sunk(r, value))
            raise(r, value->llvm);
    }
    for (uint32_t i = 0; i < segment->succ_count && branches < BRANCHES_MAX; i++)
        if (r->graph->segments[segment->succs[i]].pred_count == 1)
            search(r, segment->succs[i], branches + 1);
}

bool tr_raise_sunk_reads(const struct tr_graph *graph, const struct ptx_func *kernel)
{
    struct sunk_reads r = {.graph = graph, .kernel = kernel};
    r.builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(graph->function)));
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        r.barrier = graph->values[segment->first_value + segment->value_count - 1].llvm;
        if (!tr_is_block_barrier(r.barrier) || graph->segments[segment->succs[0]].pred_count != 1)
            continue;
        r.behind = segment->succs[0];
        r.statement = 0;
        search(&r, r.behind, 0);
    }
    LLVMDisposeBuilder(r.builder);
    return r.has_raised;
}

/* ---- reads behind a branch ---- */

bool tr_can_read_before_branch(LLVMValueRef read)
{
    LLVMTypeRef type = LLVMTypeOf(read);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool is_word = (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64) ||
                   kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
    return is_word && is_fixed_place(LLVMGetOperand(read, 0));
}

/* The word that the pointer to the block's memory comes from can be read by all. */
void tr_read_before_branch(LLVMBuilderRef builder, LLVMValueRef branch, LLVMValueRef read,
                           bool is_taken)
{
    LLVMPositionBuilderBefore(builder, branch);
    LLVMValueRef place = pointer_here(builder, read);
    LLVMValueRef base = LLVMIsAGetElementPtrInst(place) ? LLVMGetOperand(place, 0) : place;
    LLVMValueRef other = LLVMGetOperand(base, 0);
    LLVMValueRef pointer = LLVMBuildSelect(builder, LLVMGetCondition(branch),
                                           is_taken ? place : other, is_taken ? other : place, "");
    move_here(builder, read, pointer);
}
