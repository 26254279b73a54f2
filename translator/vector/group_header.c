/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of a loop over groups (plan/groups.h) where all lanes are expected to be of one. From
 * one vector to the next the group is mostly the same, and so is all that follows from its
 * quotients: as long as the first lane's place is in the row, it is not computed again.
 */
#include "translator/analysis/shape.h"
#include "translator/module/marks.h"
#include "translator/vector/control.h"

struct header {
    struct tr_control *control;
    struct tr_widen *widen;
    uint32_t first, end;   /* values, without phis and the branch */
    bool *is_kept;         /* by value from `first` on: it follows from quotients */
    LLVMValueRef *kept;    /* allocas of those */
    LLVMValueRef is_valid; /* alloca: they have been computed in this nest */
};

static const struct tr_value *value_at(const struct header *header, uint32_t number)
{
    return &header->widen->iteration->graph.values[number];
}

static bool is_uniform(const struct header *header, uint32_t number)
{
    return header->widen->iteration->shapes.values[number].kind == TR_UNIFORM;
}

static bool is_first_place(const struct header *header, uint32_t number)
{
    return number >= header->first && number < header->end &&
           tr_is_marked(value_at(header, number)->llvm, TR_MARK_GROUP_PLACE);
}

static bool is_quotient(const struct tr_value *value)
{
    return value->opcode == LLVMUDiv || value->opcode == LLVMSDiv || value->opcode == LLVMLShr;
}

/* Whether the operand is the same as long as the group is. */
static bool stays(const struct header *header, const struct tr_value *value, uint32_t operand)
{
    uint32_t number = value->operands[operand];
    if (number == TR_NONE || value_at(header, number)->segment == TR_NONE)
        return true;
    if (is_first_place(header, number))
        return is_quotient(value) && operand == 0;
    return number >= header->first && number < header->end &&
           header->is_kept[number - header->first];
}

static bool follows_from_quotients(const struct header *header, uint32_t number)
{
    const struct tr_value *value = value_at(header, number);
    if (!is_uniform(header, number) || is_first_place(header, number) ||
        !tr_is_function_of_operands(value) || value->opcode == LLVMLoad)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!stays(header, value, i))
            return false;
    return true;
}

/* ---- where it is kept ---- */

/* What an earlier nest or block of threads has left means nothing here. */
static void invalidate(const struct header *header)
{
    const struct tr_widen *widen = header->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMValueRef first = LLVMGetFirstInstruction(widen->entry);
    if (first != NULL)
        LLVMPositionBuilderBefore(b, first);
    else
        LLVMPositionBuilderAtEnd(b, widen->entry);
    LLVMBuildStore(b, LLVMConstInt(widen->i1, 0, false), header->is_valid);
    LLVMPositionBuilderAtEnd(b, here);
}

static void build_variables(struct header *header)
{
    for (uint32_t v = header->first; v < header->end; v++)
        if (header->is_kept[v - header->first])
            header->kept[v - header->first] =
                tr_memory_variable(header->widen, LLVMTypeOf(value_at(header, v)->llvm), "kept");
    header->is_valid = tr_memory_variable(header->widen, header->widen->i1, "is_kept");
    invalidate(header);
}

/* ---- the two ways ---- */

static LLVMValueRef *copy_of_now(const struct header *header)
{
    struct tr_widen *widen = header->widen;
    size_t count = (size_t)(header->end - header->first) * widen->copies;
    LLVMValueRef *copy = pxr_arena_alloc_array(&header->control->arena, count, sizeof *copy);
    header->control->is_out_of_memory |= copy == NULL;
    for (size_t i = 0; copy != NULL && i < count; i++)
        copy[i] = widen->now[(size_t)header->first * widen->copies + i];
    return copy;
}

static void emit_from_kept(const struct header *header)
{
    struct tr_widen *widen = header->widen;
    for (uint32_t v = header->first; v < header->end; v++) {
        LLVMTypeRef type = LLVMTypeOf(value_at(header, v)->llvm);
        if (header->is_kept[v - header->first])
            tr_widen_define(
                widen, v, 0,
                LLVMBuildLoad2(widen->builder, type, header->kept[v - header->first], ""));
        else
            tr_control_instruction(widen, v);
    }
}

static void emit_anew(const struct header *header)
{
    struct tr_widen *widen = header->widen;
    for (uint32_t v = header->first; v < header->end; v++) {
        tr_control_instruction(widen, v);
        if (header->is_kept[v - header->first])
            LLVMBuildStore(widen->builder, widen->now[v * widen->copies],
                           header->kept[v - header->first]);
    }
    LLVMBuildStore(widen->builder, LLVMConstInt(widen->i1, 1, false), header->is_valid);
}

