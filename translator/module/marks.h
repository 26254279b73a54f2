/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes of steps for later steps about instructions: metadata of our own (marks.def).
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_MARKS_H
#define PTXRUN_TRANSLATOR_MODULE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

enum tr_mark {
#define MARK(ID, name, meaning) TR_MARK_##ID,
#include "translator/module/marks.def"
#undef MARK
    TR_MARK_COUNT
};

/* The name in LLVM's text. */
const char *tr_mark_name(enum tr_mark mark);

/* Marks the instruction; with: the mark's content, NULL: nothing. */
void tr_mark(LLVMValueRef inst, enum tr_mark mark);
void tr_mark_with(LLVMValueRef inst, enum tr_mark mark, LLVMMetadataRef with);

/* The kind of metadata that the mark is in that context, for who asks about many instructions. Of
 * TR_MARK_THREADS, which is a loop's property, there is none. */
unsigned tr_mark_kind(LLVMContextRef llvm, enum tr_mark mark);

bool tr_is_marked(LLVMValueRef inst, enum tr_mark mark);

/* The mark's content as a node; NULL: the instruction is not marked. */
LLVMValueRef tr_marked_node(LLVMValueRef inst, enum tr_mark mark);

void tr_unmark(LLVMValueRef inst, enum tr_mark mark);

/* An array variable with so many elements has one for each lane of a warp and as many behind them:
 * a vector that begins at any lane is inside it, and nobody reads elements that are not a
 * lane's. */
#define TR_LANE_ELEMENTS 64

/* LLVM's own: the load reads memory that does not change while the function runs. */
void tr_mark_invariant(LLVMValueRef load);

/* TR_MARK_THREADS of the loop with this latch: its terminator is the only way back and the only way
 * out. Along 'x' or 'y'; the two may be nested with nothing but iterations in between. block_row:
 * as in struct tr_thread_loop. Comes after any other property of the loop. */
void tr_mark_threads(LLVMBasicBlockRef latch, char axis, uint32_t block_row);

struct tr_thread_loop {
    char axis;          /* 'x' or 'y'; 0: no marked loop */
    uint32_t block_row; /* it goes through several blocks, whose rows have so many threads; 1: it is
                           not known how many; 0: it stays in one block */
};

/* The mark of the loop that the terminator closes. */
struct tr_thread_loop tr_thread_loop_of(LLVMValueRef terminator);

/* Its axis. */
char tr_thread_axis(LLVMValueRef terminator);

#endif
