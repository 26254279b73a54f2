/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values can be computed again behind a sync point, what that costs, and what it costs to
 * save a value. docs/values-across-barriers.md explains the numbers. Private to
 * translator/collapse.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_AGAIN_H
#define PTXRUN_TRANSLATOR_COLLAPSE_AGAIN_H

#include "translator/analysis/analysis.h"
#include "translator/module/target.h"

enum tr_again {
    TR_AGAIN_NEVER,   /* phis, calls, loads of memory that may change ... */
    TR_AGAIN_AT_HAND, /* an argument or an alloca of fixed size: every region has it, nobody saves
                         it */
    TR_AGAIN_PURE     /* depends on nothing but its operands, and has no effect */
};

enum tr_again tr_again_kind(const struct tr_value *value);

/* Costs. Their unit is a quarter of a simple instruction in every thread. */

/* An instruction whose operands are the same in the group: it leaves the loop over the threads. */
#define TR_COST_UNIFORM 1
/* A value made from those at hand that costs more is not `cheap` where no cut is computed. */
#define TR_COST_CHEAP 16
/* A value further than this from any needed value is not computed again. */
#define TR_COST_CHAIN 96

/* The cost of a value of kind TR_AGAIN_PURE that differs between threads; 0 for others. */
uint32_t tr_cost_again(const struct tr_value *value, const struct tr_again_costs *costs);

/* How a value may be saved at a sync point. */
struct tr_saving {
    bool is_group;  /* one element per group */
    bool is_affine; /* the compiler loses sight of a constant stride between threads */
    bool is_there;  /* its element has been written before and only needs reading */
    uint32_t bytes;
};

uint32_t tr_cost_saved(struct tr_saving saving, const struct tr_again_costs *costs);

#endif
