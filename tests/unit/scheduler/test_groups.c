/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of workers: which workers run a grid, and on which CPUs.
 */
#include <sched.h>
#include <unistd.h>

#include "support.h"

#define GROUPS 2

static enum pxr_status start_groups(unsigned workers)
{
    static const unsigned part[GROUPS] = {0, 1};
    return sch_start_groups(
        workers, &(struct sch_groups){.count = GROUPS, .part_count = GROUPS, .part = part}, NULL);
}

/* run is read until the grid has ended. */
static struct sch_op *submit(const struct run *run, unsigned group)
{
    struct sch_grid grid = make_grid(run);
    grid.group = group;
    struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
    cr_assert_not_null(op);
    sch_op_submit(op);
    return op;
}

static void finish(struct sch_op *op)
{
    sch_op_wait(op);
    sch_op_release(op);
}

Test(groups, workers_are_split_and_no_group_is_empty)
{
    cr_assert_eq(start_groups(1), PXR_OK);
    cr_assert_eq(sch_group_workers(0), 1);
    cr_assert_eq(sch_group_workers(1), 1);
    cr_assert_eq(sch_group_workers(2), 0);
    cr_assert_eq(sch_worker_count(), 2);
}

Test(groups, a_group_gets_its_parts_share_of_the_workers)
{
    static const unsigned part[] = {2};
    cr_assert_eq(
        sch_start_groups(8, &(struct sch_groups){.count = 1, .part_count = 3, .part = part}, NULL),
        PXR_OK);
    cr_assert_eq(sch_worker_count(), 2);
}

static void note_worker(struct rt_thread *thread)
{
    atomic_uint *seen = data(thread);
    atomic_fetch_or(seen, 1u << sch_this_worker->index);
}

Test(groups, a_grid_runs_on_workers_of_its_group_only)
{
    static atomic_uint seen[GROUPS];
    cr_assert_eq(start_groups(4), PXR_OK);
    for (unsigned group = 0; group < GROUPS; group++)
        finish(submit(&(struct run){.entry = note_worker, .grid = {4096}, .data = &seen[group]},
                      group));
    cr_assert_eq(atomic_load(&seen[0]) & atomic_load(&seen[1]), 0);
    cr_assert_neq(atomic_load(&seen[0]), 0);
    cr_assert_neq(atomic_load(&seen[1]), 0);
}

static void note_sm(struct rt_thread *thread)
{
    cr_assert_lt(thread->block->sm_id, sch_group_workers(1));
}

Test(groups, multiprocessors_are_numbered_within_the_group)
{
    cr_assert_eq(start_groups(4), PXR_OK);
    finish(submit(&(struct run){.entry = note_sm, .grid = {512}}, 1));
}

static void wait_for_flag(struct rt_thread *thread)
{
    atomic_uint *flag = data(thread);
    while (atomic_load(flag) == 0)
        poll(thread);
}

static void raise_flag(struct rt_thread *thread)
{
    atomic_store((atomic_uint *)data(thread), 1);
}

/* The first grid keeps all workers of its group busy until the second has run. */
Test(groups, grids_of_different_groups_run_at_once, .timeout = 60)
{
    static atomic_uint flag;
    cr_assert_eq(start_groups(2), PXR_OK);
    struct sch_op *waiting =
        submit(&(struct run){.entry = wait_for_flag, .grid = {64}, .data = &flag}, 0);
    struct sch_op *setting = submit(&(struct run){.entry = raise_flag, .data = &flag}, 1);
    finish(setting);
    finish(waiting);
}

static atomic_uint cpus_seen[GROUPS];

static void note_cpus(struct rt_thread *thread)
{
    cpu_set_t set;
    const unsigned *group = data(thread);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        atomic_store(&cpus_seen[*group], (unsigned)CPU_COUNT(&set));
}

Test(groups, workers_stay_on_the_cpus_of_their_part)
{
    static unsigned numbers[GROUPS] = {0, 1};
    cpu_set_t set;
    cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
    unsigned cpus = (unsigned)CPU_COUNT(&set);
    cr_assert_eq(start_groups(2), PXR_OK);
    for (unsigned group = 0; group < GROUPS; group++)
        finish(submit(&(struct run){.entry = note_cpus, .data = &numbers[group]}, group));
    unsigned first = atomic_load(&cpus_seen[0]);
    unsigned second = atomic_load(&cpus_seen[1]);
    if (cpus > 1)
        cr_assert_eq(first + second, cpus);
    cr_assert_geq(first, 1);
    cr_assert_geq(second, 1);
}

Test(groups, a_grid_for_a_group_that_does_not_exist_is_a_fault)
{
    struct sch_fault fault = {.status = PXR_OK};
    struct run run = {.entry = note_sm};
    cr_assert_eq(start_groups(2), PXR_OK);
    struct sch_grid grid = make_grid(&run);
    grid.group = 5;
    struct sch_op *op = sch_op_grid(&grid, keep_fault, &fault);
    sch_op_submit(op);
    finish(op);
    cr_assert_eq(fault.status, PXR_OUT_OF_RESOURCES);
}

/* What has run leaves the list of grids also behind one that has not. */
Test(groups, many_grids_of_one_group_run_past_a_busy_other_one)
{
    static atomic_uint flag;
    static atomic_uint seen;
    cr_assert_eq(start_groups(2), PXR_OK);
    struct run waiter = {.entry = wait_for_flag, .grid = {4096}, .data = &flag};
    struct run worker = {.entry = note_worker, .data = &seen};
    struct sch_op *waiting = submit(&waiter, 0);
    for (int i = 0; i < 2000; i++)
        finish(submit(&worker, 1));
    cr_assert(!sch_op_is_done(waiting));
    atomic_store(&flag, 1);
    finish(waiting);
}
