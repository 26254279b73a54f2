/* SPDX-License-Identifier: Apache-2.0
 *
 * Liveness by walking from every use back to the definition: Boissinot et al., "Computing Liveness
 * Sets for SSA-Form Programs". The time is in proportion to the size of the result.
 */
#include "translator/analysis/analysis.h"

#include <llvm-c/Core.h>

struct walk {
    const struct tr_graph *graph;
    struct tr_liveness *liveness;
    uint32_t *stack; /* live-in segments whose predecessors are not marked yet */
};

/* Each segment becomes live-in once per value, so the stack never holds one twice. */
static void push_live_in(struct walk *walk, uint32_t value, uint32_t segment, uint32_t *depth)
{
    if (tr_set_has(&walk->liveness->live_in[segment], value))
        return;
    tr_set_add(&walk->liveness->live_in[segment], value);
    walk->stack[(*depth)++] = segment;
}

/* Marks the value as needed at the segment's beginning. */
static void mark_live_in(struct walk *walk, uint32_t value, uint32_t segment)
{
    uint32_t home = walk->graph->values[value].segment;
    uint32_t depth = 0;
    push_live_in(walk, value, segment, &depth);
    while (depth > 0) {
        const struct tr_segment *at = &walk->graph->segments[walk->stack[--depth]];
        for (uint32_t i = 0; i < at->pred_count; i++) {
            tr_set_add(&walk->liveness->live_out[at->preds[i]], value);
            if (at->preds[i] != home)
                push_live_in(walk, value, at->preds[i], &depth);
        }
    }
}

static void mark_phi_use(struct walk *walk, uint32_t value, const struct tr_value *phi)
{
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (phi->operands[i] != value)
            continue;
        tr_set_add(&walk->liveness->live_out[phi->incoming[i]], value);
        if (phi->incoming[i] != walk->graph->values[value].segment)
            mark_live_in(walk, value, phi->incoming[i]);
    }
}

static void mark_uses(struct walk *walk, uint32_t number)
{
    const struct tr_value *value = &walk->graph->values[number];
    for (uint32_t i = 0; i < value->use_count; i++) {
        const struct tr_value *user = &walk->graph->values[value->uses[i]];
        if (user->opcode == LLVMPHI)
            mark_phi_use(walk, number, user);
        else if (user->segment != value->segment)
            mark_live_in(walk, number, user->segment);
    }
}

static struct tr_set *make_sets(struct tr_graph *graph)
{
    struct tr_set *sets = pxr_arena_alloc_array(&graph->arena, graph->segment_count, sizeof *sets);
    for (uint32_t s = 0; sets != NULL && s < graph->segment_count; s++) {
        sets[s] = tr_set_make(&graph->arena, graph->value_count);
        if (sets[s].words == NULL)
            return NULL;
    }
    return sets;
}

enum pxr_status tr_liveness_build(struct tr_graph *graph, struct tr_liveness *liveness,
                                  struct pxr_error *err)
{
    struct walk walk = {.graph = graph, .liveness = liveness};
    walk.stack = pxr_arena_alloc_array(&graph->arena, graph->segment_count, sizeof *walk.stack);
    liveness->live_in = make_sets(graph);
    liveness->live_out = make_sets(graph);
    if (walk.stack == NULL || liveness->live_in == NULL || liveness->live_out == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
    for (uint32_t v = 0; v < graph->value_count; v++)
        mark_uses(&walk, v);
    return PXR_OK;
}
