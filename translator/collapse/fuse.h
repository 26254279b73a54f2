/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the builders of a fused kernel: the function of the blocks (fuse.c, region_loop.c,
 * warp_ops.c) and the function of one step (step_function.c).
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_FUSE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_FUSE_H

#include "kernel_abi/rt.h"
#include "translator/collapse/clone.h"
#include "translator/collapse/frame.h"

/* Branches of the kernel that lead to a fault or not depending on the launch only: in practice,
 * checks of a parameter's alignment (faults.c). */
struct tr_faults {
    uint32_t count;
    uint32_t *branches; /* values */
};

/* Rows of neighbouring blocks that run as one (tuning/walk.c). */
struct tr_walk {
    uint32_t threads;   /* of a row that run as one, about; 0: each block on its own */
    const bool *is_sum; /* by value: %ctaid.x * %ntid.x + %tid.x, all that is asked of the column */
    const char *why_not; /* NULL: they do, or it was not asked */
};

struct tr_fuse {
    struct tr_kernel *kernel;
    struct tr_storage storage;
    struct tr_frame frame;
    const struct tr_collapse_options *options;
    uint32_t seed_sites; /* places seen so far for the defect asked for */

    bool can_mix; /* some threads may come to another sync point than the others, or to one that is
                     not fused */
    bool *mixes_at; /* by sync point: threads that loops have brought there may go on one by one */
    struct tr_faults faults; /* tested once for a chunk of blocks, not in the loops */
    struct tr_walk walk;
    enum rt_hand_over hands_over; /* what it has not begun, when it is asked to */
    bool has_step;       /* can_mix, or blocks run thread by thread if there may be faults */
    bool has_entries;    /* the frame's entries are used */
    bool *exited_before; /* by sync point: threads may have exited when the others come to it … */
    bool *torn_before;   /* … and others of their group come to it */

    LLVMModuleRef module;
    LLVMContextRef llvm;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i8, i16, i32, i64, ptr, void_type;
    LLVMValueRef step; /* NULL: not needed */

    /* The function being made: the block's data and its numbers of threads. */
    LLVMValueRef function;
    LLVMValueRef block;        /* struct rt_block * */
    LLVMValueRef launch;       /* struct rt_launch * */
    LLVMValueRef frame_base;   /* rt_block.frame */
    LLVMValueRef ntid[3];      /* i32 */
    LLVMValueRef thread_count; /* i32 */
    LLVMValueRef padded_count; /* i64: rounded up to whole warps */
    LLVMValueRef group_count;  /* i64: warps of the block, or 1 */
};

/* ---- small tools (build.c) ---- */

LLVMValueRef tr_fuse_i32(const struct tr_fuse *fuse, uint32_t value);
LLVMValueRef tr_fuse_i64(const struct tr_fuse *fuse, uint64_t value);
LLVMBasicBlockRef tr_fuse_new_block(const struct tr_fuse *fuse, const char *name);
/* base + offset bytes */
LLVMValueRef tr_fuse_offset(const struct tr_fuse *fuse, LLVMValueRef base, uint64_t offset);
/* Loads a field that does not change while the grid runs. */
LLVMValueRef tr_fuse_field(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef base,
                           uint64_t offset, const char *name);
/* Calls an external function; declares it at the first call. */
LLVMValueRef tr_fuse_call(const struct tr_fuse *fuse, const char *name, LLVMTypeRef result,
                          LLVMValueRef *args, unsigned count);
/* A variable of the function; LLVM makes a register of it. */
LLVMValueRef tr_fuse_variable(const struct tr_fuse *fuse, LLVMTypeRef type, const char *name);

/* Fills launch, frame_base, ntid and the counts, at the builder's place, from fuse->block. */
void tr_fuse_load_shape(struct tr_fuse *fuse);

/* The beginning of array `array` (an offset per thread, frame.h). */
LLVMValueRef tr_fuse_thread_array(const struct tr_fuse *fuse, uint32_t array);
/* Element `index` (i64) of the group array. */
LLVMValueRef tr_fuse_group_element(const struct tr_fuse *fuse, uint32_t array, LLVMTypeRef type,
                                   LLVMValueRef index);
/* Element `index` (i64) of an array that begins at base. */
LLVMValueRef tr_fuse_element(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef base,
                             LLVMValueRef index);
/* base + count (i64) times so many bytes. */
LLVMValueRef tr_fuse_scaled(const struct tr_fuse *fuse, LLVMValueRef base, LLVMValueRef count,
                            uint64_t bytes);

/* The number of the place behind the sync point, for the frame and rt_step_fn. */
uint32_t tr_fuse_entry(const struct tr_fuse *fuse, uint32_t sync);

/* Whether to make here the defect that a test asks for. */
bool tr_fuse_seed(struct tr_fuse *fuse, enum tr_seed kind);

/* ---- local arrays (local.c) ---- */

/* A thread among those of its block, all i64. */
struct tr_local_place {
    LLVMValueRef thread;
    LLVMValueRef group; /* its warp, if loops are over warps */
    LLVMValueRef index; /* in the group */
};

/* The thread's copy of an alloca. */
LLVMValueRef tr_fuse_local(const struct tr_fuse *fuse, uint32_t value, struct tr_local_place place);

/* The pitch (interleave.h) that the instruction reads; NULL: it reads none. */
LLVMValueRef tr_fuse_pitch(const struct tr_fuse *fuse, uint32_t value);

/* How much of what it has not begun quick code for the kernel can hand over (hand_over.c). */
enum rt_hand_over tr_what_is_handed_over(const struct tr_kernel *kernel);

/* ---- the functions ---- */

/* Fills fuse->step. is_plain: no pass will look at it. */
enum pxr_status tr_build_step(struct tr_fuse *fuse, bool is_plain, struct pxr_error *err);

/* Makes @ptxrun_kernel; the old kernel no longer has that name. */
enum pxr_status tr_build_fused(struct tr_fuse *fuse, LLVMMetadataRef subprogram,
                               struct pxr_error *err);

#endif
