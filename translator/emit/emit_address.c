/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses: of symbols, of operands in brackets, conversions between spaces, and the thread's
 * own pointers (launch record, shared memory, parameters).
 *
 * Never `inbounds`: a PTX program may form any address.
 */
#include "translator/emit/emit.h"

#include <stddef.h>
#include <string.h>

#include "ptx/short_address.h"

/* ---- what the thread's record leads to ---- */

/* Loads, in the entry block, a field that does not change while the thread runs. */
static LLVMValueRef load_constant_field(struct tr_ctx *ctx, LLVMValueRef base, size_t offset,
                                        const char *name)
{
    LLVMValueRef index = tr_const_int(ctx, 64, offset);
    LLVMValueRef field = LLVMBuildGEP2(ctx->entry_builder, ctx->i8, base, &index, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(ctx->entry_builder, ctx->ptr, field, name);
    tr_mark_invariant(value);
    return value;
}

static LLVMValueRef block_record(struct tr_ctx *ctx)
{
    return load_constant_field(ctx, ctx->thread, offsetof(struct rt_thread, block), "block");
}

/* Fields of struct rt_thread, and of the structures it points to, are constant while the thread
 * runs: they are loaded in the entry block, at their first use. */
static LLVMValueRef launch_record(struct tr_ctx *ctx)
{
    if (ctx->launch == NULL)
        ctx->launch = load_constant_field(ctx, block_record(ctx), offsetof(struct rt_block, launch),
                                          "launch");
    return ctx->launch;
}

/* A number of 32 bits as one of 64. */
static LLVMValueRef load_number(struct tr_ctx *ctx, LLVMValueRef record, size_t offset)
{
    LLVMValueRef index = tr_const_int(ctx, 64, offset);
    LLVMValueRef field = LLVMBuildGEP2(ctx->builder, ctx->i8, record, &index, 1, "");
    LLVMValueRef number = LLVMBuildLoad2(ctx->builder, ctx->i32, field, "");
    tr_mark_invariant(number);
    return tr_resize(ctx, number, 64, false);
}

LLVMValueRef tr_launch_number(struct tr_ctx *ctx, size_t offset)
{
    return load_number(ctx, launch_record(ctx), offset);
}

LLVMValueRef tr_launch_pointer(struct tr_ctx *ctx, size_t offset)
{
    return load_constant_field(ctx, launch_record(ctx), offset, "");
}

LLVMValueRef tr_block_pointer(struct tr_ctx *ctx, size_t offset)
{
    return load_constant_field(ctx, block_record(ctx), offset, "");
}

LLVMValueRef tr_block_number(struct tr_ctx *ctx, size_t offset)
{
    return load_number(ctx, block_record(ctx), offset);
}

LLVMValueRef tr_shared_base(struct tr_ctx *ctx)
{
    if (ctx->shared_base == NULL)
        ctx->shared_base = load_constant_field(ctx, block_record(ctx),
                                               offsetof(struct rt_block, shared), "shared");
    return ctx->shared_base;
}

LLVMValueRef tr_words_base(struct tr_ctx *ctx)
{
    if (ctx->words_base == NULL)
        ctx->words_base =
            load_constant_field(ctx, block_record(ctx), offsetof(struct rt_block, words), "words");
    return ctx->words_base;
}

static void note_number(struct tr_ctx *ctx, LLVMValueRef load, const char *name, uint64_t number)
{
    unsigned kind = LLVMGetMDKindIDInContext(ctx->llvm, name, (unsigned)strlen(name));
    LLVMMetadataRef value = LLVMValueAsMetadata(tr_const_int(ctx, 64, number));
    LLVMMetadataRef node = LLVMMDNodeInContext2(ctx->llvm, &value, 1);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(ctx->llvm, node));
}

/* All parameters can be read at any time: so one that is used behind a condition may be loaded
 * before a loop around that. */
