/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory (docs/check.md): before an access stands rt_check, which knows what may be
 * accessed in its space. Kernel parameters and local memory are not checked yet, nor what lies in a
 * variable for sure.
 */
#include "translator/emit/emit.h"

#include <stddef.h>

#include "translator/module/checks.h"

static struct tr_bounds shared_bounds(struct tr_ctx *ctx, enum tr_bounds_kind kind)
{
    bool is_access = kind == TR_BOUNDS_ACCESS;
    return (struct tr_bounds){
        .begin = LLVMBuildPtrToInt(ctx->builder, tr_shared_base(ctx), ctx->i64, ""),
        .size_bytes = is_access ? tr_launch_number(ctx, offsetof(struct rt_launch, shared_bytes))
                                : tr_const_int(ctx, 64, RT_SHARED_WRAP),
        .shadow = is_access ? LLVMConstNull(ctx->ptr)
                            : tr_block_pointer(ctx, offsetof(struct rt_block, shared_written)),
    };
}

/* Of all other spaces: a generic address is one of global memory more often than not. */
static struct tr_bounds global_bounds(struct tr_ctx *ctx, enum tr_bounds_kind kind)
{
    const size_t checked = kind == TR_BOUNDS_WRITTEN ? offsetof(struct rt_launch, written)
                                                     : offsetof(struct rt_launch, checked);
    LLVMValueRef begin = tr_launch_pointer(ctx, checked + offsetof(struct rt_checked, begin));
    LLVMValueRef size = tr_launch_pointer(ctx, checked + offsetof(struct rt_checked, size_bytes));
    return (struct tr_bounds){
        .begin = LLVMBuildPtrToInt(ctx->builder, begin, ctx->i64, ""),
        .size_bytes = LLVMBuildPtrToInt(ctx->builder, size, ctx->i64, ""),
        .shadow = tr_launch_pointer(ctx, checked + offsetof(struct rt_checked, shadow)),
    };
}

struct tr_bounds tr_bounds_of(struct tr_ctx *ctx, enum ptx_space space, enum tr_bounds_kind kind)
{
    return space == PTX_SPACE_SHARED ? shared_bounds(ctx, kind) : global_bounds(ctx, kind);
}

static bool is_checked_space(enum ptx_space space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_SHARED ||
           space == PTX_SPACE_NONE;
}

/* Whether it lies in a variable that the instruction names. */
static bool is_in_variable(const struct ptx_operand *operand, uint64_t bytes)
{
    int64_t offset = 0;
    bool is_indexed = operand->is_indexed;
    if (operand->kind == PTX_OPERAND_ADDRESS) {
        offset = operand->offset;
        operand = &operand->elems[0];
    }
    if (operand->kind != PTX_OPERAND_VAR || is_indexed || operand->var->is_unsized)
        return false;
    offset += operand->offset;
    uint64_t size = operand->var->size_bytes;
    return offset >= 0 && (uint64_t)offset <= size && bytes <= size - (uint64_t)offset;
}

static void call_check(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                       LLVMValueRef bytes, const struct rt_checked_access *access)
{
    if (!ctx->options->checks_memory || !is_checked_space(space))
        return;
    struct tr_bounds bounds = tr_bounds_of(ctx, space, TR_BOUNDS_ACCESS);
    tr_placeholder(ctx, RT_CALL_CHECK, ctx->thread, pointer, bytes, bounds.begin, bounds.size_bytes,
                   bounds.shadow, tr_make_accesses(ctx->module, access, 1));
}

void tr_check_range(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                    LLVMValueRef bytes, enum rt_access what)
{
    struct rt_checked_access access = {.what = what, .line = (uint32_t)ctx->inst->line};
    unsigned strong = what == RT_ACCESS_ATOMIC ? RT_RACE_STRONG : 0;
    tr_race_access(ctx, pointer, space, bytes, what | strong, NULL);
    call_check(ctx, pointer, space, tr_resize(ctx, bytes, 64, false), &access);
}

void tr_check(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
              enum ptx_space space, unsigned bytes, enum rt_access what)
{
    struct rt_checked_access access = {
        .bytes = bytes, .what = what, .line = (uint32_t)ctx->inst->line};
    if (!is_in_variable(operand, bytes))
        call_check(ctx, pointer, space, tr_const_int(ctx, 64, bytes), &access);
}
