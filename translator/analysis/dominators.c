/* SPDX-License-Identifier: Apache-2.0
 *
 * Dominators and post-dominators, by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
 * Algorithm". Both are the same computation on a flow graph with a virtual root: the root leads to
 * the entry; or, against the direction of control, to the ends.
 */
#include "translator/analysis/components.h"

/* Nodes are segments and, last, the virtual root. */
struct flow {
    const struct tr_graph *graph;
    bool is_post;
    bool *is_start; /* by segment: the root leads to it */
    uint32_t root;
    uint32_t *rank;  /* by node: its place in reverse postorder; TR_NONE: not visited yet */
    uint32_t *order; /* nodes in postorder; the root is last */
    uint32_t order_count;
    uint32_t *idom; /* by node; TR_NONE: unknown */
};

/* ---- where control ends ---- */

static void mark_final_components(const struct tr_graph *graph,
                                  const struct tr_components *components, bool *is_left)
{
    for (uint32_t s = 0; s < graph->segment_count; s++)
        for (uint32_t i = 0; i < graph->segments[s].succ_count; i++)
            if (components->of[graph->segments[s].succs[i]] != components->of[s])
                is_left[components->of[s]] = true;
}

/* Finds the ends: every path leads to a strongly connected part that it cannot leave, a segment
 * without successor or an endless loop. */
static bool find_ends(struct flow *flow, struct pxr_arena *scratch)
{
    const struct tr_graph *graph = flow->graph;
    struct tr_set all = tr_set_make(scratch, graph->segment_count);
    bool *is_left = pxr_arena_alloc_array(scratch, graph->segment_count, sizeof *is_left);
    struct tr_components components;
    if (all.words == NULL || is_left == NULL)
        return false;
    for (uint32_t s = 0; s < graph->segment_count; s++)
        tr_set_add(&all, s);
    if (!tr_components_find(graph, &all, scratch, &components))
        return false;
    mark_final_components(graph, &components, is_left);
    for (uint32_t c = 0; c < components.count; c++)
        if (!is_left[c])
            flow->is_start[components.first[c]] = true;
    return true;
}

/* ---- the order ---- */

static uint32_t next_count(const struct flow *flow, uint32_t node)
{
    if (node == flow->root)
        return flow->graph->segment_count;
    const struct tr_segment *segment = &flow->graph->segments[node];
    return flow->is_post ? segment->pred_count : segment->succ_count;
}

/* TR_NONE: no edge. */
static uint32_t next_node(const struct flow *flow, uint32_t node, uint32_t index)
{
    if (node == flow->root)
        return flow->is_start[index] ? index : TR_NONE;
    const struct tr_segment *segment = &flow->graph->segments[node];
    return flow->is_post ? segment->preds[index] : segment->succs[index];
}

static bool find_order(struct flow *flow, struct pxr_arena *scratch)
{
    uint32_t node_count = flow->root + 1;
    uint32_t *stack = pxr_arena_alloc_array(scratch, node_count, sizeof *stack);
    uint32_t *next = pxr_arena_alloc_array(scratch, node_count, sizeof *next);
    struct tr_set visited = tr_set_make(scratch, node_count);
    if (stack == NULL || next == NULL || visited.words == NULL)
        return false;
    uint32_t depth = 0;
    stack[depth++] = flow->root;
    tr_set_add(&visited, flow->root);
    while (depth > 0) {
        uint32_t node = stack[depth - 1];
        if (next[node] == next_count(flow, node)) {
            flow->order[flow->order_count++] = node;
            depth--;
            continue;
        }
        uint32_t to = next_node(flow, node, next[node]++);
        if (to != TR_NONE && !tr_set_has(&visited, to)) {
            tr_set_add(&visited, to);
            stack[depth++] = to;
        }
    }
    for (uint32_t i = 0; i < flow->order_count; i++)
        flow->rank[flow->order[i]] = flow->order_count - 1 - i;
    return true;
}

/* ---- the fixpoint ---- */

static uint32_t common_dominator(const struct flow *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (flow->rank[a] > flow->rank[b])
            a = flow->idom[a];
        while (flow->rank[b] > flow->rank[a])
            b = flow->idom[b];
    }
    return a;
}

static uint32_t new_idom(const struct flow *flow, uint32_t node)
{
    const struct tr_segment *segment = &flow->graph->segments[node];
    uint32_t count = flow->is_post ? segment->succ_count : segment->pred_count;
    const uint32_t *from = flow->is_post ? segment->succs : segment->preds;
    uint32_t idom = flow->is_start[node] ? flow->root : TR_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (flow->idom[from[i]] == TR_NONE)
            continue;
        idom = idom == TR_NONE ? from[i] : common_dominator(flow, idom, from[i]);
    }
    return idom;
}

