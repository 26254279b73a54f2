/* SPDX-License-Identifier: Apache-2.0
 *
 * How each load and store of an iteration will be done. This is planned once, before the size of a
 * nest is chosen; the estimate, --explain and the emitters read it. Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_ACCESS_PLAN_H
#define PTXRUN_TRANSLATOR_VECTOR_ACCESS_PLAN_H

#include "translator/vector/plan/access.h"

enum tr_access_form {
    TR_ACCESS_SERIAL,  /* one lane after the other */
    TR_ACCESS_UNIFORM, /* one access for all lanes of a row */
    TR_ACCESS_WIDE,    /* neighbours, or a small stride with shuffles, with other fields */
    TR_ACCESS_CHECKED, /* neighbours, unless an index wraps or is limited */
    TR_ACCESS_GATHER,  /* or scatter: any addresses */
    TR_ACCESS_TUNED    /* a step of tuning does it */
};

/* Whether all lanes are known to be active where an access is. */
enum tr_lanes { TR_LANES_ALL, TR_LANES_MASKED, TR_LANES_COUNT };

struct tr_access_plan {
    struct tr_memory memory;
    struct tr_fields fields;          /* done together if the access is wide; at least itself */
    const struct tr_checked *checked; /* NULL: no index has to be checked */
    bool is_in_exchange;
    enum tr_access_form forms[TR_LANES_COUNT];
    /* Of TR_ACCESS_TUNED. */
    const struct tr_access_step *steps[TR_LANES_COUNT];
    const void *details[TR_LANES_COUNT]; /* the result of the step's `find` */
};

/* The access that a step of tuning is asked about. */
struct tr_access_question {
    const struct tr_iteration *iteration;
    const struct tr_memory *memory;
    uint32_t width;
    enum tr_lanes lanes;
    struct pxr_arena *arena; /* for the answer */
    bool is_out_of_memory;
};

struct tr_widen;

/* A step of tuning: does in a way of its own some accesses that would be gathers or scatters. */
struct tr_access_step {
    const char *name;        /* the way, for --explain */
    bool expects_neighbours; /* lanes are expected to be, and asked */
    /* What the step needs to know about such an access, in the question's arena; NULL: it cannot do
     * it. */
    const void *(*find)(struct tr_access_question *question);
    void (*emit)(struct tr_widen *widen, const struct tr_memory *memory, const void *detail);
};

/* Plans the iteration's accesses for vectors of `width` lanes: iteration->accesses. steps: NULL
 * behind the last one; the first that finds something gets the access. Fails with
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_plan_accesses(struct tr_iteration *iteration, uint32_t width,
                                 const struct tr_access_step *const *steps, struct pxr_error *err);

/* Whether it is done lane by lane. */
bool tr_access_is_serial(const struct tr_iteration *iteration, uint32_t value);

/* What one copy of the access takes where all lanes are active, in the unit of figures.def.
 * *is_gather: it is a gather or scatter. */
double tr_access_cost(const struct tr_iteration *iteration, uint32_t width, uint32_t value,
                      bool *is_gather);

#endif
