/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that the function of the blocks keeps behind sync points of the warp. One warp at a time
 * is between them, so they are kept not in the frame but in variables of the function, with an
 * element for each lane: where the loop over the lanes becomes straight code, LLVM makes registers
 * of them. When lanes part, these values move to where steps look for them (parting.c).
 */
#include <string.h>

#include <llvm-c/Target.h>

#include "translator/collapse/kept.h"
#include "translator/collapse/region_loop.h"
#include "translator/module/marks.h"
#include "translator/rt/fused.h"

#define VARIABLE_ALIGN 64

static LLVMTypeRef type_of(const struct tr_fuse *fuse, uint32_t value)
{
    return LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
}

static uint32_t bytes_of(const struct tr_fuse *fuse, LLVMTypeRef type)
{
    return (uint32_t)LLVMABISizeOfType(LLVMGetModuleDataLayout(fuse->module), type);
}

/* ---- variables ---- */

static LLVMValueRef lane_array(const struct tr_fuse *fuse, LLVMValueRef *array, LLVMTypeRef type)
{
    if (*array == NULL)
        *array = tr_lane_variable(fuse, type);
    return *array;
}

static LLVMValueRef element_of(const struct tr_region_build *region, LLVMValueRef array,
                               LLVMTypeRef type)
{
    const struct tr_fuse *fuse = region->fuse;
    return tr_fuse_element(fuse, type, array,
                           LLVMBuildZExt(fuse->builder, region->lane, fuse->i64, ""));
}

static LLVMValueRef lane_element(const struct tr_region_build *region, LLVMValueRef *array,
                                 LLVMTypeRef type)
{
    return element_of(region, lane_array(region->fuse, array, type), type);
}

LLVMValueRef tr_scratch(struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    if (fused->scratch != NULL)
        return fused->scratch;
    uint64_t bytes = sizeof(struct rt_fused_op);
    const struct tr_set *tracked = &fuse->frame.tracked;
    for (uint32_t v = tr_set_next(tracked, 0); v != TR_NONE; v = tr_set_next(tracked, v + 1)) {
        uint64_t needed = (uint64_t)RT_WARP_SIZE * bytes_of(fuse, type_of(fuse, v));
        bytes = bytes < needed ? needed : bytes;
    }
    fused->scratch = tr_fuse_variable(fuse, LLVMArrayType2(fuse->i8, bytes), "scratch");
    LLVMSetAlignment(fused->scratch, VARIABLE_ALIGN);
    return fused->scratch;
}

/* ---- values ---- */

LLVMValueRef tr_group_place(struct tr_fused *fused, uint32_t sync, uint32_t value,
                            LLVMValueRef group)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMTypeRef type = tr_kept_type(type_of(fuse, value));
    if (!tr_is_warp_sync_point(fuse->kernel, sync))
        return tr_fuse_group_element(fuse, fuse->frame.group_array[value], type, group);
    if (fused->warp_value[value] == NULL)
        fused->warp_value[value] = tr_fuse_variable(fuse, type, "of_warp");
    return fused->warp_value[value];
}

void tr_keep_of_group(struct tr_fused *fused, uint32_t sync, uint32_t value, LLVMValueRef group,
                      LLVMValueRef now)
{
    tr_store_kept(fused->fuse->builder, now, tr_group_place(fused, sync, value, group));
}

LLVMValueRef tr_kept_of_group(struct tr_fused *fused, uint32_t sync, uint32_t value,
                              LLVMValueRef group)
{
    return tr_load_kept(fused->fuse->builder, type_of(fused->fuse, value),
                        tr_group_place(fused, sync, value, group));
}

/* The place of what the region's thread keeps at the sync point: in the frame, or in the warp's
 * array. */
