/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes case files (tests/shapes) with a random kernel: well formed, free of races, every value
 * defined by the manual bit for bit, and done after a bounded number of steps.
 */
#ifndef PTXRUN_TESTS_RANDOM_GENERATOR_H
#define PTXRUN_TESTS_RANDOM_GENERATOR_H

#include "tests/random/text.h"

/* Registers whose values are what the program computes: of 16, 32 and 64 bits, predicates, and
 * those that are the same in all threads of a block. At least 4, 4, 2, 1 and 1, or 0, 1, 1, 1 and 1
 * in spare kernels. */
struct generator_pools {
    unsigned h, r, l, p, u;
};

struct generator_config {
    uint64_t seed;
    unsigned statements; /* of the kernel, about; nested ones come on top */
    unsigned functions;
    unsigned max_depth;    /* of nested control flow */
    unsigned max_turns;    /* of all loops around a place, multiplied */
    unsigned max_threads;  /* of a block */
    unsigned meetings;     /* how many times as often as usual threads meet */
    unsigned partings;     /* before the other statements, each with exits between barriers */
    unsigned matrices;     /* so many operations on them, among the first statements */
    unsigned arms;         /* of a parting, at most … */
    unsigned arm_meetings; /* … and so many barriers in each, 2, 4 or 6 */
    unsigned row; /* so many meetings one behind the other, before the other statements … */
    unsigned row_conditions; /* … of which so many, at most, are under conditions */
    unsigned own_bytes;      /* of a thread's cell in each memory, a multiple of 16 */
    struct generator_pools pools;
    bool has_barriers;
    bool has_warp_ops;
    bool has_atomics;
    bool has_floats;
    bool is_flushed; /* f32 arithmetic has .ftz, and there is none of f64 (ptx/flush.h) */
    bool
        has_chains; /* chains of arithmetic on 16 bits, and loops with a remainder of their turns */
    bool has_exits;
    bool has_leavers;   /* with barriers and exits: between them, warp by warp or lane by lane */
    bool has_mbarriers; /* with barriers and without exits */
    bool has_clusters;  /* without exits: blocks of a cluster meet and reach each other's memory */
    bool has_matrices;  /* with warp operations: products, and rows in shared memory */
    bool has_polls;     /* accesses that a program may use to wait for others */
    bool has_recursion; /* where there are functions */
    bool has_pointers;  /* to functions */
    bool is_lean;       /* little code around the statements: most registers are computed from
                           a few that are loaded, results lie in columns */
    bool is_matrix;     /* another kind of kernel: elements of a matrix and their neighbours */
    bool has_pixels;    /* a matrix of bytes or short integers, as filters of images have */
    bool is_strided;    /* another kind, too: threads take every so many-th element of an array */
    bool is_spare;      /* lean, and statements that ask nothing of their place are short, too */
};

/* The configuration of a seed: sizes and features are drawn from it too. */
struct generator_config generator_config_from_seed(uint64_t seed);

/* The same features, but nine kernels of ten are small: more pairs of features are seen in the same
 * time. */
struct generator_config generator_config_small(uint64_t seed);

/* As small ones, all with operations of whole warps on matrices. */
struct generator_config generator_config_matrices(uint64_t seed);

/* All have barriers and exits between them. Nine kernels of ten have little else and few registers;
 * nearly all others are small, one in 200 is as large as any. */
struct generator_config generator_config_leavers(uint64_t seed);

/* All have 20 to 120 barriers and warp operations in a row, across which up to 33 registers live,
 * and little else. */
struct generator_config generator_config_rows(uint64_t seed);

/* All are over matrices, in blocks and grids of up to three dimensions, without loops and meetings:
 * 1 to 9 statements, and borders that some threads are behind. */
struct generator_config generator_config_stencils(uint64_t seed);

/* Likewise, of bytes and short integers: 3 to 32 statements in 16 and 32 bits, and a plane of such
 * elements for each register. */
struct generator_config generator_config_pixels(uint64_t seed);

/* All have a loop in which a thread takes every so many-th element of an array, with loops and
 * tiles in shared memory in it: 2 to 8 statements. */
struct generator_config generator_config_strides(uint64_t seed);

/* All have clusters of 2 to 4 blocks, which meet several times, and little else. */
struct generator_config generator_config_clusters(uint64_t seed);

/* Appends the case to *text. The same config gives the same text. */
void generator_make(const struct generator_config *config, struct text *text);

#endif
