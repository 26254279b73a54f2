/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of races: all lanes of a copy tell at once what they do, as a row of neighbours or at
 * addresses of their own; likewise what orders them.
 */
#include "translator/vector/memory/load_store.h"

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/module/declare.h"

/* Operands of rt_race_access. */
enum { ACCESS_THREAD, ACCESS_ADDRESS, ACCESS_BYTES, ACCESS_VALUE, ACCESS_WHAT, ACCESS_LINE };

/* What a thread tells, and what lanes tell together. */
static const struct form {
    enum rt_placeholder alone;
    enum rt_placeholder together;
} forms[] = {{RT_CALL_RACE_ACCESS, RT_CALL_RACE_ROW},
             {RT_CALL_RACE_ARRIVE, RT_CALL_RACE_ARRIVE_ROW},
             {RT_CALL_RACE_LEAVE, RT_CALL_RACE_LEAVE_ROW}};

static const struct form *form_of(LLVMValueRef inst)
{
    enum rt_placeholder placeholder = tr_placeholder_of(inst);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (placeholder != RT_CALL_NONE && forms[i].alone == placeholder)
            return &forms[i];
    return NULL;
}

static struct tr_shape shape_of(const struct tr_iteration *iteration, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    return number == TR_NONE ? (struct tr_shape){.kind = TR_UNIFORM}
                             : iteration->shapes.values[number];
}

/* Whether all lanes give the same operands but for the thread, and for accesses the address and the
 * value. */
bool tr_memory_is_race_check(const struct tr_iteration *iteration, LLVMValueRef inst)
{
    const struct form *form = form_of(inst);
    if (form == NULL)
        return false;
    struct tr_shape thread = shape_of(iteration, LLVMGetOperand(inst, ACCESS_THREAD));
    if (thread.kind != TR_AFFINE || thread.stride != RT_THREAD_STRIDE)
        return false;
    bool is_access = form->alone == RT_CALL_RACE_ACCESS;
    unsigned count = LLVMGetNumArgOperands(inst);
    for (unsigned i = ACCESS_ADDRESS; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, i);
        bool may_differ = is_access && (i == ACCESS_ADDRESS || i == ACCESS_VALUE);
        struct tr_shape shape = shape_of(iteration, operand);
        if (!may_differ && (shape.kind == TR_VARYING || shape.stride != 0))
            return false;
    }
    return !is_access || (LLVMIsAConstantInt(LLVMGetOperand(inst, ACCESS_BYTES)) != NULL &&
                          LLVMIsAConstantInt(LLVMGetOperand(inst, ACCESS_WHAT)) != NULL);
}

/* ---- one copy ---- */

/* An i64. */
static LLVMValueRef lanes_of(struct tr_widen *widen, uint32_t copy)
{
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL)
        return LLVMBuildZExt(widen->builder, tr_memory_bits(widen, mask), widen->i64, "");
    uint64_t all = widen->width == 64 ? UINT64_MAX : (UINT64_C(1) << widen->width) - 1;
    return LLVMConstInt(widen->i64, all, false);
}

static LLVMValueRef thread_of(struct tr_widen *widen, LLVMValueRef inst, uint32_t copy)
{
    return tr_widen_scalar(widen, LLVMGetOperand(inst, ACCESS_THREAD), copy);
}

static void call(struct tr_widen *widen, enum rt_placeholder placeholder, LLVMValueRef *operands,
                 unsigned count)
{
    LLVMValueRef function = tr_declare_placeholder(widen->module, placeholder);
    LLVMBuildCall2(widen->builder, LLVMGlobalGetValueType(function), function, operands, count, "");
}

/* Puts the vector into memory for the call. */
static LLVMValueRef in_memory(struct tr_widen *widen, LLVMValueRef vector)
{
    LLVMValueRef variable = tr_memory_variable(widen, LLVMTypeOf(vector), "told");
    LLVMBuildStore(widen->builder, vector, variable);
    return variable;
}

/* NULL, as a pointer: they are not known. */
static LLVMValueRef values_of(struct tr_widen *widen, LLVMValueRef inst, uint32_t copy)
{
    uint64_t what = LLVMConstIntGetZExtValue(LLVMGetOperand(inst, ACCESS_WHAT));
    uint64_t bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(inst, ACCESS_BYTES));
    if (!(what & RT_RACE_VALUE))
        return LLVMConstNull(widen->ptr);
    LLVMValueRef values = tr_widen_vector(widen, LLVMGetOperand(inst, ACCESS_VALUE), copy);
    LLVMTypeRef element = LLVMIntTypeInContext(widen->llvm, (unsigned)bytes * 8);
    LLVMTypeRef type = LLVMVectorType(element, widen->width);
    return in_memory(widen, LLVMBuildTrunc(widen->builder, values, type, ""));
}

static void tell_access(struct tr_widen *widen, LLVMValueRef inst, uint32_t copy)
{
    LLVMValueRef address = LLVMGetOperand(inst, ACCESS_ADDRESS);
    struct tr_shape shape = tr_widen_shape(widen, address);
    LLVMValueRef thread = thread_of(widen, inst, copy);
    LLVMValueRef bytes = LLVMGetOperand(inst, ACCESS_BYTES);
    LLVMValueRef values = values_of(widen, inst, copy);
    LLVMValueRef lanes = lanes_of(widen, copy);
    LLVMValueRef what = LLVMGetOperand(inst, ACCESS_WHAT);
    LLVMValueRef line = LLVMGetOperand(inst, ACCESS_LINE);
    if (shape.kind == TR_VARYING) {
        LLVMValueRef addresses = in_memory(widen, tr_widen_vector(widen, address, copy));
        LLVMValueRef operands[] = {thread, addresses, bytes, values, lanes, what, line};
        call(widen, RT_CALL_RACE_SCATTER, operands, sizeof operands / sizeof *operands);
        return;
    }
    LLVMValueRef stride = LLVMConstInt(widen->i64, (uint64_t)shape.stride, true);
    LLVMValueRef first = tr_widen_scalar(widen, address, copy);
    LLVMValueRef operands[] = {thread, first, bytes, stride, values, lanes, what, line};
    call(widen, RT_CALL_RACE_ROW, operands, sizeof operands / sizeof *operands);
}

static void tell_order(struct tr_widen *widen, LLVMValueRef inst, enum rt_placeholder together,
                       uint32_t copy)
{
    LLVMValueRef operands[RT_PARAMETERS_MAX] = {thread_of(widen, inst, copy)};
    unsigned count = LLVMGetNumArgOperands(inst);
    for (unsigned i = 1; i < count; i++)
        operands[i] = tr_widen_scalar(widen, LLVMGetOperand(inst, i), copy);
    operands[count] = lanes_of(widen, copy);
    call(widen, together, operands, count + 1);
}

void tr_memory_tell_races(struct tr_widen *widen, uint32_t value)
{
    LLVMValueRef inst = widen->iteration->graph.values[value].llvm;
    const struct form *form = form_of(inst);
    for (uint32_t copy = 0; copy < widen->copies; copy++) {
        if (form->alone == RT_CALL_RACE_ACCESS)
            tell_access(widen, inst, copy);
        else
            tell_order(widen, inst, form->together, copy);
    }
}
