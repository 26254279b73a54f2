/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that go on by the same steps in every turn of a loop, and how far. Private to
 * translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PLAN_CLIMBS_H
#define PTXRUN_TRANSLATOR_VECTOR_PLAN_CLIMBS_H

#include "translator/vector/plan/plan.h"

#define TR_STEPS_MAX 8

/* Constant steps are less: then a product with a number of 40 bits has 64. */
#define TR_STEP_MAX (1 << 16)

/* A phi of a loop's header. */
struct tr_climb {
    const struct tr_loop *loop;
    uint32_t latch;
    LLVMValueRef phi;
    LLVMValueRef start;               /* before the first turn */
    LLVMValueRef next;                /* phi + steps: before the next one */
    LLVMValueRef steps[TR_STEPS_MAX]; /* these do not change in the loop */
    uint32_t step_count;
};

/* How the range of a number of 32 or 64 bits follows from those of others. */
enum tr_range_of {
    TR_RANGE_UNKNOWN,
    TR_RANGE_SUM, /* of its operands, … */
    TR_RANGE_DIFFERENCE,
    TR_RANGE_PRODUCT,
    TR_RANGE_MULTIPLE, /* of the first one: tr_find_factor */
    TR_RANGE_CUT,      /* the same */
    TR_RANGE_EXTENDED, /* the same, if it fits */
    TR_RANGE_PHI       /* of a loop's header: a climb; else all that come in */
};
enum tr_range_of tr_range_of(LLVMValueRef number);
int64_t tr_find_factor(LLVMValueRef multiple);

/* Whether the value is in the first segment of a loop. */
bool tr_is_of_header(const struct tr_iteration *iteration, uint32_t value);

/* Whether the operand does not change in the loop. */
bool tr_is_fixed_in(const struct tr_iteration *iteration, const struct tr_loop *loop,
                    LLVMValueRef operand);

/* phi: a phi of the iteration. False: it goes on in another way. */
bool tr_find_climb(const struct tr_iteration *iteration, LLVMValueRef phi, struct tr_climb *climb);
/* False: they are not constant, too large, or 0. */
bool tr_find_constant_step(const struct tr_climb *climb, int64_t *step);

/* The loop goes on only if `tested relation limit`. All lanes of a row have the limit, which does
 * not change in the loop. */
struct tr_turn_test {
    LLVMValueRef tested;
    LLVMValueRef limit;
    LLVMIntPredicate relation;
};

/* What ends a climb upwards: tested is its phi, or what follows it; the relation is < or <=. */
bool tr_find_end(const struct tr_iteration *iteration, const struct tr_climb *climb,
                 struct tr_turn_test *test);

/* What counts a loop's turns: a climb, the same along the row, of which tested is made by sums and
 * differences with fixed numbers. The relation is !=, or, of 32 bits, < or <= with steps upwards.
 */
struct tr_turns {
    struct tr_climb climb;
    struct tr_turn_test test;
    int64_t step; /* by which `tested` goes on */
};
bool tr_find_turns(const struct tr_iteration *iteration, const struct tr_loop *loop,
                   struct tr_turns *turns);

#endif
