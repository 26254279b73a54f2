/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of planning how values get across sync points. Private to storage.c and crossing.c.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_CROSSING_H
#define PTXRUN_TRANSLATOR_COLLAPSE_CROSSING_H

#include "translator/collapse/again.h"
#include "translator/collapse/collapse.h"

struct tr_plan {
    struct tr_kernel *kernel;
    const struct tr_again_costs *costs;
    struct tr_crossing *crossings; /* by sync point */
    struct pxr_arena scratch;
    /* by value */
    uint8_t *kind;  /* enum tr_again */
    uint8_t *cost;  /* of computing it again, in every thread */
    uint8_t *bytes; /* in memory */
    bool *is_cheap; /* made of values at hand, at little cost */
    /* by sync point */
    uint32_t *cuts; /* how often it has been looked at */
    bool *is_dirty; /* to be looked at */
    /* by segment */
    uint32_t *sync;   /* the sync point at its end, TR_NONE */
    bool *is_visited; /* of one walk */
    uint32_t *queue;  /* of one walk: segments */
    /* of one sync point (crossing.c) */
    uint32_t *leading; /* the other sync points from which threads come to it */
    uint32_t leading_count;
    uint32_t *members; /* values that may be useful behind it */
    uint32_t member_count;
    uint32_t *index;    /* by value: its place in members, TR_NONE */
    uint32_t *distance; /* by value: cost of the values between it and a needed one */
    uint32_t *saving;   /* by value: cost */
    uint32_t *making;   /* by value: cost; 0: not worth it, or impossible */
    uint32_t *least;    /* by value: a lower bound of the cost of having it */
    uint32_t *users;    /* by value: needs, and members made from it */
};

/* Sets the homes of crossings[sync] so that all needed values are available. False when out of
 * memory. */
bool tr_plan_choose(struct tr_plan *plan, uint32_t sync);

#endif
