/* SPDX-License-Identifier: Apache-2.0
 *
 * The function of the blocks while it is being built: what fuse.c, which chains the regions' loops,
 * and region_loop.c, which makes one, tell each other. Warp operations are in warp_ops.c.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_REGION_LOOP_H
#define PTXRUN_TRANSLATOR_COLLAPSE_REGION_LOOP_H

#include "translator/collapse/fuse.h"

/* Operands and results of a sync point of the warp, each for all lanes. Sync points that are far
 * from each other share, so that the stack does not grow with their number; those that are near do
 * not, so that what keeps one in memory keeps no other there. */
#define TR_WARP_SLOTS 32

struct tr_warp_slot {
    LLVMValueRef operand[TR_SYNC_OPERANDS][2]; /* of 32, of 64 bits */
    LLVMValueRef values;                       /* i32 */
    LLVMValueRef predicates;                   /* i8 */
};

struct tr_fused {
    struct tr_fuse *fuse;
    struct tr_clone clone;
    LLVMValueRef threads;  /* struct rt_thread *: of thread 0 */
    LLVMValueRef ctaid[3]; /* i32: of the block that runs */
    LLVMValueRef *result;  /* by sync point: variable with what it gave, if all threads of the group
                              get  the same */
    LLVMValueRef *
        *loaded;      /* by fused sync point, by value: the group's elements before its region */
    bool *is_dynamic; /* by sync point: as tr_region_is_dynamic */
    /* Behind sync points of the warp (warp_values.c): variables, with an element for each lane, but
     * for warp_value; NULL: not needed yet. */
    LLVMValueRef *warp_array;                 /* by value: of home THREAD */
    LLVMValueRef *warp_value;                 /* by value: of home GROUP */
    struct tr_warp_slot slots[TR_WARP_SLOTS]; /* by sync point modulo their number */
    LLVMValueRef shown;                       /* i32: what lanes read of each other */
    LLVMValueRef scratch;                     /* what helpers read and write */
    LLVMBasicBlockRef *begin; /* by sync point, those of the block and sync point 0: all threads go
                                 on from there */
    LLVMBasicBlockRef *loop;  /* by fused sync point: the current group goes on from there */
    LLVMBasicBlockRef mix;    /* threads go on one by one */
    LLVMBasicBlockRef *done;  /* the group has come to a sync point of the block, or has exited: by
                                 the sync point of the block that it set out from, or behind all */
    uint32_t *owner; /* by sync point: the only sync point of the block that groups come there from
                        (next_group.c) */
    uint32_t left;   /* the region whose end is being built */
    LLVMBasicBlockRef block_done;
    LLVMValueRef warp; /* variable i32, hierarchical: the warp that runs … */
    LLVMValueRef from; /* … the sync point from which warps have begun … */
    LLVMValueRef
        outcome; /* … and where they have come to: 0 nowhere yet, OUTCOME_MIXED, or a sync point */
    LLVMValueRef arrived; /* variable i32: argument of rt_block_mix */
    LLVMValueRef any; /* variables i32: the sync points that threads of the group came to: or, */
    LLVMValueRef all; /* and of their numbers */
};

/* Which threads a loop runs. */
struct tr_lanes {
    LLVMValueRef warp;  /* i32: the warp, hierarchical only */
    LLVMValueRef first; /* i32: its first thread; flat: 0 */
    LLVMValueRef count; /* i32: of threads */
    LLVMValueRef group; /* i64: index into group arrays */
};

/* A region while it is built: a loop in which its threads take turns. */
struct tr_region_build {
    struct tr_fused *fused;
    struct tr_fuse *fuse;
    uint32_t number; /* of the sync point it begins behind */
    struct tr_lanes lanes;
    LLVMValueRef thread;    /* i32: the thread's number in its block … */
    LLVMValueRef index;     /* … as i64 */
    LLVMValueRef lane;      /* i32: its lane, hierarchical only */
    LLVMValueRef tid[3];    /* i32 */
    LLVMValueRef context;   /* struct rt_thread * of the thread */
    LLVMBasicBlockRef next; /* where a thread goes when its turn is over */
    LLVMValueRef *loaded;   /* by value: what has been brought in from before the region */
};

/* The loop or loops over the group's threads, from the builder's place, which is behind them
 * afterwards (thread_loops.c). body makes one iteration, in the innermost: it knows thread and tid,
 * and ends in branches to `next`. */
void tr_build_thread_loops(struct tr_region_build *region,
                           void (*body)(struct tr_region_build *region));

/* A call of rt_sreg_…, at the builder's place in an iteration (registers.c); NULL: it is none. */
LLVMValueRef tr_read_register(struct tr_region_build *region, uint32_t value);

/* The group's threads, at the builder's place. */
struct tr_lanes tr_lanes_now(const struct tr_fused *fused);

/* Fills loop[sync point], at the builder's place, which is where the group goes on from the sync
 * point: a loop over its threads, each from there to its next sync point or exit. Leaves the
 * builder behind the loop.
 */
enum pxr_status tr_build_region(struct tr_fused *fused, uint32_t sync, struct pxr_error *err);

/* Whether threads of the region may come to different sync points, or all of them may exit, and
 * only they can tell: then `any` and `all` say what happened. */
bool tr_region_is_dynamic(const struct tr_fused *fused, uint32_t region);

