/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/emit/warp_function.h"

#include <stddef.h>
#include <stdio.h>

#define ROW_BYTES   (RT_WARP_SIZE * sizeof(uint32_t))
#define NAME_PREFIX "warp."

/* ---- the program of one lane ---- */

static LLVMValueRef special_register(struct tr_ctx *ctx, enum ptx_sreg sreg)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_SREG, .sreg = sreg};
    return tr_resize(ctx, tr_operand_value(ctx, &operand, PTX_TYPE_U32), 64, false);
}

static LLVMValueRef scaled(struct tr_ctx *ctx, LLVMValueRef base, LLVMValueRef count,
                           unsigned bytes)
{
    LLVMValueRef offset = LLVMBuildMul(ctx->builder, count, tr_const_int(ctx, 64, bytes), "");
    return LLVMBuildGEP2(ctx->builder, ctx->i8, base, &offset, 1, "");
}

/* The lane's first word. It is found in the entry block; from there on rows are constants away. */
static LLVMValueRef first_word(struct tr_ctx *ctx)
{
    LLVMBuilderRef builder = ctx->builder;
    LLVMValueRef base = tr_words_base(ctx);
    if (ctx->lane_words != NULL)
        return ctx->lane_words;
    ctx->builder = ctx->entry_builder;
    base = scaled(ctx, base, special_register(ctx, PTX_SREG_WARPID), RT_WARP_BYTES);
    ctx->lane_words =
        scaled(ctx, base, special_register(ctx, PTX_SREG_LANEID), (unsigned)sizeof(uint32_t));
    ctx->builder = builder;
    return ctx->lane_words;
}

static LLVMValueRef word_pointer(struct tr_ctx *ctx, unsigned row)
{
    LLVMValueRef offset = tr_const_int(ctx, 64, row * ROW_BYTES);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, first_word(ctx), &offset, 1, "");
}

LLVMValueRef tr_word_in_entry(struct tr_ctx *ctx, unsigned row)
{
    LLVMBuilderRef builder = ctx->builder;
    first_word(ctx);
    ctx->builder = ctx->entry_builder;
    LLVMValueRef pointer = word_pointer(ctx, row);
    ctx->builder = builder;
    return pointer;
}

static LLVMValueRef high_word(struct tr_ctx *ctx, LLVMValueRef value)
{
    return tr_resize(ctx, LLVMBuildLShr(ctx->builder, value, tr_const_int(ctx, 64, 32), ""), 32,
                     false);
}

static LLVMValueRef joined(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high)
{
    high =
        LLVMBuildShl(ctx->builder, tr_resize(ctx, high, 64, false), tr_const_int(ctx, 64, 32), "");
    return LLVMBuildOr(ctx->builder, tr_resize(ctx, low, 64, false), high, "");
}

void tr_put_word(struct tr_ctx *ctx, unsigned row, LLVMValueRef value)
{
    if (LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64) {
        tr_put_word(ctx, row + 1, high_word(ctx, value));
        value = tr_resize(ctx, value, 32, false);
    }
    LLVMSetAlignment(LLVMBuildStore(ctx->builder, value, word_pointer(ctx, row)), sizeof(uint32_t));
}

LLVMValueRef tr_take_word(struct tr_ctx *ctx, unsigned row, unsigned bits)
{
    LLVMValueRef value = LLVMBuildLoad2(ctx->builder, ctx->i32, word_pointer(ctx, row), "");
    LLVMSetAlignment(value, sizeof(uint32_t));
    return bits == 32 ? value : joined(ctx, value, tr_take_word(ctx, row + 1, 32));
}

void tr_meet_for(struct tr_ctx *ctx, LLVMValueRef function, bool touches_memory)
{
    enum rt_placeholder meeting = touches_memory ? RT_CALL_WARP_MEMORY : RT_CALL_WARP_WORDS;
    LLVMValueRef mask = tr_const_int(ctx, 32, UINT32_MAX);
    tr_meet_lanes(ctx, meeting, 0, mask);
    tr_placeholder(ctx, meeting, ctx->thread, function, mask);
}

/* ---- the function ---- */

