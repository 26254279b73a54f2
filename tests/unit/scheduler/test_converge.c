/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes that are kept in step by volatile accesses to shared memory only, as programs for machines
 * with lock-step warps do it; and that lanes which wait for each other there get on.
 */
#include "support.h"

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

static volatile uint32_t *shared(const struct rt_thread *thread)
{
    return (volatile uint32_t *)(void *)thread->block->shared;
}

/* What a volatile load and store become in translated code; sites in the order of the program. */
static uint32_t load(struct rt_thread *thread, uint32_t site, volatile uint32_t *cell)
{
    poll(thread);
    rt_warp_converge(thread, site);
    return *cell;
}

static void store(struct rt_thread *thread, uint32_t site, volatile uint32_t *cell, uint32_t value)
{
    rt_warp_converge(thread, site);
    *cell = value;
}

/* s[tid] += s[tid + n] for n = 32, 16 … 1, without any other synchronisation in the warp. */
static void reduce(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    uint32_t me = tid(thread);
    s[me] = me + 1;
    rt_bar_sync(thread, 0, 0);
    if (me >= 32)
        return;
    uint32_t site = 0;
    for (uint32_t n = 32; n > 0; n /= 2, site += 3) {
        uint32_t other = load(thread, site, &s[me + n]);
        uint32_t own = load(thread, site + 1, &s[me]);
        store(thread, site + 2, &s[me], own + other);
    }
    if (me == 0)
        CHECK(&bad, load(thread, site, &s[0]) == 64 * 65 / 2);
}

Test(converge, a_reduction_without_barriers_adds_everything)
{
    RUN_OK({.entry = reduce, .grid = {20}, .block = {64}, .shared_bytes = 96 * 4});
    expect_good();
}

/* Each lane fills its part in a loop of its own length, then reads its neighbours' last words. */
static void uneven_loop(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    const uint32_t count = 200;
    for (uint32_t i = thread->lane; i < count; i += 32)
        store(thread, 0, &s[i], i + 7);
    uint32_t last = count - 1 - thread->lane;
    CHECK(&bad, load(thread, 1, &s[last]) == last + 7);
}

Test(converge, what_is_left_of_a_loop_comes_before_what_follows_it)
{
    RUN_OK({.entry = uneven_loop, .grid = {20}, .block = {32}, .shared_bytes = 200 * 4});
    expect_good();
}

/* Counting with tags instead of atomics: of all lanes that store to a bin, one finds its own. */
static void tagged_histogram(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    uint32_t tag = thread->lane << 27;
    if (thread->lane < 3)
        store(thread, 0, &s[thread->lane], 0);
    for (uint32_t i = 0; i < 40; i++) {
        volatile uint32_t *bin = &s[(thread->lane * 7 + i * i) % 3];
        uint32_t count;
        do {
            count = tag | ((load(thread, 1, bin) & 0x07ffffff) + 1);
            store(thread, 2, bin, count);
        } while (load(thread, 3, bin) != count);
    }
    if (thread->lane == 0) {
        uint32_t sum = 0;
        for (uint32_t bin = 0; bin < 3; bin++)
            sum += load(thread, 4, &s[bin]) & 0x07ffffff;
        CHECK(&bad, sum == 32 * 40);
    }
}

Test(converge, lanes_that_collide_in_a_loop_try_again_in_step)
{
    RUN_OK({.entry = tagged_histogram, .grid = {20}, .block = {32}, .shared_bytes = 12});
    expect_good();
}

/* Every lane waits for the one after it, in a loop that comes first in the program. */
static void chain(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    store(thread, 0, &s[thread->lane], 0);
    rt_warp_sync(thread, 0xffffffffu);
    if (thread->lane < 31) {
        while (load(thread, 1, &s[thread->lane + 1]) == 0) {
        }
    }
    CHECK(&bad, load(thread, 2, &s[thread->lane]) == 0);
    store(thread, 3, &s[thread->lane], 1);
}

Test(converge, a_lane_that_spins_does_not_keep_others_from_the_store_it_waits_for)
{
    RUN_OK({.entry = chain, .grid = {6}, .block = {32}, .shared_bytes = 128});
    expect_good();
}

/* Warp 0 spins for the last warp, which waits at a barrier with warps that exit. Blocks wait for
 * the block before them while they spin. */
static void spin_across(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    atomic_uint *done = data(thread);
    uint32_t index = thread->block->ctaid[0];
    if (tid(thread) == 0)
        s[0] = 0;
    rt_bar_sync(thread, 0, 0);
    if (thread->warp == 0) {
        while (load(thread, 0, &s[0]) == 0) {
        }
        if (thread->lane == 0)
            atomic_fetch_add(done, 1);
        return;
    }
    if (thread->warp < 3)
        return;
    rt_bar_sync(thread, 1, 64);
    while (thread->lane == 5 && atomic_load(done) < index)
        poll(thread);
    if (thread->warp == 3 && thread->lane == 5)
        store(thread, 1, &s[0], 1);
}

Test(converge, spinning_gives_way_to_other_warps_and_blocks)
{
    static atomic_uint done;
    for (unsigned seed = 0; seed < 4; seed++) {
        atomic_store(&done, 0);
        sch_set_chaos(seed);
        struct run run = {
            .entry = spin_across, .grid = {30}, .block = {160}, .shared_bytes = 4, .data = &done};
        cr_assert_eq(run_grid(run).status, PXR_OK);
        cr_assert_eq(atomic_load(&done), 30);
    }
}

/* Lanes use up their polls at different times and stay in step. */
static void uneven_polls(struct rt_thread *thread)
{
    volatile uint32_t *s = shared(thread);
    uint32_t lane = thread->lane;
    for (uint32_t i = 0; i < lane; i++)
        poll(thread);
    store(thread, 0, &s[lane], 0);
    for (uint32_t i = 1; i <= 300; i++) {
        store(thread, 1, &s[lane], i);
        CHECK(&bad, load(thread, 2, &s[(lane + 1 + i % 31) % 32]) == i);
    }
}

Test(converge, polls_do_not_tear_lanes_apart)
{
    RUN_OK({.entry = uneven_polls, .grid = {6}, .block = {32}, .shared_bytes = 128});
    expect_good();
}

struct lock {
    atomic_uint is_taken;
    uint32_t attempts;
    uint32_t count;
};

/* Each thread takes a lock, as programs that wait do it: lanes gather before it is given back. */
static void take_lock(struct rt_thread *thread)
{
    struct lock *lock = data(thread);
    uint32_t taken = 1;
    while (taken == 1) {
        poll(thread);
        lock->attempts++;
        taken = atomic_exchange(&lock->is_taken, 1);
    }
    lock->count++;
    rt_warp_converge(thread, RT_SITE_PATIENT | RT_SITE_IN_STEP);
    atomic_store(&lock->is_taken, 0);
}

/* Threads that ask in vain ask once in a turn, and the lanes that others wait for come first. */
Test(converge, threads_that_wait_for_a_lock_ask_for_it_seldom)
{
    struct lock lock = {0};
    struct run run = {.entry = take_lock, .grid = {1}, .block = {256}, .data = &lock};
    sch_set_chaos(0);
    cr_assert_eq(run_grid(run).status, PXR_OK);
    cr_assert_eq(lock.count, 256);
    cr_assert_lt(lock.attempts, 256 * 256, "%u attempts", lock.attempts);
}
