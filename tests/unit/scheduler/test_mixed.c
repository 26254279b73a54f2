/* SPDX-License-Identifier: Apache-2.0
 *
 * Random sequences of barriers, warp operations, polls and exits, compared with a model that knows
 * for every thread in which step it exits.
 */
#include "support.h"

#define STEPS 60

static atomic_int bad;

static uint32_t hash(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t x = ((uint64_t)a << 40) ^ ((uint64_t)b << 20) ^ c;
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

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

static void check_count(struct rt_thread *thread, const struct script *script, uint32_t step)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; i < script->threads; i++)
        expected += is_live(script, step, i) && value(script, step, i) % 2;
    uint32_t mine = value(script, step, tid(thread)) % 2;
    CHECK(&bad, rt_bar_red(thread, step % 16, 0, mine, RT_REDUCE_POPC) == expected);
}

static void check_redux(struct rt_thread *thread, const struct script *script, uint32_t step,
                        uint32_t mask)
{
    uint32_t expected = 0;
    uint32_t lanes = live_lanes(script, step, thread->warp, mask);
    for (uint32_t lane = 0; lane < 32; lane++)
        expected += lanes >> lane & 1 ? value(script, step, thread->warp * 32 + lane) : 0;
    uint32_t mine = value(script, step, tid(thread));
    CHECK(&bad, rt_redux(thread, RT_REDUCE_ADD, mine, mask) == expected);
}

static void check_shfl(struct rt_thread *thread, const struct script *script, uint32_t step)
{
    uint32_t distance = hash(script->seed, 4, step) % 32;
    uint32_t source = thread->lane ^ distance;
    uint32_t index = thread->warp * 32 + source;
    uint64_t result =
        rt_shfl(thread, RT_SHFL_BFLY, value(script, step, tid(thread)), distance, 31, 0xffffffffu);
    uint32_t expected = is_live(script, step, index) ? value(script, step, index) : 0;
    CHECK(&bad, (uint32_t)result == expected);
}

static void run_script(struct rt_thread *thread)
{
    const struct script *script = data(thread);
    uint32_t me = tid(thread);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (exit_step(script, me) == step) {
            if (me % 2 == 0)
                rt_exit(thread);
            return;
        }
        uint32_t half = thread->lane < 16 ? 0xffffu : 0xffff0000u;
        switch (hash(script->seed, 5, step) % 8) {
        case 0:
            rt_bar_sync(thread, step % 16, 0);
            break;
        case 1:
            check_count(thread, script, step);
            break;
        case 2:
            check_redux(thread, script, step, 0xffffffffu);
            break;
        case 3:
            check_redux(thread, script, step, half);
            break;
        case 4:
            check_shfl(thread, script, step);
            break;
        case 5:
            if (hash(script->seed, step, me) % 3 == 0)
                rt_poll(thread);
            break;
        case 6:
            CHECK(&bad, rt_activemask(thread, step) >> thread->lane & 1);
            break;
        default:
            CHECK(&bad, rt_vote(thread, RT_VOTE_BALLOT, 1, half) ==
                            live_lanes(script, step, thread->warp, half));
            break;
        }
    }
}

Test(mixed, random_sequences_agree_with_the_model)
{
    static const uint32_t sizes[] = {1, 31, 32, 40, 64, 100, 200};
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct script script = {seed, sizes[seed % (sizeof sizes / sizeof *sizes)]};
        sch_set_chaos(seed % 4 == 0 ? 0 : seed);
        struct sch_fault fault = run_grid((struct run){
            .entry = run_script, .grid = {5}, .block = {script.threads}, .data = &script});
        cr_assert_eq(fault.status, PXR_OK, "seed %u: %s", seed, pxr_status_name(fault.status));
        int line = atomic_load(&bad);
        cr_assert_eq(line, 0, "seed %u, line %d", seed, line);
    }
}
