/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to addresses that have nothing in common. Words of 4 and 8 bytes become LLVM's gathers
 * and scatters, which it splits up where the machine has none. Others are accessed lane by lane
 * without branches: lanes that are not active access spare memory.
 */
#include "translator/vector/memory/load_store.h"

/* ---- addresses ---- */

/* The index as 64 bits. */
static LLVMValueRef scalar_index(struct tr_widen *widen, LLVMValueRef index, uint32_t copy)
{
    LLVMValueRef scalar = tr_widen_scalar(widen, index, copy);
    return LLVMBuildIntCast2(widen->builder, scalar, widen->i64, true, "");
}

/* The index before it was extended to 64 bits: gathers take indices of 32 bits. */
static LLVMValueRef narrow_index(LLVMValueRef index)
{
    bool is_extended =
        LLVMIsASExtInst(index) != NULL || (LLVMIsAZExtInst(index) != NULL && LLVMGetNNeg(index));
    if (!is_extended || LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(index, 0))) < 8)
        return index;
    return LLVMGetOperand(index, 0);
}

/* The only term of the sum in which lanes differ, all others being the same along the row; -1:
 * there are several, or none. */
static int varying_term(const struct tr_widen *widen, const struct tr_sum *sum)
{
    int found = -1;
    if (!tr_is_same_in_row(widen->iteration, sum->base))
        return -1;
    for (uint32_t i = 0; i < sum->count; i++) {
        if (tr_is_same_in_row(widen->iteration, sum->terms[i].index))
            continue;
        uint64_t factor = sum->terms[i].factor;
        if (found >= 0 || (factor != 1 && factor != 2 && factor != 4 && factor != 8))
            return -1;
        found = (int)i;
    }
    return found;
}

/* A GEP of a scalar pointer and a vector of indices if possible, of which LLVM makes a gather's
 * base and index. */
LLVMValueRef tr_memory_lane_addresses(struct tr_widen *widen, const struct tr_memory *memory,
                                      uint32_t copy)
{
    LLVMValueRef in_array = tr_memory_array_addresses(widen, memory, copy);
    if (in_array != NULL)
        return in_array;
    struct tr_sum sum = tr_plan_sum(widen->iteration, memory->address);
    int varying = varying_term(widen, &sum);
    if (varying < 0)
        return tr_memory_seed_stride(widen, memory, tr_widen_vector(widen, memory->address, copy));
    LLVMBuilderRef builder = widen->builder;
    LLVMValueRef base = tr_widen_scalar(widen, sum.base, copy);
    for (int i = 0; i < (int)sum.count; i++) {
        if (i == varying)
            continue;
        LLVMValueRef factor = LLVMConstInt(widen->i64, sum.terms[i].factor, false);
        LLVMValueRef index = scalar_index(widen, sum.terms[i].index, copy);
        index = LLVMBuildMul(builder, index, factor, "");
        base = LLVMBuildGEP2(builder, widen->i8, base, &index, 1, "");
    }
    base =
        tr_memory_seed_stride(widen, memory, tr_memory_advance(widen, base, (int64_t)sum.offset));
    LLVMValueRef narrow = narrow_index(sum.terms[varying].index);
    LLVMValueRef index = tr_widen_vector(widen, narrow, copy);
    index = LLVMBuildIntCast2(builder, index, LLVMVectorType(widen->i64, widen->width), true, "");
    LLVMTypeRef unit = tr_memory_word(widen, (uint32_t)sum.terms[varying].factor);
    return LLVMBuildGEP2(builder, unit, base, &index, 1, "");
}

struct tr_lane_index tr_memory_lane_index(struct tr_widen *widen, const struct tr_memory *memory,
                                          uint32_t copy)
{
    LLVMTypeRef integers = LLVMVectorType(widen->i64, widen->width);
    struct tr_sum sum = tr_plan_sum(widen->iteration, memory->address);
    LLVMValueRef in_array = tr_memory_array_addresses(widen, memory, copy);
    int varying = in_array != NULL ? -1 : varying_term(widen, &sum);
    LLVMValueRef narrow = varying < 0 ? NULL : narrow_index(sum.terms[varying].index);
    if (narrow == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(narrow)) < 32 ||
        memory->bytes % sum.terms[varying].factor != 0) {
        LLVMValueRef addresses =
            in_array != NULL ? in_array : tr_memory_lane_addresses(widen, memory, copy);
        addresses = LLVMBuildPtrToInt(widen->builder, addresses, integers, "");
        return (struct tr_lane_index){.vector = addresses, .step = memory->bytes};
    }
    return (struct tr_lane_index){.vector = tr_widen_vector(widen, narrow, copy),
                                  .step = memory->bytes / sum.terms[varying].factor};
}

/* ---- lane by lane ---- */

/* The addresses of a copy's lanes. */
struct lanes {
    LLVMValueRef base;   /* of lane 0; NULL: not known */
    LLVMValueRef vector; /* if not */
};

