/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks in one go (straight.c): what its parts have in common.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_TUNING_STRAIGHT_H
#define PTXRUN_TRANSLATOR_VECTOR_TUNING_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "translator/analysis/analysis.h"

/* ---- shared memory as values (straight_memory.c) ---- */

/* What is known of one element in shared memory. */
struct tr_piece {
    LLVMValueRef value; /* NULL: nothing */
    uint16_t lane;      /* of it, if it is a vector */
    uint16_t bytes;     /* of the element */
};

struct tr_pieces {
    LLVMTargetDataRef layout;
    struct tr_piece *at; /* by the address of the first byte */
    uint32_t limit;      /* addresses are below */
    uint32_t stores;
    uint32_t forwarded; /* loads that have become values */
};

/* Or a vector of them. */
bool tr_straight_is_pointer(LLVMTypeRef type);

/* The function accesses shared memory, and nobody else comes to know where it is. */
bool tr_straight_is_private(const struct tr_graph *graph);

bool tr_straight_init(struct tr_pieces *pieces, struct pxr_arena *arena, LLVMTargetDataRef layout);

enum tr_place { TR_PLACE_ELSEWHERE, TR_PLACE_SHARED, TR_PLACE_UNKNOWN };

/* Whether the address is in shared memory, and at which constant offset. UNKNOWN: it is, anywhere.
 */
enum tr_place tr_straight_place(const struct tr_pieces *pieces, LLVMValueRef address,
                                uint32_t *offset);

/* false: such values cannot be taken apart. */
bool tr_straight_store(struct tr_pieces *pieces, LLVMValueRef value, uint32_t offset);

/* NULL: not all of it is known, or it comes from too many values. */
LLVMValueRef tr_straight_load(struct tr_pieces *pieces, LLVMBuilderRef builder, LLVMTypeRef type,
                              uint32_t offset);

/* ---- the way ---- */

struct tr_way {
    LLVMValueRef function;
    struct tr_graph graph;
    struct tr_loops loops;
    const struct tr_loop *loop; /* over blocks */
    uint32_t join;              /* the segment in which the block is done … */
    bool has_join;              /* … and which is on the way, since it has work of the block */
    LLVMBuilderRef builder;
    LLVMBasicBlockRef header; /* at its end is asked what has to be asked */
    LLVMBasicBlockRef first;  /* of the way's blocks, which are the function's last */
    LLVMValueRef answer;      /* i1: everything goes as expected; NULL: nothing was asked */
    LLVMValueRef *now;        /* by value: what it is on the way; NULL: as it was */
    LLVMValueRef *next;       /* by value: of phis while they change */
    struct tr_pieces pieces;
    uint32_t length;
    uint32_t *work; /* by segment, see tr_straight_find_work(); 0: an exception is on every way from
                       there */
};

LLVMBasicBlockRef tr_straight_new_block(const struct tr_way *way, const char *name);
LLVMValueRef tr_straight_terminator(const struct tr_way *way, uint32_t segment);
/* In the loop, behind its header, and on the way or where it could have gone. */
bool tr_straight_is_inside(const struct tr_way *way, uint32_t segment);

/* straight_step.c */

/* What the value is on the way so far. */
LLVMValueRef tr_straight_now(const struct tr_way *way, LLVMValueRef value);
/* An i1 that is known to be so. */
bool tr_straight_is_bit(LLVMValueRef value, bool is_true);
/* Lanes that are not active, and what is left to the runtime, are not what is expected. */
bool tr_straight_is_exception(LLVMValueRef inst);
/* With operands as they are on the way. */
LLVMValueRef tr_straight_copy(struct tr_way *way, LLVMValueRef inst);
/* All of a segment but phis and the terminator. false: the way ends here. */
bool tr_straight_step_through(struct tr_way *way, uint32_t segment);
/* All at once: one may be what another was. */
void tr_straight_step_phis(struct tr_way *way, uint32_t segment, uint32_t from);
LLVMValueRef tr_straight_incoming(const struct tr_way *way, LLVMValueRef phi, uint32_t from);

/* straight_way.c */

/* How much is done from a segment to the join where most is done, without exceptions. false: out
 * of memory. */
bool tr_straight_find_work(struct tr_way *way);
/* From the header to the join; the last segment on the way. TR_NONE: there is no such way. */
uint32_t tr_straight_walk(struct tr_way *way);

#endif
