/* SPDX-License-Identifier: Apache-2.0
 *
 * Uniform values of a group are computed once behind the loop over its threads instead of in it: a
 * store in the loop, to one place and under a condition, costs more than all else there.
 *
 * The value that threads have when they come to a sync point is found on the region's segments: it
 * was defined on the way if its definition is on every way there, and comes from before if it is on
 * none. If it is on some, or a phi could have come to its value in several ways, the value is left
 * to the threads.
 *
 * Where the group goes is found likewise: if all branches that decide it depend on uniform values
 * that can be computed behind the loop, threads need not report where they have come to.
 */
#include <string.h>

#include "translator/collapse/again.h"
#include "translator/collapse/region_loop.h"

/* Instructions for one value, at most. */
#define MAX_INSTRUCTIONS 64

/* Branches that may decide where a group goes; also ends the way around a loop. */
#define MAX_BRANCHES 16

/* Segments between a branch at which threads part and the place where they meet. */
#define MEETING_MAX 16

/* Where a thread ends: at a sync point, or one of these. A thread in a fault ends nowhere. */
#define COMES_TO_EXIT    0
#define COMES_TO_SEVERAL (TR_NONE - 1)

struct group {
    struct tr_fused *fused;
    uint32_t region;
    bool is_dry;      /* only asks whether it can be done; values are those of the kernel */
    uint32_t left;    /* instructions that may still be made */
    bool *is_visited; /* by segment */
    uint32_t *queue;
};

enum origin { ORIGIN_BEFORE, ORIGIN_ON_THE_WAY, ORIGIN_EITHER };

static const struct tr_kernel *kernel_of(const struct group *group)
{
    return group->fused->fuse->kernel;
}

/* ---- where a value comes from ---- */

/* Whether a thread of the region can come from one segment to another without passing a third. */
static bool reaches(struct group *group, uint32_t from, uint32_t to, uint32_t without)
{
    const struct tr_graph *graph = &kernel_of(group)->graph;
    if (from == without)
        return false;
    memset(group->is_visited, 0, graph->segment_count * sizeof *group->is_visited);
    group->is_visited[from] = true;
    group->queue[0] = from;
    uint32_t tail = 1;
    for (uint32_t head = 0; head < tail; head++) {
        const struct tr_segment *segment = &graph->segments[group->queue[head]];
        if (group->queue[head] == to)
            return true;
        for (uint32_t i = 0; !segment->is_sync_point && i < segment->succ_count; i++) {
            uint32_t next = segment->succs[i];
            if (next == without || group->is_visited[next])
                continue;
            group->is_visited[next] = true;
            group->queue[tail++] = next;
        }
    }
    return false;
}

/* The value's origin for a thread at the end of the segment, which is in the region. */
static enum origin origin_of(struct group *group, uint32_t value, uint32_t segment)
{
    const struct tr_kernel *kernel = kernel_of(group);
    uint32_t first = kernel->sync_points[group->region].resume;
    uint32_t definition = kernel->graph.values[value].segment;
    if (group->region != 0 && value == kernel->sync_points[group->region].value)
        return ORIGIN_BEFORE;
    if (definition == segment)
        return ORIGIN_ON_THE_WAY;
    if (!reaches(group, first, definition, TR_NONE) ||
        !reaches(group, definition, segment, TR_NONE))
        return ORIGIN_BEFORE;
    return reaches(group, first, segment, definition) ? ORIGIN_EITHER : ORIGIN_ON_THE_WAY;
}

/* ---- computing ---- */

static LLVMValueRef build_value(struct group *group, uint32_t value, uint32_t segment);

/* A special register; one that numbers lanes has the value of the first. */
static LLVMValueRef build_register(struct group *group, uint32_t value)
{
    const struct tr_kernel *kernel = kernel_of(group);
    LLVMValueRef call = kernel->graph.values[value].llvm;
    bool is_of_group = tr_is_group_register(call);
    if (!is_of_group && !kernel->shapes.is_lane_number[value])
        return NULL;
    if (group->is_dry)
        return call;
    return is_of_group ? tr_group_register(group->fused, value) : tr_first_tid(group->fused);
}

