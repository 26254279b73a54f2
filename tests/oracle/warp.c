/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of the lanes of a warp. Lanes are independent threads.
 *
 * With a member mask (.sync): a lane waits until every lane of its mask that has not exited waits
 * at an instruction of the same kind (same operation, types, modifiers) with the same mask.
 *
 * Without one (activemask, shfl and vote without .sync): which lanes take part is up to the
 * machine. Here a lane waits until no lane of its warp can run, or its warp has done PATIENCE
 * steps; then all lanes that wait at the same instruction in the same depth of calls are together.
 * No test may depend on that.
 */
#include <math.h>
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

#define PATIENCE 20000

uint32_t oracle_live_lanes(const struct oracle_block *block, uint32_t warp)
{
    uint32_t first = warp * ORACLE_WARP_SIZE;
    uint32_t lanes = 0;

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE && first + lane < block->thread_count; lane++)
        if (block->threads[first + lane].state != ORACLE_EXITED)
            lanes |= UINT32_C(1) << lane;
    return lanes;
}

/* ---- meeting ---- */

static void finish(struct oracle_thread *thread, uint32_t lanes)
{
    thread->finish(thread, lanes);
    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if (lanes >> lane & 1)
            oracle_thread_of(thread->block, thread->warp, lane)->state = ORACLE_RUNNABLE;
}

static bool is_same_kind(const struct ptx_inst *a, const struct ptx_inst *b)
{
    return a == b || (a->op == b->op && a->mod_count == b->mod_count &&
                      memcmp(a->types, b->types, sizeof(a->types)) == 0 &&
                      memcmp(a->mods, b->mods, a->mod_count * sizeof(a->mods[0])) == 0);
}

static void try_finish(struct oracle_thread *thread)
{
    uint32_t lanes = thread->wait_mask & oracle_live_lanes(thread->block, thread->warp);

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        const struct oracle_thread *other;

        if (!(lanes >> lane & 1))
            continue;
        other = oracle_thread_of(thread->block, thread->warp, lane);
        if (other->state != ORACLE_AT_WARP || other->wait_mask != thread->wait_mask ||
            !is_same_kind(other->wait_inst, thread->wait_inst))
            return;
    }
    finish(thread, lanes);
}

enum pxr_status oracle_warp_after_exit(struct oracle_thread *thread)
{
    uint32_t lanes = oracle_live_lanes(thread->block, thread->warp);

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *other;

        if (!(lanes >> lane & 1))
            continue;
        other = oracle_thread_of(thread->block, thread->warp, lane);
        if (other->state == ORACLE_AT_WARP)
            try_finish(other);
    }
    return PXR_OK;
}

enum pxr_status oracle_meet_lanes(struct oracle_thread *thread, const struct ptx_inst *inst,
                                  uint32_t mask, oracle_finish finish_op)
{
    if (!(mask >> thread->lane & 1))
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION,
                           "lane %u is not in its member mask 0x%x", thread->lane, mask);
    thread->state = ORACLE_AT_WARP;
    thread->wait_inst = inst;
    thread->wait_mask = mask;
    thread->finish = finish_op;
    try_finish(thread);
    return PXR_OK;
}

/* The member mask is the last operand. */
static enum pxr_status meet(struct oracle_thread *thread, const struct ptx_inst *inst,
                            oracle_finish finish_op)
{
    uint32_t mask = oracle_read(thread, inst, inst->operand_count - 1, PTX_TYPE_U32).u32;

    return oracle_meet_lanes(thread, inst, mask, finish_op);
}

static enum pxr_status meet_whoever_comes(struct oracle_thread *thread, const struct ptx_inst *inst,
                                          oracle_finish finish_op)
{
    thread->state = ORACLE_AT_GROUP;
    thread->wait_inst = inst;
    thread->wait_since = thread->block->warp_steps[thread->warp];
    thread->finish = finish_op;
    return PXR_OK;
}

/* ---- groups without a mask ---- */

static bool is_together(const struct oracle_thread *a, const struct oracle_thread *b)
{
    return b->state == ORACLE_AT_GROUP && a->wait_inst == b->wait_inst && a->depth == b->depth;
}

