/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: direct, through handles, and of functions that the device library provides.
 *
 * The callee gets a pointer to the memory of each result and argument (emission.h). A handle
 * (ptx_func_handle) is an index into a table of 32-bit offsets relative to the table, which is part
 * of the same module, so that the code can be loaded anywhere.
 */
#include "translator/emit/emit.h"

#include <string.h>

#include "kernel_abi/device_runtime.h"

/* ---- functions of the device library ---- */

static const struct library_function {
    const char *name;
    enum rt_placeholder placeholder;
    bool ends_thread; /* after it */
} library[] = {
    {"vprintf", RT_CALL_VPRINTF, false},
    {"malloc", RT_CALL_MALLOC, false},
    {"free", RT_CALL_FREE, false},
    {"__assertfail", RT_CALL_ASSERTFAIL, true},
    {"cudaGraphSetConditional", RT_CALL_GRAPH_SET_CONDITIONAL, false},
};

static const struct library_function *find_library_function(const struct ptx_func *func)
{
    if (func->has_body)
        return NULL;
    for (size_t i = 0; i < sizeof library / sizeof library[0]; i++)
        if (strcmp(library[i].name, func->name) == 0)
            return &library[i];
    return NULL;
}

/* ---- arguments and results ---- */

static bool is_param_variable(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_VAR && operand->var->space == PTX_SPACE_PARAM;
}

static enum ptx_type value_type(const struct ptx_operand *operand, const struct ptx_var *formal)
{
    if (formal != NULL)
        return formal->type;
    return operand->kind == PTX_OPERAND_REG ? operand->var->type : PTX_TYPE_B64;
}

/* .reg parameters may be vectors. */
static unsigned vector_len(const struct ptx_var *formal)
{
    return formal != NULL && formal->space == PTX_SPACE_REG ? formal->vector_len : 1;
}

static LLVMValueRef element_memory(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef memory,
                                   unsigned index)
{
    if (index == 0)
        return memory;
    LLVMValueRef offset = tr_const_int(ctx, 64, index);
    return LLVMBuildGEP2(ctx->builder, tr_type(ctx, type), memory, &offset, 1, "");
}

/* The memory of one argument or result: the .param variable's own, or, for registers and
 * immediates, a slot of the caller. */
static LLVMValueRef passing_memory(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                   const struct ptx_var *formal)
{
    if (is_param_variable(operand))
        return tr_address(ctx, operand, PTX_SPACE_PARAM);
    unsigned bits = ptx_type_bits(value_type(operand, formal));
    LLVMValueRef shared = tr_passing_memory(ctx, (bits + 7) / 8 * vector_len(formal), 1);
    if (shared != NULL)
        return shared;
    LLVMTypeRef type = tr_int_type(ctx, bits);
    if (vector_len(formal) > 1)
        type = LLVMArrayType2(type, formal->vector_len);
    return tr_alloca(ctx, type, 0, "passed");
}

static void pass_argument(struct tr_ctx *ctx, const struct ptx_operand *operand,
                          const struct ptx_var *formal, LLVMValueRef memory)
{
    if (is_param_variable(operand))
        return;
    enum ptx_type type = value_type(operand, formal);
    struct ptx_operand parts[TR_MAX_VECTOR] = {*operand};
    unsigned count = vector_len(formal) > 1 ? tr_vector_parts(operand, parts) : 1;
    for (unsigned i = 0; i < count; i++)
        LLVMBuildStore(ctx->builder, tr_operand_value(ctx, &parts[i], type),
                       element_memory(ctx, type, memory, i));
}

static void take_result(struct tr_ctx *ctx, const struct ptx_operand *operand,
                        const struct ptx_var *formal, LLVMValueRef memory)
{
    if (is_param_variable(operand))
        return;
    enum ptx_type type = value_type(operand, formal);
    struct ptx_operand parts[TR_MAX_VECTOR] = {*operand};
    unsigned count = vector_len(formal) > 1 ? tr_vector_parts(operand, parts) : 1;
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(ctx->builder, tr_type(ctx, type),
                                            element_memory(ctx, type, memory, i), "");
        tr_set_operand(ctx, &parts[i], type, value);
    }
}

