/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of an iteration: scalars, and vectors of them made where they are needed. Nothing is kept
 * that can be made again: LLVM finds what has been made twice.
 */
#include <llvm-c/Target.h>

#include "translator/vector/emit/form.h"

/* ---- where a value is ---- */

uint32_t tr_widen_holder(const struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    const struct tr_shape *shape = &widen->iteration->shapes.values[value];
    if (shape->kind == TR_UNIFORM)
        return 0;
    uint32_t column = copy % widen->jam[0];
    uint32_t row = copy / widen->jam[0];
    if (shape->kind == TR_AFFINE && shape->stride == 0)
        column = 0;
    if (!widen->iteration->depends_on_row[value])
        row = 0;
    return row * widen->jam[0] + column;
}

struct tr_shape tr_widen_shape(const struct tr_widen *widen, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&widen->iteration->graph, operand);
    if (number == TR_NONE)
        return (struct tr_shape){.kind = TR_UNIFORM, .no_wrap = true};
    return widen->iteration->shapes.values[number];
}

static LLVMValueRef held(const struct tr_widen *widen, LLVMValueRef operand, uint32_t copy)
{
    uint32_t number = tr_graph_number(&widen->iteration->graph, operand);
    if (number == TR_NONE)
        return operand;
    LLVMValueRef now = widen->now[number * widen->copies + tr_widen_holder(widen, number, copy)];
    bool is_from_outside = widen->iteration->graph.values[number].segment == TR_NONE;
    return now == NULL && is_from_outside ? operand : now;
}

LLVMValueRef tr_widen_scalar(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy)
{
    return held(widen, operand, copy);
}

/* ---- types ---- */

static bool is_struct(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind;
}

static bool is_aggregate(LLVMTypeRef type)
{
    return is_struct(type) || LLVMGetTypeKind(type) == LLVMArrayTypeKind;
}

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static uint32_t field_count(LLVMTypeRef type)
{
    return is_struct(type) ? LLVMCountStructElementTypes(type)
                           : (uint32_t)LLVMGetArrayLength2(type);
}

static LLVMTypeRef field_type(LLVMTypeRef type, uint32_t field)
{
    return is_struct(type) ? LLVMStructGetTypeAtIndex(type, field) : LLVMGetElementType(type);
}

/* A struct with more fields is no value of a program. */
#define MAX_FIELDS 64

bool tr_is_holdable(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMIntegerTypeKind:
    case LLVMPointerTypeKind:
        return true;
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) <= TR_MAX_ELEMENTS / 64;
    case LLVMStructTypeKind:
    case LLVMArrayTypeKind:
        if (is_struct(type) ? field_count(type) > MAX_FIELDS
                            : LLVMGetArrayLength2(type) > MAX_FIELDS)
            return false;
        for (uint32_t i = 0; i < field_count(type); i++)
            if (!tr_is_holdable(field_type(type, i)))
                return false;
        return true;
    default:
        return false;
    }
}

static LLVMTypeRef struct_type(const struct tr_widen *widen, LLVMTypeRef type)
{
    LLVMTypeRef fields[MAX_FIELDS];
    uint32_t count = field_count(type);
    for (uint32_t i = 0; i < count; i++)
        fields[i] = tr_widen_type(widen, field_type(type, i));
    return LLVMStructTypeInContext(widen->llvm, fields, count, false);
}

LLVMTypeRef tr_widen_type(const struct tr_widen *widen, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
        return type;
    case LLVMStructTypeKind:
        return struct_type(widen, type);
    case LLVMArrayTypeKind:
        return LLVMArrayType2(tr_widen_type(widen, LLVMGetElementType(type)),
                              LLVMGetArrayLength2(type));
    case LLVMVectorTypeKind:
        return LLVMVectorType(LLVMGetElementType(type), LLVMGetVectorSize(type) * widen->width);
    default:
        return LLVMVectorType(type, widen->width);
    }
}

/* ---- affine values ---- */

