/* SPDX-License-Identifier: Apache-2.0
 *
 * The unused parts of an address space, and the search for the next range: upwards through all of
 * it before any address is used again.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_HOLES_H
#define PTXRUN_CUDART_CORE_MEMORY_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/memory/range_tree.h"

/* Guarded by its owner. No two holes are adjacent. */
struct crt_holes {
    struct crt_range_tree tree;
    struct crt_range *spare; /* nodes, by child[0] */
    size_t node_count;       /* of the tree and spare ones */
    uintptr_t cursor;        /* where the search for room starts */
};

/* Makes sure that with so many ranges in use neither taking one nor giving one back needs memory.
 * False when out of memory. */
bool crt_holes_make_room(struct crt_holes *holes, size_t ranges_in_use);

/* Adds a range, joining it with its neighbours. */
void crt_holes_add(struct crt_holes *holes, uintptr_t begin, uintptr_t end);

/* The address of span free bytes, at or after the cursor, or else from the beginning; 0: none. */
uintptr_t crt_holes_find(const struct crt_holes *holes, size_t span);

/* Takes [begin, begin + span), which lies in one hole. The cursor goes to its end. */
void crt_holes_take(struct crt_holes *holes, uintptr_t begin, size_t span);

/* The hole that begins at or before address; NULL: none. */
const struct crt_range *crt_holes_at(const struct crt_holes *holes, uintptr_t address);

#endif
