/* SPDX-License-Identifier: Apache-2.0
 *
 * Warp operations: results per PTX, and who waits for whom.
 */
#include "support.h"

#define FULL 0xffffffffu

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

static uint32_t value_of(uint64_t result)
{
    return (uint32_t)result;
}

static bool predicate_of(uint64_t result)
{
    return (result >> 32 & 1) != 0;
}

static void shuffles(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    uint32_t value = lane * 10;
    uint64_t r = rt_shfl(thread, RT_SHFL_IDX, value, 7, 0x1f, FULL);
    CHECK(&bad, value_of(r) == 70 && predicate_of(r));
    r = rt_shfl(thread, RT_SHFL_UP, value, 3, 0, FULL);
    CHECK(&bad, predicate_of(r) == (lane >= 3));
    CHECK(&bad, value_of(r) == (lane >= 3 ? value - 30 : value));
    r = rt_shfl(thread, RT_SHFL_DOWN, value, 3, 0x1f, FULL);
    CHECK(&bad, predicate_of(r) == (lane < 29));
    CHECK(&bad, value_of(r) == (lane < 29 ? value + 30 : value));
    r = rt_shfl(thread, RT_SHFL_BFLY, value, 5, 0x1f, FULL);
    CHECK(&bad, value_of(r) == (lane ^ 5) * 10 && predicate_of(r));
    /* b counts modulo 32. */
    r = rt_shfl(thread, RT_SHFL_UP, value, 32 + 1, 0, FULL);
    CHECK(&bad, value_of(r) == (lane >= 1 ? value - 10 : value));
}

/* __shfl_*_sync(…, width 8): segment mask 0x18. */
static void segmented_shuffles(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    uint32_t first = lane & ~7u;
    uint32_t c_last = 0x18u << 8 | 0x1f;
    uint32_t c_first = 0x18u << 8;
    uint64_t r = rt_shfl(thread, RT_SHFL_IDX, lane, 11, c_last, FULL);
    CHECK(&bad, value_of(r) == first + 3 && predicate_of(r));
    r = rt_shfl(thread, RT_SHFL_UP, lane, 2, c_first, FULL);
    CHECK(&bad, predicate_of(r) == (lane - first >= 2));
    CHECK(&bad, value_of(r) == (lane - first >= 2 ? lane - 2 : lane));
    r = rt_shfl(thread, RT_SHFL_DOWN, lane, 2, c_last, FULL);
    CHECK(&bad, predicate_of(r) == (lane - first < 6));
    CHECK(&bad, value_of(r) == (lane - first < 6 ? lane + 2 : lane));
    r = rt_shfl(thread, RT_SHFL_BFLY, lane, 9, c_last, FULL);
    CHECK(&bad, predicate_of(r) == ((lane ^ 9) <= (first | 7)));
    CHECK(&bad, value_of(r) == ((lane ^ 9) <= (first | 7) ? (lane ^ 9) : lane));
}

Test(warp, shuffles_move_values_and_tell_the_range)
{
    RUN_OK({.entry = shuffles, .grid = {3}, .block = {96}});
    RUN_OK({.entry = segmented_shuffles, .grid = {3}, .block = {64}});
    expect_good();
}

static void votes(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, lane & 1, FULL) == 0xaaaaaaaau);
    CHECK(&bad, rt_vote(thread, RT_VOTE_ALL, 1, FULL) == 1);
    CHECK(&bad, rt_vote(thread, RT_VOTE_ALL, lane != 9, FULL) == 0);
    CHECK(&bad, rt_vote(thread, RT_VOTE_ANY, lane == 9, FULL) == 1);
    CHECK(&bad, rt_vote(thread, RT_VOTE_ANY, 0, FULL) == 0);
    CHECK(&bad, rt_vote(thread, RT_VOTE_UNI, 0, FULL) == 1);
    CHECK(&bad, rt_vote(thread, RT_VOTE_UNI, 1, FULL) == 1);
    CHECK(&bad, rt_vote(thread, RT_VOTE_UNI, lane == 3, FULL) == 0);
}

static void matches(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    uint64_t high = UINT64_C(5) << 40;
    CHECK(&bad, value_of(rt_match(thread, 0, high + lane % 4, FULL)) == 0x11111111u << lane % 4);
    CHECK(&bad, value_of(rt_match(thread, 0, (uint64_t)(lane / 16) << 32, FULL)) ==
                    (lane < 16 ? 0xffffu : 0xffff0000u));
    uint64_t r = rt_match(thread, 1, 42, FULL);
    CHECK(&bad, value_of(r) == FULL && predicate_of(r));
    r = rt_match(thread, 1, lane == 4, FULL);
    CHECK(&bad, value_of(r) == 0 && !predicate_of(r));
}