static LLVMValueRef kernel_params(struct tr_ctx *ctx)
{
    if (ctx->param_base == NULL) {
        ctx->param_base = load_constant_field(ctx, launch_record(ctx),
                                              offsetof(struct rt_launch, params), "params");
        note_number(ctx, ctx->param_base, "align", _Alignof(uint64_t));
        if (ctx->func->param_bytes > 0)
            note_number(ctx, ctx->param_base, "dereferenceable", ctx->func->param_bytes);
    }
    return ctx->param_base;
}

static LLVMValueRef stack_limit(struct tr_ctx *ctx)
{
    return load_constant_field(ctx, ctx->thread, offsetof(struct rt_thread, stack_limit),
                               "stack_limit");
}

static LLVMValueRef offset_pointer(struct tr_ctx *ctx, LLVMValueRef base, int64_t offset)
{
    if (offset == 0)
        return base;
    LLVMValueRef index = tr_const_int(ctx, 64, (uint64_t)offset);
    return LLVMBuildGEP2(ctx->builder, ctx->i8, base, &index, 1, "");
}

/* ---- variables ---- */

/* Static shared variables are where the layout says; unsized ones begin behind them. */
static uint32_t shared_offset(struct tr_ctx *ctx, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < ctx->layout->shared_count; i++)
        if (ctx->layout->shared_vars[i] == var)
            return ctx->layout->shared_offsets[i];
    if (!var->is_unsized)
        tr_fail(ctx, PXR_NOT_FOUND, ctx->inst->line, "shared variable '%s' is not defined",
                var->name);
    return ctx->layout->shared_static_bytes;
}

/* … and the lane's own copy, if each has one, so many bytes behind; NULL: all have the same. */
static LLVMValueRef bytes_to_own_copy(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (!ptx_var_is_per_lane(var))
        return NULL;
    struct ptx_operand lane = {.kind = PTX_OPERAND_SREG, .sreg = PTX_SREG_LANEID};
    LLVMValueRef number = tr_resize(ctx, tr_operand_value(ctx, &lane, PTX_TYPE_U32), 64, false);
    return LLVMBuildMul(ctx->builder, number, tr_const_int(ctx, 64, var->size_bytes), "");
}

static LLVMValueRef shared_variable(struct tr_ctx *ctx, const struct ptx_var *var)
{
    LLVMValueRef pointer = offset_pointer(ctx, tr_shared_base(ctx), shared_offset(ctx, var));
    LLVMValueRef further = bytes_to_own_copy(ctx, var);
    if (further != NULL)
        pointer = LLVMBuildGEP2(ctx->builder, ctx->i8, pointer, &further, 1, "");
    return pointer;
}

static LLVMValueRef slot_pointer(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (var->linkage == PTX_LINKAGE_EXTERN)
        tr_fail(ctx, PXR_NOT_FOUND, ctx->inst->line,
                "variable '%s' is declared extern and not "
                "defined in any linked module",
                var->name);
    LLVMValueRef slots =
        load_constant_field(ctx, launch_record(ctx), offsetof(struct rt_launch, slots), "slots");
    return load_constant_field(ctx, slots, var->index * sizeof(void *), var->name);
}

/* The scheduler leaves room for module-scope .local variables below the stack's limit. */
static LLVMValueRef thread_local_pointer(struct tr_ctx *ctx, const struct ptx_var *var)
{
    const struct ptx_kernel_layout *layout = ctx->layout;
    for (uint32_t i = 0; i < layout->local_count; i++)
        if (layout->local_vars[i] == var)
            return offset_pointer(ctx, stack_limit(ctx),
                                  (int64_t)layout->local_offsets[i] - layout->local_static_bytes);
    tr_fail(ctx, PXR_NOT_FOUND, ctx->inst->line, "local variable '%s' is not defined", var->name);
    return LLVMConstNull(ctx->ptr);
}

LLVMValueRef tr_own_memory(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (ctx->vars[var->index] == NULL) {
        uint64_t size = var->size_bytes != 0 ? var->size_bytes : 1;
        LLVMTypeRef type = LLVMArrayType2(ctx->i8, size);
        unsigned align = var->align_bytes > 8 ? var->align_bytes : 8;
        LLVMValueRef slot = tr_alloca(ctx, type, align, var->name);
        ctx->vars[var->index] = slot;
    }
    return ctx->vars[var->index];
}

