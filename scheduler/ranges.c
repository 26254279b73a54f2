/* SPDX-License-Identifier: Apache-2.0
 *
 * A range is one word, so taking from either end is one compare-and-swap. The same word may come
 * back to a range (stolen, and stolen back): then it stands for the same unclaimed blocks, and a
 * late compare-and-swap that succeeds is right all the same.
 */
#include "scheduler/ranges.h"

#include <sched.h>
#include <stdlib.h>

#define LINE 64

static uint64_t pack(uint64_t first, uint64_t end)
{
    return end << 32 | first;
}

static uint32_t first_of(uint64_t blocks)
{
    return (uint32_t)blocks;
}

static uint32_t end_of(uint64_t blocks)
{
    return (uint32_t)(blocks >> 32);
}

static uint32_t size_of(uint64_t blocks)
{
    return end_of(blocks) - first_of(blocks);
}

struct sch_ranges *sch_ranges_deal(uint64_t first, uint64_t end, uint32_t count, uint32_t block_ns)
{
    size_t bytes = sizeof(struct sch_ranges) + count * sizeof(struct sch_range);
    void *memory = malloc(bytes + LINE);
    if (!memory)
        return NULL;
    struct sch_ranges *ranges =
        (struct sch_ranges *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
    ranges->count = count;
    ranges->memory = memory;
    atomic_init(&ranges->begun, 0);
    atomic_init(&ranges->ended, 0);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t from = first + (end - first) * i / count;
        uint64_t to = first + (end - first) * (i + 1) / count;
        atomic_init(&ranges->range[i].blocks, pack(from, to));
        atomic_init(&ranges->range[i].block_ns, block_ns);
        atomic_init(&ranges->range[i].cpu, -1);
    }
    return ranges;
}

void sch_ranges_free(struct sch_ranges *ranges)
{
    if (ranges)
        free(ranges->memory);
}

uint32_t sch_ranges_left(const struct sch_ranges *ranges, uint32_t index)
{
    return size_of(atomic_load_explicit(&ranges->range[index].blocks, memory_order_relaxed));
}

uint32_t sch_ranges_take(struct sch_ranges *ranges, uint32_t index, uint32_t wanted,
                         uint64_t *first)
{
    _Atomic(uint64_t) *word = &ranges->range[index].blocks;
    uint64_t blocks = atomic_load_explicit(word, memory_order_relaxed);
    uint32_t count;
    do {
        count = size_of(blocks) < wanted ? size_of(blocks) : wanted;
        if (count == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(word, &blocks, blocks + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    *first = first_of(blocks);
    return count;
}

/* Sequentially consistent, here and where ranges are looked at or dropped: whoever finds all ranges
 * empty and as many steals ended as begun has missed none, and whoever cancels a grid either drops
 * what a thief puts into its range, or the thief sees that the grid has been cancelled. */
static bool move_half(struct sch_range *from, struct sch_range *to, bool gives_way)
{
    uint64_t blocks = atomic_load(&from->blocks);
    uint64_t middle;
    do {
        if (size_of(blocks) == 0)
            return false;
        middle = first_of(blocks) + size_of(blocks) / 2;
    } while (!atomic_compare_exchange_weak(&from->blocks, &blocks, pack(first_of(blocks), middle)));
    if (gives_way)
        sched_yield();
    atomic_store_explicit(&to->block_ns,
                          atomic_load_explicit(&from->block_ns, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store(&to->blocks, pack(middle, end_of(blocks)));
    return true;
}

bool sch_ranges_steal(struct sch_ranges *ranges, uint32_t thief, uint32_t victim, bool gives_way)
{
    if (sch_ranges_left(ranges, victim) == 0)
        return false;
    atomic_fetch_add(&ranges->begun, 1);
    bool has_moved = move_half(&ranges->range[victim], &ranges->range[thief], gives_way);
    atomic_fetch_add(&ranges->ended, 1);
    return has_moved;
}

bool sch_ranges_are_empty(const struct sch_ranges *ranges)
{
    unsigned ended = atomic_load(&ranges->ended);
    for (uint32_t i = 0; i < ranges->count; i++)
        if (size_of(atomic_load(&ranges->range[i].blocks)) > 0)
            return false;
    return atomic_load(&ranges->begun) == ended;
}

uint32_t sch_ranges_drop(struct sch_ranges *ranges, uint32_t index)
{
    return size_of(atomic_exchange(&ranges->range[index].blocks, 0));
}
