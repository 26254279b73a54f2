/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices between memory and the registers of a warp: wmma.load, wmma.store, ldmatrix, stmatrix.
 * Words of neighbouring lanes that are neighbours in memory too move at once.
 */
#include "translator/emit/matrix.h"

#define LINES_MAX 32
#define RUN_MAX   16 /* bytes */
#define ROW_BITS  (RT_WARP_SIZE * 32)

/* Bytes that are neighbours in the words and in memory. */
struct run {
    unsigned line;
    unsigned line_bit;
    unsigned word_bit; /* from the first lane's first word on */
    unsigned bits;
};

struct mover {
    struct tr_warp_function made;
    const struct tr_matrix_move *move;
    LLVMValueRef lines[LINES_MAX];
};

/* ---- lines in memory ---- */

static LLVMValueRef pointer_of(struct tr_ctx *ctx, LLVMValueRef address)
{
    return LLVMBuildIntToPtr(ctx->builder, address, ctx->ptr, "");
}

/* Lanes that take no part: something harmless. */
static void find_lines_of_lanes(struct mover *mover, unsigned count)
{
    struct tr_ctx *ctx = mover->made.ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef addresses = tr_load_row(&mover->made, TR_ROW_ADDRESS, 64);
    LLVMValueRef spare = tr_row(&mover->made, TR_ROW_SPARE, 0);
    spare = tr_splat(ctx, LLVMBuildPtrToInt(b, spare, ctx->i64, ""));
    LLVMValueRef is_live = LLVMBuildBitCast(b, mover->made.live, tr_lanes_of(ctx->i1), "");
    addresses = LLVMBuildSelect(b, is_live, addresses, spare, "");
    for (unsigned i = 0; i < count; i++)
        mover->lines[i] =
            pointer_of(ctx, LLVMBuildExtractElement(b, addresses, tr_const_int(ctx, 32, i), ""));
}

static void find_lines_of_matrix(struct mover *mover, unsigned count)
{
    struct tr_ctx *ctx = mover->made.ctx;
    LLVMValueRef address = tr_of_first_lane(&mover->made, TR_ROW_ADDRESS, 64);
    LLVMValueRef distance =
        tr_resize(ctx, tr_of_first_lane(&mover->made, TR_ROW_NUMBER, 32), 64, false);
    LLVMValueRef bits = tr_const_int(ctx, 64, mover->move->fragment->bits);
    distance = LLVMBuildMul(ctx->builder, distance, bits, "");
    distance = LLVMBuildLShr(ctx->builder, distance, tr_const_int(ctx, 64, 3), "");
    for (unsigned i = 0; i < count; i++) {
        mover->lines[i] = pointer_of(ctx, address);
        address = LLVMBuildAdd(ctx->builder, address, distance, "");
    }
}

/* ---- runs ---- */

/* A number of so many bits, or a vector. */
static LLVMTypeRef run_type(struct tr_ctx *ctx, unsigned bits)
{
    return bits > 64 ? LLVMVectorType(ctx->i32, bits / 32) : tr_int_type(ctx, bits);
}

static LLVMValueRef word_of(const struct mover *mover, const struct run *run)
{
    return tr_row(&mover->made, run->word_bit / ROW_BITS, run->word_bit % ROW_BITS / 8);
}

static LLVMValueRef memory_of(const struct mover *mover, const struct run *run)
{
    struct tr_ctx *ctx = mover->made.ctx;
    LLVMValueRef offset = tr_const_int(ctx, 64, run->line_bit / 8);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, mover->lines[run->line], &offset, 1, "");
}

static LLVMValueRef load(struct tr_ctx *ctx, LLVMTypeRef type, LLVMValueRef from)
{
    LLVMValueRef value = LLVMBuildLoad2(ctx->builder, type, from, "");
    LLVMSetAlignment(value, 1);
    return value;
}

static void store(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef to)
{
    LLVMSetAlignment(LLVMBuildStore(ctx->builder, value, to), 1);
}

/* Elements of 64 bits: the words have their halves in a row each. */
static void move_pairs(const struct mover *mover, const struct run *run)
{
    struct tr_ctx *ctx = mover->made.ctx;
    unsigned count = run->bits / 64;
    unsigned row = run->word_bit / (2 * ROW_BITS) * 2;
    unsigned bytes = run->word_bit % (2 * ROW_BITS) / 64 * (unsigned)sizeof(uint32_t);
    LLVMTypeRef halves = LLVMVectorType(ctx->i32, count);
    LLVMValueRef memory = memory_of(mover, run);
    LLVMValueRef low = tr_row(&mover->made, row, bytes);
    LLVMValueRef high = tr_row(&mover->made, row + 1, bytes);
    if (mover->move->is_store) {
        LLVMValueRef low_words = load(ctx, halves, low);
        store(ctx, tr_pair_words(ctx, low_words, load(ctx, halves, high)), memory);
        return;
    }
    LLVMValueRef pairs = load(ctx, LLVMVectorType(ctx->i64, count), memory);
    store(ctx, tr_words_of_pairs(ctx, pairs, false), low);
    store(ctx, tr_words_of_pairs(ctx, pairs, true), high);
}

