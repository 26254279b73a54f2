/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of a block as fibers: locks between lanes, waiting blocks, deadlocks, stacks.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support.h"
#include "tests/support/emulated.h"

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

struct locked {
    atomic_uint lock;
    uint32_t count; /* plain: the lock keeps it */
};

static void spin_lock(struct rt_thread *thread)
{
    struct locked *locked = data(thread);
    for (int i = 0; i < 3; i++) {
        unsigned expected = 0;
        while (!atomic_compare_exchange_strong(&locked->lock, &expected, 1)) {
            expected = 0;
            poll(thread);
        }
        uint32_t count = locked->count;
        for (int k = 0; k < 3; k++)
            rt_nanosleep(thread, 1); /* while it holds the lock */
        locked->count = count + 1;
        atomic_store(&locked->lock, 0);
    }
}

Test(precise, lanes_and_blocks_may_take_the_same_lock)
{
    static struct locked locked;
    RUN_OK({.entry = spin_lock, .grid = {6}, .block = {34}, .data = &locked});
    cr_assert_eq(locked.count, 5 * 3 * 6 * 34);
}

/* Each block waits for the one before, as a decoupled look-back scan does. */
static void look_back(struct rt_thread *thread)
{
    atomic_uint *ready = data(thread);
    uint32_t index = thread->block->ctaid[0];
    if (tid(thread) == 0) {
        while (index > 0 && atomic_load(&ready[index - 1]) == 0)
            poll(thread);
    }
    rt_bar_sync(thread, 0, 0);
    if (tid(thread) == 0)
        atomic_store(&ready[index], index > 0 ? atomic_load(&ready[index - 1]) + 1 : 1);
}

Test(precise, a_block_may_wait_for_the_blocks_before_it)
{
    static atomic_uint ready[1000];
    for (unsigned seed = 0; seed < 3; seed++) {
        memset(ready, 0, sizeof ready);
        sch_set_chaos(seed);
        cr_assert_eq(
            run_grid((struct run){.entry = look_back, .grid = {1000}, .block = {64}, .data = ready})
                .status,
            PXR_OK);
        cr_assert_eq(atomic_load(&ready[999]), 1000);
    }
}

struct grid_barrier {
    atomic_uint arrived;
    atomic_uint values[256];
};

static void grid_sync(struct rt_thread *thread, uint32_t phase)
{
    struct grid_barrier *barrier = data(thread);
    uint32_t blocks = thread->block->launch->grid[0];
    rt_bar_sync(thread, 0, 0);
    if (tid(thread) == 0) {
        atomic_fetch_add(&barrier->arrived, 1);
        while (atomic_load(&barrier->arrived) < blocks * phase)
            poll(thread);
    }
    rt_bar_sync(thread, 0, 0);
}

static void cooperative(struct rt_thread *thread)
{
    struct grid_barrier *barrier = data(thread);
    uint32_t index = thread->block->ctaid[0];
    uint32_t blocks = thread->block->launch->grid[0];
    for (uint32_t phase = 1; phase <= 10; phase++) {
        if (tid(thread) == 0)
            atomic_store(&barrier->values[index], phase);
        grid_sync(thread, 2 * phase - 1);
        CHECK(&bad, atomic_load(&barrier->values[blocks - 1 - index]) == phase);
        grid_sync(thread, 2 * phase);
    }
}

Test(precise, all_blocks_of_a_cooperative_grid_wait_for_each_other)
{
    static struct grid_barrier barrier;
    for (unsigned seed = 0; seed < 3; seed++) {
        memset(&barrier, 0, sizeof barrier);
        sch_set_chaos(seed);
        cr_assert_eq(run_grid((struct run){.entry = cooperative,
                                           .grid = {200},
                                           .block = {33},
                                           .is_cooperative = true,
                                           .shared_bytes = 1024,
                                           .data = &barrier})
                         .status,
                     PXR_OK);
        expect_good();
    }
}

/* Waiting blocks keep their shared memory and the frames of their threads. */
static void keep_state(struct rt_thread *thread)
{
    uint32_t *shared = (uint32_t *)(void *)thread->block->shared;
    atomic_uint *released = data(thread);
    uint32_t mine = thread->block->ctaid[0] * 1000 + tid(thread);
    volatile uint32_t local[64];
    for (uint32_t i = 0; i < 64; i++)
        local[i] = mine + i;
    shared[tid(thread)] = mine;
    atomic_fetch_add(released, 1);
    while (atomic_load(released) < block_threads(thread) * thread->block->launch->grid[0])
        poll(thread);
    CHECK(&bad, shared[tid(thread)] == mine);
    for (uint32_t i = 0; i < 64; i++)
        CHECK(&bad, local[i] == mine + i);
}

Test(precise, waiting_blocks_keep_their_state)
{
    static atomic_uint released;
    for (unsigned seed = 0; seed < 3; seed++) {
        atomic_store(&released, 0);
        sch_set_chaos(seed);
        cr_assert_eq(run_grid((struct run){.entry = keep_state,
                                           .grid = {30},
                                           .block = {48},
                                           .is_cooperative = true,
                                           .shared_bytes = 192,
                                           .data = &released})
                         .status,
                     PXR_OK);
        expect_good();
    }
}

