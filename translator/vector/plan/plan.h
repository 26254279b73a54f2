/* SPDX-License-Identifier: Apache-2.0
 *
 * A nest before anything is emitted: its loops, the graph of its iteration, the shapes of the
 * values in it, and the units of control, which are emitted one after another. Private to
 * translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PLAN_H
#define PTXRUN_TRANSLATOR_VECTOR_PLAN_H

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/vector/plan/vector_options.h"
#include "util/arena.h"
#include "util/error.h"

/* ---- the loops (nest.c) ---- */

/* A marked loop: do { … } while (++counter < count). */
struct tr_counted {
    LLVMBasicBlockRef before; /* the block that enters the loop */
    LLVMBasicBlockRef header;
    LLVMBasicBlockRef latch;
    LLVMBasicBlockRef after; /* where the latch leaves to */
    LLVMValueRef counter;    /* the header's only phi that is used: i32, from 0 */
    LLVMValueRef count;      /* i32, at least 1; defined outside of the loop */
    uint32_t block_row;      /* as in struct tr_thread_loop */
};

struct tr_nest {
    struct tr_counted x;
    struct tr_counted y;  /* around x; header NULL: none */
    const char *obstacle; /* NULL, or why it cannot be widened: words for --explain */
};

/* All marked nests of the function, each once (an x loop with the marked y loop directly around it
 * if there is one). Fails with PXR_OUT_OF_MEMORY. *nests: malloc. */
enum pxr_status tr_find_nests(LLVMValueRef function, struct tr_nest **nests, uint32_t *count,
                              struct pxr_error *err);

/* Makes the loop run so many times, which are at least 1 and no more than before. */
void tr_counted_shorten(const struct tr_counted *loop, LLVMValueRef count);

/* ---- what the fast version expects of all lanes (guards.c, common_quotients.c,
 * steady_indices.c) ---- */

/* A branch that all threads are expected to take in one direction, because the other does nothing
 * and ends the iteration. Nothing with effects can come before it in an iteration, so that the
 * masked version can begin iterations anew. */
struct tr_guard {
    LLVMValueRef branch; /* conditional */
    uint32_t expected;   /* number of the successor */
    bool is_of_grid; /* it asks for a place in the grid, which nearly all threads of a grid pass;
                        otherwise for one in the block, where often only some do */
};

/* An index of 32 bits that grows along the row and is expected not to wrap on the way. */
struct tr_steady {
    LLVMValueRef extension; /* to 64 bits: with its sign, or with zeros */
    LLVMValueRef behind;    /* where that can be asked: the index is made, by sums and products, of
                               this instruction, others before it, and numbers from outside; NULL:
                               of such numbers only */
    bool is_range; /* it goes on in loops (climbs.h), and the least and the greatest of all turns
                      are made of that */
};

/* Nothing with effects comes before what is expected, so that the masked version can begin
 * iterations anew. */
struct tr_expectations {
    struct tr_set repeatable; /* values of the iteration without expectations: those before
                                 anything with effects, in segments that all lanes with work come
                                 to */
    struct tr_guard *guards;
    uint32_t guard_count;
    LLVMValueRef *common; /* quotients that all lanes are expected to have in common */
    uint32_t common_count;
    struct tr_steady *steady;
    uint32_t steady_count;
    bool has_groups; /* lanes go on group by group (groups.h), and are expected to be in few: … */
    LLVMValueRef *divisors; /* … these numbers, from outside of the iteration, are large */
    uint32_t divisor_count;
};

/* ---- the iteration as a graph, with what threads have in common (iteration.c) ---- */

enum tr_unit_kind {
    TR_UNIT_ALWAYS,  /* all lanes that were active at the unit's anchor come here, and leave it
                        again */
    TR_UNIT_UNIFORM, /* all of them come, or none */
    TR_UNIT_MASKED   /* some of them come */
};

/* A segment with all that it dominates, except what is behind a loop around it. It is emitted as
 * one piece and entered from its first segment only. Its values reach the rest through phis of the
 * segments that its edges lead to. */
