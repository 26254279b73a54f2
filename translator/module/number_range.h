/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of short integers: those that fit 32 bits, and what is computed from two of them.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_NUMBER_RANGE_H
#define PTXRUN_TRANSLATOR_MODULE_NUMBER_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* A value as a mathematical number: that of its bits with or without sign, whichever is in the
 * range. Zeroed: nothing is known. */
struct tr_number_range {
    int64_t low, high;
    bool is_known;
};

static inline struct tr_number_range tr_range_from(int64_t low, int64_t high)
{
    return (struct tr_number_range){low, high, true};
}

static inline bool tr_fits_unsigned(struct tr_number_range range, unsigned bits)
{
    return range.is_known && range.low >= 0 && range.high < INT64_C(1) << bits;
}

static inline bool tr_fits_signed(struct tr_number_range range, unsigned bits)
{
    int64_t limit = INT64_C(1) << (bits - 1);
    return range.is_known && range.low >= -limit && range.high < limit;
}

static inline bool tr_fits(struct tr_number_range range, unsigned bits)
{
    return tr_fits_unsigned(range, bits) || tr_fits_signed(range, bits);
}

/* Of a binary operation on integers of so many bits, before the result is cut to them. Both ranges
 * are known; that of the result may not be. */
struct tr_number_range tr_range_of_operation(LLVMOpcode opcode, struct tr_number_range a,
                                             struct tr_number_range b, unsigned bits);

/* Of the lesser of two numbers, the greater, either, and the absolute one; known ones. */
struct tr_number_range tr_range_of_least(struct tr_number_range a, struct tr_number_range b);
struct tr_number_range tr_range_of_most(struct tr_number_range a, struct tr_number_range b);
struct tr_number_range tr_range_of_either(struct tr_number_range a, struct tr_number_range b);
struct tr_number_range tr_range_of_absolute(struct tr_number_range a);

#endif