/* segment: where the instruction is; TR_NONE: it is computed again at the region's beginning. */
static LLVMValueRef build_instruction(struct group *group, uint32_t value, uint32_t segment)
{
    const struct tr_fuse *fuse = group->fused->fuse;
    const struct tr_value *inst = &kernel_of(group)->graph.values[value];
    if (tr_again_kind(inst) != TR_AGAIN_PURE || group->left == 0)
        return NULL;
    group->left--;
    if (inst->opcode == LLVMLoad && inst->operands[0] == 0)
        return group->is_dry ? inst->llvm : fuse->block;
    if (inst->opcode == LLVMCall && inst->operand_count > 0 && inst->operands[0] == 0)
        return build_register(group, value);
    LLVMValueRef copy = group->is_dry ? NULL : LLVMInstructionClone(inst->llvm);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        if (inst->operands[i] == TR_NONE)
            continue;
        LLVMValueRef operand = build_value(group, inst->operands[i], segment);
        if (operand == NULL)
            return NULL; /* in a dry run only */
        if (!group->is_dry)
            LLVMSetOperand(copy, i, operand);
    }
    if (group->is_dry)
        return inst->llvm;
    tr_clone_locate(&group->fused->clone, value);
    LLVMInsertIntoBuilder(fuse->builder, copy);
    return copy;
}

static LLVMValueRef build_from_before(struct group *group, uint32_t value)
{
    const struct tr_crossing *crossing = &group->fused->fuse->storage.crossings[group->region];
    if (group->region == 0)
        return NULL;
    if (crossing->home[value] == TR_HOME_GROUP)
        return group->is_dry ? kernel_of(group)->graph.values[value].llvm
                             : group->fused->loaded[group->region][value];
    if (crossing->home[value] == TR_HOME_AGAIN)
        return build_instruction(group, value, TR_NONE);
    return NULL;
}

/* The only way into the phi's segment in this region; TR_NONE: there are several. */
static uint32_t only_way_in(const struct group *group, const struct tr_value *phi)
{
    const struct tr_kernel *kernel = kernel_of(group);
    const struct tr_set *segments = &kernel->regions[group->region].segments;
    uint32_t way = TR_NONE;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        uint32_t from = phi->incoming[i];
        if (from == TR_NONE || !tr_set_has(segments, from) ||
            kernel->graph.segments[from].is_sync_point)
            continue;
        if (way != TR_NONE)
            return TR_NONE;
        way = i;
    }
    return way;
}

static LLVMValueRef build_phi(struct group *group, uint32_t value)
{
    const struct tr_value *phi = &kernel_of(group)->graph.values[value];
    uint32_t way = only_way_in(group, phi);
    if (way == TR_NONE || group->left == 0)
        return NULL;
    group->left--;
    if (phi->operands[way] == TR_NONE)
        return LLVMGetIncomingValue(phi->llvm, way);
    return build_value(group, phi->operands[way], phi->incoming[way]);
}

/* The value that a thread has at the end of the segment; TR_NONE: at the region's beginning. */
static LLVMValueRef build_value(struct group *group, uint32_t value, uint32_t segment)
{
    const struct tr_value *inst = &kernel_of(group)->graph.values[value];
    const struct tr_shapes *shapes = &kernel_of(group)->shapes;
    bool is_known = shapes->values[value].kind == TR_UNIFORM || shapes->is_lane_number[value];
    if (inst->segment == TR_NONE || !is_known)
        return NULL;
    if (segment == TR_NONE)
        return build_from_before(group, value);
    switch (origin_of(group, value, segment)) {
    case ORIGIN_BEFORE:
        return build_from_before(group, value);
    case ORIGIN_ON_THE_WAY:
        return inst->opcode == LLVMPHI ? build_phi(group, value)
                                       : build_instruction(group, value, inst->segment);
    case ORIGIN_EITHER:
    default:
        return NULL;
    }
}

