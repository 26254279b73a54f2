/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers that the collapse calls, not PTX instructions.
 */
#ifndef PTXRUN_TRANSLATOR_RT_FUSED_H
#define PTXRUN_TRANSLATOR_RT_FUSED_H

#include "scheduler/lanes.h"

/* An operand is an array with an element per lane (of a barrier: per thread) or, if the array is
 * NULL, a constant. */
#define OPERAND(name) const uint64_t *name, uint64_t name##_constant

/* Which of `count` lanes have not exited, by their entries in the frame. */
uint32_t rt_fused_live(const uint16_t *entries, uint32_t count);

/* result[lane]: what the placeholder of the same name returns, in 64 bits. */
void rt_fused_shfl(uint64_t *result, uint32_t live, OPERAND(mode), OPERAND(value), OPERAND(b),
                   OPERAND(c), OPERAND(mask));
void rt_fused_vote(uint64_t *result, uint32_t live, OPERAND(mode), OPERAND(predicate),
                   OPERAND(mask));
void rt_fused_match(uint64_t *result, uint32_t live, OPERAND(all), OPERAND(value), OPERAND(mask));
void rt_fused_redux(uint64_t *result, uint32_t live, OPERAND(op), OPERAND(value), OPERAND(mask));
void rt_fused_elect(uint64_t *result, uint32_t live, OPERAND(mask));

/* Whether all live lanes that name each other in their masks have the same mask. */
uint32_t rt_fused_masks_agree(uint32_t live, OPERAND(mask));

/* With all lanes in the mask: every lane gets the same. */
uint32_t rt_fused_vote_all(uint32_t live, uint32_t mode, OPERAND(predicate));
uint32_t rt_fused_redux_all(uint32_t live, uint32_t op, OPERAND(value));

/* entries: of the frame; NULL: no thread has exited. */
uint32_t rt_fused_bar_red(const uint16_t *entries, uint32_t count, OPERAND(predicate), uint32_t op);

/* rt_spin of kernels that are fused. */
void rt_fused_spin(struct rt_thread *thread);

/* Gives all threads the same result. */
void rt_fused_fill(uint64_t *result, uint32_t count, uint32_t value);

#endif
