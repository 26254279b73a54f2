/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses: a treap that knows the largest range of each subtree. Its depth is a small
 * multiple of the logarithm, so functions may call themselves.
 */
#include "cudart/core/memory/range_tree.h"

static size_t largest_of(const struct crt_range *range)
{
    return range ? range->largest_bytes : 0;
}

/* Updates a node's knowledge of those below it. */
static void update(struct crt_range *range)
{
    range->largest_bytes = range->size_bytes;
    for (int side = 0; side < 2; side++)
        if (largest_of(range->child[side]) > range->largest_bytes)
            range->largest_bytes = largest_of(range->child[side]);
}

/* Splits a subtree into the ranges that begin before address and the rest. */
static void split(struct crt_range *range, uintptr_t address, struct crt_range **below,
                  struct crt_range **rest)
{
    if (!range) {
        *below = NULL;
        *rest = NULL;
        return;
    }
    if (range->begin < address) {
        split(range->child[1], address, &range->child[1], rest);
        *below = range;
    } else {
        split(range->child[0], address, below, &range->child[0]);
        *rest = range;
    }
    update(range);
}

/* Joins two subtrees; all of low comes before all of high. */
static struct crt_range *join(struct crt_range *low, struct crt_range *high)
{
    if (!low || !high)
        return low ? low : high;
    bool is_low_above = low->priority > high->priority;
    struct crt_range *top = is_low_above ? low : high;
    if (is_low_above)
        top->child[1] = join(low->child[1], high);
    else
        top->child[0] = join(low, high->child[0]);
    update(top);
    return top;
}

/* The next of a row of numbers without order (xorshift). */
static uint32_t next_random(struct crt_range_tree *tree)
{
    uint32_t x = tree->random ? tree->random : UINT32_C(2463534242);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    tree->random = x;
    return x;
}

static struct crt_range *insert_below(struct crt_range *top, struct crt_range *range)
{
    if (!top || range->priority > top->priority) {
        split(top, range->begin, &range->child[0], &range->child[1]);
        update(range);
        return range;
    }
    int side = range->begin > top->begin;
    top->child[side] = insert_below(top->child[side], range);
    update(top);
    return top;
}

void crt_range_insert(struct crt_range_tree *tree, struct crt_range *range)
{
    range->priority = next_random(tree);
    tree->root = insert_below(tree->root, range);
}

static struct crt_range *remove_below(struct crt_range *top, const struct crt_range *range)
{
    if (top == range)
        return join(top->child[0], top->child[1]);
    int side = range->begin > top->begin;
    top->child[side] = remove_below(top->child[side], range);
    update(top);
    return top;
}

void crt_range_remove(struct crt_range_tree *tree, const struct crt_range *range)
{
    tree->root = remove_below(tree->root, range);
}

static void update_down_to(struct crt_range *top, struct crt_range *range)
{
    if (top != range)
        update_down_to(top->child[range->begin > top->begin], range);
    update(top);
}

void crt_range_change(struct crt_range_tree *tree, struct crt_range *range, uintptr_t begin,
                      size_t size_bytes)
{
    range->begin = begin;
    range->size_bytes = size_bytes;
    update_down_to(tree->root, range);
}

struct crt_range *crt_range_floor(const struct crt_range_tree *tree, uintptr_t address)
{
    struct crt_range *found = NULL;
    for (struct crt_range *range = tree->root; range;) {
        bool is_before = range->begin <= address;
        if (is_before)
            found = range;
        range = range->child[is_before];
    }
    return found;
}

struct crt_range *crt_range_above(const struct crt_range_tree *tree, uintptr_t address)
{
    struct crt_range *found = NULL;
    for (struct crt_range *range = tree->root; range;) {
        bool is_behind = range->begin > address;
        if (is_behind)
            found = range;
        range = range->child[!is_behind];
    }
    return found;
}

static struct crt_range *fit_below(struct crt_range *top, uintptr_t address, size_t size_bytes)
{
    if (largest_of(top) < size_bytes)
        return NULL;
    if (top->begin < address)
        return fit_below(top->child[1], address, size_bytes);
    struct crt_range *found = fit_below(top->child[0], address, size_bytes);
    if (found)
        return found;
    return top->size_bytes >= size_bytes ? top : fit_below(top->child[1], address, size_bytes);
}

struct crt_range *crt_range_fit(const struct crt_range_tree *tree, uintptr_t address,
                                size_t size_bytes)
{
    return size_bytes ? fit_below(tree->root, address, size_bytes) : NULL;
}
