/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints what the scheduler costs: a switch between fibers, a barrier, a launch, a block, a chunk
 * of a fused kernel, a barrier of threads that are taken step by step. Not a test: its numbers
 * depend on the machine. Argument: number of workers (default: all CPUs).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/worker_pool.h"

static void empty(struct rt_thread *thread)
{
    (void)thread;
}

static void barriers(struct rt_thread *thread)
{
    for (int i = 0; i < 1000; i++)
        rt_bar_sync(thread, 0, 0);
}

static void shuffles(struct rt_thread *thread)
{
    for (int i = 0; i < 1000; i++)
        rt_shfl(thread, RT_SHFL_BFLY, 1, 1, 31, 0xffffffffu);
}

static void look_back(struct rt_thread *thread)
{
    atomic_uint *ready;
    memcpy(&ready, thread->block->launch->params, sizeof ready);
    uint32_t index = thread->block->ctaid[0];
    while (index > 0 && atomic_load(&ready[index - 1]) == 0) {
        if (--thread->poll_budget <= 0)
            rt_poll(thread);
    }
    atomic_store(&ready[index], 1);
}

/* ---- fused ---- */

#define FUSED_STEPS    100
#define FUSED_COUNTERS 2048 /* in the frame, behind the entries */

static void empty_blocks(struct rt_block *block, uint32_t count)
{
    block->ctaid[0] += count;
}

static bool is_last_step(struct rt_thread *thread, uint32_t entry)
{
    uint32_t index = thread->warp * RT_WARP_SIZE + thread->lane;
    uint32_t *steps = (uint32_t *)(void *)(thread->block->frame + FUSED_COUNTERS) + index;
    *steps = entry == 0 ? 1 : *steps + 1;
    return *steps > FUSED_STEPS;
}

static uint32_t step_to_barrier(struct rt_thread *thread, uint32_t entry)
{
    if (is_last_step(thread, entry))
        return RT_ENTRY_EXITED;
    rt_arrive_bar_sync(thread, 0, 0);
    return 1 | RT_ENTRY_WHOLE;
}

static uint32_t step_to_shuffle(struct rt_thread *thread, uint32_t entry)
{
    if (is_last_step(thread, entry))
        return RT_ENTRY_EXITED;
    rt_arrive_shfl(thread, RT_SHFL_BFLY, 1, 1, 31, 0xffffffffu);
    return 1;
}

static void mix(struct rt_block *block, uint32_t count, rt_step_fn step)
{
    for (; count > 0; count--) {
        memset(block->frame, 0, FUSED_COUNTERS);
        while (rt_block_mix(block, step, 0) != 0) {
        }
        block->ctaid[0]++;
    }
}

static void mix_barriers(struct rt_block *block, uint32_t count)
{
    mix(block, count, step_to_barrier);
}

static void mix_shuffles(struct rt_block *block, uint32_t count)
{
    mix(block, count, step_to_shuffle);
}

/* ---- timing ---- */

static uint64_t time_op(const struct sch_grid *grid)
{
    uint64_t start_ns = sch_now_ns();
    struct sch_op *op = sch_op_grid(grid, NULL, NULL);
    if (!op)
        exit(1);
    sch_op_submit(op);
    sch_op_wait(op);
    sch_op_release(op);
    return sch_now_ns() - start_ns;
}

static uint64_t time_grid(void (*entry)(struct rt_thread *), uint32_t blocks, uint32_t threads,
                          const void *params)
{
    return time_op(&(struct sch_grid){
        .code.entry = entry,
        .launch = {.params = params, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}},
    });
}

static uint64_t best_fused(int runs, rt_fused_fn fused, uint32_t blocks, uint32_t threads,
                           bool may_wait)
{
    struct sch_grid grid = {
        .code = {.fused = fused,
                 .frame_bytes = FUSED_COUNTERS + SCH_BLOCK_THREADS_MAX * sizeof(uint32_t),
                 .may_wait = may_wait},
        .launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}},
    };
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < runs; i++) {
        uint64_t ns = time_op(&grid);
        best_ns = ns < best_ns ? ns : best_ns;
    }
    return best_ns;
}

static uint64_t best_of(int runs, void (*entry)(struct rt_thread *), uint32_t blocks,
                        uint32_t threads)
{
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < runs; i++) {
        uint64_t ns = time_grid(entry, blocks, threads, NULL);
        best_ns = ns < best_ns ? ns : best_ns;
    }
    return best_ns;
}

static struct sch_context main_context;
static struct sch_fiber *fiber;

static void *ping(void *arg)
{
    (void)arg;
    sch_context_arrived(&fiber->ctx);
    for (;;)
        sch_context_switch(&fiber->ctx, &main_context, false);
}

static double switch_ns(void)
{
    const int switches = 2000000;
    static struct sch_fiber_pool pool;
    if (!sch_fiber_grow(&pool, 0))
        exit(1);
    fiber = sch_fiber_take(&pool, 0);
    sch_context_init_thread(&main_context);
    sch_fiber_prepare(fiber, ping, NULL);
    uint64_t start_ns = sch_now_ns();
    for (int i = 0; i < switches; i++)
        sch_context_switch(&main_context, &fiber->ctx, false);
    return (double)(sch_now_ns() - start_ns) / switches / 2;
}

int main(int argc, char **argv)
{
    const uint32_t look_back_blocks = 20000;
    if (sch_start(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0, NULL) != PXR_OK)
        return 1;
    unsigned workers = sch_worker_count();
    printf("workers                     %10u\n", workers);
    printf("fiber switch                %10.1f ns\n", switch_ns());
    printf("empty grid, launch to done  %10.1f us\n", (double)best_of(2000, empty, 1, 1) / 1e3);
    printf("empty blocks of 1 thread    %10.0f /s\n", 1e15 / (double)best_of(5, empty, 1000000, 1));
    printf("empty blocks of 256 threads %10.0f /s\n",
           1e14 / (double)best_of(5, empty, 100000, 256));
    printf("barrier, 256 threads        %10.1f ns per thread\n",
           (double)best_of(5, barriers, 4 * workers, 256) / 1000 / 256 / 4);
    printf("barrier, 1024 threads       %10.1f ns per thread\n",
           (double)best_of(5, barriers, 4 * workers, 1024) / 1000 / 1024 / 4);
    printf("shuffle                     %10.1f ns per thread\n",
           (double)best_of(5, shuffles, 4 * workers, 256) / 1000 / 256 / 4);
    printf("fused, one block at a time  %10.0f /s\n",
           1e15 / (double)best_fused(5, empty_blocks, 1000000, 256, true));
    printf("fused, a million blocks in chunks %.1f us\n",
           (double)best_fused(50, empty_blocks, 1000000, 256, false) / 1e3);
    printf("mixed, barrier, 256 threads %10.1f ns per thread\n",
           (double)best_fused(200, mix_barriers, workers, 256, false) / FUSED_STEPS / 256);
    printf("mixed, shuffle              %10.1f ns per thread\n",
           (double)best_fused(200, mix_shuffles, workers, 256, false) / FUSED_STEPS / 256);
    atomic_uint *ready = calloc(look_back_blocks, sizeof *ready);
    printf("each block waits for the one before it %.1f us per block\n",
           (double)time_grid(look_back, look_back_blocks, 64, &ready) / 1e3 / look_back_blocks);
    return 0;
}
