/* SPDX-License-Identifier: Apache-2.0
 *
 * ld, ldu, st, prefetch in all state spaces.
 *
 * Vectors are accessed element by element, each with its natural alignment (PTX ISA "Vectors":
 * a vector access is a set of scalar accesses with no order among them). Strong accesses (volatile,
 * relaxed, acquire, release, mmio) are LLVM atomics.
 */
#include "translator/emit.h"

struct access {
    enum ptx_type type;
    unsigned count; /* elements */
    unsigned elem_bytes;
    bool is_volatile;
    LLVMAtomicOrdering ordering; /* NotAtomic for weak accesses */
    LLVMValueRef pointer;
};

/* Old programs leave it to volatile accesses to keep the lanes of a warp in step while they
 * exchange values through shared memory. A generic address may be one of it. */
static void converge_if_shared(struct tr_ctx *ctx, const struct access *access,
                               enum ptx_space space)
{
    if (space == PTX_SPACE_SHARED) {
        tr_converge(ctx);
        return;
    }
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, access->pointer, ctx->i64, "");
    LLVMBasicBlockRef converge = tr_new_block(ctx, "converge");
    LLVMBasicBlockRef converged = tr_new_block(ctx, "converged");
    LLVMBuildCondBr(ctx->builder, tr_is_in_space(ctx, address, PTX_SPACE_SHARED), converge,
                    converged);
    LLVMPositionBuilderAtEnd(ctx->builder, converge);
    tr_converge(ctx);
    LLVMBuildBr(ctx->builder, converged);
    LLVMPositionBuilderAtEnd(ctx->builder, converged);
}

static void keep_step(struct tr_ctx *ctx, const struct ptx_inst *inst, const struct access *access,
                      bool is_store)
{
    enum ptx_space space = ptx_inst_space(inst);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_NONE)
        return;
    if (tr_step_needed(ctx, is_store)) {
        converge_if_shared(ctx, access, space);
        if (space == PTX_SPACE_SHARED)
            tr_step_met(ctx, inst);
    }
    tr_step_accessed(ctx, is_store);
}

static struct access describe_access(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                     unsigned address_index, bool is_store)
{
    struct access access = {
        .type = inst->types[0],
        .count = ptx_inst_vector_len(inst),
        .elem_bytes = ptx_type_bytes(inst->types[0]),
        .ordering = LLVMAtomicOrderingNotAtomic,
    };
    switch (ptx_inst_mod(inst, PTX_GROUP_SEM)) {
    case PTX_MOD_VOLATILE:
    case PTX_MOD_MMIO:
        /* "ld.volatile has the same memory synchronization semantics as ld.relaxed.sys" */
        access.is_volatile = true;
        access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    case PTX_MOD_RELAXED:
        access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    case PTX_MOD_ACQUIRE:
        access.ordering = LLVMAtomicOrderingAcquire;
        break;
    case PTX_MOD_RELEASE:
        access.ordering = LLVMAtomicOrderingRelease;
        break;
    default:
        /* ".cv: don't cache and fetch again": what loops that wait for the host use. */
        if (ptx_inst_mod(inst, PTX_GROUP_CACHE) == PTX_MOD_CV)
            access.ordering = LLVMAtomicOrderingMonotonic;
        break;
    }
    if (access.ordering != LLVMAtomicOrderingNotAtomic && !is_store)
        tr_poll(ctx);
    access.pointer = tr_access_address(ctx, tr_operand(inst, address_index), ptx_inst_space(inst),
                                       access.elem_bytes * access.count);
    if (access.is_volatile)
        keep_step(ctx, inst, &access, is_store);
    return access;
}

static void set_memory_flags(const struct access *access, LLVMValueRef memory_inst)
{
    LLVMSetAlignment(memory_inst, access->elem_bytes);
    LLVMSetVolatile(memory_inst, access->is_volatile);
    if (access->ordering != LLVMAtomicOrderingNotAtomic)
        LLVMSetOrdering(memory_inst, access->ordering);
}

static LLVMValueRef element_pointer(struct tr_ctx *ctx, const struct access *access,
                                    unsigned element)
{
    if (element == 0)
        return access->pointer;
    LLVMValueRef offset = tr_const_int(ctx, 64, (uint64_t)element * access->elem_bytes);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, access->pointer, &offset, 1, "");
}

enum pxr_status tr_emit_ld(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct access access = describe_access(ctx, inst, 1, false);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 0), parts) < access.count)
        return tr_unsupported(ctx, inst, "fewer destinations than elements");

    LLVMTypeRef type = tr_int_type(ctx, access.elem_bytes * 8);
    LLVMValueRef values[TR_MAX_VECTOR];
    /* Nothing writes to constants and kernel parameters while the grid runs. */
    bool is_invariant =
        ptx_inst_space(inst) == PTX_SPACE_CONST || tr_is_kernel_param(ctx, tr_operand(inst, 1));
    /* All loads come before the first write: a destination may be the address register. */
    for (unsigned i = 0; i < access.count; i++) {
        values[i] = LLVMBuildLoad2(ctx->builder, type, element_pointer(ctx, &access, i), "");
        set_memory_flags(&access, values[i]);
        if (is_invariant)
            tr_mark_invariant(ctx, values[i]);
    }
    for (unsigned i = 0; i < access.count; i++)
        tr_set_operand(ctx, &parts[i], access.type,
                       tr_bitcast(ctx, values[i], tr_type(ctx, access.type)));
    return PXR_OK;
}

enum pxr_status tr_emit_st(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct access access = describe_access(ctx, inst, 0, true);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 1), parts) < access.count)
        return tr_unsupported(ctx, inst, "fewer sources than elements");

    LLVMTypeRef type = tr_int_type(ctx, access.elem_bytes * 8);
    for (unsigned i = 0; i < access.count; i++) {
        LLVMValueRef value = tr_operand_value(ctx, &parts[i], access.type);
        value = LLVMBuildStore(ctx->builder, tr_bitcast(ctx, value, type),
                               element_pointer(ctx, &access, i));
        set_memory_flags(&access, value);
    }
    return PXR_OK;
}

/* A hint: results do not depend on it. */
enum pxr_status tr_emit_prefetch(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)ctx;
    (void)inst;
    return PXR_OK;
}
