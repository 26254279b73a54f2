/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes in step at fences. Programs that wait (they have polls that stay) are written for warps
 * whose lanes go on together: lane 0 takes a lock, each lane stores its word, all fence, lane 1
 * gives the lock back. So lanes gather before a fence (rt_warp_converge). Nothing is added where a
 * program does not wait, nor in the very loop that waits: there lanes go different ways for good.
 *
 * If whoever waits comes to the fence next, whatever happens, a machine would bring the paths
 * together between the two; then the lanes that are there first wait for those that poll, too.
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "scheduler/rt.h"
#include "translator/collapse/prepare.h"

/* Of fences that are looked at; further ones wait for nobody who polls. */
#define FENCES_MAX 64
/* Behind all numbers of volatile accesses, which come first where both are waited at. */
#define FIRST_SITE 0x40000000u

struct fences {
    const struct tr_graph *graph;
    const struct tr_loops *loops;
    const bool *is_needed;   /* by value: a poll that stays */
    struct tr_set goes_past; /* segments from which the thread may exit without the fence */
    LLVMBuilderRef builder;
    LLVMValueRef thread;
    uint32_t count;
};

static bool is_in_same_loop(const struct fences *fences, uint32_t poll, uint32_t fence)
{
    const struct tr_value *values = fences->graph->values;
    uint32_t loop = fences->loops->innermost[values[poll].segment];
    return loop != TR_NONE &&
           tr_set_has(&fences->loops->loops[loop].segments, values[fence].segment);
}

static bool waits_around(const struct fences *fences, uint32_t fence)
{
    for (uint32_t v = 0; v < fences->graph->value_count; v++)
        if (fences->is_needed[v] && is_in_same_loop(fences, v, fence))
            return true;
    return false;
}

static bool exits(const struct tr_graph *graph, uint32_t s)
{
    const struct tr_segment *segment = &graph->segments[s];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        const struct tr_value *value = &graph->values[segment->first_value + i];
        if (value->opcode == LLVMRet || strcmp(tr_callee_name(value->llvm), "rt_exit") == 0)
            return true;
    }
    return false;
}

/* Faults do not count: they end the launch. */
static void find_ways_past(struct fences *fences, uint32_t fence)
{
    const struct tr_graph *graph = fences->graph;
    uint32_t at = graph->values[fence].segment;
    struct tr_set *past = &fences->goes_past;
    memset(past->words, 0, past->word_count * sizeof *past->words);
    for (uint32_t s = 0; s < graph->segment_count; s++)
        if (s != at && exits(graph, s))
            tr_set_add(past, s);
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t s = graph->segment_count; s-- > 0;) {
            const struct tr_segment *segment = &graph->segments[s];
            for (uint32_t i = 0; i < segment->succ_count; i++)
                if (s != at && !tr_set_has(past, s) && tr_set_has(past, segment->succs[i])) {
                    tr_set_add(past, s);
                    again = true;
                }
        }
    }
}

/* A thread that polls somewhere comes here next. */
static bool follows_a_poll(struct fences *fences, uint32_t fence)
{
    const struct tr_value *values = fences->graph->values;
    if (fences->count >= FENCES_MAX)
        return false;
    find_ways_past(fences, fence);
    for (uint32_t v = 0; v < fences->graph->value_count; v++)
        if (fences->is_needed[v] && !tr_set_has(&fences->goes_past, values[v].segment))
            return true;
    return false;
}

static void gather_at(struct fences *fences, uint32_t fence)
{
    LLVMValueRef inst = fences->graph->values[fence].llvm;
    LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef types[2] = {LLVMTypeOf(fences->thread), i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(llvm), types, 2, false);
    LLVMValueRef function = LLVMGetNamedFunction(module, "rt_warp_converge");
    uint32_t site =
        (FIRST_SITE + fences->count) | (follows_a_poll(fences, fence) ? RT_SITE_PATIENT : 0);
    if (function == NULL)
        function = LLVMAddFunction(module, "rt_warp_converge", type);
    LLVMValueRef args[2] = {fences->thread, LLVMConstInt(i32, site, false)};
    LLVMPositionBuilderBefore(fences->builder, inst);
    LLVMSetCurrentDebugLocation2(fences->builder, LLVMInstructionGetDebugLoc(inst));
    LLVMBuildCall2(fences->builder, type, function, args, 2, "");
    fences->count++;
}

enum pxr_status tr_gather_at_fences(struct tr_graph *graph, const struct tr_loops *loops,
                                    const bool *is_needed, LLVMValueRef thread,
                                    struct pxr_error *err)
{
    struct fences fences = {
        .graph = graph, .loops = loops, .is_needed = is_needed, .thread = thread};
    fences.goes_past = tr_set_make(&graph->arena, graph->segment_count);
    if (fences.goes_past.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    fences.builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(thread)));
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].opcode == LLVMFence && !waits_around(&fences, v))
            gather_at(&fences, v);
    LLVMDisposeBuilder(fences.builder);
    return PXR_OK;
}
