/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers of a block in every control-flow shape, with C functions as kernels.
 */
#include "support.h"

#define PHASES 20

struct state {
    atomic_int bad;     /* a line number */
    uint32_t count[64]; /* plain: only barriers keep it consistent */
    uint32_t inputs[8];
};

static struct state state;

static void reset(void)
{
    memset(&state, 0, sizeof state);
}

static void expect_good(void)
{
    int line = atomic_load(&state.bad);
    cr_assert_eq(line, 0, "line %d", line);
}

static void phases(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    uint32_t n = block_threads(thread);
    uint32_t me = tid(thread);
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        shared[me] = me + phase;
        rt_bar_sync(thread, 0, 0);
        CHECK(&state.bad, shared[(me + 1) % n] == (me + 1) % n + phase);
        CHECK(&state.bad, shared[(me + n / 2) % n] == (me + n / 2) % n + phase);
        rt_bar_sync(thread, 0, 0);
    }
}

Test(barrier, separates_phases_for_every_block_size)
{
    static const uint32_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 100, 256, 1000, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reset();
        RUN_OK({.entry = phases, .grid = {4}, .block = {sizes[i]}, .shared_bytes = 4096});
        expect_good();
    }
}

Test(barrier, separates_phases_in_three_dimensions)
{
    reset();
    RUN_OK({.entry = phases, .grid = {3, 2, 2}, .block = {5, 7, 3}, .shared_bytes = 4096});
    expect_good();
}

static void in_if_in_loop(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    for (uint32_t i = 0; i < PHASES; i++) {
        if (i % 3 == 1) {
            shared[tid(thread)] = i;
            rt_bar_sync(thread, 0, 0);
            CHECK(&state.bad, shared[block_threads(thread) - 1 - tid(thread)] == i);
            rt_bar_sync(thread, 0, 0);
        }
    }
}

Test(barrier, in_an_if_in_a_loop)
{
    reset();
    RUN_OK({.entry = in_if_in_loop, .grid = {4}, .block = {96}, .shared_bytes = 4096});
    expect_good();
}

/* Threads leave the loop after different numbers of turns; those that exit are not waited for. */
static void trip_count_by_thread(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    uint32_t n = block_threads(thread);
    for (uint32_t i = 0; i <= tid(thread); i++) {
        shared[tid(thread)] = i;
        rt_bar_sync(thread, 0, 0);
        CHECK(&state.bad, shared[n - 1] == i);
        rt_bar_sync(thread, 0, 0);
    }
}

Test(barrier, guarded_with_a_trip_count_that_depends_on_the_thread)
{
    reset();
    RUN_OK({.entry = trip_count_by_thread, .grid = {3}, .block = {70}, .shared_bytes = 4096});
    expect_good();
}

static void early_return(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    uint32_t keep = *(uint32_t *)data(thread);
    if (tid(thread) >= keep)
        return;
    shared[tid(thread)] = tid(thread);
    rt_bar_sync(thread, 0, 0);
    CHECK(&state.bad, shared[keep - 1 - tid(thread)] == keep - 1 - tid(thread));
}

static void early_exit(struct rt_thread *thread)
{
    uint32_t keep = *(uint32_t *)data(thread);
    if (tid(thread) >= keep)
        rt_exit(thread);
    early_return(thread);
    rt_exit(thread);
}

Test(barrier, does_not_wait_for_lanes_and_warps_that_returned_before)
{
    static uint32_t keep;
    for (keep = 1; keep <= 128; keep = keep * 2 + (keep & 1)) {
        reset();
        RUN_OK({.entry = early_return,
                .grid = {3},
                .block = {128},
                .shared_bytes = 4096,
                .data = &keep});
        RUN_OK({.entry = early_exit,
                .grid = {3},
                .block = {128},
                .shared_bytes = 4096,
                .data = &keep});
        expect_good();
    }
}

/* The last thread exits when everybody else is waiting already. */
static void late_exit(struct rt_thread *thread)
{
    uint32_t n = block_threads(thread);
    if (tid(thread) == n - 1) {
        for (int i = 0; i < 10; i++)
            rt_nanosleep(thread, 1);
        return;
    }
    rt_bar_sync(thread, 3, 0);
    CHECK(&state.bad, rt_bar_red(thread, 3, 0, 1, RT_REDUCE_POPC) == n - 1);
}

