/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks that memory has been written before its values are used (docs/check.md): threads mark what
 * they write, and ask for what they read. What becomes of values that were read is looked at when
 * registers have become values (module/written_values.h).
 */
#include "translator/emit/emit.h"

#include <stddef.h>

#include "translator/module/checks.h"
#include "translator/module/written_values.h"

/* Others' contents come with the launch, or are the thread's own (emit_own_array.c). */
static bool is_asked(const struct tr_ctx *ctx, enum ptx_space space)
{
    return ctx->options->checks_written &&
           (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_NONE);
}

/* rt_written or rt_mark; last: its last argument. */
static LLVMValueRef call(struct tr_ctx *ctx, enum rt_placeholder placeholder, LLVMValueRef pointer,
                         enum ptx_space space, LLVMValueRef bytes, LLVMValueRef last)
{
    struct tr_bounds bounds = tr_bounds_of(ctx, space, TR_BOUNDS_WRITTEN);
    return tr_placeholder(ctx, placeholder, ctx->thread, pointer, bytes, bounds.begin,
                          bounds.size_bytes, bounds.shadow, last);
}

static LLVMValueRef accesses_of(struct tr_ctx *ctx, unsigned bytes, enum rt_access what)
{
    struct rt_checked_access access = {
        .bytes = bytes, .what = what, .line = (uint32_t)ctx->inst->line};
    return tr_make_accesses(ctx->module, &access, 1);
}

LLVMValueRef tr_ask_written(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                            unsigned bytes, enum rt_access what)
{
    if (!is_asked(ctx, space))
        return NULL;
    return call(ctx, RT_CALL_WRITTEN, pointer, space, tr_const_int(ctx, 64, bytes),
                accesses_of(ctx, bytes, what));
}

LLVMValueRef tr_as_read(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef asked)
{
    return asked == NULL ? value : tr_mark_read(ctx->builder, value, asked);
}

LLVMValueRef tr_read_value(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                           enum ptx_space space, unsigned bytes)
{
    if (ctx->options->checks_written && space == PTX_SPACE_LOCAL)
        return tr_read_own(ctx, value, pointer, bytes);
    return tr_as_read(ctx, value, tr_ask_written(ctx, pointer, space, bytes, RT_ACCESS_VALUE));
}

LLVMValueRef tr_write_value(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                            enum ptx_space space, unsigned bytes)
{
    if (ctx->options->checks_written && space == PTX_SPACE_LOCAL)
        return tr_write_own(ctx, value, pointer, bytes);
    if (!is_asked(ctx, space))
        return value;
    call(ctx, RT_CALL_MARK, pointer, space, tr_const_int(ctx, 64, bytes),
         tr_written_of(ctx->builder, value));
    return tr_mark_stored(ctx->builder, value);
}

void tr_use_range(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                  LLVMValueRef bytes, enum rt_access what)
{
    if (!is_asked(ctx, space))
        return;
    struct tr_bounds bounds = tr_bounds_of(ctx, space, TR_BOUNDS_WRITTEN);
    tr_placeholder(ctx, RT_CALL_CHECK, ctx->thread, pointer, tr_resize(ctx, bytes, 64, false),
                   bounds.begin, bounds.size_bytes, bounds.shadow, accesses_of(ctx, 0, what),
                   LLVMConstNull(ctx->ptr));
}

void tr_write_range(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                    LLVMValueRef bytes)
{
    if (is_asked(ctx, space))
        call(ctx, RT_CALL_MARK, pointer, space, tr_resize(ctx, bytes, 64, false),
             tr_const_int(ctx, 32, RT_WRITTEN_ALL));
}

void tr_copy_range(struct tr_ctx *ctx, LLVMValueRef target, LLVMValueRef source, LLVMValueRef bytes)
{
    if (ctx->options->checks_written)
        tr_placeholder(ctx, RT_CALL_MARK_COPY, ctx->thread, target, source,
                       tr_resize(ctx, bytes, 64, false));
}
