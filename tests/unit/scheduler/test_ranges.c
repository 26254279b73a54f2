/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids whose blocks may run in any order: ranges, stealing, and whose turn it is.
 */
#include <pthread.h>
#include <sched.h>

#include "kernels.h"

/* ---- ranges by themselves ---- */

static uint64_t take_all(struct sch_ranges *ranges, uint32_t index, uint64_t expected_first)
{
    uint64_t total = 0;
    uint64_t first;
    uint32_t count;
    while ((count = sch_ranges_take(ranges, index, 7, &first)) > 0) {
        cr_assert_eq(first, expected_first + total);
        total += count;
    }
    return total;
}

Test(ranges, blocks_are_dealt_out_in_order)
{
    static const uint64_t ends[] = {5, 6, 1000, SCH_RANGE_BLOCKS_MAX};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint64_t begin = ends[i] > 2000 ? ends[i] - 2000 : 3;
        struct sch_ranges *ranges = sch_ranges_deal(begin, ends[i], 3, 0);
        uint64_t at = begin;
        for (uint32_t worker = 0; worker < 3; worker++) {
            cr_assert_not(sch_ranges_are_empty(ranges) && at < ends[i]);
            at += take_all(ranges, worker, at);
        }
        cr_assert_eq(at, ends[i]);
        cr_assert(sch_ranges_are_empty(ranges));
        sch_ranges_free(ranges);
    }
}

Test(ranges, a_thief_gets_the_back_half_and_the_last_block)
{
    struct sch_ranges *ranges = sch_ranges_deal(0, 22, 2, 40);
    uint64_t first;
    cr_assert_eq(sch_ranges_drop(ranges, 1), 11);
    cr_assert(sch_ranges_steal(ranges, 1, 0, false));
    cr_assert_eq(sch_ranges_left(ranges, 0), 5);
    cr_assert_eq(sch_ranges_take(ranges, 1, 100, &first), 6);
    cr_assert_eq(first, 5);
    cr_assert_eq(sch_ranges_take(ranges, 0, 4, &first), 4);
    cr_assert(sch_ranges_steal(ranges, 1, 0, false));
    cr_assert_not(sch_ranges_steal(ranges, 1, 0, false));
    cr_assert_eq(sch_ranges_take(ranges, 1, 100, &first), 1);
    cr_assert_eq(first, 4);
    cr_assert(sch_ranges_are_empty(ranges));
    sch_ranges_free(ranges);
}

/* A thief that is not given the CPU has blocks in its hands. */
Test(ranges, they_are_not_empty_while_blocks_are_on_their_way)
{
    struct sch_ranges *ranges = sch_ranges_deal(0, 10, 2, 0);
    atomic_fetch_add(&ranges->begun, 1);
    cr_assert_eq(sch_ranges_drop(ranges, 0), 5);
    cr_assert_eq(sch_ranges_drop(ranges, 1), 5);
    cr_assert_not(sch_ranges_are_empty(ranges));
    atomic_fetch_add(&ranges->ended, 1);
    cr_assert(sch_ranges_are_empty(ranges));
    sch_ranges_free(ranges);
}

#define THIEVES 6
#define BLOCKS  40000

static atomic_uchar taken[BLOCKS];
static atomic_uint taken_count;

struct thief {
    struct sch_ranges *ranges;
    uint32_t index;
};

/* Takes a few blocks of its range, or steals, until all ranges are empty for good. */
static void *be_thief(void *arg)
{
    const struct thief *thief = arg;
    uint32_t random = thief->index + 1;
    uint64_t first;
    do {
        random = random * 1664525 + 1013904223;
        uint32_t count = sch_ranges_take(thief->ranges, thief->index, 1 + (random >> 28), &first);
        for (uint32_t i = 0; i < count; i++)
            atomic_fetch_add(&taken[first + i], 1);
        atomic_fetch_add(&taken_count, count);
        uint32_t victim = (random >> 8) % THIEVES;
        if (count == 0 && victim != thief->index)
            sch_ranges_steal(thief->ranges, thief->index, victim, random >> 31);
    } while (!sch_ranges_are_empty(thief->ranges));
    return NULL;
}

Test(ranges, each_block_is_claimed_once_whoever_steals)
{
    for (int round = 0; round < 5; round++) {
        struct sch_ranges *ranges = sch_ranges_deal(0, BLOCKS, THIEVES, 0);
        struct thief thieves[THIEVES];
        pthread_t threads[THIEVES];
        memset(taken, 0, sizeof taken);
        atomic_store(&taken_count, 0);
        for (uint32_t i = 0; i < THIEVES; i++) {
            thieves[i] = (struct thief){ranges, i};
            pthread_create(&threads[i], NULL, be_thief, &thieves[i]);
        }
        for (uint32_t i = 0; i < THIEVES; i++)
            pthread_join(threads[i], NULL);
        cr_assert_eq(atomic_load(&taken_count), BLOCKS);
        for (uint32_t i = 0; i < BLOCKS; i++)
            cr_assert_eq(atomic_load_explicit(&taken[i], memory_order_relaxed), 1);
        sch_ranges_free(ranges);
    }
}

