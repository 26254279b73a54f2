/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the shape analysis. Private to translator/analysis.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_SHAPE_H
#define PTXRUN_TRANSLATOR_ANALYSIS_SHAPE_H

#include "translator/analysis/analysis.h"

#include <llvm-c/Target.h>

/* ---- what divergent branches do to the graph (divergence.c) ---- */

struct tr_exits {
    uint32_t count;
    uint32_t *targets;   /* segments outside of the loop that edges from it lead to, each once */
    bool has_sync_point; /* in the loop */
};

/* The effect of divergent branches. Grows while more are found. */
struct tr_divergence {
    const struct tr_graph *graph;
    const struct tr_loops *loops;
    struct pxr_arena *arena;
    struct tr_exits *exits; /* by loop */
    bool *is_last;          /* by segment: as tr_shapes */
    bool *is_uniform;       /* by segment: as tr_shapes.is_uniform_segment */
    bool *is_join;          /* by segment: threads that are here together may have come through
                               different edges; of a header, edges from outside of its loop */
    bool *is_latch_join;    /* by header: the same for edges from inside of its loop */
    bool *is_left_apart; /* by loop: threads that go on may have left it in different iterations */
    bool *is_left_apart_last; /* by loop: the same for those at segments that are is_last */
    bool *is_fault;           /* by segment: ends the launch */
    struct tr_set waiting;    /* private to tr_divergence_spread */
    struct tr_set
        behind; /* segments that can be reached from a sync point that only some threads come to */
    struct tr_propagation *work;
};

/* False: out of memory. */
bool tr_divergence_init(struct tr_divergence *divergence, struct tr_graph *graph,
                        const struct tr_loops *loops, const struct tr_shape_facts *facts);

/* Adds a branch: threads that are at the end of the segment together go different ways from
 * there. */
void tr_divergence_add(struct tr_divergence *divergence, uint32_t segment);

/* Draws the conclusions from all branches added. */
void tr_divergence_spread(struct tr_divergence *divergence);

/* ---- shapes of single instructions (shape_value.c, shape_call.c) ---- */

/* The context that the shape of an instruction depends on. */
struct tr_shape_context {
    const struct tr_graph *graph;
    enum tr_scope scope;
    const uint32_t *block;    /* its shape, 0: not known */
    bool has_whole_warps;     /* as tr_shape_facts */
    bool is_race_free;        /* as tr_shape_facts */
    bool is_row_scope;        /* all of the scope is one row, so that uniform along the row means
                                 uniform */
    bool is_uniform_segment;  /* of the instruction's segment */
    LLVMTargetDataRef layout; /* of data in memory */
};

/* A shape in normal form: strides are signed numbers of the width (of pointers: 64); 1 to 64
 * bits. */
struct tr_shape tr_shape_affine(const struct tr_shape_context *context, unsigned width,
                                uint64_t stride, bool no_wrap);
struct tr_shape tr_shape_row(const struct tr_shape_context *context);
struct tr_shape tr_shape_uniform(void);
struct tr_shape tr_shape_varying(void);

/* The shape of a value that depends only on such operands: that of the worst one. */
struct tr_shape tr_shape_of_function(const struct tr_shape_context *context,
                                     const struct tr_shape *operands, uint32_t count);

/* The shape of a value that is one or the other, the same one for all threads that are there
 * together. */
struct tr_shape tr_shape_join(const struct tr_shape_context *context, struct tr_shape a,
                              struct tr_shape b);

/* operands: the shape of each of the value's operands. Not for phis. */
struct tr_shape tr_shape_of_value(const struct tr_shape_context *context,
                                  const struct tr_value *value, const struct tr_shape *operands);
/* Of an extension whose operand does not wrap along the row, as the extension counts it. */
struct tr_shape tr_shape_of_steady(const struct tr_shape_context *context,
                                   const struct tr_value *value, const struct tr_shape *operand);
struct tr_shape tr_shape_of_call(const struct tr_shape_context *context,
                                 const struct tr_value *value, const struct tr_shape *operands);

/* Whether the result is the same in all lanes of a warp because only their lowest bits differ
 * (shape_warp.c); then the first operand is such a number: a multiple of 32, plus the lane. */
bool tr_shape_is_of_warp(const struct tr_shape_context *context, LLVMValueRef inst);
bool tr_shape_is_lane_number(const struct tr_shape_context *context, LLVMValueRef value);

/* Whether the result is always the same for the same operands. */
bool tr_is_function_of_operands(const struct tr_value *value);
/* The same of an opcode for integers, addresses and choices, which costs little and never traps. */
bool tr_is_arithmetic(uint32_t opcode);

#endif
