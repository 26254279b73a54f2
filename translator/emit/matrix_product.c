/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices. Every lane computes its own elements of D, and many lanes do so at once, on
 * vectors with an element for each of them: for each k, A's and B's elements that a lane needs are
 * brought to it (matrix_gathers.h).
 *
 * The order of operations (docs/hardware.md): floats begin with C, and add the products in the
 * order of k, each with one rounding (fma) to f32, or f64; a result of f16 is rounded once more at
 * the end. Scaled blocks have a sum each. Integers are exact until C is added. With --matrix=fast
 * bf16 may be left to the CPU's dot products, which add the second product of a pair first, and
 * take subnormals for zero.
 */
#include <string.h>

#include "translator/emit/emit_float.h"
#include "translator/emit/matrix_gathers.h"
#include "translator/rt/arith.h"

#define PIECE_LANES 16
#define SUMS_MAX    (2 * TR_D_ELEMENTS_MAX)
/* Registers of the machine for sums that grow side by side. With AVX-512 it has 32 of them. */
#define SUM_REGISTERS     8
#define SUM_REGISTERS_512 16
#define BF16_SIGNS        0x80008000u /* of a pair */

struct product {
    struct tr_warp_function made;
    const struct ptx_inst *inst;
    const struct ptx_matrices *matrices;
    struct tr_factor a;
    struct tr_factor b;
    struct tr_factor c;
    struct tr_spread spreads[2]; /* of A and B */
    unsigned piece_lanes;        /* all lanes, or PIECE_LANES */
    struct tr_whole whole;       /* of a sparse A */
    LLVMValueRef scratch[3];     /* for a helper */
};

static struct tr_ctx *ctx_of(const struct product *product)
{
    return product->made.ctx;
}

/* ---- floats ---- */

/* fma in another rounding mode. */
static LLVMValueRef rounding_fma(const struct product *product, LLVMValueRef *args, unsigned mode)
{
    struct tr_ctx *ctx = ctx_of(product);
    LLVMTypeRef lanes = tr_lanes_of(ctx->f64);
    for (unsigned i = 0; i < 3; i++)
        LLVMBuildStore(ctx->builder, args[i], product->scratch[i]);
    tr_helper(ctx, "rt_matrix_fma_f64", ctx->void_type, product->scratch[2], product->scratch[0],
              product->scratch[1], tr_const_int(ctx, 32, mode));
    return LLVMBuildLoad2(ctx->builder, lanes, product->scratch[2], "");
}

static LLVMValueRef multiply_add(const struct product *product, LLVMValueRef a, LLVMValueRef b,
                                 LLVMValueRef sum)
{
    LLVMValueRef args[3] = {a, b, sum};
    LLVMTypeRef type = LLVMTypeOf(sum);
    enum rt_round mode = tr_round_mode(ptx_inst_mod(product->inst, PTX_GROUP_ROUND));
    if (mode != RT_ROUND_NEAREST)
        return rounding_fma(product, args, mode);
    return tr_intrinsic(ctx_of(product), "llvm.fma", &type, 1, args, 3);
}

/* ---- integers ---- */

static unsigned part_count(const struct ptx_fragment *fragment)
{
    return fragment->bits == 8 || fragment->bits == 4 ? 16 / fragment->bits : 1;
}

/* Numbers of 4 and 8 bits become halves of words: part i has the i-th of each half. */
static LLVMValueRef integer_part(struct tr_ctx *ctx, const struct ptx_fragment *fragment,
                                 LLVMValueRef words, unsigned part)
{
    if (part_count(fragment) == 1)
        return words;
    LLVMBuilderRef b = ctx->builder;
    LLVMTypeRef halves = LLVMVectorType(ctx->i16, 2 * RT_WARP_SIZE);
    LLVMValueRef counts[2][2 * RT_WARP_SIZE];
    for (unsigned i = 0; i < 2 * RT_WARP_SIZE; i++) {
        counts[0][i] = tr_const_int(ctx, 16, 16 - (part + 1) * fragment->bits);
        counts[1][i] = tr_const_int(ctx, 16, 16 - fragment->bits);
    }
    LLVMValueRef left = LLVMConstVector(counts[0], 2 * RT_WARP_SIZE);
    LLVMValueRef right = LLVMConstVector(counts[1], 2 * RT_WARP_SIZE);
    words = LLVMBuildShl(b, LLVMBuildBitCast(b, words, halves, ""), left, "");
    words = ptx_type_is_signed(fragment->type) ? LLVMBuildAShr(b, words, right, "")
                                               : LLVMBuildLShr(b, words, right, "");
    return LLVMBuildBitCast(b, words, tr_lanes_of(ctx->i32), "");
}