static struct group group_of(struct tr_fused *fused, uint32_t region, bool is_dry)
{
    struct tr_kernel *kernel = fused->fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    struct group group = {.fused = fused, .region = region, .is_dry = is_dry};
    uint32_t count = kernel->graph.segment_count;
    group.is_visited = pxr_arena_alloc_array(arena, count, sizeof *group.is_visited);
    group.queue = pxr_arena_alloc_array(arena, count, sizeof *group.queue);
    return group;
}

static LLVMValueRef build_at_sync(struct group *group, uint32_t sync, uint32_t value)
{
    group->left = MAX_INSTRUCTIONS;
    if (group->is_visited == NULL || group->queue == NULL)
        return NULL;
    return build_value(group, value, tr_sync_segment(kernel_of(group), sync));
}

bool tr_is_group_value(struct tr_fused *fused, uint32_t region, uint32_t sync, uint32_t value)
{
    if (tr_region_parts(fused, region))
        return false;
    struct group group = group_of(fused, region, true);
    return fused->fuse->storage.crossings[sync].home[value] == TR_HOME_GROUP &&
           build_at_sync(&group, sync, value) != NULL;
}

void tr_save_group_values(struct tr_fused *fused, uint32_t region, uint32_t sync)
{
    struct tr_fuse *fuse = fused->fuse;
    const struct tr_crossing *crossing = &fuse->storage.crossings[sync];
    struct group group = group_of(fused, region, false);
    struct tr_lanes lanes = {0};
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (tr_is_saved_already(fuse->kernel, &fuse->storage, region, sync, v) ||
            !tr_is_group_value(fused, region, sync, v) || tr_fuse_seed(fuse, TR_SEED_LOST_VALUE))
            continue;
        if (lanes.group == NULL)
            lanes = tr_lanes_now(fused);
        LLVMValueRef now = build_at_sync(&group, sync, v);
        tr_keep_of_group(fused, sync, v, lanes.group, now);
    }
    LLVMSetCurrentDebugLocation2(fuse->builder, NULL);
}

/* ---- where the group goes ---- */

static uint32_t sync_of(const struct tr_kernel *kernel, uint32_t segment)
{
    uint32_t sync = 1;
    while (tr_sync_segment(kernel, sync) != segment)
        sync++;
    return sync;
}

static uint32_t join_outcomes(uint32_t a, uint32_t b)
{
    if (a == TR_NONE || a == b)
        return b;
    return b == TR_NONE ? a : COMES_TO_SEVERAL;
}

/* Where threads in the segment end; those that come to `without` do not count. */
static uint32_t outcome_without(struct group *group, uint32_t first, uint32_t without)
{
    const struct tr_kernel *kernel = kernel_of(group);
    const struct tr_graph *graph = &kernel->graph;
    uint32_t outcome = TR_NONE;
    memset(group->is_visited, 0, graph->segment_count * sizeof *group->is_visited);
    group->is_visited[first] = true;
    group->queue[0] = first;
    uint32_t tail = 1;
    for (uint32_t head = 0; head < tail && outcome != COMES_TO_SEVERAL; head++) {
        uint32_t s = group->queue[head];
        const struct tr_segment *segment = &graph->segments[s];
        if (segment->is_sync_point)
            outcome = join_outcomes(outcome, sync_of(kernel, s));
        else if (tr_segment_exits(kernel, s))
            outcome = join_outcomes(outcome, COMES_TO_EXIT);
        for (uint32_t i = 0; !segment->is_sync_point && i < segment->succ_count; i++) {
            if (segment->succs[i] == without || group->is_visited[segment->succs[i]])
                continue;
            group->is_visited[segment->succs[i]] = true;
            group->queue[tail++] = segment->succs[i];
        }
    }
    return outcome;
}

static uint32_t outcome_from(struct group *group, uint32_t first)
{
    return outcome_without(group, first, TR_NONE);
}

