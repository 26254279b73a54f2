/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse matrices (PTX ISA, "Sparse matrix storage"). Of each four units of a row two are stored,
 * and metadata has a number of two bits for each of them: its place among the four. A unit is 16
 * bits, or 8 where elements have 8 or 4: a tf32 is two units, two numbers of 4 bits are one. Here
 * the rows become whole again, in registers of the same lane, which are twice as many.
 */
#include <string.h>

#include "translator/emit/matrix.h"

#define METADATA_BITS 2
#define CHUNK_UNITS   4

static unsigned unit_bits_of(const struct ptx_fragment *fragment)
{
    return fragment->bits < 16 ? 8 : 16;
}

/* The unit of a packed row in which this column begins. */
static unsigned unit_of(const struct ptx_fragment *fragment, unsigned column)
{
    return column * fragment->bits / unit_bits_of(fragment);
}

/* ---- the whole matrix's layout ---- */

/* The bit of an element's number, and of its column, that tells the halves of four units apart. */
static unsigned half_bit(const struct ptx_fragment *fragment)
{
    unsigned bit = 0;
    for (unsigned bits = fragment->bits; bits < 2 * unit_bits_of(fragment); bits *= 2)
        bit++;
    return bit;
}

/* Makes room for that bit among the bits of the element's number. */
static void copy_bits(char *to, const char *bits, unsigned new_bit)
{
    for (; *bits != '\0'; bits++)
        *to++ = (char)(*bits >= 'a' + (int)new_bit ? *bits + 1 : *bits);
    *to = '\0';
}

static void find_layout(const struct ptx_fragment *packed, struct tr_whole *whole)
{
    unsigned bit = half_bit(packed);
    copy_bits(whole->row, packed->row, bit);
    copy_bits(whole->column, packed->column, bit);
    memmove(&whole->column[bit + 1], &whole->column[bit], strlen(&whole->column[bit]) + 1);
    whole->column[bit] = (char)('a' + bit);
    whole->fragment = (struct ptx_fragment){.type = packed->type,
                                            .bits = packed->bits,
                                            .elements = 2 * packed->elements,
                                            .row = whole->row,
                                            .column = whole->column};
}

/* ---- registers ---- */

/* A packed unit, and a place where it may belong. */
struct unit {
    unsigned number; /* in its packed register */
    unsigned bits;
    unsigned place; /* among four */
    unsigned to;    /* the first bit in the whole register */
};

/* Metadata of this packed register, for each lane, in the lowest bits. */
static LLVMValueRef metadata_of(struct tr_ctx *ctx, const struct ptx_matrices *matrices,
                                unsigned selector, LLVMValueRef metadata, unsigned number)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef from[RT_WARP_SIZE];
    LLVMValueRef shifts[RT_WARP_SIZE];
    unsigned spare = ptx_lane_of_choice(&matrices->metadata, selector);
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        struct ptx_slot first = {lane, number * (32 / matrices->a.bits)};
        struct ptx_cell cell = ptx_cell_of(&matrices->a, first);
        cell.column = unit_of(&matrices->a, cell.column);
        struct ptx_slot place = ptx_slot_of(&matrices->metadata, cell, spare);
        from[lane] = tr_const_int(ctx, 32, place.lane);
        shifts[lane] = tr_const_int(ctx, 32, place.element * METADATA_BITS);
    }
    metadata =
        LLVMBuildShuffleVector(b, metadata, metadata, LLVMConstVector(from, RT_WARP_SIZE), "");
    return LLVMBuildLShr(b, metadata, LLVMConstVector(shifts, RT_WARP_SIZE), "");
}

/* Bits from `from` on, of `bits`, as those from `to` on of another word. */
static LLVMValueRef moved_bits(struct tr_ctx *ctx, LLVMValueRef word, unsigned bits, unsigned from,
                               unsigned to)
{
    LLVMBuilderRef b = ctx->builder;
    uint32_t mask = ((1u << bits) - 1) << to;
    if (from > to)
        word = LLVMBuildLShr(b, word, tr_splat_int(ctx, 32, from - to), "");
    else if (to > from)
        word = LLVMBuildShl(b, word, tr_splat_int(ctx, 32, to - from), "");
    return LLVMBuildAnd(b, word, tr_splat_int(ctx, 32, mask), "");
}

/* What metadata puts at the unit's place: the packed unit, or what was there. */
static void put_unit(struct tr_ctx *ctx, LLVMValueRef packed, LLVMValueRef metadata,
                     const struct unit *unit, LLVMValueRef *bits, LLVMValueRef *taken)
{
    LLVMBuilderRef b = ctx->builder;
    uint32_t mask = ((1u << unit->bits) - 1) << unit->to;
    LLVMValueRef number = moved_bits(ctx, metadata, METADATA_BITS, unit->number * METADATA_BITS, 0);
    LLVMValueRef is_here =
        LLVMBuildICmp(b, LLVMIntEQ, number, tr_splat_int(ctx, 32, unit->place), "");
    LLVMValueRef own = moved_bits(ctx, packed, unit->bits, unit->number * unit->bits, unit->to);
    *bits = LLVMBuildSelect(b, is_here, own, *bits, "");
    *taken = LLVMBuildSelect(b, is_here, tr_splat_int(ctx, 32, mask), *taken, "");
}

/* A packed register has half the units of two whole ones. The first of two that metadata puts at
 * one place stays there: the manual leaves it open. */
static void spread(struct tr_ctx *ctx, unsigned unit_bits, LLVMValueRef packed,
                   LLVMValueRef metadata, struct tr_whole *whole, unsigned number)
{
    unsigned units = 32 / unit_bits;
    for (unsigned i = 0; i < 2 * units; i++) {
        struct unit unit = {
            .bits = unit_bits, .place = i % CHUNK_UNITS, .to = i % units * unit_bits};
        unsigned r = 2 * number + i / units;
        LLVMValueRef bits = LLVMConstNull(tr_lanes_of(ctx->i32));
        LLVMValueRef taken = bits;
        for (unsigned n = CHUNK_UNITS / 2; n-- > 0;) {
            unit.number = i / CHUNK_UNITS * (CHUNK_UNITS / 2) + n;
            put_unit(ctx, packed, metadata, &unit, &bits, &taken);
        }
        whole->words[r] = LLVMBuildOr(ctx->builder, whole->words[r], bits, "");
        whole->taken[r] = LLVMBuildOr(ctx->builder, whole->taken[r], taken, "");
    }
}

void tr_make_whole(struct tr_ctx *ctx, const struct ptx_matrices *matrices,
                   const LLVMValueRef *packed, LLVMValueRef metadata, unsigned selector,
                   struct tr_whole *whole)
{
    find_layout(&matrices->a, whole);
    for (unsigned r = 0; r < ptx_fragment_registers(&whole->fragment); r++)
        whole->words[r] = whole->taken[r] = LLVMConstNull(tr_lanes_of(ctx->i32));
    for (unsigned r = 0; r < ptx_fragment_registers(&matrices->a); r++)
        spread(ctx, unit_bits_of(&matrices->a), packed[r],
               metadata_of(ctx, matrices, selector, metadata, r), whole, r);
}
