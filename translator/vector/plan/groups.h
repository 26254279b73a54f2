/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of threads that have the quotients of their places in common. Flat indices are taken
 * apart, `row = i / columns`, `column = i % columns`: along a row of the program the quotient is
 * the same for all, and elements at `a[row * pitch + column]` are neighbours. A vector of threads
 * lies in one such row, or in two, or in more of short ones. So what follows the quotients becomes
 * a loop, in which lanes go with the first of those that are left, and the others wait:
 *
 *     again:  first = the first lane's place; row = first / columns; column = place - row * columns
 *             if (column < columns && place >= first) { … the rest; done }
 *             if not done: again
 *
 * For a single thread that is true at once. For vectors `first` and the quotient are scalars, and
 * so is all that is made of them (iterations that are built with groups); others take each lane's
 * own place, and run the loop once.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_GROUPS_H
#define PTXRUN_TRANSLATOR_VECTOR_GROUPS_H

#include "translator/vector/plan/plan.h"

#define TR_MAX_QUOTIENTS 4
#define TR_MAX_DERIVED   8

struct tr_groups {
    uint32_t count;                       /* 0: none */
    uint32_t derived_count;               /* divisions whose numbers follow from the quotients … */
    LLVMValueRef derived[TR_MAX_DERIVED]; /* … behind them */
    uint32_t segment;                     /* of the quotients */
    uint32_t first;                       /* their first value, and the value behind the last */
    uint32_t end;
    LLVMValueRef quotients[TR_MAX_QUOTIENTS]; /* divisions, remainders or shifts: of each place and
                                                 divisor the first */
};

/* Finds quotients that decide what is accessed, in an iteration of one row that expects nothing. */
struct tr_groups tr_find_groups(const struct tr_iteration *iteration);

/* Whether the instruction divides what `quotient` divides by the same. */
bool tr_is_of_quotient(LLVMValueRef inst, LLVMValueRef quotient);

/* Adds to what is expected that the loops that the iteration has are worth it. */
void tr_expect_groups(const struct tr_iteration *iteration, struct tr_expectations *expected);

/* Whether the rows, whose lengths the divisors are, are known to have been longer than that when
 * the code was asked for: the launch promises what they are less than, which is the next of some
 * powers of two. */
#define TR_LONG_DIVISOR 1024
bool tr_groups_are_long(const struct tr_expectations *expected);

/* Whether lanes leave the loop in different turns, as its condition decides; not group by group. */
bool tr_is_left_apart(const struct tr_iteration *iteration, uint32_t loop);

/* Whether lanes wait at the end of the segment: its first way is that of the first lane's group. */
bool tr_is_group_branch(const struct tr_iteration *iteration, uint32_t segment);

#endif