static void find_idoms(struct flow *flow)
{
    bool is_changed = true;
    flow->idom[flow->root] = flow->root;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = flow->order_count - 1; i-- > 0;) {
            uint32_t node = flow->order[i];
            uint32_t idom = new_idom(flow, node);
            is_changed |= idom != flow->idom[node];
            flow->idom[node] = idom;
        }
    }
}

/* ---- the result ---- */

static bool allocate(struct flow *flow, struct pxr_arena *scratch)
{
    uint32_t node_count = flow->root + 1;
    flow->is_start = pxr_arena_alloc_array(scratch, node_count, sizeof *flow->is_start);
    flow->rank = pxr_arena_alloc_array(scratch, node_count, sizeof *flow->rank);
    flow->order = pxr_arena_alloc_array(scratch, node_count, sizeof *flow->order);
    flow->idom = pxr_arena_alloc_array(scratch, node_count, sizeof *flow->idom);
    if (flow->is_start == NULL || flow->rank == NULL || flow->order == NULL || flow->idom == NULL)
        return false;
    for (uint32_t i = 0; i < node_count; i++)
        flow->idom[i] = TR_NONE;
    return true;
}

static bool store_result(const struct flow *flow, struct pxr_arena *arena,
                         struct tr_dominators *dominators)
{
    uint32_t count = flow->graph->segment_count;
    dominators->is_post = flow->is_post;
    dominators->idom = pxr_arena_alloc_array(arena, count, sizeof *dominators->idom);
    dominators->depth = pxr_arena_alloc_array(arena, count, sizeof *dominators->depth);
    if (dominators->idom == NULL || dominators->depth == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        dominators->idom[i] = TR_NONE;
    for (uint32_t i = flow->order_count - 1; i-- > 0;) {
        uint32_t node = flow->order[i];
        uint32_t idom = flow->idom[node];
        bool is_top = idom == flow->root;
        dominators->idom[node] = is_top ? TR_NONE : idom;
        dominators->depth[node] = is_top ? 0 : dominators->depth[idom] + 1;
    }
    return true;
}

static bool find_starts(struct flow *flow, const struct tr_set *ends, struct pxr_arena *scratch)
{
    if (!flow->is_post)
        flow->is_start[0] = true;
    else if (ends == NULL)
        return find_ends(flow, scratch);
    else
        for (uint32_t s = tr_set_next(ends, 0); s != TR_NONE; s = tr_set_next(ends, s + 1))
            flow->is_start[s] = true;
    return true;
}

/* ends: for post-dominators, the segments where control ends; NULL: all such segments. */
static enum pxr_status build(struct tr_graph *graph, bool is_post, const struct tr_set *ends,
                             struct tr_dominators *dominators, struct pxr_error *err)
{
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    struct flow flow = {.graph = graph, .is_post = is_post, .root = graph->segment_count};
    bool ok = allocate(&flow, &scratch) && find_starts(&flow, ends, &scratch) &&
              find_order(&flow, &scratch);
    if (ok) {
        find_idoms(&flow);
        ok = store_result(&flow, &graph->arena, dominators);
    }
    pxr_arena_fini(&scratch);
    return ok ? PXR_OK : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
}

enum pxr_status tr_dominators_build(struct tr_graph *graph, bool is_post,
                                    struct tr_dominators *dominators, struct pxr_error *err)
{
    return build(graph, is_post, NULL, dominators, err);
}

enum pxr_status tr_post_dominators_to_ends(struct tr_graph *graph, const struct tr_set *ends,
                                           struct tr_dominators *dominators, struct pxr_error *err)
{
    return build(graph, true, ends, dominators, err);
}

enum pxr_status tr_post_dominators_to(struct tr_graph *graph, uint32_t end,
                                      struct tr_dominators *dominators, struct pxr_error *err)
{
    struct tr_set ends = tr_set_make(&graph->arena, graph->segment_count);
    if (ends.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
    tr_set_add(&ends, end);
    return tr_post_dominators_to_ends(graph, &ends, dominators, err);
}

bool tr_dominates(const struct tr_dominators *dominators, uint32_t a, uint32_t b)
{
    while (b != TR_NONE && dominators->depth[b] > dominators->depth[a])
        b = dominators->idom[b];
    return a == b;
}
