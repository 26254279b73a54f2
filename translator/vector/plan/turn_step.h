/* SPDX-License-Identifier: Apache-2.0
 *
 * How far values go on in a turn of a loop of the iteration. Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PLAN_TURN_STEP_H
#define PTXRUN_TRANSLATOR_VECTOR_PLAN_TURN_STEP_H

#include "translator/analysis/address.h"
#include "translator/vector/plan/plan.h"

struct tr_turning {
    const struct tr_iteration *iteration;
    const struct tr_loop *loop;
    struct tr_move_context context;
    uint32_t values_left; /* to look at */
};

/* The innermost loop around the value; loop NULL: there is none. */
struct tr_turning tr_turning_around(const struct tr_iteration *iteration, uint32_t value);

bool tr_turn_is_inside(const struct tr_turning *turning, LLVMValueRef operand);
/* Whether the value does not change in the loop, nor along the row. */
bool tr_turn_is_fixed(const struct tr_turning *turning, LLVMValueRef operand);

/* Steps are of 64 bits and made of fixed values. NULL: nobody knows. */
struct tr_number *tr_turn_step(struct tr_turning *turning, LLVMValueRef value);
struct tr_number *tr_turn_step_of_phi(const struct tr_turning *turning, const struct tr_value *phi);
/* value - start, if only fixed values have been added; start is a phi of the header. */
struct tr_number *tr_turn_added(const struct tr_turning *turning, LLVMValueRef value,
                                LLVMValueRef start);
/* Whether the value adds two others. */
bool tr_turn_is_sum(LLVMValueRef inst);

/* Whether the value accesses neighbours, in a loop of which each turn is so far from the last that
 * no machine takes them for one stream. Behind the plan of the accesses. */
bool tr_turns_are_far(const struct tr_iteration *iteration, uint32_t number);

/* Loops of which each turn goes through memory so far from the last that no machine takes them for
 * one stream. */
struct tr_far_turns {
    uint32_t bytes;    /* from lane to lane, of accesses to neighbours, at least; 0: no such loop */
    uint32_t accesses; /* such accesses of a loop, at most; of those done together one counts */
    uint32_t length;   /* instructions of vectors in a loop, at most */
};

/* Behind the plan of the accesses. */
struct tr_far_turns tr_find_far_turns(const struct tr_iteration *iteration);

#endif