/* ---- the three kinds of call ---- */

static enum ptx_type ptx_type_of(enum rt_type type)
{
    switch (type) {
    case RT_TYPE_S32:
        return PTX_TYPE_S32;
    case RT_TYPE_U32:
        return PTX_TYPE_U32;
    case RT_TYPE_U64:
        return PTX_TYPE_U64;
    default:
        return PTX_TYPE_NONE;
    }
}

static LLVMValueRef library_argument(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                     enum ptx_type type)
{
    if (is_param_variable(operand))
        return LLVMBuildLoad2(ctx->builder, tr_type(ctx, type),
                              tr_address(ctx, operand, PTX_SPACE_PARAM), "");
    return tr_operand_value(ctx, operand, type);
}

static enum pxr_status call_library(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                    const struct library_function *callee)
{
    const struct ptx_call *call = inst->call;
    const struct rt_placeholder_info *info = &rt_placeholders[callee->placeholder];
    const enum rt_type *types = &info->parameters[1];
    LLVMValueRef args[RT_PARAMETERS_MAX] = {ctx->thread};
    unsigned count = 0;
    while (types[count] != RT_TYPE_VOID)
        count++;
    if (call->arg_count != count || call->ret_count > (info->result != RT_TYPE_VOID))
        return tr_unsupported(ctx, inst, "not the arguments that this library function takes");
    for (uint32_t i = 0; i < count; i++)
        args[i + 1] = library_argument(ctx, &call->args[i], ptx_type_of(types[i]));
    LLVMValueRef value = tr_call_placeholder(ctx, callee->placeholder, args, count + 1);
    if (callee->ends_thread)
        return tr_emit_exit(ctx, NULL);
    if (call->ret_count == 1) {
        if (is_param_variable(&call->rets[0]))
            LLVMBuildStore(ctx->builder, value, tr_address(ctx, &call->rets[0], PTX_SPACE_PARAM));
        else
            tr_set_operand(ctx, &call->rets[0], ptx_type_of(info->result), value);
    }
    return ctx->status;
}

/* ---- functions of the device runtime ---- */

/* Copies an argument to where the thread puts them, in words: it may be a struct. False: it has
 * another size. */
static bool put_argument(struct tr_ctx *ctx, const struct ptx_operand *operand, uint32_t bytes,
                         LLVMValueRef memory, uint32_t offset)
{
    if (!is_param_variable(operand) || operand->var->size_bytes != bytes)
        return false;
    LLVMValueRef from = tr_address(ctx, operand, PTX_SPACE_PARAM);
    for (uint32_t word = 0; word < bytes / 4; word++) {
        LLVMValueRef value = LLVMBuildLoad2(ctx->builder, ctx->i32,
                                            element_memory(ctx, PTX_TYPE_U32, from, word), "");
        LLVMSetAlignment(value, 4);
        LLVMBuildStore(ctx->builder, value,
                       element_memory(ctx, PTX_TYPE_U32, memory, offset / 4 + word));
    }
    return true;
}

/* Puts all arguments into memory; NULL: these are not what the function takes. */
static LLVMValueRef put_arguments(struct tr_ctx *ctx, const struct ptx_call *call,
                                  const struct rt_device_function_info *info)
{
    uint32_t words = rt_device_arguments_bytes(info) / 8;
    LLVMTypeRef type = LLVMArrayType2(ctx->i64, words);
    LLVMValueRef memory = tr_alloca(ctx, type, 8, "runtime.arguments");
    uint32_t offset = 0;
    uint32_t count = 0;
    for (; info->argument_bytes[count] != 0; count++) {
        uint32_t bytes = info->argument_bytes[count];
        if (count >= call->arg_count ||
            !put_argument(ctx, &call->args[count], bytes, memory, offset))
            return NULL;
        offset += (bytes + 7) / 8 * 8;
    }
    return count == call->arg_count ? memory : NULL;
}

