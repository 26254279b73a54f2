/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that are to neighbours in memory where no lane is at a border: programs limit an index
 * to the range of an array, `min(x + 1, last)`, and only the lanes at its ends are not neighbours
 * (memory/checked.c). A lane that is at the border often has nothing to do there.
 */
#include <string.h>

#include "translator/analysis/calls.h"
#include "translator/vector/plan/access.h"

struct finder {
    const struct tr_iteration *iteration;
    struct tr_checked *checked;
};

static bool add_parts(struct finder *finder, LLVMValueRef value, uint64_t factor,
                      struct tr_unclamped *parts);

static bool add_term(struct finder *finder, LLVMValueRef value, uint64_t factor,
                     struct tr_unclamped *parts)
{
    uint32_t number = tr_graph_number(&finder->iteration->graph, value);
    if (LLVMIsAConstantInt(value) != NULL) {
        parts->sum.offset += factor * (uint64_t)LLVMConstIntGetSExtValue(value);
        return true;
    }
    if (parts->sum.count == TR_SUM_TERMS)
        return false;
    parts->sum.terms[parts->sum.count++] = (struct tr_term){.index = value, .factor = factor};
    if (number != TR_NONE)
        parts->stride += (int64_t)factor * finder->iteration->shapes.values[number].stride;
    return true;
}

/* ---- limits ---- */

/* Names the operand that the call limits, and the limit that all lanes have in common. False: it is
 * no such call. */
static bool find_clamp(const struct tr_iteration *iteration, LLVMValueRef call,
                       struct tr_clamp *clamp, LLVMValueRef *limited)
{
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    bool is_clamp = len == 4 && (name[0] == 's' || name[0] == 'u') &&
                    (strncmp(name + 1, "min", 3) == 0 || strncmp(name + 1, "max", 3) == 0);
    if (!is_clamp)
        return false;
    clamp->is_signed = name[0] == 's';
    clamp->is_max = name[2] == 'a';
    for (unsigned operand = 0; operand < 2; operand++) {
        *limited = LLVMGetOperand(call, operand);
        clamp->limit = LLVMGetOperand(call, 1 - operand);
        if (tr_is_same_in_row(iteration, clamp->limit))
            return true;
    }
    return false;
}

static bool add_scaled(struct tr_unclamped *parts, const struct tr_unclamped *more, uint64_t factor)
{
    if (parts->sum.count + more->sum.count > TR_SUM_TERMS)
        return false;
    for (uint32_t i = 0; i < more->sum.count; i++) {
        parts->sum.terms[parts->sum.count] = more->sum.terms[i];
        parts->sum.terms[parts->sum.count++].factor *= factor;
    }
    parts->sum.offset += factor * more->sum.offset;
    parts->stride += (int64_t)factor * more->stride;
    return true;
}

/* Adds the number that is limited, as if it were not. */
static bool add_limited(struct finder *finder, LLVMValueRef limited, struct tr_clamp clamp,
                        uint64_t factor, struct tr_unclamped *parts)
{
    if (!add_parts(finder, limited, 1, &clamp.limited) || clamp.limited.stride <= 0 ||
        finder->checked->clamp_count == TR_CLAMPS)
        return false;
    finder->checked->clamps[finder->checked->clamp_count++] = clamp;
    return add_scaled(parts, &clamp.limited, factor);
}

static bool add_clamped(struct finder *finder, LLVMValueRef call, uint64_t factor,
                        struct tr_unclamped *parts)
{
    struct tr_clamp clamp = {0};
    LLVMValueRef limited;
    return find_clamp(finder->iteration, call, &clamp, &limited) &&
           add_limited(finder, limited, clamp, factor, parts);
}

/* a less b, but not below 0: what is left of the greater of both. */
static bool add_saturated(struct finder *finder, LLVMValueRef call, uint64_t factor,
                          struct tr_unclamped *parts)
{
    struct tr_clamp clamp = {.limit = LLVMGetOperand(call, 1), .is_max = true};
    return tr_is_same_in_row(finder->iteration, clamp.limit) &&
           add_limited(finder, LLVMGetOperand(call, 0), clamp, factor, parts) &&
           add_parts(finder, clamp.limit, -factor, parts);
}

static bool is_saturated(LLVMValueRef call)
{
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    return len == 8 && strncmp(name, "usub.sat", 8) == 0;
}

/* ---- arithmetic ---- */

static bool add_multiple(struct finder *finder, LLVMValueRef inst, uint64_t factor,
                         struct tr_unclamped *parts)
{
    LLVMValueRef right = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(right) == NULL)
        return false;
    uint64_t constant = LLVMConstIntGetZExtValue(right);
    bool is_shift = LLVMGetInstructionOpcode(inst) == LLVMShl;
    if (is_shift && constant > 31)
        return false;
    return add_parts(finder, LLVMGetOperand(inst, 0),
                     factor * (is_shift ? UINT64_C(1) << constant : constant), parts);
}

static bool add_instruction(struct finder *finder, LLVMValueRef inst, uint64_t factor,
                            struct tr_unclamped *parts)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    switch (opcode) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst))
            return false;
        break;
    case LLVMAdd:
    case LLVMSub:
        break;
    case LLVMMul:
    case LLVMShl:
        return add_multiple(finder, inst, factor, parts);
    case LLVMCall:
        return is_saturated(inst) ? add_saturated(finder, inst, factor, parts)
                                  : add_clamped(finder, inst, factor, parts);
    default:
        return false;
    }
    uint64_t of_right = opcode == LLVMSub ? -factor : factor;
    return add_parts(finder, LLVMGetOperand(inst, 0), factor, parts) &&
           add_parts(finder, LLVMGetOperand(inst, 1), of_right, parts);
}

/* Adds a value, without its limits, as multiples of what is a scalar in vector code. */
static bool add_parts(struct finder *finder, LLVMValueRef value, uint64_t factor,
                      struct tr_unclamped *parts)
{
    const struct tr_iteration *iteration = finder->iteration;
    uint32_t number = tr_graph_number(&iteration->graph, value);
    bool is_varying = number != TR_NONE && iteration->shapes.values[number].kind == TR_VARYING;
    if (!is_varying)
        return add_term(finder, value, factor, parts);
    return LLVMIsAInstruction(value) != NULL && add_instruction(finder, value, factor, parts);
}

bool tr_plan_find_clamped(const struct tr_iteration *iteration, struct tr_checked *checked)
{
    struct finder finder = {iteration, checked};
    LLVMValueRef index = checked->sum.terms[checked->term].index;
    bool is_zero_extended = LLVMIsAZExtInst(index) != NULL;
    bool is_extended = LLVMIsASExtInst(index) != NULL || is_zero_extended;
    checked->is_signed = !is_zero_extended || LLVMGetNNeg(index);
    checked->narrow = is_extended ? LLVMGetOperand(index, 0) : index;
    checked->unclamped = (struct tr_unclamped){0};
    uint32_t bits = LLVMGetIntTypeWidth(LLVMTypeOf(checked->narrow));
    if ((bits != 32 && bits != 64) ||
        !add_parts(&finder, checked->narrow, 1, &checked->unclamped) || checked->clamp_count == 0)
        return false;
    checked->stride = checked->unclamped.stride;
    return checked->stride > 0 && checked->stride < INT32_MAX / TR_MAX_LANES;
}
