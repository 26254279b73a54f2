/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/number_range.h"

static struct tr_number_range product(struct tr_number_range a, struct tr_number_range b)
{
    int64_t ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    struct tr_number_range range = tr_range_from(ends[0], ends[0]);
    for (unsigned i = 1; i < 4; i++) {
        range.low = ends[i] < range.low ? ends[i] : range.low;
        range.high = ends[i] > range.high ? ends[i] : range.high;
    }
    return range;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All bits up to the highest of either. */
static struct tr_number_range range_of_bits(struct tr_number_range a, struct tr_number_range b)
{
    int64_t high = 1;
    while (high <= a.high || high <= b.high)
        high *= 2;
    return tr_range_from(0, high - 1);
}

static struct tr_number_range range_of_shift(LLVMOpcode opcode, struct tr_number_range a,
                                             struct tr_number_range b, unsigned bits)
{
    if (b.low != b.high || b.low < 0 || b.low >= bits || (opcode == LLVMLShr && a.low < 0))
        return (struct tr_number_range){0};
    return opcode == LLVMShl ? product(a, tr_range_from(INT64_C(1) << b.low, INT64_C(1) << b.low))
                             : tr_range_from(a.low >> b.low, a.high >> b.low);
}

struct tr_number_range tr_range_of_operation(LLVMOpcode opcode, struct tr_number_range a,
                                             struct tr_number_range b, unsigned bits)
{
    bool is_positive = a.low >= 0 && b.low >= 0;
    switch (opcode) {
    case LLVMAdd:
        return tr_range_from(a.low + b.low, a.high + b.high);
    case LLVMSub:
        return tr_range_from(a.low - b.high, a.high - b.low);
    case LLVMMul:
        return product(a, b);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return range_of_shift(opcode, a, b, bits);
    case LLVMAnd:
        return is_positive ? tr_range_from(0, least(a.high, b.high)) : (struct tr_number_range){0};
    case LLVMOr:
    case LLVMXor:
        return is_positive ? range_of_bits(a, b) : (struct tr_number_range){0};
    default:
        return (struct tr_number_range){0};
    }
}

struct tr_number_range tr_range_of_least(struct tr_number_range a, struct tr_number_range b)
{
    return tr_range_from(least(a.low, b.low), least(a.high, b.high));
}

struct tr_number_range tr_range_of_most(struct tr_number_range a, struct tr_number_range b)
{
    return tr_range_from(most(a.low, b.low), most(a.high, b.high));
}

struct tr_number_range tr_range_of_either(struct tr_number_range a, struct tr_number_range b)
{
    return tr_range_from(least(a.low, b.low), most(a.high, b.high));
}

struct tr_number_range tr_range_of_absolute(struct tr_number_range a)
{
    return a.low >= 0 ? a : tr_range_from(0, most(-a.low, a.high));
}