/* ---- workers and grids ---- */

static void no_blocks(struct rt_block *block, uint32_t count)
{
    block->ctaid[0] += count;
}

/* A grid that no worker knows, for workers that are not there. */
static struct sch_grid_op *deal_grid(uint32_t blocks)
{
    cr_assert_eq(sch_start(4, NULL), PXR_OK);
    struct sch_grid grid =
        make_grid(&(struct run){.fused = no_blocks, .grid = {blocks}, .block = {32}});
    struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
    cr_assert_not_null(op);
    sch_grid_deal(sch_grid_of(op));
    return sch_grid_of(op);
}

#define HEAD 16 /* of 1000 blocks */

/* Whoever comes: a worker, or from the fourth claim on a guest. */
static void claim_head(struct sch_grid_op *grid)
{
    uint64_t expected = 0;
    for (unsigned i = 3; expected < HEAD; i -= i > 0) {
        struct sch_worker worker = {.group_index = i};
        uint64_t first;
        uint64_t count = i > 0 ? sch_grid_claim(grid, &worker, &first)
                               : sch_grid_claim_as_guest(grid, UINT64_MAX, &first);
        cr_assert_gt(count, 0);
        cr_assert_eq(first, expected);
        expected += count;
    }
    cr_assert_eq(expected, HEAD);
}

/* Programs that add up in place rely on it. */
Test(ranges, the_first_blocks_are_claimed_in_order)
{
    struct sch_grid_op *grid = deal_grid(1000);
    claim_head(grid);
    cr_assert_not_null(grid->ranges);
    sch_op_release(&grid->op);
}

Test(ranges, a_worker_begins_with_the_same_blocks_in_each_launch)
{
    for (int launch = 0; launch < 2; launch++) {
        struct sch_grid_op *grid = deal_grid(1000);
        claim_head(grid);
        for (unsigned i = 4; i > 0; i--) {
            struct sch_worker worker = {.group_index = i - 1};
            uint64_t first;
            cr_assert_gt(sch_grid_claim(grid, &worker, &first), 0);
            cr_assert_eq(first, HEAD + (1000 - HEAD) / 4 * (i - 1));
        }
        sch_op_release(&grid->op);
    }
}

Test(ranges, one_worker_runs_all_if_no_other_comes)
{
    struct sch_grid_op *grid = deal_grid(1000);
    struct sch_worker worker = {.group_index = 2};
    uint64_t total = 0;
    uint64_t first;
    uint64_t count;
    while ((count = sch_grid_claim(grid, &worker, &first)) > 0)
        total += count;
    cr_assert_eq(total, 1000);
    cr_assert_eq(atomic_load(&grid->cursor), 1000, "nobody looks again");
    sch_op_release(&grid->op);
}

Test(ranges, blocks_that_may_wait_keep_their_order)
{
    cr_assert_eq(sch_start(4, NULL), PXR_OK);
    for (int is_cooperative = 0; is_cooperative < 2; is_cooperative++) {
        struct sch_grid grid = make_grid(&(struct run){.fused = no_blocks,
                                                       .grid = {1000},
                                                       .may_wait = !is_cooperative,
                                                       .is_cooperative = is_cooperative});
        struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
        sch_grid_deal(sch_grid_of(op));
        uint64_t expected = 0;
        for (unsigned i = 4; i > 0; i--) {
            struct sch_worker worker = {.group_index = i - 1};
            uint64_t first;
            uint64_t count = sch_grid_claim(sch_grid_of(op), &worker, &first);
            cr_assert_eq(first, expected);
            expected += count;
        }
        sch_op_release(op);
    }
}

/* The first block of a chunk may wait for the last one of the chunk before it. */
Test(ranges, blocks_that_may_wait_are_claimed_as_few_as_take_two_microseconds)
{
    cr_assert_eq(sch_start(4, NULL), PXR_OK);
    struct sch_grid run =
        make_grid(&(struct run){.fused = no_blocks, .grid = {1000}, .may_wait = true});
    struct sch_op *op = sch_op_grid(&run, NULL, NULL);
    struct sch_grid_op *grid = sch_grid_of(op);
    struct sch_worker worker = {0};
    uint64_t first;
    cr_assert_eq(sch_grid_claim(grid, &worker, &first), 1, "nobody knows how long they take");
    sch_grid_note_chunk(grid, &worker, sch_grid_fit(grid), 1, 100);
    cr_assert_eq(sch_grid_claim(grid, &worker, &first), 21);
    sch_grid_note_chunk(grid, &worker, sch_grid_fit(grid), 1, 5000);
    cr_assert_eq(sch_grid_claim(grid, &worker, &first), 1);
    sch_op_release(op);
}

Test(ranges, what_is_cancelled_is_nobodys)
{
    struct sch_grid_op *grid = deal_grid(1000);
    struct sch_worker worker = {.group_index = 1};
    uint64_t first;
    uint64_t count = sch_grid_claim(grid, &worker, &first);
    sch_grid_fail(grid, &(struct sch_fault){.status = PXR_FAULT_TRAP});
    cr_assert_eq(atomic_load(&grid->blocks_left), count);
    cr_assert_eq(sch_grid_claim(grid, &worker, &first), 0);
    sch_op_release(&grid->op);
}

