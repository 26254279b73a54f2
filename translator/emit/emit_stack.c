/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread's stack: alloca, stacksave, stackrestore, and the check of recursive functions.
 * Allocated memory is part of the thread's real stack, so it is local memory and goes with the
 * function. The stack grows down, and never below rt_thread.stack_limit plus a reserve.
 */
#include "translator/emit/emit.h"

#include <stddef.h>

/* Besides its variables a function needs stack for spilled registers and for placeholders. */
#define STACK_RESERVE_BYTES 4096

#define DEFAULT_ALIGN_BYTES 8 /* PTX ISA "alloca" */
#define MAX_ALIGN_BYTES     (UINT64_C(1) << 23)

/* Host stack pointers are multiples of this. */
#define STACK_ALIGN_BYTES 16

/* The address below which the stack must not reach, with room for so many bytes. */
static LLVMValueRef lowest_address(struct tr_ctx *ctx, uint64_t need_bytes)
{
    LLVMValueRef offset = tr_const_int(ctx, 64, offsetof(struct rt_thread, stack_limit));
    LLVMValueRef field = LLVMBuildGEP2(ctx->builder, ctx->i8, ctx->thread, &offset, 1, "");
    LLVMValueRef limit = LLVMBuildLoad2(ctx->builder, ctx->i64, field, "stack_limit");
    return LLVMBuildAdd(ctx->builder, limit, tr_const_int(ctx, 64, need_bytes), "");
}

static LLVMValueRef frame_address(struct tr_ctx *ctx)
{
    LLVMValueRef level = tr_const_int(ctx, 32, 0);
    LLVMValueRef frame = tr_intrinsic(ctx, "llvm.frameaddress", &ctx->ptr, 1, &level, 1);
    return LLVMBuildPtrToInt(ctx->builder, frame, ctx->i64, "frame");
}

static LLVMValueRef stack_pointer(struct tr_ctx *ctx)
{
    LLVMValueRef pointer = tr_intrinsic(ctx, "llvm.stacksave", &ctx->ptr, 1, NULL, 0);
    return LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
}

void tr_check_stack(struct tr_ctx *ctx)
{
    if (ctx->func->is_entry || !ctx->layout->has_recursion)
        return;
    uint64_t need = STACK_RESERVE_BYTES;
    for (uint32_t i = 0; i < ctx->func->var_count; i++)
        if (ctx->func->vars[i]->space != PTX_SPACE_REG)
            need += ctx->func->vars[i]->size_bytes;
    LLVMValueRef frame = frame_address(ctx);
    LLVMValueRef is_full =
        LLVMBuildICmp(ctx->builder, LLVMIntULT, frame, lowest_address(ctx, need), "");
    tr_fault_if(ctx, is_full, PXR_FAULT_STACK, frame);
}

/* Hides a size from LLVM: memory of known size becomes part of the frame, which exists before any
 * check. */
static LLVMValueRef hide_value(struct tr_ctx *ctx, LLVMValueRef value)
{
    LLVMValueRef slot = tr_alloca(ctx, LLVMTypeOf(value), 0, "size");
    LLVMSetVolatile(LLVMBuildStore(ctx->builder, value, slot), true);
    LLVMValueRef hidden = LLVMBuildLoad2(ctx->builder, LLVMTypeOf(value), slot, "");
    LLVMSetVolatile(hidden, true);
    return hidden;
}

static bool is_small(const struct ptx_operand *size)
{
    return size->kind == PTX_OPERAND_INT && size->bits <= STACK_RESERVE_BYTES / 4;
}

/* Allocates so many bytes of stack; an i64. The stack pointer is aligned by hand, for the same
 * reason. */
