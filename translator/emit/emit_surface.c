/* SPDX-License-Identifier: Apache-2.0
 *
 * suld, sust, sured. The address of what a place names is worked out by translator/rt/surface.c;
 * what is there is then accessed as any memory.
 */
#include "translator/emit/emit_texture.h"
#include "translator/rt/surface.h"

#define LAYER 3

/* One instruction at one place. */
struct surface {
    LLVMValueRef descriptor; /* ptr */
    LLVMValueRef address;    /* i64; 0: outside */
};

static uint32_t mode_of(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_SURFMODE)) {
    case PTX_MOD_CLAMP:
        return RT_SURFACE_CLAMP;
    case PTX_MOD_ZERO:
        return RT_SURFACE_ZERO;
    default:
        return RT_SURFACE_TRAP;
    }
}

static struct surface read_surface(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   unsigned operand_at, bool is_formatted, unsigned bytes)
{
    LLVMBuilderRef b = ctx->builder;
    const struct ptx_operand *operand = tr_operand(inst, operand_at);
    LLVMValueRef handle = tr_image_handle(ctx, operand, RT_SURFACE_MARK);
    struct tr_place place =
        tr_read_place(ctx, &operand->elems[1], tr_image_kind(inst), PTX_TYPE_S32);
    const LLVMValueRef *at = place.at;
    struct surface surface = {.descriptor = LLVMBuildIntToPtr(b, handle, ctx->ptr, "")};
    surface.address =
        tr_helper(ctx, "rt_surface_address", ctx->i64, surface.descriptor,
                  tr_const_int(ctx, 32, mode_of(inst)), tr_const_int(ctx, 32, is_formatted), at[0],
                  at[1], at[2], at[LAYER], tr_const_int(ctx, 32, bytes));
    return surface;
}

/* What follows is done where the place is one of the surface; returns the block behind it. .trap:
 * anything else is a fault. */
static LLVMBasicBlockRef begin_access(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                      const struct surface *surface)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef is_outside =
        LLVMBuildICmp(b, LLVMIntEQ, surface->address, tr_const_int(ctx, 64, 0), "");
    if (mode_of(inst) == RT_SURFACE_TRAP)
        tr_fault_if(ctx, is_outside, PXR_FAULT_ADDRESS,
                    LLVMBuildPtrToInt(b, surface->descriptor, ctx->i64, ""));
    LLVMBasicBlockRef inside = tr_new_block(ctx, "inside");
    LLVMBasicBlockRef after = tr_new_block(ctx, "accessed");
    LLVMBuildCondBr(b, is_outside, after, inside);
    LLVMPositionBuilderAtEnd(b, inside);
    return after;
}

static void end_access(struct tr_ctx *ctx, LLVMBasicBlockRef after)
{
    LLVMBuildBr(ctx->builder, after);
    LLVMPositionBuilderAtEnd(ctx->builder, after);
}

static LLVMValueRef element_pointer(struct tr_ctx *ctx, const struct surface *surface,
                                    unsigned offset)
{
    LLVMValueRef address =
        LLVMBuildAdd(ctx->builder, surface->address, tr_const_int(ctx, 64, offset), "");
    return LLVMBuildIntToPtr(ctx->builder, address, ctx->ptr, "");
}

/* suld.b d, [a, b]: zeros from outside */
enum pxr_status tr_emit_suld(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    unsigned bytes = ptx_type_bytes(type);
    unsigned count = ptx_inst_vector_len(inst);
    struct surface surface = read_surface(ctx, inst, 1, false, bytes * count);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 0), parts) < count)
        return tr_unsupported(ctx, inst, "a vector of another length");
    for (unsigned i = 0; i < count; i++)
        tr_set_operand(ctx, &parts[i], type, LLVMConstNull(tr_type(ctx, type)));
    LLVMBasicBlockRef after = begin_access(ctx, inst, &surface);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(ctx->builder, tr_type(ctx, type),
                                            element_pointer(ctx, &surface, i * bytes), "");
        LLVMSetAlignment(value, 1);
        tr_set_operand(ctx, &parts[i], type, value);
    }
    end_access(ctx, after);
    return PXR_OK;
}

/* sust.b [a, b], c */
enum pxr_status tr_emit_sust(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    unsigned bytes = ptx_type_bytes(type);
    unsigned count = ptx_inst_vector_len(inst);
    struct surface surface = read_surface(ctx, inst, 0, false, bytes * count);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 1), parts) < count)
        return tr_unsupported(ctx, inst, "a vector of another length");
    LLVMBasicBlockRef after = begin_access(ctx, inst, &surface);
    for (unsigned i = 0; i < count; i++)
        LLVMSetAlignment(LLVMBuildStore(ctx->builder, tr_operand_value(ctx, &parts[i], type),
                                        element_pointer(ctx, &surface, i * bytes)),
                         1);
    end_access(ctx, after);
    return PXR_OK;
}

/* sust.p [a, b], c: elements of 32 bits, made what the surface's format is */
enum pxr_status tr_emit_sust_formatted(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct surface surface = read_surface(ctx, inst, 0, true, 0);
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(tr_operand(inst, 1), parts);
    LLVMValueRef values[4];
    for (unsigned i = 0; i < 4; i++)
        values[i] =
            i < count ? tr_operand_value(ctx, &parts[i], PTX_TYPE_B32) : tr_const_int(ctx, 32, 0);
    LLVMBasicBlockRef after = begin_access(ctx, inst, &surface);
    tr_helper(ctx, "rt_surface_store", ctx->void_type, surface.descriptor,
              element_pointer(ctx, &surface, 0), tr_const_int(ctx, 32, count),
              tr_join(ctx, values[0], values[1]), tr_join(ctx, values[2], values[3]));
    end_access(ctx, after);
    return PXR_OK;
}

static enum rt_surface_op op_of(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_ATOMOP)) {
    case PTX_MOD_ADD:
        return RT_SURFACE_ADD;
    case PTX_MOD_MIN:
        return RT_SURFACE_MIN;
    case PTX_MOD_MAX:
        return RT_SURFACE_MAX;
    case PTX_MOD_AND:
        return RT_SURFACE_AND;
    default:
        return RT_SURFACE_OR;
    }
}

/* sured.b, sured.p [a, b], c */
enum pxr_status tr_emit_sured(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    bool is_formatted = ptx_inst_has_word(inst, PTX_MOD_P);
    unsigned bits = ptx_type_bits(type);
    struct surface surface = read_surface(ctx, inst, 0, is_formatted, bits / 8);
    LLVMValueRef value = tr_resize(ctx, tr_value(ctx, inst, 1, type), 64, false);
    LLVMValueRef pointer = element_pointer(ctx, &surface, 0);
    unsigned is_signed = is_formatted ? RT_SURFACE_BY_FORMAT : ptx_type_is_signed(type);
    LLVMBasicBlockRef after = begin_access(ctx, inst, &surface);
    tr_helper(ctx, "rt_surface_reduce", ctx->void_type, surface.descriptor, pointer,
              tr_const_int(ctx, 32, op_of(inst)), tr_const_int(ctx, 32, bits),
              tr_const_int(ctx, 32, is_signed), value);
    end_access(ctx, after);
    return PXR_OK;
}