static enum pxr_status call_device_runtime(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                           uint32_t function)
{
    const struct rt_device_function_info *info =
        &rt_device_functions[function & ~RT_DEVICE_PER_THREAD];
    const struct ptx_call *call = inst->call;
    LLVMValueRef memory = put_arguments(ctx, call, info);
    if (memory == NULL || call->ret_count > 1)
        return tr_unsupported(ctx, inst, "not the arguments that this runtime function takes");
    LLVMValueRef value =
        tr_placeholder(ctx, RT_CALL_DEVICE_RUNTIME, ctx->thread, tr_const_int(ctx, 32, function),
                       LLVMBuildPtrToInt(ctx->builder, memory, ctx->i64, ""));
    if (call->ret_count == 0)
        return ctx->status;
    enum ptx_type type = info->gives_pointer ? PTX_TYPE_U64 : PTX_TYPE_U32;
    value = tr_resize(ctx, value, ptx_type_bits(type), false);
    if (is_param_variable(&call->rets[0]))
        LLVMBuildStore(ctx->builder, value, tr_address(ctx, &call->rets[0], PTX_SPACE_PARAM));
    else
        tr_set_operand(ctx, &call->rets[0], type, value);
    return ctx->status;
}

/* ---- functions of the program ---- */

/* How many handles the module has. */
static uint32_t handle_count(struct tr_ctx *ctx)
{
    uint32_t count = 0;
    for (uint32_t i = 0; !ctx->has_handle_count && i < ctx->ptx->func_count; i++)
        count += ptx_func_handle(ctx->ptx, ctx->ptx->funcs[i]) >= 0;
    if (!ctx->has_handle_count)
        ctx->handle_count = count;
    ctx->has_handle_count = true;
    return ctx->handle_count;
}

static LLVMValueRef handle_table(struct tr_ctx *ctx)
{
    if (ctx->handle_table == NULL) {
        LLVMTypeRef type = LLVMArrayType2(ctx->i32, handle_count(ctx));
        ctx->handle_table = LLVMAddGlobal(ctx->module, type, "ptx.handles");
        LLVMSetLinkage(ctx->handle_table, LLVMInternalLinkage);
        LLVMSetGlobalConstant(ctx->handle_table, true);
        LLVMSetAlignment(ctx->handle_table, 4);
    }
    return ctx->handle_table;
}

/* The code address that a handle stands for. */
static LLVMValueRef resolve_handle(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef handle = tr_operand_value(ctx, &inst->call->callee, PTX_TYPE_U64);
    LLVMValueRef index =
        LLVMBuildSub(ctx->builder, handle, tr_const_int(ctx, 64, PTX_FUNC_HANDLE_BASE), "");
    /* Rotating brings the bits that must be 0 to the top: one comparison checks all. */
    LLVMValueRef rotate[3] = {
        index, index, tr_const_int(ctx, 64, (uint64_t)__builtin_ctzll(PTX_FUNC_HANDLE_STEP))};
    index = tr_intrinsic(ctx, "llvm.fshr", &ctx->i64, 1, rotate, 3);
    LLVMValueRef count = tr_const_int(ctx, 64, handle_count(ctx));
    LLVMValueRef is_bad = LLVMBuildICmp(ctx->builder, LLVMIntUGE, index, count, "");
    tr_fault_if(ctx, is_bad, PXR_FAULT_PC, handle);

    LLVMValueRef table = handle_table(ctx);
    LLVMValueRef entry = LLVMBuildGEP2(ctx->builder, ctx->i32, table, &index, 1, "");
    LLVMValueRef offset = LLVMBuildLoad2(ctx->builder, ctx->i32, entry, "");
    tr_mark_invariant(offset);
    LLVMValueRef is_absent =
        LLVMBuildICmp(ctx->builder, LLVMIntEQ, offset, tr_const_int(ctx, 32, 0), "");
    tr_fault_if(ctx, is_absent, PXR_FAULT_PC, handle);
    offset = tr_resize(ctx, offset, 64, true);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, table, &offset, 1, "callee");
}

