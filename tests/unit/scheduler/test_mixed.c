/* SPDX-License-Identifier: Apache-2.0
 *
 * Mixed mode: kernels in which threads come to different sync points, by threads that wait and
 * fused.
 */
#include <stdio.h>

#include "kernels.h"

#define FULL 0xffffffffu

/* Sanitizers, to which one is like the next, make each slow. */
#if defined(SCH_TSAN) || defined(SCH_ASAN)
#define PHASES             4
#define LOOK_BACK_BLOCKS   200
#define COOPERATIVE_BLOCKS 50
#else
#define PHASES             20
#define LOOK_BACK_BLOCKS   1000
#define COOPERATIVE_BLOCKS 200
#endif

#ifdef SCH_TSAN
#define MANY_BLOCKS 300
#elif defined(SCH_ASAN)
#define MANY_BLOCKS 2000
#else
#define MANY_BLOCKS 7000
#endif

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

/* ---- barriers ---- */

static uint32_t phases(struct rt_thread *thread, struct values *v, uint32_t entry, enum mode mode)
{
    uint32_t n = block_threads(thread);
    uint32_t me = tid(thread);
    BEGIN
    for (v->i = 0; v->i < PHASES; v->i++) {
        shared(thread)[me] = me + v->i;
        BARRIER(1);
        CHECK(&bad, shared(thread)[(me + 1) % n] == (me + 1) % n + v->i);
        CHECK(&bad, shared(thread)[(me + n / 2) % n] == (me + n / 2) % n + v->i);
        BARRIER(2);
    }
    END;
}

