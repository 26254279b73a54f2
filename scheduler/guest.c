/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs small grids on the thread that launches them: handing one to a worker and waiting for it
 * costs more than the grid. Grids that take longer than expected go on with the workers.
 *
 * A guest is to its blocks what a worker is, without a loop and a thread of its own.
 */
#include <sched.h>

#include "scheduler/block.h"
#include "scheduler/float_mode.h"
#include "util/protection_key.h"

#if !defined(__x86_64__)
#include <fenv.h>
#endif

#define GUESTS 8

/* A worker that is awake takes about so long to help: for less, none is asked. */
#define ALONE_MAX_NS 4000

/* A launch may keep its thread for so long. */
#define TAKEN_MAX_NS 50000

/* Chunks of grids that others help with are so short that this thread can leave in time. */
#define CHUNK_MAX_NS 10000

/* Nobody knows how much stack the application's signal handlers want, and a stack that kernels
 * could overflow would need a stack for signals that the application's threads lack. */
#define GUEST_STACK_CLASS  2 /* SCH_STACK_BYTES_MIN << 2: 256 KiB */
#define KERNEL_STACK_BYTES ((size_t)64 * 1024)

/* Threads of a block that may each want such a stack. */
#define STACKS_MAX 256

/* Reading the clock takes a tenth of a launch: of small grids only some ends are timed. */
#define TIMED_TURNS 4

/* Except when a launch takes so many times as long as the last one: then the time is noted at
 * once. */
#define UNTIMED_GROWTH 4

/* The first part of a grid is such a fraction of it, and no more blocks than that. */
#define FIRST_PART     4
#define FIRST_PART_MAX 16

static struct guest {
    struct sch_worker worker; /* while taken: the taker's */
    unsigned turn;            /* the taker's too: launches so far */
    uint64_t debt_ns;         /* the taker's too: how long nobody has been asked to help */
    atomic_flag is_taken;
} guests[GUESTS];

static struct guest *take_guest(void)
{
    for (unsigned i = 0; i < GUESTS; i++)
        if (!atomic_flag_test_and_set_explicit(&guests[i].is_taken, memory_order_acquire))
            return &guests[i];
    return NULL;
}

/* ---- floating-point state ---- */

/* Kernels want the default floating-point state, whatever the application has set (-ffast-math
 * does). Writing the register costs as much as reading the clock, and is rarely needed: exception
 * flags do not count before a kernel, and mostly are the same after it. */
#if defined(__x86_64__)
typedef unsigned float_state;
#define MXCSR_FLAGS 0x3fu

static float_state set_default_float_state(void)
{
    float_state before = _mm_getcsr();
    if ((before & ~MXCSR_FLAGS) != SCH_MXCSR_DEFAULT)
        _mm_setcsr(SCH_MXCSR_DEFAULT);
    return before;
}

static void set_float_state(float_state state)
{
    if (_mm_getcsr() != state)
        _mm_setcsr(state);
}
#else
typedef fenv_t float_state;

