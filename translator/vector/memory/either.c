/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to neighbours in memory, or, behind a branch, to any addresses: what is known only while
 * the code runs decides.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/memory/load_store.h"

/* What one of the two ways has loaded. */
struct way {
    LLVMBasicBlockRef end;
    LLVMValueRef loaded[TR_MAX_COPIES]; /* by copy; NULL: shares another copy's value, or this is a
                                           store */
};

bool tr_memory_does_access(const struct tr_widen *widen, const struct tr_memory *memory,
                           uint32_t copy)
{
    return memory->stored != NULL || tr_widen_holder(widen, memory->value, copy) == copy;
}

LLVMValueRef tr_memory_mask(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy)
{
    return memory->stored != NULL ? widen->active.mask[copy]
                                  : tr_widen_mask_for(widen, memory->value, copy);
}

/* ---- neighbours ---- */

/* The mask of lanes as a mask of their elements. */
static LLVMValueRef mask_elements(struct tr_widen *widen, const struct tr_memory *memory,
                                  LLVMValueRef mask)
{
    return mask == NULL ? NULL : tr_widen_repeat(widen, mask, tr_widen_element_count(memory->type));
}

static LLVMValueRef first_address(struct tr_widen *widen, const struct tr_memory *memory,
                                  const struct tr_neighbours *neighbours, uint32_t copy)
{
    return neighbours->first_address(widen, memory, neighbours->detail, copy);
}

static struct tr_second_row second_row(struct tr_widen *widen, const struct tr_memory *memory,
                                       const struct tr_neighbours *neighbours, uint32_t copy)
{
    return neighbours->second_row(widen, memory, neighbours->detail, copy);
}

/* Lanes of the mask, NULL being all, that are in the first row, or in the second. */
static LLVMValueRef lanes_of_row(struct tr_widen *widen, LLVMValueRef mask,
                                 const struct tr_second_row *second, bool is_second)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef lanes = is_second ? second->lanes : LLVMBuildNot(b, second->lanes, "");
    return mask == NULL ? lanes : LLVMBuildAnd(b, mask, lanes, "");
}

/* The address of the second row's first lane; behind its last one if it has none. */
static LLVMValueRef begin_of(struct tr_widen *widen, const struct tr_memory *memory,
                             const struct tr_second_row *second)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef bits = tr_memory_bits(widen, second->lanes);
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef count = tr_memory_call(widen, "llvm.ctpop", &type, 1, &bits, 1);
    LLVMValueRef from_end =
        LLVMBuildMul(b, LLVMBuildZExt(b, count, widen->i64, ""),
                     LLVMConstInt(widen->i64, -(uint64_t)memory->bytes, true), "");
    LLVMValueRef end = tr_memory_advance(widen, second->last_address, memory->bytes);
    return LLVMBuildGEP2(b, widen->i8, end, &from_end, 1, "");
}

/* Reads nothing in front of the second row: there is no page in front of a table of which elements
 * are taken in turn, and a processor takes hundreds of cycles to find that none is wanted. */
static LLVMValueRef load_second(struct tr_widen *widen, const struct tr_memory *memory,
                                const struct tr_second_row *second, LLVMValueRef of_first)
{
    LLVMTypeRef type = LLVMTypeOf(of_first);
    LLVMValueRef operands[] = {begin_of(widen, memory, second),
                               mask_elements(widen, memory, second->lanes), of_first};
    LLVMValueRef loaded = tr_memory_call(widen, "llvm.masked.expandload", &type, 1, operands, 3);
    struct tr_fields fields = tr_plan_only(memory);
    tr_memory_keep_hints(widen, &fields, loaded);
    return loaded;
}

static LLVMValueRef load(struct tr_widen *widen, const struct tr_memory *memory,
                         const struct tr_neighbours *neighbours, uint32_t copy)
{
    struct tr_fields fields = tr_plan_only(memory);
    LLVMTypeRef type = tr_widen_type(widen, memory->type);
    LLVMValueRef mask = tr_memory_mask(widen, memory, copy);
    LLVMValueRef address = first_address(widen, memory, neighbours, copy);
    if (widen->tuning->ask_ahead != NULL && !neighbours->is_guess)
        widen->tuning->ask_ahead(widen, memory, copy, address);
    if (neighbours->second_row == NULL)
        return tr_memory_load(widen, &fields, type, address, memory->align,
                              mask_elements(widen, memory, mask));
    struct tr_second_row second = second_row(widen, memory, neighbours, copy);
    mask = lanes_of_row(widen, mask, &second, false);
    LLVMValueRef of_first = tr_memory_load(widen, &fields, type, address, memory->align,
                                           mask_elements(widen, memory, mask));
    return load_second(widen, memory, &second, of_first);
}