struct tr_unit {
    enum tr_unit_kind kind;
    uint32_t anchor; /* the segment whose lanes `kind` counts: for a child the segment it is a child
                        of; for a follower the header of the loop it follows: all lanes that have
                        entered the loop. TR_NONE: the first segment */
    uint32_t child_count;
    const uint32_t *children; /* units emitted after this segment, in order: those it dominates
                                 directly, within the innermost loop of the segment. Of a loop's
                                 header: see `followers` for those outside of the loop */
    uint32_t follower_count;
    const uint32_t *followers; /* of a loop's header: units behind the loop, in order: dominated by
                                  a segment of the loop directly, and in the loop around it */
    uint32_t escape_count;
    const uint32_t
        *escapes;     /* segments outside of the unit that edges from it lead to, each once;
                         also the header of the loop around it, if the latch is in the unit */
    bool is_fault;    /* the unit ends in a fault: no lane comes out of it */
    uint32_t cost;    /* of the instructions in the unit, with inner units */
    bool has_loop;    /* somewhere in it, a loop: for lanes that are not active it may not end for
                         long */
    bool has_effects; /* somewhere in it, something that lanes which are not active must not do:
                         accesses to memory, calls that are not pure, division */
};

struct tr_iteration {
    const struct tr_target *target;
    struct tr_graph graph; /* from the header of x, or of y if is_jammed, to the latch; the graph's
                              arguments are the counters and all values from outside */
    struct tr_dominators dominators;
    struct tr_dominators post; /* as if control never went to faults */
    struct tr_loops loops;   /* segments from which control goes to a fault and not to the end count
                                as inside the loops of the last other segment that dominates them:
                                their units are emitted there */
    uint32_t end;            /* the segment where iterations end */
    bool *is_lost;           /* by segment: control does not come from there to the end */
    uint32_t x;              /* value numbers of the counters */
    uint32_t y;              /* TR_NONE unless is_jammed */
    uint32_t row_threads;    /* 0: not known before the launch */
    bool is_of_blocks;       /* rows go through several blocks (tr_thread_loop.block_row) */
    bool has_border;         /* the first threads of the grid's rows are likely to part */
    bool has_groups;         /* lanes go on group by group (groups.h) */
    struct tr_shapes shapes; /* TR_SCOPE_BLOCK, in lanes of rows and rows */
    bool *depends_on_row;    /* by value: rows may have different ones for the same x */
    struct tr_unit *units;   /* by segment */
    bool *is_divergent_loop; /* by loop: lanes leave it in different iterations */
    uint32_t *turns;         /* by loop: how often its body runs; 0: not known before the launch */
    struct tr_access_plan **accesses; /* by value; NULL: no load or store (access_plan.h) */
};

/* is_jammed: the iteration includes the y loop's code before and after the x loop. expected: what
 * holds in this version; NULL: nothing. *obstacle: NULL, or why the iteration cannot be
 * widened (irreducible loop, a jammed y loop with more than iterations in it, …), in words for
 * --explain; then the iteration is empty. Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_iteration_build(struct tr_iteration *iteration, const struct tr_target *target,
                                   const struct tr_nest *nest, bool is_jammed,
                                   const struct tr_expectations *expected, const char **obstacle,
                                   struct pxr_error *err);
/* The fast version of an iteration that was built without expectations, and what it expects, in
 * the arena of `whole`. has_places: as above. */
enum pxr_status tr_iteration_build_fast(struct tr_iteration *fast, struct tr_iteration *whole,
                                        const struct tr_nest *nest, bool is_jammed, bool has_places,
                                        struct tr_expectations *expected, const char **obstacle,
                                        struct pxr_error *err);
void tr_iteration_fini(struct tr_iteration *iteration);

/* What to expect of an iteration that was built with steady indices, or without expectations;
 * keeps expected->steady. has_places: also of quotients that lead to addresses. */
enum pxr_status tr_find_expectations(struct tr_iteration *iteration, bool has_places,
                                     struct pxr_arena *arena, struct tr_expectations *expected,
                                     struct pxr_error *err);

/* Adds the indices that are expected not to wrap. whole: the iteration without expectations; fast:
 * one with these, in which others may grow along the row, or the same. In the arena of `whole`.
 * *has_more: some were added. */
enum pxr_status tr_find_steady(struct tr_iteration *whole, const struct tr_iteration *fast,
                               struct tr_expectations *expected, bool *has_more,
                               struct pxr_error *err);

/* Whether an instruction can be made anew from what its operands are in lane 0, whether or not lane
 * 0 is active (steady_indices.c). */
bool tr_is_made_of_first_lane(const struct tr_iteration *iteration, LLVMValueRef inst);

/* Whether the extension counts the number with its sign: also if it says that there is none. */
bool tr_extends_sign(LLVMValueRef extension);

/* Whether a load like that is among the instructions that the number is made of, up to loads
 * (guards.c). */
bool tr_is_made_of_load(LLVMValueRef number, bool (*is_sought)(LLVMValueRef load));

