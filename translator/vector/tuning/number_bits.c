/* SPDX-License-Identifier: Apache-2.0
 *
 * See number_bits.h. A rest is a multiple of a power of two that is greater than everything else
 * in the value, where it is added: nothing is carried, then or later, because all further
 * operations work on each bit.
 */
#include "translator/vector/tuning/number_bits.h"

#include <string.h>

#include "translator/module/low_zeros.h"

static uint64_t low_ones(int count)
{
    return count <= 0 ? 0 : count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

uint64_t tr_bits_places(const struct tr_bits *bits, int from, int to)
{
    return low_ones(to + bits->shift) & ~low_ones(from + bits->shift);
}

static int width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? (int)LLVMGetIntTypeWidth(type) : 0;
}

static bool read_constant(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || width_of(value) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

/* ---- multiples ---- */

/* Whether the value is a multiple of more than the bits can make. */
static bool is_above(LLVMValueRef value, const struct tr_bits *bits)
{
    uint64_t most = bits->mask | bits->ones;
    int length = most == 0 ? 0 : 64 - __builtin_clzll(most);
    return tr_low_zeros(value) >= length;
}

/* ---- one instruction ---- */

static struct tr_bits moved(struct tr_bits bits, int by)
{
    bits.shift += by;
    bits.mask = by >= 0 ? bits.mask << by : bits.mask >> -by;
    bits.ones = by >= 0 ? bits.ones << by : bits.ones >> -by;
    return bits;
}

static struct tr_bits within(struct tr_bits bits, uint64_t places)
{
    bits.mask &= places;
    bits.ones &= places;
    return bits;
}

/* With the other operand of a sum or an `or`. */
static struct tr_bits with(struct tr_bits bits, LLVMValueRef other, bool is_sum)
{
    uint64_t most = bits.mask | bits.ones;
    uint64_t constant = 0;
    bool is_constant = read_constant(other, &constant);
    bool is_below = most != 0 && constant >> (63 - __builtin_clzll(most)) == 0;
    if (is_constant && (most & constant) == 0 && (is_below || !bits.has_rest)) {
        bits.ones |= constant;
        return bits;
    }
    bits.are_known = is_above(other, &bits) && (is_sum || !bits.has_rest);
    bits.has_rest = true;
    return bits;
}

static struct tr_bits of_unary(const struct tr_value *value, struct tr_bits bits)
{
    int from = width_of(LLVMGetOperand(value->llvm, 0));
    if (value->opcode == LLVMSExt)
        bits.are_known = (bits.mask | bits.ones) >> (from - 1) == 0;
    if (value->opcode != LLVMTrunc)
        return bits;
    bits.is_cut |= bits.has_rest;
    return within(bits, low_ones(width_of(value->llvm)));
}

static struct tr_bits of_binary(const struct tr_value *value, struct tr_bits bits, bool is_first)
{
    LLVMValueRef other = LLVMGetOperand(value->llvm, is_first ? 1 : 0);
    int width = width_of(value->llvm);
    uint64_t constant = 0;
    if (value->opcode == LLVMAdd || value->opcode == LLVMOr)
        return with(bits, other, value->opcode == LLVMAdd);
    bits.are_known = is_first && read_constant(other, &constant);
    bits.is_cut |= bits.has_rest && value->opcode != LLVMShl;
    if (value->opcode == LLVMAnd)
        return within(bits, constant);
    bits.are_known &= constant < (uint64_t)width;
    int by = bits.are_known ? (int)constant : 0;
    return within(moved(bits, value->opcode == LLVMShl ? by : -by), low_ones(width));
}

/* ---- numbers that go on ---- */

/* What the phi's second value adds to it: i = first; …; i += step. NULL: it is none of these. */
static LLVMValueRef step_of(const struct tr_value *phi, uint32_t first)
{
    LLVMValueRef sum = LLVMGetIncomingValue(phi->llvm, 1 - first);
    if (LLVMIsAInstruction(sum) == NULL || LLVMGetInstructionOpcode(sum) != LLVMAdd)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (LLVMGetOperand(sum, i) == phi->llvm)
            return LLVMGetOperand(sum, 1 - i);
    return NULL;
}

/* Which of the phi's values it begins with; 2: it is no number that goes on from known bits. */
static uint32_t first_of_phi(const struct tr_number_bits *found, const struct tr_value *phi)
{
    for (uint32_t i = 0; i < 2 && phi->operand_count == 2; i++)
        if (phi->operands[i] != TR_NONE && found->bits[phi->operands[i]].are_known &&
            step_of(phi, i) != NULL)
            return i;
    return 2;
}

static struct tr_bits of_phi(const struct tr_number_bits *found, const struct tr_value *phi)
{
    static const struct tr_bits unknown = {0};
    uint32_t first = first_of_phi(found, phi);
    if (first == 2)
        return unknown;
    struct tr_bits bits = found->bits[phi->operands[first]];
    bits.are_known = is_above(step_of(phi, first), &bits);
    bits.has_rest = true;
    return bits;
}

/* ---- all values ---- */

static bool is_followed(uint32_t opcode)
{
    switch (opcode) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMAdd:
    case LLVMOr:
    case LLVMAnd:
    case LLVMShl:
    case LLVMLShr:
        return true;
    default:
        return false;
    }
}

static struct tr_bits bits_of(const struct tr_number_bits *found, const struct tr_value *value)
{
    static const struct tr_bits unknown = {0};
    int width = width_of(value->llvm);
    if (value->opcode == LLVMPHI)
        return of_phi(found, value);
    if (width == 0 || width > 64 || !is_followed(value->opcode))
        return unknown;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (operand == TR_NONE || !found->bits[operand].are_known)
            continue;
        return value->operand_count == 1 ? of_unary(value, found->bits[operand])
                                         : of_binary(value, found->bits[operand], i == 0);
    }
    return unknown;
}

