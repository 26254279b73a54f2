/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells watches of blocks that run for long: workers tell them of blocks that have ended only, and
 * a block may take a second. Threads that wait look now and then, and so does who has made other
 * code.
 */
#include "scheduler/worker_pool.h"

#define GRIDS_MAX 8 /* in one look; those of others come later */
#define LOOK_NS   4000000

static uint64_t running_ns(const struct sch_grid_op *grid, uint64_t now_ns)
{
    uint64_t sum_ns = 0;
    for (unsigned i = 0; i < sch_worker_count(); i++) {
        const struct sch_worker *worker = sch_pool_worker(i);
        if (atomic_load_explicit(&worker->watched, memory_order_acquire) != grid)
            continue;
        uint64_t since_ns = atomic_load_explicit(&worker->watched_since_ns, memory_order_relaxed);
        sum_ns += since_ns > 0 && now_ns > since_ns ? now_ns - since_ns : 0;
    }
    return sum_ns;
}

void sch_look_out(void)
{
    struct sch_grid_op *grids[GRIDS_MAX];
    unsigned count = sch_pool_hold_watched(grids, GRIDS_MAX);
    uint64_t now_ns = sch_now_ns();
    for (unsigned i = 0; i < count; i++) {
        uint64_t ran_ns = running_ns(grids[i], now_ns);
        if (ran_ns > 0) /* else nobody has come yet */
            sch_grid_tell(grids[i], sch_grid_fit(grids[i]), 1, 0, ran_ns);
        sch_grid_retire(grids[i], 1);
        sch_op_release(&grids[i]->op);
    }
}

void sch_look_out_now_and_then(void)
{
    static _Atomic(uint64_t) looked_ns;
    uint64_t before_ns = atomic_load_explicit(&looked_ns, memory_order_relaxed);
    uint64_t now_ns = sch_now_ns();
    if (now_ns - before_ns >= LOOK_NS &&
        atomic_compare_exchange_strong_explicit(&looked_ns, &before_ns, now_ns,
                                                memory_order_relaxed, memory_order_relaxed))
        sch_look_out();
}
