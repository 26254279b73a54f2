/* SPDX-License-Identifier: Apache-2.0
 *
 * The variants of one kernel: which of them runs a launch, and what to compile if none can. Knows
 * nothing of code; a variant is a pointer to the caller.
 */
#ifndef PTXRUN_JIT_VARIANT_H
#define PTXRUN_JIT_VARIANT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "jit/facts.h"
#include "util/options.h"

#define JIT_VARIANTS_MAX 8

struct jit_variants_entry {
    struct tr_facts facts;
    unsigned weight; /* jit_facts_weight(&facts) */
    void *variant;
};

/* All zero: no variant yet. Entries are never changed once they are counted. */
struct jit_variants {
    _Atomic unsigned count;
    struct jit_variants_entry entries[JIT_VARIANTS_MAX];
};

/* The facts of a launch that this mode makes use of. */
void jit_variants_facts(enum pxr_mode mode, const struct jit_launch *launch,
                        struct tr_facts *facts);

/* The variant with the best facts, all of them true of a launch with these facts
 * (jit_variants_facts); NULL if there is none. Takes no lock; may run while another thread adds. */
void *jit_variants_pick(const struct jit_variants *variants, const struct tr_facts *launch);

/* The facts to compile for after jit_variants_pick has found nothing for this launch. They are true
 * of the launch, and the last variant that fits has none, so that every launch finds a variant from
 * then on. Normal mode makes seven at most: for blocks of one row or any, of whole warps or any,
 * and of rows of 4, 8 and 16 threads. begins_inside is that of the launch. */
void jit_variants_plan(const struct jit_variants *variants, enum pxr_mode mode,
                       const struct tr_facts *launch, struct tr_facts *planned);

/* Adds a variant for facts from jit_variants_plan. One thread at a time. False if there is no room,
 * which cannot happen after jit_variants_plan. */
bool jit_variants_add(struct jit_variants *variants, const struct tr_facts *facts, void *variant);

#endif
