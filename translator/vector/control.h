/* SPDX-License-Identifier: Apache-2.0
 *
 * The control flow of an iteration while it is emitted: the values that edges bring to segments
 * (edges.c), the merging of several ways (merge.c), and the units themselves (control.c). Private
 * to these files.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_CONTROL_H
#define PTXRUN_TRANSLATOR_VECTOR_CONTROL_H

#include "translator/vector/emit/widen.h"
#include "translator/vector/memory/load_store.h"

#include "util/arena.h"

/* Loops with more instructions, times copies, get no copy for all lanes. */
#define TR_TOGETHER_MAX 1500

/* What the edges emitted so far bring to a segment. Emitting the segment consumes it; for a loop's
 * header the edges that lead back then fill it again. */
struct tr_join {
    LLVMValueRef predicate; /* of a unit that is TR_UNIT_UNIFORM: i1, whether control comes here */
    LLVMValueRef mask[TR_MAX_COPIES]; /* of TR_UNIT_MASKED: the lanes that come here; NULL: none */
    LLVMValueRef condition; /* the mask `of_condition` says no more than that this i1 of the
                               iteration is as expected, at a place where all lanes were active */
    bool expected;
    LLVMValueRef of_condition; /* copy 0's */
    uint32_t phi_count;
    LLVMValueRef *pending; /* by phi * copies + copy: the phi's value, as it is held; NULL: none */
};

/* Where a fast version goes when something is not as expected. */
struct tr_exits_of_fast {
    const struct tr_expectations *expected;
    LLVMBasicBlockRef none;  /* goes here if no lane takes the way that a guard expects … */
    LLVMBasicBlockRef apart; /* … here if its vectors had too many groups … */
    LLVMBasicBlockRef other; /* … and here if some do, or if what lanes should have in common
                                differs, or an index wraps */
};

struct tr_control {
    struct tr_widen *widen;
    const struct tr_iteration *iteration;
    const struct tr_exits_of_fast *exits;
    struct pxr_arena arena;
    struct tr_join *joins;     /* by segment */
    struct tr_active *anchors; /* by segment: the lanes that are active at the anchor of its unit,
                                  while units of that anchor are emitted */
    bool is_part; /* a copy of a unit for some of the lanes is being emitted: it contains no copies
                     for all lanes */
    uint32_t one_group; /* segment at whose end all lanes have to be of one group (groups.h);
                           TR_NONE: none. Otherwise control goes to: */
    LLVMBasicBlockRef groups;
    bool may_be_empty; /* the unit being emitted is not branched around: perhaps no lane at all is
                          active */
    bool is_out_of_memory;
};

/* ---- edges (edges.c) ---- */

/* Emits the way out of a segment all of whose instructions have been emitted. */
void tr_control_leave(struct tr_control *control, uint32_t segment);

/* The edge leads back to the header of a loop that the segment is in. */
bool tr_control_is_back_edge(const struct tr_iteration *iteration, uint32_t from, uint32_t to);

/* Phis of the segment, in order: value numbers first_value, first_value + 1, … */
uint32_t tr_control_phi_count(const struct tr_iteration *iteration, uint32_t segment);

/* Emits the instructions of a loop's header without phis and branch, where all lanes are to be of
 * one group (group_header.c). */
void tr_control_emit_group_header(struct tr_control *control, uint32_t segment);

/* Whether all lanes come to the segment, as they are of one group. */
bool tr_control_is_whole_group(const struct tr_control *control, uint32_t segment);

/* ---- units (control.c) and loops (loop.c) ---- */

/* Emits a segment whose phis have their values, and the units that follow it. */
void tr_control_emit_segment(struct tr_control *control, uint32_t segment);
/* Emits a unit, with the values that edges have brought to it. */
void tr_control_emit_unit(struct tr_control *control, uint32_t segment);
/* Emits the unit of a loop's header for the active lanes. pending: the values brought to its
 * phis. */
void tr_control_emit_loop(struct tr_control *control, uint32_t header, LLVMValueRef *pending);

/* Makes the values that edges have brought the values of the segment's phis. */
void tr_control_define_phis(struct tr_control *control, uint32_t segment,
                            const LLVMValueRef *pending);

