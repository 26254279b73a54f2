/* SPDX-License-Identifier: Apache-2.0
 *
 * Analyses of the program of one thread: control flow, dominators, loops, liveness, and the shapes
 * of values, which say how those of different threads differ. They work on numbers, not on LLVM's
 * objects, and know nothing of PTX; calls.h and sregs.h say what calls of placeholders and special
 * registers mean.
 *
 * Nothing here changes the function. Results live in the graph's arena until tr_graph_fini. Not
 * thread-safe: one compilation, one thread. All functions that build something fail with
 * PXR_OUT_OF_MEMORY only, unless stated otherwise.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "translator/module/launch_facts.h"
#include "util/arena.h"
#include "util/error.h"

#define TR_NONE UINT32_MAX

/* ---- sets of small numbers ---- */

struct tr_set {
    uint32_t word_count;
    uint64_t *words;
};

static inline bool tr_set_has(const struct tr_set *set, uint32_t n)
{
    return (set->words[n / 64] >> (n % 64) & 1) != 0;
}

static inline void tr_set_add(struct tr_set *set, uint32_t n)
{
    set->words[n / 64] |= UINT64_C(1) << (n % 64);
}

static inline void tr_set_remove(struct tr_set *set, uint32_t n)
{
    set->words[n / 64] &= ~(UINT64_C(1) << (n % 64));
}

/* Adds all of `more`; true: that changed `set`. */
bool tr_set_merge(struct tr_set *set, const struct tr_set *more);
uint32_t tr_set_count(const struct tr_set *set);
/* The first member >= n, or TR_NONE: `for (n = tr_set_next(s, 0); n != TR_NONE; n =
 * tr_set_next(s, n + 1))`. */
uint32_t tr_set_next(const struct tr_set *set, uint32_t n);
/* Room for numbers below size, empty. words is NULL when out of memory. */
struct tr_set tr_set_make(struct pxr_arena *arena, uint32_t size);

/* ---- the graph ---- */

/* A value that instructions can use: an argument or an instruction (also one
 * without result, such as a store or a terminator, which nobody uses). */
struct tr_value {
    LLVMValueRef llvm;
    uint32_t opcode;  /* LLVMOpcode; 0 for an argument */
    uint32_t segment; /* TR_NONE for an argument */
    uint32_t operand_count;
    const uint32_t *operands; /* as LLVMGetOperand (phi: as its incoming values); TR_NONE where the
                                 operand is a constant, a function or a basic block */
    const uint32_t *incoming; /* phi: the segment each operand comes from, TR_NONE where control
                                 never does; else NULL */
    uint32_t use_count;
    const uint32_t *uses; /* values that have this one as operand, each once */
};

/* A part of a basic block: it ends where the block does, or after an instruction at which a thread
 * may stop (see tr_graph_build); then its only successor is the rest of the block. */
struct tr_segment {
    LLVMBasicBlockRef llvm;
    uint32_t first_value; /* its instructions: values [first_value, first_value + value_count) */
    uint32_t value_count; /* at least 1: the last is a terminator, or the sync point */
    bool is_sync_point;
    uint32_t pred_count;
    const uint32_t *preds; /* each once */
    uint32_t succ_count;
    const uint32_t *succs; /* as the terminator's successors (of a part: without edges that are
                              cut); may name one twice */
};

/* Segments are in reverse postorder; 0 is the entry. Blocks that cannot be reached have none. */
struct tr_graph {
    LLVMValueRef function;
    struct pxr_arena arena;
    uint32_t value_count; /* arguments first, then instructions in the order of segments */
    struct tr_value *values;
    uint32_t segment_count;
    struct tr_segment *segments;
    void *numbers; /* private: LLVMValueRef -> number */
};

/* ends_segment: whether a thread may stop at this instruction; NULL: segments are basic blocks. */
enum pxr_status tr_graph_build(struct tr_graph *graph, LLVMValueRef function,
                               bool (*ends_segment)(LLVMValueRef inst), struct pxr_error *err);
void tr_graph_fini(struct tr_graph *graph);

struct tr_edge {
    LLVMValueRef terminator;
    uint32_t successor; /* its number among them */
};

/* The part of a function that can be reached from a block without taking certain edges. All values
 * from outside count as arguments; constants have no number, as always. */
