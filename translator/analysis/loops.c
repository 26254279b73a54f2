/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops: strongly connected parts of the graph, and within each, without its header, again. This is
 * the loop nesting forest of Steensgaard, which also covers loops with several entries.
 */
#include "translator/analysis/components.h"

struct finder {
    struct tr_graph *graph;
    struct tr_loops *loops;
    uint32_t capacity;
};

static struct tr_loop *add_loop(struct finder *finder)
{
    struct tr_loops *loops = finder->loops;
    if (loops->count == finder->capacity) {
        uint32_t capacity = finder->capacity == 0 ? 8 : 2 * finder->capacity;
        struct tr_loop *more = pxr_arena_alloc_array(&finder->graph->arena, capacity, sizeof *more);
        if (more == NULL)
            return NULL;
        for (uint32_t i = 0; i < loops->count; i++)
            more[i] = loops->loops[i];
        loops->loops = more;
        finder->capacity = capacity;
    }
    struct tr_loop *loop = &loops->loops[loops->count];
    loop->segments = tr_set_make(&finder->graph->arena, finder->graph->segment_count);
    if (loop->segments.words == NULL)
        return NULL;
    loops->count++;
    return loop;
}

/* Whether the loop has an entry that is not its header. */
static bool has_other_entry(const struct tr_graph *graph, const struct tr_loop *loop)
{
    const struct tr_set *in = &loop->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = &graph->segments[s];
        for (uint32_t i = 0; i < segment->pred_count && s != loop->header; i++)
            if (!tr_set_has(in, segment->preds[i]))
                return true;
    }
    return false;
}

/* Adds the loops among these segments, directly inside parent. */
static bool add_loops_within(struct finder *finder, const struct tr_set *within, uint32_t parent)
{
    struct tr_graph *graph = finder->graph;
    struct tr_loops *loops = finder->loops;
    struct tr_components components;
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    bool ok = tr_components_find(graph, within, &scratch, &components);
    /* Higher numbers come earlier in control flow. */
    for (uint32_t c = ok ? components.count : 0; c-- > 0 && ok;) {
        if (!components.is_cycle[c])
            continue;
        uint32_t number = loops->count;
        struct tr_loop *loop = add_loop(finder);
        ok = loop != NULL;
        if (!ok)
            break;
        loop->header = components.first[c];
        loop->parent = parent;
        loop->depth = parent == TR_NONE ? 1 : loops->loops[parent].depth + 1;
        for (uint32_t s = tr_set_next(within, 0); s != TR_NONE; s = tr_set_next(within, s + 1)) {
            if (components.of[s] == c) {
                tr_set_add(&loop->segments, s);
                loops->innermost[s] = number;
            }
        }
        loop->is_irreducible = has_other_entry(graph, loop);
    }
    pxr_arena_fini(&scratch);
    return ok;
}

static bool find_loops(struct finder *finder)
{
    struct tr_graph *graph = finder->graph;
    struct tr_loops *loops = finder->loops;
    struct tr_set within = tr_set_make(&graph->arena, graph->segment_count);
    loops->innermost =
        pxr_arena_alloc_array(&graph->arena, graph->segment_count, sizeof *loops->innermost);
    if (within.words == NULL || loops->innermost == NULL)
        return false;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        tr_set_add(&within, s);
        loops->innermost[s] = TR_NONE;
    }
    if (!add_loops_within(finder, &within, TR_NONE))
        return false;
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct tr_set *in = &loops->loops[l].segments;
        for (uint32_t i = 0; i < within.word_count; i++)
            within.words[i] = in->words[i];
        tr_set_remove(&within, loops->loops[l].header);
        if (!add_loops_within(finder, &within, l))
            return false;
    }
    return true;
}

enum pxr_status tr_loops_build(struct tr_graph *graph, struct tr_loops *loops,
                               struct pxr_error *err)
{
    *loops = (struct tr_loops){0};
    struct finder finder = {.graph = graph, .loops = loops};
    if (find_loops(&finder))
        return PXR_OK;
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
}
