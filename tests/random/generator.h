/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes case files (tests/shapes) with a random kernel: well formed, free of races, every value
 * defined by the manual bit for bit, and done after a bounded number of steps.
 */
#ifndef PTXRUN_TESTS_RANDOM_GENERATOR_H
#define PTXRUN_TESTS_RANDOM_GENERATOR_H

#include "tests/random/text.h"

struct generator_config {
    uint64_t seed;
    unsigned statements; /* of the kernel, about; nested ones come on top */
    unsigned functions;
    unsigned max_depth;   /* of nested control flow */
    unsigned max_turns;   /* of all loops around a place, multiplied */
    unsigned max_threads; /* of a block */
    unsigned meetings;    /* how many times as often as usual threads meet */
    bool has_barriers;
    bool has_warp_ops;
    bool has_atomics;
    bool has_floats;
    bool has_exits;
    bool has_leavers;   /* with barriers and exits: between them, warp by warp or lane by lane */
    bool has_polls;     /* accesses that a program may use to wait for others */
    bool has_recursion; /* where there are functions */
    bool has_pointers;  /* to functions */
    bool is_lean;       /* little code around the statements: most registers are computed from
                           a few that are loaded, results lie in columns */
};

/* The configuration of a seed: sizes and features are drawn from it too. */
struct generator_config generator_config_from_seed(uint64_t seed);

/* The same features, but nine kernels of ten are small: more pairs of features are seen in the same
 * time. */
struct generator_config generator_config_small(uint64_t seed);

/* Small as well; all have barriers and exits between them, few anything else. */
struct generator_config generator_config_leavers(uint64_t seed);

/* Appends the case to *text. The same config gives the same text. */
void generator_make(const struct generator_config *config, struct text *text);

#endif