static void reductions(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, lane, FULL) == 496);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN, lane + 5, FULL) == 5);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX, lane + 5, FULL) == 36);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_SIGNED, lane - 7, FULL) == (uint32_t)-7);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_SIGNED, lane - 7, FULL) == 24);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN, lane - 7, FULL) == 0);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_AND, ~(1u << lane), FULL) == 0);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_OR, 1u << lane, FULL) == FULL);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_XOR, 1u << lane / 2, FULL) == 0);
    uint64_t r = rt_elect(thread, 0xf0);
    CHECK(&bad, value_of(r) == (lane >= 4 && lane < 8 ? 4 : lane));
    r = rt_elect(thread, FULL);
    CHECK(&bad, value_of(r) == 0 && predicate_of(r) == (lane == 0));
}

/* Row r, column c of 8 by 8 has 8 * r + c; lane i has two neighbours of row i / 4. */
static void transpositions(struct rt_thread *thread)
{
    uint32_t row = thread->lane / 4;
    uint32_t column = thread->lane % 4 * 2;
    uint32_t there = rt_movmatrix(thread, (8 * row + column) | (8 * row + column + 1) << 16, FULL);
    CHECK(&bad, there == ((8 * column + row) | (8 * (column + 1) + row) << 16));
    uint32_t back = rt_movmatrix(thread, there, FULL);
    CHECK(&bad, back == ((8 * row + column) | (8 * row + column + 1) << 16));
    /* Alone, a lane has what is on the diagonal. */
    uint32_t own = thread->lane % 9 == 0 ? 1 : thread->lane % 9 == 4 ? 0x20000 : 0;
    CHECK(&bad, rt_movmatrix(thread, 0x20001, 1u << thread->lane) == own);
}

Test(warp, transposes_matrices)
{
    RUN_OK({.entry = transpositions, .grid = {3}, .block = {96}});
    expect_good();
}

Test(warp, votes_matches_and_reductions_combine_all_lanes)
{
    RUN_OK({.entry = votes, .grid = {3}, .block = {96}});
    RUN_OK({.entry = matches, .grid = {3}, .block = {96}});
    RUN_OK({.entry = reductions, .grid = {3}, .block = {96}});
    expect_good();
}

static void partial_warp(struct rt_thread *thread)
{
    uint32_t lanes = block_threads(thread) - thread->warp * 32;
    lanes = lanes > 32 ? 32 : lanes;
    uint32_t all = lanes == 32 ? FULL : (1u << lanes) - 1;
    rt_warp_sync(thread, FULL);
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, 1, FULL) == all);
    CHECK(&bad, rt_vote(thread, RT_VOTE_ALL, 1, FULL) == 1);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, 1, FULL) == lanes);
    CHECK(&bad, value_of(rt_match(thread, 1, 3, FULL)) == all);
    CHECK(&bad, rt_activemask(thread, 1) == all);
}

Test(warp, ignores_lanes_that_the_block_does_not_have)
{
    RUN_OK({.entry = partial_warp, .grid = {2}, .block = {1}});
    RUN_OK({.entry = partial_warp, .grid = {2}, .block = {45}});
    RUN_OK({.entry = partial_warp, .grid = {2}, .block = {7, 5, 3}});
    expect_good();
}

static void exited_lanes(struct rt_thread *thread)
{
    if (thread->lane >= 20)
        return;
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, 1, FULL) == 0xfffff);
    if (thread->lane % 2 == 1)
        rt_exit(thread);
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, 1, FULL) == 0x55555);
    rt_warp_sync(thread, FULL);
}

Test(warp, does_not_wait_for_lanes_that_have_exited)
{
    RUN_OK({.entry = exited_lanes, .grid = {3}, .block = {64}});
    expect_good();
}

static void late_exit(struct rt_thread *thread)
{
    if (thread->lane == 31) {
        for (int i = 0; i < 5; i++)
            rt_nanosleep(thread, 1);
        return;
    }
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, 1, FULL) == 0x7fffffff);
}

Test(warp, operation_completes_when_the_last_missing_lane_exits)
{
    RUN_OK({.entry = late_exit, .grid = {3}, .block = {64}});
    expect_good();
}

/* The halves of the warp use their own masks, a different number of times. */
static void two_masks(struct rt_thread *thread)
{
    uint32_t half = thread->lane / 16;
    uint32_t mask = half ? 0xffff0000u : 0xffffu;
    for (uint32_t i = 0; i < 5 + 9 * half; i++)
        CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, thread->lane, mask) == (half ? 376 : 120));
    CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, half, FULL) == 0xffff0000u);
}

Test(warp, lanes_with_different_masks_do_not_meet)
{
    RUN_OK({.entry = two_masks, .grid = {3}, .block = {64}});
    expect_good();
}

