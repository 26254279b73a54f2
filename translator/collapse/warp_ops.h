/* SPDX-License-Identifier: Apache-2.0
 *
 * One operation of a warp while it is built from vectors with an element for each lane. Private to
 * warp_ops.c and shuffle.c.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_WARP_OPS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_WARP_OPS_H

#include "translator/collapse/region_loop.h"

struct tr_warp_op {
    struct tr_fused *fused;
    const struct tr_fuse *fuse;
    LLVMBuilderRef builder;
    uint32_t sync;
    LLVMValueRef call; /* the placeholder's, in the kernel */
    enum rt_placeholder placeholder;
    int mask;          /* number of the operand that is the member mask; -1: there is none */
    int mode;          /* likewise */
    LLVMValueRef live; /* i32, a bit for each lane that exists and has not exited; never 0 */
    bool is_whole;     /* all lanes are known to be live */
};

/* The results of the lanes. */
struct tr_warp_result {
    LLVMValueRef values;     /* <32 x i32> or, of floats, <32 x float>; or NULL … */
    LLVMValueRef same;       /* … and this i32 for all, or NULL */
    LLVMValueRef predicates; /* <32 x i1>: bit 32 of the placeholder's result; NULL: none */
};

/* <32 x T> */
LLVMValueRef tr_wo_splat(const struct tr_warp_op *op, LLVMValueRef scalar);
LLVMValueRef tr_wo_splat_i32(const struct tr_warp_op *op, uint32_t value);
/* Operand i of the placeholder, for all lanes. */
LLVMValueRef tr_wo_operand(const struct tr_warp_op *op, unsigned i);
/* The same in live lanes; `other` in those that are not. */
LLVMValueRef tr_wo_live_or(const struct tr_warp_op *op, LLVMValueRef lanes, LLVMValueRef other);

/* The first live lane's element. */
LLVMValueRef tr_wo_first(const struct tr_warp_op *op, LLVMValueRef lanes);

LLVMValueRef tr_wo_intrinsic(const struct tr_warp_op *op, const char *name, LLVMTypeRef *types,
                             unsigned type_count, LLVMValueRef *args, unsigned count);

/* tr_wo_NAME: the result of rt_NAME if all live lanes are in each other's masks (warp_ops.c,
 * shuffle.c). */
#define DECLARE_NOTHING(name)
#define DECLARE_WORDS(name)
#define DECLARE_VECTORS(name) struct tr_warp_result tr_wo_##name(const struct tr_warp_op *op);
#define DECLARE_MASKED        DECLARE_VECTORS
#define PLACEHOLDER(ID, name, home, gives, takes, sync, waits, effect, shape, fused)               \
    DECLARE_##fused(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER

#endif
