/* SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point mode of code that wants subnormals flushed, and of all other code.
 */
#include "kernels.h"

#define TINY 0x1p-130f

static atomic_int bad;

/* Whether the CPU flushes subnormal sources (bit 0) and results (bit 1). */
static unsigned flushed(void)
{
    volatile float tiny = TINY;
    volatile float small = 0x1p-100f;
    float kept = tiny * 0x1p100f;
    float made = small * 0x1p-30f;
    unsigned bits;
    memcpy(&bits, &made, sizeof bits);
    return (kept == 0) | (unsigned)(bits == 0) << 1;
}

#if defined(__x86_64__)
#define ALL_FLUSHED 3u
#else
#define ALL_FLUSHED 0u /* no code is made for it */
#endif

static unsigned wanted(const struct rt_thread *thread)
{
    return *(const bool *)data(thread) ? ALL_FLUSHED : 0;
}

static void look_in_blocks(struct rt_block *block, uint32_t count)
{
    (void)count;
    CHECK(&bad, flushed() == wanted(block->threads));
}

static void look_before_and_behind_a_barrier(struct rt_thread *thread)
{
    CHECK(&bad, flushed() == wanted(thread));
    rt_bar_sync(thread, 0, 0);
    CHECK(&bad, flushed() == wanted(thread));
}

static void fail_in_a_loop(struct rt_block *block, uint32_t count)
{
    (void)count;
    rt_fault(block->threads, PXR_FAULT_TRAP, 0x1234);
}

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
    cr_assert_eq(flushed(), 0);
}

static struct sch_op *start(struct run *run)
{
    struct sch_grid grid = make_grid(run);
    struct sch_op *op = sch_op_grid(&grid, NULL, NULL);
    cr_assert_not_null(op);
    sch_op_submit(op);
    return op;
}

/* Grids that want it and grids that do not, side by side, in blocks of both kinds. */
Test(flushes, each_grid_has_its_mode)
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    static bool yes = true;
    static bool no = false;
    for (unsigned round = 0; round < 40; round++) {
        sch_set_chaos(round);
        struct run runs[8];
        struct sch_op *ops[8];
        for (unsigned i = 0; i < 8; i++) {
            runs[i] = (struct run){.grid = {50, 1, 1}, .block = {40, 1, 1}};
            runs[i].flushes = i % 2 != 0;
            runs[i].data = runs[i].flushes ? &yes : &no;
            runs[i].entry = i / 2 % 2 != 0 ? look_before_and_behind_a_barrier : NULL;
            runs[i].fused = runs[i].entry ? NULL : look_in_blocks;
            ops[i] = start(&runs[i]);
        }
        for (unsigned i = 0; i < 8; i++) {
            sch_op_wait(ops[i]);
            sch_op_release(ops[i]);
        }
        expect_good();
    }
}

Test(flushes, a_fault_leaves_no_mode_behind)
{
    static bool no = false;
    for (unsigned seed = 0; seed < 5; seed++) {
        sch_set_chaos(seed);
        struct run run = {.fused = fail_in_a_loop, .grid = {9, 1, 1}, .flushes = true};
        cr_assert_eq(run_grid(run).status, PXR_FAULT_TRAP);
        run = (struct run){.fused = look_in_blocks, .grid = {9, 1, 1}, .data = &no};
        cr_assert_eq(run_grid(run).status, PXR_OK);
        expect_good();
    }
}