static uint32_t group_of(const struct oracle_thread *thread, uint32_t live)
{
    uint32_t lanes = 0;

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if ((live >> lane & 1) &&
            is_together(thread, oracle_thread_of(thread->block, thread->warp, lane)))
            lanes |= UINT32_C(1) << lane;
    return lanes;
}

/* Of the waiting lanes, those furthest back in the text go first. */
static struct oracle_thread *choose_waiting(const struct oracle_block *block, uint32_t warp,
                                            uint32_t live, bool *has_runnable)
{
    struct oracle_thread *chosen = NULL;

    *has_runnable = false;
    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *thread;

        if (!(live >> lane & 1))
            continue;
        thread = oracle_thread_of(block, warp, lane);
        *has_runnable |= thread->state == ORACLE_RUNNABLE;
        if (thread->state == ORACLE_AT_GROUP &&
            (!chosen || thread->wait_inst->line < chosen->wait_inst->line))
            chosen = thread;
    }
    return chosen;
}

enum pxr_status oracle_release_groups(struct oracle_block *block, bool *progress)
{
    for (uint32_t warp = 0; warp < block->warp_count; warp++) {
        uint32_t live = oracle_live_lanes(block, warp);
        bool has_runnable;
        struct oracle_thread *thread = choose_waiting(block, warp, live, &has_runnable);

        if (!thread || (has_runnable && block->warp_steps[warp] - thread->wait_since < PATIENCE))
            continue;
        finish(thread, group_of(thread, live));
        *progress = true;
    }
    return PXR_OK;
}

/* ---- bar.warp.sync, activemask, elect ---- */

static void finish_nothing(struct oracle_thread *thread, uint32_t lanes)
{
    (void)thread;
    (void)lanes;
}

enum pxr_status oracle_bar_warp_sync(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return meet(thread, inst, finish_nothing);
}

/* Writes to operand 0 of each lane, and to the predicate of its pair. */
struct lane_result {
    union oracle_value value;
    bool predicate;
};

typedef struct lane_result (*lane_function)(const struct oracle_thread *thread, uint32_t lanes);

static void give_each(struct oracle_thread *thread, uint32_t lanes, enum ptx_type type,
                      lane_function result_of)
{
    struct lane_result results[ORACLE_WARP_SIZE];

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if (lanes >> lane & 1)
            results[lane] = result_of(oracle_thread_of(thread->block, thread->warp, lane), lanes);
    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *other;

        if (!(lanes >> lane & 1))
            continue;
        other = oracle_thread_of(thread->block, thread->warp, lane);
        oracle_write(other, other->wait_inst, 0, type, results[lane].value);
        oracle_write_second(other, other->wait_inst, 0, results[lane].predicate);
    }
}

static struct lane_result lanes_themselves(const struct oracle_thread *thread, uint32_t lanes)
{
    (void)thread;
    return (struct lane_result){.value.u64 = lanes};
}

static void finish_activemask(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, PTX_TYPE_B32, lanes_themselves);
}

enum pxr_status oracle_activemask(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return meet_whoever_comes(thread, inst, finish_activemask);
}

/* PTX ISA, "elect.sync": which lane is elected is not said, only that it is always the same. */
static struct lane_result elected(const struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t leader = (uint32_t)__builtin_ctz(lanes);

    return (struct lane_result){.value.u64 = leader, .predicate = thread->lane == leader};
}

static void finish_elect(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, PTX_TYPE_B32, elected);
}

enum pxr_status oracle_elect(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return meet(thread, inst, finish_elect);
}

/* ---- shfl ---- */

/* PTX ISA, "shfl.sync": the source lane, and whether it is in range. */
static bool source_lane(const struct oracle_thread *thread, int32_t *source)
{
    int32_t lane = (int32_t)thread->lane;
    int32_t b = thread->wait_values[1].s32 & 31;
    int32_t clamp = thread->wait_values[2].s32 & 31;
    int32_t segment = thread->wait_values[2].s32 >> 8 & 31;
    int32_t max_lane = (lane & segment) | (clamp & ~segment);
    int32_t min_lane = lane & segment;
    bool is_in_range;

    switch (ptx_inst_mod(thread->wait_inst, PTX_GROUP_SHFLMODE)) {
    case PTX_MOD_UP:
        *source = lane - b;
        is_in_range = *source >= max_lane;
        break;
    case PTX_MOD_DOWN:
        *source = lane + b;
        is_in_range = *source <= max_lane;
        break;
    case PTX_MOD_BFLY:
        *source = lane ^ b;
        is_in_range = *source <= max_lane;
        break;
    default: /* idx */
        *source = min_lane | (b & ~segment);
        is_in_range = *source <= max_lane;
        break;
    }
    if (!is_in_range)
        *source = lane;
    return is_in_range;
}