/* Adds numbers that are among the first `count` values of the segment, to which all lanes come
 * (common_quotients.c). `common` has room for TR_MAX_COMMON. has_places: as above. */
#define TR_MAX_COMMON 4
void tr_find_common(const struct tr_iteration *iteration, uint32_t segment, uint32_t count,
                    bool has_places, struct tr_expectations *expected);

/* Whether the number decides, by arithmetic, what is accessed (common_quotients.c). */
bool tr_decides_access(const struct tr_iteration *iteration, uint32_t number);

/* Marks comparisons, by value, that come out alike in all lanes if the quotients that are expected
 * to be common are, and if numbers grow along the row as tr_holds_implied finds in the shapes that
 * follow from the marks (common_turns.c). For iterations of one row. */
void tr_mark_implied(const struct tr_iteration *iteration, const struct tr_expectations *expected,
                     bool *is_common);
bool tr_holds_implied(const struct tr_iteration *iteration, const struct tr_expectations *expected);

/* Whether the value is a constant integer of at most 64 bits; then fills *constant, without a sign
 * (whole_quotients.c). */
bool tr_find_unsigned(LLVMValueRef value, uint64_t *constant);

/* Makes indices of 32 bits that are extended to 64 of what LLVM has made of that; nothing else
 * changes (cut_numbers.c). */
void tr_take_back_cuts(LLVMValueRef function);

/* Flips bits of the parts of a sum that have them, where LLVM flips them of the sum; nothing else
 * changes (flipped_bits.c). nests: the function's. */
void tr_flip_parts(LLVMValueRef function, const struct tr_nest *nests, uint32_t count);

/* Makes parts of quotients (`x & 96` beside `x >> 5`) of the whole, early; nothing else changes
 * (whole_quotients.c). nests: the function's, to be found anew if it says that something has
 * changed. */
bool tr_make_quotients_whole(LLVMValueRef function, const struct tr_nest *nests, uint32_t count);

/* ---- units of control (units.c) ---- */

/* The last step of tr_iteration_build: everything else in the iteration is there already. */
enum pxr_status tr_units_build(struct tr_iteration *iteration, struct pxr_error *err);
/* Whether some of the iteration's lanes may not come to the segment. */
bool tr_is_for_some(const struct tr_iteration *iteration, uint32_t segment);

/* ---- single operands and instructions (side_effect.c) ---- */

/* Whether the load or store is neither volatile nor atomic. */
bool tr_is_plain_access(LLVMValueRef inst);

/* Whether all lanes of a row have one value. */
bool tr_is_same_in_row(const struct tr_iteration *iteration, LLVMValueRef operand);

/* The address that a load, a store or an atomic operation accesses, by number; TR_NONE: it is none
 * of these, or the address is a constant. */
uint32_t tr_accessed_address(const struct tr_value *value);
/* Whether doing it twice makes a difference to anybody. */
bool tr_is_seen(LLVMValueRef inst);
/* Whether lanes that are not active must not do it. */
bool tr_is_for_active_lanes(LLVMValueRef inst);

/* Whether the call only tells the compiler something: it is left out where there are several
 * lanes. */
bool tr_is_hint(LLVMValueRef call);

/* Whether it divides integers, and if so, signed ones, and for what is left. */
bool tr_is_integer_division(LLVMValueRef inst);
bool tr_is_signed_division(LLVMValueRef inst);
bool tr_is_rest(LLVMValueRef inst);

/* What kind of arithmetic an instruction is, by what it takes. A root is a quotient. */
enum tr_arithmetic {
    TR_ARITHMETIC_NONE,
    TR_ARITHMETIC_ADDRESS, /* half of it is part of an access */
    TR_ARITHMETIC_SIMPLE,
    TR_ARITHMETIC_DIVIDE,
    TR_ARITHMETIC_INTEGER_DIVIDE,
    TR_ARITHMETIC_INVERSE, /* a quotient by a constant */
    TR_ARITHMETIC_CONVERT,
    TR_ARITHMETIC_CONVERT_UNSIGNED,
    TR_ARITHMETIC_FUSED,
    TR_ARITHMETIC_FUSED_HALF /* of f16: several instructions (module/multiply_adds.c) */
};
enum tr_arithmetic tr_arithmetic_of(LLVMValueRef inst);

/* Cost of a vector form, in sums of vectors. */
uint32_t tr_cost(const struct tr_target *target, LLVMValueRef inst);

/* ---- all of it as text, for people and tests (plan_text.c) ---- */

/* The nests of a function and their plans, as text. malloc; NULL when out of memory. */
char *tr_plan_text(LLVMValueRef function);

#endif