static void find_words(struct tr_ctx *ctx, struct tr_factor *factor, const LLVMValueRef *registers)
{
    factor->step = 32 / factor->fragment->bits;
    for (unsigned r = 0; r < ptx_fragment_registers(factor->fragment); r++)
        for (unsigned part = 0; part < factor->parts; part++)
            factor->have[r][part] = integer_part(ctx, factor->fragment, registers[r], part);
}

/* The products of both halves of words, added: i32. */
static LLVMValueRef dot_of_halves(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b)
{
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(a));
    LLVMTypeRef halves = LLVMVectorType(ctx->i16, 2 * lanes);
    LLVMTypeRef wide = LLVMVectorType(ctx->i32, 2 * lanes);
    LLVMValueRef indices[2][RT_WARP_SIZE];
    for (unsigned i = 0; i < lanes; i++)
        for (unsigned half = 0; half < 2; half++)
            indices[half][i] = tr_const_int(ctx, 32, 2 * i + half);
    a = LLVMBuildSExt(ctx->builder, LLVMBuildBitCast(ctx->builder, a, halves, ""), wide, "");
    b = LLVMBuildSExt(ctx->builder, LLVMBuildBitCast(ctx->builder, b, halves, ""), wide, "");
    LLVMValueRef products = LLVMBuildMul(ctx->builder, a, b, "");
    LLVMValueRef low = LLVMBuildShuffleVector(ctx->builder, products, products,
                                              LLVMConstVector(indices[0], lanes), "");
    LLVMValueRef high = LLVMBuildShuffleVector(ctx->builder, products, products,
                                               LLVMConstVector(indices[1], lanes), "");
    return LLVMBuildAdd(ctx->builder, low, high, "");
}

/* PTX ISA "mma": xor or and of bits, of which those that are set are counted. */
static LLVMValueRef count_bits(const struct product *product, LLVMValueRef a, LLVMValueRef b)
{
    struct tr_ctx *ctx = ctx_of(product);
    bool is_and = ptx_inst_mod(product->inst, PTX_GROUP_ATOMOP) == PTX_MOD_AND;
    LLVMValueRef bits = LLVMBuildBinOp(ctx->builder, is_and ? LLVMAnd : LLVMXor, a, b, "");
    LLVMTypeRef type = LLVMTypeOf(bits);
    return tr_intrinsic(ctx, "llvm.ctpop", &type, 1, &bits, 1);
}

static LLVMValueRef add_c(const struct product *product, LLVMValueRef sum, LLVMValueRef c)
{
    struct tr_ctx *ctx = ctx_of(product);
    if (!ptx_inst_has(product->inst, PTX_GROUP_SATFINITE))
        return LLVMBuildAdd(ctx->builder, sum, c, "");
    LLVMTypeRef type = LLVMTypeOf(sum);
    LLVMValueRef args[2] = {sum, c};
    return tr_intrinsic(ctx, "llvm.sadd.sat", &type, 1, args, 2);
}

/* ---- the product ---- */

static bool is_integer(const struct product *product)
{
    return !ptx_type_is_float(product->matrices->a.type);
}

static bool is_directed(const struct product *product)
{
    return tr_round_mode(ptx_inst_mod(product->inst, PTX_GROUP_ROUND)) != RT_ROUND_NEAREST;
}

static bool is_sparse(const struct product *product)
{
    return product->matrices->metadata.row != NULL;
}

/* Of pairs of bf16, by an instruction of the CPU. What a sparse A has not stored would count as
 * zeros, of which infinity makes NaN. */