/* A value from a lane that does not take part is unpredictable. */
static struct lane_result shuffled(const struct oracle_thread *thread, uint32_t lanes)
{
    int32_t source;
    struct lane_result result = {.predicate = source_lane(thread, &source)};

    if (lanes >> source & 1)
        result.value =
            oracle_thread_of(thread->block, thread->warp, (uint32_t)source)->wait_values[0];
    else
        oracle_fill_pattern(thread->oracle, &result.value, sizeof(result.value));
    return result;
}

static void finish_shfl(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, PTX_TYPE_B32, shuffled);
}

enum pxr_status oracle_shfl(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    for (unsigned i = 0; i < 3; i++)
        thread->wait_values[i] = oracle_read(thread, inst, i + 1, PTX_TYPE_B32);
    return ptx_inst_has(inst, PTX_GROUP_SYNC) ? meet(thread, inst, finish_shfl)
                                              : meet_whoever_comes(thread, inst, finish_shfl);
}

/* ---- vote ---- */

static struct lane_result voted(const struct oracle_thread *thread, uint32_t lanes)
{
    struct lane_result result = {0};
    uint32_t ballot = 0;

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if (lanes >> lane & 1)
            ballot |= oracle_thread_of(thread->block, thread->warp, lane)->wait_values[0].u32
                      << lane;
    switch (ptx_inst_mod(thread->wait_inst, PTX_GROUP_VOTEMODE)) {
    case PTX_MOD_ALL:
        result.value.u64 = ballot == lanes;
        break;
    case PTX_MOD_ANY:
        result.value.u64 = ballot != 0;
        break;
    case PTX_MOD_UNI:
        result.value.u64 = ballot == 0 || ballot == lanes;
        break;
    default: /* ballot */
        result.value.u64 = ballot;
        break;
    }
    return result;
}

static void finish_vote(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, thread->wait_inst->types[0], voted);
}

enum pxr_status oracle_vote(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->wait_values[0] = oracle_read(thread, inst, 1, PTX_TYPE_PRED);
    return ptx_inst_has(inst, PTX_GROUP_SYNC) ? meet(thread, inst, finish_vote)
                                              : meet_whoever_comes(thread, inst, finish_vote);
}

/* ---- match ---- */

static uint32_t lanes_like(const struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t same = 0;

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if ((lanes >> lane & 1) &&
            oracle_thread_of(thread->block, thread->warp, lane)->wait_values[0].u64 ==
                thread->wait_values[0].u64)
            same |= UINT32_C(1) << lane;
    return same;
}

/* PTX ISA, "match.sync": .any gives the lanes with this lane's value; .all gives all lanes and
 * true if they have one value, else 0 and false. */
static struct lane_result matched(const struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t same = lanes_like(thread, lanes);

    if (ptx_inst_mod(thread->wait_inst, PTX_GROUP_VOTEMODE) == PTX_MOD_ANY)
        return (struct lane_result){.value.u64 = same};
    return (struct lane_result){.value.u64 = same == lanes ? lanes : 0, .predicate = same == lanes};
}

static void finish_match(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, PTX_TYPE_B32, matched);
}

enum pxr_status oracle_match(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->wait_values[0] = oracle_read(thread, inst, 1, inst->types[0]);
    return meet(thread, inst, finish_match);
}

/* ---- redux ---- */

static uint32_t reduce_integer(const struct ptx_inst *inst, uint32_t a, uint32_t b)
{
    bool is_signed = ptx_type_is_signed(inst->types[0]);
    bool is_less = is_signed ? (int32_t)a < (int32_t)b : a < b;

    switch (ptx_inst_mod(inst, PTX_GROUP_ATOMOP)) {
    case PTX_MOD_ADD:
        return a + b;
    case PTX_MOD_MIN:
        return is_less ? a : b;
    case PTX_MOD_MAX:
        return is_less ? b : a;
    case PTX_MOD_AND:
        return a & b;
    case PTX_MOD_OR:
        return a | b;
    default: /* xor */
        return a ^ b;
    }
}

