/* SPDX-License-Identifier: Apache-2.0
 *
 * Bringing elements of A and B to the lanes that need them: by shuffles, whose indices follow from
 * the layouts, in registers or into memory, for several products with the same matrix. Where every
 * fourth lane needs the same (columns of B do, in nearly all shapes), memory has the four once, and
 * machines spread them over a register as they load them.
 */
#include <string.h>

#include "translator/emit/matrix_gathers.h"

/* ---- who needs what ---- */

static struct tr_gather_key key_of(const struct tr_factor *factor,
                                   const struct ptx_fragment *result, unsigned element, unsigned k,
                                   unsigned part, struct tr_piece piece)
{
    struct tr_gather_key key = {.part = (uint16_t)part, .lanes = (uint16_t)piece.lanes};
    for (unsigned i = 0; i < piece.lanes; i++) {
        unsigned lane = piece.first + i;
        struct ptx_cell cell = ptx_cell_of(result, (struct ptx_slot){lane, element});
        if (factor->role == TR_FACTOR_A)
            cell.column = k;
        else if (factor->role == TR_FACTOR_B)
            cell.row = k;
        struct ptx_slot place = ptx_slot_of(factor->fragment, cell, lane);
        key.sources[i] = (uint16_t)(place.element / factor->step * RT_WARP_SIZE + place.lane);
    }
    return key;
}

static bool is_same(const struct tr_gather_key *a, const struct tr_gather_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- shuffles ---- */

static unsigned place_of(const struct tr_gather_key *key, unsigned lane)
{
    return key->sources[lane] / RT_WARP_SIZE;
}

/* The lanes whose source is at this place take it; the others keep theirs. */
static LLVMValueRef take(struct tr_ctx *ctx, LLVMValueRef have, const struct tr_gather_key *key,
                         unsigned place, LLVMValueRef others)
{
    LLVMValueRef from[RT_WARP_SIZE];
    LLVMValueRef is_taken[RT_WARP_SIZE];
    for (unsigned lane = 0; lane < key->lanes; lane++) {
        bool is_it = place_of(key, lane) == place;
        from[lane] = is_it ? tr_const_int(ctx, 32, key->sources[lane] % RT_WARP_SIZE)
                           : LLVMGetPoison(ctx->i32);
        is_taken[lane] = tr_const_int(ctx, 1, is_it);
    }
    LLVMValueRef lanes =
        LLVMBuildShuffleVector(ctx->builder, have, have, LLVMConstVector(from, key->lanes), "");
    if (others == NULL)
        return lanes;
    return LLVMBuildSelect(ctx->builder, LLVMConstVector(is_taken, key->lanes), lanes, others, "");
}

static LLVMValueRef bring(struct tr_ctx *ctx, const struct tr_factor *factor,
                          const struct tr_gather_key *key)
{
    LLVMValueRef lanes = NULL;
    for (unsigned place = 0; place < TR_ELEMENTS_MAX; place++) {
        bool is_needed = false;
        for (unsigned lane = 0; lane < key->lanes; lane++)
            is_needed |= place_of(key, lane) == place;
        if (is_needed)
            lanes = take(ctx, factor->have[place][key->part], key, place, lanes);
    }
    return lanes;
}

/* ---- memory ---- */

static int order(const struct tr_gather_key *a, const struct tr_gather_key *b)
{
    unsigned places[2] = {place_of(a, 0), place_of(b, 0)};
    if (places[0] != places[1])
        return places[0] < places[1] ? -1 : 1;
    return a->part != b->part ? a->part - b->part : a->sources[0] - b->sources[0];
}

/* Those of one place and part are neighbours: four of them are one shuffle. */
static bool add_slot(struct tr_spread *spread, const struct tr_gather_key *key)
{
    unsigned at = spread->count;
    for (unsigned i = 0; i < spread->count; i++)
        if (is_same(&spread->keys[i], key))
            return true;
    if (spread->count == TR_SPREADS_MAX)
        return false;
    for (; at > 0 && order(key, &spread->keys[at - 1]) < 0; at--)
        spread->keys[at] = spread->keys[at - 1];
    spread->keys[at] = *key;
    spread->count++;
    return true;
}

static struct tr_gather_key first_lanes(const struct tr_gather_key *key, unsigned lanes)
{
    struct tr_gather_key first = {.part = key->part, .lanes = (uint16_t)lanes};
    memcpy(first.sources, key->sources, lanes * sizeof *key->sources);
    return first;
}

static bool is_periodic(const struct tr_gather_key *key)
{
    for (unsigned lane = TR_SPREAD_LANES; lane < key->lanes; lane++)
        if (key->sources[lane] != key->sources[lane - TR_SPREAD_LANES])
            return false;
    return true;
}

/* False: too many, or not all fours of lanes need the same. */
static bool add_slots(struct tr_spread *spread, const struct tr_factor *factor,
                      const struct ptx_matrices *matrices, struct tr_piece piece)
{
    for (unsigned k = 0; k < matrices->k; k += factor->step)
        for (unsigned element = 0; element < matrices->d.elements; element++)
            for (unsigned part = 0; part < factor->parts; part++) {
                struct tr_gather_key key = key_of(factor, &matrices->d, element, k, part, piece);
                struct tr_gather_key first = first_lanes(&key, spread->lanes);
                if (spread->lanes < piece.lanes && !is_periodic(&key))
                    return false;
                if (!add_slot(spread, &first))
                    return false;
            }
    return true;
}

static void begin_spread(struct tr_spread *spread, const struct tr_factor *factor, unsigned lanes)
{
    spread->lanes = lanes;
    spread->slot_bytes = lanes * (factor->fragment->type == PTX_TYPE_F64 ? 8 : 4);
    spread->count = 0;
}

bool tr_plan_spread(struct tr_ctx *ctx, const struct tr_factor *factor,
                    const struct ptx_matrices *matrices, unsigned piece_lanes,
                    struct tr_spread *spread)
{
    struct tr_piece warp = {0, RT_WARP_SIZE};
    spread->type = factor->has_words ? ctx->i32 : tr_number_type(ctx, factor->fragment);
    begin_spread(spread, factor, TR_SPREAD_LANES);
    if (add_slots(spread, factor, matrices, warp))
        return true;
    begin_spread(spread, factor, piece_lanes);
    for (unsigned first = 0; first < RT_WARP_SIZE; first += piece_lanes)
        if (!add_slots(spread, factor, matrices, (struct tr_piece){first, piece_lanes}))
            return false;
    return true;
}

static LLVMValueRef slot_pointer(struct tr_ctx *ctx, const struct tr_spread *spread, unsigned slot)
{
    LLVMValueRef offset = tr_const_int(ctx, 64, slot * spread->slot_bytes);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, spread->memory, &offset, 1, "");
}

