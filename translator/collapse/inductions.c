/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits loop variables into each thread's first value and the part that all threads add to it. All
 * arithmetic is modulo 2^width, in which the order of additions does not matter.
 */
#include "translator/collapse/inductions.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "translator/analysis/address.h"
#include "translator/collapse/again.h"
#include "translator/collapse/prepare.h"
#include "translator/module/walk.h"

struct split {
    const struct tr_kernel *kernel;
    LLVMBuilderRef builder;
    uint32_t loop;
    bool is_shared;   /* threads wait in the loop for each other */
    uint32_t phi;     /* the variable */
    LLVMTypeRef type; /* of u */
};

static const struct tr_value *value_of(const struct split *split, uint32_t value)
{
    return &split->kernel->graph.values[value];
}

static bool is_inside(const struct split *split, uint32_t segment)
{
    return segment != TR_NONE &&
           tr_set_has(&split->kernel->loops.loops[split->loop].segments, segment);
}

/* ---- what can be split ---- */

/* Whether all threads of the group go through the loop together and wait in it. */
static bool is_shared_loop(const struct tr_kernel *kernel, const struct tr_loop *loop)
{
    if (!kernel->shapes.is_uniform_segment[loop->header])
        return false;
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        const struct tr_sync_point *sync = &kernel->sync_points[j];
        if (sync->is_fused &&
            tr_set_has(&loop->segments, kernel->graph.values[sync->value].segment))
            return true;
    }
    return false;
}

/* The operand of p + step that is the step; TR_NONE: the value is no such sum. */
static uint32_t step_operand(const struct split *split, uint32_t next)
{
    const struct tr_value *value = value_of(split, next);
    if (value->opcode == LLVMAdd || value->opcode == LLVMSub ||
        (value->opcode == LLVMGetElementPtr && value->operand_count == 2)) {
        if (value->operands[0] == split->phi && value->operands[1] != split->phi)
            return 1;
        if (value->opcode == LLVMAdd && value->operands[1] == split->phi &&
            value->operands[0] != split->phi)
            return 0;
    }
    return TR_NONE;
}

static bool is_common_step(const struct split *split, uint32_t next)
{
    if (next == split->phi)
        return true;
    uint32_t operand = next == TR_NONE ? TR_NONE : step_operand(split, next);
    if (operand == TR_NONE)
        return false;
    uint32_t step = value_of(split, next)->operands[operand];
    uint32_t segment = value_of(split, next)->segment;
    const struct tr_kernel *kernel = split->kernel;
    return step == TR_NONE ||
           tr_shape_at(&kernel->graph, &kernel->loops, &kernel->shapes, step, segment).kind ==
               TR_UNIFORM;
}

/* Whether threads differ in the first value, and it can be computed again or is a variable that has
 * been split. */
static bool is_own_start(const struct split *split, LLVMValueRef start)
{
    if (LLVMIsAConstant(start) != NULL)
        return false;
    uint32_t number = tr_graph_number(&split->kernel->graph, start);
    if (number == TR_NONE)
        return true;
    return split->kernel->shapes.values[number].kind != TR_UNIFORM &&
           tr_again_kind(value_of(split, number)) != TR_AGAIN_NEVER;
}

/* Whether the term is an index of 32 bits, extended, that grows along the row but where it wraps.
 */
static bool is_narrow_index(const struct split *split, LLVMValueRef term)
{
    if (LLVMIsASExtInst(term) == NULL && LLVMIsAZExtInst(term) == NULL)
        return false;
    uint32_t narrow = tr_graph_number(&split->kernel->graph, LLVMGetOperand(term, 0));
    if (narrow == TR_NONE)
        return false;
    struct tr_shape shape = split->kernel->shapes.values[narrow];
    return shape.kind == TR_AFFINE && shape.stride != 0;
}

/* Whether addresses from the first value on are neighbours but where such an index wraps. */
static bool starts_at_index(const struct split *split, const struct tr_sum *start)
{
    if (split->kernel->shapes.values[split->phi].kind != TR_VARYING)
        return false;
    for (uint32_t i = 0; i < start->count; i++)
        if (is_narrow_index(split, start->terms[i].index))
            return true;
    return false;
}

static bool starts_at_pointer(const struct tr_sum *start)
{
    for (uint32_t i = 0; i < start->count; i++)
        if (tr_is_pointer_parameter(start->terms[i].index))
            return true;
    return start->base != NULL;
}

static bool helps_vectors(const struct split *split, LLVMValueRef start)
{
    LLVMModuleRef module = LLVMGetGlobalParent(split->kernel->graph.function);
    struct tr_sum_query query = {.layout = LLVMGetModuleDataLayout(module),
                                 .through = TR_AS_INDICES};
    struct tr_sum sum;
    tr_sum_of(&query, start, &sum);
    return sum.is_known && (starts_at_index(split, &sum) || starts_at_pointer(&sum));
}

static bool is_useful_start(const struct split *split, LLVMValueRef start)
{
    return split->is_shared ? is_own_start(split, start) : helps_vectors(split, start);
}

static bool can_be_split(const struct split *split)
{
    const struct tr_value *phi = value_of(split, split->phi);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(phi->llvm));
    if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)
        return false;
    if (split->kernel->shapes.values[split->phi].kind == TR_UNIFORM)
        return false;
    uint32_t starts = 0;
    for (uint32_t k = 0; k < phi->operand_count; k++) {
        if (is_inside(split, phi->incoming[k])) {
            if (!is_common_step(split, phi->operands[k]))
                return false;
        } else if (++starts > 1 || phi->incoming[k] == TR_NONE ||
                   !is_useful_start(split, LLVMGetIncomingValue(phi->llvm, k))) {
            return false;
        }
    }
    return starts == 1 && phi->operand_count > 1;
}