struct tr_part {
    LLVMBasicBlockRef entry; /* edges back to it are cut */
    const struct tr_edge *cuts;
    uint32_t cut_count;
    const LLVMValueRef *arguments; /* phis of it that count as arguments too: the first ones */
    uint32_t argument_count;
};

/* Segments are basic blocks. */
enum pxr_status tr_graph_build_part(struct tr_graph *graph, LLVMValueRef function,
                                    const struct tr_part *part, struct pxr_error *err);

/* TR_NONE if the value has no number. */
uint32_t tr_graph_number(const struct tr_graph *graph, LLVMValueRef value);

/* ---- dominators (dominators.c) ---- */

/* Post-dominators have a virtual segment after every segment without successor and, where a loop
 * has no exit, after its header, so that every segment has a post-dominator. */
struct tr_dominators {
    bool is_post;
    uint32_t *idom;  /* by segment: the immediate (post-)dominator; TR_NONE: the (virtual) root */
    uint32_t *depth; /* by segment: 0 next to the root */
};

enum pxr_status tr_dominators_build(struct tr_graph *graph, bool is_post,
                                    struct tr_dominators *dominators, struct pxr_error *err);
/* Post-dominators as if control always came to the segment `end`, or to one of `ends`: other ways
 * do not count. Segments without a way there have none: idom TR_NONE, depth 0. */
enum pxr_status tr_post_dominators_to_ends(struct tr_graph *graph, const struct tr_set *ends,
                                           struct tr_dominators *dominators, struct pxr_error *err);
enum pxr_status tr_post_dominators_to(struct tr_graph *graph, uint32_t end,
                                      struct tr_dominators *dominators, struct pxr_error *err);
/* Reflexive: a segment dominates itself. */
bool tr_dominates(const struct tr_dominators *dominators, uint32_t a, uint32_t b);

/* ---- loops (loops.c) ---- */

/* A strongly connected part of the graph (within its parent's, without its parent's header). For
 * natural loops the header dominates all of it; is_irreducible otherwise: then header is the first
 * of its segments in reverse postorder. */
struct tr_loop {
    uint32_t header;
    uint32_t parent; /* loop number, TR_NONE: none */
    uint32_t depth;  /* 1: outermost */
    bool is_irreducible;
    struct tr_set segments; /* including those of inner loops */
};

struct tr_loops {
    uint32_t count; /* parents come before their children */
    struct tr_loop *loops;
    uint32_t *innermost; /* by segment: the innermost loop around it, TR_NONE: none */
};

enum pxr_status tr_loops_build(struct tr_graph *graph, struct tr_loops *loops,
                               struct pxr_error *err);

/* ---- liveness (liveness.c) ---- */

/* Values that are used later on some path. A phi's operand is used at the end of the segment it
 * comes from; the phi itself is defined at the start of its segment and is not in live_in. */
struct tr_liveness {
    struct tr_set *live_in;  /* by segment: sets of values */
    struct tr_set *live_out; /* by segment */
};

enum pxr_status tr_liveness_build(struct tr_graph *graph, struct tr_liveness *liveness,
                                  struct pxr_error *err);

/* ---- what threads have in common (shape.c) ---- */

enum tr_scope {
    TR_SCOPE_WARP, /* the 32 threads of a warp */
    TR_SCOPE_BLOCK /* all threads of the block */
};

enum tr_shape_kind {
    TR_UNIFORM, /* the same in all threads of the scope that are at this point together */
    TR_AFFINE,  /* along a row (threads of one tid.y and tid.z, within the scope): a value common to
                   the row, plus stride * tid.x, modulo the value's width. Stride 0: the same along
                   the row */
    TR_VARYING
};

struct tr_shape {
    enum tr_shape_kind kind;
    int64_t stride; /* of TR_AFFINE: for integers in units of one, for pointers in bytes */
    bool no_wrap;   /* of integers, TR_AFFINE: as a signed number it does not wrap along the row, so
                       that sign extension keeps the shape */
};

