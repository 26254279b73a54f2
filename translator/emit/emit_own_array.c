/* SPDX-License-Identifier: Apache-2.0
 *
 * What has been written of a thread's own array (.local), for checks: beside it stands another with
 * a byte, 1 or 0, for each of its bytes. Only where the function has one array, and its address
 * becomes no generic one, so that all accesses to .local memory are to that array, or one that
 * stays where all accesses are known.
 */
#include "translator/emit/address_variable.h"
#include "translator/emit/emit.h"

#include "translator/module/checks.h"
#include "translator/module/written_values.h"

/* Behind the flags, for accesses elsewhere: these count as written. */
#define SPARE_BYTES RT_WRITTEN_MAX

/* Up to so many flags are cleared by stores. */
#define STORED_MAX 512

#define BYTES_OF_1 UINT64_C(0x0101010101010101)

/* ---- which array ---- */

static bool has(const struct ptx_func *func, enum ptx_op op, enum ptx_space space)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_inst *inst = &func->stmts[i].inst;
        if (func->stmts[i].kind == PTX_STMT_INST && inst->op == op &&
            (space == PTX_SPACE_NONE || ptx_inst_space(inst) == space))
            return true;
    }
    return false;
}

static const struct ptx_var *only_array(struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    const struct ptx_var *array = NULL;
    for (uint32_t i = 0; i < func->var_count; i++) {
        if (func->vars[i]->space != PTX_SPACE_LOCAL)
            continue;
        if (array != NULL)
            return NULL;
        array = func->vars[i];
    }
    if (array == NULL || has(func, PTX_OP_ALLOCA, PTX_SPACE_NONE))
        return NULL;
    bool is_told = has(func, PTX_OP_CVTA, PTX_SPACE_LOCAL);
    return !is_told || tr_variable_stays(ctx, array) ? array : NULL;
}

static uint64_t size_of(const struct ptx_var *array)
{
    return (array->size_bytes + 7) / 8 * 8;
}

static LLVMValueRef flag_pointer(struct tr_ctx *ctx, LLVMBuilderRef builder, LLVMValueRef place)
{
    return LLVMBuildGEP2(builder, ctx->i8, ctx->own.flags, &place, 1, "");
}

static void fill(struct tr_ctx *ctx, uint64_t first, uint64_t end, uint64_t flag)
{
    LLVMBuilderRef b = ctx->entry_builder;
    LLVMValueRef begin = flag_pointer(ctx, b, tr_const_int(ctx, 64, first));
    if (end - first > STORED_MAX) {
        LLVMBuildMemSet(b, begin, tr_const_int(ctx, 8, flag), tr_const_int(ctx, 64, end - first),
                        8);
        return;
    }
    for (; first < end; first += 8)
        LLVMBuildStore(b, tr_const_int(ctx, 64, flag * BYTES_OF_1),
                       flag_pointer(ctx, b, tr_const_int(ctx, 64, first)));
}

/* NULL: there is no array to ask for. */
static const struct ptx_var *own_array(struct tr_ctx *ctx)
{
    struct tr_own *own = &ctx->own;
    if (own->func == ctx->func)
        return own->array;
    *own = (struct tr_own){.func = ctx->func, .array = only_array(ctx)};
    if (own->array == NULL)
        return NULL;
    uint64_t size = size_of(own->array);
    own->flags = tr_alloca(ctx, LLVMArrayType2(ctx->i8, size + SPARE_BYTES), 8, "written");
    fill(ctx, 0, size, 0);
    fill(ctx, size, size + SPARE_BYTES, 1);
    return own->array;
}

/* Where in the array the address lies, an i64; at its end if that is elsewhere. */
static LLVMValueRef place_of(struct tr_ctx *ctx, const struct ptx_var *array, LLVMValueRef pointer)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef begin = LLVMBuildPtrToInt(b, tr_own_memory(ctx, array), ctx->i64, "");
    LLVMValueRef place = LLVMBuildSub(b, LLVMBuildPtrToInt(b, pointer, ctx->i64, ""), begin, "");
    LLVMValueRef size = tr_const_int(ctx, 64, size_of(array));
    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, place, size, ""), place, size, "");
}

/* ---- flags and bits (RT_WRITTEN_ALL) ---- */

static LLVMValueRef bits_of(struct tr_ctx *ctx, LLVMValueRef flags, unsigned bytes)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef bits = LLVMBuildMul(b, tr_resize(ctx, flags, 64, false),
                                     tr_const_int(ctx, 64, UINT64_C(0x0102040810204080)), "");
    bits = tr_resize(ctx, LLVMBuildLShr(b, bits, tr_const_int(ctx, 64, 56), ""), 32, false);
    return LLVMBuildOr(b, bits, tr_const_int(ctx, 32, RT_WRITTEN_ALL << bytes), "");
}

static LLVMValueRef flags_of(struct tr_ctx *ctx, LLVMValueRef bits, unsigned bytes)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef low = LLVMBuildAnd(b, bits, tr_const_int(ctx, 32, RT_SHADOW_ALL), "");
    LLVMValueRef flags =
        LLVMBuildMul(b, tr_resize(ctx, low, 64, false), tr_const_int(ctx, 64, BYTES_OF_1), "");
    flags = LLVMBuildAnd(b, flags, tr_const_int(ctx, 64, UINT64_C(0x8040201008040201)), "");
    flags = LLVMBuildAdd(b, flags, tr_const_int(ctx, 64, 0x7f * BYTES_OF_1), "");
    flags = LLVMBuildLShr(b, flags, tr_const_int(ctx, 64, 7), "");
    flags = LLVMBuildAnd(b, flags, tr_const_int(ctx, 64, BYTES_OF_1), "");
    return tr_resize(ctx, flags, bytes * 8, false);
}

/* ---- accesses ---- */

LLVMValueRef tr_read_own(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                         unsigned bytes)
{
    const struct ptx_var *array = bytes <= RT_SHADOW_GRAIN ? own_array(ctx) : NULL;
    if (array == NULL)
        return value;
    LLVMValueRef place = place_of(ctx, array, pointer);
    LLVMValueRef flags = LLVMBuildLoad2(ctx->builder, tr_int_type(ctx, bytes * 8),
                                        flag_pointer(ctx, ctx->builder, place), "");
    LLVMSetAlignment(flags, 1);
    struct rt_checked_access access = {
        .bytes = bytes, .what = RT_ACCESS_VALUE, .line = (uint32_t)ctx->inst->line};
    LLVMValueRef written = tr_mark_own(ctx->builder, bits_of(ctx, flags, bytes), ctx->thread, place,
                                       tr_make_accesses(ctx->module, &access, 1));
    return tr_mark_read(ctx->builder, value, written);
}

LLVMValueRef tr_write_own(struct tr_ctx *ctx, LLVMValueRef value, LLVMValueRef pointer,
                          unsigned bytes)
{
    const struct ptx_var *array = own_array(ctx);
    if (array == NULL)
        return value;
    LLVMValueRef flags_at = flag_pointer(ctx, ctx->builder, place_of(ctx, array, pointer));
    LLVMValueRef flags =
        LLVMConstIntOfString(tr_int_type(ctx, bytes * 8), "01010101010101010101010101010101", 16);
    if (bytes <= RT_SHADOW_GRAIN)
        flags = flags_of(ctx, tr_written_of(ctx->builder, value), bytes);
    LLVMSetAlignment(LLVMBuildStore(ctx->builder, flags, flags_at), 1);
    return bytes <= RT_SHADOW_GRAIN ? tr_mark_stored(ctx->builder, value) : value;
}