Test(mixed, barriers_separate_phases_for_every_block_size)
{
    static const uint32_t sizes[] = {1, 2, 31, 32, 33, 64, 100, 1000, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        RUN_ALL(, phases, NULL, {.grid = {7, 3}, .block = {sizes[i]}, .shared_bytes = 4096});
    expect_good();
}

static uint32_t trip_count_by_thread(struct rt_thread *thread, struct values *v, uint32_t entry,
                                     enum mode mode)
{
    uint32_t n = block_threads(thread);
    BEGIN
    for (v->i = 0; v->i <= tid(thread); v->i++) {
        shared(thread)[tid(thread)] = v->i;
        BARRIER(1);
        CHECK(&bad, shared(thread)[n - 1] == v->i);
        BARRIER(2);
    }
    END;
}

Test(mixed, threads_may_leave_a_loop_with_barriers_one_by_one)
{
    RUN_ALL(, trip_count_by_thread, NULL, {.grid = {3}, .block = {70}, .shared_bytes = 4096});
    expect_good();
}

/* A third of the threads has a barrier of its own in the text, and polls before it. */
static uint32_t both_sides(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    uint32_t me = tid(thread);
    BEGIN
    for (v->i = 0; v->i < 5; v->i++) {
        if (me % 3 == v->i % 3) {
            shared(thread)[me] = v->i;
            SYNC(PLAIN + 1, 0, nanosleep, 1);
            BARRIER(1);
        } else {
            shared(thread)[me] = v->i + 100;
            BARRIER(2);
        }
        for (uint32_t i = 0; i < block_threads(thread); i++)
            CHECK(&bad, shared(thread)[i] == v->i + (i % 3 == v->i % 3 ? 0 : 100));
        BARRIER(3);
    }
    END;
}

Test(mixed, a_barrier_may_be_reached_at_different_places)
{
    RUN_ALL(, both_sides, NULL, {.grid = {6}, .block = {80}, .shared_bytes = 4096});
    expect_good();
}

static uint32_t early_exit(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    uint32_t keep = *(const uint32_t *)kernel_data(thread);
    uint32_t me = tid(thread);
    BEGIN
    if (me >= keep)
        EXIT;
    shared(thread)[me] = me;
    BARRIER(1);
    CHECK(&bad, shared(thread)[keep - 1 - me] == keep - 1 - me);
    if (me % 2 == 1)
        EXIT;
    SYNC(PLAIN, RT_ENTRY_WHOLE, bar_red, 0, 0, 1, RT_REDUCE_POPC);
    CHECK(&bad, v->result == (keep + 1) / 2);
    END;
}

Test(mixed, barriers_do_not_wait_for_threads_that_have_exited)
{
    static uint32_t keep;
    for (keep = 1; keep <= 128; keep = keep * 2 + (keep & 1)) {
        RUN_ALL(, early_exit, &keep, {.grid = {5}, .block = {128}, .shared_bytes = 4096});
        expect_good();
    }
}

/* The last thread exits when everybody else is waiting already. */
static uint32_t late_exit(struct rt_thread *thread, struct values *v, uint32_t entry,
                          enum mode mode)
{
    uint32_t n = block_threads(thread);
    BEGIN
    if (tid(thread) == n - 1) {
        for (v->i = 0; v->i < 10; v->i++)
            SYNC(PLAIN + 1, 0, nanosleep, 1);
        EXIT;
    }
    SYNC(PLAIN + 2, 0, vote, RT_VOTE_BALLOT, 1, FULL);
    SYNC(PLAIN + 3, RT_ENTRY_WHOLE, bar_sync, 3, 0);
    SYNC(PLAIN + 4, RT_ENTRY_WHOLE, bar_red, 3, 0, 1, RT_REDUCE_POPC);
    CHECK(&bad, v->result == n - 1);
    END;
}

Test(mixed, the_exit_of_the_last_missing_thread_releases)
{
    RUN_ALL(, late_exit, NULL, {.grid = {3}, .block = {65}});
    RUN_ALL(, late_exit, NULL, {.grid = {3}, .block = {60}});
    expect_good();
}

static uint32_t reductions(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    uint32_t n = block_threads(thread);
    uint32_t me = tid(thread);
    BEGIN
    for (v->i = 0; v->i < 3; v->i++) {
        SYNC(PLAIN, RT_ENTRY_WHOLE, bar_red, 0, 0, me % 3 == 0, RT_REDUCE_POPC);
        CHECK(&bad, v->result == (n + 2) / 3);
        BARRIER(1);
        SYNC(PLAIN + 1, RT_ENTRY_WHOLE, bar_red, 1, 0, me != n - 1, RT_REDUCE_AND);
        CHECK(&bad, v->result == 0);
        if (me % 2 == 0) {
            SYNC(PLAIN + 2, RT_ENTRY_WHOLE, bar_red, 0, 0, me == 5, RT_REDUCE_OR);
        } else {
            SYNC(PLAIN + 3, RT_ENTRY_WHOLE, bar_red, 0, 0, me == 5, RT_REDUCE_OR);
        }
        CHECK(&bad, v->result == 1);
    }
    END;
}

Test(mixed, reductions_over_the_block_give_all_threads_the_result)
{
    RUN_ALL(, reductions, NULL, {.grid = {5}, .block = {77}});
    RUN_ALL(, reductions, NULL, {.grid = {5}, .block = {1024}});
    expect_good();
}

/* Warps 0-1 and 2-3 use different barriers, a different number of times. */
static uint32_t two_groups(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    uint32_t group = thread->warp / 2;
    uint32_t me = tid(thread) % 64;
    BEGIN
    for (v->i = 0; v->i < 10 + 7 * group; v->i++) {
        shared(thread)[group * 64 + me] = v->i;
        SYNC(PLAIN, 0, bar_sync, 1 + group, 64);
        CHECK(&bad, shared(thread)[group * 64 + 63 - me] == v->i);
        SYNC(PLAIN + 1, 0, bar_sync, 1 + group, 64);
    }
    BARRIER(1);
    END;
}

/* Warp 0 produces, warp 1 consumes: two barriers, each with one side that only arrives. */
static uint32_t producer_consumer(struct rt_thread *thread, struct values *v, uint32_t entry,
                                  enum mode mode)
{
    uint32_t lane = thread->lane;
    BEGIN
    BARRIER(1);
    for (v->i = 0; v->i < 20; v->i++) {
        if (thread->warp == 0) {
            SYNC(PLAIN, 0, bar_sync, 1, 64);
            shared(thread)[lane] = v->i * 100 + lane;
            SYNC(PLAIN + 1, 0, bar_arrive, 2, 64);
        } else {
            SYNC(PLAIN + 2, 0, bar_arrive, 1, 64);
            SYNC(PLAIN + 3, 0, bar_sync, 2, 64);
            CHECK(&bad, shared(thread)[31 - lane] == v->i * 100 + 31 - lane);
        }
    }
    END;
}

/* Warp 0 has arrived at barrier 1 before the barrier for all, warp 1 comes to it behind that. */
static uint32_t arrive_early(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    BEGIN
    for (v->i = 0; v->i < 5; v->i++) {
        if (thread->warp == 0) {
            shared(thread)[thread->lane] = v->i;
            SYNC(PLAIN, 0, bar_arrive, 1, 64);
        }
        BARRIER(1);
        BARRIER(2);
        if (thread->warp == 1) {
            SYNC(PLAIN + 1, 0, bar_sync, 1, 64);
            CHECK(&bad, shared(thread)[thread->lane] == v->i);
        }
        BARRIER(3);
    }
    END;
}

/* Leaves barrier 1 with an arrival that the next block must not see. */
static uint32_t arrive_in_vain(struct rt_thread *thread, struct values *v, uint32_t entry,
                               enum mode mode)
{
    BEGIN
    if (thread->warp == 0) {
        shared(thread)[0] = 0;
        SYNC(PLAIN, 0, bar_sync, 1, 64);
        CHECK(&bad, shared(thread)[0] == 1);
        SYNC(PLAIN + 1, 0, bar_arrive, 1, 64);
    } else {
        for (v->i = 0; v->i < 3; v->i++)
            SYNC(PLAIN + 2, 0, nanosleep, 1);
        shared(thread)[0] = 1;
        SYNC(PLAIN + 3, 0, bar_sync, 1, 64);
    }
    END;
}

Test(mixed, counted_barriers_join_some_of_the_warps)
{
    RUN_ALL(, two_groups, NULL, {.grid = {5}, .block = {128}, .shared_bytes = 4096});
    RUN_ALL(, producer_consumer, NULL, {.grid = {5}, .block = {64}, .shared_bytes = 4096});
    expect_good();
}

Test(mixed, arrivals_are_kept_across_barriers_for_all_but_not_for_the_next_block)
{
    RUN_ALL(, arrive_early, NULL, {.grid = {50}, .block = {64}, .shared_bytes = 4096});
    RUN_ALL(, arrive_in_vain, NULL, {.grid = {50}, .block = {64}, .shared_bytes = 4096});
    expect_good();
}

static uint32_t counted_with_exited_warp(struct rt_thread *thread, struct values *v, uint32_t entry,
                                         enum mode mode)
{
    BEGIN
    if (thread->warp == 1)
        EXIT;
    SYNC(PLAIN, 0, bar_sync, 1, 96);
    SYNC(PLAIN + 1, 0, bar_sync, 1, 96);
    BARRIER(1);
    SYNC(PLAIN + 2, RT_ENTRY_WHOLE, bar_sync, 1, 128); /* stuck, too: all others are let go */
    SYNC(PLAIN + 3, RT_ENTRY_WHOLE, bar_red, 0, 0, 1, RT_REDUCE_POPC);
    CHECK(&bad, v->result == 96);
    END;
}

Test(mixed, counted_barriers_do_not_hang_on_exited_warps)
{
    RUN_ALL(, counted_with_exited_warp, NULL, {.grid = {4}, .block = {128}});
    expect_good();
}

/* ---- warp operations ---- */

static uint32_t warp_operations(struct rt_thread *thread, struct values *v, uint32_t entry,
                                enum mode mode)
{
    uint32_t lane = thread->lane;
    BEGIN
    SYNC(PLAIN, 0, shfl, RT_SHFL_BFLY, lane * 10, 5, 0x1f, FULL);
    CHECK(&bad, v->result == ((lane ^ 5) * 10 | UINT64_C(1) << 32));
    BARRIER(1);
    if (lane % 2 == 0) {
        SYNC(PLAIN + 1, 0, shfl, RT_SHFL_DOWN, lane, 2, 0x1f, 0x55555555);
        CHECK(&bad, (uint32_t)v->result == (lane < 30 ? lane + 2 : lane));
        SYNC(PLAIN + 2, 0, match, 0, lane % 4, 0x55555555);
        CHECK(&bad, v->result == (lane % 4 == 0 ? 0x11111111u : 0x44444444u));
    } else {
        SYNC(PLAIN + 3, 0, redux, RT_REDUCE_ADD, lane, 0xaaaaaaaa);
        CHECK(&bad, v->result == 256);
        SYNC(PLAIN + 4, 0, elect, 0xaaaaaaaa);
        CHECK(&bad, v->result == (1u | (uint64_t)(lane == 1) << 32));
    }
    SYNC(PLAIN + 5, 0, warp_sync, FULL);
    SYNC(PLAIN + 6, 0, vote, RT_VOTE_BALLOT, lane % 4 == 3, FULL);
    CHECK(&bad, v->result == 0x88888888u);
    SYNC(PLAIN + 7, 0, match, 1, 42, FULL);
    CHECK(&bad, v->result == (FULL | UINT64_C(1) << 32));
    BARRIER(2);
    END;
}

static uint32_t different_turns(struct rt_thread *thread, struct values *v, uint32_t entry,
                                enum mode mode)
{
    uint32_t half = thread->lane / 16;
    uint32_t mask = half ? 0xffff0000u : 0xffffu;
    BEGIN
    for (v->i = 0; v->i < 5 + 9 * half + thread->warp; v->i++) {
        SYNC(PLAIN, 0, redux, RT_REDUCE_ADD, thread->lane, mask);
        CHECK(&bad, v->result == (half ? 376 : 120));
    }
    SYNC(PLAIN + 1, 0, vote, RT_VOTE_BALLOT, half, FULL);
    CHECK(&bad, v->result == 0xffff0000u);
    if (thread->lane >= 20)
        EXIT;
    BARRIER(1);
    SYNC(PLAIN + 2, 0, vote, RT_VOTE_BALLOT, 1, FULL);
    CHECK(&bad, v->result == 0xfffff);
    END;
}

Test(mixed, warp_operations_in_divergent_code)
{
    RUN_ALL(, warp_operations, NULL, {.grid = {5}, .block = {96}});
    RUN_ALL(, different_turns, NULL, {.grid = {5}, .block = {96}});
    expect_good();
}

static uint32_t active_lanes(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    uint32_t lane = thread->lane;
    BEGIN
    SYNC(PLAIN + 1, 0, activemask, 1);
    CHECK(&bad, v->result == FULL);
    if (lane % 4 == 0) {
        SYNC(PLAIN + 2, 0, activemask, 2);
        CHECK(&bad, v->result == 0x11111111u);
        v->mine = (uint32_t)v->result;
        SYNC(PLAIN + 3, 0, redux, RT_REDUCE_ADD, 1, v->mine);
        CHECK(&bad, v->result == 8);
    } else if (lane % 4 == 1) {
        SYNC(PLAIN + 4, 0, activemask, 4);
        CHECK(&bad, v->result == 0x22222222u);
    } else if (lane % 4 == 2) {
        EXIT;
    }
    SYNC(PLAIN + 5, 0, warp_sync, FULL);
    SYNC(PLAIN + 6, 0, activemask, 6);
    CHECK(&bad, v->result == 0xbbbbbbbbu);
    END;
}

/* Opportunistic aggregation: whoever is here elects one to add for all. */
static uint32_t aggregate(struct rt_thread *thread, struct values *v, uint32_t entry,
                          enum mode mode)
{
    atomic_uint *sum = kernel_data(thread);
    BEGIN
    for (v->i = 0; v->i <= thread->lane % 7; v->i++) {
        SYNC(PLAIN, 0, activemask, 9);
        if (thread->lane == (uint32_t)__builtin_ctz((uint32_t)v->result))
            atomic_fetch_add(sum, (unsigned)__builtin_popcount((uint32_t)v->result));
    }
    END;
}

Test(mixed, activemask_gathers_the_lanes_of_one_place)
{
    static atomic_uint sum;
    uint32_t expected = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        expected += 10 * 20 * (lane % 7 + 1);
    RUN_ALL(, active_lanes, NULL, {.grid = {5}, .block = {96}});
    RUN_ALL(, aggregate, &sum, {.grid = {10}, .block = {64}});
    cr_assert_eq(atomic_load(&sum), expected);
    expect_good();
}

/* ---- volatile accesses that keep the lanes of a warp in step ---- */

static uint32_t reduce_in_step(struct rt_thread *thread, struct values *v, uint32_t entry,
                               enum mode mode)
{
    volatile uint32_t *s = shared(thread);
    uint32_t me = tid(thread);
    BEGIN
    s[me] = me + 1;
    BARRIER(1);
    if (me >= 32)
        EXIT;
    for (v->i = 32; v->i > 0; v->i /= 2) {
        SYNC(PLAIN + 1, 0, warp_converge, 1);
        v->j = s[me + v->i];
        SYNC(PLAIN + 2, 0, warp_converge, 2);
        v->j += s[me];
        SYNC(PLAIN + 3, 0, warp_converge, 3);
        s[me] = v->j;
    }
    CHECK(&bad, me != 0 || s[0] == 64 * 65 / 2);
    END;
}

/* Every lane waits for the one after it, in a loop that comes first in the program. */
static uint32_t chain(struct rt_thread *thread, struct values *v, uint32_t entry, enum mode mode)
{
    volatile uint32_t *s = shared(thread);
    uint32_t lane = thread->lane;
    BEGIN
    s[lane] = 0;
    SYNC(PLAIN, 0, warp_sync, FULL);
    if (lane < 31) {
        do {
            POLL(PLAIN + 1);
            SYNC(PLAIN + 2, 0, warp_converge, 2);
        } while (s[lane + 1] == 0);
    }
    SYNC(PLAIN + 3, 0, warp_converge, 3);
    CHECK(&bad, s[lane] == 0);
    s[lane] = 1;
    END;
}

Test(mixed, lanes_stay_in_step_without_barriers)
{
    RUN_ALL(, reduce_in_step, NULL, {.grid = {20}, .block = {64}, .shared_bytes = 96 * 4});
    RUN_ALL(, chain, NULL, {.grid = {6}, .block = {32}, .shared_bytes = 128});
    expect_good();
}

/* ---- threads and blocks that wait for each other ---- */

struct locked {
    atomic_uint lock;
    uint32_t count; /* plain: the lock keeps it */
};

static uint32_t spin_lock(struct rt_thread *thread, struct values *v, uint32_t entry,
                          enum mode mode)
{
    struct locked *locked = kernel_data(thread);
    BEGIN
    for (v->i = 0; v->i < 3; v->i++) {
        while (atomic_exchange(&locked->lock, 1) == 1)
            POLL(PLAIN);
        v->k = locked->count;
        for (v->j = 0; v->j < 3; v->j++)
            SYNC(PLAIN + 1, 0, nanosleep, 1); /* while it holds the lock */
        locked->count = v->k + 1;
        atomic_store(&locked->lock, 0);
    }
    END;
}

Test(mixed, lanes_and_blocks_may_take_the_same_lock)
{
    static struct locked locked;
    RUN_ALL(, spin_lock, &locked, {.grid = {6}, .block = {34}, .may_wait = true});
    cr_assert_eq(locked.count, 10 * 3 * 6 * 34);
}

/* Each block waits for the one before, as a decoupled look-back scan does. */
static uint32_t look_back(struct rt_thread *thread, struct values *v, uint32_t entry,
                          enum mode mode)
{
    atomic_uint *ready = kernel_data(thread);
    uint32_t index = thread->block->ctaid[0];
    uint32_t me = tid(thread);
    BEGIN
    shared(thread)[me] = index;
    if (me == 0) {
        while (index > 0 && atomic_load(&ready[index - 1]) == 0)
            POLL(PLAIN);
    }
    BARRIER(1);
    CHECK(&bad, shared(thread)[block_threads(thread) - 1 - me] == index);
    if (me == 0)
        atomic_store(&ready[index], index > 0 ? atomic_load(&ready[index - 1]) + 1 : 1);
    END;
}

Test(mixed, a_block_may_wait_for_the_blocks_before_it)
{
    static atomic_uint ready[LOOK_BACK_BLOCKS];
    RUN_ALL(memset(ready, 0, sizeof ready), look_back, ready,
            {.grid = {LOOK_BACK_BLOCKS}, .block = {64}, .shared_bytes = 256, .may_wait = true});
    cr_assert_eq(atomic_load(&ready[LOOK_BACK_BLOCKS - 1]), LOOK_BACK_BLOCKS);
    expect_good();
}

struct grid_barrier {
    atomic_uint arrived;
    atomic_uint values[256];
};

/* As cooperative_groups: thread 0 of each block counts and polls, the others are at a barrier. */
static uint32_t cooperative(struct rt_thread *thread, struct values *v, uint32_t entry,
                            enum mode mode)
{
    struct grid_barrier *barrier = kernel_data(thread);
    uint32_t index = thread->block->ctaid[0];
    uint32_t blocks = thread->block->launch->grid[0];
    BEGIN
    for (v->i = 1; v->i <= 20; v->i++) {
        if (tid(thread) == 0 && v->i % 2 == 1)
            atomic_store(&barrier->values[index], v->i);
        BARRIER(1);
        if (tid(thread) == 0) {
            atomic_fetch_add(&barrier->arrived, 1);
            while (atomic_load(&barrier->arrived) < blocks * v->i)
                POLL(PLAIN);
        }
        BARRIER(2);
        CHECK(&bad, v->i % 2 == 0 || atomic_load(&barrier->values[blocks - 1 - index]) == v->i);
    }
    END;
}

Test(mixed, all_blocks_of_a_cooperative_grid_wait_for_each_other)
{
    static struct grid_barrier barrier;
    RUN_ALL(memset(&barrier, 0, sizeof barrier), cooperative, &barrier,
            {.grid = {COOPERATIVE_BLOCKS},
             .block = {33},
             .shared_bytes = 1024,
             .is_cooperative = true});
    expect_good();
}

/* A flag set by a later thread of the same block, without barrier. */
static uint32_t wait_for_last_thread(struct rt_thread *thread, struct values *v, uint32_t entry,
                                     enum mode mode)
{
    atomic_uint *flags = kernel_data(thread);
    uint32_t block = thread->block->ctaid[0];
    BEGIN
    if (tid(thread) == block_threads(thread) - 1)
        atomic_store(&flags[block], 1);
    while (atomic_load(&flags[block]) == 0)
        POLL(PLAIN);
    END;
}

Test(mixed, threads_that_poll_let_those_run_that_they_wait_for)
{
    static atomic_uint flags[64];
    RUN_ALL(memset(flags, 0, sizeof flags), wait_for_last_thread, flags,
            {.grid = {64}, .block = {100}});
}

/* Several waiting blocks keep their frames, shared memory and place in the loops. */
static uint32_t keep_state(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    atomic_uint *released = kernel_data(thread);
    uint32_t mine = thread->block->ctaid[0] * 1000 + tid(thread);
    BEGIN
    shared(thread)[tid(thread)] = mine;
    v->mine = mine;
    atomic_fetch_add(released, 1);
    while (atomic_load(released) < block_threads(thread) * thread->block->launch->grid[0])
        POLL(PLAIN);
    CHECK(&bad, shared(thread)[tid(thread)] == mine && v->mine == mine);
    END;
}

Test(mixed, waiting_blocks_keep_their_state)
{
    static atomic_uint released;
    RUN_ALL(atomic_store(&released, 0), keep_state, &released,
            {.grid = {30},
             .block = {48},
             .shared_bytes = 192,
             .may_wait = true,
             .is_cooperative = true});
    expect_good();
}

static size_t count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t count = 0;
    for (int c; maps && (c = getc(maps)) != EOF;)
        count += c == '\n';
    if (maps)
        fclose(maps);
    return count;
}

