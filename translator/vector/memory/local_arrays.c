/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of local arrays that lie lane after lane, where each lane has an index of its own. Such
 * arrays are small enough for indices of 32 bits whatever the program computes with: vectors of
 * half the size.
 */
#include "translator/module/marks.h"
#include "translator/vector/memory/load_store.h"

/* The addresses of a copy's lanes: base + index elements. */
struct elements {
    LLVMValueRef base;  /* lane 0's, without the index */
    LLVMValueRef index; /* <width x i32> */
    int64_t step;       /* from lane to lane besides, in elements */
};

/* Modulo 2^32. */
static LLVMValueRef narrow_vector(struct tr_widen *widen, LLVMValueRef index, uint32_t copy)
{
    bool is_extended = LLVMIsASExtInst(index) != NULL || LLVMIsAZExtInst(index) != NULL;
    if (is_extended && LLVMTypeOf(LLVMGetOperand(index, 0)) == widen->i32)
        index = LLVMGetOperand(index, 0);
    LLVMTypeRef type = LLVMVectorType(widen->i32, widen->width);
    return LLVMBuildIntCast2(widen->builder, tr_widen_vector(widen, index, copy), type, true, "");
}

static LLVMValueRef times(struct tr_widen *widen, LLVMValueRef index, uint64_t factor)
{
    LLVMValueRef scale = tr_widen_splat(widen, tr_memory_i32(widen, (uint32_t)factor));
    return LLVMBuildMul(widen->builder, index, scale, "");
}

static void add_varying(struct tr_widen *widen, struct elements *elements, LLVMValueRef index)
{
    elements->index =
        elements->index == NULL ? index : LLVMBuildAdd(widen->builder, elements->index, index, "");
}

static void add_scalar(struct tr_widen *widen, struct elements *elements, LLVMValueRef index,
                       uint64_t factor, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef scalar = tr_widen_scalar(widen, index, copy);
    scalar = LLVMBuildIntCast2(b, scalar, widen->i64, true, "");
    scalar = LLVMBuildMul(b, scalar, LLVMConstInt(widen->i64, factor, false), "");
    elements->base = LLVMBuildGEP2(b, widen->i8, elements->base, &scalar, 1, "");
}

/* Whether each term is a number of elements. */
static bool is_of_elements(struct tr_widen *widen, const struct tr_memory *memory,
                           const struct tr_sum *sum)
{
    if (!tr_is_same_in_row(widen->iteration, sum->base))
        return false;
    for (uint32_t i = 0; i < sum->count; i++) {
        struct tr_shape shape = tr_widen_shape(widen, sum->terms[i].index);
        uint64_t factor = sum->terms[i].factor;
        uint64_t step = shape.kind == TR_VARYING ? factor : (uint64_t)shape.stride * factor;
        if (step % memory->bytes != 0)
            return false;
    }
    return true;
}

LLVMValueRef tr_memory_array_addresses(struct tr_widen *widen, const struct tr_memory *memory,
                                       uint32_t copy)
{
    struct tr_sum sum = tr_plan_sum(widen->iteration, memory->address);
    if (!tr_is_marked(memory->inst, TR_MARK_IN_ARRAY) || !memory->is_word ||
        !is_of_elements(widen, memory, &sum))
        return NULL;
    int64_t unit = memory->bytes;
    struct elements elements = {.base = tr_widen_scalar(widen, sum.base, copy)};
    for (uint32_t i = 0; i < sum.count; i++) {
        LLVMValueRef index = sum.terms[i].index;
        int64_t factor = (int64_t)sum.terms[i].factor;
        struct tr_shape shape = tr_widen_shape(widen, index);
        if (shape.kind == TR_VARYING) {
            LLVMValueRef varying = narrow_vector(widen, index, copy);
            add_varying(widen, &elements, times(widen, varying, (uint64_t)(factor / unit)));
        } else {
            add_scalar(widen, &elements, index, (uint64_t)factor, copy);
            elements.step += shape.stride * factor / unit;
        }
    }
    LLVMValueRef steps[TR_MAX_WIDTH];
    for (uint32_t lane = 0; lane < widen->width; lane++)
        steps[lane] = tr_memory_i32(widen, (uint32_t)((int64_t)lane * elements.step));
    add_varying(widen, &elements, LLVMConstVector(steps, widen->width));
    LLVMValueRef base = tr_memory_advance(widen, elements.base, (int64_t)sum.offset);
    base = tr_memory_seed_stride(widen, memory, base);
    LLVMTypeRef wide = LLVMVectorType(widen->i64, widen->width);
    LLVMValueRef index = LLVMBuildSExt(widen->builder, elements.index, wide, "");
    return LLVMBuildGEP2(widen->builder, tr_memory_word(widen, memory->bytes), base, &index, 1, "");
}
