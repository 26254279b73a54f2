/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lanes of a warp come to a place, as far as branches on %tid say.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LANE_GUARDS_H
#define PTXRUN_TRANSLATOR_BARRIERS_LANE_GUARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "translator/barriers/effects.h"
#include "translator/barriers/lane_values.h"

/* The lanes that may come to each segment; in that turn of loops (tr_evaluate_way), or, if it is
 * TR_NONE, whenever. false: out of memory. */
bool tr_lanes_of_segments(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                          uint32_t turn, uint32_t *lanes);

/* The last segment on all ways to this one to which only one lane goes, whichever; TR_NONE: there
 * is none. */
uint32_t tr_lane_edge_of(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                         uint32_t segment);

/* By lane, those that may be at the segment at the same time as it, where one of its guards
 * compares what each lane has with what all have in common: `tid.x == k && tid.y > k` lets lane (1,
 * 1) in where k is 1, and so never. false: no guard says what the common number is. */
bool tr_lanes_together(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       uint32_t segment, uint32_t together[RT_WARP_SIZE]);

#endif