enum pxr_status tr_number_bits_find(struct tr_graph *graph, LLVMValueRef number, int length,
                                    struct tr_number_bits *found, struct pxr_error *err)
{
    uint32_t count = graph->value_count;
    *found = (struct tr_number_bits){.graph = graph, .length = length};
    found->bits = pxr_arena_alloc_array(&graph->arena, count, sizeof *found->bits);
    found->rests = pxr_arena_alloc_array(&graph->arena, count, sizeof *found->rests);
    if (found->bits == NULL || found->rests == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    memset(found->bits, 0, count * sizeof *found->bits);
    memset(found->rests, 0, count * sizeof *found->rests);
    for (uint32_t v = 0; v < count; v++) {
        const struct tr_value *value = &graph->values[v];
        if (value->llvm == number)
            found->bits[v] = (struct tr_bits){.are_known = true, .mask = low_ones(length)};
        else if (value->opcode != 0)
            found->bits[v] = bits_of(found, value);
    }
    return PXR_OK;
}

/* ---- the rest ---- */

uint32_t tr_bits_source(const struct tr_number_bits *found, uint32_t number)
{
    const struct tr_value *value = &found->graph->values[number];
    if (value->opcode == 0)
        return TR_NONE;
    if (value->opcode == LLVMPHI)
        return value->operands[first_of_phi(found, value)];
    bool is_first = value->operands[0] != TR_NONE && found->bits[value->operands[0]].are_known;
    return value->operands[is_first ? 0 : 1];
}

/* The operand of a sum or an `or` that is added to the rest; NULL: there is none. */
static LLVMValueRef added_to(const struct tr_number_bits *found, uint32_t number)
{
    const struct tr_value *value = &found->graph->values[number];
    if (value->opcode != LLVMAdd && value->opcode != LLVMOr)
        return NULL;
    uint32_t source = tr_bits_source(found, number);
    bool is_constant_of_bits = found->bits[number].ones != found->bits[source].ones;
    return is_constant_of_bits ? NULL
                               : LLVMGetOperand(value->llvm, value->operands[0] == source ? 1 : 0);
}

uint32_t tr_bits_added(const struct tr_number_bits *found, uint32_t number)
{
    const struct tr_value *value = &found->graph->values[number];
    LLVMValueRef added = value->opcode == LLVMPHI ? step_of(value, first_of_phi(found, value))
                                                  : added_to(found, number);
    return added == NULL ? TR_NONE : tr_graph_number(found->graph, added);
}

/* rest = rest of the first; …; rest += step */
static LLVMValueRef build_phi(LLVMBuilderRef builder, struct tr_number_bits *found, uint32_t number)
{
    const struct tr_value *phi = &found->graph->values[number];
    uint32_t first = first_of_phi(found, phi);
    LLVMTypeRef type = LLVMTypeOf(phi->llvm);
    LLVMValueRef begin = tr_bits_build_rest(builder, found, phi->operands[first]);
    LLVMPositionBuilderBefore(builder, phi->llvm);
    LLVMValueRef rest = LLVMBuildPhi(builder, type, "rest");
    LLVMValueRef sum = LLVMGetIncomingValue(phi->llvm, 1 - first);
    LLVMPositionBuilderBefore(builder, sum);
    LLVMValueRef next = LLVMBuildAdd(builder, rest, step_of(phi, first), "");
    LLVMValueRef values[2] = {begin == NULL ? LLVMConstInt(type, 0, false) : begin, next};
    LLVMBasicBlockRef blocks[2] = {LLVMGetIncomingBlock(phi->llvm, first),
                                   LLVMGetIncomingBlock(phi->llvm, 1 - first)};
    LLVMAddIncoming(rest, values, blocks, 2);
    return rest;
}

/* What the instruction, which works on each bit, makes of the rest. */
static LLVMValueRef build_operation(LLVMBuilderRef builder, const struct tr_value *value,
                                    LLVMValueRef rest)
{
    LLVMTypeRef type = LLVMTypeOf(value->llvm);
    switch (value->opcode) {
    case LLVMZExt:
        return LLVMBuildZExt(builder, rest, type, "");
    case LLVMSExt:
        return LLVMBuildSExt(builder, rest, type, "");
    case LLVMTrunc:
        return LLVMBuildTrunc(builder, rest, type, "");
    case LLVMFreeze:
        return LLVMBuildFreeze(builder, rest, "");
    case LLVMAnd:
    case LLVMShl:
    case LLVMLShr:
        return LLVMBuildBinOp(builder, (LLVMOpcode)value->opcode, rest,
                              LLVMGetOperand(value->llvm, 1), "");
    default: /* a sum with a constant that is none of the rest's */
        return rest;
    }
}

LLVMValueRef tr_bits_build_rest(LLVMBuilderRef builder, struct tr_number_bits *found,
                                uint32_t number)
{
    const struct tr_value *value = &found->graph->values[number];
    if (!found->bits[number].has_rest)
        return NULL;
    if (found->rests[number] != NULL)
        return found->rests[number];
    if (value->opcode == LLVMPHI)
        return found->rests[number] = build_phi(builder, found, number);
    LLVMValueRef rest = tr_bits_build_rest(builder, found, tr_bits_source(found, number));
    LLVMValueRef added = added_to(found, number);
    LLVMPositionBuilderBefore(builder, value->llvm);
    if (added == NULL)
        rest = build_operation(builder, value, rest);
    else
        rest = rest == NULL ? added : LLVMBuildAdd(builder, rest, added, "");
    found->rests[number] = rest;
    return rest;
}
