/* SPDX-License-Identifier: Apache-2.0
 *
 * Strongly connected parts by Tarjan's algorithm, with a stack of its own instead of recursion.
 */
#include "translator/analysis/components.h"

struct search {
    const struct tr_graph *graph;
    const struct tr_set *within;
    struct tr_components *result;
    uint32_t visited;    /* segments so far */
    uint32_t *index;     /* by segment: when it was visited; TR_NONE: not yet */
    uint32_t *low;       /* by segment: the earliest visited segment known to be in its part */
    uint32_t *next_succ; /* by segment: the successor to look at next */
    uint32_t *path;      /* segments from the search's root to the current one */
    uint32_t path_count;
    uint32_t *open; /* visited segments whose part is not complete */
    uint32_t open_count;
};

static bool allocate(struct search *search, struct pxr_arena *scratch)
{
    size_t count = search->graph->segment_count;
    struct tr_components *result = search->result;
    uint32_t **arrays[] = {&search->index, &search->low, &search->next_succ, &search->path,
                           &search->open,  &result->of,  &result->first};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = pxr_arena_alloc_array(scratch, count, sizeof **arrays[i]);
        if (*arrays[i] == NULL)
            return false;
    }
    result->is_cycle = pxr_arena_alloc_array(scratch, count, sizeof *result->is_cycle);
    for (size_t i = 0; i < count; i++) {
        search->index[i] = TR_NONE;
        result->of[i] = TR_NONE;
    }
    return result->is_cycle != NULL;
}

static void enter(struct search *search, uint32_t segment)
{
    search->index[segment] = search->low[segment] = search->visited++;
    search->path[search->path_count++] = segment;
    search->open[search->open_count++] = segment;
}

static bool is_self_loop(const struct tr_segment *segment, uint32_t number)
{
    for (uint32_t i = 0; i < segment->succ_count; i++)
        if (segment->succs[i] == number)
            return true;
    return false;
}

/* Closes a component: all segments opened since root belong to it. */
static void close_component(struct search *search, uint32_t root)
{
    struct tr_components *result = search->result;
    uint32_t number = result->count++;
    uint32_t size = 0;
    uint32_t segment;
    result->first[number] = root;
    do {
        segment = search->open[--search->open_count];
        result->of[segment] = number;
        size++;
        if (segment < result->first[number])
            result->first[number] = segment;
    } while (segment != root);
    result->is_cycle[number] = size > 1 || is_self_loop(&search->graph->segments[root], root);
}

static void take_lower(uint32_t *low, uint32_t other)
{
    if (other < *low)
        *low = other;
}

static void step(struct search *search)
{
    uint32_t current = search->path[search->path_count - 1];
    const struct tr_segment *segment = &search->graph->segments[current];
    if (search->next_succ[current] < segment->succ_count) {
        uint32_t to = segment->succs[search->next_succ[current]++];
        if (!tr_set_has(search->within, to))
            return;
        if (search->index[to] == TR_NONE)
            enter(search, to);
        else if (search->result->of[to] == TR_NONE)
            take_lower(&search->low[current], search->index[to]);
        return;
    }
    search->path_count--;
    if (search->low[current] == search->index[current])
        close_component(search, current);
    else
        take_lower(&search->low[search->path[search->path_count - 1]], search->low[current]);
}

bool tr_components_find(const struct tr_graph *graph, const struct tr_set *within,
                        struct pxr_arena *scratch, struct tr_components *components)
{
    *components = (struct tr_components){0};
    struct search search = {.graph = graph, .within = within, .result = components};
    if (!allocate(&search, scratch))
        return false;
    for (uint32_t s = tr_set_next(within, 0); s != TR_NONE; s = tr_set_next(within, s + 1)) {
        if (search.index[s] != TR_NONE)
            continue;
        enter(&search, s);
        while (search.path_count > 0)
            step(&search);
    }
    return true;
}