static bool has_dots(const struct product *product)
{
    return ctx_of(product)->options->dots_bf16 && product->matrices->a.type == PTX_TYPE_BF16 &&
           product->matrices->b.type == PTX_TYPE_BF16 && !is_sparse(product);
}

/* An element of D in some lanes. */
struct sum {
    unsigned element;
    struct tr_piece piece;
    LLVMValueRef lanes; /* NULL: integers, of which nothing was added yet */
};

/* What the sum's lanes need of a factor, or of C, for this k. */
static LLVMValueRef elements_for(struct product *product, struct tr_factor *factor,
                                 const struct sum *sum, unsigned k, unsigned part)
{
    return tr_gather(ctx_of(product), factor, &product->matrices->d, sum->element, k, part,
                     sum->piece);
}

/* What a sparse A has not stored is multiplied with nothing: not even infinity. */
static void add_floats(struct product *product, unsigned k, struct sum *sum)
{
    LLVMValueRef a = elements_for(product, &product->a, sum, k, 0);
    LLVMValueRef next =
        multiply_add(product, a, elements_for(product, &product->b, sum, k, 0), sum->lanes);
    if (is_sparse(product)) {
        LLVMValueRef is_stored = elements_for(product, &product->a, sum, k, TR_PART_STORED);
        next = LLVMBuildSelect(ctx_of(product)->builder, is_stored, next, sum->lanes, "");
    }
    sum->lanes = next;
}

static void add_integers(struct product *product, unsigned k, struct sum *sum)
{
    struct tr_ctx *ctx = ctx_of(product);
    for (unsigned part = 0; part < product->a.parts; part++) {
        LLVMValueRef a = elements_for(product, &product->a, sum, k, part);
        LLVMValueRef b = elements_for(product, &product->b, sum, k, part);
        LLVMValueRef dot =
            product->matrices->a.bits == 1 ? count_bits(product, a, b) : dot_of_halves(ctx, a, b);
        sum->lanes = sum->lanes == NULL ? dot : LLVMBuildAdd(ctx->builder, sum->lanes, dot, "");
    }
}

/* Of two k, the second one's first. */
static void add_dots(struct product *product, unsigned k, struct sum *sum)
{
    struct tr_ctx *ctx = ctx_of(product);
    LLVMTypeRef pairs =
        LLVMVectorType(LLVMBFloatTypeInContext(ctx->llvm), 2 * product->piece_lanes);
    LLVMValueRef a = elements_for(product, &product->a, sum, k, 0);
    LLVMValueRef b = elements_for(product, &product->b, sum, k, 0);
    LLVMValueRef args[3] = {sum->lanes, LLVMBuildBitCast(ctx->builder, a, pairs, ""),
                            LLVMBuildBitCast(ctx->builder, b, pairs, "")};
    sum->lanes = tr_intrinsic(ctx, TR_BF16_DOTS, NULL, 0, args, 3);
}

static void add_products(struct product *product, unsigned k, struct sum *sum)
{
    if (is_integer(product))
        add_integers(product, k, sum);
    else if (product->a.has_words)
        add_dots(product, k, sum);
    else
        add_floats(product, k, sum);
}

static LLVMValueRef lanes_of(struct tr_ctx *ctx, LLVMValueRef warp, struct tr_piece piece)
{
    LLVMValueRef indices[RT_WARP_SIZE];
    for (unsigned i = 0; i < piece.lanes; i++)
        indices[i] = tr_const_int(ctx, 32, piece.first + i);
    return LLVMBuildShuffleVector(ctx->builder, warp, warp, LLVMConstVector(indices, piece.lanes),
                                  "");
}

static LLVMValueRef scale_for(struct product *product, const struct sum *sum, bool is_b,
                              unsigned block)
{
    LLVMValueRef scale =
        tr_load_scale(&product->made, product->matrices, is_b, sum->element, block);
    return lanes_of(ctx_of(product), scale, sum->piece);
}

/* The sum of each block begins with 0; multiplied by A's scale, then with B's, it is added to what
 * is there. */
