/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks in one go: if all branches of a block go the expected way, and loops over its threads run
 * a known number of times, the block is one straight way from beginning to end. Then the values
 * that threads hand each other need not be in shared memory: loads become the stored values,
 * rearranged among lanes. So the loop over blocks gets a second body, behind a test that asks at
 * once what all branches on the way would ask:
 *
 *   for each block: if all branches go as expected: the straight way; else: as before
 *
 * Both go on where the block is done. LLVM may have made that place part of the block's last work:
 * then the straight way has it, too, and goes on behind it. The second body is made only if all
 * loads of shared memory on the way become values, so that nothing need be stored there: a block's
 * shared memory ends with the block. This step works on the output of LLVM's passes.
 */
#include "translator/vector/tuning/straight.h"

#include <llvm-c/DebugInfo.h>

#include "translator/module/marks.h"
#include "translator/module/module_steps.h"
#include "translator/vector/emit/replace.h"
#include "translator/vector/tuning/straighten.h"

/* ---- the loop over blocks ---- */

static bool is_marked(const struct tr_way *way, uint32_t segment)
{
    return tr_is_marked(tr_straight_terminator(way, segment), TR_MARK_BLOCKS);
}

/* The only segment from which control goes back to the header; TR_NONE: there are several. */
static uint32_t latch_of(const struct tr_way *way, const struct tr_loop *loop)
{
    const struct tr_segment *header = &way->graph.segments[loop->header];
    uint32_t latch = TR_NONE;
    for (uint32_t p = 0; p < header->pred_count; p++) {
        if (!tr_set_has(&loop->segments, header->preds[p]))
            continue;
        if (latch != TR_NONE)
            return TR_NONE;
        latch = header->preds[p];
    }
    return latch;
}

/* Whether the segment has addresses of shared memory. */
static bool has_work(const struct tr_way *way, uint32_t segment)
{
    const struct tr_segment *s = &way->graph.segments[segment];
    for (uint32_t v = s->first_value; v < s->first_value + s->value_count; v++) {
        LLVMValueRef inst = way->graph.values[v].llvm;
        for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
            uint32_t offset;
            LLVMValueRef operand = LLVMGetOperand(inst, (unsigned)i);
            if (tr_straight_is_pointer(LLVMTypeOf(operand)) &&
                tr_straight_place(&way->pieces, operand, &offset) != TR_PLACE_ELSEWHERE)
                return true;
        }
    }
    return false;
}

static bool find_loop(struct tr_way *way)
{
    for (uint32_t l = 0; l < way->loops.count; l++) {
        const struct tr_loop *loop = &way->loops.loops[l];
        uint32_t latch = latch_of(way, loop);
        if (loop->parent != TR_NONE || loop->is_irreducible || latch == TR_NONE ||
            !is_marked(way, latch))
            continue;
        way->loop = loop;
        way->join = tr_set_next(&loop->segments, 0);
        while (!is_marked(way, way->join))
            way->join = tr_set_next(&loop->segments, way->join + 1);
        way->has_join = has_work(way, way->join);
        return way->join != loop->header;
    }
    return false;
}

/* Whether the way goes on to this segment. */
static bool is_behind(const struct tr_way *way, uint32_t segment)
{
    const struct tr_segment *join = &way->graph.segments[way->join];
    for (uint32_t i = 0; way->has_join && i < join->succ_count; i++)
        if (join->succs[i] == segment)
            return true;
    return !way->has_join && segment == way->join;
}

/* Whether values defined before the block is done leave it through phis only, so that control can
 * come from elsewhere. */
static bool can_be_bypassed(const struct tr_way *way)
{
    const struct tr_graph *graph = &way->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        for (uint32_t u = 0; tr_straight_is_inside(way, value->segment) && u < value->use_count;
             u++) {
            const struct tr_value *user = &graph->values[value->uses[u]];
            bool is_phi_behind = user->opcode == LLVMPHI && is_behind(way, user->segment);
            if (!tr_straight_is_inside(way, user->segment) && !is_phi_behind)
                return false;
        }
    }
    return true;
}

/* ---- the second body ---- */

