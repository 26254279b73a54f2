/* SPDX-License-Identifier: Apache-2.0
 *
 * Bulk copies and what else completes on mbarriers: cp.async.bulk, cp.reduce.async.bulk, st.async,
 * red.async, st.bulk.
 *
 * Each may happen any time between the instruction and what waits for it, so it happens at once:
 * then its bytes are complete, and there is nothing to wait for in groups (commit_group and
 * wait_group do nothing).
 */
#include "translator/emit/emit_bulk.h"

#include <stddef.h>

#define FILL_GRAIN 8

struct bulk {
    LLVMValueRef target;
    LLVMValueRef source;
    LLVMValueRef bytes;
    const struct ptx_operand *object; /* the mbarrier; NULL: it completes in a group */
};

/* "size must be a multiple of 16" (of 8, st.bulk). */
static void check_size(struct tr_ctx *ctx, LLVMValueRef bytes, unsigned grain, LLVMValueRef target)
{
    LLVMTypeRef type = LLVMTypeOf(bytes);
    LLVMValueRef rest = LLVMBuildAnd(ctx->builder, bytes, LLVMConstInt(type, grain - 1, false), "");
    tr_fault_if(ctx, LLVMBuildICmp(ctx->builder, LLVMIntNE, rest, LLVMConstNull(type), ""),
                PXR_FAULT_INSTRUCTION, LLVMBuildPtrToInt(ctx->builder, target, ctx->i64, ""));
}

void tr_touch(struct tr_ctx *ctx, LLVMValueRef memory, LLVMValueRef bytes)
{
    tr_helper(ctx, "rt_bulk_touch", ctx->void_type, memory, tr_resize(ctx, bytes, 64, false));
}

/* [dstMem], [srcMem], size {, [mbar]}: to shared memory if it completes on an mbarrier. what: is
 * done to the target. */
static struct bulk find_bulk(struct tr_ctx *ctx, const struct ptx_inst *inst, enum rt_access what)
{
    bool has_object = ptx_inst_has_word(inst, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES);
    bool is_global = ptx_inst_has_word(inst, PTX_MOD_GLOBAL);
    enum ptx_space to = has_object ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    enum ptx_space from = has_object && is_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    struct bulk bulk = {
        .target = tr_access_address(ctx, tr_operand(inst, 0), to, RT_BULK_GRAIN),
        .source = tr_access_address(ctx, tr_operand(inst, 1), from, RT_BULK_GRAIN),
        .bytes = tr_value(ctx, inst, 2, PTX_TYPE_U32),
        .object = has_object ? tr_operand(inst, 3) : NULL,
    };
    check_size(ctx, bulk.bytes, RT_BULK_GRAIN, bulk.target);
    tr_check_and_tell_range(ctx, tr_operand(inst, 1), bulk.source, from, bulk.bytes,
                            RT_ACCESS_READ);
    tr_check_and_tell_range(ctx, tr_operand(inst, 0), bulk.target, to, bulk.bytes, what);
    if (what == RT_ACCESS_WRITE) {
        tr_copy_range(ctx, bulk.target, bulk.source, bulk.bytes);
    } else {
        tr_use_range(ctx, bulk.source, from, bulk.bytes, RT_ACCESS_VALUE);
        tr_use_range(ctx, bulk.target, to, bulk.bytes, RT_ACCESS_ATOMIC_VALUE);
    }
    return bulk;
}

static void complete(struct tr_ctx *ctx, const struct bulk *bulk)
{
    if (bulk->object != NULL)
        tr_complete_transactions(ctx, bulk->object, PTX_SPACE_SHARED, bulk->bytes);
}

