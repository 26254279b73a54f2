/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses that do not overlap, in a search tree: every operation takes logarithmic
 * time, however many there are. A treap: a node's place among its children and parents is decided
 * by a random priority, which keeps the tree flat whatever the order of calls.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_RANGE_TREE_H
#define PTXRUN_CUDART_CORE_MEMORY_RANGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range, or a part of one. The other members are the tree's. */
struct crt_range {
    uintptr_t begin;
    size_t size_bytes;
    size_t largest_bytes; /* of this range and all below it */
    uint32_t priority;
    struct crt_range *child[2]; /* lower and higher addresses */
};

struct crt_range_tree {
    struct crt_range *root;
    uint32_t random; /* 0 at first */
};

static inline uintptr_t crt_range_end(const struct crt_range *range)
{
    return range->begin + range->size_bytes;
}

/* Adds a range, of which begin and size_bytes are set. None may begin there. */
void crt_range_insert(struct crt_range_tree *tree, struct crt_range *range);

void crt_range_remove(struct crt_range_tree *tree, const struct crt_range *range);

/* Changes a range in its place: it stays between its neighbours. */
void crt_range_change(struct crt_range_tree *tree, struct crt_range *range, uintptr_t begin,
                      size_t size_bytes);

/* The last range that begins at or before address, and the first one behind it; or NULL. */
struct crt_range *crt_range_floor(const struct crt_range_tree *tree, uintptr_t address);
struct crt_range *crt_range_above(const struct crt_range_tree *tree, uintptr_t address);

/* The first range of at least size_bytes that begins at or behind address, or NULL. */
struct crt_range *crt_range_fit(const struct crt_range_tree *tree, uintptr_t address,
                                size_t size_bytes);

#endif
