/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs small grids on the thread that launches them: handing one to a worker and waiting for it
 * costs more than the grid. What has taken longer than expected goes on with the workers.
 *
 * A guest is what a worker is to its blocks, without a loop and a thread of its own.
 */
#include <sched.h>

#include "scheduler/block.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#define GUESTS 8

/* About what a launch through the pool takes until somebody who waits knows that it has ended. */
#define EXPECTED_MAX_NS 3000
#define TAKEN_MAX_NS    10000

/* Nobody knows what stack the application's signal handlers want; and one that kernels could
 * overflow would need a stack for signals that the application's threads lack. */
#define GUEST_STACK_BYTES  ((size_t)256 * 1024)
#define KERNEL_STACK_BYTES ((size_t)64 * 1024)

static struct guest {
    struct sch_worker worker; /* while taken: the taker's */
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

/* Kernels want the default one, whatever the application has set (-ffast-math does). */
#if defined(__x86_64__)
typedef unsigned float_state;
#define MXCSR_DEFAULT 0x1f80u

static float_state set_default_float_state(void)
{
    float_state before = _mm_getcsr();
    _mm_setcsr(MXCSR_DEFAULT);
    return before;
}

static void set_float_state(float_state state)
{
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

static bool is_small(const struct sch_grid_op *grid)
{
    const struct sch_grid *kernel = &grid->grid;
    if (!grid->has_chunks || !kernel->pace || kernel->stack_bytes > KERNEL_STACK_BYTES)
        return false;
    uint64_t block_ns = atomic_load_explicit(kernel->pace, memory_order_relaxed);
    return block_ns > 0 && grid->block_count <= EXPECTED_MAX_NS / block_ns;
}

/* Runs a chunk to its end; says how many blocks it had, 0 when none are left. */
static uint64_t run_chunk(struct sch_worker *worker, struct sch_grid_op *grid, bool *is_shared)
{
    uint64_t first;
    uint64_t count = sch_grid_claim(grid, 1, &first);
    if (count == 0)
        return 0;
    struct sch_block *block = sch_block_acquire(worker, grid, first, (uint32_t)count);
    if (!block) {
        sch_grid_fail(
            grid, &(struct sch_fault){.status = PXR_OUT_OF_MEMORY, .launch = &grid->grid.launch});
        return count;
    }
    /* When only threads that poll are left, it may be for what other blocks have to do first. */
    while (sch_fused_run(block) == SCH_BLOCK_WAITING) {
        if (!*is_shared)
            sch_pool_enqueue(&grid->op);
        *is_shared = true;
        sched_yield();
    }
    sch_block_release(block);
    return count;
}

/* Runs what there is time for, and leaves the rest to the pool; says how many blocks it ran. */
static uint64_t run_blocks(struct sch_worker *worker, struct sch_grid_op *grid)
{
    uint64_t end_ns = sch_now_ns() + TAKEN_MAX_NS;
    uint64_t done = 0;
    uint64_t count;
    bool is_shared = false;
    do {
        count = run_chunk(worker, grid, &is_shared);
        done += count;
    } while (count > 0 && sch_now_ns() < end_ns);
    if (done < grid->block_count && !is_shared)
        sch_pool_enqueue(&grid->op);
    return done;
}

bool sch_guest_run(struct sch_grid_op *grid)
{
    if (sch_on_pool_thread() || sch_chaos_seed() != 0 || !is_small(grid))
        return false;
    struct guest *guest = take_guest();
    if (!guest)
        return false;
    sch_fault_handler_check();
    uint32_t stack_class = sch_stack_class(GUEST_STACK_BYTES);
    if (grid->stack_class < stack_class)
        grid->stack_class = stack_class;
    struct sch_worker *worker = &guest->worker;
    sch_context_init_thread(&worker->scheduler);
    float_state before = set_default_float_state();
    sch_this_worker = worker;
    uint64_t done = run_blocks(worker, grid);
    sch_this_worker = NULL;
    set_float_state(before);
    atomic_flag_clear_explicit(&guest->is_taken, memory_order_release);
    sch_grid_retire(grid, done);
    return true;
}