static LLVMValueRef int_constant(LLVMTypeRef type, int64_t number)
{
    unsigned width = LLVMGetIntTypeWidth(type);
    uint64_t bits = (uint64_t)number;
    return LLVMConstInt(type, width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits, false);
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* The integer type for distances between values of this type. */
static LLVMTypeRef distance_type(const struct tr_widen *widen, LLVMValueRef value)
{
    return is_pointer(value) ? widen->i64 : LLVMTypeOf(value);
}

LLVMValueRef tr_widen_offset(struct tr_widen *widen, LLVMValueRef scalar, int64_t distance)
{
    LLVMValueRef constant = int_constant(distance_type(widen, scalar), distance);
    if (is_pointer(scalar))
        return LLVMBuildGEP2(widen->builder, widen->i8, scalar, &constant, 1, "");
    return LLVMBuildAdd(widen->builder, scalar, constant, "");
}

LLVMValueRef tr_widen_move(struct tr_widen *widen, LLVMValueRef scalar, int64_t stride,
                           LLVMValueRef lane)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef type = distance_type(widen, scalar);
    LLVMValueRef lanes = LLVMBuildIntCast2(b, lane, type, false, "");
    LLVMValueRef distance = LLVMBuildMul(b, lanes, int_constant(type, stride), "");
    if (is_pointer(scalar))
        return LLVMBuildGEP2(b, widen->i8, scalar, &distance, 1, "");
    return LLVMBuildAdd(b, scalar, distance, "");
}

/* The vector whose lane k has scalar + k * stride. */
static LLVMValueRef steps(struct tr_widen *widen, LLVMValueRef scalar, int64_t stride)
{
    LLVMValueRef distances[64];
    LLVMTypeRef type = distance_type(widen, scalar);
    for (uint32_t lane = 0; lane < widen->width; lane++)
        distances[lane] = int_constant(type, (int64_t)((uint64_t)stride * lane));
    LLVMValueRef distance = LLVMConstVector(distances, widen->width);
    if (is_pointer(scalar))
        return LLVMBuildGEP2(widen->builder, widen->i8, scalar, &distance, 1, "");
    return LLVMBuildAdd(widen->builder, tr_widen_splat(widen, scalar), distance, "");
}

/* ---- vectors ---- */

static LLVMValueRef splat_elements(struct tr_widen *widen, LLVMValueRef vector)
{
    uint32_t elements[TR_MAX_ELEMENTS];
    uint32_t count = tr_widen_element_count(LLVMTypeOf(vector));
    for (uint32_t i = 0; i < count * widen->width; i++)
        elements[i] = i % count;
    return tr_widen_shuffle(widen, vector, NULL, elements, count * widen->width);
}

static LLVMValueRef splat_aggregate(struct tr_widen *widen, LLVMValueRef aggregate)
{
    LLVMTypeRef type = LLVMTypeOf(aggregate);
    LLVMValueRef result = LLVMGetPoison(tr_widen_type(widen, type));
    for (uint32_t i = 0; i < field_count(type); i++) {
        LLVMValueRef field = LLVMBuildExtractValue(widen->builder, aggregate, i, "");
        result = LLVMBuildInsertValue(widen->builder, result, tr_widen_splat(widen, field), i, "");
    }
    return result;
}

LLVMValueRef tr_widen_splat(struct tr_widen *widen, LLVMValueRef scalar)
{
    LLVMTypeRef type = LLVMTypeOf(scalar);
    if (is_vector(type))
        return splat_elements(widen, scalar);
    if (is_aggregate(type))
        return splat_aggregate(widen, scalar);
    LLVMTypeRef vector = LLVMVectorType(type, widen->width);
    LLVMValueRef zero = LLVMConstNull(widen->i32);
    LLVMValueRef first =
        LLVMBuildInsertElement(widen->builder, LLVMGetPoison(vector), scalar, zero, "");
    LLVMValueRef all_first = LLVMConstNull(LLVMVectorType(widen->i32, widen->width));
    return LLVMBuildShuffleVector(widen->builder, first, LLVMGetPoison(vector), all_first, "");
}

LLVMValueRef tr_widen_vector(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy)
{
    struct tr_shape shape = tr_widen_shape(widen, operand);
    LLVMValueRef value = held(widen, operand, copy);
    if (shape.kind == TR_VARYING)
        return value;
    if (shape.stride == 0)
        return tr_widen_splat(widen, value);
    return steps(widen, value, shape.stride);
}

/* ---- lanes ---- */

static LLVMValueRef lane_of(struct tr_widen *widen, LLVMValueRef held_value, LLVMTypeRef type,
                            LLVMValueRef lane);