/* Moves it to a block of its own, which is the old body. */
static LLVMBasicBlockRef move_terminator(const struct tr_way *way)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(way->header);
    LLVMBasicBlockRef other = tr_straight_new_block(way, "other");
    LLVMInstructionRemoveFromParent(terminator);
    LLVMPositionBuilderAtEnd(way->builder, other);
    LLVMInsertIntoBuilder(way->builder, terminator);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        tr_move_phis(way->builder, LLVMGetSuccessor(terminator, i), way->header, other);
    return other;
}

/* Continues from the end of the way, which `last` has become, where the block goes on. */
static void leave(struct tr_way *way, uint32_t last)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(way->builder);
    LLVMValueRef terminator = last == way->join
                                  ? tr_straight_copy(way, tr_straight_terminator(way, last))
                                  : LLVMBuildBr(way->builder, way->graph.segments[way->join].llvm);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        LLVMValueRef phi = LLVMGetFirstInstruction(LLVMGetSuccessor(terminator, i));
        for (; LLVMIsAPHINode(phi) != NULL; phi = LLVMGetNextInstruction(phi)) {
            LLVMValueRef value = tr_straight_incoming(way, phi, last);
            LLVMAddIncoming(phi, &value, &here, 1);
        }
    }
}

static void complete(struct tr_way *way, uint32_t last)
{
    leave(way, last);
    LLVMBasicBlockRef other = move_terminator(way);
    LLVMPositionBuilderAtEnd(way->builder, way->header);
    if (way->answer == NULL)
        way->answer = LLVMConstInt(
            LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(way->function))), 1, false);
    LLVMBuildCondBr(way->builder, way->answer, way->first, other);
}

/* `kept`: of the header, the last instruction before questions; NULL: there was none. */
static void give_up(const struct tr_way *way, LLVMValueRef kept)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(way->header);
    for (LLVMBasicBlockRef b = way->first; b != NULL; b = LLVMGetNextBasicBlock(b))
        tr_erase_back(LLVMGetLastInstruction(b), NULL);
    tr_erase_back(LLVMGetPreviousInstruction(terminator), kept);
    LLVMBasicBlockRef next = way->first;
    while (next != NULL) {
        LLVMBasicBlockRef dead = next;
        next = LLVMGetNextBasicBlock(next);
        LLVMDeleteBasicBlock(dead);
    }
}

static bool begin(struct tr_way *way)
{
    struct pxr_arena *arena = &way->graph.arena;
    way->now = pxr_arena_alloc_array(arena, way->graph.value_count, sizeof *way->now);
    way->next = pxr_arena_alloc_array(arena, way->graph.value_count, sizeof *way->next);
    if (way->now == NULL || way->next == NULL || !tr_straight_find_work(way))
        return false;
    way->header = way->graph.segments[way->loop->header].llvm;
    way->first = tr_straight_new_block(way, "straight");
    LLVMPositionBuilderAtEnd(way->builder, way->first);
    return true;
}

static bool try_loop(struct tr_way *way)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(way->function));
    if (!tr_straight_is_private(&way->graph) ||
        !tr_straight_init(&way->pieces, &way->graph.arena, layout) || !find_loop(way) ||
        !can_be_bypassed(way) || !begin(way))
        return false;
    LLVMValueRef kept = LLVMGetPreviousInstruction(LLVMGetBasicBlockTerminator(way->header));
    uint32_t last = tr_straight_walk(way);
    bool is_complete = last != TR_NONE && way->pieces.forwarded > 0;
    if (is_complete)
        complete(way, last);
    else
        give_up(way, kept);
    return is_complete;
}

/* ---- the face ---- */

enum pxr_status tr_straighten_blocks(LLVMModuleRef module, bool *has_changed, struct pxr_error *err)
{
    struct tr_way way = {.function = LLVMGetNamedFunction(module, TR_KERNEL_NAME)};
    *has_changed = false;
    if (way.function == NULL || LLVMIsDeclaration(way.function))
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&way.graph, way.function, NULL, err);
    if (status != PXR_OK)
        return status;
    way.builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    status = tr_loops_build(&way.graph, &way.loops, err);
    if (status == PXR_OK)
        *has_changed = try_loop(&way);
    LLVMDisposeBuilder(way.builder);
    tr_graph_fini(&way.graph);
    return status;
}