static void store_at(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                     LLVMValueRef address, LLVMValueRef mask)
{
    struct tr_fields fields = tr_plan_only(memory);
    tr_memory_store(widen, &fields, tr_widen_vector(widen, memory->stored, copy), address,
                    memory->align, mask_elements(widen, memory, mask));
}

static void store(struct tr_widen *widen, const struct tr_memory *memory,
                  const struct tr_neighbours *neighbours, uint32_t copy)
{
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL && tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        mask = NULL;
    LLVMValueRef address = first_address(widen, memory, neighbours, copy);
    if (neighbours->second_row == NULL) {
        store_at(widen, memory, copy, address, mask);
        return;
    }
    struct tr_second_row second = second_row(widen, memory, neighbours, copy);
    int64_t length = (int64_t)memory->bytes * (widen->width - 1);
    store_at(widen, memory, copy, address, lanes_of_row(widen, mask, &second, false));
    store_at(widen, memory, copy, tr_memory_advance(widen, second.last_address, -length),
             lanes_of_row(widen, mask, &second, true));
}

static void stream(struct tr_widen *widen, const struct tr_memory *memory,
                   const struct tr_neighbours *neighbours)
{
    struct tr_store stores[TR_MAX_COPIES];
    for (uint32_t c = 0; c < widen->copies; c++)
        stores[c] = (struct tr_store){tr_widen_vector(widen, memory->stored, c),
                                      first_address(widen, memory, neighbours, c)};
    tr_memory_store_past_caches(widen, memory, stores);
}

static void access_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                              const struct tr_neighbours *neighbours, LLVMValueRef *loaded)
{
    if (neighbours->second_row == NULL && tr_memory_may_pass_caches(widen, memory)) {
        stream(widen, memory, neighbours);
        return;
    }
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (memory->stored != NULL)
            store(widen, memory, neighbours, c);
        else if (tr_memory_does_access(widen, memory, c))
            loaded[c] = load(widen, memory, neighbours, c);
    }
}

/* ---- any addresses ---- */

static void access_any(struct tr_widen *widen, const struct tr_memory *memory, LLVMValueRef *loaded)
{
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (memory->stored != NULL)
            tr_memory_scatter(widen, memory, c, widen->active.mask[c]);
        else if (tr_memory_does_access(widen, memory, c))
            loaded[c] =
                tr_memory_gather(widen, memory, c, tr_widen_mask_for(widen, memory->value, c));
    }
}

/* Seeds no defect: a program whose index wraps has no array in which one would show. */
static void access_without_seed(struct tr_widen *widen, const struct tr_memory *memory,
                                LLVMValueRef *loaded)
{
    const struct tr_vector_options *options = widen->options;
    struct tr_vector_options without_seed = *options;
    without_seed.seed = TR_VECTOR_SEED_NONE;
    widen->options = &without_seed;
    access_any(widen, memory, loaded);
    widen->options = options;
}

/* ---- both ---- */

static void access_without_check(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct tr_neighbours *neighbours)
{
    LLVMValueRef loaded[TR_MAX_COPIES] = {NULL};
    access_neighbours(widen, memory, neighbours, loaded);
    for (uint32_t c = 0; c < widen->copies; c++)
        if (loaded[c] != NULL)
            tr_widen_define(widen, memory->value, c, loaded[c]);
}

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

void tr_memory_access_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct tr_neighbours *neighbours)
{
    if (neighbours->check == NULL) {
        access_without_check(widen, memory, neighbours);
        return;
    }
    LLVMBuilderRef b = widen->builder;
    struct way ways[2] = {0};
    LLVMBasicBlockRef of_neighbours = tr_widen_new_block(widen, "neighbours");
    LLVMBasicBlockRef of_others = tr_widen_new_block(widen, "others");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    LLVMBuildCondBr(b, neighbours->check(widen, memory, neighbours->detail), of_neighbours,
                    of_others);
    LLVMPositionBuilderAtEnd(b, of_neighbours);
    access_neighbours(widen, memory, neighbours, ways[0].loaded);
    ways[0].end = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, of_others);
    (neighbours->is_guess ? access_any : access_without_seed)(widen, memory, ways[1].loaded);
    ways[1].end = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, meet);
    define_loaded(widen, memory, ways);
}
