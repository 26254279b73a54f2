/* SPDX-License-Identifier: Apache-2.0
 *
 * Fused kernels: chunks of blocks, what generated code finds in its block and threads, faults.
 */
#include <sys/mman.h>

#include "kernels.h"

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

static void *block_data(const struct rt_block *block)
{
    return data(block->threads);
}

static struct sch_fault run_chunks(rt_fused_fn fused, struct run run)
{
    run.fused = fused;
    return run_grid(run);
}

#define CHUNKS_OK(...)                                                                             \
    do {                                                                                           \
        for (unsigned seed_ = 0; seed_ < 5; seed_++) {                                             \
            sch_set_chaos(seed_);                                                                  \
            struct sch_fault fault_ = run_grid((struct run)__VA_ARGS__);                           \
            cr_assert_eq(fault_.status, PXR_OK, "seed %u: %s", seed_,                              \
                         pxr_status_name(fault_.status));                                          \
        }                                                                                          \
    } while (0)

/* ---- chunks ---- */

#define SEEN (1u << 17)

/* Each block of those that may wait has a fiber, which the thread sanitizer maps memory for. */
#ifdef SCH_TSAN
#define MANY_BLOCKS 10000
#else
#define MANY_BLOCKS 100000
#endif

static atomic_uchar seen[SEEN];
static uint8_t once[SEEN]; /* what it should be */
static atomic_uint largest;

static void mark_blocks(struct rt_block *block, uint32_t count)
{
    const uint32_t *grid = block->launch->grid;
    unsigned before = atomic_load(&largest);
    while (before < count && !atomic_compare_exchange_weak(&largest, &before, count)) {
    }
    for (; count > 0; count--, advance(block)) {
        const uint32_t *at = block->ctaid;
        CHECK(&bad, at[0] < grid[0] && at[1] < grid[1] && at[2] < grid[2]);
        atomic_fetch_add(&seen[(at[2] * grid[1] + at[1]) * grid[0] + at[0]], 1);
    }
}

Test(fused, every_block_runs_once)
{
    static const uint32_t grids[][3] = {{1, 1, 1},  {2, 1, 1},   {1000, 1, 1},       {17, 5, 9},
                                        {1, 1, 65}, {3, 100, 7}, {MANY_BLOCKS, 1, 1}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct run run = {.fused = mark_blocks, .block = {5, 3, 2}};
        memcpy(run.grid, grids[g], sizeof run.grid);
        for (unsigned variant = 0; variant < 12; variant++) {
            memset(seen, 0, sizeof seen);
            run.may_wait = variant % 3 == 1;
            run.is_cooperative = variant % 3 == 2;
            atomic_store(&largest, 0);
            sch_set_chaos(variant / 3);
            cr_assert_eq(run_grid(run).status, PXR_OK);
            uint32_t n = grids[g][0] * grids[g][1] * grids[g][2];
            memset(once, 0, sizeof once);
            memset(once, 1, n);
            cr_assert_eq(memcmp((const void *)seen, once, sizeof once), 0);
            cr_assert_eq(atomic_load(&largest) > 1, variant % 3 == 0 && n > 24);
        }
    }
    expect_good();
}

/* A worker that gets blocks that take long does not keep many others from being run elsewhere. */
static void uneven_blocks(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block)) {
        uint64_t end_ns = sch_now_ns() + (block->ctaid[0] < 64 ? 200000 : 0);
        while (sch_now_ns() < end_ns) {
        }
        atomic_fetch_add(&largest, 1);
    }
}

Test(fused, blocks_of_different_length_all_run)
{
    atomic_store(&largest, 0);
    CHUNKS_OK({.fused = uneven_blocks, .grid = {3000}, .block = {32}});
    cr_assert_eq(atomic_load(&largest), 5 * 3000);
}

/* ---- what generated code finds ---- */