static LLVMValueRef thread_place(const struct tr_region_build *region, uint32_t sync,
                                 uint32_t value, LLVMTypeRef element)
{
    const struct tr_fuse *fuse = region->fuse;
    if (tr_is_warp_sync_point(fuse->kernel, sync))
        return element_of(region, tr_warp_array(region->fused, value, element), element);
    LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.thread_array[value]);
    return tr_fuse_element(fuse, element, base, region->index);
}

void tr_keep(struct tr_region_build *region, uint32_t sync, uint32_t value, LLVMValueRef now)
{
    struct tr_fuse *fuse = region->fuse;
    if (fuse->storage.crossings[sync].home[value] == TR_HOME_GROUP) {
        tr_keep_of_group(region->fused, sync, value, region->lanes.group, now);
        return;
    }
    LLVMTypeRef element = tr_kept_type(LLVMTypeOf(now));
    tr_store_kept(fuse->builder, now, thread_place(region, sync, value, element));
}

LLVMValueRef tr_kept(struct tr_region_build *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMTypeRef type = type_of(fuse, value);
    return tr_load_kept(fuse->builder, type,
                        thread_place(region, region->number, value, tr_kept_type(type)));
}

LLVMValueRef tr_kept_lanes(struct tr_fused *fused, uint32_t value)
{
    const struct tr_fuse *fuse = fused->fuse;
    return tr_warp_array(fused, value, tr_kept_type(type_of(fuse, value)));
}

/* ---- operands and results ---- */

static struct tr_warp_slot *slot_of(struct tr_fused *fused, uint32_t sync)
{
    return &fused->slots[sync % TR_WARP_SLOTS];
}

static LLVMValueRef call_at(const struct tr_fuse *fuse, uint32_t sync)
{
    return fuse->kernel->graph.values[fuse->kernel->sync_points[sync].value].llvm;
}

/* Floats that are shuffled stay floats, so that they stay in registers. */
static LLVMTypeRef operand_type(const struct tr_fuse *fuse, uint32_t sync, unsigned i)
{
    LLVMValueRef operand = LLVMGetOperand(call_at(fuse, sync), i);
    if (i != TR_SHFL_VALUE || tr_placeholder_of(call_at(fuse, sync)) != RT_CALL_SHFL ||
        LLVMIsABitCastInst(operand) == NULL)
        return LLVMTypeOf(operand);
    LLVMTypeRef source = LLVMTypeOf(LLVMGetOperand(operand, 0));
    return LLVMGetTypeKind(source) == LLVMFloatTypeKind ? source : LLVMTypeOf(operand);
}

static LLVMValueRef *operand_array(struct tr_fused *fused, uint32_t sync, unsigned i)
{
    bool is_wide = operand_type(fused->fuse, sync, i) == fused->fuse->i64;
    return &slot_of(fused, sync)->operand[i - 1][is_wide];
}

void tr_keep_operand(struct tr_region_build *region, uint32_t sync, unsigned i, LLVMValueRef now)
{
    struct tr_fuse *fuse = region->fuse;
    if (tr_is_warp_sync_point(fuse->kernel, sync)) {
        LLVMTypeRef type = operand_type(fuse, sync, i);
        LLVMValueRef place = lane_element(region, operand_array(region->fused, sync, i), type);
        LLVMBuildStore(fuse->builder, LLVMBuildBitCast(fuse->builder, now, type, ""), place);
        return;
    }
    LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.operand_array[i - 1]);
    LLVMBuildStore(fuse->builder, LLVMBuildZExt(fuse->builder, now, fuse->i64, ""),
                   tr_fuse_element(fuse, fuse->i64, base, region->index));
}

LLVMValueRef tr_load_lanes(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef place)
{
    LLVMValueRef load =
        LLVMBuildLoad2(fuse->builder, LLVMVectorType(type, RT_WARP_SIZE), place, "");
    LLVMSetAlignment(load, VARIABLE_ALIGN);
    return load;
}

void tr_store_lanes(const struct tr_fuse *fuse, LLVMValueRef lanes, LLVMValueRef place)
{
    LLVMSetAlignment(LLVMBuildStore(fuse->builder, lanes, place), VARIABLE_ALIGN);
}

