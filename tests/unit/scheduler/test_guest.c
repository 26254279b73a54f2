/* SPDX-License-Identifier: Apache-2.0
 *
 * Small grids run on the thread that launches them.
 */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels.h"

#define BLOCKS 48

struct record {
    atomic_uint runs[BLOCKS];
    pthread_t thread[BLOCKS];
    volatile float third[BLOCKS]; /* 1 / 3, as rounded there */
    bool was_on_pool[BLOCKS];
    unsigned slow_block; /* takes 50 ms */
    bool is_precise;     /* each thread has a stack of its own; else they are fused */
    void *touched;       /* by block touched_by, if not NULL */
    unsigned touched_by;
    uint64_t busy_ns; /* of each block */
};

static struct record *record_of(const struct rt_block *block)
{
    return data(block->threads);
}

/* The sanitizers' own checks would see the access before the processor does. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

static UNCHECKED void touch(volatile uint32_t *pointer)
{
    *pointer = 1;
}

static volatile float one = 1;

static void record_block(const struct rt_block *block)
{
    struct record *record = record_of(block);
    unsigned index = block->ctaid[0];
    record->thread[index] = pthread_self();
    record->third[index] = one / 3;
    record->was_on_pool[index] = sch_on_pool_thread();
    atomic_fetch_add(&record->runs[index], 1);
    if (index == record->slow_block)
        usleep(50000);
    uint64_t end_ns = record->busy_ns ? sch_now_ns() + record->busy_ns : 0;
    while (end_ns && sch_now_ns() < end_ns) {
    }
    if (record->touched && index == record->touched_by)
        touch(record->touched);
}

static void record_blocks(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block))
        record_block(block);
}

/* The last thread to come to the barrier finds all others on their stacks. */
static void record_thread(struct rt_thread *thread)
{
    rt_bar_sync(thread, 0, 0);
    if (thread->tid[0] == 0)
        record_block(thread->block);
}

static struct sch_op *make_op(struct record *record, _Atomic(uint32_t) *pace,
                              struct sch_fault *fault)
{
    struct run run = {.grid = {BLOCKS}, .block = {record->is_precise ? 4 : 64}, .data = record};
    if (record->is_precise)
        run.entry = record_thread;
    else
        run.fused = record_blocks;
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    sch_set_chaos(0);
    static _Thread_local void *params;
    params = record;
    struct sch_grid grid = make_grid(&run);
    grid.launch.params = (const uint8_t *)&params;
    grid.code.pace = pace;
    *fault = (struct sch_fault){.status = PXR_STATUS_COUNT};
    struct sch_op *op = sch_op_grid(&grid, keep_fault, fault);
    cr_assert_not_null(op);
    return op;
}

/* Whether all blocks ran once. */
static bool is_complete(const struct record *record)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (atomic_load(&record->runs[i]) != 1)
            return false;
    return true;
}

static bool ran_here(const struct record *record, unsigned block)
{
    return pthread_equal(record->thread[block], pthread_self());
}

/* The machine may take the CPU away in the middle: then the rest goes to the pool, as it should. */
#define TRIES 1000

/* Under a sanitizer everything may take longer than expected, each time. */
#if defined(SCH_TSAN) || defined(SCH_ASAN)
#define IS_SLOW true
#else
#define IS_SLOW false
#endif

static void run_whole(bool is_precise)
{
    fesetround(FE_DOWNWARD);
    bool was_whole = false;
    for (int i = 0; i < TRIES && !was_whole; i++) {
        struct record record = {.slow_block = BLOCKS, .is_precise = is_precise};
        _Atomic(uint32_t) pace = 10;
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, &pace, &fault);
        sch_op_submit(op);
        cr_assert_eq(fegetround(), FE_DOWNWARD);
        cr_assert(!sch_on_pool_thread());
        was_whole = sch_op_is_done(op) && ran_here(&record, BLOCKS - 1);
        sch_op_wait(op);
        cr_assert_eq(fault.status, PXR_OK);
        cr_assert(is_complete(&record) && ran_here(&record, 0));
        for (unsigned b = 0; b < BLOCKS; b++)
            cr_assert(record.third[b] == 1.0f / 3 && record.was_on_pool[b]);
        sch_op_release(op);
    }
    cr_assert(was_whole || IS_SLOW);
}