static void add_scaled(struct product *product, struct sum *total)
{
    const struct ptx_matrices *matrices = product->matrices;
    struct tr_ctx *ctx = ctx_of(product);
    unsigned length = matrices->k / matrices->blocks;
    for (unsigned block = 0; block < matrices->blocks; block++) {
        struct sum sum = *total;
        sum.lanes = LLVMConstNull(LLVMTypeOf(total->lanes));
        for (unsigned k = 0; k < length; k++)
            add_products(product, block * length + k, &sum);
        LLVMValueRef a = scale_for(product, total, false, block);
        LLVMValueRef b = scale_for(product, total, true, block);
        LLVMValueRef scaled = LLVMBuildFMul(ctx->builder, sum.lanes, a, "");
        total->lanes = multiply_add(product, scaled, b, total->lanes);
    }
}

static void begin_sums(struct product *product, struct sum *sums, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sums[i].lanes =
            is_integer(product) ? NULL : elements_for(product, &product->c, &sums[i], 0, 0);
}

static void end_sums(struct product *product, struct sum *sums, unsigned count)
{
    for (unsigned i = 0; i < count && is_integer(product); i++)
        sums[i].lanes =
            add_c(product, sums[i].lanes, elements_for(product, &product->c, &sums[i], 0, 0));
}

/* Side by side: one addition does not wait for the last one. */
static void find_sums(struct product *product, struct sum *sums, unsigned count)
{
    begin_sums(product, sums, count);
    if (product->matrices->blocks != 0) {
        for (unsigned i = 0; i < count; i++)
            add_scaled(product, &sums[i]);
        return;
    }
    for (unsigned k = 0; k < product->matrices->k; k += product->a.step)
        for (unsigned i = 0; i < count; i++)
            add_products(product, k, &sums[i]);
    end_sums(product, sums, count);
}

static LLVMValueRef joined(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high)
{
    LLVMValueRef indices[RT_WARP_SIZE];
    for (unsigned i = 0; i < RT_WARP_SIZE; i++)
        indices[i] = tr_const_int(ctx, 32, i);
    return LLVMBuildShuffleVector(ctx->builder, low, high, LLVMConstVector(indices, RT_WARP_SIZE),
                                  "");
}

/* Of wmma, up to PTX 6.4: infinities become the largest finite numbers, NaN 0. */
static LLVMValueRef saturated(const struct product *product, LLVMValueRef number)
{
    struct tr_ctx *ctx = ctx_of(product);
    if (is_integer(product) || !ptx_inst_has(product->inst, PTX_GROUP_SATFINITE))
        return number;
    double largest = product->matrices->d.type == PTX_TYPE_F16 ? 65504 : 0x1.fffffep127;
    LLVMValueRef limit = tr_splat(ctx, LLVMConstReal(ctx->f32, largest));
    LLVMTypeRef type = LLVMTypeOf(number);
    LLVMValueRef is_nan = LLVMBuildFCmp(ctx->builder, LLVMRealUNO, number, number, "");
    LLVMValueRef low[2] = {number, LLVMBuildFNeg(ctx->builder, limit, "")};
    LLVMValueRef high[2] = {tr_intrinsic(ctx, "llvm.maxnum", &type, 1, low, 2), limit};
    number = tr_intrinsic(ctx, "llvm.minnum", &type, 1, high, 2);
    return LLVMBuildSelect(ctx->builder, is_nan, LLVMConstNull(type), number, "");
}

/* ---- factors ---- */

static void find_numbers(struct tr_ctx *ctx, struct tr_factor *factor,
                         const LLVMValueRef *registers)
{
    LLVMValueRef numbers[TR_ELEMENTS_MAX];
    tr_find_numbers(ctx, factor->fragment, registers, numbers);
    for (unsigned i = 0; i < factor->fragment->elements; i++)
        factor->have[i][0] = numbers[i];
}

static void find_stored(struct product *product)
{
    LLVMBuilderRef b = ctx_of(product)->builder;
    unsigned bits = product->a.fragment->bits;
    for (unsigned i = 0; i < product->a.fragment->elements; i++) {
        LLVMValueRef taken = product->whole.taken[i / (32 / bits)];
        LLVMValueRef bit = tr_splat_int(ctx_of(product), 32, 1u << i % (32 / bits) * bits);
        LLVMValueRef stored = LLVMBuildAnd(b, taken, bit, "");
        product->a.have[i][TR_PART_STORED] =
            LLVMBuildICmp(b, LLVMIntNE, stored, LLVMConstNull(LLVMTypeOf(stored)), "");
    }
}