static void exit_deep(struct rt_thread *thread, uint32_t depth)
{
    volatile uint8_t frame[256];
    frame[0] = (uint8_t)depth;
    if (depth == 0) {
        atomic_fetch_add((atomic_uint *)data(thread), 1);
        rt_exit(thread);
    }
    exit_deep(thread, depth - frame[0] / depth);
}

static void exits(struct rt_thread *thread)
{
    if (tid(thread) % 3 == 1)
        rt_bar_sync(thread, 0, 0);
    exit_deep(thread, 20);
}

Test(precise, exit_leaves_from_any_depth)
{
    static atomic_uint count;
    RUN_OK({.entry = exits, .grid = {50}, .block = {65}, .data = &count});
    cr_assert_eq(atomic_load(&count), 5 * 50 * 65);
}

static void wait_for_nothing(struct rt_thread *thread)
{
    if (tid(thread) == 1)
        return;
    if (thread->block->ctaid[0] == 3)
        rt_bar_sync(thread, tid(thread) == 0 ? 1 : 2, 64);
}

Test(precise, a_block_where_every_thread_waits_is_reported)
{
    for (unsigned seed = 0; seed < 3; seed++) {
        sch_set_chaos(seed);
        struct sch_fault fault =
            run_grid((struct run){.entry = wait_for_nothing, .grid = {5}, .block = {40}});
        cr_assert_eq(fault.status, PXR_FAULT_DEADLOCK);
        cr_assert_eq(fault.ctaid[0], 3);
        cr_assert_eq(fault.tid[0], 0);
    }
    RUN_OK({.entry = wait_for_nothing, .grid = {3}, .block = {40}});
}

static void check_limits(struct rt_thread *thread)
{
    uint8_t here;
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    (void)here;
    CHECK(&bad, at > (uintptr_t)thread->stack_limit && at < (uintptr_t)thread->stack_base);
    CHECK(&bad, (uintptr_t)thread->stack_base - (uintptr_t)thread->stack_limit >= 60 * 1024);
    rt_bar_sync(thread, 0, 0);
    CHECK(&bad, at > (uintptr_t)thread->stack_limit && at < (uintptr_t)thread->stack_base);
}

Test(precise, a_thread_knows_the_limits_of_its_stack)
{
    RUN_OK({.entry = check_limits, .grid = {20}, .block = {64}});
    expect_good();
}

static void check_clocks(struct rt_thread *thread)
{
    uint64_t clock = rt_clock();
    uint64_t timer = rt_globaltimer();
    rt_nanosleep(thread, 1000);
    CHECK(&bad, rt_clock() >= clock);
    CHECK(&bad, timer > UINT64_C(1000000000) * 1000000000);
}

Test(precise, clocks_do_not_go_back)
{
    RUN_OK({.entry = check_clocks, .grid = {4}, .block = {32}});
    expect_good();
}

/* A flag set by a later thread of the same block, without barrier. */
static void wait_for_last_thread(struct rt_thread *thread)
{
    atomic_uint *flags = data(thread);
    uint32_t block = thread->block->ctaid[0];
    if (tid(thread) == block_threads(thread) - 1)
        atomic_store(&flags[block], 1);
    while (atomic_load(&flags[block]) == 0)
        poll(thread);
}

Test(precise, threads_that_poll_let_threads_start_that_they_wait_for)
{
    static atomic_uint flags[64];
    RUN_OK({.entry = wait_for_last_thread, .grid = {64}, .block = {100}, .data = flags});
}

static void wait_for_the_others(struct rt_thread *thread)
{
    rt_bar_sync(thread, 0, 0);
}

#if !defined(SCH_ASAN) && !defined(SCH_TSAN) /* which need more address space than any limit */
Test(precise, no_memory_for_stacks_ends_the_grid_only)
{
    if (is_emulated())
        cr_skip_test("an emulator sets no limit");
    RUN_OK({.entry = wait_for_the_others, .grid = {10}, .block = {32}});
    struct rlimit limit = {.rlim_cur = (rlim_t)8 << 30, .rlim_max = RLIM_INFINITY};
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    struct sch_fault fault = run_grid((struct run){
        .entry = wait_for_the_others, .grid = {10}, .block = {512}, .stack_bytes = 64u << 20});
    cr_assert_eq(fault.status, PXR_OUT_OF_MEMORY);
    cr_assert_not_null(fault.launch);
    RUN_OK({.entry = wait_for_the_others, .grid = {10}, .block = {32}});
    fault = run_grid(
        (struct run){.entry = wait_for_the_others, .grid = {10}, .shared_bytes = UINT32_MAX});
    cr_assert(fault.status == PXR_OUT_OF_MEMORY || fault.status == PXR_OK);
}
#endif

static void touch_stack(struct rt_thread *thread)
{
    volatile uint8_t frame[100000];
    memset((void *)frame, 1, sizeof frame);
    rt_bar_sync(thread, 0, 0);
    CHECK(&bad, frame[tid(thread)] == 1);
}

/* Pages of the mapping that contains the stacks are given back; they are simply fresh again. */
Test(precise, stacks_work_again_after_the_pool_was_idle)
{
    for (int i = 0; i < 3; i++) {
        RUN_OK({.entry = touch_stack, .grid = {20}, .block = {64}, .stack_bytes = 200000});
        RUN_OK({.entry = wait_for_the_others, .grid = {20}, .block = {1024}});
        usleep(200000);
    }
    expect_good();
}
