/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame, rt_block.frame: a block's memory for values that live across sync points. With T
 * threads (rounded up to whole warps) and G groups (flat: 1; hierarchical: the warps) it is
 *
 *   T entries              uint16_t each: where the thread is (kernel_abi/rt.h)
 *   arrays of T elements   one for each value kept per thread; operands and result of the sync
 *                          point that the thread is at
 *   T times local memory   the thread's local arrays, in one piece
 *   arrays of all threads  local arrays whose elements lie next to each other (interleave.h)
 *   arrays of G elements   one for each value kept per group
 *
 * Values kept behind sync points of the warp, and the operands of these, are here only when threads
 * run one by one; otherwise the function of the blocks has them in variables (warp_values.c).
 *
 * Element t of each array belongs to thread t: loops go through memory in order. T is a multiple of
 * 32, so every array is aligned for its elements.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_FRAME_H
#define PTXRUN_TRANSLATOR_COLLAPSE_FRAME_H

#include <llvm-c/Target.h>

#include "translator/collapse/collapse.h"

#define TR_SYNC_OPERANDS 5 /* the most that a placeholder has beside the thread */

struct tr_frame {
    uint64_t thread_bytes;  /* of one thread, in all arrays and local memory */
    uint64_t group_bytes;   /* of one group, in all arrays */
    uint32_t *thread_array; /* by value: its array begins at T times this, TR_NONE: has none */
    uint32_t *group_array;  /* by value: at T * thread_bytes + G times this, TR_NONE: has none */
    uint32_t operand_array[TR_SYNC_OPERANDS]; /* as thread_array; elements of 8 bytes */
    uint32_t result_array;
    uint32_t local;         /* T times this: where local memory begins */
    uint32_t local_bytes;   /* of one thread */
    bool is_local_shared;   /* threads never stop, so each has finished with local memory when the
                               next one starts: there is one copy of it, on the stack */
    uint32_t *local_offset; /* by value: an alloca's place within the thread's local memory; of an
                               interleaved one, as thread_array … */
    uint32_t *local_gap;    /* … and the size of the gaps before it */
    uint32_t gap_bytes;     /* of a block: all of them */
    uint32_t interleaved_count; /* of local arrays */
    uint32_t piece_count;       /* … that are in one piece */
    struct tr_set tracked;      /* values with a thread array */
    struct tr_set at_hand;      /* values that the step function computes at its beginning, in this
                                   order: they depend on its thread only */
};

/* has_step: threads may be run one by one; then every value that lives across a sync point has
 * memory in each thread. Otherwise only those kept behind sync points of the block have arrays.
 * has_vectors: several threads may run side by side. */
enum pxr_status tr_frame_layout(struct tr_frame *frame, struct tr_kernel *kernel,
                                const struct tr_storage *storage, bool has_step, bool has_vectors,
                                LLVMTargetDataRef target, struct pxr_error *err);

#endif