static void begin_factor(struct tr_factor *factor, enum tr_factor_role role,
                         const struct ptx_fragment *fragment, bool has_words)
{
    factor->role = role;
    factor->fragment = fragment;
    factor->has_words = has_words;
    factor->step = has_words ? 32 / fragment->bits : 1;
    factor->parts = has_words ? part_count(fragment) : 1;
    factor->gather_count = 0;
}

static void set_factor(struct tr_ctx *ctx, struct tr_factor *factor, const LLVMValueRef *registers)
{
    factor->gather_count = 0;
    if (factor->has_words)
        find_words(ctx, factor, registers);
    else
        find_numbers(ctx, factor, registers);
}

/* ---- what others see ---- */

static struct product *allocate(const struct tr_warp_function *made, const struct ptx_inst *inst,
                                const struct ptx_matrices *matrices)
{
    struct tr_ctx *ctx = made->ctx;
    struct product *product = pxr_arena_alloc(&ctx->arena, sizeof *product);
    if (product == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, inst->line, "out of memory");
        return NULL;
    }
    memset(product, 0, sizeof *product);
    product->made = *made;
    product->inst = inst;
    product->matrices = matrices;
    bool has_words = is_integer(product) || has_dots(product);
    begin_factor(&product->a, TR_FACTOR_A, &matrices->a, has_words);
    begin_factor(&product->b, TR_FACTOR_B, &matrices->b, has_words);
    begin_factor(&product->c, TR_FACTOR_C, &matrices->c, false);
    return product;
}

struct product *tr_begin_product(const struct tr_warp_function *made, const struct ptx_inst *inst,
                                 const struct ptx_matrices *matrices)
{
    struct product *product = allocate(made, inst, matrices);
    if (product == NULL)
        return NULL;
    product->piece_lanes = is_directed(product) ? RT_WARP_SIZE : PIECE_LANES;
    for (unsigned i = 0; i < 3; i++)
        product->scratch[i] = LLVMBuildAlloca(made->ctx->builder, tr_lanes_of(made->ctx->f64), "");
    return product;
}

void tr_set_a(struct product *product, const LLVMValueRef *registers)
{
    set_factor(ctx_of(product), &product->a, registers);
}

void tr_set_sparse_a(struct product *product, const LLVMValueRef *registers, LLVMValueRef metadata,
                     unsigned selector)
{
    tr_make_whole(ctx_of(product), product->matrices, registers, metadata, selector,
                  &product->whole);
    product->a.fragment = &product->whole.fragment;
    set_factor(ctx_of(product), &product->a, product->whole.words);
    if (!is_integer(product))
        find_stored(product);
}

static void negate_pairs(struct product *product)
{
    struct tr_ctx *ctx = ctx_of(product);
    for (unsigned i = 0; i < ptx_fragment_registers(product->a.fragment); i++)
        product->a.have[i][0] = LLVMBuildXor(ctx->builder, product->a.have[i][0],
                                             tr_splat_int(ctx, 32, BF16_SIGNS), "");
}

void tr_negate_a(struct product *product)
{
    if (product->a.has_words) {
        negate_pairs(product);
        return;
    }
    for (unsigned i = 0; i < product->a.fragment->elements; i++)
        product->a.have[i][0] = LLVMBuildFNeg(ctx_of(product)->builder, product->a.have[i][0], "");
}

void tr_set_b(struct product *product, const LLVMValueRef *registers)
{
    product->a.gather_count = 0; /* keeps values of other blocks from living longer */
    set_factor(ctx_of(product), &product->b, registers);
}

void tr_set_c(struct product *product, const LLVMValueRef *registers)
{
    set_factor(ctx_of(product), &product->c, registers);
}

static struct tr_factor *factor_of(struct product *product, enum tr_side side)
{
    return side == TR_SIDE_A ? &product->a : &product->b;
}

