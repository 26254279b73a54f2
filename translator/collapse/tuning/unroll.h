/* SPDX-License-Identifier: Apache-2.0
 *
 * Unrolling of loops around sync points: steps of translator/pipeline.def.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_TUNING_UNROLL_H
#define PTXRUN_TRANSLATOR_COLLAPSE_TUNING_UNROLL_H

#include "translator/collapse/collapsing.h"

/* Marks loops without sync points as not to be unrolled, so that the unroller sees only the others
 * … */
enum pxr_status tr_hide_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err);
/* … and removes these marks. */
enum pxr_status tr_show_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err);

#endif
