/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/barriers/lane_conditions.h"

bool tr_is_true(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) != 0;
}

bool tr_compare_numbers(LLVMIntPredicate predicate, uint64_t a, uint64_t b, unsigned unused_bits)
{
    int64_t x = (int64_t)(a << unused_bits), y = (int64_t)(b << unused_bits);
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntUGT:
        return a > b;
    case LLVMIntUGE:
        return a >= b;
    case LLVMIntULT:
        return a < b;
    case LLVMIntULE:
        return a <= b;
    case LLVMIntSGT:
        return x > y;
    case LLVMIntSGE:
        return x >= y;
    case LLVMIntSLT:
        return x < y;
    default:
        return x <= y;
    }
}

bool tr_is_same_in_lanes(const struct tr_lane_values *values)
{
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        if (values->of[lane] != values->of[0])
            return false;
    return true;
}

static bool is_select_of(LLVMOpcode opcode, LLVMValueRef condition)
{
    unsigned way = opcode == LLVMAnd ? 2 : 1;
    LLVMValueRef value = LLVMIsAConstantInt(LLVMGetOperand(condition, way));
    return value != NULL && tr_is_true(value) == (opcode == LLVMOr);
}

LLVMOpcode tr_junction_of(LLVMValueRef condition, LLVMValueRef *other)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    bool is_select = opcode == LLVMSelect;
    if (is_select)
        opcode = is_select_of(LLVMAnd, condition) ? LLVMAnd : LLVMOr;
    if ((opcode != LLVMAnd && opcode != LLVMOr) || (is_select && !is_select_of(opcode, condition)))
        return 0;
    *other = LLVMGetOperand(condition, is_select && opcode == LLVMOr ? 2 : 1);
    return opcode;
}

LLVMValueRef tr_end_of(const struct tr_graph *graph, uint32_t s)
{
    const struct tr_segment *segment = &graph->segments[s];
    return graph->values[segment->first_value + segment->value_count - 1].llvm;
}

bool tr_is_parting(const struct tr_graph *graph, uint32_t s)
{
    const struct tr_segment *segment = &graph->segments[s];
    return segment->succ_count == 2 && segment->succs[0] != segment->succs[1] &&
           LLVMGetInstructionOpcode(tr_end_of(graph, s)) == LLVMBr;
}