unsigned tr_plan_side(struct product *product, enum tr_side side)
{
    struct tr_spread *spread = &product->spreads[side];
    bool is_planned = (side == TR_SIDE_B || !is_sparse(product)) &&
                      tr_plan_spread(ctx_of(product), factor_of(product, side), product->matrices,
                                     product->piece_lanes, spread);
    return is_planned ? spread->count * spread->slot_bytes : 0;
}

void tr_set_side(struct product *product, enum tr_side side, LLVMValueRef memory)
{
    product->spreads[side].memory = memory;
    factor_of(product, side)->spread = &product->spreads[side];
}

void tr_store_side(struct product *product, enum tr_side side, LLVMValueRef memory)
{
    product->spreads[side].memory = memory;
    tr_store_spread(ctx_of(product), factor_of(product, side), &product->spreads[side]);
}

/* Of a warp's lanes, those that are computed together. */
static unsigned list_sums(const struct product *product, struct sum *sums)
{
    unsigned count = 0;
    unsigned lanes = product->piece_lanes;
    for (unsigned first = 0; first < RT_WARP_SIZE; first += lanes)
        for (unsigned element = 0; element < product->matrices->d.elements; element++)
            sums[count++] = (struct sum){.element = element, .piece = {first, lanes}};
    return count;
}

static unsigned sums_together(const struct product *product)
{
    unsigned bits = product->matrices->c.type == PTX_TYPE_F64 ? 64 : 32;
    unsigned vector_bits = ctx_of(product)->options->vector_bits;
    unsigned most = vector_bits == 512 ? SUM_REGISTERS_512 : SUM_REGISTERS;
    unsigned registers = product->piece_lanes * bits / (vector_bits == 0 ? 128 : vector_bits);
    return registers == 0 ? most : (most + registers - 1) / registers;
}

/* What follows loads its factors anew: LLVM would compute all sums side by side, more than the
 * machine has registers for. */
static void keep_apart(struct product *product)
{
    struct tr_ctx *ctx = ctx_of(product);
    LLVMTypeRef type = LLVMFunctionType(ctx->void_type, NULL, 0, false);
    static const char clobbers[] = "~{memory}";
    LLVMValueRef nothing = LLVMGetInlineAsm(type, "", 0, clobbers, sizeof clobbers - 1, true, false,
                                            LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(ctx->builder, type, nothing, NULL, 0, "");
    product->a.gather_count = 0;
    product->b.gather_count = 0;
}

/* From the sums of all its lanes. */
static void join_pieces(struct product *product, const struct sum *sums, unsigned count,
                        LLVMValueRef *elements)
{
    unsigned of_piece = product->matrices->d.elements;
    for (unsigned i = 0; i < of_piece; i++) {
        LLVMValueRef whole = sums[i].lanes;
        if (count > of_piece)
            whole = joined(ctx_of(product), whole, sums[of_piece + i].lanes);
        elements[i] = saturated(product, whole);
    }
}

void tr_find_d(struct product *product, LLVMValueRef *elements)
{
    struct sum sums[SUMS_MAX];
    unsigned count = list_sums(product, sums);
    unsigned together = sums_together(product);
    for (unsigned i = 0; i < count; i += together) {
        if (i > 0)
            keep_apart(product);
        find_sums(product, &sums[i], count - i < together ? count - i : together);
    }
    join_pieces(product, sums, count, elements);
}

bool tr_makes_pairs(const struct product *product)
{
    struct sum sums[SUMS_MAX];
    return product->matrices->blocks == 0 && !is_sparse(product) && !is_directed(product) &&
           2 * list_sums(product, sums) <= sums_together(product);
}

void tr_find_pair(struct product *products[2], LLVMValueRef *elements[2])
{
    struct sum sums[2][SUMS_MAX];
    unsigned count = list_sums(products[0], sums[0]);
    list_sums(products[1], sums[1]);
    for (unsigned i = 0; i < 2; i++)
        begin_sums(products[i], sums[i], count);
    for (unsigned k = 0; k < products[0]->matrices->k; k += products[0]->a.step)
        for (unsigned i = 0; i < 2 * count; i++)
            add_products(products[i / count], k, &sums[i / count][i % count]);
    for (unsigned i = 0; i < 2; i++) {
        end_sums(products[i], sums[i], count);
        join_pieces(products[i], sums[i], count, elements[i]);
    }
}
