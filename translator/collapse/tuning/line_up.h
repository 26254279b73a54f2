/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a block's warps line up before their first operation: a step of translator/pipeline.def.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_TUNING_LINE_UP_H
#define PTXRUN_TRANSLATOR_COLLAPSE_TUNING_LINE_UP_H

#include "translator/collapse/collapsing.h"

enum pxr_status tr_line_up_warps(struct tr_collapsing *collapsing, struct pxr_error *err);

#endif
