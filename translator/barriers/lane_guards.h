/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lanes of a warp come to a place, as far as branches on %tid say.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LANE_GUARDS_H
#define PTXRUN_TRANSLATOR_BARRIERS_LANE_GUARDS_H

#include <stdint.h>

#include "translator/barriers/effects.h"
#include "translator/barriers/lane_values.h"

struct tr_lane_guard {
    uint32_t lanes;     /* that may come there */
    uint32_t lane_edge; /* a segment to which only one lane of them goes, whichever; TR_NONE */
};

struct tr_lane_guard tr_lane_guard_of(const struct tr_effects *effects,
                                      const struct tr_lane_ids *ids, uint32_t segment);

#endif
