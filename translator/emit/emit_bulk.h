/* SPDX-License-Identifier: Apache-2.0
 *
 * What bulk copies and copies of tensors share.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_BULK_H
#define PTXRUN_TRANSLATOR_EMIT_BULK_H

#include "translator/emit/emit.h"
#include "translator/rt/bulk.h"

/* Reads the first and the last byte, so that a bad address is one of this instruction. */
void tr_touch(struct tr_ctx *ctx, LLVMValueRef memory, LLVMValueRef bytes);

/* .multicast::cluster: blocks of the cluster that get the same bytes, at the same place in their
 * shared memory, each at its own mbarrier. */
struct tr_multicast {
    LLVMValueRef target; /* in any of the blocks */
    LLVMValueRef ranks;  /* i32: bit by bit */
    LLVMValueRef object; /* the mbarrier, in any of the blocks */
};

/* Reads the mask and faults if it names a block that there is not; sets no object. */
struct tr_multicast tr_read_multicast(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                      unsigned operand, LLVMValueRef target);
/* The source may be what one of the blocks gets, at its place. */
void tr_multicast(struct tr_ctx *ctx, const struct tr_multicast *blocks, LLVMValueRef source,
                  LLVMValueRef bytes);

/* Whether there is such a reduction. */
bool tr_bulk_reduction(enum ptx_mod mod, enum rt_bulk_op *op);

#endif