static bool is_thread_right(const struct rt_block *block, uint32_t i)
{
    const struct rt_thread *thread = thread_at(block, i);
    const uint32_t *dims = block->launch->block;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return thread->block == block && thread->lane == i % 32 && thread->warp == i / 32 &&
           thread->tid[0] == i % dims[0] && thread->tid[1] == i / dims[0] % dims[1] &&
           thread->tid[2] == i / dims[0] / dims[1] && thread->poll_budget > 0 &&
           here > (uintptr_t)thread->stack_limit && here < (uintptr_t)thread->stack_base &&
           (uintptr_t)thread->stack_base - (uintptr_t)thread->stack_limit >= 60 * 1024;
}

static void check_threads(struct rt_block *block, uint32_t count)
{
    uint32_t n = block_threads(block->threads);
    for (; count > 0; count--, advance(block)) {
        CHECK(&bad, (uintptr_t)block->shared % 128 == 0);
        for (uint32_t i = 0; i < n; i++)
            CHECK(&bad, is_thread_right(block, i));
    }
}

static void check_precise(struct rt_thread *thread)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    rt_bar_sync(thread, 0, 0);
    CHECK(&bad, here > (uintptr_t)thread->stack_limit && here < (uintptr_t)thread->stack_base);
}

Test(fused, threads_are_what_they_are_for_other_kernels)
{
    for (int i = 0; i < 3; i++) {
        CHUNKS_OK({.fused = check_threads, .grid = {100}, .block = {5, 3, 7}});
        CHUNKS_OK(
            {.fused = check_threads, .grid = {100}, .block = {5, 3, 7}, .stack_bytes = 300000});
        RUN_OK({.entry = check_precise, .grid = {20}, .block = {5, 3, 7}});
        CHUNKS_OK(
            {.fused = check_threads, .grid = {100}, .block = {5, 3, 7}, .stack_bytes = 300000});
        CHUNKS_OK({.fused = check_threads, .grid = {100}, .block = {1024}});
    }
    expect_good();
}

Test(fused, threads_are_right_whatever_shapes_blocks_had_before)
{
    static const uint32_t shapes[][3] = {{256},    {1024},  {16, 16}, {16, 16, 4}, {4, 16, 16},
                                         {1, 256}, {7, 11}, {32},     {1, 1, 64}};
    enum { COUNT = sizeof shapes / sizeof *shapes };
    for (uint32_t stride = 1; stride < COUNT; stride++) {
        for (uint32_t i = 0; i < 2 * COUNT; i++) {
            const uint32_t *shape = shapes[i / 2 * stride % COUNT];
            struct run run = {.fused = check_threads,
                              .grid = {3},
                              .block = {shape[0], shape[1], shape[2]},
                              .stack_bytes = i % 3 == 0 ? 300000 : 0};
            cr_assert_eq(run_on(1, run).status, PXR_OK);
        }
    }
    expect_good();
}

static void fill_frame(struct rt_block *block, uint32_t count)
{
    uint64_t bytes = *(const uint64_t *)block_data(block);
    CHECK(&bad, (uintptr_t)block->frame % 64 == 0);
    for (; count > 0; count--, advance(block)) {
        memset(block->frame, (int)block->ctaid[0], bytes);
        for (uint64_t i = 0; i < bytes; i += 61)
            CHECK(&bad, block->frame[i] == (uint8_t)block->ctaid[0]);
    }
}

Test(fused, frame_has_the_size_that_was_asked_for)
{
    static const uint64_t sizes[] = {2048, 64, 5000, 2048, 100, 3000000, 64, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t bytes = sizes[i];
        CHUNKS_OK({.fused = fill_frame,
                   .grid = {20},
                   .block = {32},
                   .frame_bytes = bytes,
                   .data = &bytes});
        /* Entries of all warps, in any case. */
        bytes = 1024 * sizeof(uint16_t);
        CHUNKS_OK({.fused = fill_frame, .grid = {20}, .block = {1000}, .data = &bytes});
    }
    expect_good();
}