static LLVMValueRef lane_of_aggregate(struct tr_widen *widen, LLVMValueRef held_value,
                                      LLVMTypeRef type, LLVMValueRef lane)
{
    LLVMValueRef result = LLVMGetPoison(type);
    for (uint32_t i = 0; i < field_count(type); i++) {
        LLVMValueRef field = LLVMBuildExtractValue(widen->builder, held_value, i, "");
        field = lane_of(widen, field, field_type(type, i), lane);
        result = LLVMBuildInsertValue(widen->builder, result, field, i, "");
    }
    return result;
}

static LLVMValueRef lane_of_elements(struct tr_widen *widen, LLVMValueRef held_value,
                                     LLVMTypeRef type, LLVMValueRef lane)
{
    LLVMBuilderRef b = widen->builder;
    uint32_t count = LLVMGetVectorSize(type);
    LLVMValueRef result = LLVMGetPoison(type);
    LLVMValueRef first = LLVMBuildMul(b, lane, LLVMConstInt(widen->i32, count, false), "");
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef to = LLVMConstInt(widen->i32, i, false);
        LLVMValueRef from = LLVMBuildAdd(b, first, to, "");
        LLVMValueRef element = LLVMBuildExtractElement(b, held_value, from, "");
        result = LLVMBuildInsertElement(b, result, element, to, "");
    }
    return result;
}

static LLVMValueRef lane_of(struct tr_widen *widen, LLVMValueRef held_value, LLVMTypeRef type,
                            LLVMValueRef lane)
{
    if (is_aggregate(type))
        return lane_of_aggregate(widen, held_value, type, lane);
    if (is_vector(type))
        return lane_of_elements(widen, held_value, type, lane);
    return LLVMBuildExtractElement(widen->builder, held_value, lane, "");
}

LLVMValueRef tr_widen_lane(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy,
                           LLVMValueRef lane)
{
    struct tr_shape shape = tr_widen_shape(widen, operand);
    LLVMValueRef value = held(widen, operand, copy);
    if (shape.kind == TR_VARYING)
        return lane_of(widen, value, LLVMTypeOf(operand), lane);
    if (shape.stride == 0)
        return value;
    return tr_widen_move(widen, value, shape.stride, lane);
}

/* ---- masks ---- */

LLVMValueRef tr_widen_mask_for(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef mask = NULL;
    if (widen->active.mask[0] == NULL)
        return NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, value, c) != copy)
            continue;
        LLVMValueRef more = widen->active.mask[c];
        mask = mask == NULL ? more : LLVMBuildOr(widen->builder, mask, more, "");
    }
    return mask;
}

LLVMValueRef tr_widen_any(struct tr_widen *widen, LLVMValueRef mask)
{
    LLVMTypeRef bits_type = LLVMIntTypeInContext(widen->llvm, widen->width);
    LLVMValueRef bits = LLVMBuildBitCast(widen->builder, mask, bits_type, "");
    return LLVMBuildICmp(widen->builder, LLVMIntNE, bits, LLVMConstNull(bits_type), "any");
}

/* ---- definitions ---- */

/* Makes lanes that are not active poison; a scalar, if no lane is active. Structs stay. */
static LLVMValueRef poison_inactive(struct tr_widen *widen, uint32_t value, uint32_t copy,
                                    LLVMValueRef result)
{
    LLVMTypeRef type = LLVMTypeOf(widen->iteration->graph.values[value].llvm);
    LLVMValueRef mask = tr_widen_mask_for(widen, value, copy);
    if (mask == NULL || is_aggregate(type))
        return result;
    if (widen->iteration->shapes.values[value].kind == TR_VARYING)
        mask = tr_widen_repeat(widen, mask, tr_widen_element_count(type));
    else
        mask = tr_widen_any(widen, mask);
    return LLVMBuildSelect(widen->builder, mask, result, LLVMGetPoison(LLVMTypeOf(result)), "");
}

void tr_widen_define(struct tr_widen *widen, uint32_t value, uint32_t copy, LLVMValueRef result)
{
    if (widen->options->is_poisoned)
        result = poison_inactive(widen, value, copy, result);
    widen->now[value * widen->copies + copy] = result;
}

/* ---- places ---- */

LLVMBasicBlockRef tr_widen_new_block(const struct tr_widen *widen, const char *name)
{
    return LLVMAppendBasicBlockInContext(widen->llvm, widen->function, name);
}

bool tr_widen_seed(struct tr_widen *widen, enum tr_vector_seed kind)
{
    return widen->options->seed == kind && (*widen->seed_sites)++ == widen->options->seed_site;
}