#define CANONICAL_NAN 0x7fffffff

/* PTX ISA, "redux.sync": .NaN makes the result NaN when a value is; otherwise NaN values do not
 * count. -0 is less than +0. */
static uint32_t reduce_float(const struct ptx_inst *inst, union oracle_value a,
                             union oracle_value b)
{
    bool is_min = ptx_inst_mod(inst, PTX_GROUP_ATOMOP) == PTX_MOD_MIN;
    bool is_less = a.f32 < b.f32 || (a.f32 == b.f32 && a.s32 < b.s32);

    if (isnan(a.f32) && isnan(b.f32))
        return CANONICAL_NAN;
    if (isnan(a.f32) || isnan(b.f32)) {
        if (ptx_inst_has(inst, PTX_GROUP_NAN))
            return CANONICAL_NAN;
        return isnan(a.f32) ? b.u32 : a.u32;
    }
    return is_less == is_min ? a.u32 : b.u32;
}

static uint32_t reduce(const struct ptx_inst *inst, uint32_t a, uint32_t b)
{
    if (inst->types[0] != PTX_TYPE_F32)
        return reduce_integer(inst, a, b);
    return reduce_float(inst, (union oracle_value){.u32 = a}, (union oracle_value){.u32 = b});
}

/* A lane's value; .abs takes its sign away, and a NaN is the canonical one. */
static uint32_t value_to_reduce(const struct oracle_thread *thread)
{
    union oracle_value value = thread->wait_values[0];

    if (thread->wait_inst->types[0] != PTX_TYPE_F32)
        return value.u32;
    if (ptx_inst_has(thread->wait_inst, PTX_GROUP_XORSIGN))
        value.u32 &= 0x7fffffff;
    return isnan(value.f32) ? CANONICAL_NAN : value.u32;
}

static struct lane_result reduced(const struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t result = 0;
    bool is_first = true;

    for (uint32_t lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        uint32_t value;

        if (!(lanes >> lane & 1))
            continue;
        value = value_to_reduce(oracle_thread_of(thread->block, thread->warp, lane));
        result = is_first ? value : reduce(thread->wait_inst, result, value);
        is_first = false;
    }
    return (struct lane_result){.value.u64 = result};
}

static void finish_redux(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, thread->wait_inst->types[0], reduced);
}

enum pxr_status oracle_redux(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->wait_values[0] = oracle_read(thread, inst, 1, inst->types[0]);
    return meet(thread, inst, finish_redux);
}

/* ---- movmatrix ---- */

/* PTX ISA, "movmatrix": lane i has elements 2 * (i % 4) and the next one of row i / 4, the lower
 * half first. What comes from a lane that does not take part is unpredictable. */
static uint16_t matrix_element(const struct oracle_thread *thread, uint32_t lanes, uint32_t row,
                               uint32_t column)
{
    uint32_t lane = row * 4 + column / 2;
    union oracle_value pair;

    if (lanes >> lane & 1)
        pair = oracle_thread_of(thread->block, thread->warp, lane)->wait_values[0];
    else
        oracle_fill_pattern(thread->oracle, &pair, sizeof(pair));
    return (uint16_t)(column % 2 ? pair.u32 >> 16 : pair.u32);
}

static struct lane_result transposed(const struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t row = thread->lane / 4;
    uint32_t column = thread->lane % 4 * 2;
    uint32_t low = matrix_element(thread, lanes, column, row);
    uint32_t high = matrix_element(thread, lanes, column + 1, row);

    return (struct lane_result){.value.u64 = high << 16 | low};
}

static void finish_movmatrix(struct oracle_thread *thread, uint32_t lanes)
{
    give_each(thread, lanes, PTX_TYPE_B32, transposed);
}

/* .aligned: all lanes of the warp execute it. */
enum pxr_status oracle_movmatrix(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    thread->wait_values[0] = oracle_read(thread, inst, 1, PTX_TYPE_B32);
    return oracle_meet_lanes(thread, inst, UINT32_MAX, finish_movmatrix);
}