static float_state set_default_float_state(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static void set_float_state(float_state state)
{
    fesetenv(&state);
}
#endif

/* ---- running ---- */

enum plan { PLAN_LEAVE, PLAN_ALONE, PLAN_TOGETHER };

/* Whether a worker sleeps that does not do so to leave its CPU to others. */
static bool has_free_place(void)
{
    return sch_pool_sleepers() > sch_pool_left_cpus();
}

/* The plan for a grid that is expected to take so long on one thread; *wanted: the number of
 * threads to run it, this one included. As many threads run kernels as there are workers, except
 * for grids that end before it matters. */
static enum plan make_plan(const struct sch_grid_op *grid, uint64_t total_ns, struct guest *guest,
                           uint64_t *wanted)
{
    if (total_ns <= ALONE_MAX_NS)
        return PLAN_ALONE;
    unsigned workers = sch_group_workers(grid->grid.group);
    bool has_looker = sch_pool_lookers() > 0;
    if (workers == 1 && total_ns <= TAKEN_MAX_NS)
        return has_looker || sch_pool_sleepers() > 0 ? PLAN_ALONE : PLAN_LEAVE;
    if (workers == 1 || !has_free_place())
        return PLAN_LEAVE;
    guest->debt_ns += total_ns;
    if (guest->debt_ns < SCH_WORTH_WAKING_NS && !has_looker)
        return PLAN_ALONE;
    guest->debt_ns = 0;
    *wanted = 2 + total_ns / SCH_WORTH_WAKING_NS;
    if (*wanted > workers && total_ns / workers <= TAKEN_MAX_NS)
        *wanted = workers;
    return grid->block_count > 1 ? PLAN_TOGETHER : PLAN_LEAVE;
}

/* The expected time of the grid on one thread, from the last launch; 0: not known, or a guest
 * cannot run it. */
static uint64_t expected_ns(const struct sch_grid_op *grid)
{
    const struct sch_fit *fit = &grid->fits[0];
    if (!fit->is_free || fit->code.stack_bytes > KERNEL_STACK_BYTES ||
        grid->block_count > UINT32_MAX || (!fit->has_chunks && grid->thread_count > STACKS_MAX))
        return 0;
    uint64_t block_ns = sch_pace(&fit->code);
    return block_ns <= CHUNK_MAX_NS ? grid->block_count * block_ns : 0;
}

/* A grid on the calling thread. Nobody else knows it until it is shared with the pool. */
struct visit {
    struct sch_worker *worker;
    struct sch_grid_op *grid;
    struct sch_block *block; /* of its present chunk; NULL before the first */
    uint64_t now_ns;
    uint64_t done; /* blocks that have been run, with or without a fault */
    bool is_shared;
    bool has_failed;
    bool is_untimed; /* its end need not be timed */
    bool is_private; /* no other thread has its operation */
};

static void share(struct visit *visit, uint64_t wanted)
{
    if (visit->is_shared)
        return;
    visit->is_shared = true;
    sch_op_retain(&visit->grid->op);
    sch_pool_share(visit->grid, wanted);
}

/* Notes how long a chunk took that has ended well, if that matters. */
static void note_end(struct visit *visit, uint32_t count)
{
    visit->done += count;
    if (visit->is_untimed && visit->done == visit->grid->block_count)
        return;
    uint64_t start_ns = visit->now_ns;
    visit->now_ns = sch_now_ns();
    uint64_t took_ns = visit->now_ns - start_ns;
    if (!visit->is_untimed ||
        took_ns > UNTIMED_GROWTH * count * (uint64_t)sch_pace(&visit->grid->fits[0].code)) {
        sch_grid_note_chunk(visit->grid, NULL, &visit->grid->fits[0], count, took_ns);
        sch_grid_learn(visit->grid, &visit->grid->fits[0], count, took_ns);
    }
}

static void note_failure(struct visit *visit, uint64_t count)
{
    visit->done += count;
    visit->has_failed = true;
}

/* Runs the block's chunk, and those that go_on adds, to their end. */
static void run_chunk(struct visit *visit, struct sch_block *block)
{
    enum sch_block_state state;
    /* When only polling threads are left, other blocks may have to do something first. */
    while ((state = sch_block_run(block)) == SCH_BLOCK_WAITING) {
        share(visit, visit->grid->block_count);
        sched_yield();
    }
    if (state == SCH_BLOCK_FAILED)
        note_failure(visit, block->chunk);
    else if (!block->go_on)
        note_end(visit, block->chunk);
}

static void leave_block(struct visit *visit)
{
    if (visit->block)
        sch_block_release(visit->block);
    visit->block = NULL;
}

/* Runs so many blocks, beginning with `first`, that nobody else has, as one chunk. go_on: see
 * sch_block. */
static void begin_chunk(struct visit *visit, uint64_t first, uint64_t count,
                        uint32_t (*go_on)(void *arg))
{
    struct sch_grid_op *grid = visit->grid;
    const struct sch_fit *fit = &grid->fits[0];
    if (visit->block && fit->has_chunks) {
        sch_fused_renew(visit->block, first, (uint32_t)count);
    } else {
        leave_block(visit);
        visit->block = sch_block_acquire(visit->worker, grid, fit, first, (uint32_t)count);
    }
    if (visit->block) {
        visit->block->go_on = go_on;
        visit->block->go_on_arg = visit;
        run_chunk(visit, visit->block);
        return;
    }
    note_failure(visit, count);
    sch_grid_fail(grid,
                  &(struct sch_fault){.status = PXR_OUT_OF_MEMORY, .launch = &grid->grid.launch});
}

/* Runs claimed blocks, each for itself if they cannot be a chunk. */
static void run_claimed(struct visit *visit, uint64_t first, uint64_t count)
{
    if (visit->grid->fits[0].has_chunks) {
        begin_chunk(visit, first, count, NULL);
        return;
    }
    for (uint64_t end = first + count; first < end; first++) {
        begin_chunk(visit, first, 1, NULL);
        if (visit->has_failed) {
            note_failure(visit, end - first - 1);
            return;
        }
    }
}

/* Called when a chunk of run_alone's has ended. */
static uint32_t go_on_alone(void *arg)
{
    struct visit *visit = arg;
    struct sch_grid_op *grid = visit->grid;
    uint64_t start_ns = visit->now_ns;
    note_end(visit, visit->block->chunk);
    uint64_t left = grid->block_count - visit->done;
    if (left == 0 || visit->is_shared || (visit->now_ns - start_ns) * FIRST_PART > 2 * TAKEN_MAX_NS)
        return 0;
    atomic_store_explicit(&grid->cursor, grid->block_count, memory_order_relaxed);
    return (uint32_t)left;
}

/* Runs the grid block by block, where each has stacks of its own, and leaves it when it takes too
 * long. */
static void run_one_by_one(struct visit *visit)
{
    struct sch_grid_op *grid = visit->grid;
    uint64_t end_ns = visit->now_ns + 2 * TAKEN_MAX_NS;
    while (visit->done < grid->block_count && !visit->has_failed && !visit->is_shared &&
           visit->now_ns < end_ns) {
        atomic_store_explicit(&grid->cursor, visit->done + 1, memory_order_relaxed);
        begin_chunk(visit, visit->done, 1, NULL);
    }
}

/* Runs the grid, and leaves it when it takes too long: a first part shows whether the last launch's
 * time still holds. */
static void run_alone(struct visit *visit)
{
    struct sch_grid_op *grid = visit->grid;
    if (!grid->fits[0].has_chunks) {
        run_one_by_one(visit);
        return;
    }
    uint64_t count = (grid->block_count + FIRST_PART - 1) / FIRST_PART;
    count = count < FIRST_PART_MAX ? count : FIRST_PART_MAX;
    atomic_store_explicit(&grid->cursor, count, memory_order_relaxed);
    begin_chunk(visit, 0, count, go_on_alone);
}

/* Runs chunks while others do, until none are left or a worker can take this thread's place. */
static void run_together(struct visit *visit, uint64_t wanted)
{
    struct sch_grid_op *grid = visit->grid;
    unsigned workers = sch_group_workers(grid->grid.group);
    uint64_t end_ns = visit->now_ns + 2 * TAKEN_MAX_NS;
    share(visit, wanted - 1);
    while (!visit->has_failed) {
        uint64_t first;
        uint64_t count = sch_grid_claim_as_guest(grid, CHUNK_MAX_NS, &first);
        if (count == 0)
            return;
        run_claimed(visit, first, count);
        if (visit->now_ns > end_ns || !has_free_place())
            break;
    }
    sch_pool_call(workers);
}

static void finish(struct visit *visit)
{
    struct sch_grid_op *grid = visit->grid;
    bool is_over = visit->done == grid->block_count && !visit->is_shared && !visit->has_failed;
    if (is_over && sch_grid_is_alone(grid)) {
        if (visit->is_private)
            sch_op_finish_private(&grid->op, visit->now_ns);
        else
            sch_op_finish_at(&grid->op, NULL, visit->now_ns);
        return;
    }
    if (!visit->has_failed && !is_over)
        share(visit, grid->block_count);
    else if (!visit->is_shared)
        sch_op_retain(&grid->op);
    /* Others may have run all of it, and finished it. */
    if (visit->done > 0)
        sch_grid_retire(grid, visit->done);
}

static void run(struct visit *visit, enum plan plan, uint64_t wanted)
{
    struct sch_worker *worker = visit->worker;
    float_state before = set_default_float_state();
    sch_this_worker = worker;
    pxr_key_hold(true);
    if (plan == PLAN_ALONE)
        run_alone(visit);
    else
        run_together(visit, wanted);
    leave_block(visit);
    pxr_key_hold(false);
    sch_this_worker = NULL;
    set_float_state(before);
}

bool sch_guest_run(struct sch_grid_op *grid, enum sch_guest_size size)
{
    uint64_t total_ns = expected_ns(grid);
    if (total_ns == 0 || grid->grid.limit_ns > 0 || sch_on_pool_thread() || sch_chaos_seed() != 0 ||
        (size == SCH_GUEST_TINY && total_ns > ALONE_MAX_NS))
        return false;
    struct guest *guest = take_guest();
    if (!guest)
        return false;
    uint64_t wanted = 0;
    enum plan plan = make_plan(grid, total_ns, guest, &wanted);
    struct visit visit = {
        .worker = &guest->worker, .grid = grid, .is_private = size == SCH_GUEST_TINY};
    struct sch_fit *fit = &grid->fits[0];
    if (plan != PLAN_LEAVE) {
        bool is_watched = sch_grid_is_watched(grid, fit);
        sch_context_init_thread(&guest->worker.scheduler);
        visit.now_ns = sch_fault_enter_guest(sch_now_ns());
        visit.is_untimed =
            total_ns <= ALONE_MAX_NS && !is_watched && guest->turn++ % TIMED_TURNS != 0;
        if (fit->stack_class < GUEST_STACK_CLASS)
            fit->stack_class = GUEST_STACK_CLASS;
        uint64_t start_ns = visit.now_ns;
        run(&visit, plan, wanted);
        sch_fault_leave_guest();
        /* Without blocks of its own to retire the grid may have ended. */
        if (visit.done > 0 && grid->grid.watch && !visit.is_untimed && !visit.has_failed)
            sch_grid_tell(grid, fit, visit.done, visit.now_ns - start_ns, 0);
    }
    atomic_flag_clear_explicit(&guest->is_taken, memory_order_release);
    if (plan != PLAN_LEAVE)
        finish(&visit);
    return plan != PLAN_LEAVE;
}