Test(guest, a_grid_known_to_be_small_has_run_on_this_thread_when_submit_returns)
{
    run_whole(false);
}

Test(guest, so_has_one_whose_threads_have_stacks_of_their_own)
{
    run_whole(true);
}

Test(guest, what_a_kernel_computes_raises_no_flags_of_the_thread)
{
    for (int i = 0; i < 20; i++) {
        int raised = i % 2 == 0 ? 0 : FE_INEXACT;
        struct record record = {.slow_block = BLOCKS, .is_precise = i % 2 == 1};
        _Atomic(uint32_t) pace = 10;
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, &pace, &fault);
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(raised);
        sch_op_submit(op);
        cr_assert_eq(fetestexcept(FE_ALL_EXCEPT), raised);
        sch_op_wait(op);
        cr_assert(ran_here(&record, 0));
        sch_op_release(op);
    }
}

Test(guest, a_grid_not_known_to_be_small_is_run_by_workers)
{
    _Atomic(uint32_t) paces[] = {0, 1000000};
    for (int i = 0; i < 3; i++) {
        struct record record = {.slow_block = BLOCKS, .is_precise = i % 2 == 1};
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, i < 2 ? &paces[i] : NULL, &fault);
        sch_op_submit(op);
        sch_op_wait(op);
        sch_op_release(op);
        cr_assert(is_complete(&record));
        for (unsigned b = 0; b < BLOCKS; b++)
            cr_assert(!ran_here(&record, b));
        cr_assert(i == 2 || atomic_load(&paces[i]) != 1000000);
        cr_assert(i == 2 || atomic_load(&paces[i]) > 0);
    }
}

Test(guest, what_takes_longer_than_expected_goes_on_with_the_workers)
{
    for (int i = 0; i < 2; i++) {
        struct record record = {.slow_block = 0, .is_precise = i == 1};
        _Atomic(uint32_t) pace = 10;
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, &pace, &fault);
        sch_op_submit(op);
        sch_op_wait(op);
        cr_assert(is_complete(&record));
        cr_assert(ran_here(&record, 0));
        cr_assert(!ran_here(&record, BLOCKS - 1));
        sch_op_release(op);
    }
}

static void nap(void *arg)
{
    (void)arg;
    usleep(50000);
}

Test(guest, a_grid_that_has_to_wait_does_not_hold_up_the_thread_that_launches_it)
{
    struct record record = {.slow_block = BLOCKS};
    _Atomic(uint32_t) pace = 10;
    struct sch_fault fault;
    struct sch_op *op = make_op(&record, &pace, &fault);
    struct sch_op *before = sch_op_task(nap, NULL, NULL);
    cr_assert_eq(sch_op_depend(op, before), PXR_OK);
    sch_op_submit(op);
    cr_assert(!sch_op_is_done(op));
    sch_op_submit(before);
    sch_op_wait(op);
    cr_assert(is_complete(&record) && !ran_here(&record, 0));
    sch_op_release(before);
    sch_op_release(op);
}

/* Runs a grid of which one block faults. Returns whether this thread came to that block. */
static bool run_faulting(unsigned by, bool is_precise)
{
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct record record = {
        .slow_block = BLOCKS, .is_precise = is_precise, .touched = hole, .touched_by = by};
    _Atomic(uint32_t) pace = 10;
    struct sch_fault fault;
    struct sch_op *op = make_op(&record, &pace, &fault);
    sch_op_submit(op);
    bool was_done = sch_op_is_done(op);
    sch_op_wait(op);
    bool is_here = ran_here(&record, by);
    cr_assert(was_done || !is_here);
    cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
    cr_assert_eq(fault.address, (uintptr_t)hole);
    cr_assert_eq(fault.ctaid[0], by);
    for (unsigned b = 0; is_here && b < BLOCKS; b++)
        cr_assert_eq(atomic_load(&record.runs[b]), b <= by);
    sch_op_release(op);
    munmap(hole, 4096);
    return is_here;
}

