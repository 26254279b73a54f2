/* SPDX-License-Identifier: Apache-2.0
 *
 * What integers and pointers are in each lane of a warp, where that is made of %tid and, by sums
 * and products, of values that all threads of the block have in common. For these stand numbers at
 * random: two results are equal if, but for chance, they always are.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LANE_VALUES_H
#define PTXRUN_TRANSLATOR_BARRIERS_LANE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_abi/rt.h"
#include "translator/barriers/effects.h"

struct tr_lane_values {
    uint64_t of[RT_WARP_SIZE];
    bool is_exact; /* no number at random in it */
};

/* The %tid of a warp's lanes: of the warp that the thread `first` of the block is in. Rows and
 * planes of which it is not known how long they are have no end. */
struct tr_lane_ids {
    uint32_t tid[RT_WARP_SIZE][3];
};
struct tr_lane_ids tr_lane_ids_of(const uint32_t block[3], uint32_t first);

/* false: not known. */
bool tr_evaluate_lanes(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       LLVMValueRef value, struct tr_lane_values *result);

/* Likewise on one way through the kernel: all loops are in that turn (the first is 0), and where
 * other ways merge one has been taken that gives something known. *turn_depth: the depth of the
 * outermost loop that has to be in that turn; TR_NONE: there is none. */
bool tr_evaluate_way(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                     LLVMValueRef value, uint32_t turn, struct tr_lane_values *result,
                     uint32_t *turn_depth);

/* tr_evaluate_lanes, and what counters of loops are in any turn, in which all lanes are: for the
 * number of turns before it stands one at random. */
bool tr_evaluate_in_turn(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                         LLVMValueRef value, struct tr_lane_values *result);

/* tr_evaluate_lanes for lanes of a group of the first block that have values in common, and where
 * these happen to be the same: those in `told` are 0, and for what else is not known stands a
 * number at random. */
bool tr_evaluate_group(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       const struct tr_set *told, LLVMValueRef value,
                       struct tr_lane_values *result);

#endif
