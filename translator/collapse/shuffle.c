/* SPDX-License-Identifier: Apache-2.0
 *
 * shfl on vectors: the lane that each lane reads is computed as in rt_shfl_source (lanes.h), for
 * all lanes; LLVM folds it where it is known, and a shuffle of constants is left.
 */
#include <string.h>

#include "translator/collapse/warp_ops.h"
#include "translator/rt/fused.h"

struct shuffle {
    const struct tr_warp_op *op;
    LLVMBuilderRef builder;
    LLVMValueRef own;         /* each lane's value … */
    LLVMValueRef shown;       /* … and the value that others read from it: lanes that are not live
                                 show 0 */
    LLVMValueRef source;      /* <32 x i32>: the lane to read, below 32 */
    LLVMValueRef is_in_range; /* <32 x i1> */
};

static LLVMValueRef lane_numbers(const struct tr_fuse *fuse)
{
    LLVMValueRef numbers[RT_WARP_SIZE];
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        numbers[i] = tr_fuse_i32(fuse, i);
    return LLVMConstVector(numbers, RT_WARP_SIZE);
}

/* (a & mask) | (b & ~mask) */
static LLVMValueRef mix(LLVMBuilderRef b, LLVMValueRef mask, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef kept = LLVMBuildAnd(b, x, mask, "");
    return LLVMBuildOr(b, kept, LLVMBuildAnd(b, y, LLVMBuildNot(b, mask, ""), ""), "");
}

static void find_source(struct shuffle *shuffle)
{
    const struct tr_warp_op *op = shuffle->op;
    LLVMBuilderRef b = shuffle->builder;
    LLVMValueRef max_number = tr_wo_splat_i32(op, RT_WARP_SIZE - 1);
    LLVMValueRef lane = lane_numbers(op->fuse);
    LLVMValueRef distance = LLVMBuildAnd(b, tr_wo_operand(op, 3), max_number, "");
    LLVMValueRef c = tr_wo_operand(op, 4);
    LLVMValueRef clamp = LLVMBuildAnd(b, c, max_number, "");
    LLVMValueRef segment =
        LLVMBuildAnd(b, LLVMBuildLShr(b, c, tr_wo_splat_i32(op, 8), ""), max_number, "");
    LLVMValueRef max_lane = mix(b, segment, lane, clamp);
    LLVMIntPredicate compare = LLVMIntSLE;
    LLVMValueRef source = NULL;
    switch (LLVMConstIntGetZExtValue(LLVMGetOperand(op->call, 1))) {
    case RT_SHFL_UP:
        source = LLVMBuildSub(b, lane, distance, "");
        compare = LLVMIntSGE;
        break;
    case RT_SHFL_DOWN:
        source = LLVMBuildAdd(b, lane, distance, "");
        break;
    case RT_SHFL_BFLY:
        source = LLVMBuildXor(b, lane, distance, "");
        break;
    default:
        source = mix(b, segment, lane, distance);
        break;
    }
    shuffle->is_in_range = LLVMBuildICmp(b, compare, source, max_lane, "");
    shuffle->source = LLVMBuildAnd(b, source, max_number, "");
}

static LLVMValueRef known_shuffle(const struct shuffle *shuffle)
{
    LLVMValueRef from[RT_WARP_SIZE];
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        LLVMValueRef is_in_range = LLVMGetAggregateElement(shuffle->is_in_range, i);
        LLVMValueRef source = LLVMGetAggregateElement(shuffle->source, i);
        bool stays = LLVMIsNull(is_in_range);
        from[i] = stays ? tr_fuse_i32(shuffle->op->fuse, i) : source;
    }
    return LLVMBuildShuffleVector(shuffle->builder, shuffle->shown,
                                  LLVMGetPoison(LLVMTypeOf(shuffle->shown)),
                                  LLVMConstVector(from, RT_WARP_SIZE), "");
}

/* Whether all lanes read the same lane: the mode is IDX, there are no segments, and all name the
 * same. */
static bool is_broadcast(const struct tr_warp_op *op)
{
    const struct tr_kernel *kernel = op->fuse->kernel;
    const struct tr_value *call = &kernel->graph.values[kernel->sync_points[op->sync].value];
    LLVMValueRef c = LLVMGetOperand(op->call, 4);
    if (LLVMConstIntGetZExtValue(LLVMGetOperand(op->call, 1)) != RT_SHFL_IDX ||
        LLVMIsAConstantInt(c) == NULL || (LLVMConstIntGetZExtValue(c) >> 8 & 31) != 0 ||
        call->operands[3] == TR_NONE || !kernel->shapes.is_uniform_segment[call->segment])
        return false;
    return tr_shape_at(&kernel->graph, &kernel->loops, &kernel->shapes, call->operands[3],
                       call->segment)
               .kind == TR_UNIFORM;
}

static LLVMValueRef broadcast(const struct shuffle *shuffle)
{
    const struct tr_warp_op *op = shuffle->op;
    LLVMValueRef lane = tr_wo_first(op, shuffle->source);
    return tr_wo_splat(op, LLVMBuildExtractElement(shuffle->builder, shuffle->shown, lane, ""));
}

static LLVMValueRef gather(const struct shuffle *shuffle)
{
    static const char align[] = "align";
    const struct tr_warp_op *op = shuffle->op;
    const struct tr_fuse *fuse = op->fuse;
    LLVMTypeRef type = LLVMTypeOf(shuffle->shown);
    if (op->fused->shown == NULL)
        op->fused->shown = tr_fuse_variable(fuse, type, "shown");
    tr_store_lanes(fuse, shuffle->shown, op->fused->shown);
    LLVMValueRef source = shuffle->source;
    LLVMValueRef places =
        LLVMBuildInBoundsGEP2(shuffle->builder, fuse->i32, op->fused->shown, &source, 1, "");
    LLVMTypeRef mask_type = LLVMTypeOf(shuffle->is_in_range);
    LLVMTypeRef types[2] = {type, LLVMTypeOf(places)};
    LLVMValueRef args[3] = {places, LLVMConstAllOnes(mask_type), LLVMGetPoison(type)};
    LLVMValueRef call = tr_wo_intrinsic(op, "llvm.masked.gather", types, 2, args, 3);
    unsigned kind = LLVMGetEnumAttributeKindForName(align, sizeof align - 1);
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateEnumAttribute(fuse->llvm, kind, sizeof(uint32_t)));
    return call;
}

struct tr_warp_result tr_wo_shfl(const struct tr_warp_op *op)
{
    struct shuffle shuffle = {.op = op, .builder = op->builder};
    shuffle.own = tr_wo_operand(op, 2);
    shuffle.shown = tr_wo_live_or(op, shuffle.own, LLVMConstNull(LLVMTypeOf(shuffle.own)));
    find_source(&shuffle);
    struct tr_warp_result result = {.predicates = shuffle.is_in_range};
    if (LLVMIsConstant(shuffle.source) && LLVMIsConstant(shuffle.is_in_range)) {
        result.values = known_shuffle(&shuffle);
        return result;
    }
    LLVMValueRef read = is_broadcast(op) ? broadcast(&shuffle) : gather(&shuffle);
    result.values = LLVMBuildSelect(shuffle.builder, shuffle.is_in_range, read, shuffle.own, "");
    return result;
}
