/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that are to neighbours in memory unless an index of fewer bits than an address wraps
 * between two lanes: nothing in a program says that `int i = first + tid` does not, but it could
 * happen only at the largest numbers. One comparison checks the lanes of a row; behind a branch
 * there is a gather or scatter. Where flags say that the index does not wrap there is only the
 * access to neighbours. Likewise where an index is limited to a range: the active lanes are
 * compared with what they would have without the limit.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/memory/load_store.h"

/* ---- the check ---- */

/* i1 */
static LLVMValueRef is_at_most(struct tr_widen *widen, bool is_signed, LLVMValueRef a,
                               LLVMValueRef b)
{
    return LLVMBuildICmp(widen->builder, is_signed ? LLVMIntSLE : LLVMIntULE, a, b, "");
}

/* What the last of so many lanes has, of which lane 0 has `first`. */
static LLVMValueRef last_of(struct tr_widen *widen, LLVMValueRef first, int64_t stride,
                            uint32_t lanes)
{
    uint64_t distance = (uint64_t)stride * (lanes - 1);
    LLVMValueRef constant = LLVMConstInt(LLVMTypeOf(first), distance, false);
    return LLVMBuildAdd(widen->builder, first, constant, "");
}

/* i1: an index does not wrap in so many neighbours, of which lane 0 has `first`. */
static LLVMValueRef check_from(struct tr_widen *widen, const struct tr_checked *checked,
                               LLVMValueRef first, uint32_t lanes)
{
    LLVMValueRef last = last_of(widen, first, checked->stride, lanes);
    return is_at_most(widen, checked->is_signed, first, last);
}

/* The same from lane 0 of the copy on. */
static LLVMValueRef check_lanes(struct tr_widen *widen, const struct tr_checked *checked,
                                uint32_t copy, uint32_t lanes)
{
    return check_from(widen, checked, tr_widen_scalar(widen, checked->narrow, copy), lanes);
}

/* Leaves out a copy without active lanes, whose index may be anything. */
static LLVMValueRef check_if_any(struct tr_widen *widen, const struct tr_checked *checked,
                                 uint32_t copy)
{
    LLVMValueRef check = check_lanes(widen, checked, copy, widen->width);
    uint32_t narrow = tr_graph_number(&widen->iteration->graph, checked->narrow);
    LLVMValueRef mask = tr_widen_mask_for(widen, narrow, copy);
    if (mask == NULL || tr_widen_seed(widen, TR_VECTOR_SEED_FREEZE))
        return check;
    LLVMValueRef yes = LLVMConstInt(LLVMTypeOf(check), 1, false);
    return LLVMBuildSelect(widen->builder, tr_widen_any(widen, mask), check, yes, "");
}

/* Checks rows as a whole; where lanes may be missing, copy by copy. */
static LLVMValueRef check_all(struct tr_widen *widen, const struct tr_memory *memory,
                              const void *detail)
{
    (void)memory;
    const struct tr_checked *checked = detail;
    bool is_masked = widen->active.mask[0] != NULL;
    uint32_t step = is_masked ? 1 : widen->jam[0];
    LLVMValueRef all = NULL;
    for (uint32_t c = 0; c < widen->copies; c += step) {
        if (tr_memory_holder(widen, checked->narrow, c) != c)
            continue;
        LLVMValueRef check = is_masked ? check_if_any(widen, checked, c)
                                       : check_lanes(widen, checked, c, widen->width * step);
        all = all == NULL ? check : LLVMBuildAnd(widen->builder, all, check, "");
    }
    return all;
}

/* ---- the check of a limited index ---- */

/* What lane 0 has of the number. Frozen, as it may not be active. */
static LLVMValueRef first_of(struct tr_widen *widen, const struct tr_unclamped *number,
                             LLVMTypeRef type, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef sum = LLVMConstInt(type, number->sum.offset, false);
    for (uint32_t i = 0; i < number->sum.count; i++) {
        const struct tr_term *term = &number->sum.terms[i];
        LLVMValueRef factor = LLVMConstInt(type, term->factor, false);
        LLVMValueRef part = tr_widen_scalar(widen, term->index, copy);
        sum = LLVMBuildAdd(b, sum, LLVMBuildMul(b, part, factor, ""), "");
    }
    return LLVMBuildFreeze(b, sum, "");
}

static LLVMValueRef unclamped(struct tr_widen *widen, const struct tr_checked *checked,
                              uint32_t copy)
{
    return first_of(widen, &checked->unclamped, LLVMTypeOf(checked->narrow), copy);
}

/* i1: no lane is limited. Numbers that grow from the first lane to the last are within a limit if
 * these two are. */
static LLVMValueRef check_limit(struct tr_widen *widen, const struct tr_clamp *clamp, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    bool is_signed = clamp->is_signed;
    LLVMValueRef limit = LLVMBuildFreeze(b, tr_widen_scalar(widen, clamp->limit, copy), "");
    LLVMValueRef first = first_of(widen, &clamp->limited, LLVMTypeOf(clamp->limit), copy);
    LLVMValueRef last = last_of(widen, first, clamp->limited.stride, widen->width);
    LLVMValueRef is_within = clamp->is_max ? is_at_most(widen, is_signed, limit, first)
                                           : is_at_most(widen, is_signed, last, limit);
    return LLVMBuildAnd(b, is_at_most(widen, is_signed, first, last), is_within, "");
}