static LLVMValueRef allocate(struct tr_ctx *ctx, LLVMValueRef size, uint64_t align)
{
    LLVMBuilderRef b = ctx->builder;
    uint64_t extra = align > STACK_ALIGN_BYTES ? align - STACK_ALIGN_BYTES : 0;
    size = LLVMBuildAdd(b, size, tr_const_int(ctx, 64, extra), "");
    LLVMValueRef memory = LLVMBuildArrayAlloca(b, ctx->i8, size, "");
    LLVMSetAlignment(memory, STACK_ALIGN_BYTES);
    memory = LLVMBuildPtrToInt(b, memory, ctx->i64, "");
    memory = LLVMBuildAdd(b, memory, tr_const_int(ctx, 64, extra), "");
    return extra == 0 ? memory : LLVMBuildAnd(b, memory, tr_const_int(ctx, 64, -align), "");
}

/* 0: alloca cannot have it. */
static uint64_t alignment(const struct ptx_inst *inst)
{
    if (!tr_has_operand(inst, 2))
        return DEFAULT_ALIGN_BYTES;
    const struct ptx_operand *operand = tr_operand(inst, 2);
    bool is_power = operand->kind == PTX_OPERAND_INT && operand->bits != 0 &&
                    (operand->bits & (operand->bits - 1)) == 0;
    return is_power && operand->bits <= MAX_ALIGN_BYTES ? operand->bits : 0;
}

/* alloca.type ptr, size{, immAlign} */
enum pxr_status tr_emit_alloca(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    uint64_t align = alignment(inst);
    if (align == 0)
        return tr_unsupported(ctx, inst, "an alignment that is no power of two up to 2^23");
    LLVMValueRef size = tr_resize(ctx, tr_value(ctx, inst, 1, type), 64, false);
    if (!is_small(tr_operand(inst, 1)) || align > STACK_RESERVE_BYTES / 4)
        size = hide_value(ctx, size);
    LLVMValueRef pointer = stack_pointer(ctx);
    LLVMValueRef lowest =
        lowest_address(ctx, STACK_RESERVE_BYTES + STACK_ALIGN_BYTES + (uint64_t)align);
    LLVMValueRef room = LLVMBuildSub(ctx->builder, pointer, lowest, "");
    LLVMValueRef is_full =
        LLVMBuildOr(ctx->builder, LLVMBuildICmp(ctx->builder, LLVMIntULT, pointer, lowest, ""),
                    LLVMBuildICmp(ctx->builder, LLVMIntUGT, size, room, ""), "");
    tr_fault_if(ctx, is_full, PXR_FAULT_STACK, pointer);
    LLVMValueRef memory = allocate(ctx, size, align);
    tr_set(ctx, inst, 0, type, tr_resize(ctx, memory, ptx_type_bits(type), false));
    return PXR_OK;
}

enum pxr_status tr_emit_stacksave(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    tr_set(ctx, inst, 0, type, tr_resize(ctx, stack_pointer(ctx), ptx_type_bits(type), false));
    return PXR_OK;
}

/* Only the result of a stacksave of the same function has a defined meaning. Anything else is a
 * fault: the host's stack must stay in one piece. */
enum pxr_status tr_emit_stackrestore(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef saved = tr_value(ctx, inst, 0, inst->types[0]);
    if (ptx_type_bits(inst->types[0]) == 32)
        saved = tr_widen_address(ctx, saved, PTX_SPACE_LOCAL);
    LLVMValueRef is_bad = LLVMBuildICmp(b, LLVMIntULT, saved, stack_pointer(ctx), "");
    is_bad =
        LLVMBuildOr(b, is_bad, LLVMBuildICmp(b, LLVMIntUGT, saved, frame_address(ctx), ""), "");
    LLVMValueRef low = LLVMBuildAnd(b, saved, tr_const_int(ctx, 64, STACK_ALIGN_BYTES - 1), "");
    is_bad =
        LLVMBuildOr(b, is_bad, LLVMBuildICmp(b, LLVMIntNE, low, tr_const_int(ctx, 64, 0), ""), "");
    tr_fault_if(ctx, is_bad, PXR_FAULT_STACK, saved);
    LLVMValueRef pointer = LLVMBuildIntToPtr(b, saved, ctx->ptr, "");
    tr_intrinsic(ctx, "llvm.stackrestore", &ctx->ptr, 1, &pointer, 1);
    return PXR_OK;
}
