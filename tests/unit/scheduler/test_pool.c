/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool: who runs what, on which threads, and what happens around fork and exit.
 */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

Test(pool, usable_cpus_is_between_one_and_those_online)
{
    unsigned cpus = sch_usable_cpus();
    cr_assert_geq(cpus, 1);
    cr_assert_leq(cpus, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
}

Test(pool, cgroup_quota_is_rounded_up_to_whole_cpus)
{
    cr_assert_eq(sch_parse_cpu_max("200000 100000\n"), 2);
    cr_assert_eq(sch_parse_cpu_max("150000 100000\n"), 2);
    cr_assert_eq(sch_parse_cpu_max("1000 100000\n"), 1);
    cr_assert_gt(sch_parse_cpu_max("max 100000\n"), 1000);
    cr_assert_gt(sch_parse_cpu_max("nonsense"), 1000);
    cr_assert_gt(sch_parse_cpu_max("9223372036854775807 1\n"), 1000);
}

Test(pool, starts_once)
{
    cr_assert_eq(sch_worker_count(), 0);
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    cr_assert_eq(sch_worker_count(), 3);
    cr_assert_eq(sch_start(7, NULL), PXR_OK);
    cr_assert_eq(sch_worker_count(), 3);
}

#define SEEN (1u << 20)

static atomic_uchar seen[SEEN];
static atomic_uint workers_seen;

static void mark_block(struct rt_thread *thread)
{
    const uint32_t *at = thread->block->ctaid;
    const uint32_t *grid = thread->block->launch->grid;
    uint32_t index = (at[2] * grid[1] + at[1]) * grid[0] + at[0];
    atomic_fetch_add(&seen[index * block_threads(thread) + tid(thread)], 1);
    atomic_fetch_or(&workers_seen, 1u << thread->block->sm_id);
}

Test(pool, every_thread_of_every_block_runs_once)
{
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1000, 1, 1}, {17, 5, 9}, {1, 1, 65}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        memset(seen, 0, sizeof seen);
        struct run run = {.entry = mark_block, .block = {5, 3, 2}};
        memcpy(run.grid, grids[g], sizeof run.grid);
        sch_set_chaos((unsigned)g);
        cr_assert_eq(run_grid(run).status, PXR_OK);
        uint32_t n = grids[g][0] * grids[g][1] * grids[g][2] * 30;
        for (uint32_t i = 0; i < SEEN; i++)
            cr_assert_eq(atomic_load_explicit(&seen[i], memory_order_relaxed), i < n);
    }
}

static void wait_for_all_workers(struct rt_thread *thread)
{
    mark_block(thread);
    while ((atomic_load(&workers_seen) & 7) != 7)
        poll(thread);
}

Test(pool, a_launch_uses_all_workers)
{
    cr_assert_eq(run_on(3, (struct run){.entry = wait_for_all_workers, .grid = {30}}).status,
                 PXR_OK);
}

static void wait_for_flag(struct rt_thread *thread)
{
    atomic_uint *flag = data(thread);
    while (atomic_load(flag) == 0)
        poll(thread);
}

static void set_flag(void *arg)
{
    atomic_store((atomic_uint *)arg, 1);
}

static void set_flag_in_kernel(struct rt_thread *thread)
{
    set_flag(data(thread));
}

/* Every worker has blocks that poll; what they wait for comes later, from other work. */
Test(pool, blocks_may_wait_for_tasks_host_functions_and_other_grids)
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    for (int round = 0; round < 9; round++) {
        static atomic_uint flag;
        atomic_store(&flag, 0);
        struct run waiter = {.entry = wait_for_flag, .grid = {300}, .block = {33}, .data = &flag};
        struct run setter = {.entry = set_flag_in_kernel, .data = &flag};
        struct sch_grid waiting_grid = make_grid(&waiter);
        struct sch_grid setting_grid = make_grid(&setter);
        struct sch_op *waiting = sch_op_grid(&waiting_grid, NULL, NULL);
        sch_op_submit(waiting);
        usleep(2000);
        cr_assert(!sch_op_is_done(waiting));
        struct sch_op *setting = round % 3 == 0   ? sch_op_task(set_flag, NULL, &flag)
                                 : round % 3 == 1 ? sch_op_host(set_flag, NULL, &flag)
                                                  : sch_op_grid(&setting_grid, NULL, NULL);
        sch_op_submit(setting);
        sch_op_wait(setting);
        sch_op_wait(waiting);
        sch_op_release(setting);
        sch_op_release(waiting);
    }
}

