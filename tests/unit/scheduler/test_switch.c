/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids that get other code while they run: every block runs once, in one code or the other, and
 * those that wait for each other may be of both kinds.
 */
#include <unistd.h>

#include "kernels.h"

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

/* ---- two codes of one kernel, in each form ---- */

static atomic_uint ran[2]; /* blocks, by code */

static void note_thread(const struct rt_thread *thread, unsigned code)
{
    if (tid(thread) == 0)
        atomic_fetch_add(&ran[code], 1);
}

static void first_precise(struct rt_thread *thread)
{
    note_thread(thread, 0);
    run_precise(thread);
}

static void better_precise(struct rt_thread *thread)
{
    note_thread(thread, 1);
    run_precise(thread);
}

static void first_fused(struct rt_block *block, uint32_t count)
{
    atomic_fetch_add(&ran[0], count);
    run_fused(block, count);
}

/* Writes all of a frame that the first code does not have. */
#define LARGE_FRAME_BYTES (FRAME_BYTES + 100000)

static void better_fused(struct rt_block *block, uint32_t count)
{
    atomic_fetch_add(&ran[1], count);
    memset(block->frame, 0xa5, LARGE_FRAME_BYTES);
    run_fused(block, count);
}

static struct sch_code make_code(bool is_better, bool is_fused, bool may_wait)
{
    if (!is_fused)
        return (struct sch_code){.entry = is_better ? better_precise : first_precise,
                                 .stack_bytes = is_better ? 200000 : 0,
                                 .is_provisional = !is_better};
    return (struct sch_code){.fused = is_better ? better_fused : first_fused,
                             .stack_bytes = is_better ? 300000 : 0,
                             .frame_bytes = is_better ? LARGE_FRAME_BYTES : FRAME_BYTES,
                             .may_wait = may_wait,
                             .is_provisional = !is_better};
}

/* ---- one launch ---- */

struct launch {
    struct sch_fault fault; /* first: what keep_fault writes */
    struct sch_code better;
    unsigned after; /* chunks of which it is told before there is better code */
    atomic_uint told;
    atomic_bool is_over;
    uint64_t blocks;
};

static enum sch_verdict watch(void *arg, const struct sch_progress *progress, struct sch_code *code)
{
    struct launch *launch = arg;
    CHECK(&bad, !atomic_load(&launch->is_over));
    CHECK(&bad, progress->blocks_done + progress->blocks_left == launch->blocks);
    CHECK(&bad, !progress->code->is_provisional || progress->grid_ns >= progress->ran_ns);
    *code = launch->better;
    return atomic_fetch_add(&launch->told, 1) >= launch->after ? SCH_REPLACE : SCH_GO_ON;
}

static void finish(void *arg, const struct sch_fault *fault)
{
    struct launch *launch = arg;
    atomic_store(&launch->is_over, true);
    keep_fault(arg, fault);
}

static void wait_for_launch_with(struct sch_grid *grid, struct launch *launch,
                                 sch_watch_fn watching)
{
    const uint32_t *dims = grid->launch.grid;
    launch->blocks = (uint64_t)dims[0] * dims[1] * dims[2];
    launch->fault.status = PXR_STATUS_COUNT;
    grid->watch = watching;
    struct sch_op *op = sch_op_grid(grid, finish, launch);
    cr_assert_not_null(op);
    if (!sch_op_try(op))
        sch_op_submit(op);
    sch_op_wait(op);
    sch_op_release(op);
    cr_assert_eq(launch->fault.status, PXR_OK, "%s", pxr_status_name(launch->fault.status));
}

static void wait_for_launch(struct sch_grid *grid, struct launch *launch)
{
    wait_for_launch_with(grid, launch, watch);
}

static void run_launch(struct sch_grid *grid, struct launch *launch)
{
    atomic_store(&ran[0], 0);
    atomic_store(&ran[1], 0);
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    wait_for_launch(grid, launch);
    cr_assert_eq(atomic_load(&ran[0]) + atomic_load(&ran[1]), launch->blocks);
}