Test(guest, a_fault_ends_the_grid_and_not_the_thread)
{
    for (int i = 0; i < 10; i++)
        cr_assert(run_faulting(1, false));
}

/* One at a time they may take so long that the second goes to a worker. */
Test(guest, so_it_does_if_blocks_are_begun_one_by_one)
{
    bool was_here = false;
    for (int i = 0; i < TRIES && !was_here; i++)
        was_here = run_faulting(1, true);
    cr_assert(was_here || IS_SLOW);
}

/* A first part that takes too long leaves the rest to workers. */
Test(guest, so_does_a_fault_behind_the_first_part)
{
    bool was_here[2] = {false, false};
    for (int i = 0; i < 2 * TRIES && !(was_here[0] && was_here[1]); i++)
        was_here[i % 2] |= run_faulting(BLOCKS - 2, i % 2 == 1);
    cr_assert((was_here[0] && was_here[1]) || IS_SLOW);
}

#define BUSY_NS 1000

Test(guest, a_grid_of_medium_size_is_run_by_this_thread_and_workers)
{
    bool was_shared[2] = {false, false};
    for (int i = 0; i < TRIES || (i < 2 * TRIES && !(was_shared[0] && was_shared[1])); i++) {
        struct record record = {.slow_block = BLOCKS, .is_precise = i % 2 == 1, .busy_ns = BUSY_NS};
        _Atomic(uint32_t) pace = BUSY_NS;
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, &pace, &fault);
        sch_op_submit(op);
        cr_assert(!sch_on_pool_thread());
        sch_op_wait(op);
        cr_assert_eq(fault.status, PXR_OK);
        cr_assert(is_complete(&record));
        unsigned here = 0;
        for (unsigned b = 0; b < BLOCKS; b++)
            here += ran_here(&record, b);
        was_shared[i % 2] |= here > 0 && here < BLOCKS;
        sch_op_release(op);
    }
    cr_assert((was_shared[0] && was_shared[1]) || sch_usable_cpus() < 2);
}

/* NULL when all went well. */
static void *fault_with_blocked_signals(void *arg)
{
    sigset_t all;
    sigset_t after;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    struct record record = {.slow_block = BLOCKS, .touched = arg, .touched_by = 1};
    _Atomic(uint32_t) pace = 10;
    struct sch_fault fault;
    struct sch_op *op = make_op(&record, &pace, &fault);
    sch_op_submit(op);
    bool is_right = ran_here(&record, 1) && fault.status == PXR_FAULT_ADDRESS &&
                    fault.address == (uintptr_t)arg;
    sch_op_release(op);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    is_right = is_right && sigismember(&after, SIGSEGV) == 1 && sigismember(&after, SIGBUS) == 1;
    return is_right ? NULL : arg;
}

Test(guest, a_fault_is_told_although_the_thread_has_blocked_its_signal)
{
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    void *failed;
    cr_assert_eq(pthread_create(&thread, NULL, fault_with_blocked_signals, hole), 0);
    pthread_join(thread, &failed);
    cr_assert_null(failed);
}

/* NULL when all went well. */
static void *launch_many(void *arg)
{
    for (int i = 0; i < 300; i++) {
        struct record record = {.slow_block = BLOCKS, .is_precise = i % 2 == 1};
        _Atomic(uint32_t) pace = 10;
        struct sch_fault fault;
        struct sch_op *op = make_op(&record, &pace, &fault);
        sch_op_submit(op);
        sch_op_wait(op);
        sch_op_release(op);
        if (!is_complete(&record))
            return arg;
    }
    return NULL;
}

Test(guest, more_threads_than_there_can_be_guests_all_get_their_grids_run)
{
    pthread_t threads[12];
    for (int i = 0; i < 12; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_many, threads), 0);
    for (int i = 0; i < 12; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        cr_assert_null(failed);
    }
}