static atomic_uint failures;

/* Some take long, so that others steal; the block in the middle fails. */
static void fail_in_the_middle(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block)) {
        uint64_t end_ns = sch_now_ns() + (block->ctaid[0] % 16 == 0 ? 20000 : 0);
        while (sch_now_ns() < end_ns) {
        }
        if (block->ctaid[0] == 600)
            rt_fault(block->threads, PXR_FAULT_TRAP, 0);
        atomic_fetch_add(&failures, 1);
    }
}

Test(ranges, a_grid_that_fails_while_blocks_are_stolen_ends)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        sch_set_chaos(seed);
        atomic_store(&failures, 0);
        struct sch_fault fault =
            run_grid((struct run){.fused = fail_in_the_middle, .grid = {1200}, .block = {32}});
        cr_assert_eq(fault.status, PXR_FAULT_TRAP);
        cr_assert_lt(atomic_load(&failures), 1200);
    }
}

/* ---- split grids ---- */

#define SLICE 12

static atomic_uint slice_ended;
static atomic_uint too_early;

static void note_slice(const uint32_t ctaid[3])
{
    if (ctaid[2] > 0) {
        atomic_fetch_add(&too_early, atomic_load(&slice_ended) < SLICE);
        return;
    }
    uint64_t end_ns = sch_now_ns() + (ctaid[0] % 2) * 50000;
    while (sch_now_ns() < end_ns) {
    }
    atomic_fetch_add(&slice_ended, 1);
}

static void slice_blocks(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block))
        note_slice(block->ctaid);
}

static void slice_thread(struct rt_thread *thread)
{
    note_slice(thread->block->ctaid);
}

/* Products that are split rely on it: the first slice sets results to 0, and all slices add to
 * them. */
Test(ranges, the_rest_of_a_split_grid_waits_for_its_first_slice)
{
    for (unsigned round = 0; round < 400; round++) {
        sch_set_chaos(round % 4);
        atomic_store(&slice_ended, 0);
        atomic_store(&too_early, 0);
        struct run run = {.grid = {4, 3, round % 8 + 1}, .is_split = true};
        if (round % 2)
            run.entry = slice_thread;
        else
            run.fused = slice_blocks;
        cr_assert_eq(run_grid(run).status, PXR_OK);
        cr_assert_eq(atomic_load(&slice_ended), SLICE);
        cr_assert_eq(atomic_load(&too_early), 0);
    }
}

Test(ranges, a_split_grid_that_fails_in_its_first_slice_ends)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        sch_set_chaos(seed);
        struct sch_fault fault =
            run_grid((struct run){.fused = fail_in_the_middle, .grid = {700, 5}, .is_split = true});
        cr_assert_eq(fault.status, PXR_FAULT_TRAP);
    }
}

/* ---- turns of grids ---- */

#define GRIDS 3

static atomic_uint done[GRIDS];

/* About 100 us each. */
static void slow_blocks(struct rt_block *block, uint32_t count)
{
    atomic_uint *ended = data(block->threads);
    for (; count > 0; count--, advance(block)) {
        uint64_t end_ns = sch_now_ns() + 100000;
        while (sch_now_ns() < end_ns) {
        }
        atomic_fetch_add(ended, 1);
    }
}

#define LARGE 5000

/* Whichever of the large ones the only worker is busy with. */
Test(ranges, a_small_grid_gets_its_turn_beside_large_ones)
{
    cr_assert_eq(sch_start(1, NULL), PXR_OK);
    static const uint32_t sizes[GRIDS] = {LARGE, LARGE, 10};
    struct sch_op *ops[GRIDS];
    struct run runs[GRIDS]; /* read until the grids have ended */
    for (int i = 0; i < GRIDS; i++) {
        struct run run = {
            .fused = slow_blocks, .grid = {sizes[i]}, .block = {32}, .data = &done[i]};
        runs[i] = run;
        struct sch_grid grid = make_grid(&runs[i]);
        ops[i] = sch_op_grid(&grid, NULL, NULL);
        sch_op_submit(ops[i]);
        while (i == 0 && atomic_load(&done[0]) < 10)
            sched_yield();
    }
    sch_op_wait(ops[2]);
    cr_assert_lt(atomic_load(&done[0]), LARGE / 2);
    cr_assert_lt(atomic_load(&done[1]), LARGE / 2);
    for (int i = 0; i < GRIDS; i++) {
        sch_op_wait(ops[i]);
        cr_assert_eq(atomic_load(&done[i]), sizes[i]);
        sch_op_release(ops[i]);
    }
}

/* ---- neighbours ---- */

Test(ranges, a_cpu_is_near_itself_and_far_from_none)
{
    int cpu = sched_getcpu();
    cr_assert_leq(sch_cpu_distance(cpu, cpu), SCH_SAME_NODE);
    cr_assert_eq(sch_cpu_distance(cpu, -1), SCH_FAR);
    cr_assert_eq(sch_cpu_distance(CPU_SETSIZE, CPU_SETSIZE), SCH_FAR);
}