/* The threads of the group may have exited when it goes on from the sync point. */
bool tr_looks_for_exited(const struct tr_fused *fused, uint32_t sync);

/* What has been saved at the region's sync point needs no saving at the next. */
bool tr_is_saved_already(const struct tr_fused *fused, uint32_t region, uint32_t sync,
                         uint32_t value);

/* A special register that is the same in all threads is asked of thread 0, so that it need not be
 * asked again in each iteration. value: the call in the kernel. */
LLVMValueRef tr_group_register(struct tr_fused *fused, uint32_t value);
bool tr_is_group_register(LLVMValueRef call);
/* tid.x of the warp's first lane. */
LLVMValueRef tr_first_tid(struct tr_fused *fused);

/* Threads go on one by one; those before `arrived` have come to their sync points. */
void tr_go_to_mix(const struct tr_fused *fused);

/* ---- from group to group (next_group.c) ---- */

enum pxr_status tr_groups_init(struct tr_fused *fused, struct pxr_error *err);
/* Where a group goes that has left the sync point's region and has come to a sync point of the
 * block, or has exited. */
LLVMBasicBlockRef tr_group_done(struct tr_fused *fused, uint32_t sync);
/* Fills those that somebody goes to. */
enum pxr_status tr_build_groups_done(const struct tr_fused *fused, struct pxr_error *err);

/* ---- values of the group (group_values.c) ---- */

/* The value, of home GROUP at the sync point, need not be saved by the threads of the region. It
 * must be when some may be at the sync point while others are elsewhere: they find it in the
 * group's place. */
bool tr_is_group_value(struct tr_fused *fused, uint32_t region, uint32_t sync, uint32_t value);
/* All live threads of the group have come from the region to the sync point: saves those values, at
 * the builder's place. */
void tr_save_group_values(struct tr_fused *fused, uint32_t region, uint32_t sync);

/* Whether what the group has in common decides where all its threads go from the region. */
bool tr_is_group_way(struct tr_fused *fused, uint32_t region);
/* Goes there, behind the loop. targets: by sync point; 0: all have exited. */
void tr_build_group_way(struct tr_fused *fused, uint32_t region, const LLVMBasicBlockRef *targets);

/* ---- what is kept behind sync points (warp_values.c) ---- */

/* The region's thread keeps the value for what is behind the sync point, by the sync point's plan.
 */
void tr_keep(struct tr_region_build *region, uint32_t sync, uint32_t value, LLVMValueRef now);
/* What it has kept, of home THREAD, behind the region's sync point. */
LLVMValueRef tr_kept(struct tr_region_build *region, uint32_t value);
/* Where a group keeps it, of home GROUP. */
LLVMValueRef tr_group_place(struct tr_fused *fused, uint32_t sync, uint32_t value,
                            LLVMValueRef group);

/* Operand i of the sync point's placeholder, of the region's thread; then, of a sync point of the
 * warp, of all lanes: <32 x T>, where T is float if floats are shuffled, which tr_as_integers
 * undoes. */
void tr_keep_operand(struct tr_region_build *region, uint32_t sync, unsigned i, LLVMValueRef now);
LLVMValueRef tr_kept_operand(struct tr_fused *fused, uint32_t sync, unsigned i);
LLVMValueRef tr_as_integers(const struct tr_fuse *fuse, LLVMValueRef lanes);

/* What an operation of the warp gives: <32 x i32>, or <32 x float> if floats are shuffled, and <32
 * x i1> for bit 32, or NULL; then, to the region's thread, as the placeholder returns it. */
void tr_give_lanes(struct tr_fused *fused, uint32_t sync, LLVMValueRef values,
                   LLVMValueRef predicates);
LLVMValueRef tr_lane_result(struct tr_region_build *region);
/* Whether bit 32 of what the placeholder returns matters. */
bool tr_asks_predicate(LLVMValueRef call);

/* The operand of rt_shfl that is shuffled. */
#define TR_SHFL_VALUE 2

/* <32 x type> in memory that is aligned for vector registers, which are shorter. */
LLVMValueRef tr_load_lanes(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef place);
void tr_store_lanes(const struct tr_fuse *fuse, LLVMValueRef lanes, LLVMValueRef place);

/* Memory for a struct rt_fused_op, or a value of all lanes. */
LLVMValueRef tr_scratch(struct tr_fused *fused);

/* Lanes of the current warp that stand at the sync point go on one by one: what they have kept for
 * what is behind it, and their operands, go to the frame. */
void tr_put_into_frame(struct tr_fused *fused, uint32_t sync);

/* ---- operations (warp_ops.c) ---- */

/* Does the operation of a sync point of the warp, for the current warp, at the builder's place: all
 * its live lanes have come to the sync point. */
void tr_build_warp_op(struct tr_fused *fused, uint32_t sync, const struct tr_lanes *lanes);

/* i1: lanes that name each other in their masks all have the same mask, so that none of them waits
 * for anybody who is not here. For sync points that ask. */
LLVMValueRef tr_build_mask_test(struct tr_fused *fused, uint32_t sync,
                                const struct tr_lanes *lanes);

/* As tr_build_warp_op, for a reduction of a barrier, for the block. */
void tr_build_barrier_reduction(struct tr_fused *fused, uint32_t sync);

#endif
