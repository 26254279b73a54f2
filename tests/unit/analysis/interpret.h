/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a small function for one thread of a block, over the numbers of tr_graph, and writes down
 * what every instruction gave in every dynamic instance. For tests of the analyses.
 *
 * Knows integer arithmetic, pointers, loads, phis, branches and a few special registers. Loads read
 * the memory of the test; nothing is written.
 */
#ifndef PTXRUN_TESTS_ANALYSIS_INTERPRET_H
#define PTXRUN_TESTS_ANALYSIS_INTERPRET_H

#include "translator/analysis/analysis.h"

#define TRACE_STEPS 120 /* segments that a thread executes at most */
#define TRACE_DEPTH 12  /* loops around a segment at most */

/* One execution of a segment: which iteration of each loop around it, the outermost first. */
struct instance {
    uint32_t segment;
    uint32_t iteration[TRACE_DEPTH];
};

struct step {
    struct instance at;
    uint64_t *values; /* of the segment, in order; the operands are found from them */
};

struct trace {
    uint32_t tid[3];
    uint32_t linear; /* its number in the block */
    bool is_cut;     /* it would have gone on */
    uint32_t step_count;
    struct step steps[TRACE_STEPS];
};

struct interpreter {
    const struct tr_graph *graph;
    const struct tr_loops *loops;
    uint32_t block[3];
    const uint64_t *arguments; /* by value number; NULL: all are 0 */
    struct pxr_arena *arena;
};

/* The trace's tid says which thread. */
void interpret(const struct interpreter *interpreter, struct trace *trace);

bool is_same_instance(const struct instance *a, const struct instance *b);

#endif
