/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which blocks and their rows run: a step of translator/pipeline.def.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_TUNING_WALK_H
#define PTXRUN_TRANSLATOR_COLLAPSE_TUNING_WALK_H

#include "translator/collapse/collapsing.h"

/* Decides whether rows of neighbouring blocks run as one: fills the walk of struct tr_fuse. */
enum pxr_status tr_choose_walk(struct tr_collapsing *collapsing, struct pxr_error *err);

#endif
