/* SPDX-License-Identifier: Apache-2.0
 *
 * See interpret.h.
 */
#include "interpret.h"

#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

struct thread {
    const struct interpreter *interpreter;
    struct trace *trace;
    uint64_t *values;    /* by number: the last it had */
    uint32_t *iteration; /* by loop */
    uint32_t previous;   /* segment */
};

static unsigned width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind ? 64 : LLVMGetIntTypeWidth(type);
}

static uint64_t cut(uint64_t bits, unsigned width)
{
    return width == 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

static int64_t extend(uint64_t bits, unsigned width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

static uint64_t operand(const struct thread *thread, LLVMValueRef inst, unsigned index)
{
    LLVMValueRef value = LLVMGetOperand(inst, index);
    if (LLVMIsAConstantInt(value) != NULL)
        return LLVMConstIntGetZExtValue(value);
    uint32_t number = tr_graph_number(thread->interpreter->graph, value);
    return number == TR_NONE ? 0 : thread->values[number]; /* undef */
}

static uint64_t special_register(const struct thread *thread, LLVMValueRef call)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &len);
    const struct trace *trace = thread->trace;
    if (strncmp(name, "rt_sreg_tid_", 12) == 0)
        return trace->tid[name[12] - 'x'];
    if (strncmp(name, "rt_sreg_ntid_", 13) == 0)
        return thread->interpreter->block[name[13] - 'x'];
    if (strcmp(name, "rt_sreg_laneid") == 0)
        return trace->linear % 32;
    if (strcmp(name, "rt_sreg_warpid") == 0)
        return trace->linear / 32;
    return 3; /* uniform registers */
}

static bool compare(LLVMIntPredicate predicate, uint64_t a, uint64_t b, unsigned width)
{
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntULT:
        return a < b;
    case LLVMIntUGT:
        return a > b;
    case LLVMIntULE:
        return a <= b;
    case LLVMIntUGE:
        return a >= b;
    case LLVMIntSLT:
        return extend(a, width) < extend(b, width);
    case LLVMIntSGT:
        return extend(a, width) > extend(b, width);
    case LLVMIntSLE:
        return extend(a, width) <= extend(b, width);
    default:
        return extend(a, width) >= extend(b, width);
    }
}

static uint64_t phi_value(const struct thread *thread, const struct tr_value *phi)
{
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (phi->incoming[i] != thread->previous)
            continue;
        LLVMValueRef value = LLVMGetIncomingValue(phi->llvm, i);
        if (LLVMIsAConstantInt(value) != NULL)
            return LLVMConstIntGetZExtValue(value);
        return phi->operands[i] == TR_NONE ? 0 : thread->values[phi->operands[i]];
    }
    cr_assert_fail("no value of a phi");
    return 0;
}

/* From memory of the test. */
static uint64_t load(LLVMValueRef inst, uint64_t address)
{
    uint64_t bits = 0;
    memcpy(&bits, (const void *)(uintptr_t)address, width_of(inst) / 8);
    return bits;
}

static uint64_t element(const struct thread *thread, LLVMValueRef gep, uint64_t pointer)
{
    LLVMModuleRef module = LLVMGetGlobalParent(thread->interpreter->graph->function);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        uint64_t index = operand(thread, gep, i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            pointer += LLVMOffsetOfElement(layout, type, (unsigned)index);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)index);
            continue;
        }
        if (i > 1)
            type = LLVMGetElementType(type);
        int64_t count = extend(index, width_of(LLVMGetOperand(gep, i)));
        pointer += (uint64_t)count * LLVMABISizeOfType(layout, type);
    }
    return pointer;
}

static uint64_t evaluate(const struct thread *thread, const struct tr_value *value)
{
    LLVMValueRef inst = value->llvm;
    uint64_t a =
        value->operand_count > 0 && value->opcode != LLVMCall ? operand(thread, inst, 0) : 0;
    uint64_t b =
        value->operand_count > 1 && value->opcode != LLVMCall ? operand(thread, inst, 1) : 0;
    switch (value->opcode) {
    case LLVMAdd:
        return a + b;
    case LLVMSub:
        return a - b;
    case LLVMMul:
        return a * b;
    case LLVMShl:
        return b < 64 ? a << b : 0;
    case LLVMLShr:
        return b < 64 ? a >> b : 0;
    case LLVMAnd:
        return a & b;
    case LLVMOr:
        return a | b;
    case LLVMXor:
        return a ^ b;
    case LLVMURem:
        return b == 0 ? 0 : a % b;
    case LLVMLoad:
        return load(inst, a);
    case LLVMGetElementPtr:
        return element(thread, inst, a);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
        return a;
    case LLVMSExt:
        return (uint64_t)extend(a, width_of(LLVMGetOperand(inst, 0)));
    case LLVMSelect:
        return a != 0 ? b : operand(thread, inst, 2);
    case LLVMICmp:
        return compare(LLVMGetICmpPredicate(inst), a, b, width_of(LLVMGetOperand(inst, 0)));
    case LLVMCall:
        return special_register(thread, inst);
    default:
        cr_assert_fail("an instruction that the interpreter does not know");
        return 0;
    }
}