/* The words, and these parameters. */
static bool begin(struct tr_ctx *ctx, struct pxr_str name, const LLVMTypeRef *others,
                  unsigned count, struct tr_warp_function *made)
{
    char full[256];
    snprintf(full, sizeof full, NAME_PREFIX "%.*s", PXR_STR_ARG(name));
    *made = (struct tr_warp_function){.ctx = ctx, .outer = ctx->builder};
    made->function = LLVMGetNamedFunction(ctx->module, full);
    if (made->function != NULL)
        return false;
    LLVMTypeRef types[TR_PAIR_PARAMETERS] = {ctx->ptr};
    for (unsigned i = 0; i < count; i++)
        types[1 + i] = others[i];
    made->function = LLVMAddFunction(ctx->module, full,
                                     LLVMFunctionType(ctx->void_type, types, 1 + count, false));
    LLVMSetLinkage(made->function, LLVMInternalLinkage);
    tr_add_attribute(ctx, made->function, "nounwind", 0);
    tr_add_attribute(ctx, made->function, "noinline", 0);
    made->words = LLVMGetParam(made->function, 0);
    ctx->builder = LLVMCreateBuilderInContext(ctx->llvm);
    LLVMPositionBuilderAtEnd(ctx->builder,
                             LLVMAppendBasicBlockInContext(ctx->llvm, made->function, "entry"));
    return true;
}

bool tr_begin_warp_function(struct tr_ctx *ctx, struct pxr_str name, struct tr_warp_function *made)
{
    bool is_new = begin(ctx, name, &ctx->i32, 1, made);
    made->live = is_new ? LLVMGetParam(made->function, 1) : NULL;
    return is_new;
}

bool tr_begin_operation_function(struct tr_ctx *ctx, struct pxr_str name,
                                 struct tr_warp_function *made)
{
    LLVMTypeRef others[2] = {ctx->ptr, ctx->i32};
    if (!begin(ctx, name, others, 2, made))
        return false;
    made->rows = LLVMGetParam(made->function, 1);
    made->live = LLVMGetParam(made->function, 2);
    return true;
}

bool tr_begin_part_function(struct tr_ctx *ctx, struct pxr_str name, unsigned count,
                            struct tr_warp_function *made)
{
    LLVMTypeRef others[1 + TR_PART_MEMORIES] = {ctx->ptr, ctx->ptr, ctx->ptr};
    if (!begin(ctx, name, others, 1 + count, made))
        return false;
    made->rows = LLVMGetParam(made->function, 1);
    for (unsigned i = 0; i < count; i++)
        made->memory[i] = LLVMGetParam(made->function, 2 + i);
    return true;
}

void tr_begin_pair_function(struct tr_ctx *ctx, struct pxr_str name,
                            struct tr_warp_function made[2])
{
    LLVMTypeRef others[TR_PAIR_PARAMETERS - 1] = {ctx->ptr, ctx->ptr, ctx->ptr, ctx->ptr, ctx->ptr};
    begin(ctx, name, others, TR_PAIR_PARAMETERS - 1, &made[0]);
    made[0].rows = LLVMGetParam(made[0].function, 1);
    made[0].memory[0] = LLVMGetParam(made[0].function, 2);
    made[0].memory[1] = LLVMGetParam(made[0].function, 3);
    made[1] = made[0];
    made[1].rows = LLVMGetParam(made[0].function, 4);
    made[1].memory[1] = LLVMGetParam(made[0].function, 5);
}

void tr_end_warp_function(const struct tr_warp_function *made)
{
    LLVMBuildRetVoid(made->ctx->builder);
    LLVMDisposeBuilder(made->ctx->builder);
    made->ctx->builder = made->outer;
}

LLVMTypeRef tr_lanes_of(LLVMTypeRef element)
{
    return LLVMVectorType(element, RT_WARP_SIZE);
}

LLVMValueRef tr_splat(struct tr_ctx *ctx, LLVMValueRef scalar)
{
    LLVMTypeRef type = tr_lanes_of(LLVMTypeOf(scalar));
    LLVMValueRef first = LLVMBuildInsertElement(ctx->builder, LLVMGetPoison(type), scalar,
                                                tr_const_int(ctx, 32, 0), "");
    return LLVMBuildShuffleVector(ctx->builder, first, LLVMGetPoison(type),
                                  LLVMConstNull(tr_lanes_of(ctx->i32)), "");
}

LLVMValueRef tr_splat_int(struct tr_ctx *ctx, unsigned bits, uint64_t value)
{
    return tr_splat(ctx, tr_const_int(ctx, bits, value));
}