static atomic_int environment_is_wrong;

static void check_environment(struct rt_thread *thread)
{
    (void)thread;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    bool is_right = fegetround() == FE_TONEAREST && sigismember(&mask, SIGUSR1) == 1 &&
                    sigismember(&mask, SIGALRM) == 1 && sigismember(&mask, SIGPROF) == 1 &&
                    sigismember(&mask, SIGSEGV) == 0;
    if (!is_right)
        atomic_store(&environment_is_wrong, 1);
}

Test(pool, workers_have_default_rounding_and_block_signals)
{
    fesetround(FE_UPWARD);
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    RUN_OK({.entry = check_environment, .grid = {100}});
    cr_assert_eq(atomic_load(&environment_is_wrong), 0);
    fesetround(FE_TONEAREST);
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    cr_assert_eq(sigismember(&mask, SIGUSR1), 0);
}

static int child_status(pid_t child)
{
    int status = -1;
    for (int i = 0; i < 3000; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

Test(pool, a_forked_child_gets_errors_and_never_hangs)
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    static atomic_uint flag;
    struct run run = {.entry = wait_for_flag, .grid = {50}, .data = &flag};
    struct sch_grid grid = make_grid(&run);
    struct sch_op *waiting = sch_op_grid(&grid, NULL, NULL);
    sch_op_submit(waiting);
    pid_t child = fork();
    if (child == 0) {
        struct pxr_error err;
        bool is_right = sch_start(2, &err) == PXR_IO && !sch_op_grid(&grid, NULL, NULL) &&
                        !sch_op_task(set_flag, NULL, &flag) && !sch_op_marker(NULL, NULL);
        sch_op_wait(waiting);
        _exit(is_right ? 42 : 1);
    }
    int status = child_status(child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    set_flag(&flag);
    sch_op_wait(waiting);
    sch_op_release(waiting);
}

/* exit() in a process whose workers are in the middle of a grid. */
Test(pool, exit_while_a_grid_runs_neither_hangs_nor_crashes)
{
    pid_t child = fork();
    if (child == 0) {
        static atomic_uint flag;
        struct run run = {.entry = wait_for_flag, .grid = {50}, .data = &flag};
        struct sch_grid grid = make_grid(&run);
        struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
        sch_op_submit(op);
        usleep(20000);
        exit(43);
    }
    int status = child_status(child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 43);
}

#define LAUNCHERS 8

static void *launch_many(void *arg)
{
    atomic_uint sum = 0;
    (void)arg;
    for (int i = 0; i < 200; i++) {
        struct run run = {
            .entry = set_flag_in_kernel, .grid = {(uint32_t)i + 1}, .block = {3}, .data = &sum};
        struct sch_grid grid = make_grid(&run);
        struct sch_fault fault = {.status = PXR_STATUS_COUNT};
        struct sch_op *op = sch_op_grid(&grid, keep_fault, &fault);
        sch_op_submit(op);
        sch_op_wait(op);
        cr_assert_eq(fault.status, PXR_OK);
        sch_op_release(op);
    }
    return NULL;
}

Test(pool, eight_threads_may_launch_at_the_same_time)
{
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
    pthread_t threads[LAUNCHERS];
    for (int i = 0; i < LAUNCHERS; i++)
        pthread_create(&threads[i], NULL, launch_many, NULL);
    for (int i = 0; i < LAUNCHERS; i++)
        pthread_join(threads[i], NULL);
}
