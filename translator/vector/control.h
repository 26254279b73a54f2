/* SPDX-License-Identifier: Apache-2.0
 *
 * Control of an iteration while it is emitted: what edges have brought to the segments they lead to
 * (edges.c), where several ways come together (merge.c), and the units themselves (control.c).
 * Private to these.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_CONTROL_H
#define PTXRUN_TRANSLATOR_VECTOR_CONTROL_H

#include "translator/vector/emit/widen.h"
#include "translator/vector/memory/load_store.h"

#include "util/arena.h"

/* What edges that have been emitted so far bring to a segment. Consumed when the segment is
 * emitted; of a loop's header it is then filled by the edges that lead back. */
struct tr_join {
    LLVMValueRef predicate; /* of a unit that is TR_UNIT_UNIFORM: i1, whether control comes here */
    LLVMValueRef mask[TR_MAX_COPIES]; /* of TR_UNIT_MASKED: the lanes that come here; NULL: none */
    LLVMValueRef condition; /* all that the mask `of_condition` says is that this i1 of the
                               iteration is as expected, in a place where all lanes were active */
    bool expected;
    LLVMValueRef of_condition; /* copy 0's */
    uint32_t phi_count;
    LLVMValueRef *pending; /* by phi * copies + copy: the phi's value, as it is held; NULL: none */
};

/* What a fast version does when a guard does not let all lanes through. */
struct tr_guard_exits {
    const struct tr_guard *guards;
    uint32_t count;
    LLVMBasicBlockRef none;  /* goes here if no lane takes the expected way … */
    LLVMBasicBlockRef other; /* … and here if some do */
};

struct tr_control {
    struct tr_widen *widen;
    const struct tr_iteration *iteration;
    const struct tr_guard_exits *guards;
    struct pxr_arena arena;
    struct tr_join *joins;     /* by segment */
    struct tr_active *anchors; /* by segment: the lanes at its unit's anchor, while units of that
                                  anchor are emitted */
    bool is_part; /* in a copy of a unit for some of the lanes: no copies for all lanes in it */
    bool may_be_empty; /* in a unit that is not branched around: no lane at all may be active */
    bool is_out_of_memory;
};

/* ---- edges (edges.c) ---- */

/* Control leaves the segment, all of whose instructions have been emitted. */
void tr_control_leave(struct tr_control *control, uint32_t segment);

/* The edge leads back to the header of a loop that the segment is in. */
bool tr_control_is_back_edge(const struct tr_iteration *iteration, uint32_t from, uint32_t to);

/* Phis of the segment, in order: value numbers first_value, first_value + 1, … */
uint32_t tr_control_phi_count(const struct tr_iteration *iteration, uint32_t segment);

/* ---- units (control.c) and loops (loop.c) ---- */

/* A segment whose phis have their values, and the units that follow it. */
void tr_control_emit_segment(struct tr_control *control, uint32_t segment);
/* A unit, with what edges have brought to it. */
void tr_control_emit_unit(struct tr_control *control, uint32_t segment);
/* The unit of a loop's header, for the active lanes. pending: what has been brought to its phis. */
void tr_control_emit_loop(struct tr_control *control, uint32_t header, LLVMValueRef *pending);

/* What edges have brought becomes the values of the segment's phis. */
void tr_control_define_phis(struct tr_control *control, uint32_t segment,
                            const LLVMValueRef *pending);

/* i1: whether all lanes of all copies come; join: whose mask it is. */
LLVMValueRef tr_control_all_come(struct tr_widen *widen, const struct tr_join *join,
                                 const LLVMValueRef *mask);

/* … whether any lane of any copy does. */
LLVMValueRef tr_control_any_comes(struct tr_widen *widen, const struct tr_join *join,
                                  const LLVMValueRef *mask);

/* ---- units that at most one lane of a row comes to (single.c) ---- */

/* One segment that goes on to where all lanes meet, and brings nothing there. */
bool tr_control_is_simple(const struct tr_control *control, uint32_t segment);
bool tr_control_is_single(const struct tr_control *control, uint32_t segment);
void tr_control_emit_single(struct tr_control *control, uint32_t segment);

/* ---- whether lanes agree, where all are active (agree.c): i1 ---- */

/* True: the branch's condition is this in all lanes. False: mostly, that it is not. */
LLVMValueRef tr_control_all_take(struct tr_widen *widen, LLVMValueRef condition, bool expected);
/* The condition is both of two others (expected), or neither (not expected). */
bool tr_control_is_pair(LLVMValueRef condition, bool expected, LLVMValueRef parts[2]);
/* Whether it is so in any lane. */
LLVMValueRef tr_control_any_takes(struct tr_widen *widen, LLVMValueRef condition, bool expected);

/* ---- units that are TR_UNIT_MASKED, by their first segment (control.c) ---- */

/* Where no lane comes, the unit is branched around; otherwise it is emitted as if all came. */
bool tr_control_is_branched_around(const struct tr_iteration *iteration, uint32_t segment);
/* … and if it is, whether to emit it a second time, without masks, for the case that all lanes
 * come. */
bool tr_control_is_split(const struct tr_iteration *iteration, uint32_t segment, uint32_t copies);

/* ---- ways that come together (merge.c) ---- */

/* Everything that may be assigned in a unit, and means something behind it. */
struct tr_slots {
    uint32_t count;
    LLVMValueRef **slots;  /* into joins */
    LLVMValueRef *nothing; /* what a slot means that nothing has been assigned to: no lane, false,
                              poison */
};

/* The slots of these segments. */
struct tr_slots tr_control_slots(struct tr_control *control, const uint32_t *segments,
                                 uint32_t count);
/* Appends those of `more`. */
struct tr_slots tr_control_slots_join(struct tr_control *control, struct tr_slots a,
                                      struct tr_slots b);

/* One way to a place, with what the slots are when it ends. */
struct tr_way {
    LLVMBasicBlockRef end;
    LLVMValueRef *values;
};

/* The way that ends at the builder's place. */
struct tr_way tr_control_way(struct tr_control *control, const struct tr_slots *slots);
/* The slots as they were at the end of the way. */
void tr_control_restore(const struct tr_slots *slots, const struct tr_way *way);
/* The ways all lead to the builder's block, which is empty: the slots become phis there. */
void tr_control_merge(struct tr_control *control, const struct tr_slots *slots,
                      const struct tr_way *ways, uint32_t count);

/* ---- the iteration (control.c) ---- */

/* Emits the iteration at the builder's place, with counters defined and `active` set; leaves the
 * builder where all lanes have come to the end. */
enum pxr_status tr_control_iteration(struct tr_widen *widen, const struct tr_guard_exits *guards,
                                     struct pxr_error *err);

/* ---- everything else (instruction.c) ---- */

/* Emits any instruction of the iteration but phis and terminators. */
void tr_control_instruction(struct tr_widen *widen, uint32_t value);

/* Whether the instruction has a vector form; if not it is emitted by tr_memory_serial. */
bool tr_has_vector_form(const struct tr_iteration *iteration, uint32_t value);

#endif