struct tr_multicast tr_read_multicast(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                      unsigned operand, LLVMValueRef target)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef ranks = tr_resize(ctx, tr_value(ctx, inst, operand, PTX_TYPE_B16), 64, false);
    LLVMValueRef count = tr_launch_number(ctx, offsetof(struct rt_launch, cluster_blocks));
    LLVMValueRef others = LLVMBuildLShr(b, ranks, count, "");
    tr_fault_if(ctx, LLVMBuildICmp(b, LLVMIntNE, others, tr_const_int(ctx, 64, 0), ""),
                PXR_FAULT_INSTRUCTION, LLVMBuildPtrToInt(b, target, ctx->i64, ""));
    return (struct tr_multicast){.target = target, .ranks = tr_resize(ctx, ranks, 32, false)};
}

void tr_multicast(struct tr_ctx *ctx, const struct tr_multicast *blocks, LLVMValueRef source,
                  LLVMValueRef bytes)
{
    LLVMBuilderRef b = ctx->builder;
    if (ctx->options->checks_written)
        tr_helper(ctx, "rt_mark_multicast", ctx->void_type, ctx->thread, blocks->target, source,
                  bytes, blocks->ranks);
    LLVMValueRef is_undefined =
        tr_helper(ctx, "rt_bulk_multicast", ctx->i32, ctx->thread, blocks->target, source, bytes,
                  blocks->object, blocks->ranks);
    tr_fault_if(ctx, LLVMBuildICmp(b, LLVMIntNE, is_undefined, tr_const_int(ctx, 32, 0), ""),
                PXR_FAULT_INSTRUCTION, LLVMBuildPtrToInt(b, blocks->target, ctx->i64, ""));
}

enum pxr_status tr_emit_cp_bulk(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct bulk bulk = find_bulk(ctx, inst, RT_ACCESS_WRITE);
    LLVMValueRef mask = tr_const_int(ctx, 32, 0xffff);
    if (ptx_inst_has_word(inst, PTX_MOD_MULTICAST_CLUSTER)) {
        struct tr_multicast blocks = tr_read_multicast(ctx, inst, 4, bulk.target);
        blocks.object = tr_mbarrier_object(ctx, bulk.object, PTX_SPACE_SHARED);
        tr_touch(ctx, bulk.source, bulk.bytes);
        tr_multicast(ctx, &blocks, bulk.source, bulk.bytes);
        return PXR_OK;
    }
    if (ptx_inst_has_word(inst, PTX_MOD_CP_MASK))
        mask =
            tr_resize(ctx, tr_value(ctx, inst, inst->operand_count - 1, PTX_TYPE_B16), 32, false);
    tr_touch(ctx, bulk.source, bulk.bytes);
    tr_touch(ctx, bulk.target, bulk.bytes);
    tr_helper(ctx, "rt_bulk_copy", ctx->void_type, bulk.target, bulk.source, bulk.bytes, mask);
    complete(ctx, &bulk);
    return PXR_OK;
}

/* ---- reductions ---- */

static bool reduction_type(enum ptx_type type, enum rt_bulk_type *result)
{
    switch (type) {
    case PTX_TYPE_U32:
    case PTX_TYPE_B32:
        *result = RT_BULK_U32;
        return true;
    case PTX_TYPE_S32:
        *result = RT_BULK_S32;
        return true;
    case PTX_TYPE_U64:
    case PTX_TYPE_B64:
        *result = RT_BULK_U64;
        return true;
    case PTX_TYPE_S64:
        *result = RT_BULK_S64;
        return true;
    case PTX_TYPE_F16:
        *result = RT_BULK_F16;
        return true;
    case PTX_TYPE_BF16:
        *result = RT_BULK_BF16;
        return true;
    case PTX_TYPE_F32:
        *result = RT_BULK_F32;
        return true;
    case PTX_TYPE_F64:
        *result = RT_BULK_F64;
        return true;
    default:
        return false;
    }
}

