/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that can be run in every way there is: by threads that wait, step by step, or in loops as
 * generated code of a fused kernel does it. A kernel is written once, between BEGIN and END; what
 * lives across sync points is in *v.
 */
#ifndef PTXRUN_TESTS_SCHEDULER_KERNELS_H
#define PTXRUN_TESTS_SCHEDULER_KERNELS_H

#include "scheduler/block.h"
#include "support.h"

enum mode {
    MODE_WAIT, /* as precise: one call runs the thread to its end */
    MODE_STEP, /* to the next sync point, where the thread arrives */
    MODE_LOOP  /* to the next sync point, before it */
};

/* What lives across sync points. */
struct values {
    uint32_t i, j, k;
    uint32_t mine;
    uint64_t result;
};

typedef uint32_t (*body_fn)(struct rt_thread *thread, struct values *v, uint32_t entry,
                            enum mode mode);

/* What data(thread) is for these kernels. */
struct kernel {
    body_fn body;
    uint32_t seed; /* decides where loops are left although they could go on */
    void *data;
};

#define BEGIN                                                                                      \
    switch (entry) {                                                                               \
    case 0:

#define END                                                                                        \
    }                                                                                              \
    return RT_ENTRY_EXITED

#define EXIT return RT_ENTRY_EXITED

/* Sync point n of the kernel, which calls rt_<what>; v->result is what it gives. Below PLAIN are
 * barriers that the loops of run_fused pass on their own. */
#define SYNC(n, flags, what, ...)                                                                  \
    do {                                                                                           \
        __attribute__((fallthrough));                                                              \
    case (n) | RT_ENTRY_ARRIVE:                                                                    \
    case (n) | RT_ENTRY_ARRIVE | RT_ENTRY_WHOLE:                                                   \
        if (mode != MODE_WAIT) {                                                                   \
            if (mode == MODE_STEP)                                                                 \
                rt_arrive_##what(thread, ##__VA_ARGS__);                                           \
            return (n) | (flags);                                                                  \
        }                                                                                          \
        rt_##what(thread, ##__VA_ARGS__);                                                          \
        __attribute__((fallthrough));                                                              \
    case (n):                                                                                      \
    case (n) | RT_ENTRY_WHOLE:                                                                     \
        v->result = rt_result(thread);                                                             \
    } while (0)

#define PLAIN      100
#define BARRIER(n) SYNC(n, RT_ENTRY_WHOLE, plain_barrier, 0, 0)

/* Loops have brought all threads there that have the same entry. */
#define rt_arrive_plain_barrier(...)                                                               \
    (entry & RT_ENTRY_ARRIVE ? rt_arrive_looped_bar_sync : rt_arrive_bar_sync)(__VA_ARGS__)
#define rt_plain_barrier(...) rt_bar_sync(__VA_ARGS__)

/* From this number on waits for the cluster, which loops pass when it is complete. */
#define CLUSTER         50
#define CLUSTER_WAIT(n) SYNC(CLUSTER + (n), RT_ENTRY_WHOLE, cluster_wait)

/* Polls that a thread has left when it gives way: the thread sanitizer makes each load as slow as
 * that is, and finds in the first few what there is to find. */
#ifdef SCH_TSAN
#define POLLS_LEFT (SCH_POLL_BUDGET - 4)
#else
#define POLLS_LEFT 0
#endif

/* What a volatile load begins with. */
#define POLL(n)                                                                                    \
    do {                                                                                           \
        if (--thread->poll_budget <= POLLS_LEFT)                                                   \
            SYNC(n, 0, poll);                                                                      \
    } while (0)

static inline const struct kernel *kernel_of(const struct rt_block *block)
{
    const struct kernel *kernel;
    memcpy(&kernel, block->launch->params, sizeof kernel);
    return kernel;
}

static inline void *kernel_data(const struct rt_thread *thread)
{
    return kernel_of(thread->block)->data;
}

