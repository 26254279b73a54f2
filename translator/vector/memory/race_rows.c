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

/* Where rt_race_loop has others. */
enum { LOOP_STEP = 3, LOOP_TURNS, LOOP_FLOOR, LOOP_PERIOD, LOOP_WHAT, LOOP_LINE, LOOP_LINES };

/* What a thread tells, and what lanes tell together. */
static const struct form {
    enum rt_placeholder alone;
    enum rt_placeholder together;
} forms[] = {{RT_CALL_RACE_ACCESS, RT_CALL_RACE_ROW},
             {RT_CALL_RACE_LOOP, RT_CALL_RACE_LOOP_ROW},
             {RT_CALL_RACE_RELEASE, RT_CALL_RACE_RELEASE_ROW},
             {RT_CALL_RACE_ACQUIRE, RT_CALL_RACE_ACQUIRE_ROW},
             {RT_CALL_RACE_FENCE, RT_CALL_RACE_FENCE_ROW},
             {RT_CALL_RACE_COPIES, RT_CALL_RACE_COPIES_ROW},
             {RT_CALL_RACE_ARRIVE, RT_CALL_RACE_ARRIVE_ROW},
             {RT_CALL_RACE_LEAVE, RT_CALL_RACE_LEAVE_ROW},
             {RT_CALL_RACE_LANES, RT_CALL_RACE_LANES_ROW}};

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

static bool has_address(const struct form *form)
{
    return form->alone == RT_CALL_RACE_ACCESS || form->alone == RT_CALL_RACE_LOOP ||
           form->alone == RT_CALL_RACE_RELEASE || form->alone == RT_CALL_RACE_ACQUIRE;
}

static bool may_differ(const struct form *form, unsigned operand)
{
    return (operand == ACCESS_ADDRESS && has_address(form)) ||
           (operand == ACCESS_VALUE && form->alone == RT_CALL_RACE_ACCESS) ||
           (operand >= LOOP_STEP && operand <= LOOP_FLOOR && form->alone == RT_CALL_RACE_LOOP);
}

/* Whether all lanes give the same operands but for the thread, addresses, values, and what their
 * loops do. */
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
        struct tr_shape shape = shape_of(iteration, operand);
        if (!may_differ(form, i) && (shape.kind == TR_VARYING || shape.stride != 0))
            return false;
    }
    return !is_access || (LLVMIsAConstantInt(LLVMGetOperand(inst, ACCESS_BYTES)) != NULL &&
                          LLVMIsAConstantInt(LLVMGetOperand(inst, ACCESS_WHAT)) != NULL);
}

/* ---- copies along a row ---- */

/* Of lanes that a call can be about. */
#define LANES_MAX 64

/* Copies whose threads follow each other. */
struct group {
    struct tr_widen *widen;
    LLVMValueRef inst;
    uint32_t first;
    uint32_t count;
};

static LLVMValueRef operand_of(const struct group *group, unsigned index)
{
    return LLVMGetOperand(group->inst, index);
}

/* The first lane's, or what it would have. */
static LLVMValueRef scalar_of(const struct group *group, unsigned index)
{
    return tr_widen_scalar(group->widen, operand_of(group, index), group->first);
}

/* An i64 with a bit for each lane. */
static LLVMValueRef lanes_of(const struct group *group)
{
    struct tr_widen *widen = group->widen;
    LLVMBuilderRef b = widen->builder;
    unsigned count = widen->width * group->count;
    LLVMValueRef lanes = LLVMConstNull(widen->i64);
    if (widen->active.mask[group->first] == NULL)
        return LLVMConstInt(widen->i64, UINT64_MAX >> (LANES_MAX - count), false);
    for (uint32_t c = 0; c < group->count; c++) {
        LLVMValueRef bits = tr_memory_bits(widen, widen->active.mask[group->first + c]);
        LLVMValueRef place = LLVMConstInt(widen->i64, c * widen->width, false);
        bits = LLVMBuildShl(b, LLVMBuildZExt(b, bits, widen->i64, ""), place, "");
        lanes = LLVMBuildOr(b, lanes, bits, "");
    }
    return lanes;
}

/* The operand of all lanes as elements of `bits` bits in memory. */
static LLVMValueRef in_memory(const struct group *group, unsigned index, unsigned bits)
{
    struct tr_widen *widen = group->widen;
    LLVMTypeRef element = LLVMIntTypeInContext(widen->llvm, bits);
    LLVMTypeRef type = LLVMVectorType(element, widen->width);
    LLVMTypeRef all = LLVMArrayType2(element, (uint64_t)widen->width * group->count);
    LLVMValueRef variable = tr_memory_variable(widen, all, "told");
    for (uint32_t c = 0; c < group->count; c++) {
        LLVMValueRef lanes = tr_widen_vector(widen, operand_of(group, index), group->first + c);
        lanes = LLVMBuildTrunc(widen->builder, lanes, type, "");
        int64_t place = (int64_t)c * widen->width * (bits / 8);
        LLVMValueRef store =
            LLVMBuildStore(widen->builder, lanes, tr_memory_advance(widen, variable, place));
        LLVMSetAlignment(store, bits / 8);
    }
    return variable;
}