/* Facts that the analysis may rely on; see tr_facts for their source. 0: not known. */
struct tr_shape_facts {
    uint32_t block[3];
    bool has_whole_warps; /* rows of a block are whole warps, also where block[0] is not known */
    const struct tr_shape *arguments; /* by value number, for arguments; NULL: they are varying */
    const bool *is_lost; /* by segment: threads that come here end all others, so that none is left
                            to compare with; NULL: segments that call a fault */
    bool is_race_free;   /* threads that are there together load the same value from one address,
                            unless the access is volatile or atomic; likewise for a clock */
    const bool
        *is_common; /* by value: the same in all threads, although nothing tells; NULL: none */
    const bool *is_steady; /* by value, of extensions: the operand does not wrap along the row, as
                                the extension counts it, although nothing tells; NULL: none */
    bool is_never_better;  /* no value is better than varying if an operand is varying */
};

/* The shapes for one scope. "Together" means: in the same dynamic instance, all having come the
 * same way through branches that are uniform. Threads that have exited do not count. A value that
 * leaves a loop whose threads leave it in different iterations is varying outside of it (temporal
 * divergence). */
struct tr_shapes {
    enum tr_scope scope;
    struct tr_shape *values; /* by value: as seen in its own segment */
    bool *is_divergent;      /* by segment: threads may take different ways at its end */
    bool *
        is_uniform_segment; /* by segment: of the threads that do not exit, all or none execute
                               it, equally often, and have met at the same sync points before: no
                               divergent branch, also of a loop around it, decides on it or on a
                               sync point before it, except those that decide who exits. Where
                               is_last: without the exception. Polls do not count as sync points. */
    bool *is_last; /* by segment: it is no sync point, and none can be reached from it. A branch
                      decides who exits if the other way begins with such a segment. */
    struct tr_set *varies_at;      /* by loop: values defined in it that are varying outside of it
                                      although they are not inside */
    struct tr_set *varies_at_last; /* the same for uses in segments that are is_last */
    bool *is_lane_number; /* by value: the lane plus a multiple of 32 that all lanes of the warp
                             share, so that a warp's first lane tells where the others are */
};

enum pxr_status tr_shapes_build(struct tr_graph *graph, const struct tr_loops *loops,
                                enum tr_scope scope, const struct tr_shape_facts *facts,
                                struct tr_shapes *shapes, struct pxr_error *err);

/* The shape of a value as its use in another segment sees it: varying if it has left a loop in
 * different iterations. */
struct tr_shape tr_shape_at(const struct tr_graph *graph, const struct tr_loops *loops,
                            const struct tr_shapes *shapes, uint32_t value, uint32_t segment);

/* What the launch says of shapes. */
struct tr_shape_facts tr_shape_facts_of(const struct tr_facts *facts);

/* Whether the scope's threads are all in one row of the block. */
bool tr_is_row_scope(enum tr_scope scope, const struct tr_facts *facts);

/* Whether it loads memory that does not change while the grid runs. */
bool tr_is_invariant_load(LLVMValueRef load);

/* ---- what grows along a row but at borders (row_growth.c) ---- */

/* How much a value is expected to grow from thread to thread along a row; nothing that results may
 * depend on. */
struct tr_row_growth {
    bool is_known;
    int64_t stride; /* as of tr_shape */
};

/* Threads in a row that have one quotient, as of `i / columns`, so that few vectors have two. */
#define TR_LONG_ROW 64

/* row_length: so many threads have one quotient where the divisor is constant; where it is not they
 * are taken to be enough. */
struct tr_row_growth tr_row_growth_of(const struct tr_graph *graph, const struct tr_shapes *shapes,
                                      uint32_t row_length, LLVMValueRef value);
/* Of a + factor * b. */
struct tr_row_growth tr_row_growth_sum(struct tr_row_growth a, struct tr_row_growth b,
                                       int64_t factor);

/* Whether all threads of a row have one value. */
bool tr_is_same_along_row(const struct tr_graph *graph, const struct tr_shapes *shapes,
                          LLVMValueRef value);

/* ---- all of it as text (print_analysis.c) ---- */

/* Segments with their instructions, and behind each the results of the analyses, for people and
 * tests. malloc; the caller frees. NULL when out of memory. */
char *tr_analysis_text(LLVMValueRef function, bool (*ends_segment)(LLVMValueRef inst),
                       const struct tr_shape_facts *facts);

#endif
