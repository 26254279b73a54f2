/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls and returns: register files and frames of a thread's functions, and how arguments and
 * results travel between them (PTX ISA, "call", "ret", "Parameter State Space").
 */
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

static uint32_t slot_base(const struct oracle_thread *thread)
{
    return thread->slots ? (uint32_t)(thread->regs - thread->slots) : 0;
}

/* ---- frames ---- */

/* A register that nothing has written holds anything of its width. */
static void fill_registers(struct oracle_thread *thread)
{
    const struct oracle_code *code = thread->code;
    const struct ptx_func *func = code->func;

    oracle_fill_pattern(thread->oracle, thread->regs, code->slot_count * sizeof(*thread->regs));
    if (thread->oracle->launch->seed == 0)
        return;
    for (uint32_t i = 0; i < func->var_count; i++) {
        const struct ptx_var *var = func->vars[i];

        for (unsigned j = 0; var->space == PTX_SPACE_REG && j < var->vector_len; j++) {
            union oracle_value *slot = &thread->regs[code->places[i] + j];

            slot->u128 = oracle_low_bits(slot->u128, ptx_type_bits(var->type));
        }
    }
}

/* Makes `code` the running function, with its register file and variables behind those in use. */
static enum pxr_status enter(struct oracle_thread *thread, const struct ptx_inst *inst,
                             const struct oracle_code *code, uint32_t base)
{
    uint64_t local = (thread->local_top + (uint64_t)code->frame_align - 1) / code->frame_align *
                     code->frame_align;

    if (!oracle_grow(&thread->slots, &thread->slot_capacity, base + code->slot_count + 1,
                     sizeof(*thread->slots)))
        return oracle_fail(thread, inst, PXR_OUT_OF_MEMORY, "not enough memory for registers");
    if (!oracle_reserve_local(thread, local + code->frame_bytes))
        return oracle_fail(thread, inst, PXR_FAULT_STACK, "the thread's stack is used up");
    thread->regs = thread->slots + base;
    thread->code = code;
    thread->pc = 0;
    thread->frame_local = (uint32_t)local;
    thread->local_top = (uint32_t)(local + code->frame_bytes);
    fill_registers(thread);
    return PXR_OK;
}

enum pxr_status oracle_enter_kernel(struct oracle_thread *thread)
{
    const struct oracle_code *code = oracle_code_of(thread->oracle, thread->oracle->kernel);

    if (!code)
        return oracle_fail(thread, NULL, PXR_OUT_OF_MEMORY, "not enough memory for the kernel");
    thread->depth = 0;
    thread->local_top = thread->oracle->module_local_bytes;
    return enter(thread, NULL, code, 0);
}

/* Makes the function of that frame the one that operands refer to; *other gets what was. Nothing
 * but operands may be touched until the change is undone by the same call. */
static void exchange_frame(struct oracle_thread *thread, struct oracle_frame *other)
{
    struct oracle_frame now = *other;

    now.code = thread->code;
    now.slot_base = slot_base(thread);
    now.local_base = thread->frame_local;
    thread->code = other->code;
    thread->regs = thread->slots + other->slot_base;
    thread->frame_local = other->local_base;
    other->code = now.code;
    other->slot_base = now.slot_base;
    other->local_base = now.local_base;
}

/* ---- parameters ---- */

