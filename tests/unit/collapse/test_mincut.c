/* SPDX-License-Identifier: Apache-2.0
 *
 * Minimum cut against all cuts of small random graphs.
 */
#include "translator/collapse/mincut.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 9
#define MAX_EDGES 40

struct graph {
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t from[MAX_EDGES];
    uint32_t to[MAX_EDGES];
    uint64_t capacity[MAX_EDGES];
};

static uint32_t draw(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*state >> 33) % limit;
}

/* Source 0, sink 1. Some edges can never be cut, some have capacity 0, some are loops. */
static struct graph random_graph(uint64_t *state)
{
    struct graph graph = {.node_count = 2 + draw(state, MAX_NODES - 1)};
    graph.edge_count = draw(state, MAX_EDGES + 1);
    for (uint32_t i = 0; i < graph.edge_count; i++) {
        graph.from[i] = draw(state, graph.node_count);
        graph.to[i] = draw(state, graph.node_count);
        graph.capacity[i] = draw(state, 8) == 0 ? TR_CUT_NEVER : draw(state, 10);
    }
    return graph;
}

/* below: a bit per node, set on the sink's side. */
static uint64_t capacity_of(const struct graph *graph, uint32_t below)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (!(below >> graph->from[i] & 1) && (below >> graph->to[i] & 1))
            sum += graph->capacity[i];
    return sum;
}

/* The least cut, and of those the one with the fewest nodes below. */
static uint32_t least_cut(const struct graph *graph)
{
    uint32_t best = 2;
    for (uint32_t below = 2; below < 1u << graph->node_count; below++) {
        if ((below & 1) || !(below & 2))
            continue;
        uint64_t cost = capacity_of(graph, below);
        uint64_t best_cost = capacity_of(graph, best);
        if (cost < best_cost ||
            (cost == best_cost && __builtin_popcount(below) < __builtin_popcount(best)))
            best = below;
    }
    return best;
}

static uint64_t find(const struct graph *graph, uint32_t *below)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    struct tr_cut cut;
    bool is_below[MAX_NODES];
    cr_assert(tr_cut_init(&cut, &arena, graph->node_count, graph->edge_count));
    for (uint32_t i = 0; i < graph->edge_count; i++)
        tr_cut_add_edge(&cut, graph->from[i], graph->to[i], graph->capacity[i]);
    uint64_t cost = tr_cut_find(&cut, 0, 1, is_below);
    *below = 0;
    for (uint32_t i = 0; i < graph->node_count; i++)
        *below |= (uint32_t)is_below[i] << i;
    pxr_arena_fini(&arena);
    return cost;
}

Test(mincut, is_the_best_of_all_cuts_of_random_graphs)
{
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        struct graph graph = random_graph(&state);
        uint32_t expected = least_cut(&graph);
        uint32_t below;
        uint64_t cost = find(&graph, &below);
        cr_assert_eq(cost, capacity_of(&graph, expected), "round %d", round);
        cr_assert_eq(below, expected, "round %d: %x, not %x", round, below, expected);
    }
}

Test(mincut, goes_around_a_path_that_was_taken_first)
{
    /* The shortest path 0-2-5-1 blocks both others unless flow can be taken back. */
    struct graph graph = {.node_count = 6,
                          .edge_count = 7,
                          .from = {0, 0, 2, 2, 3, 5, 4},
                          .to = {2, 3, 5, 4, 5, 1, 1},
                          .capacity = {1, 1, 1, 1, 1, 1, 1}};
    uint32_t below;
    cr_assert_eq(find(&graph, &below), 2);
}

Test(mincut, nodes_that_do_not_reach_the_sink_are_not_below)
{
    struct graph graph = {
        .node_count = 4, .edge_count = 2, .from = {0, 2}, .to = {2, 3}, .capacity = {5, 5}};
    uint32_t below;
    cr_assert_eq(find(&graph, &below), 0);
    cr_assert_eq(below, 2);
}

Test(mincut, takes_long_paths_without_recursion)
{
    enum { NODES = 200000 };
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    struct tr_cut cut;
    bool *is_below = pxr_arena_alloc_array(&arena, NODES, sizeof *is_below);
    cr_assert(tr_cut_init(&cut, &arena, NODES, NODES));
    for (uint32_t i = 0; i + 1 < NODES; i++)
        tr_cut_add_edge(&cut, i, i + 1, i == NODES / 2 ? 3 : 7);
    cr_assert_eq(tr_cut_find(&cut, 0, NODES - 1, is_below), 3);
    cr_assert(!is_below[NODES / 2]);
    cr_assert(is_below[NODES / 2 + 1]);
    pxr_arena_fini(&arena);
}
