/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory (docs/check.md): before an access stands rt_check, which knows what may be
 * accessed in its space, or, where the address was made of a variable, that variable. What lies in
 * one for sure is not checked.
 */
#include "translator/emit/emit.h"

#include <stddef.h>

#include "translator/emit/address_variable.h"
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

/* ---- variables ---- */

static struct ptx_operand name_of(const struct ptx_var *var)
{
    return (struct ptx_operand){.kind = PTX_OPERAND_VAR, .var = var};
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

/* A variable whose place and size are known here. Parameters of functions are arguments of theirs,
 * and copies that lanes have of their own are as one array. */
static bool has_bounds(struct tr_ctx *ctx, const struct ptx_var *var)
{
    struct ptx_operand name = name_of(var);
    switch (var->space) {
    case PTX_SPACE_SHARED:
        return !ptx_var_is_per_lane(var);
    case PTX_SPACE_PARAM:
        return tr_is_kernel_param(ctx, &name);
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
    case PTX_SPACE_LOCAL:
        return !var->is_unsized;
    default:
        return false;
    }
}

/* NULL: its space says what may be accessed. */
static const struct ptx_var *bounded_variable(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    const struct ptx_var *var = operand == NULL ? NULL : tr_variable_of(ctx, operand);
    return var != NULL && has_bounds(ctx, var) ? var : NULL;
}

/* Dynamic shared memory ends with the block's. */
static struct tr_bounds bounds_of_variable(struct tr_ctx *ctx, const struct ptx_var *var)
{
    struct ptx_operand name = name_of(var);
    LLVMValueRef begin = tr_symbol_address(ctx, &name);
    struct tr_bounds bounds = {.begin = begin,
                               .size_bytes = tr_const_int(ctx, 64, var->size_bytes),
                               .shadow = LLVMConstNull(ctx->ptr)};
    if (var->space != PTX_SPACE_SHARED)
        return bounds;
    struct tr_bounds shared = shared_bounds(ctx, TR_BOUNDS_ACCESS);
    bounds.begin = LLVMBuildAdd(ctx->builder, shared.begin, begin, "");
    if (var->is_unsized)
        bounds.size_bytes = LLVMBuildSub(ctx->builder, shared.size_bytes, begin, "");
    return bounds;
}

static enum rt_variable_space space_of(const struct ptx_var *var)
{
    switch (var->space) {
    case PTX_SPACE_SHARED:
        return var->is_unsized ? RT_VARIABLE_DYNAMIC : RT_VARIABLE_SHARED;
    case PTX_SPACE_LOCAL:
        return RT_VARIABLE_LOCAL;
    default:
        return RT_VARIABLE_GLOBAL;
    }
}

/* ---- checks ---- */

static bool is_checked_space(enum ptx_space space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_SHARED ||
           space == PTX_SPACE_NONE;
}

/* An array of the thread's own stays one that only its loads and stores know: what is checked is
 * the place in it. */
static LLVMValueRef place_in(struct tr_ctx *ctx, struct tr_bounds *bounds, LLVMValueRef pointer)
{
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
    LLVMValueRef place = LLVMBuildSub(ctx->builder, address, bounds->begin, "");
    bounds->begin = tr_const_int(ctx, 64, 0);
    return LLVMBuildIntToPtr(ctx->builder, place, ctx->ptr, "");
}

/* operand: NULL if the address is not what it says. */
static void call_check(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
                       enum ptx_space space, LLVMValueRef bytes,
                       const struct rt_checked_access *access)
{
    if (!ctx->options->checks_memory)
        return;
    const struct ptx_var *var = bounded_variable(ctx, operand);
    if (var == NULL && !is_checked_space(space))
        return;
    struct tr_bounds bounds =
        var == NULL ? tr_bounds_of(ctx, space, TR_BOUNDS_ACCESS) : bounds_of_variable(ctx, var);
    if (var != NULL && var->space == PTX_SPACE_LOCAL)
        pointer = place_in(ctx, &bounds, pointer);
    LLVMValueRef variable = var == NULL ? LLVMConstNull(ctx->ptr)
                                        : tr_make_variable(ctx->module, space_of(var), var->name);
    tr_placeholder(ctx, RT_CALL_CHECK, ctx->thread, pointer, bytes, bounds.begin, bounds.size_bytes,
                   bounds.shadow, tr_make_accesses(ctx->module, access, 1), variable);
}

void tr_check_range(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
                    enum ptx_space space, LLVMValueRef bytes, enum rt_access what)
{
    struct rt_checked_access access = {.what = what, .line = (uint32_t)ctx->inst->line};
    call_check(ctx, operand, pointer, space, tr_resize(ctx, bytes, 64, false), &access);
}

void tr_check_and_tell_range(struct tr_ctx *ctx, const struct ptx_operand *operand,
                             LLVMValueRef pointer, enum ptx_space space, LLVMValueRef bytes,
                             enum rt_access what)
{
    unsigned strong = what == RT_ACCESS_ATOMIC ? RT_RACE_STRONG : 0;
    tr_race_access(ctx, pointer, space, bytes, what | strong, NULL);
    tr_check_range(ctx, operand, pointer, space, bytes, what);
}

void tr_check(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef pointer,
              enum ptx_space space, unsigned bytes, enum rt_access what)
{
    struct rt_checked_access access = {
        .bytes = bytes, .what = what, .line = (uint32_t)ctx->inst->line};
    if (!is_in_variable(operand, bytes))
        call_check(ctx, operand, pointer, space, tr_const_int(ctx, 64, bytes), &access);
}
