/* SPDX-License-Identifier: Apache-2.0
 *
 * Priorities of grids: who gets a worker first.
 */
#include <sched.h>

#include "support.h"

#define GRIDS 6

static atomic_bool may_go;
static char order[GRIDS + 1];
static atomic_uint started;

/* Keeps the only worker. */
static void keep_worker(void *arg)
{
    (void)arg;
    while (!atomic_load(&may_go))
        sched_yield();
}

static void note(struct rt_thread *thread)
{
    order[atomic_fetch_add(&started, 1)] = *(const char *)data(thread);
}

static struct sch_op *submit_grid(const char **name, int priority)
{
    struct sch_grid grid = make_grid(&(struct run){.entry = note});
    grid.launch.params = (const uint8_t *)name;
    grid.priority = priority;
    struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
    cr_assert_not_null(op);
    sch_op_submit(op);
    return op;
}

Test(priority, lower_numbers_come_first_and_equal_ones_in_their_order)
{
    cr_assert_eq(sch_start(1, NULL), PXR_OK);
    struct sch_op *task = sch_op_task(keep_worker, NULL, NULL);
    sch_op_submit(task);
    sch_op_release(task);
    const char *names[GRIDS] = {"d", "a", "c", "e", "b", "f"};
    const int priorities[GRIDS] = {0, -5, -2, 0, -5, 1};
    struct sch_op *ops[GRIDS];
    for (int i = 0; i < GRIDS; i++)
        ops[i] = submit_grid(&names[i], priorities[i]);
    atomic_store(&may_go, true);
    for (int i = 0; i < GRIDS; i++) {
        sch_op_wait(ops[i]);
        sch_op_release(ops[i]);
    }
    cr_assert_eq(memcmp(order, "abcdef", GRIDS), 0);
}
