/* SPDX-License-Identifier: Apache-2.0
 *
 * Dinic's algorithm. No recursion: paths are as long as chains of values in a kernel may be.
 */
#include "translator/collapse/mincut.h"

#include <assert.h>
#include <string.h>

#define NO_EDGE     UINT32_MAX
#define NO_LEVEL    UINT32_MAX
#define OPPOSITE(e) ((e) ^ 1)

bool tr_cut_init(struct tr_cut *cut, struct pxr_arena *arena, uint32_t node_count,
                 uint32_t edge_limit)
{
    *cut = (struct tr_cut){.node_count = node_count, .edge_limit = edge_limit};
    cut->edges = pxr_arena_alloc_array(arena, (size_t)edge_limit * 2, sizeof *cut->edges);
    cut->first = pxr_arena_alloc_array(arena, node_count, sizeof *cut->first);
    cut->current = pxr_arena_alloc_array(arena, node_count, sizeof *cut->current);
    cut->level = pxr_arena_alloc_array(arena, node_count, sizeof *cut->level);
    cut->queue = pxr_arena_alloc_array(arena, node_count, sizeof *cut->queue);
    if (!cut->edges || !cut->first || !cut->current || !cut->level || !cut->queue)
        return false;
    memset(cut->first, 0xff, node_count * sizeof *cut->first);
    return true;
}

static void add_half(struct tr_cut *cut, uint32_t from, uint32_t to, uint64_t room)
{
    cut->edges[cut->edge_count] =
        (struct tr_cut_edge){.to = to, .next = cut->first[from], .room = room};
    cut->first[from] = cut->edge_count++;
}

void tr_cut_add_edge(struct tr_cut *cut, uint32_t from, uint32_t to, uint64_t capacity)
{
    if (capacity == 0)
        return;
    assert(cut->edge_count < 2 * cut->edge_limit);
    add_half(cut, from, to, capacity);
    add_half(cut, to, from, 0);
}

/* Sets distances from the source along edges with room; true: the sink can be reached. */
static bool set_levels(struct tr_cut *cut, uint32_t source, uint32_t sink)
{
    memset(cut->level, 0xff, cut->node_count * sizeof *cut->level);
    cut->level[source] = 0;
    cut->queue[0] = source;
    uint32_t tail = 1;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = cut->queue[head];
        for (uint32_t e = cut->first[node]; e != NO_EDGE; e = cut->edges[e].next) {
            uint32_t to = cut->edges[e].to;
            if (cut->edges[e].room == 0 || cut->level[to] != NO_LEVEL)
                continue;
            cut->level[to] = cut->level[node] + 1;
            cut->queue[tail++] = to;
        }
    }
    return cut->level[sink] != NO_LEVEL;
}

/* Sends as much along the path as it has room for, and returns that. path: edges from the source to
 * the sink. *len becomes the length of the rest of it, up to its first full edge. */
static uint64_t fill_path(struct tr_cut *cut, const uint32_t *path, uint32_t *len)
{
    uint64_t amount = UINT64_MAX;
    for (uint32_t i = 0; i < *len; i++)
        if (cut->edges[path[i]].room < amount)
            amount = cut->edges[path[i]].room;
    for (uint32_t i = *len; i-- > 0;) {
        cut->edges[path[i]].room -= amount;
        cut->edges[OPPOSITE(path[i])].room += amount;
        if (cut->edges[path[i]].room == 0)
            *len = i;
    }
    return amount;
}

/* The next edge from the node that has room and leads one level further. */
static uint32_t next_edge(struct tr_cut *cut, uint32_t node)
{
    uint32_t e = cut->current[node];
    while (e != NO_EDGE &&
           (cut->edges[e].room == 0 || cut->level[cut->edges[e].to] != cut->level[node] + 1))
        e = cut->edges[e].next;
    cut->current[node] = e;
    return e;
}

/* Sends as much flow as shortest paths carry. */
static uint64_t fill_levels(struct tr_cut *cut, uint32_t source, uint32_t sink)
{
    uint32_t *path = cut->queue; /* no longer than the number of levels */
    uint32_t len = 0;
    uint32_t node = source;
    uint64_t total = 0;
    memcpy(cut->current, cut->first, cut->node_count * sizeof *cut->current);
    while (true) {
        if (node == sink) {
            total += fill_path(cut, path, &len);
            node = cut->edges[OPPOSITE(path[len])].to;
        }
        uint32_t e = next_edge(cut, node);
        if (e != NO_EDGE) {
            path[len++] = e;
            node = cut->edges[e].to;
        } else if (len > 0) {
            node = cut->edges[OPPOSITE(path[--len])].to;
            cut->current[node] = cut->edges[path[len]].next;
        } else {
            return total;
        }
    }
}

/* Marks the nodes from which the sink can still be reached. */
static void mark_below(struct tr_cut *cut, uint32_t sink, bool *is_below)
{
    memset(is_below, 0, cut->node_count * sizeof *is_below);
    is_below[sink] = true;
    cut->queue[0] = sink;
    uint32_t tail = 1;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = cut->queue[head];
        for (uint32_t e = cut->first[node]; e != NO_EDGE; e = cut->edges[e].next) {
            uint32_t from = cut->edges[e].to;
            if (is_below[from] || cut->edges[OPPOSITE(e)].room == 0)
                continue;
            is_below[from] = true;
            cut->queue[tail++] = from;
        }
    }
}

uint64_t tr_cut_find(struct tr_cut *cut, uint32_t source, uint32_t sink, bool *is_below)
{
    uint64_t total = 0;
    while (set_levels(cut, source, sink))
        total += fill_levels(cut, source, sink);
    mark_below(cut, sink, is_below);
    return total;
}
