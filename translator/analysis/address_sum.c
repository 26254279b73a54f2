/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums: one walk over the instructions that compute an address, which can be told how far to go.
 * All of it is arithmetic modulo a power of two, so that nothing depends on wrapping.
 */
#include "translator/analysis/address.h"

#include <llvm-c/Core.h>

#include "translator/module/sregs.h"

/* Steps for one address: they grow exponentially where sums are added to themselves. */
#define STEPS_MAX 128

struct walk {
    const struct tr_sum_query *query;
    struct tr_sum *sum;
    uint32_t steps;
    bool is_stuck; /* it does not have this form */
};

static bool is_through(const struct walk *walk, unsigned through)
{
    return (walk->query->through & through) == through;
}

/* 0: neither an integer nor a pointer. */
static unsigned width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool get_constant(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || width_of(value) > 64)
        return false;
    *constant = (uint64_t)LLVMConstIntGetSExtValue(value);
    return true;
}

/* ---- terms ---- */

static uint32_t most_terms(const struct tr_sum_query *query)
{
    return query->most_terms == 0 ? TR_SUM_TERMS : query->most_terms;
}

static void add_term(struct walk *walk, LLVMValueRef index, uint64_t factor)
{
    struct tr_sum *sum = walk->sum;
    uint32_t at = 0;
    sum->addends++;
    bool is_gathered = is_through(walk, TR_THROUGH_SUMS);
    while (at < sum->count && (!is_gathered || sum->terms[at].index != index))
        at++;
    if (at < sum->count)
        sum->terms[at].factor += factor;
    else if (at == most_terms(walk->query) || LLVMIsUndef(index))
        walk->is_stuck = true;
    else
        sum->terms[sum->count++] = (struct tr_term){.index = index, .factor = factor};
}

static void add_constant(struct walk *walk, uint64_t constant)
{
    walk->sum->addends++;
    walk->sum->offset += constant;
}

/* Adds a value that is not taken apart. */
static void add_leaf(struct walk *walk, LLVMValueRef value, uint64_t factor)
{
    bool is_number = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
    if (!is_number && !is_through(walk, TR_THROUGH_CONVERSIONS))
        walk->sum->base = value;
    else
        add_term(walk, value, factor);
}

static void add_value(struct walk *walk, LLVMValueRef value, uint64_t factor);

/* ---- special registers ---- */

int tr_tid_dimension(LLVMValueRef value)
{
    return tr_sreg_axis(value, TR_QUANTITY_THREAD_INDEX);
}

/* The block's size in some dimension, if the value is one and it is known. */
static bool get_block_size(const struct walk *walk, LLVMValueRef value, uint64_t *size)
{
    int d =
        is_through(walk, TR_THROUGH_REGISTERS) ? tr_sreg_axis(value, TR_QUANTITY_BLOCK_SIZE) : -1;
    *size = d >= 0 ? walk->query->block[d] : 0;
    return *size != 0;
}

static bool add_register(struct walk *walk, LLVMValueRef call, uint64_t factor)
{
    uint64_t size;
    int tid = tr_tid_dimension(call);
    int ctaid = tr_sreg_axis(call, TR_QUANTITY_BLOCK_INDEX);
    if (!is_through(walk, TR_THROUGH_REGISTERS))
        return false;
    if (tid >= 0)
        walk->sum->tid[tid] += walk->query->block[tid] == 1 ? 0 : factor; /* there it is 0 */
    else if (ctaid >= 0)
        walk->sum->ctaid[ctaid] += factor;
    else if (get_block_size(walk, call, &size))
        walk->sum->offset += factor * size;
    else
        return false;
    return true;
}

/* ---- instructions. False: not taken apart. ---- */

static bool is_taken_apart(const struct walk *walk, LLVMValueRef sum)
{
    return is_through(walk, TR_THROUGH_SUMS) || LLVMIsAConstantInt(LLVMGetOperand(sum, 1)) != NULL;
}

static bool add_sum(struct walk *walk, LLVMValueRef inst, uint64_t factor)
{
    if (!is_taken_apart(walk, inst))
        return false;
    add_value(walk, LLVMGetOperand(inst, 0), factor);
    add_value(walk, LLVMGetOperand(inst, 1), factor);
    return true;
}

static bool add_difference(struct walk *walk, LLVMValueRef inst, uint64_t factor)
{
    if (!is_through(walk, TR_THROUGH_SUMS | TR_THROUGH_PRODUCTS))
        return false;
    add_value(walk, LLVMGetOperand(inst, 0), factor);
    add_value(walk, LLVMGetOperand(inst, 1), -factor);
    return true;
}

static bool add_product(struct walk *walk, LLVMValueRef inst, uint64_t factor)
{
    uint64_t by = 0;
    bool is_shift = LLVMGetInstructionOpcode(inst) == LLVMShl;
    LLVMValueRef right = LLVMGetOperand(inst, 1);
    if (!is_through(walk, TR_THROUGH_PRODUCTS) ||
        (!get_constant(right, &by) && (is_shift || !get_block_size(walk, right, &by))) ||
        (is_shift && by >= walk->sum->bits))
        return false;
    add_value(walk, LLVMGetOperand(inst, 0), factor * (is_shift ? UINT64_C(1) << by : by));
    return true;
}