/* A parameter of the kernel, of this function, or a .param variable for a call. */
static LLVMValueRef param_pointer(struct tr_ctx *ctx, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < ctx->func->param_count; i++)
        if (ctx->func->params[i] == var)
            return ctx->func->is_entry
                       ? offset_pointer(ctx, kernel_params(ctx), var->param_offset_bytes)
                       : ctx->params[i];
    for (uint32_t i = 0; i < ctx->func->ret_count; i++)
        if (ctx->func->rets[i] == var)
            return ctx->rets[i];
    return tr_own_memory(ctx, var);
}

bool tr_is_kernel_param(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_ADDRESS)
        operand = &operand->elems[0];
    if (operand->kind != PTX_OPERAND_VAR || !ctx->func->is_entry)
        return false;
    for (uint32_t i = 0; i < ctx->func->param_count; i++)
        if (ctx->func->params[i] == operand->var)
            return true;
    return false;
}

/* The host address of a variable in memory. */
static LLVMValueRef variable_pointer(struct tr_ctx *ctx, const struct ptx_var *var)
{
    switch (var->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return slot_pointer(ctx, var);
    case PTX_SPACE_SHARED:
        return shared_variable(ctx, var);
    case PTX_SPACE_PARAM:
        return param_pointer(ctx, var);
    case PTX_SPACE_LOCAL:
        return var->is_module_scope ? thread_local_pointer(ctx, var) : tr_own_memory(ctx, var);
    default:
        break;
    }
    tr_unsupported(ctx, ctx->inst, "the address of a variable of this space");
    return LLVMConstNull(ctx->ptr);
}

/* name[r]: PTX ISA, "Arrays as Operands", the register counts elements. */
static LLVMValueRef index_bytes(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    const struct ptx_var *array = operand->elems[0].var;
    enum ptx_type type = operand->elems[1].var->type;
    LLVMValueRef index = tr_operand_value(ctx, &operand->elems[1], type);
    index = tr_resize(ctx, index, 64, ptx_type_table[type].class == PTX_CLASS_SIGNED);
    unsigned element_bytes = ptx_type_bytes(array->type) * array->vector_len;
    return LLVMBuildMul(ctx->builder, index, tr_const_int(ctx, 64, element_bytes), "");
}

LLVMValueRef tr_symbol_address(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_ADDRESS) {
        LLVMValueRef base = tr_symbol_address(ctx, &operand->elems[0]);
        LLVMValueRef bytes = index_bytes(ctx, operand);
        bytes =
            LLVMBuildAdd(ctx->builder, bytes, tr_const_int(ctx, 64, (uint64_t)operand->offset), "");
        return LLVMBuildAdd(ctx->builder, base, bytes, "");
    }
    if (operand->kind == PTX_OPERAND_FUNC) {
        int64_t handle = ptx_func_handle(ctx->ptx, operand->func);
        return tr_const_int(ctx, 64, handle < 0 ? 0 : (uint64_t)handle);
    }
    if (operand->var->space == PTX_SPACE_SHARED) {
        LLVMValueRef further = bytes_to_own_copy(ctx, operand->var);
        int64_t offset = shared_offset(ctx, operand->var) + operand->offset;
        LLVMValueRef address = tr_const_int(ctx, 64, (uint64_t)offset);
        return further == NULL ? address : LLVMBuildAdd(ctx->builder, address, further, "");
    }
    LLVMValueRef pointer =
        offset_pointer(ctx, variable_pointer(ctx, operand->var), operand->offset);
    return LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
}

/* ---- operands in brackets ---- */

/* Adds the constant last and in 64 bits, so that it can become part of the machine's instruction: a
 * 32-bit sum would differ only for addresses far outside of shared memory. */
static LLVMValueRef shared_pointer(struct tr_ctx *ctx, const struct ptx_operand *base,
                                   int64_t offset)
{
    LLVMValueRef index = tr_resize(ctx, tr_operand_value(ctx, base, PTX_TYPE_S32), 64, true);
    LLVMValueRef pointer = LLVMBuildGEP2(ctx->builder, ctx->i8, tr_shared_base(ctx), &index, 1, "");
    return offset_pointer(ctx, pointer, offset);
}