Test(barrier, is_released_when_the_last_missing_thread_exits)
{
    reset();
    RUN_OK({.entry = late_exit, .grid = {3}, .block = {65}});
    RUN_OK({.entry = late_exit, .grid = {3}, .block = {60}});
    expect_good();
}

/* Both sides of a branch have the barrier; structured code makes such of uniform barriers. */
static void both_sides(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    if (tid(thread) % 3 == 0) {
        shared[tid(thread)] = 1;
        rt_bar_sync(thread, 0, 0);
    } else {
        shared[tid(thread)] = 2;
        rt_bar_sync(thread, 0, 0);
    }
    for (uint32_t i = 0; i < block_threads(thread); i++)
        CHECK(&state.bad, shared[i] == (i % 3 == 0 ? 1u : 2u));
}

Test(barrier, may_be_reached_at_different_places)
{
    reset();
    RUN_OK({.entry = both_sides, .grid = {4}, .block = {80}, .shared_bytes = 4096});
    expect_good();
}

static void descend(struct rt_thread *thread, uint32_t depth)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    if (depth == 0)
        return;
    shared[tid(thread)] = depth;
    rt_bar_sync(thread, depth % 16, 0);
    CHECK(&state.bad, shared[(tid(thread) + 1) % block_threads(thread)] == depth);
    rt_bar_sync(thread, depth % 16, 0);
    descend(thread, depth - 1);
    rt_bar_sync(thread, 0, 0);
}

static void recursive(struct rt_thread *thread)
{
    descend(thread, 40);
}

Test(barrier, in_a_recursive_function_with_all_numbers)
{
    reset();
    RUN_OK({.entry = recursive, .grid = {3}, .block = {48}, .shared_bytes = 4096});
    expect_good();
}

/* Warps 0-1 and 2-3 use different barriers, a different number of times. */
static void two_groups(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    uint32_t group = thread->warp / 2;
    uint32_t me = tid(thread) % 64;
    for (uint32_t i = 0; i < 10 + 7 * group; i++) {
        shared[group * 64 + me] = i;
        rt_bar_sync(thread, 1 + group, 64);
        CHECK(&state.bad, shared[group * 64 + 63 - me] == i);
        rt_bar_sync(thread, 1 + group, 64);
    }
    rt_bar_sync(thread, 0, 0);
}

Test(barrier, counted_ones_join_some_of_the_warps)
{
    reset();
    RUN_OK({.entry = two_groups, .grid = {4}, .block = {128}, .shared_bytes = 4096});
    expect_good();
}

/* Warp 0 produces, warp 1 consumes: two barriers, each with one side that only arrives. */
static void producer_consumer(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    for (uint32_t i = 0; i < PHASES; i++) {
        if (thread->warp == 0) {
            rt_bar_sync(thread, 1, 64); /* the buffer is empty */
            shared[thread->lane] = i * 100 + thread->lane;
            rt_bar_arrive(thread, 2, 64);
        } else {
            rt_bar_arrive(thread, 1, 64);
            rt_bar_sync(thread, 2, 64); /* the buffer is full */
            CHECK(&state.bad, shared[31 - thread->lane] == i * 100 + 31 - thread->lane);
        }
    }
}

Test(barrier, arrive_lets_producers_run_ahead)
{
    reset();
    RUN_OK({.entry = producer_consumer, .grid = {4}, .block = {64}, .shared_bytes = 4096});
    expect_good();
}

/* A partial warp counts as 32 threads. */
static void counted_partial(struct rt_thread *thread)
{
    for (uint32_t i = 0; i < 3; i++)
        rt_bar_sync(thread, 5, 64);
    CHECK(&state.bad, rt_bar_red(thread, 5, 64, 1, RT_REDUCE_POPC) == 40);
}

Test(barrier, counted_ones_take_a_partial_warp_as_32_threads)
{
    reset();
    RUN_OK({.entry = counted_partial, .grid = {2}, .block = {40}});
    expect_good();
}

static void counted_with_exited_warp(struct rt_thread *thread)
{
    if (thread->warp == 1)
        return;
    rt_bar_sync(thread, 1, 96);
    rt_bar_sync(thread, 1, 96);
}