static bool add_conversion(struct walk *walk, LLVMValueRef inst, uint64_t factor)
{
    unsigned from = width_of(LLVMGetOperand(inst, 0));
    if (!is_through(walk, TR_THROUGH_CONVERSIONS) || (from != 32 && from != 64))
        return false;
    add_value(walk, LLVMGetOperand(inst, 0), factor);
    return true;
}

/* Adds the indices of a GEP. */
static bool add_indices(struct walk *walk, LLVMValueRef gep, uint64_t factor)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    unsigned count = (unsigned)LLVMGetNumOperands(gep);
    for (unsigned i = 1; i < count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            walk->sum->offset += factor * LLVMOffsetOfElement(walk->query->layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if ((i > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind) || width_of(index) == 0)
            walk->is_stuck = true;
        if (walk->is_stuck)
            return false;
        if (i > 1)
            type = LLVMGetElementType(type);
        add_value(walk, index, factor * LLVMABISizeOfType(walk->query->layout, type));
    }
    return !walk->is_stuck;
}

/* Takes a GEP apart; one with too many indices stays a pointer. */
static bool add_gep(struct walk *walk, LLVMValueRef gep, uint64_t factor)
{
    struct tr_sum before = *walk->sum;
    if (add_indices(walk, gep, factor))
        add_value(walk, LLVMGetOperand(gep, 0), factor);
    if (!walk->is_stuck)
        return true;
    *walk->sum = before;
    walk->is_stuck = false;
    return false;
}

static bool add_instruction(struct walk *walk, LLVMValueRef inst, LLVMOpcode opcode,
                            uint64_t factor)
{
    switch (opcode) {
    case LLVMOr: /* without common bits it is a sum */
        return LLVMGetIsDisjoint(inst) && add_sum(walk, inst, factor);
    case LLVMAdd:
        return add_sum(walk, inst, factor);
    case LLVMSub:
        return add_difference(walk, inst, factor);
    case LLVMMul:
    case LLVMShl:
        return add_product(walk, inst, factor);
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return add_conversion(walk, inst, factor);
    case LLVMGetElementPtr:
        return add_gep(walk, inst, factor);
    case LLVMCall:
        return add_register(walk, inst, factor);
    default:
        return false;
    }
}

/* Adds a value. Narrow numbers wrap on their own: they are terms as a whole, or, modulo 2^32, not
 * allowed. */
static void add_value(struct walk *walk, LLVMValueRef value, uint64_t factor)
{
    uint64_t constant;
    unsigned width = width_of(value);
    bool is_modular = is_through(walk, TR_THROUGH_CONVERSIONS);
    LLVMOpcode opcode = 0;
    if (LLVMIsAInstruction(value) != NULL)
        opcode = LLVMGetInstructionOpcode(value);
    else if (LLVMIsAConstantExpr(value) != NULL)
        opcode = LLVMGetConstOpcode(value) == LLVMGetElementPtr ? LLVMGetElementPtr : 0;
    if (++walk->steps > STEPS_MAX || (is_modular && width != 32 && width != 64))
        walk->is_stuck = true;
    else if (get_constant(value, &constant))
        add_constant(walk, factor * constant);
    else if ((width != 64 && !is_modular) || !add_instruction(walk, value, opcode, factor))
        add_leaf(walk, value, factor);
}

/* ---- the sum ---- */

static uint64_t low_bits(const struct tr_sum *sum, uint64_t number)
{
    return sum->bits == 64 ? number : (uint32_t)number;
}

static void reduce(struct tr_sum *sum)
{
    uint32_t kept = 0;
    sum->offset = low_bits(sum, sum->offset);
    for (int d = 0; d < 3; d++) {
        sum->tid[d] = low_bits(sum, sum->tid[d]);
        sum->ctaid[d] = low_bits(sum, sum->ctaid[d]);
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        struct tr_term term = sum->terms[i];
        term.factor = low_bits(sum, term.factor);
        if (term.factor != 0)
            sum->terms[kept++] = term;
    }
    sum->count = kept;
}

void tr_sum_of(const struct tr_sum_query *query, LLVMValueRef address, struct tr_sum *sum)
{
    struct walk walk = {.query = query, .sum = sum};
    *sum = (struct tr_sum){.bits = is_through(&walk, TR_THROUGH_CONVERSIONS) ? 32 : 64};
    add_value(&walk, address, 1);
    sum->is_known = !walk.is_stuck;
    reduce(sum);
}

static uint32_t count_of(const struct tr_sum *sum, const struct tr_term *term)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sum->count; i++)
        count += sum->terms[i].index == term->index && sum->terms[i].factor == term->factor;
    return count;
}

bool tr_has_same_terms(const struct tr_sum *a, const struct tr_sum *b)
{
    if (!a->is_known || !b->is_known || a->bits != b->bits || a->base != b->base ||
        a->count != b->count || memcmp(a->ctaid, b->ctaid, sizeof a->ctaid) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (count_of(a, &a->terms[i]) != count_of(b, &a->terms[i]))
            return false;
    return true;
}

bool tr_sum_distance(const struct tr_sum *a, const struct tr_sum *b, int64_t *bytes)
{
    if (!tr_has_same_terms(a, b) || memcmp(a->tid, b->tid, sizeof a->tid) != 0)
        return false;
    *bytes = (int64_t)(b->offset - a->offset);
    return true;
}
