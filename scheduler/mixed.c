/* SPDX-License-Identifier: Apache-2.0
 *
 * Mixed mode of fused kernels: threads that came to different sync points are run one by one, each
 * from its sync point to its next, until a barrier releases all together. Works as thread_fibers.c,
 * with a function call in place of the switch to a fiber.
 */
#include <string.h>

#include "scheduler/turns.h"

static uint16_t *entries_of(const struct sch_block *block)
{
    return (uint16_t *)(void *)block->rt.frame;
}

static bool has_exited(const struct sch_block *block)
{
    const uint16_t *entries = entries_of(block);
    bool has = false;
    for (uint32_t i = 0; i < block->thread_count; i++)
        has |= entries[i] == RT_ENTRY_EXITED;
    return has;
}

/* The lanes of the warp that have not exited. */
static uint32_t live_lanes(const struct sch_block *block, uint32_t warp_index, bool has_exited)
{
    uint32_t first = warp_index * RT_WARP_SIZE;
    uint32_t count = block->thread_count - first;
    uint32_t live = count < RT_WARP_SIZE ? SCH_LANE(count) - 1 : UINT32_MAX;
    for (uint32_t lane = 0; has_exited && lane < RT_WARP_SIZE && lane < count; lane++)
        if (entries_of(block)[first + lane] == RT_ENTRY_EXITED)
            live &= ~SCH_LANE(lane);
    return live;
}

/* Sets the warps up as the entries say. Barriers remember arrivals without waiting in this
 * block. */
static void enter(struct sch_block *block, uint32_t arrived)
{
    uint16_t *entries = entries_of(block);
    bool is_same = block->has_mixed &&
                   memcmp(block->mixed_ctaid, block->rt.ctaid, sizeof block->mixed_ctaid) == 0;
    if (!is_same) {
        sch_block_reset_barriers(block);
        sch_block_reset_pollers(block);
    }
    memcpy(block->mixed_ctaid, block->rt.ctaid, sizeof block->mixed_ctaid);
    block->has_mixed = true;
    block->live_count = 0;
    block->live_warps = 0;
    block->unstarted_first = 0;
    block->unstarted_end = 0;
    block->fruitless_polls = 0;
    block->let_go = 0;
    block->ready = (struct sch_thread_set){0};
    block->polling = (struct sch_thread_set){0};
    bool have_exited = has_exited(block);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t live = live_lanes(block, w, have_exited);
        sch_warp_reset(&block->warps[w], live);
        if (live == 0)
            continue;
        block->live_count += (uint32_t)__builtin_popcount(live);
        block->live_warps |= SCH_LANE(w);
        sch_set_add(&block->ready, w, live);
    }
    for (uint32_t i = 0; i < arrived; i++)
        entries[i] |= RT_ENTRY_ARRIVE; /* EXITED stays */
}

static uint32_t first_live(const struct sch_block *block)
{
    uint32_t warp = (uint32_t)__builtin_ctz(block->live_warps);
    return warp * RT_WARP_SIZE + (uint32_t)__builtin_ctz(block->warps[warp].live);
}

/* Whether loops can go on with all live threads, which have just been released. */
static bool is_whole(const struct sch_block *block)
{
    const uint16_t *entries = entries_of(block);
    uint32_t common = entries[first_live(block)] | RT_ENTRY_LOOPED;
    if (!(common & RT_ENTRY_WHOLE))
        return false;
    bool has_other = false;
    for (uint32_t i = 0; i < block->thread_count; i++)
        has_other |= ((entries[i] | RT_ENTRY_LOOPED) != common) & (entries[i] != RT_ENTRY_EXITED);
    return !has_other;
}

/* The next thread to run; NULL: all have exited, or all have been released to go on in loops. The
 * latter may also have been done by another block of the cluster, while this one was set aside. */