/* From each form of code to each. `before` is run before each launch. */
#define SWITCH_ALL(before, body_, data_, ...)                                                      \
    do {                                                                                           \
        for (unsigned way_ = 0; way_ < 16; way_++) {                                               \
            struct kernel kernel_ = {body_, way_ / 4, data_};                                      \
            struct run run_ = __VA_ARGS__;                                                         \
            run_.data = &kernel_;                                                                  \
            struct sch_grid grid_ = make_grid(&run_);                                              \
            grid_.code = make_code(false, way_ % 2, run_.may_wait);                                \
            struct launch launch_ = {.better = make_code(true, way_ / 2 % 2, run_.may_wait),       \
                                     .after = way_ / 4};                                           \
            sch_set_chaos(way_ / 4);                                                               \
            before;                                                                                \
            run_launch(&grid_, &launch_);                                                          \
            cr_assert_gt(atomic_load(&ran[0]), 0, "way %u", way_);                                 \
            cr_assert_gt(atomic_load(&ran[1]), 0, "way %u", way_);                                 \
            expect_good();                                                                         \
        }                                                                                          \
    } while (0)

/* ---- kernels ---- */

static uint32_t *shared(const struct rt_thread *thread)
{
    return (uint32_t *)(void *)thread->block->shared;
}

/* Values that live across barriers, in shared memory and in the frame. */
static uint32_t add_up(struct rt_thread *thread, struct values *v, uint32_t entry, enum mode mode)
{
    atomic_uint *sums = kernel_data(thread);
    uint32_t n = block_threads(thread);
    uint32_t me = tid(thread);
    BEGIN
    v->mine = hash(thread->block->ctaid[0], me, 1);
    shared(thread)[me] = v->mine;
    for (v->i = 1; v->i < n; v->i *= 2) {
        BARRIER(1);
        v->mine += shared(thread)[(me + v->i) % n];
        BARRIER(2);
        shared(thread)[me] = v->mine;
    }
    if (me == 0)
        atomic_fetch_add(&sums[thread->block->ctaid[0]], v->mine);
    END;
}

/* Sanitizers, to which one is like the next, make each slow. */
#if defined(SCH_TSAN) || defined(SCH_ASAN)
#define BLOCKS         300
#define MEETING_BLOCKS 25
#else
#define BLOCKS         3000
#define MEETING_BLOCKS 100
#endif
#define THREADS 64

Test(scheduler_switch, blocks_run_once_and_right)
{
    static atomic_uint sums[BLOCKS];
    SWITCH_ALL(memset(sums, 0, sizeof sums), add_up, sums,
               {.grid = {BLOCKS}, .block = {THREADS}, .shared_bytes = 4 * THREADS});
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t sum = 0;
        for (uint32_t t = 0; t < THREADS; t++)
            sum += hash(b, t, 1);
        cr_assert_eq(atomic_load(&sums[b]), sum, "block %u", b);
    }
}

/* Each block waits for the one before it. */
static uint32_t look_back(struct rt_thread *thread, struct values *v, uint32_t entry,
                          enum mode mode)
{
    atomic_uint *ready = kernel_data(thread);
    uint32_t index = thread->block->ctaid[0];
    BEGIN
    if (tid(thread) == 0 && index > 0) {
        while (atomic_load(&ready[index - 1]) == 0)
            POLL(PLAIN);
    }
    BARRIER(1);
    if (tid(thread) == 0)
        atomic_store(&ready[index], index > 0 ? atomic_load(&ready[index - 1]) + 1 : 1);
    END;
}

Test(scheduler_switch, blocks_wait_for_those_in_the_other_code)
{
    static atomic_uint ready[BLOCKS];
    SWITCH_ALL(memset(ready, 0, sizeof ready), look_back, ready,
               {.grid = {BLOCKS}, .block = {THREADS}, .may_wait = true});
    cr_assert_eq(atomic_load(&ready[BLOCKS - 1]), BLOCKS);
}

/* All threads of the grid come, in turn with a barrier of the block. */
static uint32_t meet(struct rt_thread *thread, struct values *v, uint32_t entry, enum mode mode)
{
    atomic_uint *arrived = kernel_data(thread);
    uint32_t all = thread->block->launch->grid[0] * block_threads(thread);
    BEGIN
    for (v->i = 1; v->i <= 10; v->i++) {
        atomic_fetch_add(arrived, 1);
        while (atomic_load(arrived) < all * v->i)
            POLL(PLAIN);
        BARRIER(1);
    }
    END;
}

Test(scheduler_switch, a_cooperative_grid_is_of_both)
{
    static atomic_uint arrived;
    SWITCH_ALL(atomic_store(&arrived, 0), meet, &arrived,
               {.grid = {MEETING_BLOCKS}, .block = {33}, .is_cooperative = true});
}

/* ---- workers that step aside ---- */

