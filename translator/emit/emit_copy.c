/* SPDX-License-Identifier: Apache-2.0
 *
 * cp.async without mbarriers, and createpolicy.
 *
 * A copy may happen any time between the instruction and the wait for it, so it happens at once,
 * and there is nothing to wait for. Only checks of races are told of cp.async.commit_group,
 * wait_group and wait_all: until then nobody may access what is copied to.
 */
#include "translator/emit/emit.h"

struct copy {
    unsigned bytes; /* 4, 8 or 16 */
    const struct ptx_operand *source;
    LLVMValueRef target; /* where it goes */
};

static void store(struct tr_ctx *ctx, const struct copy *copy, LLVMValueRef value)
{
    value = tr_write_value(ctx, value, copy->target, PTX_SPACE_SHARED, copy->bytes);
    LLVMSetAlignment(LLVMBuildStore(ctx->builder, value, copy->target), copy->bytes);
}

static void copy_all(struct tr_ctx *ctx, const struct copy *copy)
{
    LLVMValueRef source = tr_access_address(ctx, copy->source, PTX_SPACE_GLOBAL, copy->bytes);
    tr_check(ctx, copy->source, source, PTX_SPACE_GLOBAL, copy->bytes, RT_ACCESS_READ);
    tr_race_access(ctx, source, PTX_SPACE_GLOBAL, tr_const_int(ctx, 64, copy->bytes),
                   RT_ACCESS_READ, NULL);
    LLVMValueRef value =
        LLVMBuildLoad2(ctx->builder, tr_int_type(ctx, copy->bytes * 8), source, "");
    LLVMSetAlignment(value, copy->bytes);
    store(ctx, copy, tr_read_value(ctx, value, source, PTX_SPACE_GLOBAL, copy->bytes));
}

/* Begins the block of one case of two; the other is left for later. */
static LLVMBasicBlockRef begin_case(struct tr_ctx *ctx, LLVMValueRef condition,
                                    LLVMBasicBlockRef *otherwise)
{
    LLVMBasicBlockRef then = tr_new_block(ctx, "copy");
    *otherwise = tr_new_block(ctx, "fill");
    LLVMBuildCondBr(ctx->builder, condition, then, *otherwise);
    LLVMPositionBuilderAtEnd(ctx->builder, then);
    return tr_new_block(ctx, "copied");
}

static void next_case(struct tr_ctx *ctx, LLVMBasicBlockRef after, LLVMBasicBlockRef next)
{
    LLVMBuildBr(ctx->builder, after);
    LLVMPositionBuilderAtEnd(ctx->builder, next);
    ctx->region++; /* checks of alignment in one case do not cover the other */
}

/* ignore-src: where it is true nothing is read and zeros are written. */
static void copy_unless(struct tr_ctx *ctx, const struct copy *copy, LLVMValueRef ignores)
{
    LLVMBasicBlockRef fill = NULL;
    LLVMBasicBlockRef after = begin_case(ctx, LLVMBuildNot(ctx->builder, ignores, ""), &fill);
    copy_all(ctx, copy);
    next_case(ctx, after, fill);
    store(ctx, copy, LLVMConstNull(tr_int_type(ctx, copy->bytes * 8)));
    next_case(ctx, after, after);
}

/* src-size: so many bytes are read, the rest of the destination is filled with zeros. More than
 * cp-size is undefined in PTX: all are copied. */
static void copy_some(struct tr_ctx *ctx, const struct copy *copy, LLVMValueRef source_bytes)
{
    LLVMValueRef bytes = tr_const_int(ctx, 32, copy->bytes);
    LLVMBasicBlockRef fill = NULL;
    LLVMBasicBlockRef after =
        begin_case(ctx, LLVMBuildICmp(ctx->builder, LLVMIntUGE, source_bytes, bytes, ""), &fill);
    copy_all(ctx, copy);
    next_case(ctx, after, fill);
    LLVMValueRef source = tr_address(ctx, copy->source, PTX_SPACE_GLOBAL);
    tr_check_and_tell_range(ctx, copy->source, source, PTX_SPACE_GLOBAL, source_bytes,
                            RT_ACCESS_READ);
    tr_write_range(ctx, copy->target, PTX_SPACE_SHARED, bytes);
    tr_copy_range(ctx, copy->target, source, source_bytes);
    tr_helper(ctx, "rt_copy_and_fill", ctx->void_type, copy->target, source, source_bytes, bytes);
    next_case(ctx, after, after);
}

/* cp.async.cache.shared.global [dst], [src], cp-size{, src-size | ignore-src}{, cache-policy} */
enum pxr_status tr_emit_cp_async(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    uint64_t bytes = inst->operand_count > 2 ? tr_operand(inst, 2)->bits : 0;
    if (bytes == 0 || tr_operand(inst, 2)->kind != PTX_OPERAND_INT ||
        (bytes != 4 && bytes != 8 && bytes != 16))
        return tr_unsupported(ctx, inst, "a copy of another size than 4, 8 or 16 bytes");
    struct copy copy = {
        .bytes = (unsigned)bytes,
        .source = tr_operand(inst, 1),
        .target = tr_access_address(ctx, tr_operand(inst, 0), PTX_SPACE_SHARED, (unsigned)bytes),
    };
    tr_check(ctx, tr_operand(inst, 0), copy.target, PTX_SPACE_SHARED, (unsigned)bytes,
             RT_ACCESS_WRITE);
    tr_race_access(ctx, copy.target, PTX_SPACE_SHARED, tr_const_int(ctx, 64, bytes),
                   RT_ACCESS_WRITE | RT_RACE_COPY, NULL);
    if (inst->operand_count - ptx_inst_has_word(inst, PTX_MOD_L2_CACHE_HINT) <= 3) {
        copy_all(ctx, &copy);
        return PXR_OK;
    }
    const struct ptx_operand *limit = tr_operand(inst, 3);
    if (limit->kind == PTX_OPERAND_REG && limit->var->type == PTX_TYPE_PRED)
        copy_unless(ctx, &copy, tr_operand_value(ctx, limit, PTX_TYPE_PRED));
    else
        copy_some(ctx, &copy, tr_operand_value(ctx, limit, PTX_TYPE_U32));
    return PXR_OK;
}

enum pxr_status tr_emit_cp_async_commit(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    tr_race_copies(ctx, tr_const_int(ctx, 32, RT_RACE_COMMIT));
    return PXR_OK;
}

enum pxr_status tr_emit_cp_async_wait(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    tr_race_copies(ctx, tr_value(ctx, inst, 0, PTX_TYPE_U32));
    return PXR_OK;
}

enum pxr_status tr_emit_cp_async_wait_all(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    tr_race_all_copies(ctx);
    return PXR_OK;
}

/* A policy is opaque, and a hint to a cache that is not there. */
enum pxr_status tr_emit_createpolicy(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    tr_set(ctx, inst, 0, PTX_TYPE_B64, tr_const_int(ctx, 64, 0));
    return PXR_OK;
}