static inline uint32_t hash(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t x = ((uint64_t)a << 40) ^ ((uint64_t)b << 20) ^ c;
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

/* ---- by threads that wait ---- */

static inline void run_precise(struct rt_thread *thread)
{
    struct values values = {0};
    kernel_of(thread->block)->body(thread, &values, 0, MODE_WAIT);
}

/* ---- fused ---- */

#define ENTRIES_BYTES ((size_t)1024 * sizeof(uint16_t))
#define FRAME_BYTES   (ENTRIES_BYTES + (size_t)1024 * sizeof(struct values))

static inline uint16_t *entries_of(const struct rt_block *block)
{
    return (uint16_t *)(void *)block->frame;
}

static inline struct values *values_of(const struct rt_block *block)
{
    return (struct values *)(void *)(block->frame + ENTRIES_BYTES);
}

static inline struct rt_thread *thread_at(const struct rt_block *block, uint32_t index)
{
    return (struct rt_thread *)(void *)((uint8_t *)block->threads + index * RT_THREAD_STRIDE);
}

static inline uint32_t count_threads(const struct rt_block *block)
{
    return block_threads(block->threads);
}

/* What generated code does behind each block of a chunk. */
static inline void advance(struct rt_block *block)
{
    const uint32_t *grid = block->launch->grid;
    if (++block->ctaid[0] < grid[0])
        return;
    block->ctaid[0] = 0;
    if (++block->ctaid[1] < grid[1])
        return;
    block->ctaid[1] = 0;
    block->ctaid[2]++;
}

static inline uint32_t run_to_sync(struct rt_block *block, uint32_t index, enum mode mode,
                                   uint32_t entry)
{
    struct rt_thread *thread = thread_at(block, index);
    return kernel_of(block)->body(thread, &values_of(block)[index], entry, mode);
}

static inline uint32_t step(struct rt_thread *thread, uint32_t entry)
{
    return run_to_sync(thread->block, tid(thread), MODE_STEP, entry);
}

/* One turn of the loop over all threads: how many stand before their sync point, 0 if the loop can
 * be run again for all that have not exited. */
static inline uint32_t run_loop(struct rt_block *block, bool *is_live)
{
    uint16_t *entries = entries_of(block);
    uint32_t common = RT_ENTRY_EXITED;
    uint32_t n = count_threads(block);
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i] == RT_ENTRY_EXITED)
            continue;
        entries[i] = (uint16_t)run_to_sync(block, i, MODE_LOOP, entries[i]);
        if (entries[i] == RT_ENTRY_EXITED)
            continue;
        if (common != RT_ENTRY_EXITED && common != entries[i])
            return i + 1;
        common = entries[i];
    }
    *is_live = common != RT_ENTRY_EXITED;
    uint32_t number = common & ~RT_ENTRY_WHOLE;
    if (*is_live && number >= CLUSTER && number < PLAIN)
        rt_block_cluster_wait(block);
    return (common & ~RT_ENTRY_WHOLE) < PLAIN || !*is_live ? 0 : n;
}

/* RT_MIX_…, thread by thread. */
static inline uint32_t exits_of(const struct rt_block *block)
{
    const uint16_t *entries = entries_of(block);
    uint32_t exits = 0;
    for (uint32_t i = 0; i < count_threads(block); i++) {
        if (entries[i] != RT_ENTRY_EXITED)
            continue;
        exits |= RT_MIX_EXITED;
        uint32_t warp = i / RT_WARP_SIZE * RT_WARP_SIZE;
        for (uint32_t t = warp; t < warp + RT_WARP_SIZE && t < count_threads(block); t++)
            exits |= entries[t] != RT_ENTRY_EXITED ? RT_MIX_TORN : 0;
    }
    return exits;
}

/* Everything that rt_block_mix promises about the frame. */
static inline void check_whole(const struct rt_block *block, uint64_t result)
{
    const uint16_t *entries = entries_of(block);
    uint32_t first = (uint32_t)(result >> 32);
    uint32_t entry = (uint32_t)result & ~(RT_MIX_EXITED | RT_MIX_TORN);
    bool is_right = entries[first] == (entry | RT_ENTRY_WHOLE);
    is_right &= ((uint32_t)result & (RT_MIX_EXITED | RT_MIX_TORN)) == exits_of(block);
    for (uint32_t i = 0; i < count_threads(block); i++)
        is_right &= entries[i] == (i < first ? RT_ENTRY_EXITED : entries[first]) ||
                    (i > first && entries[i] == RT_ENTRY_EXITED);
    if (!is_right)
        rt_fault(block->threads, PXR_FAULT_TRAP, 0xbad);
}

static inline void run_fused_block(struct rt_block *block)
{
    uint32_t n = count_threads(block);
    uint32_t seed = kernel_of(block)->seed;
    memset(entries_of(block), 0, ENTRIES_BYTES);
    memset(values_of(block), 0, n * sizeof(struct values));
    bool is_live = true;
    for (uint32_t round = 0; is_live; round++) {
        uint32_t chance = seed == 0 ? 9 : hash(seed, round, block->ctaid[0]) % 8;
        uint32_t arrived = chance == 0 ? 0 : run_loop(block, &is_live);
        if (!is_live || (chance > 1 && arrived == 0))
            continue;
        if (chance == 1 && arrived == 0)
            arrived = n;
        uint64_t result = rt_block_mix(block, step, arrived);
        is_live = result != 0;
        if (is_live)
            check_whole(block, result);
    }
}

static inline void run_fused(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--) {
        run_fused_block(block);
        advance(block);
    }
}

static inline struct sch_fault run_kernel(const struct kernel *kernel, struct run run)
{
    run.data = (void *)(uintptr_t)kernel;
    if (!run.entry) {
        run.fused = run_fused;
        run.frame_bytes = FRAME_BYTES;
    }
    return run_grid(run);
}

/* The kernel by threads that wait, and fused; in order and in several random orders. `before` is
 * run before each launch. */
#define RUN_ALL(before, body_, data_, ...)                                                         \
    do {                                                                                           \
        for (unsigned seed_ = 0; seed_ < 10; seed_++) {                                            \
            struct kernel kernel_ = {body_, seed_ / 2, data_};                                     \
            struct run run_ = __VA_ARGS__;                                                         \
            run_.entry = seed_ % 2 ? run_precise : NULL;                                           \
            sch_set_chaos(seed_ / 2 % 4);                                                          \
            before;                                                                                \
            struct sch_fault fault_ = run_kernel(&kernel_, run_);                                  \
            cr_assert_eq(fault_.status, PXR_OK, "seed %u: %s", seed_,                              \
                         pxr_status_name(fault_.status));                                          \
        }                                                                                          \
    } while (0)

#endif