static bool has_result(const struct tr_value *value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value->llvm));
    return kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
}

/* Phis change together: all read before one is written. */
static void run_values(struct thread *thread, const struct tr_segment *segment, uint64_t *values)
{
    const struct tr_graph *graph = thread->interpreter->graph;
    uint32_t first = segment->first_value;
    uint32_t i = 0;
    for (; i < segment->value_count && graph->values[first + i].opcode == LLVMPHI; i++)
        values[i] = phi_value(thread, &graph->values[first + i]);
    for (uint32_t phi = 0; phi < i; phi++)
        thread->values[first + phi] = values[phi];
    for (; i < segment->value_count; i++) {
        const struct tr_value *value = &graph->values[first + i];
        if (!has_result(value))
            continue;
        values[i] = cut(evaluate(thread, value), width_of(value->llvm));
        thread->values[first + i] = values[i];
    }
}

/* TR_NONE: the thread ends. */
static uint32_t next_segment(const struct thread *thread, const struct tr_segment *segment)
{
    const struct tr_graph *graph = thread->interpreter->graph;
    if (segment->succ_count == 0)
        return TR_NONE;
    if (segment->succ_count == 1)
        return segment->succs[0];
    LLVMValueRef branch = graph->values[segment->first_value + segment->value_count - 1].llvm;
    uint64_t condition = operand(thread, branch, 0);
    if (LLVMGetInstructionOpcode(branch) == LLVMBr)
        return segment->succs[condition != 0 ? 0 : 1];
    for (unsigned i = 1; i < segment->succ_count; i++)
        if (LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(branch, i)) == condition)
            return segment->succs[i];
    return segment->succs[0];
}

/* Loops that are entered begin with iteration 0; coming back to the header begins the next. */
static void count_iterations(struct thread *thread, uint32_t from, uint32_t to)
{
    const struct tr_loops *loops = thread->interpreter->loops;
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct tr_set *in = &loops->loops[l].segments;
        if (!tr_set_has(in, to))
            continue;
        if (from == TR_NONE || !tr_set_has(in, from))
            thread->iteration[l] = 0;
        else if (loops->loops[l].header == to)
            thread->iteration[l]++;
    }
}

static void note_instance(const struct thread *thread, uint32_t segment, struct instance *at)
{
    const struct tr_loops *loops = thread->interpreter->loops;
    *at = (struct instance){.segment = segment};
    for (uint32_t l = loops->innermost[segment]; l != TR_NONE; l = loops->loops[l].parent)
        if (loops->loops[l].depth <= TRACE_DEPTH)
            at->iteration[loops->loops[l].depth - 1] = thread->iteration[l];
}

void interpret(const struct interpreter *interpreter, struct trace *trace)
{
    const struct tr_graph *graph = interpreter->graph;
    struct thread thread = {.interpreter = interpreter, .trace = trace, .previous = TR_NONE};
    thread.values = pxr_arena_alloc_array(interpreter->arena, graph->value_count, 8);
    thread.iteration = pxr_arena_alloc_array(interpreter->arena, interpreter->loops->count, 4);
    for (uint32_t v = 0; interpreter->arguments != NULL && v < graph->value_count; v++)
        thread.values[v] = interpreter->arguments[v];
    const uint32_t *block = interpreter->block;
    trace->linear = trace->tid[0] + block[0] * (trace->tid[1] + block[1] * trace->tid[2]);
    uint32_t segment = 0;
    while (segment != TR_NONE && trace->step_count < TRACE_STEPS) {
        const struct tr_segment *at = &graph->segments[segment];
        struct step *step = &trace->steps[trace->step_count++];
        count_iterations(&thread, thread.previous, segment);
        note_instance(&thread, segment, &step->at);
        step->values = pxr_arena_alloc_array(interpreter->arena, at->value_count, 8);
        run_values(&thread, at, step->values);
        thread.previous = segment;
        segment = next_segment(&thread, at);
    }
    trace->is_cut = segment != TR_NONE;
}

bool is_same_instance(const struct instance *a, const struct instance *b)
{
    return a->segment == b->segment && memcmp(a, b, sizeof *a) == 0;
}