/* i1: whether the first lane's places are in the rows whose quotients have been kept. */
static LLVMValueRef is_in_rows(const struct header *header)
{
    struct tr_widen *widen = header->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef is_known = LLVMBuildLoad2(b, widen->i1, header->is_valid, "");
    for (uint32_t v = header->first; v < header->end; v++) {
        const struct tr_value *value = value_at(header, v);
        bool is_shift = value->opcode == LLVMLShr;
        if (!is_quotient(value) || value->operands[0] == TR_NONE ||
            !is_first_place(header, value->operands[0]))
            continue;
        LLVMValueRef place = tr_widen_scalar(widen, LLVMGetOperand(value->llvm, 0), 0);
        LLVMValueRef divisor = tr_widen_scalar(widen, LLVMGetOperand(value->llvm, 1), 0);
        LLVMValueRef quotient = widen->now[v * widen->copies];
        LLVMValueRef one = LLVMConstInt(LLVMTypeOf(divisor), 1, false);
        LLVMValueRef length = is_shift ? LLVMBuildShl(b, one, divisor, "") : divisor;
        LLVMValueRef start = LLVMBuildMul(b, quotient, length, "");
        LLVMValueRef is_in_row =
            LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, place, start, ""), length, "");
        is_known = LLVMBuildAnd(b, is_known, is_in_row, "");
    }
    return is_known;
}

/* At the beginning of a block to which control has come from these two: the header's values. */
static void merge(const struct header *header, LLVMBasicBlockRef *from, LLVMValueRef *const *ways)
{
    struct tr_widen *widen = header->widen;
    size_t count = (size_t)(header->end - header->first) * widen->copies;
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef values[2] = {ways[0][i], ways[1][i]};
        if (values[0] == NULL || values[0] == values[1])
            continue;
        LLVMValueRef phi = LLVMBuildPhi(widen->builder, LLVMTypeOf(values[0]), "");
        LLVMAddIncoming(phi, values, from, 2);
        widen->now[(size_t)header->first * widen->copies + i] = phi;
    }
}

static void emit_or_keep(struct header *header)
{
    struct tr_widen *widen = header->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMBasicBlockRef anew = tr_widen_new_block(widen, "row");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "in_row");
    LLVMBasicBlockRef from[2];
    LLVMValueRef *ways[2];
    build_variables(header);
    emit_from_kept(header);
    ways[0] = copy_of_now(header);
    LLVMValueRef is_known = is_in_rows(header);
    from[0] = LLVMGetInsertBlock(b);
    LLVMBuildCondBr(b, is_known, meet, anew);
    LLVMPositionBuilderAtEnd(b, anew);
    emit_anew(header);
    ways[1] = copy_of_now(header);
    from[1] = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, meet);
    LLVMPositionBuilderAtEnd(b, meet);
    if (!header->control->is_out_of_memory)
        merge(header, from, ways);
}

/* What a question and a branch take, and variables in memory: a few divisions. Times are as in
 * module/figures.def. */
#define PRICE_OF_KEEPING 20.0

static bool is_worth_keeping(const struct header *header)
{
    double divisions = 0;
    for (uint32_t v = header->first; v < header->end; v++)
        divisions += header->is_kept[v - header->first] &&
                     tr_arithmetic_of(value_at(header, v)->llvm) == TR_ARITHMETIC_INTEGER_DIVIDE;
    return divisions * header->widen->iteration->target->figures.integer_divide >= PRICE_OF_KEEPING;
}

static void emit_plainly(const struct header *header)
{
    for (uint32_t v = header->first; v < header->end; v++)
        tr_control_instruction(header->widen, v);
}

/* ---- the face ---- */

void tr_control_emit_group_header(struct tr_control *control, uint32_t segment)
{
    const struct tr_iteration *iteration = control->iteration;
    const struct tr_segment *s = &iteration->graph.segments[segment];
    uint32_t phis = tr_control_phi_count(iteration, segment);
    struct header header = {.control = control,
                            .widen = control->widen,
                            .first = s->first_value + phis,
                            .end = s->first_value + s->value_count - 1};
    uint32_t count = header.end - header.first;
    header.is_kept = pxr_arena_alloc_array(&control->arena, count, sizeof *header.is_kept);
    header.kept = pxr_arena_alloc_array(&control->arena, count, sizeof *header.kept);
    if (header.is_kept == NULL || header.kept == NULL) {
        control->is_out_of_memory = true;
        return;
    }
    for (uint32_t v = header.first; v < header.end; v++)
        header.is_kept[v - header.first] = follows_from_quotients(&header, v);
    if (is_worth_keeping(&header))
        emit_or_keep(&header);
    else
        emit_plainly(&header);
}
