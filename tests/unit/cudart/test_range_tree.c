/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses: look-ups against a table, and how deep the tree gets.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cudart/core/memory/range_tree.h"

enum { SLOTS = 512, SLOT_BYTES = 16, STEPS = 20000, MANY = 100000 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static unsigned depth_of(const struct crt_range *range)
{
    if (!range)
        return 0;
    unsigned low = depth_of(range->child[0]);
    unsigned high = depth_of(range->child[1]);
    return 1 + (low > high ? low : high);
}

/* Slot i is used when sizes[i] is not 0; its range begins at the slot's first byte. */
static struct crt_range ranges[SLOTS];

static const struct crt_range *slow_floor(uintptr_t address)
{
    for (size_t i = SLOTS; i-- > 0;)
        if (ranges[i].size_bytes && ranges[i].begin <= address)
            return &ranges[i];
    return NULL;
}

static const struct crt_range *slow_fit(uintptr_t address, size_t size_bytes)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (ranges[i].size_bytes >= size_bytes && ranges[i].begin >= address)
            return &ranges[i];
    return NULL;
}

static void change_one(struct crt_range_tree *tree, uint32_t *state)
{
    size_t slot = next_random(state) % SLOTS;
    size_t size_bytes = 1 + next_random(state) % SLOT_BYTES;
    struct crt_range *range = &ranges[slot];
    if (!range->size_bytes) {
        *range = (struct crt_range){.begin = (slot + 1) * SLOT_BYTES, .size_bytes = size_bytes};
        crt_range_insert(tree, range);
    } else if (next_random(state) % 3 == 0) {
        crt_range_change(tree, range, range->begin, size_bytes);
    } else {
        crt_range_remove(tree, range);
        range->size_bytes = 0;
    }
}

Test(range_tree, answers_are_those_of_a_table)
{
    struct crt_range_tree tree = {0};
    uint32_t state = 1;
    for (int step = 0; step < STEPS; step++) {
        change_one(&tree, &state);
        uintptr_t address = next_random(&state) % ((SLOTS + 2) * SLOT_BYTES);
        size_t wanted = 1 + next_random(&state) % SLOT_BYTES;
        cr_assert_eq(crt_range_floor(&tree, address), slow_floor(address));
        cr_assert_eq(crt_range_above(&tree, address), slow_fit(address + 1, 1));
        cr_assert_eq(crt_range_fit(&tree, address, wanted), slow_fit(address, wanted));
    }
}

/* Every step of an operation goes down one level: so many are what any of them costs. */
Test(range_tree, the_tree_stays_flat_whatever_the_order)
{
    struct crt_range *many = calloc(MANY, sizeof *many);
    for (int order = 0; order < 3; order++) {
        struct crt_range_tree tree = {0};
        for (size_t i = 0; i < MANY; i++) {
            size_t at = order == 0 ? i : order == 1 ? MANY - 1 - i : i * 7919 % MANY;
            many[at] = (struct crt_range){.begin = at * 2 + 1, .size_bytes = 1};
            crt_range_insert(&tree, &many[at]);
        }
        cr_expect_lt(depth_of(tree.root), 80, "%u levels in order %d", depth_of(tree.root), order);
        for (size_t i = 0; i < MANY; i += 2)
            crt_range_remove(&tree, &many[i]);
        cr_expect_lt(depth_of(tree.root), 80, "%u levels in order %d", depth_of(tree.root), order);
        cr_expect_eq(tree.root->largest_bytes, 1);
    }
    free(many);
}