static void move_run(const struct mover *mover, const struct run *run)
{
    struct tr_ctx *ctx = mover->made.ctx;
    if (mover->move->fragment->bits == 64) {
        move_pairs(mover, run);
        return;
    }
    LLVMTypeRef type = run_type(ctx, run->bits);
    LLVMValueRef memory = memory_of(mover, run);
    LLVMValueRef word = word_of(mover, run);
    bool is_store = mover->move->is_store;
    store(ctx, load(ctx, type, is_store ? word : memory), is_store ? memory : word);
}

/* An element that is shorter in memory: the rest of its byte becomes 0. */
static void move_short(const struct mover *mover, const struct run *run)
{
    struct tr_ctx *ctx = mover->made.ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef bits = load(ctx, ctx->i16, memory_of(mover, run));
    bits = LLVMBuildLShr(b, bits, tr_const_int(ctx, 16, run->line_bit % 8), "");
    bits = LLVMBuildAnd(b, bits, tr_const_int(ctx, 16, (1u << mover->move->memory_bits) - 1), "");
    LLVMBuildStore(b, LLVMBuildTrunc(b, bits, ctx->i8, ""), word_of(mover, run));
}

/* Adds the bits to the run if they follow it, in the same row. */
static bool extend(struct run *run, const struct run *bits)
{
    bool follows = run->bits != 0 && run->line == bits->line &&
                   run->line_bit + run->bits == bits->line_bit &&
                   run->word_bit + run->bits == bits->word_bit && bits->word_bit % ROW_BITS != 0 &&
                   run->bits < 8 * RUN_MAX;
    if (follows)
        run->bits += bits->bits;
    return follows;
}

/* The place of a register's element, in memory and in the words. */
static struct run place_of(const struct tr_matrix_move *move, unsigned matrix,
                           struct ptx_slot place)
{
    const struct ptx_fragment *fragment = move->fragment;
    unsigned register_bits = ptx_fragment_register_bits(fragment);
    unsigned in_register = register_bits / fragment->bits;
    unsigned number = matrix * ptx_fragment_registers(fragment) + place.element / in_register;
    struct ptx_cell cell = ptx_cell_of(fragment, place);
    unsigned line = move->is_by_column ? cell.column : cell.row;
    unsigned along = move->is_by_column ? cell.row : cell.column;
    return (struct run){.line = matrix * move->lines + line,
                        .line_bit =
                            along * (move->memory_bits != 0 ? move->memory_bits : fragment->bits),
                        .word_bit = (number * RT_WARP_SIZE + place.lane) * register_bits +
                                    place.element % in_register * fragment->bits,
                        .bits = fragment->bits};
}

static void move_matrix(const struct mover *mover, unsigned matrix)
{
    const struct ptx_fragment *fragment = mover->move->fragment;
    unsigned in_register = ptx_fragment_register_bits(fragment) / fragment->bits;
    struct run run = {0};
    for (unsigned r = 0; r < ptx_fragment_registers(fragment); r++)
        for (unsigned i = 0; i < RT_WARP_SIZE * in_register; i++) {
            struct ptx_slot place = {i / in_register, r * in_register + i % in_register};
            struct run bits = place_of(mover->move, matrix, place);
            if (mover->move->memory_bits != 0) {
                move_short(mover, &bits);
                continue;
            }
            if (extend(&run, &bits))
                continue;
            if (run.bits != 0)
                move_run(mover, &run);
            run = bits;
        }
    if (run.bits != 0)
        move_run(mover, &run);
}

LLVMValueRef tr_move_function(struct tr_ctx *ctx, const struct tr_matrix_move *move)
{
    struct mover mover = {.move = move};
    if (!tr_begin_operation_function(ctx, move->name, &mover.made))
        return mover.made.function;
    if (move->has_addresses)
        find_lines_of_lanes(&mover, move->count * move->lines);
    else
        find_lines_of_matrix(&mover, move->lines);
    for (unsigned i = 0; i < move->count; i++)
        move_matrix(&mover, i);
    tr_end_warp_function(&mover.made);
    return mover.made.function;
}
