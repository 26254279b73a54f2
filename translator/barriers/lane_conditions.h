/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions on which the lanes of a warp part. Private to translator/barriers.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LANE_CONDITIONS_H
#define PTXRUN_TRANSLATOR_BARRIERS_LANE_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/barriers/lane_values.h"

/* Longer conditions are not followed. */
#define TR_CONDITION_DEPTH_MAX 6

/* Whether the value is a constant other than 0. */
bool tr_is_true(LLVMValueRef value);
/* Of two numbers of 64 - unused_bits bits. */
bool tr_compare_numbers(LLVMIntPredicate predicate, uint64_t a, uint64_t b, unsigned unused_bits);
bool tr_is_same_in_lanes(const struct tr_lane_values *values);
/* LLVMAnd or LLVMOr of two conditions, also if it is written as `a ? b : false`, `a ? true : b`; 0:
 * neither. *other: the second one. */
LLVMOpcode tr_junction_of(LLVMValueRef condition, LLVMValueRef *other);
/* The segment's last instruction. */
LLVMValueRef tr_end_of(const struct tr_graph *graph, uint32_t segment);
/* Whether the segment ends with a condition that leads to two others. */
bool tr_is_parting(const struct tr_graph *graph, uint32_t segment);

#endif
