/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches for tests of facts and variants, and a judge of facts that shares no code with
 * jit/facts.c.
 */
#ifndef PTXRUN_TESTS_UNIT_JIT_FACTS_HELPER_H
#define PTXRUN_TESTS_UNIT_JIT_FACTS_HELPER_H

#include "jit/facts.h"

#define FACTS_LAUNCH_PARAMS 40

/* Start of the n-th of the allocations that there are, 64 KiB each. */
#define FACTS_MEMORY(n)    (UINT64_C(0x700000000000) + (uint64_t)(n) * 0x20000)
#define FACTS_MEMORY_BYTES 0x10000

/* A kernel with one launch of it. Copies are launches of their own. */
struct facts_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t param_count;
    struct ptx_var vars[FACTS_LAUNCH_PARAMS];
    uint64_t values[FACTS_LAUNCH_PARAMS];
    /* what facts_launch_view fills */
    const struct ptx_var *var_pointers[FACTS_LAUNCH_PARAMS];
    struct ptx_func func;
    struct jit_launch view;
};

struct facts_random {
    uint64_t state;
};

uint32_t facts_random_below(struct facts_random *random, uint32_t limit);

void facts_launch_add(struct facts_launch *launch, enum ptx_type type, uint64_t value);

/* Valid while launch does not move. */
const struct jit_launch *facts_launch_view(struct facts_launch *launch);

/* Any kernel and launch; another launch of the same kernel that is more or less like it. */
struct facts_launch facts_launch_random(struct facts_random *random);
struct facts_launch facts_launch_vary(const struct facts_launch *launch,
                                      struct facts_random *random);

bool facts_are_true(const struct tr_facts *facts, const struct facts_launch *launch);

#endif