/* The first segment where all threads that part in this one come together; TR_NONE: there is none
 * near. Segments are in the order of control flow. */
static uint32_t meeting_of(struct group *group, uint32_t segment)
{
    const struct tr_graph *graph = &kernel_of(group)->graph;
    const struct tr_set *segments = &kernel_of(group)->regions[group->region].segments;
    uint32_t end = segment + MEETING_MAX;
    for (uint32_t s = segment + 1; s < end && s < graph->segment_count; s++)
        if (tr_set_has(segments, s) && reaches(group, segment, s, TR_NONE) &&
            outcome_without(group, segment, s) == TR_NONE)
            return s;
    return TR_NONE;
}

/* The condition of a branch at the segment's end, the same for all threads of the group; NULL: it
 * is no such condition. */
static LLVMValueRef build_condition(struct group *group, uint32_t segment)
{
    const struct tr_kernel *kernel = kernel_of(group);
    const struct tr_segment *at = &kernel->graph.segments[segment];
    const struct tr_value *branch = &kernel->graph.values[at->first_value + at->value_count - 1];
    if (branch->opcode != LLVMBr || at->succ_count != 2 || kernel->shapes.is_divergent[segment])
        return NULL;
    if (branch->operands[0] == TR_NONE)
        return LLVMGetCondition(branch->llvm);
    group->left = MAX_INSTRUCTIONS;
    return build_value(group, branch->operands[0], segment);
}

/* Builds the way on from the segment, to which all threads of the group have come. targets: by
 * outcome; unused in a dry run. */
static bool build_way(struct group *group, uint32_t segment, uint32_t *branches,
                      const LLVMBasicBlockRef *targets)
{
    const struct tr_fuse *fuse = group->fused->fuse;
    const struct tr_segment *at = &kernel_of(group)->graph.segments[segment];
    uint32_t outcome = outcome_from(group, segment);
    if (outcome != COMES_TO_SEVERAL) {
        if (!group->is_dry && outcome == TR_NONE)
            LLVMBuildUnreachable(fuse->builder);
        else if (!group->is_dry)
            LLVMBuildBr(fuse->builder, targets[outcome]);
        return true;
    }
    if ((*branches)++ == MAX_BRANCHES)
        return false;
    for (uint32_t i = 0; i < at->succ_count; i++)
        if (at->succ_count == 1 ||
            (at->succ_count == 2 && outcome_from(group, at->succs[1 - i]) == TR_NONE))
            return build_way(group, at->succs[i], branches, targets);
    LLVMValueRef condition = build_condition(group, segment);
    if (condition == NULL) {
        uint32_t meeting = meeting_of(group, segment);
        return meeting != TR_NONE && build_way(group, meeting, branches, targets);
    }
    LLVMBasicBlockRef ways[2] = {NULL, NULL};
    if (!group->is_dry) {
        ways[0] = tr_fuse_new_block(fuse, "way");
        ways[1] = tr_fuse_new_block(fuse, "way");
        LLVMBuildCondBr(fuse->builder, condition, ways[0], ways[1]);
    }
    for (int i = 0; i < 2; i++) {
        if (!group->is_dry)
            LLVMPositionBuilderAtEnd(fuse->builder, ways[i]);
        if (!build_way(group, at->succs[i], branches, targets))
            return false; /* in a dry run only */
    }
    return true;
}

bool tr_is_group_way(struct tr_fused *fused, uint32_t region)
{
    struct group group = group_of(fused, region, true);
    uint32_t branches = 0;
    if (group.is_visited == NULL || group.queue == NULL)
        return false;
    return build_way(&group, kernel_of(&group)->sync_points[region].resume, &branches, NULL);
}

void tr_build_group_way(struct tr_fused *fused, uint32_t region, const LLVMBasicBlockRef *targets)
{
    struct group group = group_of(fused, region, false);
    uint32_t branches = 0;
    build_way(&group, kernel_of(&group)->sync_points[region].resume, &branches, targets);
    LLVMSetCurrentDebugLocation2(fused->fuse->builder, NULL);
}