/* Any variable in constant memory: all of a module lie together. NULL if there is none. */
static LLVMValueRef first_constant(struct tr_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->ptx->var_count; i++)
        if (ctx->ptx->vars[i]->space == PTX_SPACE_CONST &&
            ctx->ptx->vars[i]->linkage != PTX_LINKAGE_EXTERN)
            return slot_pointer(ctx, ctx->ptx->vars[i]);
    return NULL;
}

/* The first term of an operand in brackets. */
static const struct ptx_operand *address_base(const struct ptx_operand *operand, int64_t *offset)
{
    *offset = 0;
    if (operand->kind == PTX_OPERAND_ADDRESS) {
        *offset = operand->offset;
        operand = &operand->elems[0];
    }
    return operand;
}

/* 32-bit registers can hold addresses of spaces that are small on a GPU. Here they are the low half
 * of a host address, and stand for the nearest address to the space's own memory with that low
 * half. */
LLVMValueRef tr_widen_address(struct tr_ctx *ctx, LLVMValueRef low, enum ptx_space space)
{
    LLVMValueRef near = NULL;
    if (space == PTX_SPACE_LOCAL)
        near = stack_limit(ctx);
    else if (space == PTX_SPACE_PARAM)
        near = kernel_params(ctx);
    else if (space == PTX_SPACE_CONST)
        near = first_constant(ctx);
    if (near == NULL) {
        tr_unsupported(ctx, ctx->inst, "32-bit global and generic addresses");
        return tr_const_int(ctx, 64, 0);
    }
    near = LLVMBuildPtrToInt(ctx->builder, near, ctx->i64, "");
    LLVMValueRef distance = LLVMBuildSub(ctx->builder, low, tr_resize(ctx, near, 32, false), "");
    return LLVMBuildAdd(ctx->builder, near, tr_resize(ctx, distance, 64, true), "");
}

static bool is_short(const struct ptx_operand *base)
{
    return base->kind == PTX_OPERAND_REG && ptx_type_bits(base->var->type) == 32;
}

/* The 64-bit host address that a register or constant stands for within the space. */
static LLVMValueRef full_address(struct tr_ctx *ctx, const struct ptx_operand *base,
                                 enum ptx_space space)
{
    if (is_short(base) || (ctx->ptx->makes_short_addresses && ptx_is_widened_space(space) &&
                           base->kind == PTX_OPERAND_REG))
        return tr_widen_address(ctx, tr_operand_value(ctx, base, PTX_TYPE_U32), space);
    return tr_operand_value(ctx, base, PTX_TYPE_U64);
}

LLVMValueRef tr_address(struct tr_ctx *ctx, const struct ptx_operand *operand, enum ptx_space space)
{
    int64_t offset;
    const struct ptx_operand *base = address_base(operand, &offset);
    if (base->kind == PTX_OPERAND_VAR) {
        LLVMValueRef pointer = variable_pointer(ctx, base->var);
        if (operand->is_indexed) {
            LLVMValueRef index = index_bytes(ctx, operand);
            pointer = LLVMBuildGEP2(ctx->builder, ctx->i8, pointer, &index, 1, "");
        }
        return offset_pointer(ctx, pointer, offset + base->offset);
    }
    if (space == PTX_SPACE_SHARED)
        return shared_pointer(ctx, base, offset);
    LLVMValueRef address = full_address(ctx, base, space);
    if (offset != 0)
        address = LLVMBuildAdd(ctx->builder, address, tr_const_int(ctx, 64, (uint64_t)offset), "");
    return LLVMBuildIntToPtr(ctx->builder, address, ctx->ptr, "");
}

static bool is_multiple(int64_t distance, unsigned access_bytes)
{
    return ((uint64_t)distance & (access_bytes - 1)) == 0;
}

static bool has_alignment(const struct ptx_operand *base)
{
    return base->kind == PTX_OPERAND_REG && base->component == 0;
}

