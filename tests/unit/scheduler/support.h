/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs C functions as kernels, for the tests of the scheduler.
 */
#ifndef PTXRUN_TESTS_SCHEDULER_SUPPORT_H
#define PTXRUN_TESTS_SCHEDULER_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "scheduler/worker_pool.h"

#include <criterion/criterion.h>

struct run {
    void (*entry)(struct rt_thread *);
    rt_fused_fn fused;
    uint32_t grid[3];    /* a 0 stands for 1 */
    uint32_t block[3];   /* a 0 stands for 1 */
    uint32_t cluster[3]; /* a 0 stands for 1 */
    uint32_t shared_bytes;
    uint32_t stack_bytes;
    bool is_cooperative;
    bool is_split;
    uint32_t local_bytes;
    uint64_t frame_bytes;
    bool may_wait;
    bool flushes;
    void *data; /* what data(thread) returns */
};

static inline void *data(const struct rt_thread *thread)
{
    void *pointer;
    memcpy(&pointer, thread->block->launch->params, sizeof pointer);
    return pointer;
}

/* Index of the thread in its block. */
static inline uint32_t tid(const struct rt_thread *thread)
{
    return thread->warp * RT_WARP_SIZE + thread->lane;
}

static inline uint32_t block_threads(const struct rt_thread *thread)
{
    const uint32_t *block = thread->block->launch->block;
    return block[0] * block[1] * block[2];
}

/* What translated code does before a volatile load. */
static inline void poll(struct rt_thread *thread)
{
    if (--thread->poll_budget <= 0)
        rt_poll(thread);
}

static inline struct sch_grid make_grid(const struct run *run)
{
    struct sch_grid grid = {
        .code = {.entry = run->entry,
                 .fused = run->fused,
                 .stack_bytes = run->stack_bytes,
                 .frame_bytes = run->frame_bytes,
                 .may_wait = run->may_wait,
                 .flushes = run->flushes},
        .launch = {.params = (const uint8_t *)&run->data,
                   .shared_bytes = run->shared_bytes,
                   .local_bytes = run->local_bytes},
        .is_cooperative = run->is_cooperative,
        .is_split = run->is_split,
    };
    for (int i = 0; i < 3; i++) {
        grid.launch.grid[i] = run->grid[i] ? run->grid[i] : 1;
        grid.launch.block[i] = run->block[i] ? run->block[i] : 1;
        grid.launch.cluster[i] = run->cluster[i];
    }
    return grid;
}

static inline void keep_fault(void *arg, const struct sch_fault *fault)
{
    struct sch_fault *kept = arg;
    *kept = fault ? *fault : (struct sch_fault){.status = PXR_OK};
}

/* Starts the pool with that many workers and waits for the grid; says how it ended. */
static inline struct sch_fault run_on(unsigned workers, struct run run)
{
    cr_assert_eq(sch_start(workers, NULL), PXR_OK);
    struct sch_grid grid = make_grid(&run);
    struct sch_fault fault = {.status = PXR_STATUS_COUNT};
    struct sch_op *op = sch_op_grid(&grid, keep_fault, &fault);
    cr_assert_not_null(op);
    sch_op_submit(op);
    sch_op_wait(op);
    cr_assert(sch_op_is_done(op));
    sch_op_release(op);
    return fault;
}

static inline struct sch_fault run_grid(struct run run)
{
    return run_on(3, run);
}

/* The same in order and in several random orders. */
#define RUN_OK(...)                                                                                \
    do {                                                                                           \
        for (unsigned seed_ = 0; seed_ < 5; seed_++) {                                             \
            sch_set_chaos(seed_);                                                                  \
            struct sch_fault fault_ = run_grid((struct run)__VA_ARGS__);                           \
            cr_assert_eq(fault_.status, PXR_OK, "seed %u: %s", seed_,                              \
                         pxr_status_name(fault_.status));                                          \
        }                                                                                          \
    } while (0)

#define CHECK(flag, condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            atomic_store(flag, __LINE__);                                                          \
    } while (0)

#endif