static unsigned slot_align(const struct tr_spread *spread)
{
    return spread->slot_bytes < RT_WORDS_ALIGN ? spread->slot_bytes : RT_WORDS_ALIGN;
}

/* As many as are shuffled together. */
static unsigned store_slots(struct tr_ctx *ctx, const struct tr_factor *factor,
                            const struct tr_spread *spread, unsigned slot)
{
    struct tr_gather_key together = spread->keys[slot];
    unsigned most = spread->lanes == TR_SPREAD_LANES ? 4 : 1;
    unsigned count = 1;
    for (; count < most && slot + count < spread->count; count++) {
        const struct tr_gather_key *next = &spread->keys[slot + count];
        if (next->part != together.part || place_of(next, 0) != place_of(&together, 0))
            break;
        memcpy(&together.sources[count * TR_SPREAD_LANES], next->sources,
               TR_SPREAD_LANES * sizeof *next->sources);
    }
    count = count == 3 ? 2 : count;
    together.lanes = (uint16_t)(count * spread->lanes);
    LLVMValueRef store = LLVMBuildStore(ctx->builder, bring(ctx, factor, &together),
                                        slot_pointer(ctx, spread, slot));
    LLVMSetAlignment(store, slot_align(spread));
    return count;
}

void tr_store_spread(struct tr_ctx *ctx, const struct tr_factor *factor,
                     const struct tr_spread *spread)
{
    for (unsigned slot = 0; slot < spread->count;)
        slot += store_slots(ctx, factor, spread, slot);
}

static LLVMValueRef load_spread(struct tr_ctx *ctx, const struct tr_spread *spread,
                                const struct tr_gather_key *key)
{
    LLVMValueRef indices[RT_WARP_SIZE];
    struct tr_gather_key first = first_lanes(key, spread->lanes);
    unsigned slot = 0;
    while (!is_same(&spread->keys[slot], &first))
        slot++;
    for (unsigned lane = 0; lane < key->lanes; lane++)
        indices[lane] = tr_const_int(ctx, 32, lane % spread->lanes);
    LLVMTypeRef type = LLVMVectorType(spread->type, spread->lanes);
    LLVMValueRef lanes = LLVMBuildLoad2(ctx->builder, type, slot_pointer(ctx, spread, slot), "");
    LLVMSetAlignment(lanes, slot_align(spread));
    if (spread->lanes == key->lanes)
        return lanes;
    return LLVMBuildShuffleVector(ctx->builder, lanes, LLVMGetPoison(type),
                                  LLVMConstVector(indices, key->lanes), "");
}

/* ---- either ---- */

LLVMValueRef tr_gather(struct tr_ctx *ctx, struct tr_factor *factor,
                       const struct ptx_fragment *result, unsigned element, unsigned k,
                       unsigned part, struct tr_piece piece)
{
    struct tr_gather_key key = key_of(factor, result, element, k, part, piece);
    for (unsigned i = 0; i < factor->gather_count; i++)
        if (is_same(&factor->keys[i], &key))
            return factor->gathers[i];
    LLVMValueRef lanes =
        factor->spread != NULL ? load_spread(ctx, factor->spread, &key) : bring(ctx, factor, &key);
    if (factor->gather_count < TR_GATHERS_MAX) {
        factor->keys[factor->gather_count] = key;
        factor->gathers[factor->gather_count++] = lanes;
    }
    return lanes;
}