static void both_sides(struct rt_thread *thread)
{
    volatile uint32_t *shared = (volatile uint32_t *)(void *)thread->block->shared;
    shared[tid(thread)] = 1;
    if (thread->lane % 5 == 0)
        rt_warp_sync(thread, FULL);
    else
        rt_warp_sync(thread, FULL);
    for (uint32_t lane = 0; lane < 32; lane++)
        CHECK(&bad, shared[thread->warp * 32 + lane] == 1);
}

Test(warp, sync_on_both_sides_of_a_branch_meets)
{
    RUN_OK({.entry = both_sides, .grid = {1}, .block = {64}, .shared_bytes = 256});
    expect_good();
}

/* Only some warps of the block execute the operation. */
static void some_warps(struct rt_thread *thread)
{
    if (thread->warp % 2 == 0)
        CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, 1, FULL) == 32);
    rt_bar_sync(thread, 0, 0);
    if (thread->warp % 2 == 1)
        CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, 2, FULL) == 64);
}

Test(warp, operation_that_only_some_warps_execute)
{
    RUN_OK({.entry = some_warps, .grid = {3}, .block = {160}});
    expect_good();
}

static void active_lanes(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    CHECK(&bad, rt_activemask(thread, 1) == FULL);
    if (lane % 4 == 0) {
        CHECK(&bad, rt_activemask(thread, 2) == 0x11111111u);
        uint32_t mask = rt_activemask(thread, 2);
        CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, 1, mask) == 8);
    } else if (lane % 4 == 1) {
        CHECK(&bad, rt_activemask(thread, 3) == 0x22222222u);
    } else if (lane % 4 == 2) {
        return;
    }
    rt_warp_sync(thread, FULL);
    CHECK(&bad, rt_activemask(thread, 4) == 0xbbbbbbbbu);
}

Test(warp, activemask_gathers_the_lanes_of_one_place)
{
    RUN_OK({.entry = active_lanes, .grid = {3}, .block = {96}});
    expect_good();
}

/* Opportunistic aggregation: whoever is here elects one to add for all. */
static void aggregate(struct rt_thread *thread)
{
    atomic_uint *sum = data(thread);
    for (uint32_t i = 0; i <= thread->lane % 7; i++) {
        uint32_t mask = rt_activemask(thread, 9);
        uint32_t leader = (uint32_t)__builtin_ctz(mask);
        if (thread->lane == leader)
            atomic_fetch_add(sum, (unsigned)__builtin_popcount(mask));
    }
}

Test(warp, activemask_groups_cover_every_lane_once)
{
    static atomic_uint sum;
    uint32_t per_warp = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        per_warp += lane % 7 + 1;
    for (int i = 0; i < 3; i++) {
        atomic_store(&sum, 0);
        sch_set_chaos((unsigned)i);
        run_grid((struct run){.entry = aggregate, .grid = {10}, .block = {64}, .data = &sum});
        cr_assert_eq(atomic_load(&sum), 20 * per_warp);
    }
}

static void missing_lane(struct rt_thread *thread)
{
    if (thread->lane == 3)
        rt_bar_sync(thread, 0, 0);
    else
        rt_warp_sync(thread, FULL);
}

Test(warp, a_lane_that_waits_elsewhere_is_a_deadlock)
{
    struct sch_fault fault = run_grid((struct run){.entry = missing_lane, .block = {32}});
    cr_assert_eq(fault.status, PXR_FAULT_DEADLOCK);
}

static uint32_t bits(float value)
{
    uint32_t result;
    memcpy(&result, &value, sizeof result);
    return result;
}

#define NAN_BITS 0x7fffffffu

static void float_reductions(struct rt_thread *thread)
{
    uint32_t lane = thread->lane;
    float value = (float)lane - 10;
    uint32_t some_nan = lane == 3 ? 0xffc00001u : bits(value);
    uint32_t zero = bits(lane % 2 == 0 ? 0.0f : -0.0f);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_F32, bits(value), FULL) == bits(-10));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_F32, bits(value), FULL) == bits(21));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_F32, some_nan, FULL) == bits(-10));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_F32_NAN, some_nan, FULL) == NAN_BITS);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_F32_NAN, some_nan, FULL) == NAN_BITS);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_F32_NAN, bits(value), FULL) == bits(21));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_F32, 0xff800001u, FULL) == NAN_BITS);
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_F32, zero, FULL) == bits(-0.0f));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MAX_F32, zero, FULL) == bits(0.0f));
    uint32_t alone = UINT32_C(1) << lane;
    CHECK(&bad, rt_redux(thread, RT_REDUCE_MIN_F32, 0xff800001u, alone) == NAN_BITS);
}

Test(warp, reductions_of_floats_leave_nan_out_or_give_it)
{
    RUN_OK({.entry = float_reductions, .grid = {2}, .block = {64}});
    expect_good();
}
