/* SPDX-License-Identifier: Apache-2.0
 *
 * Random sequences of barriers, warp operations, polls and exits, compared with a model that knows
 * for every thread in which step it exits. By threads that wait, and fused.
 */
#include "kernels.h"

#define STEPS 60

static atomic_int bad;

/* What decides about a run: the same for all its threads. */
struct script {
    uint32_t seed;
    uint32_t threads;
};

static uint32_t exit_step(const struct script *script, uint32_t index)
{
    uint32_t step = hash(script->seed, 1, index) % (2 * STEPS);
    /* Now and then a whole warp. */
    uint32_t warp_step = hash(script->seed, 2, index / 32) % (4 * STEPS);
    return step < warp_step ? step : warp_step;
}

static uint32_t value(const struct script *script, uint32_t step, uint32_t index)
{
    return hash(script->seed + step, 3, index) % 1000;
}

static bool is_live(const struct script *script, uint32_t step, uint32_t index)
{
    return index < script->threads && exit_step(script, index) > step;
}

/* Live lanes of the warp among those in mask. */
static uint32_t live_lanes(const struct script *script, uint32_t step, uint32_t warp, uint32_t mask)
{
    uint32_t live = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        live |= is_live(script, step, warp * 32 + lane) ? 1u << lane : 0;
    return live & mask;
}

static void check_count(const struct script *script, uint32_t step, uint64_t result)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; i < script->threads; i++)
        expected += is_live(script, step, i) && value(script, step, i) % 2;
    CHECK(&bad, result == expected);
}

static void check_redux(struct rt_thread *thread, const struct script *script, uint32_t step,
                        uint32_t mask, uint64_t result)
{
    uint32_t expected = 0;
    uint32_t lanes = live_lanes(script, step, thread->warp, mask);
    for (uint32_t lane = 0; lane < 32; lane++)
        expected += lanes >> lane & 1 ? value(script, step, thread->warp * 32 + lane) : 0;
    CHECK(&bad, result == expected);
}

static uint32_t distance(const struct script *script, uint32_t step)
{
    return hash(script->seed, 4, step) % 32;
}

static void check_shfl(struct rt_thread *thread, const struct script *script, uint32_t step,
                       uint64_t result)
{
    uint32_t source = thread->lane ^ distance(script, step);
    uint32_t index = thread->warp * 32 + source;
    uint32_t expected = is_live(script, step, index) ? value(script, step, index) : 0;
    CHECK(&bad, (uint32_t)result == expected);
}

static uint32_t run_script(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    const struct script *script = kernel_data(thread);
    uint32_t me = tid(thread);
    uint32_t half = thread->lane < 16 ? 0xffffu : 0xffff0000u;
    BEGIN
    for (v->i = 0; v->i < STEPS; v->i++) {
        if (exit_step(script, me) == v->i) {
            if (mode == MODE_WAIT && me % 2 == 0)
                rt_exit(thread);
            EXIT;
        }
        v->k = hash(script->seed, 5, v->i) % 8;
        if (v->k == 0 && v->i % 2 == 0) {
            BARRIER(1);
        } else if (v->k == 0) {
            SYNC(PLAIN, RT_ENTRY_WHOLE, bar_sync, v->i % 16, 0);
        } else if (v->k == 1) {
            SYNC(PLAIN + 1, RT_ENTRY_WHOLE, bar_red, v->i % 16, 0, value(script, v->i, me) % 2,
                 RT_REDUCE_POPC);
            check_count(script, v->i, v->result);
        } else if (v->k == 2) {
            SYNC(PLAIN + 2, 0, redux, RT_REDUCE_ADD, value(script, v->i, me), 0xffffffffu);
            check_redux(thread, script, v->i, 0xffffffffu, v->result);
        } else if (v->k == 3) {
            SYNC(PLAIN + 3, 0, redux, RT_REDUCE_ADD, value(script, v->i, me), half);
            check_redux(thread, script, v->i, half, v->result);
        } else if (v->k == 4) {
            SYNC(PLAIN + 4, 0, shfl, RT_SHFL_BFLY, value(script, v->i, me), distance(script, v->i),
                 31, 0xffffffffu);
            check_shfl(thread, script, v->i, v->result);
        } else if (v->k == 5 && hash(script->seed, v->i, me) % 3 == 0) {
            SYNC(PLAIN + 5, 0, poll);
        } else if (v->k == 6) {
            SYNC(PLAIN + 6, 0, activemask, v->i);
            CHECK(&bad, v->result >> thread->lane & 1);
        } else if (v->k == 7) {
            SYNC(PLAIN + 7, 0, vote, RT_VOTE_BALLOT, 1, half);
            CHECK(&bad, v->result == live_lanes(script, v->i, thread->warp, half));
        }
    }
    END;
}

Test(random, sequences_agree_with_the_model)
{
    static const uint32_t sizes[] = {1, 31, 32, 40, 64, 100, 200};
    for (uint32_t seed = 1; seed <= 120; seed++) {
        struct script script = {seed / 2, sizes[seed / 2 % (sizeof sizes / sizeof *sizes)]};
        struct kernel kernel = {run_script, seed / 3, &script};
        sch_set_chaos(seed / 2 % 4 == 0 ? 0 : seed);
        struct run run = {.grid = {5}, .block = {script.threads}};
        run.entry = seed % 2 == 0 ? run_precise : NULL;
        struct sch_fault fault = run_kernel(&kernel, run);
        cr_assert_eq(fault.status, PXR_OK, "seed %u: %s", seed, pxr_status_name(fault.status));
        int line = atomic_load(&bad);
        cr_assert_eq(line, 0, "seed %u, line %d", seed, line);
    }
}
