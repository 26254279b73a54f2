/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses in the program of one thread: the memory they can lead to, as sums of uniform values
 * and of %tid, and the threads that can reach each place.
 */
#include "translator/barriers/effects.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/module/relation.h"
#include "translator/module/sregs.h"

static const uint32_t dimension_max[3] = {TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_THREADS,
                                          TR_BLOCK_MAX_Z};

static bool get_constant(LLVMValueRef value, uint64_t *number)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *number = LLVMConstIntGetZExtValue(value);
    return true;
}

/* ---- where memory comes from ---- */

uint8_t tr_origins_of(const struct tr_effects *effects, LLVMValueRef pointer)
{
    uint8_t origins = tr_root_of(&effects->roots, pointer).origins;
    if ((origins & TR_ORIGIN_GLOBAL) != 0)
        origins |= TR_ORIGIN_GLOBAL;
    return origins == 0 ? TR_ORIGIN_UNKNOWN : origins;
}

/* A parameter distinguishes memory if no other is an address in the same allocation. */
uint8_t tr_param_of(const struct tr_effects *effects, LLVMValueRef pointer)
{
    struct tr_root root = tr_root_of(&effects->roots, pointer);
    const struct ptx_func *kernel = effects->kernel;
    if (root.origins != TR_ORIGIN_PARAM || kernel == NULL)
        return TR_ROOT_ANY;
    for (uint32_t i = 0; i < kernel->param_count && i < TR_FACTS_PARAMS; i++)
        if (kernel->params[i]->param_offset_bytes + 1 == root.param &&
            kernel->params[i]->size_bytes == sizeof(uint64_t))
            return effects->facts->params[i].is_distinct ? (uint8_t)(i + 1) : TR_ROOT_ANY;
    return TR_ROOT_ANY;
}

/* ---- what is the same in all threads, always ---- */

static bool has_fixed_operands(const struct tr_effects *effects, const struct tr_value *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (operand != TR_NONE && !effects->is_fixed[operand])
            return false;
        LLVMValueRef constant = LLVMGetOperand(value->llvm, i);
        if (operand == TR_NONE && (!LLVMIsConstant(constant) || LLVMIsUndef(constant)))
            return false;
    }
    return true;
}

static bool is_fixed(const struct tr_effects *effects, uint32_t number)
{
    const struct tr_value *value = &effects->graph->values[number];
    if (value->segment == TR_NONE)
        return false;
    /* Executed once, and the same in all threads that execute it. */
    if (effects->shapes->values[number].kind == TR_UNIFORM &&
        effects->loops->innermost[value->segment] == TR_NONE)
        return true;
    switch (value->opcode) {
    case LLVMCall:
        return tr_sregs[tr_sreg_of(value->llvm)].scope >= TR_SREG_BLOCK;
    case LLVMLoad:
        return tr_record_at(value->llvm, TR_RECORD_THREAD) != TR_RECORD_NONE ||
               (tr_is_invariant_load(value->llvm) && has_fixed_operands(effects, value));
    case LLVMPHI:
    case LLVMAlloca:
    case LLVMFreeze:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMVAArg:
        return false;
    default:
        return LLVMIsATerminatorInst(value->llvm) == NULL && has_fixed_operands(effects, value);
    }
}

/* ---- which threads get there ---- */

struct range {
    uint32_t *low;
    uint32_t *high;
};

static void limit(struct range range, LLVMIntPredicate predicate, uint32_t number)
{
    uint32_t low = 0;
    uint32_t high = UINT32_MAX;
    switch (predicate) {
    case LLVMIntEQ:
        low = high = number;
        break;
    case LLVMIntULT:
    case LLVMIntSLT:
        if (number == 0)
            return;
        high = number - 1;
        break;
    case LLVMIntULE:
    case LLVMIntSLE:
        high = number;
        break;
    case LLVMIntUGT:
    case LLVMIntSGT:
        low = number + 1;
        break;
    case LLVMIntUGE:
    case LLVMIntSGE:
        low = number;
        break;
    default:
        return;
    }
    *range.low = low > *range.low ? low : *range.low;
    *range.high = high < *range.high ? high : *range.high;
}

/* Applies that the condition is is_true in segment. Nothing is concluded from numbers that are
 * negative as signed ones. */
static void apply_condition(struct tr_effects *effects, uint32_t segment, LLVMValueRef condition,
                            bool is_true)
{
    uint64_t number;
    if (LLVMIsAICmpInst(condition) == NULL)
        return;
    int d = tr_tid_dimension(LLVMGetOperand(condition, 0));
    if (d < 0 || !get_constant(LLVMGetOperand(condition, 1), &number) || number >= INT32_MAX)
        return;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    struct range range = {&effects->tid_low[segment][d], &effects->tid_high[segment][d]};
    limit(range, is_true ? predicate : tr_relation_inverse(predicate), (uint32_t)number);
}

static void find_ranges(struct tr_effects *effects)
{
    const struct tr_graph *graph = effects->graph;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        uint32_t above = effects->dominators->idom[s];
        for (int d = 0; d < 3; d++) {
            uint32_t threads =
                effects->facts->block[d] != 0 ? effects->facts->block[d] : dimension_max[d];
            effects->tid_low[s][d] = above == TR_NONE ? 0 : effects->tid_low[above][d];
            effects->tid_high[s][d] = above == TR_NONE ? threads - 1 : effects->tid_high[above][d];
        }
        const struct tr_segment *segment = &graph->segments[s];
        if (above == TR_NONE || segment->pred_count != 1 || segment->preds[0] != above)
            continue;
        const struct tr_segment *from = &graph->segments[above];
        LLVMValueRef branch = graph->values[from->first_value + from->value_count - 1].llvm;
        if (from->is_sync_point || from->succ_count != 2 || from->succs[0] == from->succs[1] ||
            LLVMGetInstructionOpcode(branch) != LLVMBr)
            continue;
        apply_condition(effects, s, LLVMGetCondition(branch), from->succs[0] == s);
    }
}

/* ---- all together ---- */

bool tr_addresses_prepare(struct tr_effects *effects)
{
    struct tr_graph *graph = effects->graph;
    struct pxr_arena *arena = &graph->arena;
    effects->is_fixed = pxr_arena_alloc_array(arena, graph->value_count, sizeof *effects->is_fixed);
    effects->tid_low = pxr_arena_alloc_array(arena, graph->segment_count, sizeof *effects->tid_low);
    effects->tid_high =
        pxr_arena_alloc_array(arena, graph->segment_count, sizeof *effects->tid_high);
    if (effects->is_fixed == NULL || effects->tid_low == NULL || effects->tid_high == NULL ||
        !tr_roots_build(graph, TR_RECORD_THREAD, TR_CERTAIN, &effects->roots))
        return false;
    /* A value's operands come before it, except through phis. */
    for (uint32_t v = 0; v < graph->value_count; v++)
        effects->is_fixed[v] = is_fixed(effects, v);
    find_ranges(effects);
    return true;
}
