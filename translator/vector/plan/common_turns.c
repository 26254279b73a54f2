/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons that come out alike in all lanes if a quotient does (common_quotients.c). Let all
 * lanes have one number q of turns,
 *
 *     q = (n - 1 - x) >> k,  0 <= x < 2^k.
 *
 * With i = x + 2^k * u, and u the same for all lanes, i < n is n - 1 - x >= 2^k * u, that is q >=
 * u: so lanes leave a loop in which i goes on by multiples of 2^k together. And n - 1 - x is less
 * than a multiple of 2^k for all lanes, or for none. Numbers that wrap change nothing: i stays
 * between two multiples of 2^k, and so on one side of where numbers begin anew.
 */
#include <llvm-c/Core.h>

#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

/* Values that are looked at to know what a number is made of. */
#define MOST_LOOKS 16
#define MOST_PHIS  4

struct turns {
    LLVMValueRef x;
    LLVMValueRef length;   /* n */
    LLVMValueRef dividend; /* n - 1 - x */
    uint32_t number;       /* the quotient's */
    unsigned digits;       /* k */
};

/* ---- numbers ---- */

/* Whether the low digits are zeros. */
static bool is_whole(uint64_t number, unsigned digits)
{
    return (number & ((UINT64_C(1) << digits) - 1)) == 0;
}

static bool is_multiple(LLVMValueRef value, unsigned digits)
{
    uint64_t constant = 0;
    if (tr_find_unsigned(value, &constant))
        return is_whole(constant, digits);
    return tr_is_opcode(value, LLVMShl) && tr_find_unsigned(LLVMGetOperand(value, 1), &constant) &&
           constant >= digits;
}

/* -1 - x */
static bool is_inverse(LLVMValueRef value, LLVMValueRef x)
{
    return tr_is_opcode(value, LLVMXor) && LLVMGetOperand(value, 0) == x &&
           LLVMIsAConstantInt(LLVMGetOperand(value, 1)) != NULL &&
           LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1)) == -1;
}

static bool find_turns(const struct tr_iteration *iteration, LLVMValueRef quotient,
                       struct turns *turns)
{
    uint64_t digits = 0;
    LLVMValueRef dividend = LLVMGetOperand(quotient, 0);
    LLVMValueRef x = iteration->graph.values[iteration->x].llvm;
    if (!tr_is_opcode(quotient, LLVMLShr) ||
        !tr_find_unsigned(LLVMGetOperand(quotient, 1), &digits) || digits >= 32 ||
        !tr_is_opcode(dividend, LLVMAdd))
        return false;
    bool is_second = is_inverse(LLVMGetOperand(dividend, 1), x);
    if (!is_second && !is_inverse(LLVMGetOperand(dividend, 0), x))
        return false;
    *turns = (struct turns){.x = x,
                            .length = LLVMGetOperand(dividend, is_second ? 0 : 1),
                            .dividend = dividend,
                            .number = tr_graph_number(&iteration->graph, quotient),
                            .digits = (unsigned)digits};
    return iteration->row_threads != 0 && iteration->row_threads <= UINT64_C(1) << digits;
}

/* ---- i ---- */

struct walk {
    const struct turns *turns;
    LLVMValueRef phis[MOST_PHIS]; /* that are being looked at */
    uint32_t phi_count;
    uint32_t looks;
};

static bool is_in_step(struct walk *walk, LLVMValueRef value);

static bool is_phi_in_step(struct walk *walk, LLVMValueRef phi)
{
    for (uint32_t i = 0; i < walk->phi_count; i++)
        if (walk->phis[i] == phi)
            return true;
    if (walk->phi_count == MOST_PHIS)
        return false;
    walk->phis[walk->phi_count++] = phi;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (!is_in_step(walk, LLVMGetIncomingValue(phi, i)))
            return false;
    return true;
}

/* Whether the value is x and a multiple of 2^k. */
static bool is_in_step(struct walk *walk, LLVMValueRef value)
{
    if (value == walk->turns->x)
        return true;
    if (LLVMIsAInstruction(value) == NULL || walk->looks == 0)
        return false;
    walk->looks--;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI:
        return is_phi_in_step(walk, value);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
        return is_in_step(walk, LLVMGetOperand(value, 0));
    case LLVMOr:
        if (!LLVMGetIsDisjoint(value))
            return false;
        /* fall through */
    case LLVMAdd:
        return is_multiple(LLVMGetOperand(value, 1), walk->turns->digits) &&
               is_in_step(walk, LLVMGetOperand(value, 0));
    default:
        return false;
    }
}