/* Whether the address is aligned for sure: that of a variable plus a constant, or one that differs
 * by a suitable constant from an address checked before. */
static bool is_known_aligned(const struct tr_ctx *ctx, const struct ptx_operand *operand,
                             unsigned access_bytes)
{
    int64_t offset;
    const struct ptx_operand *base = address_base(operand, &offset);
    if (base->kind == PTX_OPERAND_VAR)
        return !operand->is_indexed && base->var->align_bytes >= access_bytes &&
               is_multiple(offset + base->offset, access_bytes);
    if (!has_alignment(base))
        return false;
    const struct tr_alignment *known = &ctx->alignments[base->var->index];
    return known->region == ctx->region && known->align >= access_bytes &&
           is_multiple(offset - known->offset, access_bytes);
}

/* The address has been checked, for every way that leads on from here unless there is a guard. */
static void note_aligned(struct tr_ctx *ctx, const struct ptx_operand *operand,
                         unsigned access_bytes)
{
    int64_t offset;
    const struct ptx_operand *base = address_base(operand, &offset);
    if (has_alignment(base) && ctx->inst->guard == NULL)
        ctx->alignments[base->var->index] =
            (struct tr_alignment){.region = ctx->region, .align = access_bytes, .offset = offset};
}

/* A number with the low bits of the operand's address. Shared memory begins at a multiple of every
 * access's size, so there the offset will do: it is the same for many accesses. */
static LLVMValueRef low_address(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                enum ptx_space space, LLVMValueRef pointer)
{
    int64_t offset;
    const struct ptx_operand *base = address_base(operand, &offset);
    if (space != PTX_SPACE_SHARED || base->kind == PTX_OPERAND_VAR)
        return LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
    LLVMValueRef index = tr_operand_value(ctx, base, PTX_TYPE_S32);
    index = LLVMBuildAdd(ctx->builder, index, tr_const_int(ctx, 32, (uint32_t)offset), "");
    return tr_resize(ctx, index, 64, true);
}

LLVMValueRef tr_access_address(struct tr_ctx *ctx, const struct ptx_operand *operand,
                               enum ptx_space space, unsigned access_bytes)
{
    LLVMValueRef pointer = tr_address(ctx, operand, space);
    if (!ctx->options->check_alignment || access_bytes < 2 ||
        is_known_aligned(ctx, operand, access_bytes))
        return pointer;
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
    LLVMValueRef low = low_address(ctx, operand, space, pointer);
    low = LLVMBuildAnd(ctx->builder, low, tr_const_int(ctx, 64, access_bytes - 1), "");
    LLVMValueRef is_misaligned =
        LLVMBuildICmp(ctx->builder, LLVMIntNE, low, tr_const_int(ctx, 64, 0), "");
    tr_fault_if(ctx, is_misaligned, PXR_FAULT_MISALIGNED, address);
    note_aligned(ctx, operand, access_bytes);
    return pointer;
}

/* ---- cvta, isspacep ---- */

/* i1: low <= address < low + size, all i64. */
static LLVMValueRef is_in_range(struct tr_ctx *ctx, LLVMValueRef address, LLVMValueRef low,
                                LLVMValueRef size)
{
    LLVMValueRef distance = LLVMBuildSub(ctx->builder, address, low, "");
    return LLVMBuildICmp(ctx->builder, LLVMIntULT, distance, size, "");
}

static LLVMValueRef pointer_bits(struct tr_ctx *ctx, LLVMValueRef pointer)
{
    return LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
}

/* The block's own, not its cluster's. */
static LLVMValueRef is_own_shared(struct tr_ctx *ctx, LLVMValueRef address)
{
    return is_in_range(ctx, address, pointer_bits(ctx, tr_shared_base(ctx)),
                       tr_launch_number(ctx, offsetof(struct rt_launch, shared_bytes)));
}