LLVMValueRef tr_row(const struct tr_warp_function *made, unsigned row, unsigned bytes)
{
    struct tr_ctx *ctx = made->ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef offset = tr_const_int(ctx, 64, row * ROW_BYTES + bytes);
    if (made->rows != NULL) {
        LLVMValueRef number = tr_const_int(ctx, 64, row);
        LLVMValueRef entry = LLVMBuildGEP2(b, ctx->i8, made->rows, &number, 1, "");
        LLVMValueRef place = tr_resize(ctx, LLVMBuildLoad2(b, ctx->i8, entry, ""), 64, false);
        offset = LLVMBuildMul(b, place, tr_const_int(ctx, 64, ROW_BYTES), "");
        offset = LLVMBuildAdd(b, offset, tr_const_int(ctx, 64, bytes), "");
    }
    return LLVMBuildGEP2(b, ctx->i8, made->words, &offset, 1, "");
}

static LLVMValueRef load_words(const struct tr_warp_function *made, unsigned row)
{
    LLVMValueRef words =
        LLVMBuildLoad2(made->ctx->builder, tr_lanes_of(made->ctx->i32), tr_row(made, row, 0), "");
    LLVMSetAlignment(words, RT_WORDS_ALIGN);
    return words;
}

static void store_words(const struct tr_warp_function *made, unsigned row, LLVMValueRef words)
{
    LLVMSetAlignment(LLVMBuildStore(made->ctx->builder, words, tr_row(made, row, 0)),
                     RT_WORDS_ALIGN);
}

LLVMValueRef tr_pair_words(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high)
{
    LLVMValueRef indices[2 * RT_WARP_SIZE];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(low));
    for (unsigned i = 0; i < 2 * count; i++)
        indices[i] = tr_const_int(ctx, 32, i / 2 + i % 2 * count);
    LLVMValueRef words =
        LLVMBuildShuffleVector(ctx->builder, low, high, LLVMConstVector(indices, 2 * count), "");
    return LLVMBuildBitCast(ctx->builder, words, LLVMVectorType(ctx->i64, count), "");
}

LLVMValueRef tr_words_of_pairs(struct tr_ctx *ctx, LLVMValueRef pairs, bool is_high)
{
    LLVMValueRef indices[RT_WARP_SIZE];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(pairs));
    LLVMValueRef words =
        LLVMBuildBitCast(ctx->builder, pairs, LLVMVectorType(ctx->i32, 2 * count), "");
    for (unsigned i = 0; i < count; i++)
        indices[i] = tr_const_int(ctx, 32, 2 * i + is_high);
    return LLVMBuildShuffleVector(ctx->builder, words, words, LLVMConstVector(indices, count), "");
}

LLVMValueRef tr_load_row(const struct tr_warp_function *made, unsigned row, unsigned bits)
{
    LLVMValueRef words = load_words(made, row);
    return bits == 32 ? words : tr_pair_words(made->ctx, words, load_words(made, row + 1));
}

void tr_store_row(const struct tr_warp_function *made, unsigned row, LLVMValueRef lanes)
{
    if (LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(lanes))) == 64) {
        store_words(made, row + 1, tr_words_of_pairs(made->ctx, lanes, true));
        lanes = tr_words_of_pairs(made->ctx, lanes, false);
    }
    store_words(made, row, lanes);
}

LLVMValueRef tr_of_first_lane(const struct tr_warp_function *made, unsigned row, unsigned bits)
{
    struct tr_ctx *ctx = made->ctx;
    LLVMValueRef args[2] = {made->live, tr_const_int(ctx, 1, 1)};
    LLVMValueRef lane = tr_intrinsic(ctx, "llvm.cttz", &ctx->i32, 1, args, 2);
    LLVMValueRef place = scaled(ctx, tr_row(made, row, 0), tr_resize(ctx, lane, 64, false),
                                (unsigned)sizeof(uint32_t));
    LLVMValueRef word = LLVMBuildLoad2(ctx->builder, ctx->i32, place, "");
    return bits == 32 ? word : joined(ctx, word, tr_of_first_lane(made, row + 1, 32));
}

struct tr_warp_function tr_rows_behind(const struct tr_warp_function *made, LLVMValueRef count,
                                       unsigned rows)
{
    struct tr_warp_function behind = *made;
    LLVMValueRef times = tr_resize(made->ctx, count, 64, false);
    behind.words = scaled(made->ctx, made->words, times, rows * (unsigned)ROW_BYTES);
    return behind;
}