static bool is_place(const struct turns *turns, LLVMValueRef value)
{
    struct walk walk = {.turns = turns, .looks = MOST_LOOKS};
    return is_in_step(&walk, value);
}

/* ---- comparisons ---- */

static bool is_length(const struct turns *turns, LLVMValueRef value)
{
    bool is_extended = LLVMIsASExtInst(value) != NULL || LLVMIsAZExtInst(value) != NULL;
    return value == turns->length || (is_extended && LLVMGetOperand(value, 0) == turns->length);
}

/* The i of i < n, or of its opposite; NULL: it is another comparison. */
static LLVMValueRef place_of(const struct turns *turns, LLVMValueRef icmp)
{
    LLVMValueRef a = LLVMGetOperand(icmp, 0);
    LLVMValueRef b = LLVMGetOperand(icmp, 1);
    switch (LLVMGetICmpPredicate(icmp)) {
    case LLVMIntSLT:
    case LLVMIntSGE:
    case LLVMIntULT:
    case LLVMIntUGE:
        return is_length(turns, b) && is_place(turns, a) ? a : NULL;
    case LLVMIntSGT:
    case LLVMIntSLE:
    case LLVMIntUGT:
    case LLVMIntULE:
        return is_length(turns, a) && is_place(turns, b) ? b : NULL;
    default:
        return NULL;
    }
}

/* Whether n - 1 - x is compared with a multiple of 2^k. */
static bool is_of_dividend(const struct turns *turns, LLVMValueRef icmp)
{
    uint64_t constant = 0;
    if (LLVMGetOperand(icmp, 0) != turns->dividend ||
        !tr_find_unsigned(LLVMGetOperand(icmp, 1), &constant))
        return false;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    if (predicate == LLVMIntULT || predicate == LLVMIntUGE)
        return is_whole(constant, turns->digits);
    return (predicate == LLVMIntUGT || predicate == LLVMIntULE) &&
           is_whole(constant + 1, turns->digits);
}

void tr_mark_implied(const struct tr_iteration *iteration, const struct tr_expectations *expected,
                     bool *is_common)
{
    const struct tr_graph *graph = &iteration->graph;
    for (uint32_t i = 0; i < expected->common_count; i++) {
        struct turns turns;
        if (!find_turns(iteration, expected->common[i], &turns))
            continue;
        for (uint32_t v = turns.number + 1; v < graph->value_count; v++) {
            LLVMValueRef value = graph->values[v].llvm;
            if (graph->values[v].opcode == LLVMICmp)
                is_common[v] |= is_of_dividend(&turns, value) || place_of(&turns, value) != NULL;
        }
    }
}

/* Whether lanes differ in it as they do in x, or in nothing. */
static bool has_stride(const struct tr_iteration *iteration, LLVMValueRef value, int64_t stride)
{
    uint32_t number = tr_graph_number(&iteration->graph, value);
    if (number == TR_NONE)
        return stride == 0;
    struct tr_shape shape = iteration->shapes.values[number];
    return shape.kind == (stride == 0 ? TR_UNIFORM : TR_AFFINE) &&
           (stride == 0 || shape.stride == stride);
}

bool tr_holds_implied(const struct tr_iteration *iteration, const struct tr_expectations *expected)
{
    const struct tr_graph *graph = &iteration->graph;
    for (uint32_t i = 0; i < expected->common_count; i++) {
        struct turns turns;
        if (!find_turns(iteration, expected->common[i], &turns))
            continue;
        if (!has_stride(iteration, turns.length, 0))
            return false;
        for (uint32_t v = turns.number + 1; v < graph->value_count; v++) {
            LLVMValueRef value = graph->values[v].llvm;
            LLVMValueRef place =
                graph->values[v].opcode == LLVMICmp ? place_of(&turns, value) : NULL;
            if (place != NULL && !has_stride(iteration, place, 1))
                return false;
        }
    }
    return true;
}