bool tr_bulk_reduction(enum ptx_mod mod, enum rt_bulk_op *op)
{
    switch (mod) {
    case PTX_MOD_ADD:
        *op = RT_BULK_ADD;
        return true;
    case PTX_MOD_MIN:
        *op = RT_BULK_MIN;
        return true;
    case PTX_MOD_MAX:
        *op = RT_BULK_MAX;
        return true;
    case PTX_MOD_INC:
        *op = RT_BULK_INC;
        return true;
    case PTX_MOD_DEC:
        *op = RT_BULK_DEC;
        return true;
    case PTX_MOD_AND:
        *op = RT_BULK_AND;
        return true;
    case PTX_MOD_OR:
        *op = RT_BULK_OR;
        return true;
    case PTX_MOD_XOR:
        *op = RT_BULK_XOR;
        return true;
    default:
        return false;
    }
}

/* "Each reduction operation has relaxed.gpu semantics": elements are atomic, not their order. */
enum pxr_status tr_emit_cp_reduce(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_bulk_op op = RT_BULK_ADD;
    enum rt_bulk_type type = RT_BULK_U32;
    if (!tr_bulk_reduction(ptx_inst_mod(inst, PTX_GROUP_ATOMOP), &op) ||
        !reduction_type(inst->types[0], &type))
        return tr_unsupported(ctx, inst, "no such reduction of this type");
    struct bulk bulk = find_bulk(ctx, inst, RT_ACCESS_ATOMIC);
    tr_touch(ctx, bulk.source, bulk.bytes);
    tr_touch(ctx, bulk.target, bulk.bytes);
    tr_helper(ctx, "rt_bulk_reduce", ctx->void_type, bulk.target, bulk.source, bulk.bytes,
              tr_const_int(ctx, 32, op), tr_const_int(ctx, 32, type));
    complete(ctx, &bulk);
    return PXR_OK;
}

/* ---- st.async, red.async, st.bulk ---- */

/* .mmio.release is as strong as .release. */
static void drop_mmio(struct ptx_inst *inst)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (inst->mods[i] != PTX_MOD_MMIO)
            inst->mods[kept++] = inst->mods[i];
    inst->mod_count = (uint8_t)kept;
}

/* The same at once is `emit` of the instruction without its third operand, the mbarrier. Those to
 * global memory have none: nobody can wait for them. */
static enum pxr_status do_at_once(struct tr_ctx *ctx, const struct ptx_inst *inst, tr_emit_fn emit)
{
    struct ptx_inst at_once = *inst;
    drop_mmio(&at_once);
    at_once.operand_count = 2;
    enum pxr_status status = emit(ctx, &at_once);
    unsigned bytes = ptx_type_bytes(inst->types[0]) * ptx_inst_vector_len(inst);
    if (status == PXR_OK && tr_has_operand(inst, 2))
        tr_complete_transactions(ctx, tr_operand(inst, 2), ptx_inst_space(inst),
                                 tr_const_int(ctx, 32, bytes));
    return status;
}

enum pxr_status tr_emit_st_async(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return do_at_once(ctx, inst, tr_emit_st);
}

enum pxr_status tr_emit_red_async(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return do_at_once(ctx, inst, tr_emit_red);
}

/* st.bulk [a], size, 0: "the only supported value is 0". */
enum pxr_status tr_emit_st_bulk(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (tr_operand(inst, 2)->bits != 0)
        return tr_unsupported(ctx, inst, "another value than 0");
    LLVMValueRef target =
        tr_access_address(ctx, tr_operand(inst, 0), ptx_inst_space(inst), FILL_GRAIN);
    LLVMValueRef bytes = tr_value(ctx, inst, 1, PTX_TYPE_U64);
    check_size(ctx, bytes, FILL_GRAIN, target);
    tr_check_and_tell_range(ctx, tr_operand(inst, 0), target, ptx_inst_space(inst), bytes,
                            RT_ACCESS_WRITE);
    tr_write_range(ctx, target, ptx_inst_space(inst), bytes);
    tr_touch(ctx, target, bytes);
    tr_helper(ctx, "rt_bulk_clear", ctx->void_type, target, bytes);
    return PXR_OK;
}
