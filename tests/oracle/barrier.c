/* SPDX-License-Identifier: Apache-2.0
 *
 * bar and barrier (PTX ISA, "bar, barrier"). A thread waits for the other lanes of its warp that
 * have not exited, which makes the warp arrive; .sync and .red then wait until as many warps have
 * arrived as take part. A count is one of threads in multiples of the warp size, so a warp counts
 * in full even if lanes of it have exited or never were.
 */
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

static enum ptx_mod mode_of(const struct ptx_inst *inst)
{
    return ptx_inst_mod(inst, PTX_GROUP_BARMODE); /* ARRIVE, RED; none: sync */
}

/* ---- what completes a barrier ---- */

static void write_reduction(struct oracle_thread *thread, const struct oracle_barrier *barrier)
{
    const struct ptx_inst *inst = thread->wait_inst;
    union oracle_value result = {0};

    switch (ptx_inst_mod(inst, PTX_GROUP_BOOL)) {
    case PTX_MOD_AND:
        result.u64 = barrier->true_count == barrier->red_count;
        break;
    case PTX_MOD_OR:
        result.u64 = barrier->true_count > 0;
        break;
    default: /* popc */
        result.u64 = barrier->true_count;
        break;
    }
    oracle_write(thread, inst, 0, inst->types[0], result);
}

static bool is_waiting_at(const struct oracle_thread *thread, uint32_t id)
{
    return thread->state == ORACLE_AT_BARRIER && thread->wait_barrier == id;
}

/* Lets the threads of all warps that have arrived go on; lanes of a warp that has not belong to
 * the barrier's next use. */
static void complete(struct oracle_block *block, uint32_t id)
{
    struct oracle_barrier *barrier = &block->barriers[id];

    for (uint32_t i = 0; i < block->thread_count; i++) {
        struct oracle_thread *thread = &block->threads[i];

        if (!is_waiting_at(thread, id) || barrier->lanes[thread->warp] != 0)
            continue;
        if (mode_of(thread->wait_inst) == PTX_MOD_RED)
            write_reduction(thread, barrier);
        thread->state = ORACLE_RUNNABLE;
    }
    barrier->expected_warps = 0;
    barrier->arrived_warps = 0;
    barrier->arrived_mask = 0;
    barrier->true_count = 0;
    barrier->red_count = 0;
}

static bool is_complete(const struct oracle_block *block, const struct oracle_barrier *barrier)
{
    if (barrier->expected_warps == 0)
        return false;
    if (barrier->arrived_warps >= barrier->expected_warps)
        return true;
    for (uint32_t warp = 0; barrier->is_for_all && warp < block->warp_count; warp++)
        if (!(barrier->arrived_mask >> warp & 1) && oracle_live_lanes(block, warp) != 0)
            return false;
    return barrier->is_for_all && barrier->arrived_warps > 0;
}

/* Whether all lanes are there; then the warp arrives, and those of its lanes that do not wait for
 * other warps go on. */
static void check_warp(struct oracle_block *block, uint32_t id, uint32_t warp)
{
    struct oracle_barrier *barrier = &block->barriers[id];
    uint32_t lanes = barrier->lanes[warp];

    if (lanes == 0 || (oracle_live_lanes(block, warp) & ~lanes) != 0)
        return;
    barrier->lanes[warp] = 0;
    barrier->arrived_warps++;
    barrier->arrived_mask |= UINT32_C(1) << warp;
    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *thread;

        if (!(lanes >> lane & 1))
            continue;
        thread = oracle_thread_of(block, warp, lane);
        if (mode_of(thread->wait_inst) == PTX_MOD_ARRIVE)
            thread->state = ORACLE_RUNNABLE;
        if (mode_of(thread->wait_inst) == PTX_MOD_RED) {
            barrier->red_count++;
            barrier->true_count += thread->wait_values[0].u32;
        }
    }
}

void oracle_barriers_after_exit(struct oracle_thread *thread)
{
    struct oracle_block *block = thread->block;

    for (uint32_t id = 0; id < ORACLE_BARRIERS; id++) {
        if (block->barriers[id].expected_warps == 0)
            continue;
        check_warp(block, id, thread->warp);
        if (is_complete(block, &block->barriers[id]))
            complete(block, id);
    }
}

/* ---- arriving ---- */

/* has_count: the operand behind the barrier is the number of threads. */
static enum pxr_status arrive(struct oracle_thread *thread, const struct ptx_inst *inst,
                              unsigned id_operand, bool has_count)
{
    struct oracle_block *block = thread->block;
    uint32_t id = oracle_read(thread, inst, id_operand, PTX_TYPE_U32).u32;
    uint32_t count = has_count ? oracle_read(thread, inst, id_operand + 1, PTX_TYPE_U32).u32 : 0;
    uint32_t expected = count ? count / ORACLE_WARP_SIZE : block->warp_count;
    struct oracle_barrier *barrier;

    if (id >= ORACLE_BARRIERS)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "there is no barrier %u", id);
    if (count % ORACLE_WARP_SIZE != 0 || (count == 0 && mode_of(inst) == PTX_MOD_ARRIVE))
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION,
                           "%u threads are no multiple of the warp size", count);
    barrier = &block->barriers[id];
    if (barrier->expected_warps == 0) {
        barrier->expected_warps = expected;
        barrier->is_for_all = count == 0;
    } else if (barrier->expected_warps != expected) {
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION,
                           "threads disagree how many take part in barrier %u", id);
    }
    barrier->lanes[thread->warp] |= UINT32_C(1) << thread->lane;
    thread->state = ORACLE_AT_BARRIER;
    thread->wait_inst = inst;
    thread->wait_barrier = id;
    check_warp(block, id, thread->warp);
    if (is_complete(block, barrier))
        complete(block, id);
    return PXR_OK;
}

enum pxr_status oracle_bar_sync(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return arrive(thread, inst, 0, inst->operand_count > 1);
}

enum pxr_status oracle_bar_arrive(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return arrive(thread, inst, 0, true);
}

enum pxr_status oracle_bar_red(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->wait_values[0] = oracle_read(thread, inst, inst->operand_count - 1, PTX_TYPE_PRED);
    return arrive(thread, inst, 1, inst->operand_count > 3);
}
