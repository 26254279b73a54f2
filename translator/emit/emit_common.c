/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures, types, constants, blocks and calls, for all emitters. Operands are in emit_operand.c,
 * addresses in emit_address.c.
 */
#include "translator/emit/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ptx/place.h"
#include "translator/module/declare.h"

enum pxr_status tr_fail(struct tr_ctx *ctx, enum pxr_status status, int line, const char *format,
                        ...)
{
    if (ctx->status != PXR_OK)
        return ctx->status;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    struct ptx_place place;
    char place_text[PTX_PLACE_TEXT_BYTES] = "";
    if (ptx_find_place(ctx->ptx, line, &place))
        ptx_place_text(&place, place_text);
    ctx->status = pxr_fail_at(ctx->err, status, line, 0, "kernel '%s' (%s, line %d%s%s): %s",
                              ctx->kernel->name, ctx->ptx->source_name, line,
                              place_text[0] ? ", " : "", place_text, message);
    return ctx->status;
}

enum pxr_status tr_unsupported(struct tr_ctx *ctx, const struct ptx_inst *inst, const char *why)
{
    return tr_fail(ctx, PXR_UNSUPPORTED, inst->line, "'%.*s' is not supported%s%s",
                   PXR_STR_ARG(inst->text), why ? ": " : "", why ? why : "");
}

enum pxr_status tr_emit_unsupported(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return tr_unsupported(ctx, inst, NULL);
}

LLVMTypeRef tr_int_type(struct tr_ctx *ctx, unsigned bits)
{
    return LLVMIntTypeInContext(ctx->llvm, bits);
}

LLVMTypeRef tr_type(struct tr_ctx *ctx, enum ptx_type type)
{
    if (type == PTX_TYPE_F32)
        return ctx->f32;
    if (type == PTX_TYPE_F64)
        return ctx->f64;
    return tr_int_type(ctx, ptx_type_bits(type));
}

LLVMValueRef tr_const_int(struct tr_ctx *ctx, unsigned bits, uint64_t value)
{
    return LLVMConstInt(tr_int_type(ctx, bits), value, false);
}

LLVMValueRef tr_bitcast(struct tr_ctx *ctx, LLVMValueRef value, LLVMTypeRef type)
{
    return LLVMTypeOf(value) == type ? value : LLVMBuildBitCast(ctx->builder, value, type, "");
}

LLVMValueRef tr_resize(struct tr_ctx *ctx, LLVMValueRef value, unsigned bits, bool is_signed)
{
    unsigned from = LLVMGetIntTypeWidth(LLVMTypeOf(value));
    if (from == bits)
        return value;
    LLVMTypeRef type = tr_int_type(ctx, bits);
    if (from > bits)
        return LLVMBuildTrunc(ctx->builder, value, type, "");
    return is_signed ? LLVMBuildSExt(ctx->builder, value, type, "")
                     : LLVMBuildZExt(ctx->builder, value, type, "");
}

LLVMBasicBlockRef tr_new_block(struct tr_ctx *ctx, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s.%d", name, ctx->inst ? ctx->inst->line : 0);
    return LLVMAppendBasicBlockInContext(ctx->llvm, ctx->function, full);
}

LLVMValueRef tr_alloca(struct tr_ctx *ctx, LLVMTypeRef type, unsigned align, const char *name)
{
    LLVMValueRef slot = LLVMBuildAlloca(ctx->entry_builder, type, name);
    if (align != 0)
        LLVMSetAlignment(slot, align);
    return slot;
}

/* The module's declaration of this name, made with the types of the arguments if there is none. */
static LLVMValueRef declare(struct tr_ctx *ctx, const char *name, LLVMTypeRef result,
                            const LLVMValueRef *args, unsigned arg_count)
{
    LLVMValueRef function = LLVMGetNamedFunction(ctx->module, name);
    if (function != NULL)
        return function;
    LLVMTypeRef types[16];
    for (unsigned i = 0; i < arg_count && i < 16; i++)
        types[i] = LLVMTypeOf(args[i]);
    function =
        LLVMAddFunction(ctx->module, name, LLVMFunctionType(result, types, arg_count, false));
    tr_add_attribute(ctx, function, "nounwind", 0);
    return function;
}

static LLVMValueRef build_call(struct tr_ctx *ctx, LLVMValueRef function, const LLVMValueRef *args,
                               unsigned arg_count)
{
    /* LLVMBuildCall2 does not write to args. */
    return LLVMBuildCall2(ctx->builder, LLVMGlobalGetValueType(function), function,
                          (LLVMValueRef *)args, arg_count, "");
}

LLVMValueRef tr_call_helper(struct tr_ctx *ctx, const char *name, LLVMTypeRef result,
                            const LLVMValueRef *args, unsigned arg_count)
{
    LLVMValueRef function = declare(ctx, name, result, args, arg_count);
    return build_call(ctx, function, args, arg_count);
}

LLVMValueRef tr_call_placeholder(struct tr_ctx *ctx, enum rt_placeholder placeholder,
                                 const LLVMValueRef *args, unsigned arg_count)
{
    return build_call(ctx, tr_declare_placeholder(ctx->module, placeholder), args, arg_count);
}

void tr_add_attribute(struct tr_ctx *ctx, LLVMValueRef function, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(ctx->llvm, kind, value));
}

LLVMValueRef tr_intrinsic(struct tr_ctx *ctx, const char *name, LLVMTypeRef *types,
                          unsigned type_count, LLVMValueRef *args, unsigned arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ctx->module, id, types, type_count);
    return build_call(ctx, function, args, arg_count);
}

void tr_call_fault(struct tr_ctx *ctx, enum pxr_status status, LLVMValueRef address)
{
    LLVMValueRef call =
        tr_placeholder(ctx, RT_CALL_FAULT, ctx->thread, tr_const_int(ctx, 32, status), address);
    tr_add_attribute(ctx, LLVMGetCalledValue(call), "cold", 0);
    /* The call's location is its PTX line. */
    tr_add_attribute(ctx, LLVMGetCalledValue(call), "nomerge", 0);
    LLVMBuildUnreachable(ctx->builder);
}

void tr_fault_if(struct tr_ctx *ctx, LLVMValueRef condition, enum pxr_status status,
                 LLVMValueRef address)
{
    LLVMBasicBlockRef fault = tr_new_block(ctx, "fault");
    LLVMBasicBlockRef next = tr_new_block(ctx, "checked");
    LLVMBuildCondBr(ctx->builder, condition, fault, next);
    LLVMPositionBuilderAtEnd(ctx->builder, fault);
    tr_call_fault(ctx, status, address);
    LLVMPositionBuilderAtEnd(ctx->builder, next);
}