Test(scheduler_switch, blocks_that_wait_need_not_all_workers)
{
    static atomic_uint ready[BLOCKS];
    static atomic_uint arrived;
    SWITCH_ALL((memset(ready, 0, sizeof ready), sch_leave_cpus(1 + way_ % 4)), look_back, ready,
               {.grid = {BLOCKS / 10}, .block = {THREADS}, .may_wait = true});
    SWITCH_ALL((atomic_store(&arrived, 0), sch_leave_cpus(1 + way_ % 4)), meet, &arrived,
               {.grid = {10}, .block = {33}, .is_cooperative = true});
    sch_leave_cpus(0);
}

#define SLOW_BLOCKS 100
#define BLOCK_US    200
#define PATIENCE_US 10000000

static atomic_bool has_last_worker_run;

/* Of a grid that waits for code: the last worker must not come until the CPUs are given back, and
 * come then. */
static void slow_block(struct rt_thread *thread)
{
    uint32_t index = thread->block->ctaid[0];
    if (sch_this_worker->index + 1 == sch_worker_count()) {
        CHECK(&bad, sch_pool_left_cpus() == 0);
        atomic_store(&has_last_worker_run, true);
    }
    usleep(BLOCK_US);
    if (index == SLOW_BLOCKS / 2)
        sch_leave_cpus(0);
    for (unsigned us = 0; index > SLOW_BLOCKS / 2 && us < PATIENCE_US; us += BLOCK_US) {
        if (atomic_load(&has_last_worker_run))
            break;
        usleep(BLOCK_US);
    }
}

Test(scheduler_switch, a_worker_leaves_its_cpu_while_code_is_made)
{
    unsigned cpus = sch_usable_cpus();
    cr_assert_eq(sch_start(cpus > 2 ? cpus : 2, NULL), PXR_OK);
    struct run run = {.entry = slow_block, .grid = {SLOW_BLOCKS}};
    struct sch_grid grid = make_grid(&run);
    grid.code.is_provisional = true;
    struct launch launch = {.after = UINT32_MAX};
    sch_leave_cpus(1);
    wait_for_launch(&grid, &launch);
    expect_good();
    cr_assert(atomic_load(&has_last_worker_run));
}

/* Also when their threads have not got a CPU themselves yet. */
Test(scheduler_switch, workers_are_idle_from_the_start)
{
    unsigned cpus = sch_usable_cpus();
    cr_assert_eq(sch_start(cpus > 2 ? cpus : 2, NULL), PXR_OK);
    cr_assert_eq(sch_has_idle_cpu(), cpus > 1);
    sch_leave_cpus(cpus);
    cr_assert(!sch_has_idle_cpu());
    sch_leave_cpus(0);
    cr_assert_eq(sch_has_idle_cpu(), cpus > 1);
}

/* ---- blocks that run for long ---- */

static atomic_bool is_noticed;
static atomic_uint first_blocks;
static atomic_uint better_blocks;

/* No block ends before a thread that waits has looked. */
static void long_blocks(struct rt_block *block, uint32_t count)
{
    (void)block;
    for (unsigned us = 0; us < PATIENCE_US && !atomic_load(&is_noticed); us += BLOCK_US)
        usleep(BLOCK_US);
    CHECK(&bad, atomic_load(&is_noticed));
    atomic_fetch_add(&first_blocks, count);
}

static void short_blocks(struct rt_block *block, uint32_t count)
{
    (void)block;
    atomic_fetch_add(&better_blocks, count);
}

static enum sch_verdict notice(void *arg, const struct sch_progress *progress,
                               struct sch_code *code)
{
    struct launch *launch = arg;
    CHECK(&bad, !atomic_load(&launch->is_over));
    CHECK(&bad, progress->blocks_done + progress->blocks_left == launch->blocks);
    if (progress->running_ns > 0)
        atomic_store(&is_noticed, true);
    *code = launch->better;
    return atomic_load(&is_noticed) ? SCH_REPLACE : SCH_GO_ON;
}

Test(scheduler_switch, a_thread_that_waits_notices_long_blocks)
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    struct run run = {.fused = long_blocks, .grid = {1000}, .block = {32}};
    struct sch_grid grid = make_grid(&run);
    grid.code.is_provisional = true;
    struct launch launch = {.better = {.fused = short_blocks}};
    wait_for_launch_with(&grid, &launch, notice);
    expect_good();
    cr_assert_gt(atomic_load(&better_blocks), 0);
    cr_assert_eq(atomic_load(&first_blocks) + atomic_load(&better_blocks), 1000);
}

/* ---- codes that are compared ---- */

#define COMPARED_BLOCKS 4000

static _Atomic(uint64_t) told[2]; /* blocks, by code */
static atomic_uint late;          /* told of the first code when it had been decided */

