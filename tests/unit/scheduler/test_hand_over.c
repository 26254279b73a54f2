/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that hands over what it has not begun: every thread of every block runs once, in one code or
 * the other, and the other one begins inside a block.
 */
#include "kernels.h"

#define BLOCKS  40
#define THREADS 50
#define ASKER   13 /* the thread in whose time other code comes, of the block: */
#define ASKING  5

static atomic_int bad;
static atomic_uint ran[BLOCKS * THREADS];
static atomic_bool is_asked;
static bool is_random;           /* threads run in any order */
static bool is_asking;           /* the launching thread does not wait, but asks again and again */
static atomic_uint begun_inside; /* the thread that the other code began with, if not the first */

static bool is_wanted(const struct rt_block *block, enum rt_hand_over least)
{
    return __atomic_load_n(block->hand_over, __ATOMIC_RELAXED) >= (uint32_t)least;
}

/* What threads leave in shared memory is there for the others. */
static void run_thread(const struct rt_block *block, uint32_t thread)
{
    uint8_t before = thread > 0 && !is_random ? block->shared[thread - 1] : (uint8_t)thread;
    CHECK(&bad, before == (uint8_t)thread);
    block->shared[thread] = (uint8_t)(thread + 1);
    atomic_fetch_add(&ran[block->ctaid[0] * THREADS + thread], 1);
}

/* As code of the quick tier. One thread waits until other code is there. */
static void first_thread_of_many(const struct rt_block *block, uint32_t thread)
{
    run_thread(block, thread);
    if (block->ctaid[0] != ASKING || thread != ASKER)
        return;
    atomic_store(&is_asked, true);
    while (!is_wanted(block, RT_HAND_OVER_BLOCKS))
        sch_cpu_pause();
}

static void first_precise(struct rt_thread *thread)
{
    first_thread_of_many(thread->block, tid(thread));
}

static bool hands_over(struct rt_block *block, enum rt_hand_over least, uint32_t thread,
                       uint32_t left)
{
    if (!is_wanted(block, least))
        return false;
    block->first_thread = thread;
    block->blocks_left = left;
    return true;
}

static void first_fused(struct rt_block *block, uint32_t count)
{
    for (uint32_t left = count; left > 0; left--) {
        CHECK(&bad, block->first_thread == 0);
        for (uint32_t t = 0; t < THREADS; t++) {
            first_thread_of_many(block, t);
            if (hands_over(block, RT_HAND_OVER_THREADS, t + 1, left))
                return;
        }
        block->ctaid[0]++;
        if (left > 1 && hands_over(block, RT_HAND_OVER_BLOCKS, 0, left - 1))
            return;
    }
}

static void note_begin(const struct rt_block *block)
{
    if (block->ctaid[0] != ASKING || block->first_thread == 0)
        return;
    atomic_store(&begun_inside, block->first_thread);
}

static void other_precise(struct rt_thread *thread)
{
    note_begin(thread->block);
    if (tid(thread) >= thread->block->first_thread)
        run_thread(thread->block, tid(thread));
}

static void other_fused(struct rt_block *block, uint32_t count)
{
    CHECK(&bad, block->first_thread == 0 || count == 1);
    for (uint32_t left = count; left > 0; left--, block->ctaid[0]++) {
        note_begin(block);
        for (uint32_t t = block->first_thread; t < THREADS; t++)
            run_thread(block, t);
    }
}

struct launch {
    struct sch_fault fault; /* first: what keep_fault writes */
    struct sch_code other;
};

static enum sch_verdict watch(void *arg, const struct sch_progress *progress, struct sch_code *code)
{
    const struct launch *launch = arg;
    (void)progress;
    *code = launch->other;
    return atomic_load(&is_asked) ? SCH_REPLACE : SCH_GO_ON;
}

static struct sch_code make_code(bool is_other, bool is_fused, bool begins_inside)
{
    struct sch_code code = {.begins_inside = is_other && begins_inside,
                            .is_provisional = !is_other};
    if (is_fused)
        code.fused = is_other ? other_fused : first_fused;
    else
        code.entry = is_other ? other_precise : first_precise;
    return code;
}

static void run_once(bool from_fused, bool to_fused, bool begins_inside, unsigned seed)
{
    struct run run = {.grid = {BLOCKS}, .block = {THREADS}, .shared_bytes = THREADS};
    struct sch_grid grid = make_grid(&run);
    struct launch launch = {.fault.status = PXR_STATUS_COUNT,
                            .other = make_code(true, to_fused, begins_inside)};
    grid.code = make_code(false, from_fused, false);
    grid.watch = watch;
    memset(ran, 0, sizeof ran);
    atomic_store(&is_asked, false);
    atomic_store(&begun_inside, 0);
    is_random = seed != 0;
    sch_set_chaos(seed);
    struct sch_op *op = sch_op_grid(&grid, keep_fault, &launch);
    cr_assert_not_null(op);
    sch_op_submit(op);
    while (is_asking && !sch_op_is_done(op))
        sch_look_out_now_and_then();
    sch_op_wait(op);
    sch_op_release(op);
    cr_assert_eq(launch.fault.status, PXR_OK);
    cr_assert_eq(atomic_load(&bad), 0, "line %d", atomic_load(&bad));
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        cr_assert_eq(atomic_load(&ran[i]), 1, "block %u, thread %u", i / THREADS, i % THREADS);
}

/* In all combinations of forms, again and again. */
static void expect_beginnings(unsigned workers, unsigned runs, bool begins_inside)
{
    cr_assert_eq(sch_start(workers, NULL), PXR_OK);
    for (unsigned way = 0; way < runs; way++) {
        run_once(way & 1, way & 2, begins_inside, 0);
        cr_expect_eq(atomic_load(&begun_inside), begins_inside ? ASKER + 1 : 0, "way %u", way);
    }
}

Test(hand_over, other_code_begins_inside_the_block)
{
    expect_beginnings(3, 64, true);
}

Test(hand_over, code_that_cannot_begin_inside_gets_whole_blocks)
{
    expect_beginnings(3, 64, false);
}

Test(hand_over, threads_run_once_in_any_order)
{
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    for (unsigned way = 0; way < 64; way++)
        run_once(way & 1, way & 2, way & 4, 1 + way);
}

Test(hand_over, one_worker_hands_over_to_itself)
{
    expect_beginnings(1, 8, true);
}

Test(hand_over, who_asks_instead_of_waiting_looks_after_blocks_too)
{
    is_asking = true;
    cr_assert_eq(sch_start(1, NULL), PXR_OK);
    for (unsigned way = 0; way < 8; way++)
        run_once(way & 1, way & 2, true, 0);
}