/* ---- splitting ---- */

static void at(struct split *split, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(split->builder, inst);
    LLVMSetCurrentDebugLocation2(split->builder, LLVMInstructionGetDebugLoc(inst));
}

/* The step in bytes, as wide as an address. */
static LLVMValueRef pointer_step(struct split *split, LLVMValueRef gep)
{
    LLVMModuleRef module = LLVMGetGlobalParent(split->kernel->graph.function);
    LLVMTypeRef element = LLVMGetGEPSourceElementType(gep);
    uint64_t bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(module), element);
    LLVMValueRef index =
        LLVMBuildIntCast2(split->builder, LLVMGetOperand(gep, 1), split->type, true, "");
    return LLVMBuildMul(split->builder, index, LLVMConstInt(split->type, bytes, false), "");
}

/* Builds u + step at the place of p + step. */
static LLVMValueRef build_next(struct split *split, LLVMValueRef u, uint32_t next)
{
    if (next == split->phi)
        return u;
    const struct tr_value *value = value_of(split, next);
    LLVMValueRef inst = value->llvm;
    at(split, inst);
    if (value->opcode == LLVMGetElementPtr)
        return LLVMBuildAdd(split->builder, u, pointer_step(split, inst), "");
    LLVMValueRef step = LLVMGetOperand(inst, step_operand(split, next));
    return value->opcode == LLVMAdd ? LLVMBuildAdd(split->builder, u, step, "")
                                    : LLVMBuildSub(split->builder, u, step, "");
}

/* Gives u its incoming values, and the uses of p. Edges from one block bring one value. */
static void fill_phi(struct split *split, LLVMValueRef u)
{
    const struct tr_value *phi = value_of(split, split->phi);
    for (uint32_t k = 0; k < phi->operand_count; k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi->llvm, k);
        LLVMValueRef next = LLVMConstNull(split->type);
        bool is_known = !is_inside(split, phi->incoming[k]);
        for (uint32_t i = 0; i < k && !is_known; i++) {
            is_known = is_inside(split, phi->incoming[i]) && phi->operands[i] == phi->operands[k];
            if (is_known)
                next = LLVMGetIncomingValue(u, i);
        }
        if (!is_known)
            next = build_next(split, u, phi->operands[k]);
        LLVMAddIncoming(u, &next, &from, 1);
    }
}

static LLVMValueRef start_of(const struct split *split)
{
    const struct tr_value *phi = value_of(split, split->phi);
    uint32_t k = 0;
    while (is_inside(split, phi->incoming[k]))
        k++;
    return LLVMGetIncomingValue(phi->llvm, k);
}

static void split_phi(struct split *split)
{
    const struct tr_value *phi = value_of(split, split->phi);
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(phi->llvm));
    bool is_pointer = LLVMGetTypeKind(LLVMTypeOf(phi->llvm)) == LLVMPointerTypeKind;
    split->type = is_pointer ? LLVMInt64TypeInContext(llvm) : LLVMTypeOf(phi->llvm);
    at(split, phi->llvm);
    LLVMValueRef u = LLVMBuildPhi(split->builder, split->type, "");
    fill_phi(split, u);
    at(split, tr_first_behind_phis(LLVMGetInstructionParent(phi->llvm)));
    LLVMValueRef start = start_of(split);
    LLVMValueRef p =
        is_pointer ? LLVMBuildGEP2(split->builder, LLVMInt8TypeInContext(llvm), start, &u, 1, "")
                   : LLVMBuildAdd(split->builder, start, u, "");
    LLVMReplaceAllUsesWith(phi->llvm, p);
    LLVMInstructionEraseFromParent(phi->llvm);
    for (uint32_t k = 0; k < phi->operand_count; k++) {
        uint32_t next = phi->operands[k];
        bool is_first = true;
        for (uint32_t i = 0; i < k; i++)
            is_first = is_first && phi->operands[i] != next;
        if (is_first && next != split->phi && is_inside(split, phi->incoming[k]) &&
            LLVMGetFirstUse(value_of(split, next)->llvm) == NULL)
            LLVMInstructionEraseFromParent(value_of(split, next)->llvm);
    }
}

bool tr_split_inductions(struct tr_kernel *kernel, bool for_vectors)
{
    const struct tr_graph *graph = &kernel->graph;
    struct split split = {.kernel = kernel};
    bool has_changed = false;
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(graph->function));
    split.builder = LLVMCreateBuilderInContext(llvm);
    for (uint32_t i = 0; i < kernel->loops.count; i++) {
        const struct tr_loop *loop = &kernel->loops.loops[i];
        split.loop = i;
        split.is_shared = is_shared_loop(kernel, loop);
        if (loop->is_irreducible || (!split.is_shared && !for_vectors))
            continue;
        const struct tr_segment *header = &graph->segments[loop->header];
        for (uint32_t k = 0; k < header->value_count; k++) {
            split.phi = header->first_value + k;
            if (value_of(&split, split.phi)->opcode != LLVMPHI)
                break;
            if (!can_be_split(&split))
                continue;
            split_phi(&split);
            has_changed = true;
        }
    }
    LLVMDisposeBuilder(split.builder);
    return has_changed;
}
