/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops around sync points, to be unrolled: steps of translator/pipeline.def.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_TUNING_UNROLL_H
#define PTXRUN_TRANSLATOR_COLLAPSE_TUNING_UNROLL_H

#include "translator/collapse/collapsing.h"

/* Says of loops without sync points that they stay, so that the unroller sees the others only … */
enum pxr_status tr_hide_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err);
/* … and takes that back. */
enum pxr_status tr_show_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err);

#endif