/* Compares from the first chunk on; `after` chunks later it is decided. */
static enum sch_verdict compare(void *arg, const struct sch_progress *progress,
                                struct sch_code *code)
{
    struct launch *launch = arg;
    bool is_better = progress->code->fused == better_fused;
    CHECK(&bad, !atomic_load(&launch->is_over));
    CHECK(&bad, progress->ran_blocks > 0);
    atomic_fetch_add(&told[is_better], progress->ran_blocks);
    *code = launch->better;
    if (atomic_fetch_add(&launch->told, 1) < launch->after)
        return SCH_COMPARE;
    atomic_fetch_add(&late, !is_better);
    return SCH_REPLACE;
}

static struct launch run_compared(struct sch_code first, struct sch_code other, unsigned after)
{
    static atomic_uint sums[COMPARED_BLOCKS];
    struct kernel kernel = {add_up, 0, sums};
    struct sch_grid grid = make_grid(&(struct run){.data = &kernel,
                                                   .grid = {COMPARED_BLOCKS},
                                                   .block = {THREADS},
                                                   .shared_bytes = 4 * THREADS});
    struct launch launch = {.better = other, .after = after};
    grid.code = first;
    for (unsigned code = 0; code < 2; code++) {
        atomic_store(&ran[code], 0);
        atomic_store(&told[code], 0);
    }
    atomic_store(&late, 0);
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    wait_for_launch_with(&grid, &launch, compare);
    expect_good();
    cr_assert_eq(atomic_load(&ran[0]) + atomic_load(&ran[1]), COMPARED_BLOCKS);
    cr_assert_eq(atomic_load(&told[0]) + atomic_load(&told[1]), COMPARED_BLOCKS);
    return launch;
}

static struct sch_code make_equal(bool is_better, bool may_wait)
{
    struct sch_code code = make_code(is_better, true, may_wait);
    code.is_provisional = false;
    return code;
}

Test(scheduler_switch, chunks_run_with_codes_that_are_compared_in_turn)
{
    run_compared(make_equal(false, false), make_equal(true, false), UINT32_MAX);
    for (unsigned code = 0; code < 2; code++) {
        cr_assert_gt(atomic_load(&ran[code]), 0);
        cr_assert_eq(atomic_load(&told[code]), atomic_load(&ran[code]));
    }
}

Test(scheduler_switch, what_has_won_runs_the_rest)
{
    struct launch launch = run_compared(make_equal(false, false), make_equal(true, false), 4);
    cr_assert_gt(atomic_load(&launch.told), 4);
    /* A worker may have begun a chunk, and have another behind it in its batch. */
    cr_assert_leq(atomic_load(&late), 2 * sch_worker_count());
}

/* Nobody can tell how long a block has run that waits for others. */
Test(scheduler_switch, blocks_that_may_wait_are_not_compared)
{
    struct sch_grid grid =
        make_grid(&(struct run){.fused = short_blocks, .grid = {1000}, .block = {32}});
    struct launch launch = {.better = {.fused = long_blocks}, .after = UINT32_MAX};
    grid.code.may_wait = true;
    grid.code.is_provisional = true;
    atomic_store(&first_blocks, 0);
    atomic_store(&is_noticed, true);
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    wait_for_launch_with(&grid, &launch, compare);
    expect_good();
    cr_assert_gt(atomic_load(&launch.told), 0);
    cr_assert_eq(atomic_load(&first_blocks), 0);
}

/* ---- what is not switched ---- */

static struct launch run_plain(struct sch_code code, struct launch launch)
{
    static atomic_uint sums[100];
    struct kernel kernel = {add_up, 0, sums};
    struct sch_grid grid = make_grid(&(struct run){
        .data = &kernel, .grid = {100}, .block = {THREADS}, .shared_bytes = 4 * THREADS});
    grid.code = code;
    run_launch(&grid, &launch);
    expect_good();
    return launch;
}

Test(scheduler_switch, code_that_wants_too_much_is_not_taken)
{
    struct launch launch = {.better = make_code(true, true, false)};
    launch.better.stack_bytes = UINT32_MAX;
    run_plain(make_code(false, true, false), launch);
    cr_assert_eq(atomic_load(&ran[1]), 0);
}

Test(scheduler_switch, a_grid_on_the_launching_thread_tells_too)
{
    static _Atomic(uint32_t) pace = 10;
    struct sch_code code = make_code(false, true, false);
    code.pace = &pace;
    struct launch launch = {.better = make_code(true, true, false), .after = UINT32_MAX};
    launch = run_plain(code, launch);
    cr_assert_gt(atomic_load(&launch.told), 0);
    cr_assert_eq(atomic_load(&ran[0]), 100);
}