static LLVMValueRef check_limits(struct tr_widen *widen, const struct tr_checked *checked,
                                 uint32_t copy)
{
    LLVMValueRef all = check_limit(widen, &checked->clamps[0], copy);
    for (uint32_t i = 1; i < checked->clamp_count; i++)
        all = LLVMBuildAnd(widen->builder, all, check_limit(widen, &checked->clamps[i], copy), "");
    return all;
}

/* By lane: so many strides. */
static LLVMValueRef distances(struct tr_widen *widen, const struct tr_checked *checked)
{
    LLVMValueRef lanes[TR_MAX_WIDTH];
    LLVMTypeRef type = LLVMTypeOf(checked->narrow);
    for (uint32_t lane = 0; lane < widen->width; lane++)
        lanes[lane] = LLVMConstInt(type, (uint64_t)checked->stride * lane, false);
    return LLVMConstVector(lanes, widen->width);
}

/* i1: the lanes of the mask have what they would have without limits, of which lane 0 has `first`.
 */
static LLVMValueRef compare_lanes(struct tr_widen *widen, const struct tr_checked *checked,
                                  LLVMValueRef first, LLVMValueRef mask, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef wanted =
        LLVMBuildAdd(b, tr_widen_splat(widen, first), distances(widen, checked), "");
    LLVMValueRef differs =
        LLVMBuildICmp(b, LLVMIntNE, tr_widen_vector(widen, checked->narrow, copy), wanted, "");
    differs = tr_widen_mask_and(widen, mask, differs);
    return LLVMBuildNot(b, tr_widen_any(widen, differs), "");
}

/* i1: the active lanes have neighbouring indices. */
static LLVMValueRef check_clamped(struct tr_widen *widen, const struct tr_memory *memory,
                                  const struct tr_checked *checked, uint32_t copy)
{
    LLVMValueRef first = unclamped(widen, checked, copy);
    LLVMValueRef mask = tr_memory_mask(widen, memory, copy);
    LLVMValueRef are_neighbours = mask == NULL ? check_limits(widen, checked, copy)
                                               : compare_lanes(widen, checked, first, mask, copy);
    LLVMValueRef is_exact = check_from(widen, checked, first, widen->width);
    return LLVMBuildAnd(widen->builder, are_neighbours, is_exact, "");
}

static LLVMValueRef check_all_clamped(struct tr_widen *widen, const struct tr_memory *memory,
                                      const void *detail)
{
    const struct tr_checked *checked = detail;
    LLVMValueRef all = NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (!tr_memory_does_access(widen, memory, c))
            continue;
        LLVMValueRef check = check_clamped(widen, memory, checked, c);
        all = all == NULL ? check : LLVMBuildAnd(widen->builder, all, check, "");
    }
    return all;
}

/* ---- the access to neighbours ---- */

static LLVMValueRef extend(struct tr_widen *widen, LLVMValueRef index, bool is_signed)
{
    return LLVMBuildIntCast2(widen->builder, index, widen->i64, is_signed, "");
}

/* detail: the tr_checked */
static LLVMValueRef first_address(struct tr_widen *widen, const struct tr_memory *memory,
                                  const void *detail, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    const struct tr_checked *checked = detail;
    LLVMValueRef address = tr_widen_scalar(widen, checked->sum.base, copy);
    for (uint32_t i = 0; i < checked->sum.count; i++) {
        bool is_narrow = !checked->is_exact && i == checked->term;
        LLVMValueRef index = is_narrow ? checked->narrow : checked->sum.terms[i].index;
        LLVMValueRef factor = LLVMConstInt(widen->i64, checked->sum.terms[i].factor, false);
        bool is_signed = is_narrow ? checked->is_signed : !checked->sum.terms[i].is_unsigned;
        LLVMValueRef scalar = is_narrow && checked->clamp_count > 0
                                  ? unclamped(widen, checked, copy)
                                  : tr_widen_scalar(widen, index, copy);
        index = extend(widen, scalar, is_signed);
        index = LLVMBuildMul(b, index, factor, "");
        address = LLVMBuildGEP2(b, widen->i8, address, &index, 1, "");
    }
    address = tr_memory_advance(widen, address, (int64_t)checked->sum.offset);
    return tr_memory_seed_stride(widen, memory, address);
}

void tr_memory_access_checked(struct tr_widen *widen, const struct tr_access_plan *plan)
{
    struct tr_neighbours neighbours = {.first_address = first_address, .detail = plan->checked};
    if (!plan->checked->is_exact)
        neighbours.check = plan->checked->clamp_count > 0 ? check_all_clamped : check_all;
    tr_memory_access_neighbours(widen, &plan->memory, &neighbours);
}