static LLVMValueRef is_local(struct tr_ctx *ctx, LLVMValueRef address)
{
    LLVMValueRef low =
        offset_pointer(ctx, stack_limit(ctx), -(int64_t)ctx->layout->local_static_bytes);
    LLVMValueRef high =
        load_constant_field(ctx, ctx->thread, offsetof(struct rt_thread, stack_base), "stack_base");
    low = pointer_bits(ctx, low);
    LLVMValueRef size = LLVMBuildSub(ctx->builder, pointer_bits(ctx, high), low, "");
    return is_in_range(ctx, address, low, size);
}

static LLVMValueRef is_const(struct tr_ctx *ctx, LLVMValueRef address)
{
    LLVMValueRef result = tr_const_int(ctx, 1, 0);
    for (uint32_t i = 0; i < ctx->ptx->var_count; i++) {
        const struct ptx_var *var = ctx->ptx->vars[i];
        if (var->space != PTX_SPACE_CONST || var->linkage == PTX_LINKAGE_EXTERN)
            continue;
        LLVMValueRef is_this = is_in_range(ctx, address, pointer_bits(ctx, slot_pointer(ctx, var)),
                                           tr_const_int(ctx, 64, var->size_bytes));
        result = LLVMBuildOr(ctx->builder, result, is_this, "");
    }
    return result;
}

static LLVMValueRef is_param(struct tr_ctx *ctx, LLVMValueRef address)
{
    return is_in_range(ctx, address, pointer_bits(ctx, kernel_params(ctx)),
                       tr_const_int(ctx, 64, ctx->kernel->param_bytes));
}

LLVMValueRef tr_is_in_space(struct tr_ctx *ctx, LLVMValueRef address, enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return tr_is_in_cluster(ctx, address);
    case PTX_SPACE_LOCAL:
        return is_local(ctx, address);
    case PTX_SPACE_CONST:
        return is_const(ctx, address);
    case PTX_SPACE_PARAM:
        return is_param(ctx, address);
    default: {
        /* "A generic address maps to global memory unless it falls within a window" (PTX ISA
         * "Generic Addressing"). The window of kernel parameters is a part of global memory: both
         * isspacep.param and isspacep.global are true of it. */
        LLVMValueRef other =
            LLVMBuildOr(ctx->builder, tr_is_in_cluster(ctx, address), is_local(ctx, address), "");
        other = LLVMBuildOr(ctx->builder, other, is_const(ctx, address), "");
        return LLVMBuildNot(ctx->builder, other, "");
    }
    }
}

enum pxr_status tr_emit_isspacep(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef address = tr_value(ctx, inst, 1, PTX_TYPE_U64);
    enum ptx_space space = ptx_inst_space(inst);
    bool is_own = space == PTX_SPACE_SHARED && !ptx_inst_has_word(inst, PTX_MOD_SHARED_CLUSTER);
    LLVMValueRef is_inside =
        is_own ? is_own_shared(ctx, address) : tr_is_in_space(ctx, address, space);
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, is_inside);
    return PXR_OK;
}

/* Only the shared space has addresses of its own; everything else is generic already. 32 bits are
 * the low half of an address: enough to come back to where it was, not for an access. */
enum pxr_status tr_emit_cvta(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    enum ptx_space space = ptx_inst_space(inst);
    bool is_to = ptx_inst_has(inst, PTX_GROUP_TO);
    LLVMValueRef result = NULL;
    if (space == PTX_SPACE_SHARED) {
        LLVMValueRef base = pointer_bits(ctx, tr_shared_base(ctx));
        LLVMValueRef address = is_to
                                   ? tr_value(ctx, inst, 1, PTX_TYPE_U64)
                                   : tr_resize(ctx, tr_value(ctx, inst, 1, PTX_TYPE_S32), 64, true);
        result = is_to ? LLVMBuildSub(ctx->builder, address, base, "")
                       : LLVMBuildAdd(ctx->builder, address, base, "");
    } else if (is_to || ptx_type_bits(type) != 64) {
        result = tr_value(ctx, inst, 1, PTX_TYPE_U64);
    } else { /* a symbol of the space stands for its address */
        result = full_address(ctx, tr_operand(inst, 1), space);
    }
    tr_set(ctx, inst, 0, type, tr_resize(ctx, result, ptx_type_bits(type), false));
    return PXR_OK;
}
