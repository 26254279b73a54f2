/* SPDX-License-Identifier: Apache-2.0
 *
 * A warp that asks for a word which others may change (`while (*flag == 0)`, volatile) reads it
 * once, and all its lanes get the same. Here lanes run one after another, so that the word may
 * change between two of them. Where they go on or leave a loop by it and the loop has operations of
 * the whole warp, some would come to these and the others would not.
 *
 * So such a load's result is what the first lane has read: if the place is the same for the warp,
 * the branch at the end of the segment leaves the loop by it, and the last that has happened on
 * each way there, in the same turn, is an operation that names all lanes. Then all of them come to
 * the load, too.
 */
#include "translator/barriers/one_reading.h"

#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/analysis.h"
#include "translator/analysis/calls.h"
#include "translator/module/declare.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Kernels with more segments are left alone. */
#define SEGMENTS_MAX 4096

/* From a branch's condition to the load. */
#define DEPTH_MAX 4

/* Of a shuffle over the whole warp. */
#define WHOLE_WARP 31

struct reading {
    struct tr_graph graph;
    struct tr_dominators dominators, followers;
    struct tr_loops loops;
    struct tr_shapes shapes;
};

static bool is_word(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 32;
}

/* Whether others may change what it reads. */
static bool is_strong_load(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) != NULL && is_word(LLVMTypeOf(inst)) &&
           LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
}

static bool names_all_lanes(LLVMValueRef inst)
{
    enum rt_placeholder placeholder = tr_placeholder_of(inst);
    if (placeholder != RT_CALL_SHFL && placeholder != RT_CALL_VOTE &&
        placeholder != RT_CALL_MATCH && placeholder != RT_CALL_REDUX &&
        placeholder != RT_CALL_WARP_SYNC)
        return false;
    LLVMValueRef mask = LLVMIsAConstantInt(LLVMGetOperand(inst, LLVMGetNumArgOperands(inst) - 1));
    return mask != NULL && (uint32_t)LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
}

/* Whether the value is made of the load, in its segment. */
static bool is_made_of(const struct reading *r, uint32_t value, uint32_t load, unsigned depth)
{
    const struct tr_value *made = &r->graph.values[value];
    if (value == load)
        return true;
    if (depth == 0 || made->segment != r->graph.values[load].segment || made->opcode == LLVMPHI)
        return false;
    for (uint32_t i = 0; i < made->operand_count; i++)
        if (made->operands[i] != TR_NONE && is_made_of(r, made->operands[i], load, depth - 1))
            return true;
    return false;
}

static bool leaves_loop_by(const struct reading *r, uint32_t load)
{
    const struct tr_segment *s = &r->graph.segments[r->graph.values[load].segment];
    const struct tr_loop *loop = &r->loops.loops[r->loops.innermost[s - r->graph.segments]];
    uint32_t branch = s->first_value + s->value_count - 1;
    bool leaves = false;
    for (uint32_t i = 0; i < s->succ_count; i++)
        leaves |= !tr_set_has(&loop->segments, s->succs[i]);
    return leaves && s->succ_count == 2 && r->graph.values[branch].opcode == LLVMBr &&
           r->graph.values[branch].operands[0] != TR_NONE &&
           is_made_of(r, r->graph.values[branch].operands[0], load, DEPTH_MAX);
}

/* Whether all lanes come to the segment, as they have come together in the same turn before. */
static bool all_lanes_come(const struct reading *r, uint32_t segment)
{
    for (uint32_t before = segment; before != TR_NONE; before = r->dominators.idom[before]) {
        const struct tr_segment *s = &r->graph.segments[before];
        if (r->loops.innermost[before] == r->loops.innermost[segment] && s->is_sync_point &&
            names_all_lanes(r->graph.values[s->first_value + s->value_count - 1].llvm))
            return tr_dominates(&r->followers, segment, before);
    }
    return false;
}

