/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/trips.h"

#include <stddef.h>

#include "translator/module/relation.h"

/* Counters stay far from where arithmetic on 64 bits would wrap. */
#define FAR (INT64_C(1) << 61)

static bool is_constant(LLVMValueRef value, int64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return *constant < FAR && *constant > -FAR;
}

/* Whether the value is the phi, or the phi and a constant. */
static bool is_from_phi(LLVMValueRef value, LLVMValueRef phi, int64_t *offset)
{
    *offset = 0;
    if (value == phi)
        return true;
    return LLVMIsABinaryOperator(value) != NULL && LLVMGetInstructionOpcode(value) == LLVMAdd &&
           LLVMGetOperand(value, 0) == phi && is_constant(LLVMGetOperand(value, 1), offset);
}

/* The incoming edge that adds a constant: the latch's. 2: there is none. */
static unsigned find_latch(LLVMValueRef phi, int64_t *step)
{
    if (LLVMCountIncoming(phi) != 2)
        return 2;
    for (unsigned i = 0; i < 2; i++)
        if (is_from_phi(LLVMGetIncomingValue(phi, i), phi, step) && *step != 0)
            return i;
    return 2;
}

static bool read_test(struct tr_counter *counter)
{
    LLVMValueRef compare = LLVMGetCondition(counter->branch);
    if (LLVMIsAICmpInst(compare) == NULL ||
        !is_from_phi(LLVMGetOperand(compare, 0), counter->phi, &counter->offset) ||
        !is_constant(LLVMGetOperand(compare, 1), &counter->limit))
        return false;
    LLVMBasicBlockRef header = LLVMGetInstructionParent(counter->phi);
    counter->goes_on = LLVMGetSuccessor(counter->branch, 0) == header;
    if (counter->goes_on == (LLVMGetSuccessor(counter->branch, 1) == header))
        return false;
    LLVMIntPredicate relation = LLVMGetICmpPredicate(compare);
    counter->relation = counter->goes_on ? relation : tr_relation_inverse(relation);
    return true;
}

bool tr_find_counter(LLVMValueRef phi, struct tr_counter *counter)
{
    *counter = (struct tr_counter){.phi = phi};
    if (LLVMIsAPHINode(phi) == NULL || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(phi)) > 64)
        return false;
    unsigned latch = find_latch(phi, &counter->step);
    if (latch == 2)
        return false;
    counter->start = LLVMGetIncomingValue(phi, 1 - latch);
    counter->branch = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, latch));
    return LLVMIsABranchInst(counter->branch) != NULL && LLVMIsConditional(counter->branch) &&
           read_test(counter);
}

/* ---- arithmetic ---- */

static bool is_unsigned(LLVMIntPredicate relation)
{
    return relation >= LLVMIntUGT && relation <= LLVMIntULE;
}

/* How often the loop goes on: the first k for which first + k * step is not in the relation to the
 * limit. -1: not for any. */
static int64_t times_gone_on(LLVMIntPredicate relation, int64_t first, int64_t step, int64_t limit)
{
    switch (relation) {
    case LLVMIntSLE:
    case LLVMIntULE:
        limit++;
        break;
    case LLVMIntSGE:
    case LLVMIntUGE:
        limit--;
        break;
    case LLVMIntNE:
        return (limit - first) % step == 0 ? (limit - first) / step : -1;
    case LLVMIntEQ:
        return first == limit;
    default:
        break;
    }
    bool is_upwards = relation == LLVMIntSLT || relation == LLVMIntSLE || relation == LLVMIntULT ||
                      relation == LLVMIntULE;
    int64_t way = is_upwards ? limit - first : first - limit;
    int64_t by = is_upwards ? step : -step;
    if (way <= 0)
        return 0;
    return by <= 0 ? -1 : (way + by - 1) / by;
}

/* Whether the number means the same, signed or not as the relation reads it, in so many bits. */
static bool fits(int64_t number, unsigned width, bool is_without_sign)
{
    int64_t end = width >= 62 ? FAR : INT64_C(1) << (width - 1);
    return number < end && number >= (is_without_sign ? 0 : -end);
}

uint64_t tr_trips_from(const struct tr_counter *counter, int64_t start)
{
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(counter->phi));
    bool is_without_sign = is_unsigned(counter->relation);
    int64_t first = start + counter->offset;
    if (start >= FAR || start <= -FAR || !fits(first, width, is_without_sign) ||
        !fits(counter->limit, width, is_without_sign))
        return 0;
    int64_t times = times_gone_on(counter->relation, first, counter->step, counter->limit);
    if (times < 0 || times > FAR / 2 / (counter->step < 0 ? -counter->step : counter->step) ||
        !fits(first + times * counter->step, width, is_without_sign))
        return 0;
    return (uint64_t)times + 1;
}