Test(fused, no_memory_for_frames_ends_the_grid_only)
{
    uint64_t bytes = 64;
    struct run run = {.grid = {100}, .block = {32}, .frame_bytes = UINT64_MAX, .data = &bytes};
    struct sch_fault fault = run_chunks(fill_frame, run);
    cr_assert_eq(fault.status, PXR_OUT_OF_MEMORY);
    cr_assert_not_null(fault.launch);
#if !defined(SCH_ASAN) && !defined(SCH_TSAN) /* which end the process instead */
    run.frame_bytes = UINT64_C(1) << 50;
    cr_assert_eq(run_chunks(fill_frame, run).status, PXR_OUT_OF_MEMORY);
#endif
    CHUNKS_OK({.fused = fill_frame, .grid = {20}, .block = {32}, .data = &bytes});
    expect_good();
}

Test(fused, a_grid_without_a_kernel_is_refused)
{
    cr_assert_eq(run_chunks(NULL, (struct run){.block = {32}}).status, PXR_OUT_OF_RESOURCES);
    cr_assert_eq(run_chunks(mark_blocks, (struct run){.block = {1025}}).status,
                 PXR_OUT_OF_RESOURCES);
}

/* ---- faults ---- */

/* The sanitizers' own checks would see some of these accesses before the processor does. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

static UNCHECKED uint32_t load(const volatile uint32_t *pointer)
{
    return *pointer;
}

static volatile uint32_t *hole(void)
{
    static void *page;
    if (!page)
        page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (volatile uint32_t *)((uint8_t *)page + 48);
}

static bool is_block(const struct rt_block *block, uint32_t x, uint32_t y)
{
    return block->ctaid[0] == x && block->ctaid[1] == y;
}

static void explicit_fault(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block)) {
        if (is_block(block, 37, 2))
            rt_fault(thread_at(block, 43), PXR_FAULT_TRAP, 0x1234);
    }
}

static void unsupported(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block)) {
        if (is_block(block, 37, 2))
            rt_unsupported(thread_at(block, 43), "a test of what is not supported");
    }
}

static void check_place(const struct sch_fault *fault)
{
    cr_assert_eq(fault->ctaid[0], 37);
    cr_assert_eq(fault->ctaid[1], 2);
    cr_assert_eq(fault->ctaid[2], 0);
    cr_assert_neq(fault->pc, 0);
    cr_assert_not_null(fault->launch);
}

Test(fused, a_fault_raised_in_a_loop_carries_block_and_thread)
{
    for (unsigned seed = 0; seed < 10; seed++) {
        sch_set_chaos(seed);
        struct run run = {.grid = {50, 4}, .block = {8, 8}};
        struct sch_fault fault = run_chunks(seed % 2 == 0 ? explicit_fault : unsupported, run);
        cr_assert_eq(fault.status, seed % 2 == 0 ? PXR_FAULT_TRAP : PXR_FAULT_INSTRUCTION);
        cr_assert_eq(fault.address, seed % 2 == 0 ? 0x1234 : 0);
        cr_assert(fault.has_thread);
        cr_assert_eq(fault.tid[0], 3);
        cr_assert_eq(fault.tid[1], 5);
        check_place(&fault);
        CHUNKS_OK({.fused = mark_blocks, .grid = {50}, .block = {64}});
    }
}

static void load_in_loop(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block)) {
        if (is_block(block, 37, 2))
            load(block_data(block));
    }
}

Test(fused, a_bad_access_in_a_loop_is_reported_with_its_block)
{
    for (unsigned seed = 0; seed < 10; seed++) {
        sch_set_chaos(seed);
        struct sch_fault fault = run_chunks(
            load_in_loop, (struct run){.grid = {50, 4}, .block = {64}, .data = (void *)hole()});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
        cr_assert_eq(fault.address, (uintptr_t)hole());
        cr_assert(!fault.has_thread);
        check_place(&fault);
    }
}

static uint32_t load_in_step(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    BEGIN
    BARRIER(1);
    SYNC(PLAIN, 0, nanosleep, 1); /* from here on step by step */
    if (is_block(thread->block, 37, 2) && tid(thread) == 43)
        load(kernel_data(thread));
    BARRIER(2);
    END;
}