static bool is_read_once(const struct reading *r, uint32_t v)
{
    const struct tr_value *value = &r->graph.values[v];
    if (value->segment == TR_NONE || !is_strong_load(value->llvm) ||
        r->loops.innermost[value->segment] == TR_NONE)
        return false;
    uint32_t place = value->operands[0];
    bool is_one =
        place == TR_NONE ||
        tr_shape_at(&r->graph, &r->loops, &r->shapes, place, value->segment).kind == TR_UNIFORM;
    return is_one && leaves_loop_by(r, v) && all_lanes_come(r, value->segment);
}

/* Hands the first lane's to all. */
static void share(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef load)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef type = LLVMTypeOf(load);
    LLVMValueRef shuffle = tr_declare_placeholder(module, RT_CALL_SHFL);
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(load));
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(load));
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(load));
    LLVMValueRef word = type == i32 ? load : LLVMBuildZExt(builder, load, i32, "");
    LLVMValueRef args[] = {LLVMGetParam(function, 0),
                           LLVMConstInt(i32, RT_SHFL_IDX, false),
                           word,
                           LLVMConstInt(i32, 0, false),
                           LLVMConstInt(i32, WHOLE_WARP, false),
                           LLVMConstInt(i32, UINT32_MAX, false)};
    LLVMValueRef pair = LLVMBuildCall2(builder, LLVMGlobalGetValueType(shuffle), shuffle, args,
                                       sizeof args / sizeof *args, "");
    LLVMReplaceAllUsesWith(load, LLVMBuildTrunc(builder, pair, type, ""));
    if (word == load)
        LLVMSetOperand(pair, 2, load);
    else
        LLVMSetOperand(word, 0, load);
}

static bool exits(const struct tr_value *value)
{
    return value->opcode == LLVMRet || tr_placeholder_of(value->llvm) == RT_CALL_EXIT;
}

static enum pxr_status analyse(struct reading *r, const struct tr_facts *facts,
                               struct pxr_error *err)
{
    struct tr_shape_facts known = tr_shape_facts_of(facts);
    struct tr_set ends = tr_set_make(&r->graph.arena, r->graph.segment_count);
    if (ends.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t v = 0; v < r->graph.value_count; v++)
        if (r->graph.values[v].segment != TR_NONE && exits(&r->graph.values[v]))
            tr_set_add(&ends, r->graph.values[v].segment);
    enum pxr_status status = tr_dominators_build(&r->graph, false, &r->dominators, err);
    if (status == PXR_OK)
        status = tr_post_dominators_to_ends(&r->graph, &ends, &r->followers, err);
    if (status == PXR_OK)
        status = tr_loops_build(&r->graph, &r->loops, err);
    if (status == PXR_OK)
        status = tr_shapes_build(&r->graph, &r->loops, TR_SCOPE_WARP, &known, &r->shapes, err);
    return status;
}

/* Most kernels have nothing of the kind. */
static bool may_read_once(LLVMValueRef function)
{
    bool has_load = false, has_all = false;
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        has_load |= is_strong_load(inst);
        has_all |= LLVMIsACallInst(inst) != NULL && names_all_lanes(inst);
    }
    return has_load && has_all;
}

enum pxr_status tr_read_once(LLVMModuleRef module, const struct tr_facts *facts,
                             struct pxr_error *err)
{
    static const struct tr_facts nothing = {0};
    struct reading r = {0};
    LLVMValueRef function = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    if (!may_read_once(function))
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&r.graph, function, tr_is_sync_point, err);
    if (status != PXR_OK)
        return status;
    if (r.graph.segment_count <= SEGMENTS_MAX) {
        status = analyse(&r, facts == NULL ? &nothing : facts, err);
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
        for (uint32_t v = 0; v < r.graph.value_count && status == PXR_OK; v++)
            if (is_read_once(&r, v))
                share(builder, module, r.graph.values[v].llvm);
        LLVMDisposeBuilder(builder);
    }
    tr_graph_fini(&r.graph);
    return status;
}