static enum pxr_status call_function(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                     const struct ptx_func *shape, LLVMValueRef callee)
{
    const struct ptx_call *call = inst->call;
    if (call->ret_count != shape->ret_count || call->arg_count != shape->param_count)
        return tr_unsupported(ctx, inst, "not as many arguments or results as the callee has");
    unsigned count = 1 + call->ret_count + call->arg_count;
    LLVMValueRef *args = pxr_arena_alloc_array(&ctx->arena, count, sizeof *args);
    LLVMTypeRef type = tr_function_type(ctx, shape);
    if (args == NULL || type == NULL)
        return tr_fail(ctx, PXR_OUT_OF_MEMORY, inst->line, "out of memory");
    tr_begin_text_block(ctx);
    args[0] = ctx->thread;
    LLVMValueRef *rets = args + 1;
    LLVMValueRef *params = rets + call->ret_count;
    for (uint32_t i = 0; i < call->ret_count; i++)
        rets[i] = passing_memory(ctx, &call->rets[i], shape->rets[i]);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        params[i] = passing_memory(ctx, &call->args[i], shape->params[i]);
        pass_argument(ctx, &call->args[i], shape->params[i], params[i]);
    }
    LLVMBuildCall2(ctx->builder, type, callee, args, count, "");
    for (uint32_t i = 0; i < call->ret_count; i++)
        take_result(ctx, &call->rets[i], shape->rets[i], rets[i]);
    tr_end_text_block(ctx);
    return ctx->status;
}

enum pxr_status tr_emit_call(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    const struct ptx_call *call = inst->call;
    ctx->step.region = 0; /* the callee may make volatile accesses */
    if (call->callee.kind == PTX_OPERAND_FUNC) {
        const struct ptx_func *func = call->callee.func;
        const struct library_function *known = find_library_function(func);
        if (known != NULL)
            return call_library(ctx, inst, known);
        int64_t runtime = func->has_body ? -1 : rt_find_device_function(func->name);
        if (runtime >= 0)
            return call_device_runtime(ctx, inst, (uint32_t)runtime);
        if (func->is_entry)
            return tr_unsupported(ctx, inst, "a call of a kernel");
        LLVMValueRef callee = tr_function(ctx, func, inst->line);
        return callee != NULL ? call_function(ctx, inst, func, callee) : ctx->status;
    }
    if (call->prototype == NULL)
        return tr_unsupported(ctx, inst, "an indirect call without a prototype");
    return call_function(ctx, inst, call->prototype, resolve_handle(ctx, inst));
}

/* ---- what the table of handles holds ---- */

/* Kernels, and functions without a body, cannot be called through a handle: 0. */
static LLVMValueRef handle_entry(struct tr_ctx *ctx, const struct ptx_func *func)
{
    if (func->is_entry || !func->has_body)
        return tr_const_int(ctx, 32, 0);
    LLVMValueRef function = tr_function(ctx, func, func->line);
    if (function == NULL)
        return tr_const_int(ctx, 32, 0);
    LLVMValueRef distance = LLVMConstSub(LLVMConstPtrToInt(function, ctx->i64),
                                         LLVMConstPtrToInt(ctx->handle_table, ctx->i64));
    return LLVMConstTrunc(distance, ctx->i32);
}

bool tr_define_handle_table(struct tr_ctx *ctx)
{
    if (ctx->handle_table == NULL || LLVMGetInitializer(ctx->handle_table) != NULL)
        return false;
    uint32_t count = handle_count(ctx);
    LLVMValueRef *entries = pxr_arena_alloc_array(&ctx->arena, count, sizeof *entries);
    if (entries == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, 0, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < ctx->ptx->func_count; i++) {
        int64_t handle = ptx_func_handle(ctx->ptx, ctx->ptx->funcs[i]);
        if (handle < 0)
            continue;
        uint64_t index = ((uint64_t)handle - PTX_FUNC_HANDLE_BASE) / PTX_FUNC_HANDLE_STEP;
        if (index < count)
            entries[index] = handle_entry(ctx, ctx->ptx->funcs[i]);
    }
    LLVMSetInitializer(ctx->handle_table, LLVMConstArray2(ctx->i32, entries, count));
    return true;
}