/* i1: all lanes of all copies come here. join: whose mask decides. */
LLVMValueRef tr_control_all_come(struct tr_widen *widen, const struct tr_join *join,
                                 const LLVMValueRef *mask);

/* i1: some lane of some copy comes here. */
LLVMValueRef tr_control_any_comes(struct tr_widen *widen, const struct tr_join *join,
                                  const LLVMValueRef *mask);

/* ---- units that at most one lane of a row comes to (single.c) ---- */

/* Whether the unit is one segment that leads to the place where all lanes meet and brings no value
 * there. */
bool tr_control_is_simple(const struct tr_control *control, uint32_t segment);
bool tr_control_is_single(const struct tr_control *control, uint32_t segment);
void tr_control_emit_single(struct tr_control *control, uint32_t segment);

/* ---- indices that are expected not to wrap (steady.c) ---- */

/* Leaves the fast version if one that can be asked for behind this instruction, which has been
 * emitted, wraps; NULL: at the iteration's beginning. */
void tr_control_check_steady(struct tr_control *control, LLVMValueRef behind);

/* ---- whether lanes agree, where all are active (agree.c): i1 ---- */

/* Whether the branch's condition has this value in all lanes. False: in most it does not. */
LLVMValueRef tr_control_all_take(struct tr_widen *widen, LLVMValueRef condition, bool expected);
/* Whether the condition is the `and` (expected) or the `or` (not expected) of two others. */
bool tr_control_is_pair(LLVMValueRef condition, bool expected, LLVMValueRef parts[2]);
/* Whether all lanes have this quotient in common (common_quotients.c). */
LLVMValueRef tr_control_all_share(struct tr_widen *widen, LLVMValueRef quotient);
/* Whether any lane takes it. */
LLVMValueRef tr_control_any_takes(struct tr_widen *widen, LLVMValueRef condition, bool expected);

/* ---- units that are TR_UNIT_MASKED, by their first segment (control.c) ---- */

/* Whether the unit is branched around if no lane comes; if not, it is emitted as if all came. */
bool tr_control_is_branched_around(const struct tr_iteration *iteration, uint32_t segment);
/* … and if it is, whether to emit it a second time without masks, for when all lanes come. */
bool tr_control_is_split(const struct tr_iteration *iteration, uint32_t segment, uint32_t copies,
                         bool is_concise);

/* ---- ways that come together (merge.c) ---- */

/* The variables that a unit may assign and that mean something behind it. */
struct tr_slots {
    uint32_t count;
    LLVMValueRef **slots;  /* into joins */
    LLVMValueRef *nothing; /* what a slot means before anything is assigned to it: no lane, false,
                              poison */
};

/* The slots of these segments. */
struct tr_slots tr_control_slots(struct tr_control *control, const uint32_t *segments,
                                 uint32_t count);
/* Appends those of `more`. */
struct tr_slots tr_control_slots_join(struct tr_control *control, struct tr_slots a,
                                      struct tr_slots b);

/* One way to a place, with the contents of the slots at its end. */
struct tr_way {
    LLVMBasicBlockRef end;
    LLVMValueRef *values;
};

/* The way that ends at the builder's place. */
struct tr_way tr_control_way(struct tr_control *control, const struct tr_slots *slots);
/* Gives the slots the contents they had at the end of the way. */
void tr_control_restore(const struct tr_slots *slots, const struct tr_way *way);
/* The ways all lead to the builder's block, which is empty: makes phis of the slots there. */
void tr_control_merge(struct tr_control *control, const struct tr_slots *slots,
                      const struct tr_way *ways, uint32_t count);

/* ---- the iteration (control.c) ---- */

/* Emits the iteration at the builder's place, with counters defined and `active` set; leaves the
 * builder where all lanes have come to the end. */
enum pxr_status tr_control_iteration(struct tr_widen *widen, const struct tr_exits_of_fast *exits,
                                     struct pxr_error *err);

/* ---- everything else (instruction.c) ---- */

/* Emits any instruction of the iteration but phis and terminators. */
void tr_control_instruction(struct tr_widen *widen, uint32_t value);

/* Whether the instruction has a vector form; if not it is emitted by tr_memory_serial. */
bool tr_has_vector_form(const struct tr_iteration *iteration, uint32_t value);

#endif
