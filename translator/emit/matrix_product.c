/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices. Every lane computes its own elements of D, and all lanes do so at once, on
 * vectors with an element for each lane: for each k, A's and B's elements that a lane needs are
 * brought to it by a shuffle, whose indices follow from the layouts.
 *
 * The order of operations (docs/hardware.md): floats begin with C, and add the products in the
 * order of k, each with one rounding (fma) to f32, or f64; a result of f16 is rounded once more at
 * the end. Scaled blocks have a sum each. Integers are exact until C is added.
 */
#include <string.h>

#include "translator/emit/emit_float.h"
#include "translator/emit/matrix.h"
#include "translator/rt/arith.h"

#define ELEMENTS_MAX 64 /* of a lane, as numbers; integers of 1 bit are no numbers */
#define GATHERS_MAX  512
#define PART_STORED  1 /* whether the element is stored */

/* Elements of one matrix in all lanes, brought to the lanes that need them. */
struct gather {
    unsigned sources[RT_WARP_SIZE]; /* by lane: element * RT_WARP_SIZE + lane */
    unsigned part;
    LLVMValueRef lanes;
};

struct factor {
    const struct ptx_fragment *fragment;
    unsigned step; /* elements that are taken together: those of a register, of integers */
    /* What lanes have: by element / step, part. Parts of short integers: a few bits of them in
     * halves of words; of a sparse matrix of floats: number, PART_STORED. */
    LLVMValueRef have[ELEMENTS_MAX][4];
    struct gather gathers[GATHERS_MAX];
    unsigned gather_count;
};

struct product {
    struct tr_warp_function made;
    const struct ptx_inst *inst;
    const struct ptx_matrices *matrices;
    struct factor a;
    struct factor b;
    struct factor c; /* no factor, but of f16 it may be elsewhere than D of f32 */
    unsigned parts;
    struct tr_whole whole;   /* of a sparse A */
    LLVMValueRef scratch[3]; /* for a helper */
};

static struct tr_ctx *ctx_of(const struct product *product)
{
    return product->made.ctx;
}

/* ---- bringing elements to lanes ---- */

static void find_sources(const struct factor *factor,
                         struct ptx_cell (*cell_for)(struct ptx_cell cell, unsigned k),
                         const struct ptx_fragment *result, unsigned element, unsigned k,
                         unsigned sources[RT_WARP_SIZE])
{
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        struct ptx_place own = {lane, element};
        struct ptx_cell cell = cell_for(ptx_cell_of(result, own), k);
        struct ptx_place place = ptx_place_of(factor->fragment, cell, lane);
        sources[lane] = place.element / factor->step * RT_WARP_SIZE + place.lane;
    }
}

static struct ptx_cell cell_of_a(struct ptx_cell cell, unsigned k)
{
    return (struct ptx_cell){cell.row, k};
}

static struct ptx_cell cell_of_b(struct ptx_cell cell, unsigned k)
{
    return (struct ptx_cell){k, cell.column};
}

static struct ptx_cell cell_of_c(struct ptx_cell cell, unsigned k)
{
    (void)k;
    return cell;
}

/* The lanes whose source is this element take it; the others keep theirs. */
static LLVMValueRef take(struct tr_ctx *ctx, LLVMValueRef have, const unsigned *sources,
                         unsigned element, LLVMValueRef others)
{
    LLVMValueRef from[RT_WARP_SIZE];
    LLVMValueRef is_taken[RT_WARP_SIZE];
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        bool is_it = sources[lane] / RT_WARP_SIZE == element;
        from[lane] =
            is_it ? tr_const_int(ctx, 32, sources[lane] % RT_WARP_SIZE) : LLVMGetPoison(ctx->i32);
        is_taken[lane] = tr_const_int(ctx, 1, is_it);
    }
    LLVMValueRef lanes =
        LLVMBuildShuffleVector(ctx->builder, have, have, LLVMConstVector(from, RT_WARP_SIZE), "");
    if (others == NULL)
        return lanes;
    return LLVMBuildSelect(ctx->builder, LLVMConstVector(is_taken, RT_WARP_SIZE), lanes, others,
                           "");
}

