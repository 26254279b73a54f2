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
static LLVMValueRef check_all(struct tr_widen *widen, const struct tr_checked *checked)
{
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
    LLVMValueRef mask = memory->stored != NULL ? widen->active.mask[copy]
                                               : tr_widen_mask_for(widen, memory->value, copy);
    LLVMValueRef are_neighbours = mask == NULL ? check_limits(widen, checked, copy)
                                               : compare_lanes(widen, checked, first, mask, copy);
    LLVMValueRef is_exact = check_from(widen, checked, first, widen->width);
    return LLVMBuildAnd(widen->builder, are_neighbours, is_exact, "");
}

static bool does_access(const struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy)
{
    return memory->stored != NULL || tr_widen_holder(widen, memory->value, copy) == copy;
}

static LLVMValueRef check_all_clamped(struct tr_widen *widen, const struct tr_memory *memory,
                                      const struct tr_checked *checked)
{
    LLVMValueRef all = NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (!does_access(widen, memory, c))
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

/* The address of lane 0, active or not. */
static LLVMValueRef first_address(struct tr_widen *widen, const struct tr_memory *memory,
                                  const struct tr_checked *checked, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
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

/* The mask of lanes as a mask of their elements. */
static LLVMValueRef mask_elements(struct tr_widen *widen, const struct tr_memory *memory,
                                  LLVMValueRef mask)
{
    return mask == NULL ? NULL : tr_widen_repeat(widen, mask, tr_widen_element_count(memory->type));
}

static LLVMValueRef load_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                                    const struct tr_checked *checked, uint32_t copy)
{
    struct tr_fields fields = tr_plan_only(memory);
    LLVMValueRef mask = mask_elements(widen, memory, tr_widen_mask_for(widen, memory->value, copy));
    LLVMValueRef address = first_address(widen, memory, checked, copy);
    if (widen->tuning->ask_ahead != NULL)
        widen->tuning->ask_ahead(widen, memory, copy, address);
    return tr_memory_load(widen, &fields, tr_widen_type(widen, memory->type), address,
                          memory->align, mask);
}

static void store_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                             const struct tr_checked *checked, uint32_t copy)
{
    struct tr_fields fields = tr_plan_only(memory);
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL && tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        mask = NULL;
    tr_memory_store(widen, &fields, tr_widen_vector(widen, memory->stored, copy),
                    first_address(widen, memory, checked, copy), memory->align,
                    mask_elements(widen, memory, mask));
}

static void stream_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                              const struct tr_checked *checked)
{
    struct tr_store stores[TR_MAX_COPIES];
    for (uint32_t c = 0; c < widen->copies; c++)
        stores[c] = (struct tr_store){tr_widen_vector(widen, memory->stored, c),
                                      first_address(widen, memory, checked, c)};
    tr_memory_store_past_caches(widen, memory, stores);
}

static void access_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                              const struct tr_checked *checked, LLVMValueRef *loaded)
{
    if (tr_memory_may_pass_caches(widen, memory)) {
        stream_neighbours(widen, memory, checked);
        return;
    }
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (memory->stored != NULL)
            store_neighbours(widen, memory, checked, c);
        else if (does_access(widen, memory, c))
            loaded[c] = load_neighbours(widen, memory, checked, c);
    }
}

/* Seeds no defect: a program whose index wraps has no array in which one would show. */
static void access_any(struct tr_widen *widen, const struct tr_memory *memory, LLVMValueRef *loaded)
{
    const struct tr_vector_options *options = widen->options;
    struct tr_vector_options without_seed = *options;
    without_seed.seed = TR_VECTOR_SEED_NONE;
    widen->options = &without_seed;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (memory->stored != NULL)
            tr_memory_scatter(widen, memory, c, widen->active.mask[c]);
        else if (does_access(widen, memory, c))
            loaded[c] =
                tr_memory_gather(widen, memory, c, tr_widen_mask_for(widen, memory->value, c));
    }
    widen->options = options;
}

/* ---- both ---- */

struct way {
    LLVMBasicBlockRef end;
    LLVMValueRef loaded[TR_MAX_COPIES]; /* by copy; NULL: shares another copy's value, or this is a
                                           store */
};

static void define_loaded(struct tr_widen *widen, const struct tr_memory *memory,
                          struct way ways[2])
{
    LLVMBasicBlockRef ends[2] = {ways[0].end, ways[1].end};
    LLVMValueRef phis[TR_MAX_COPIES] = {NULL};
    for (uint32_t c = 0; c < widen->copies; c++) {
        LLVMValueRef values[2] = {ways[0].loaded[c], ways[1].loaded[c]};
        if (values[0] == NULL)
            continue;
        phis[c] = LLVMBuildPhi(widen->builder, LLVMTypeOf(values[0]), "");
        LLVMAddIncoming(phis[c], values, ends, 2);
    }
    for (uint32_t c = 0; c < widen->copies; c++)
        if (phis[c] != NULL)
            tr_widen_define(widen, memory->value, c, phis[c]);
}

static void access_exact(struct tr_widen *widen, const struct tr_access_plan *plan)
{
    LLVMValueRef loaded[TR_MAX_COPIES] = {NULL};
    access_neighbours(widen, &plan->memory, plan->checked, loaded);
    for (uint32_t c = 0; c < widen->copies; c++)
        if (loaded[c] != NULL)
            tr_widen_define(widen, plan->memory.value, c, loaded[c]);
}

void tr_memory_access_checked(struct tr_widen *widen, const struct tr_access_plan *plan)
{
    if (plan->checked->is_exact) {
        access_exact(widen, plan);
        return;
    }
    LLVMBuilderRef b = widen->builder;
    const struct tr_memory *memory = &plan->memory;
    struct way ways[2] = {0};
    LLVMBasicBlockRef neighbours = tr_widen_new_block(widen, "neighbours");
    LLVMBasicBlockRef others = tr_widen_new_block(widen, "others");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    LLVMValueRef check = plan->checked->clamp_count > 0
                             ? check_all_clamped(widen, memory, plan->checked)
                             : check_all(widen, plan->checked);
    LLVMBuildCondBr(b, check, neighbours, others);
    LLVMPositionBuilderAtEnd(b, neighbours);
    access_neighbours(widen, memory, plan->checked, ways[0].loaded);
    ways[0].end = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, others);
    access_any(widen, memory, ways[1].loaded);
    ways[1].end = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, meet);
    define_loaded(widen, memory, ways);
}