static uint32_t load_behind_step(struct rt_thread *thread, struct values *v, uint32_t entry,
                                 enum mode mode)
{
    BEGIN
    SYNC(PLAIN, 0, nanosleep, 1);
    BARRIER(1); /* from here on in loops again */
    if (is_block(thread->block, 37, 2) && tid(thread) == 43)
        load(kernel_data(thread));
    END;
}

Test(fused, a_bad_access_step_by_step_is_reported_with_its_thread)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        bool is_behind = seed % 2 == 1;
        struct kernel kernel = {is_behind ? load_behind_step : load_in_step, 0, (void *)hole()};
        sch_set_chaos(seed / 2);
        struct sch_fault fault =
            run_kernel(&kernel, (struct run){.grid = {50, 4}, .block = {8, 8}});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
        cr_assert_eq(fault.has_thread, !is_behind);
        cr_assert_eq(fault.tid[0], is_behind ? 0 : 3);
        cr_assert_eq(fault.tid[1], is_behind ? 0 : 5);
        check_place(&fault);
    }
}

static void load_everywhere(struct rt_block *block, uint32_t count)
{
    (void)count;
    load(block_data(block));
}

Test(fused, a_fault_in_every_block_of_a_large_grid_ends_it_at_once)
{
    for (int i = 0; i < 5; i++) {
        struct sch_fault fault = run_chunks(
            load_everywhere,
            (struct run){.grid = {1u << 30, 60000, 60000}, .block = {256}, .data = (void *)hole()});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
    }
}

static UNCHECKED uint32_t recurse(uint32_t depth, volatile uint8_t *outer)
{
    volatile uint8_t frame[512];
    frame[0] = (uint8_t)(outer[0] + 1);
    if (depth == 0)
        return frame[0];
    return recurse(depth - 1, frame) + frame[0];
}

static void overflow(struct rt_block *block, uint32_t count)
{
    volatile uint8_t start = (uint8_t)count;
    recurse(*(uint32_t *)block_data(block), &start);
}

Test(fused, stack_overflow_is_told_apart_and_larger_stacks_can_be_asked_for)
{
    uint32_t depth = 100000;
    for (int i = 0; i < 5; i++)
        cr_assert_eq(run_chunks(overflow, (struct run){.grid = {4}, .data = &depth}).status,
                     PXR_FAULT_STACK);
    depth = 1000;
    CHUNKS_OK({.fused = overflow, .grid = {4}, .stack_bytes = 1000000, .data = &depth});
}

/* One block faults while the others poll for ever. */
static uint32_t poll_for_ever(struct rt_thread *thread, struct values *v, uint32_t entry,
                              enum mode mode)
{
    BEGIN
    if (thread->block->ctaid[0] == 0 && tid(thread) == 0) {
        for (v->i = 0; v->i < 50; v->i++)
            SYNC(PLAIN, 0, nanosleep, 1);
        load(kernel_data(thread));
    }
    for (;;)
        POLL(PLAIN + 1);
    END;
}

Test(fused, a_fault_ends_blocks_that_poll_for_ever)
{
    for (unsigned seed = 0; seed < 8; seed++) {
        struct kernel kernel = {poll_for_ever, 0, (void *)hole()};
        sch_set_chaos(seed);
        struct sch_fault fault =
            run_kernel(&kernel, (struct run){.grid = {8}, .block = {33}, .may_wait = seed % 2});
        cr_assert_eq(fault.status, PXR_FAULT_ADDRESS);
        cr_assert(fault.has_thread);
        cr_assert_eq(fault.tid[0], 0);
    }
}
