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
static LLVMValueRef first_word(struct tr_ctx *ctx, unsigned bits)
{
    LLVMValueRef *word = &ctx->lane_words[bits == 64];
    LLVMBuilderRef builder = ctx->builder;
    LLVMValueRef base = tr_words_base(ctx);
    if (*word != NULL)
        return *word;
    ctx->builder = ctx->entry_builder;
    base = scaled(ctx, base, special_register(ctx, PTX_SREG_WARPID), RT_WARP_BYTES);
    *word = scaled(ctx, base, special_register(ctx, PTX_SREG_LANEID), bits / 8);
    ctx->builder = builder;
    return *word;
}

static LLVMValueRef word_pointer(struct tr_ctx *ctx, unsigned row, unsigned bits)
{
    LLVMValueRef offset = tr_const_int(ctx, 64, row * ROW_BYTES);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, first_word(ctx, bits), &offset, 1, "");
}

void tr_put_word(struct tr_ctx *ctx, unsigned row, LLVMValueRef value)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
    LLVMSetAlignment(LLVMBuildStore(ctx->builder, value, word_pointer(ctx, row, bits)), bits / 8);
}

LLVMValueRef tr_take_word(struct tr_ctx *ctx, unsigned row, unsigned bits)
{
    LLVMValueRef pointer = word_pointer(ctx, row, bits);
    LLVMValueRef value = LLVMBuildLoad2(ctx->builder, tr_int_type(ctx, bits), pointer, "");
    LLVMSetAlignment(value, bits / 8);
    return value;
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
    LLVMTypeRef types[3] = {ctx->ptr};
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

bool tr_begin_part_function(struct tr_ctx *ctx, struct pxr_str name, struct tr_warp_function *made)
{
    LLVMTypeRef others[2] = {ctx->ptr, ctx->ptr};
    if (!begin(ctx, name, others, 2, made))
        return false;
    made->rows = LLVMGetParam(made->function, 1);
    made->memory = LLVMGetParam(made->function, 2);
    return true;
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

LLVMValueRef tr_load_row(const struct tr_warp_function *made, unsigned row, LLVMTypeRef element)
{
    LLVMValueRef lanes =
        LLVMBuildLoad2(made->ctx->builder, tr_lanes_of(element), tr_row(made, row, 0), "");
    LLVMSetAlignment(lanes, RT_WORDS_ALIGN);
    return lanes;
}

void tr_store_row(const struct tr_warp_function *made, unsigned row, LLVMValueRef lanes)
{
    LLVMSetAlignment(LLVMBuildStore(made->ctx->builder, lanes, tr_row(made, row, 0)),
                     RT_WORDS_ALIGN);
}

LLVMValueRef tr_of_first_lane(const struct tr_warp_function *made, unsigned row, unsigned bits)
{
    struct tr_ctx *ctx = made->ctx;
    LLVMValueRef args[2] = {made->live, tr_const_int(ctx, 1, 1)};
    LLVMValueRef lane = tr_intrinsic(ctx, "llvm.cttz", &ctx->i32, 1, args, 2);
    LLVMValueRef place =
        scaled(ctx, tr_row(made, row, 0), tr_resize(ctx, lane, 64, false), bits / 8);
    return LLVMBuildLoad2(ctx->builder, tr_int_type(ctx, bits), place, "");
}

struct tr_warp_function tr_rows_behind(const struct tr_warp_function *made, LLVMValueRef count,
                                       unsigned rows)
{
    struct tr_warp_function behind = *made;
    LLVMValueRef times = tr_resize(made->ctx, count, 64, false);
    behind.words = scaled(made->ctx, made->words, times, rows * (unsigned)ROW_BYTES);
    return behind;
}