/* NULL, as a pointer: they are not known. */
static LLVMValueRef values_of(const struct group *group)
{
    uint64_t what = LLVMConstIntGetZExtValue(operand_of(group, ACCESS_WHAT));
    uint64_t bytes = LLVMConstIntGetZExtValue(operand_of(group, ACCESS_BYTES));
    return what & RT_RACE_VALUE ? in_memory(group, ACCESS_VALUE, (unsigned)bytes * 8)
                                : LLVMConstNull(group->widen->ptr);
}

static void call(const struct group *group, enum rt_placeholder placeholder, LLVMValueRef *operands,
                 unsigned count)
{
    struct tr_widen *widen = group->widen;
    LLVMValueRef function = tr_declare_placeholder(widen->module, placeholder);
    LLVMBuildCall2(widen->builder, LLVMGlobalGetValueType(function), function, operands, count, "");
}

static void tell_access(const struct group *group)
{
    struct tr_shape shape = tr_widen_shape(group->widen, operand_of(group, ACCESS_ADDRESS));
    LLVMValueRef thread = scalar_of(group, ACCESS_THREAD);
    LLVMValueRef bytes = operand_of(group, ACCESS_BYTES);
    LLVMValueRef values = values_of(group);
    LLVMValueRef lanes = lanes_of(group);
    LLVMValueRef what = operand_of(group, ACCESS_WHAT);
    LLVMValueRef line = operand_of(group, ACCESS_LINE);
    if (shape.kind == TR_VARYING) {
        LLVMValueRef addresses = in_memory(group, ACCESS_ADDRESS, 64);
        LLVMValueRef operands[] = {thread, addresses, bytes, values, lanes, what, line};
        call(group, RT_CALL_RACE_SCATTER, operands, sizeof operands / sizeof *operands);
        return;
    }
    LLVMValueRef stride = LLVMConstInt(group->widen->i64, (uint64_t)shape.stride, true);
    LLVMValueRef first = scalar_of(group, ACCESS_ADDRESS);
    LLVMValueRef operands[] = {thread, first, bytes, stride, values, lanes, what, line};
    call(group, RT_CALL_RACE_ROW, operands, sizeof operands / sizeof *operands);
}

static void tell_loop(const struct group *group)
{
    LLVMValueRef addresses = in_memory(group, ACCESS_ADDRESS, 64);
    LLVMValueRef steps = in_memory(group, LOOP_STEP, 64);
    LLVMValueRef turns = in_memory(group, LOOP_TURNS, 64);
    LLVMValueRef floors = in_memory(group, LOOP_FLOOR, 64);
    LLVMValueRef operands[] = {scalar_of(group, ACCESS_THREAD),
                               addresses,
                               operand_of(group, ACCESS_BYTES),
                               steps,
                               turns,
                               floors,
                               operand_of(group, LOOP_PERIOD),
                               lanes_of(group),
                               operand_of(group, LOOP_WHAT),
                               operand_of(group, LOOP_LINE),
                               operand_of(group, LOOP_LINES)};
    call(group, RT_CALL_RACE_LOOP_ROW, operands, sizeof operands / sizeof *operands);
}

static void tell_order(const struct group *group, const struct form *form)
{
    LLVMValueRef operands[RT_PARAMETERS_MAX] = {scalar_of(group, ACCESS_THREAD)};
    unsigned count = LLVMGetNumArgOperands(group->inst);
    for (unsigned i = 1; i < count; i++)
        operands[i] = i == ACCESS_ADDRESS && has_address(form) ? in_memory(group, i, 64)
                                                               : scalar_of(group, i);
    operands[count] = lanes_of(group);
    call(group, form->together, operands, count + 1);
}

void tr_memory_tell_races(struct tr_widen *widen, uint32_t value)
{
    LLVMValueRef inst = widen->iteration->graph.values[value].llvm;
    const struct form *form = form_of(inst);
    struct group group = {.widen = widen, .inst = inst};
    uint32_t most = LANES_MAX / widen->width;
    for (group.first = 0; group.first < widen->copies; group.first += group.count) {
        uint32_t left = widen->jam[0] - group.first % widen->jam[0];
        group.count = left < most ? left : most;
        if (form->alone == RT_CALL_RACE_ACCESS)
            tell_access(&group);
        else if (form->alone == RT_CALL_RACE_LOOP)
            tell_loop(&group);
        else
            tell_order(&group, form);
    }
}