static struct lanes find_lanes(struct tr_widen *widen, const struct tr_memory *memory,
                               uint32_t copy, LLVMValueRef mask)
{
    if (memory->has_stride && mask == NULL)
        return (struct lanes){.base = tr_memory_seed_stride(
                                  widen, memory, tr_widen_scalar(widen, memory->address, copy))};
    LLVMValueRef vector = tr_memory_lane_addresses(widen, memory, copy);
    if (mask != NULL)
        vector =
            LLVMBuildSelect(widen->builder, mask, vector,
                            tr_widen_splat(widen, tr_memory_nowhere(widen, memory->bytes)), "");
    return (struct lanes){.vector = vector};
}

static LLVMValueRef lane_address(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct lanes *lanes, uint32_t lane)
{
    if (lanes->base != NULL)
        return tr_memory_advance(widen, lanes->base, lane * memory->stride);
    return LLVMBuildExtractElement(widen->builder, lanes->vector, tr_memory_i32(widen, lane), "");
}

static LLVMValueRef load_lanes(struct tr_widen *widen, const struct tr_memory *memory,
                               uint32_t copy, LLVMValueRef mask)
{
    struct tr_fields fields = tr_plan_only(memory);
    struct lanes lanes = find_lanes(widen, memory, copy, mask);
    LLVMValueRef result = LLVMGetPoison(tr_widen_type(widen, memory->type));
    for (uint32_t lane = 0; lane < widen->width; lane++) {
        LLVMValueRef address = lane_address(widen, memory, &lanes, lane);
        LLVMValueRef loaded =
            tr_memory_load(widen, &fields, memory->type, address, memory->align, NULL);
        result =
            tr_memory_insert_lane(widen, memory->type, result, loaded, tr_memory_i32(widen, lane));
    }
    return result;
}

static void store_lanes(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                        LLVMValueRef mask)
{
    struct tr_fields fields = tr_plan_only(memory);
    struct lanes lanes = find_lanes(widen, memory, copy, mask);
    for (uint32_t lane = 0; lane < widen->width; lane++) {
        LLVMValueRef stored =
            tr_widen_lane(widen, memory->stored, copy, tr_memory_i32(widen, lane));
        tr_memory_store(widen, &fields, stored, lane_address(widen, memory, &lanes, lane),
                        memory->align, NULL);
    }
}

/* ---- all at once ---- */

/* Elements of a vector that fit in one word are accessed as an integer. */
static LLVMTypeRef word_type(const struct tr_widen *widen, const struct tr_memory *memory)
{
    LLVMTypeRef type = memory->type;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = tr_memory_word(widen, memory->bytes);
    return LLVMVectorType(type, widen->width);
}

static bool is_by_lane(const struct tr_widen *widen, const struct tr_memory *memory,
                       LLVMValueRef mask)
{
    const struct tr_target *target = widen->iteration->target;
    return !tr_plan_is_gatherable(target, memory) ||
           (mask == NULL && tr_plan_is_faster_by_lane(target, memory));
}

LLVMValueRef tr_memory_gather(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                              LLVMValueRef mask)
{
    if (is_by_lane(widen, memory, mask))
        return load_lanes(widen, memory, copy, mask);
    struct tr_fields fields = tr_plan_only(memory);
    LLVMTypeRef type = word_type(widen, memory);
    LLVMValueRef addresses = tr_memory_lane_addresses(widen, memory, copy);
    if (mask == NULL)
        mask = LLVMConstAllOnes(LLVMVectorType(widen->i1, widen->width));
    LLVMTypeRef types[] = {type, LLVMTypeOf(addresses)};
    LLVMValueRef operands[] = {addresses, mask, LLVMGetPoison(type)};
    tr_memory_keep_order(widen, memory->inst);
    LLVMValueRef gather = tr_memory_call(widen, "llvm.masked.gather", types, 2, operands, 3);
    tr_memory_keep_order(widen, memory->inst);
    tr_memory_set_align(widen, gather, 0, memory->align);
    tr_memory_keep_hints(widen, &fields, gather);
    return LLVMBuildBitCast(widen->builder, gather, tr_widen_type(widen, memory->type), "");
}

/* Lanes that store to one address do so in their order. */
void tr_memory_scatter(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                       LLVMValueRef mask)
{
    if (is_by_lane(widen, memory, mask) || !widen->iteration->target->has_scatter) {
        store_lanes(widen, memory, copy, mask);
        return;
    }
    struct tr_fields fields = tr_plan_only(memory);
    LLVMValueRef value = LLVMBuildBitCast(
        widen->builder, tr_widen_vector(widen, memory->stored, copy), word_type(widen, memory), "");
    LLVMValueRef addresses = tr_memory_lane_addresses(widen, memory, copy);
    if (mask == NULL)
        mask = LLVMConstAllOnes(LLVMVectorType(widen->i1, widen->width));
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(addresses)};
    LLVMValueRef operands[] = {value, addresses, mask};
    tr_memory_keep_order(widen, memory->inst);
    LLVMValueRef scatter = tr_memory_call(widen, "llvm.masked.scatter", types, 2, operands, 3);
    tr_memory_keep_order(widen, memory->inst);
    tr_memory_set_align(widen, scatter, 1, memory->align);
    tr_memory_keep_hints(widen, &fields, scatter);
}
