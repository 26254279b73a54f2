/* SPDX-License-Identifier: Apache-2.0
 *
 * Minimum cut of a directed graph between a source and a sink, by maximum flow (Dinic). It does not
 * know what the nodes stand for. Private to translator/collapse.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_MINCUT_H
#define PTXRUN_TRANSLATOR_COLLAPSE_MINCUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"

/* Capacity of an edge that no cut may contain: more than all others together. */
#define TR_CUT_NEVER (UINT64_C(1) << 48)

struct tr_cut_edge {
    uint32_t to;
    uint32_t next; /* of the same origin; UINT32_MAX: none */
    uint64_t room; /* capacity left */
};

/* Memory is the arena's. */
struct tr_cut {
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t edge_limit;
    struct tr_cut_edge *edges; /* edge e and its opposite e ^ 1 are neighbours */
    uint32_t *first;           /* by node: an edge */
    uint32_t *current;         /* by node: the edge to try next */
    uint32_t *level;           /* by node: distance */
    uint32_t *queue;
};

/* edge_limit: how many edges will be added at most. False when out of memory. */
bool tr_cut_init(struct tr_cut *cut, struct pxr_arena *arena, uint32_t node_count,
                 uint32_t edge_limit);

/* Capacity 0 adds nothing. */
void tr_cut_add_edge(struct tr_cut *cut, uint32_t from, uint32_t to, uint64_t capacity);

/* Finds a cut of least capacity and returns its capacity. is_below, by node: whether the node is on
 * the sink's side. Of all least cuts it finds the one with the fewest nodes there. To be called
 * once. */
uint64_t tr_cut_find(struct tr_cut *cut, uint32_t source, uint32_t sink, bool *is_below);

#endif