/* Bytes of a variable in the frame of the function that operands refer to. */
static uint8_t *frame_bytes(struct oracle_thread *thread, const struct ptx_var *var)
{
    return thread->local + thread->frame_local + thread->code->places[var->index];
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* An operand of a call to bytes: a .param variable as it is, anything else as a value. */
static void operand_to_bytes(struct oracle_thread *thread, const struct ptx_operand *operand,
                             const struct ptx_var *param, uint8_t *bytes, uint64_t size_bytes)
{
    union oracle_value value;

    if (operand->kind == PTX_OPERAND_VAR && operand->var->space == PTX_SPACE_PARAM) {
        memcpy(bytes, frame_bytes(thread, operand->var),
               smaller(operand->var->size_bytes, size_bytes));
        return;
    }
    for (unsigned i = 0; i < param->vector_len; i++) {
        unsigned step = ptx_type_bytes(param->type);

        if ((i + 1) * (uint64_t)step > size_bytes || i >= oracle_elem_count(operand))
            return;
        value = oracle_read_elem(thread, operand, i, param->type);
        memcpy(bytes + i * step, &value, step);
    }
}

static void bytes_to_operand(struct oracle_thread *thread, const struct ptx_operand *operand,
                             const struct ptx_var *param, const uint8_t *bytes, uint64_t size_bytes)
{
    if (operand->kind == PTX_OPERAND_VAR && operand->var->space == PTX_SPACE_PARAM) {
        memcpy(frame_bytes(thread, operand->var), bytes,
               smaller(operand->var->size_bytes, size_bytes));
        return;
    }
    for (unsigned i = 0; i < param->vector_len && i < oracle_elem_count(operand); i++) {
        unsigned step = ptx_type_bytes(param->type);
        union oracle_value value = {0};

        if ((i + 1) * (uint64_t)step > size_bytes)
            return;
        memcpy(&value, bytes + i * step, step);
        oracle_write_elem(thread, operand, i, param->type, value);
    }
}

/* A parameter as an operand of its own function, for those in registers. */
static struct ptx_operand register_operand(const struct ptx_var *param)
{
    return (struct ptx_operand){.kind = PTX_OPERAND_REG, .var = param};
}

#define MAX_REGISTER_BYTES (8 * sizeof(union oracle_value))

/* Moves a value between an operand of the caller and a parameter of the callee, which runs. */
static void pass(struct oracle_thread *thread, struct oracle_frame *caller,
                 const struct ptx_operand *operand, const struct ptx_var *param, bool is_result)
{
    uint8_t in_register[MAX_REGISTER_BYTES] = {0};
    bool is_register = param->space == PTX_SPACE_REG;
    struct ptx_operand own = register_operand(param);
    uint8_t *bytes = is_register ? in_register : frame_bytes(thread, param);
    uint64_t size_bytes =
        is_register ? smaller(param->size_bytes, MAX_REGISTER_BYTES) : param->size_bytes;

    if (is_register && is_result)
        operand_to_bytes(thread, &own, param, bytes, size_bytes);
    exchange_frame(thread, caller);
    if (is_result)
        bytes_to_operand(thread, operand, param, bytes, size_bytes);
    else
        operand_to_bytes(thread, operand, param, bytes, size_bytes);
    exchange_frame(thread, caller);
    if (is_register && !is_result)
        bytes_to_operand(thread, &own, param, bytes, size_bytes);
}

/* ---- call ---- */

/* PTX ISA, "call": an indirect call goes to the function whose address the register holds. */
static const struct ptx_func *callee_of(struct oracle_thread *thread, const struct ptx_call *call)
{
    const struct oracle *oracle = thread->oracle;
    uint64_t handle;
    uint64_t place;

    if (call->callee.kind == PTX_OPERAND_FUNC)
        return call->callee.func;
    handle = oracle_read_operand(thread, &call->callee, PTX_TYPE_B64).u64;
    place = (handle - PTX_FUNC_HANDLE_BASE) / PTX_FUNC_HANDLE_STEP;
    if (place >= oracle->handle_count || (handle - PTX_FUNC_HANDLE_BASE) % PTX_FUNC_HANDLE_STEP)
        return NULL;
    return oracle->handle_funcs[place];
}

static bool has_signature(const struct ptx_func *func, const struct ptx_call *call)
{
    return func->param_count == call->arg_count && func->ret_count == call->ret_count;
}

static enum pxr_status push_frame(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct oracle_frame *frame;

    if (thread->depth == ORACLE_MAX_DEPTH)
        return oracle_fail(thread, inst, PXR_FAULT_STACK, "calls are nested too deeply");
    if (!oracle_grow(&thread->frames, &thread->frame_capacity, thread->depth + 1,
                     sizeof(*thread->frames)))
        return oracle_fail(thread, inst, PXR_OUT_OF_MEMORY, "not enough memory for a call");
    frame = &thread->frames[thread->depth++];
    frame->code = thread->code;
    frame->call = inst->call;
    frame->pc = thread->pc;
    frame->slot_base = slot_base(thread);
    frame->local_base = thread->frame_local;
    frame->local_top = thread->local_top;
    return PXR_OK;
}

enum pxr_status oracle_call(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    const struct ptx_call *call = inst->call;
    const struct ptx_func *func = callee_of(thread, call);
    const struct oracle_code *code;
    enum pxr_status status;

    if (!func || func->is_entry || !has_signature(func, call))
        return oracle_fail(thread, inst, PXR_FAULT_PC,
                           "the call does not lead to a function of "
                           "its signature");
    if (!func->has_body)
        return oracle_call_external(thread, inst, func);
    code = oracle_code_of(thread->oracle, func);
    if (!code)
        return oracle_fail(thread, inst, PXR_OUT_OF_MEMORY, "not enough memory for '%s'",
                           func->name);
    status = push_frame(thread, inst);
    if (status == PXR_OK)
        status = enter(thread, inst, code, slot_base(thread) + thread->code->slot_count);
    if (status != PXR_OK)
        return status;
    for (uint32_t i = 0; i < call->arg_count; i++)
        pass(thread, &thread->frames[thread->depth - 1], &call->args[i], func->params[i], false);
    return PXR_OK;
}

enum pxr_status oracle_return(struct oracle_thread *thread)
{
    const struct ptx_func *func = thread->code->func;
    struct oracle_frame *frame;

    if (thread->depth == 0)
        return oracle_end_thread(thread);
    frame = &thread->frames[thread->depth - 1];
    for (uint32_t i = 0; i < frame->call->ret_count; i++)
        pass(thread, frame, &frame->call->rets[i], func->rets[i], true);
    thread->depth--;
    thread->code = frame->code;
    thread->pc = frame->pc;
    thread->regs = thread->slots + frame->slot_base;
    thread->frame_local = frame->local_base;
    thread->local_top = frame->local_top;
    return PXR_OK;
}