LLVMValueRef tr_kept_operand(struct tr_fused *fused, uint32_t sync, unsigned i)
{
    LLVMTypeRef type = operand_type(fused->fuse, sync, i);
    return tr_load_lanes(fused->fuse, type,
                         lane_array(fused->fuse, operand_array(fused, sync, i), type));
}

LLVMValueRef tr_as_integers(const struct tr_fuse *fuse, LLVMValueRef lanes)
{
    if (LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(lanes))) == LLVMIntegerTypeKind)
        return lanes;
    return LLVMBuildBitCast(fuse->builder, lanes, LLVMVectorType(fuse->i32, RT_WARP_SIZE), "");
}

/* Whether the instruction cuts off the upper half of 64 bits. */
static bool cuts_upper_half(LLVMValueRef user)
{
    if (LLVMIsAInstruction(user) == NULL)
        return false;
    if (LLVMGetInstructionOpcode(user) == LLVMTrunc)
        return LLVMGetIntTypeWidth(LLVMTypeOf(user)) <= 32;
    LLVMValueRef right = LLVMGetNumOperands(user) == 2 ? LLVMGetOperand(user, 1) : NULL;
    if (right == NULL || LLVMIsAConstantInt(right) == NULL)
        return false;
    uint64_t constant = LLVMConstIntGetZExtValue(right);
    return LLVMGetInstructionOpcode(user) == LLVMShl
               ? constant >= 32
               : LLVMGetInstructionOpcode(user) == LLVMAnd && constant <= UINT32_MAX;
}

/* Whether any user but such instructions needs it. */
bool tr_asks_predicate(LLVMValueRef call)
{
    for (LLVMUseRef use = LLVMGetFirstUse(call); use != NULL; use = LLVMGetNextUse(use))
        if (!cuts_upper_half(LLVMGetUser(use)))
            return true;
    return false;
}

/* The type of the shuffled value, for a shuffle. */
static LLVMTypeRef given_type(const struct tr_fuse *fuse, uint32_t sync)
{
    if (tr_placeholder_of(call_at(fuse, sync)) != RT_CALL_SHFL)
        return fuse->i32;
    return operand_type(fuse, sync, TR_SHFL_VALUE);
}

void tr_give_lanes(struct tr_fused *fused, uint32_t sync, LLVMValueRef values,
                   LLVMValueRef predicates)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    tr_store_lanes(fuse, values,
                   lane_array(fuse, &slot_of(fused, sync)->values, given_type(fuse, sync)));
    if (predicates == NULL)
        return;
    LLVMTypeRef bytes = LLVMVectorType(fuse->i8, RT_WARP_SIZE);
    tr_store_lanes(fuse, LLVMBuildZExt(b, predicates, bytes, ""),
                   lane_array(fuse, &slot_of(fused, sync)->predicates, fuse->i8));
}

LLVMValueRef tr_lane_result(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    struct tr_warp_slot *slot = slot_of(region->fused, region->number);
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef call = call_at(fuse, region->number);
    LLVMTypeRef given = given_type(fuse, region->number);
    LLVMValueRef value = LLVMBuildLoad2(b, given, lane_element(region, &slot->values, given), "");
    value = LLVMBuildBitCast(b, value, fuse->i32, "");
    if (LLVMTypeOf(call) == fuse->i32)
        return value;
    value = LLVMBuildZExt(b, value, fuse->i64, "");
    if (!tr_asks_predicate(call))
        return value;
    LLVMValueRef predicate =
        LLVMBuildLoad2(b, fuse->i8, lane_element(region, &slot->predicates, fuse->i8), "");
    predicate = LLVMBuildZExt(b, LLVMBuildTrunc(b, predicate, fuse->i1, ""), fuse->i64, "");
    return LLVMBuildOr(b, value, LLVMBuildShl(b, predicate, tr_fuse_i64(fuse, 32), ""), "");
}