static struct sch_thread *next_thread(struct sch_block *block)
{
    for (;;) {
        if (block->let_go != 0 && block->let_go == block->live_count && is_whole(block))
            return NULL;
        if (block->has_stayed) {
            block->has_progressed = false;
            sch_carrier_leave(block, SCH_BLOCK_WAITING);
        }
        struct sch_thread *thread = sch_block_pop_ready(block);
        enum sch_block_state state = SCH_BLOCK_ENDED;
        if (!thread)
            state = sch_block_choose(block, &thread);
        if (thread || state == SCH_BLOCK_ENDED)
            return thread;
        sch_carrier_leave(block, state);
    }
}

/* The flags about exited threads that loops need, RT_MIX_… */
static uint32_t exits_of(const struct sch_block *block)
{
    uint32_t exits = block->live_count < block->thread_count ? RT_MIX_EXITED : 0;
    for (uint32_t warps = block->live_warps; warps != 0 && exits != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps);
        uint32_t lanes = block->thread_count - w * RT_WARP_SIZE;
        uint32_t all = lanes >= RT_WARP_SIZE ? UINT32_MAX : SCH_LANE(lanes) - 1;
        if (block->warps[w].live != all)
            exits |= RT_MIX_TORN;
    }
    return exits;
}

/* One of the warp's lanes has come to a barrier from where loops had brought it: those that they
 * had brought there, too, and that have not had their turn, come with it. What they keep stays
 * where it is. */
static void bring_others(struct sch_block *block, uint32_t warp_index, uint32_t entry)
{
    uint16_t *entries = &entries_of(block)[warp_index * RT_WARP_SIZE];
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        lanes |= (uint32_t)(entries[lane] == entry) << lane;
    lanes &= block->ready.turn_lanes;
    if (lanes == 0 || block->ready.turn_warp != warp_index ||
        sch_chaos_below(block->worker, 2) == 1)
        return;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        entries[lane] &= (uint16_t)~(lanes >> lane << 15);
    block->ready.turn_lanes &= ~lanes;
    sch_barrier_join(block, block->looped_to, warp_index, lanes);
}

_Static_assert(RT_ENTRY_ARRIVE == 1u << 15, "the bit that bring_others takes away");

/* -fsanitize=function looks for a type in front of a function; generated code has none. */
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
uint64_t rt_block_mix(struct rt_block *rt, rt_step_fn step, uint32_t arrived)
{
    struct sch_block *block = (struct sch_block *)(void *)rt;
    uint16_t *entries = entries_of(block);
    struct sch_thread *thread;
    enter(block, arrived);
    while ((thread = next_thread(block))) {
        uint32_t index = (uint32_t)(thread - block->threads);
        uint32_t before = entries[index];
        block->stepping = thread;
        block->let_go = 0;
        block->looped_to = SCH_BARRIERS;
        uint32_t entry = step(&thread->rt, before);
        entries[index] = (uint16_t)entry;
        if (entry == RT_ENTRY_EXITED)
            sch_thread_end(thread);
        else if (block->looped_to < SCH_BARRIERS)
            bring_others(block, thread->rt.warp, before);
    }
    block->stepping = NULL;
    if (block->live_count == 0)
        return 0;
    uint32_t first = first_live(block);
    return (uint64_t)first << 32 | exits_of(block) |
           (entries[first] & ~(RT_ENTRY_WHOLE | RT_ENTRY_LOOPED));
}

/* ---- sync points of a single thread ---- */

static void arrive_poll(struct sch_thread *thread, const void *return_address)
{
    sch_limit_poll(thread, return_address);
    sch_thread_poll(thread);
}

void rt_arrive_poll(struct rt_thread *thread)
{
    arrive_poll(sch_thread_of(thread), __builtin_return_address(0));
}

void rt_arrive_give_way(struct rt_thread *rt, uint32_t is_certain)
{
    struct sch_thread *thread = sch_thread_of(rt);
    sch_limit_poll(thread, __builtin_return_address(0));
    sch_thread_give_way(thread, is_certain != 0);
}

/* It goes on at its next turn. */
void rt_arrive_line_up(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    sch_lanes_release(sch_block_of(thread), rt->warp, SCH_LANE(rt->lane));
}

void rt_arrive_nanosleep(struct rt_thread *thread, uint32_t ns)
{
    /* As rt_nanosleep. */
    (void)ns;
    arrive_poll(sch_thread_of(thread), __builtin_return_address(0));
}
