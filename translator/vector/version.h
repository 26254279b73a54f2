/* SPDX-License-Identifier: Apache-2.0
 *
 * A nest as vectors: the loops around the versions of its iteration, and the choice of their size.
 * Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_VERSION_H
#define PTXRUN_TRANSLATOR_VECTOR_VERSION_H

#include "translator/vector/emit/widen.h"
#include "translator/vector/plan/turn_step.h"

/* Whether lanes go on group by group (plan/groups.h), and what is known of the rows that they take
 * places for. */
enum tr_groups_of { TR_GROUPS_NONE, TR_GROUPS_OF_SHORT_ROWS, TR_GROUPS_OF_LONG_ROWS };

/* Estimate for the fast version. Times are numbers of simple instructions. */
struct tr_estimate {
    double vector;      /* of a vector of threads */
    double by_lane;     /* the part of that for accesses of each lane, gathers too */
    double scalar;      /* of as many threads one by one */
    uint32_t length;    /* instructions */
    uint32_t effort;    /* and about so many of the processor's for one vector */
    bool is_straight;   /* no loops */
    uint32_t live;      /* vector registers of varying values where segments begin, at most */
    bool shares_rows;   /* a loop loads vectors that are the same in all rows */
    bool shares_row;    /* a loop loads scalars that are the same along a row */
    uint32_t flat_rows; /* loads that are not in a loop, and the same in all rows, … */
    uint32_t flat_row;  /* … along a row */
    struct tr_far_turns far;
    bool is_guarded;  /* there are guards: branches that nearly all threads pass */
    bool is_for_some; /* some of them ask for places in the block: not so nearly all */
    bool is_wide;     /* the values that rows share have more than 32 bits */
    enum tr_groups_of groups;
    double waiting;     /* so many copies keep the processor busy in loops whose turns wait for each
                           other;     0: there are none */
    bool gathers_alone; /* a loop that each lane leaves on its own gathers … */
    bool gathers_sparsely; /* … and only some lanes come to it, as data decide */
};

/* How many copies keep the processor busy in a loop whose turns wait for each other, if a turn of
 * one takes so long (chains.c). 0: it is no such loop. */
double tr_copies_of_chain(struct tr_iteration *iteration, uint32_t loop, double work);

/* Estimates what the iteration takes in vectors of so many lanes (estimate.c). Fails with
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_make_estimate(struct tr_iteration *iteration, uint32_t width,
                                 struct tr_estimate *estimate, struct pxr_error *err);
bool tr_is_worthwhile(const struct tr_estimate *estimate);

/* How a nest is widened. The reason is in words for --explain. */
struct tr_shape_of_nest {
    uint32_t width;
    uint32_t jam[2];        /* along the row, rows */
    uint32_t least_divisor; /* lanes go on group by group if divisors are as large; 0: they had
                               better not */
    bool is_concise;        /* there is one version of everything, with masks where it needs them */
    bool is_worthwhile;
    const char *reason; /* if not: why; otherwise empty */
    const char *width_reason;
    const char *jam_reason;
    struct tr_estimate estimate;
};

/* The hooks of the steps of tuning (tuning.c), without those skipped (a set of 1 << enum
 * tr_tuning). */
struct tr_tuning_hooks tr_tuning_hooks(uint32_t skipped);

/* The nest's iteration in both versions. */
struct tr_versions {
    struct tr_iteration fast;
    struct tr_iteration masked;
    struct tr_expectations expected; /* of the fast one */
};

struct tr_width {
    uint32_t lanes;
    uint32_t registers; /* that a vector of the longest elements takes */
    const char *reason;
};

/* Elements of the iteration's vectors, in bits; 0: not known. */
struct tr_element_bits {
    unsigned longest;
    unsigned shortest_access; /* of those that are loaded or stored */
};

/* Chooses the lanes of a vector (choose.c). working: the number of threads of a row that have
 * work. */
struct tr_width tr_choose_width(const struct tr_nest *nest, LLVMValueRef working,
                                struct tr_element_bits bits,
                                const struct tr_vector_options *options);

/* Addresses of neighbours are no elements (estimate.c); the accesses have been planned. Fails with
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_find_element_bits(struct tr_iteration *iteration, struct tr_element_bits *bits,
                                     struct pxr_error *err);

/* Chooses how to widen the nest with vectors of so many lanes (choose.c), after its accesses have
 * been planned. Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_choose(const struct tr_nest *nest, LLVMValueRef working, struct tr_width width,
                          struct tr_versions *versions, const struct tr_vector_options *options,
                          struct tr_shape_of_nest *shape, struct pxr_error *err);

/* Replaces the nest (version.c). is_jammed: the iterations were built with the y loop in them. */
enum pxr_status tr_widen_nest(const struct tr_nest *nest, struct tr_versions *versions,
                              bool is_jammed, const struct tr_shape_of_nest *shape,
                              const struct tr_vector_options *options,
                              const struct tr_tuning_hooks *tuning, uint32_t *seed_sites,
                              struct pxr_error *err);

#endif
