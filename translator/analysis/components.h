/* SPDX-License-Identifier: Apache-2.0
 *
 * Strongly connected parts of a part of the graph. Private to translator/analysis.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_COMPONENTS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_COMPONENTS_H

#include "translator/analysis/analysis.h"

struct tr_components {
    uint32_t count;  /* in an order such that edges lead to the same or lower numbers */
    uint32_t *of;    /* by segment: its component; TR_NONE: not in this part of the graph */
    uint32_t *first; /* by component: its first segment in reverse postorder */
    bool *is_cycle;  /* by component: a segment of it can come back to itself */
};

/* within: the segments of the part. Memory is taken from scratch. False: out of memory. */
bool tr_components_find(const struct tr_graph *graph, const struct tr_set *within,
                        struct pxr_arena *scratch, struct tr_components *components);

#endif