static LLVMValueRef bring(struct tr_ctx *ctx, const struct factor *factor, const unsigned *sources,
                          unsigned part)
{
    LLVMValueRef lanes = NULL;
    for (unsigned element = 0; element < ELEMENTS_MAX; element++) {
        bool is_needed = false;
        for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
            is_needed |= sources[lane] / RT_WARP_SIZE == element;
        if (is_needed)
            lanes = take(ctx, factor->have[element][part], sources, element, lanes);
    }
    return lanes;
}

/* Each is made once: lanes have several elements of a row or column of D. */
static LLVMValueRef gathered(struct tr_ctx *ctx, struct factor *factor, const unsigned *sources,
                             unsigned part)
{
    for (unsigned i = 0; i < factor->gather_count; i++) {
        struct gather *gather = &factor->gathers[i];
        if (gather->part == part && memcmp(gather->sources, sources, sizeof gather->sources) == 0)
            return gather->lanes;
    }
    LLVMValueRef lanes = bring(ctx, factor, sources, part);
    if (factor->gather_count < GATHERS_MAX) {
        struct gather *gather = &factor->gathers[factor->gather_count++];
        memcpy(gather->sources, sources, sizeof gather->sources);
        gather->part = part;
        gather->lanes = lanes;
    }
    return lanes;
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

static void find_words(const struct product *product, struct factor *factor,
                       const LLVMValueRef *registers)
{
    factor->step = 32 / factor->fragment->bits;
    for (unsigned r = 0; r < ptx_fragment_registers(factor->fragment); r++)
        for (unsigned part = 0; part < product->parts; part++)
            factor->have[r][part] =
                integer_part(ctx_of(product), factor->fragment, registers[r], part);
}

/* The products of both halves of words, added: i32. */
static LLVMValueRef dot_of_halves(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef halves = LLVMVectorType(ctx->i16, 2 * RT_WARP_SIZE);
    LLVMTypeRef wide = LLVMVectorType(ctx->i32, 2 * RT_WARP_SIZE);
    LLVMValueRef indices[2][RT_WARP_SIZE];
    for (unsigned i = 0; i < RT_WARP_SIZE; i++)
        for (unsigned half = 0; half < 2; half++)
            indices[half][i] = tr_const_int(ctx, 32, 2 * i + half);
    a = LLVMBuildSExt(ctx->builder, LLVMBuildBitCast(ctx->builder, a, halves, ""), wide, "");
    b = LLVMBuildSExt(ctx->builder, LLVMBuildBitCast(ctx->builder, b, halves, ""), wide, "");
    LLVMValueRef products = LLVMBuildMul(ctx->builder, a, b, "");
    LLVMValueRef low = LLVMBuildShuffleVector(ctx->builder, products, products,
                                              LLVMConstVector(indices[0], RT_WARP_SIZE), "");
    LLVMValueRef high = LLVMBuildShuffleVector(ctx->builder, products, products,
                                               LLVMConstVector(indices[1], RT_WARP_SIZE), "");
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

static bool is_sparse(const struct product *product)
{
    return product->matrices->metadata.row != NULL;
}

/* What a sparse A has not stored is multiplied with nothing: not even infinity. */
static LLVMValueRef add_product(struct product *product, const unsigned *sources, LLVMValueRef a,
                                LLVMValueRef b, LLVMValueRef sum)
{
    LLVMValueRef next = multiply_add(product, a, b, sum);
    if (!is_sparse(product))
        return next;
    LLVMValueRef is_stored = gathered(ctx_of(product), &product->a, sources, PART_STORED);
    return LLVMBuildSelect(ctx_of(product)->builder, is_stored, next, sum, "");
}

static LLVMValueRef step(struct product *product, unsigned element, unsigned k, LLVMValueRef sum)
{
    struct tr_ctx *ctx = ctx_of(product);
    unsigned sources[2][RT_WARP_SIZE];
    find_sources(&product->a, cell_of_a, &product->matrices->d, element, k, sources[0]);
    find_sources(&product->b, cell_of_b, &product->matrices->d, element, k, sources[1]);
    for (unsigned part = 0; part < product->parts; part++) {
        LLVMValueRef a = gathered(ctx, &product->a, sources[0], part);
        LLVMValueRef b = gathered(ctx, &product->b, sources[1], part);
        if (!is_integer(product)) {
            sum = add_product(product, sources[0], a, b, sum);
            continue;
        }
        LLVMValueRef dot =
            product->matrices->a.bits == 1 ? count_bits(product, a, b) : dot_of_halves(ctx, a, b);
        sum = sum == NULL ? dot : LLVMBuildAdd(ctx->builder, sum, dot, "");
    }
    return sum;
}

/* The sum of each block begins with 0; multiplied by A's scale, then with B's, it is added to what
 * is there. */
static LLVMValueRef scaled_sum(struct product *product, unsigned element, LLVMValueRef c)
{
    const struct ptx_matrices *matrices = product->matrices;
    struct tr_ctx *ctx = ctx_of(product);
    unsigned length = matrices->k / matrices->blocks;
    for (unsigned block = 0; block < matrices->blocks; block++) {
        LLVMValueRef sum = LLVMConstNull(LLVMTypeOf(c));
        for (unsigned k = 0; k < length; k++)
            sum = step(product, element, block * length + k, sum);
        LLVMValueRef a = tr_load_scale(&product->made, matrices, false, element, block);
        LLVMValueRef b = tr_load_scale(&product->made, matrices, true, element, block);
        c = multiply_add(product, LLVMBuildFMul(ctx->builder, sum, a, ""), b, c);
    }
    return c;
}

static LLVMValueRef element_of_d(struct product *product, unsigned element)
{
    unsigned sources[RT_WARP_SIZE];
    find_sources(&product->c, cell_of_c, &product->matrices->d, element, 0, sources);
    LLVMValueRef c = gathered(ctx_of(product), &product->c, sources, 0);
    if (product->matrices->blocks != 0)
        return scaled_sum(product, element, c);
    LLVMValueRef sum = is_integer(product) ? NULL : c;
    for (unsigned k = 0; k < product->matrices->k; k += product->a.step)
        sum = step(product, element, k, sum);
    return is_integer(product) ? add_c(product, sum, c) : sum;
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

static void find_numbers(const struct product *product, struct factor *factor,
                         const LLVMValueRef *registers)
{
    LLVMValueRef numbers[ELEMENTS_MAX];
    factor->step = 1;
    tr_find_numbers(ctx_of(product), factor->fragment, registers, numbers);
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
        product->a.have[i][PART_STORED] =
            LLVMBuildICmp(b, LLVMIntNE, stored, LLVMConstNull(LLVMTypeOf(stored)), "");
    }
}

static void set_factor(struct product *product, struct factor *factor,
                       const struct ptx_fragment *fragment, const LLVMValueRef *registers)
{
    factor->fragment = fragment;
    factor->gather_count = 0;
    if (is_integer(product) && factor != &product->c)
        find_words(product, factor, registers);
    else
        find_numbers(product, factor, registers);
}

/* ---- what others see ---- */

struct product *tr_begin_product(const struct tr_warp_function *made, const struct ptx_inst *inst,
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
    product->parts = is_integer(product) ? part_count(&matrices->a) : 1;
    for (unsigned i = 0; i < 3; i++)
        product->scratch[i] = LLVMBuildAlloca(ctx->builder, tr_lanes_of(ctx->f64), "");
    return product;
}

void tr_set_a(struct product *product, const LLVMValueRef *registers)
{
    set_factor(product, &product->a, &product->matrices->a, registers);
}

void tr_set_sparse_a(struct product *product, const LLVMValueRef *registers, LLVMValueRef metadata,
                     unsigned selector)
{
    tr_make_whole(ctx_of(product), product->matrices, registers, metadata, selector,
                  &product->whole);
    set_factor(product, &product->a, &product->whole.fragment, product->whole.words);
    if (!is_integer(product))
        find_stored(product);
}

void tr_negate_a(struct product *product)
{
    for (unsigned i = 0; i < product->a.fragment->elements; i++)
        product->a.have[i][0] = LLVMBuildFNeg(ctx_of(product)->builder, product->a.have[i][0], "");
}

void tr_set_b(struct product *product, const LLVMValueRef *registers)
{
    product->a.gather_count = 0;
    set_factor(product, &product->b, &product->matrices->b, registers);
}

void tr_set_c(struct product *product, const LLVMValueRef *registers)
{
    set_factor(product, &product->c, &product->matrices->c, registers);
}

void tr_find_d(struct product *product, LLVMValueRef *elements)
{
    for (unsigned i = 0; i < product->matrices->d.elements; i++)
        elements[i] = saturated(product, element_of_d(product, i));
}