/* Each has memory between guards: also where all of those together would cost more mappings than
 * there may be. */
Test(mixed, thousands_of_blocks_may_wait)
{
    static atomic_uint released;
    for (int i = 0; i < 2; i++) {
        struct kernel kernel = {keep_state, 0, &released};
        atomic_store(&released, 0);
        pxr_guard_set_splitting(i == 1);
        struct sch_fault fault =
            run_kernel(&kernel, (struct run){.grid = {MANY_BLOCKS},
                                             .block = {32},
                                             .shared_bytes = i == 0 ? 128 : 8192,
                                             .is_cooperative = true});
        cr_assert_eq(fault.status, PXR_OK, "%s", pxr_status_name(fault.status));
        cr_assert_lt(count_mappings(), 40000);
        expect_good();
    }
}

/* ---- errors ---- */

static uint32_t wait_for_nothing(struct rt_thread *thread, struct values *v, uint32_t entry,
                                 enum mode mode)
{
    BEGIN
    BARRIER(1);
    if (tid(thread) == 0)
        EXIT;
    if (thread->block->ctaid[0] == 3)
        SYNC(PLAIN, 0, bar_sync, tid(thread) == 1 ? 1 : 2, 64);
    BARRIER(2);
    END;
}

Test(mixed, a_block_where_every_thread_waits_is_reported)
{
    for (unsigned seed = 0; seed < 4; seed++) {
        struct kernel kernel = {wait_for_nothing, seed, NULL};
        sch_set_chaos(seed);
        struct sch_fault fault = run_kernel(&kernel, (struct run){.grid = {5}, .block = {40}});
        cr_assert_eq(fault.status, PXR_FAULT_DEADLOCK);
        cr_assert_eq(fault.ctaid[0], 3);
        cr_assert(fault.has_thread);
        cr_assert_eq(fault.tid[0], 1);
    }
    RUN_ALL(, wait_for_nothing, NULL, {.grid = {3}, .block = {40}});
}

static uint32_t bad_operands(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    uint32_t which = *(const uint32_t *)kernel_data(thread);
    bool is_bad = tid(thread) == 37;
    BEGIN
    BARRIER(1);
    if (which == 0)
        SYNC(PLAIN, 0, bar_sync, is_bad ? 16 : 1, 0);
    if (which == 1)
        SYNC(PLAIN + 1, 0, bar_arrive, 1, is_bad ? 0 : 64);
    if (which == 2)
        SYNC(PLAIN + 2, 0, bar_red, 1, is_bad ? 33 : 64, 1, RT_REDUCE_OR);
    END;
}

Test(mixed, operands_that_are_not_allowed_are_faults_of_their_thread)
{
    for (uint32_t which = 0; which < 3; which++) {
        struct kernel kernel = {bad_operands, 1, &which};
        struct sch_fault fault = run_kernel(&kernel, (struct run){.grid = {9}, .block = {64}});
        cr_assert_eq(fault.status, PXR_FAULT_INSTRUCTION);
        cr_assert(fault.has_thread);
        cr_assert_eq(fault.tid[0], 37);
        cr_assert_neq(fault.pc, 0);
    }
}