Test(barrier, counted_ones_do_not_hang_on_exited_warps)
{
    RUN_OK({.entry = counted_with_exited_warp, .grid = {2}, .block = {128}});
}

static void reductions(struct rt_thread *thread)
{
    uint32_t n = block_threads(thread);
    uint32_t me = tid(thread);
    for (int i = 0; i < 3; i++) {
        CHECK(&state.bad, rt_bar_red(thread, 0, 0, me % 3 == 0, RT_REDUCE_POPC) == (n + 2) / 3);
        CHECK(&state.bad, rt_bar_red(thread, 0, 0, me < n, RT_REDUCE_AND) == 1);
        CHECK(&state.bad, rt_bar_red(thread, 0, 0, me != n - 1, RT_REDUCE_AND) == 0);
        CHECK(&state.bad, rt_bar_red(thread, 0, 0, me == 5, RT_REDUCE_OR) == 1);
        CHECK(&state.bad, rt_bar_red(thread, 0, 0, 0, RT_REDUCE_OR) == 0);
    }
    if (me % 2 == 1)
        return;
    CHECK(&state.bad, rt_bar_red(thread, 0, 0, 1, RT_REDUCE_POPC) == (n + 1) / 2);
    CHECK(&state.bad, rt_bar_red(thread, 0, 0, 4, RT_REDUCE_AND) == 1);
}

Test(barrier, reductions_cover_the_threads_that_have_not_exited)
{
    reset();
    RUN_OK({.entry = reductions, .grid = {3}, .block = {77}});
    RUN_OK({.entry = reductions, .grid = {3}, .block = {1024}});
    expect_good();
}

/* An atomic in a loop between barriers. */
static void atomics_between(struct rt_thread *thread)
{
    atomic_uint *counters = (atomic_uint *)(void *)thread->block->shared;
    if (tid(thread) < PHASES)
        atomic_store(&counters[tid(thread)], 0);
    rt_bar_sync(thread, 0, 0);
    for (uint32_t i = 0; i < PHASES; i++) {
        for (uint32_t k = 0; k <= tid(thread) % 4; k++)
            atomic_fetch_add(&counters[i], 1);
        rt_bar_sync(thread, 0, 0);
        CHECK(&state.bad, atomic_load(&counters[i]) == block_threads(thread) / 4 * 10);
    }
}

Test(barrier, atomics_in_a_loop_between_barriers)
{
    reset();
    RUN_OK({.entry = atomics_between, .grid = {4}, .block = {64}, .shared_bytes = 4096});
    expect_good();
}

static void bad_number(struct rt_thread *thread)
{
    rt_bar_sync(thread, 16, 0);
}

Test(barrier, number_above_15_is_a_fault)
{
    cr_assert_eq(run_grid((struct run){.entry = bad_number}).status, PXR_FAULT_INSTRUCTION);
}

static void different_barriers(struct rt_thread *thread)
{
    rt_bar_sync(thread, thread->warp, 0);
}

Test(barrier, warps_that_wait_at_different_barriers_are_reported)
{
    struct sch_fault fault = run_grid((struct run){.entry = different_barriers, .block = {64}});
    cr_assert_eq(fault.status, PXR_FAULT_DEADLOCK);
    cr_assert(fault.has_thread);
    cr_assert_eq(fault.tid[0], 0);
}

static void bad_count(struct rt_thread *thread)
{
    rt_bar_sync(thread, 1, 33);
}

static void bad_reduction(struct rt_thread *thread)
{
    rt_bar_red(thread, 1, 1, 1, RT_REDUCE_OR);
}

static void arrive_without_count(struct rt_thread *thread)
{
    rt_bar_arrive(thread, 1, 0);
}

Test(barrier, counts_that_are_no_whole_warps_are_faults)
{
    static void (*const entries[])(struct rt_thread *) = {bad_count, bad_reduction,
                                                          arrive_without_count};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct sch_fault fault = run_grid((struct run){.entry = entries[i], .block = {64}});
        cr_assert_eq(fault.status, PXR_FAULT_INSTRUCTION);
        cr_assert(fault.has_thread);
    }
}
