/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of `straight`: blocks in one go (straight.c).
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_TUNING_STRAIGHT_H
#define PTXRUN_TRANSLATOR_VECTOR_TUNING_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "translator/analysis/analysis.h"

/* ---- shared memory as values (straight_memory.c) ---- */

/* The known value of one element in shared memory. */
struct tr_piece {
    LLVMValueRef value; /* NULL: nothing */
    uint16_t lane;      /* which lane of `value`, if that is a vector */
    uint16_t bytes;     /* of the element */
};

struct tr_pieces {
    LLVMTargetDataRef layout;
    struct tr_piece *at; /* by the address of the first byte */
    uint32_t limit;      /* all addresses are below */
    uint32_t stores;
    uint32_t forwarded; /* loads that were replaced by values */
};

/* Whether the type is a pointer or a vector of them. */
bool tr_straight_is_pointer(LLVMTypeRef type);

/* Whether the function accesses shared memory and lets nobody else know where it is. */
bool tr_straight_is_private(const struct tr_graph *graph);

bool tr_straight_init(struct tr_pieces *pieces, struct pxr_arena *arena, LLVMTargetDataRef layout);

enum tr_place { TR_PLACE_ELSEWHERE, TR_PLACE_SHARED, TR_PLACE_UNKNOWN };

/* Whether the address is in shared memory, and its offset if that is constant. UNKNOWN: anywhere in
 * it. */
enum tr_place tr_straight_place(const struct tr_pieces *pieces, LLVMValueRef address,
                                uint32_t *offset);

/* Notes the stored value. false: values of this type cannot be taken apart. */
bool tr_straight_store(struct tr_pieces *pieces, LLVMValueRef value, uint32_t offset);

/* The loaded value. NULL: not all of it is known, or it comes from too many values. */
LLVMValueRef tr_straight_load(struct tr_pieces *pieces, LLVMBuilderRef builder, LLVMTypeRef type,
                              uint32_t offset);

/* ---- the way ---- */

struct tr_way {
    LLVMValueRef function;
    struct tr_graph graph;
    struct tr_loops loops;
    const struct tr_loop *loop; /* the loop over blocks */
    uint32_t join;              /* the segment in which the block is done … */
    bool has_join;              /* … and whether the way includes that segment, since it has work of
                                   the block */
    LLVMBuilderRef builder;
    LLVMBasicBlockRef header; /* its end asks the questions */
    LLVMBasicBlockRef first;  /* of the way's blocks, which are the function's last */
    LLVMValueRef answer;      /* i1: everything goes as expected; NULL: there was no question */
    LLVMValueRef *now;        /* by value: its counterpart on the way; NULL: it is unchanged */
    LLVMValueRef *next;       /* by value: of phis while they change */
    struct tr_pieces pieces;
    uint32_t length;
    uint32_t *work; /* by segment, see tr_straight_find_work(); 0: every way from there meets an
                       exception */
};

LLVMBasicBlockRef tr_straight_new_block(const struct tr_way *way, const char *name);
LLVMValueRef tr_straight_terminator(const struct tr_way *way, uint32_t segment);
/* Whether the segment is in the loop, behind its header, and on the way or where it could have
 * gone. */
bool tr_straight_is_inside(const struct tr_way *way, uint32_t segment);

/* straight_step.c */

/* The value's counterpart on the way so far. */
LLVMValueRef tr_straight_now(const struct tr_way *way, LLVMValueRef value);
/* Whether the value is an i1 constant of this value. */
bool tr_straight_is_bit(LLVMValueRef value, bool is_true);
/* Whether the instruction is an exception: one for lanes that are not active, or one that leaves
 * work to the run time. */
bool tr_straight_is_exception(LLVMValueRef inst);
/* Copies the instruction, with the operands it has on the way. */
LLVMValueRef tr_straight_copy(struct tr_way *way, LLVMValueRef inst);
/* Copies a segment but for its phis and terminator. false: the way ends here. */
bool tr_straight_step_through(struct tr_way *way, uint32_t segment);
/* Steps all phis at once: one may take the old value of another. */
void tr_straight_step_phis(struct tr_way *way, uint32_t segment, uint32_t from);
LLVMValueRef tr_straight_incoming(const struct tr_way *way, LLVMValueRef phi, uint32_t from);

/* straight_way.c */

/* Counts the work from each segment to the join along the way with most work and no exceptions.
 * false: out of memory. */
bool tr_straight_find_work(struct tr_way *way);
/* Walks from the header to the join; the last segment on the way. TR_NONE: there is no such way. */
uint32_t tr_straight_walk(struct tr_way *way);

#endif
