/* SPDX-License-Identifier: Apache-2.0
 *
 * The function of the blocks while it is being built: shared by fuse.c, which chains the regions'
 * loops, and region_loop.c, which makes one. Warp operations are in warp_ops.c.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_REGION_LOOP_H
#define PTXRUN_TRANSLATOR_COLLAPSE_REGION_LOOP_H

#include "translator/collapse/fuse.h"

/* Operands and results of a sync point of the warp, each for all lanes. Sync points far from each
 * other share a slot, so that the stack does not grow with their number; neighbours do not, so that
 * one whose slot stays in memory does not keep the other's there. */
#define TR_WARP_SLOTS 32

struct tr_warp_slot {
    LLVMValueRef operand[TR_SYNC_OPERANDS][2]; /* of 32, of 64 bits */
    LLVMValueRef values;                       /* i32 */
    LLVMValueRef predicates;                   /* i8 */
};

struct tr_fused {
    struct tr_fuse *fuse;
    struct tr_clone clone;
    LLVMValueRef threads;     /* struct rt_thread *: of thread 0 */
    LLVMValueRef hand_over;   /* of quick code: rt_block.hand_over … */
    LLVMValueRef left_blocks; /* … i32: how many blocks the chunk has left, this one included */
    LLVMValueRef ctaid[3];    /* i32: of the block that runs; in a walk: of the first */
    LLVMValueRef together;    /* i32: how many blocks run as one; NULL: always one */
    LLVMValueRef *result; /* by sync point: a variable for its result, if that is the same in all
                             threads of the group */
    LLVMValueRef *
        *loaded;      /* by fused sync point, by value: the group's elements before its region */
    bool *is_dynamic; /* by sync point: as tr_region_is_dynamic */
    bool *is_whole;   /* … and as tr_region_is_whole */
    struct tr_set imports; /* of the region that is being built */
    /* Behind sync points of the warp (warp_values.c): variables, with an element for each lane
     * except in warp_value; NULL: not needed yet. */
    uint32_t *warp_place;                     /* by value, of home THREAD: its array … */
    LLVMValueRef *warp_array;                 /* … by place */
    uint32_t *pool_offset;                    /* by place: where it is in the pool … */
    LLVMValueRef pool;                        /* … of many arrays */
    uint64_t pool_bytes;                      /* 0: there are few */
    LLVMValueRef *warp_value;                 /* by value: of home GROUP */
    struct tr_warp_slot slots[TR_WARP_SLOTS]; /* by sync point modulo their number */
    LLVMValueRef shown;                       /* i32: values that lanes read from each other */
    LLVMValueRef scratch;                     /* for reads and writes of helpers */
    LLVMBasicBlockRef *begin; /* by sync point, for those of the block and sync point 0: all threads
                                 go on from there */
    LLVMBasicBlockRef *loop;  /* by fused sync point: the current group goes on from there */
    LLVMBasicBlockRef mix;    /* threads go on one by one */
    LLVMBasicBlockRef parting; /* lanes of the warp are to do so; NULL: never … */
    LLVMBasicBlockRef *put;    /* … by sync point of the warp: those that stand there … */
    LLVMValueRef to_put;       /* … variable i32: lanes whose values have not moved yet */
    LLVMBasicBlockRef *done;   /* the group has come to a sync point of the block, or has exited: by
                                  the sync point of the block that it began from, or behind all */
    uint32_t *owner; /* by sync point: the only sync point of the block from which groups come there
                        (next_group.c) */
    uint32_t left;   /* the region whose end is being built */
    LLVMBasicBlockRef block_done;
    LLVMValueRef warp; /* variable i32, hierarchical: the warp that runs … */
    LLVMValueRef from; /* … the sync point from which warps began … */
    LLVMValueRef
        outcome; /* … and where they came to: 0 nowhere yet, OUTCOME_MIXED, or a sync point */
    LLVMValueRef arrived; /* variable i32: argument of rt_block_mix */
    bool sets_aside;      /* a group that cannot go on in loops waits for the block's others */
    LLVMValueRef any; /* variables i32: the sync points that threads of the group came to: the `or`
                         … */
    LLVMValueRef all; /* … and the `and` of their numbers */
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
    uint32_t number; /* of its sync point */
    struct tr_lanes lanes;
    LLVMValueRef thread;    /* i32: the thread's number in its block … */
    LLVMValueRef index;     /* … as i64 */
    LLVMValueRef lane;      /* i32: its lane, hierarchical only */
    LLVMValueRef tid[3];    /* i32 */
    LLVMValueRef context;   /* struct rt_thread * of the thread */
    LLVMBasicBlockRef next; /* where a thread goes when its turn is over */
    LLVMValueRef *loaded;   /* by value: values from before the region */
};

/* Builds the loop or loops over the group's threads, from the builder's place, which is behind them
 * afterwards (thread_loops.c). body makes one iteration, in the innermost loop: thread and tid are
 * set, and it ends in branches to `next`. */
void tr_build_thread_loops(struct tr_region_build *region,
                           void (*body)(struct tr_region_build *region));

/* The value of a call of rt_sreg_…, at the builder's place in an iteration (registers.c); NULL: it
 * is no such call. */
LLVMValueRef tr_read_register(struct tr_region_build *region, uint32_t value);

/* The threads of the current group, at the builder's place; all of the block. */
struct tr_lanes tr_lanes_now(const struct tr_fused *fused);
struct tr_lanes tr_lanes_of_block(const struct tr_fused *fused);

/* Fills loop[sync] at the builder's place, from which the group goes on behind the sync point: a
 * loop over its threads, each from there to its next sync point or exit. Leaves the builder behind
 * the loop. */
enum pxr_status tr_build_region(struct tr_fused *fused, uint32_t sync, struct pxr_error *err);

/* Whether only the region's threads can tell which sync points they come to, or whether all of them
 * exit: then `any` and `all` say what happened. */
bool tr_region_is_dynamic(const struct tr_fused *fused, uint32_t region);

/* Whether the region, of a kernel whose groups are warps, is one loop over all threads of the
 * block: it begins and ends at sync points of the block, and warps keep nothing of their own there.
 */
bool tr_region_is_whole(const struct tr_fused *fused, uint32_t region);
/* Finds these regions (next_group.c). */
void tr_find_whole_regions(struct tr_fused *fused);

/* Whether threads of the region may go on one by one, each from a sync point of its own. */
bool tr_region_parts(const struct tr_fused *fused, uint32_t region);

/* Whether threads of the group may have exited before it goes on from the sync point. */
bool tr_looks_for_exited(const struct tr_fused *fused, uint32_t sync);

/* Asks thread 0 for a special register that is the same in all threads, so that not every iteration
 * asks. value: the call in the kernel. */
LLVMValueRef tr_group_register(struct tr_fused *fused, uint32_t value);
bool tr_is_group_register(LLVMValueRef call);
/* tid.x of the warp's first lane. */
LLVMValueRef tr_first_tid(struct tr_fused *fused);

/* Lets threads go on one by one; those before `arrived` have come to their sync points. */
void tr_go_to_mix(const struct tr_fused *fused);
/* The same for a group, when others have gone as far as loops go. */
void tr_set_aside(struct tr_fused *fused);

/* ---- other code that goes on (hand_over.c) ---- */

/* In code that hands over that much: asks at the builder's place whether it is wanted, and returns
 * then: from the current block's thread first_thread (i32) on, so many blocks are left. Leaves the
 * builder where the code goes on. */
void tr_build_hand_over(const struct tr_fused *fused, enum rt_hand_over least,
                        LLVMValueRef first_thread, LLVMValueRef blocks_left);

/* ---- from group to group (next_group.c) ---- */

enum pxr_status tr_groups_init(struct tr_fused *fused, struct pxr_error *err);
/* Where a group goes when it has left the sync point's region and come to a sync point of the
 * block, or exited. */
LLVMBasicBlockRef tr_group_done(struct tr_fused *fused, uint32_t sync);
/* The same wherever the group has begun. */
LLVMBasicBlockRef tr_any_group_done(struct tr_fused *fused);
/* Fills those that are used. */
enum pxr_status tr_build_groups_done(const struct tr_fused *fused, struct pxr_error *err);

/* ---- values of the group (group_values.c) ---- */

/* Whether the region's threads need not save the value, of home GROUP at the sync point. They must
 * if some may be at the sync point while others are elsewhere: these find it in the group's
 * place. */
bool tr_is_group_value(struct tr_fused *fused, uint32_t region, uint32_t sync, uint32_t value);
/* Saves those values, at the builder's place, when all live threads of the group have come from the
 * region to the sync point. */
void tr_save_group_values(struct tr_fused *fused, uint32_t region, uint32_t sync);

/* Whether uniform values of the group decide where all its threads go from the region. */
bool tr_is_group_way(struct tr_fused *fused, uint32_t region);
/* Goes there from behind the loop. targets: by sync point; 0: all have exited. */
void tr_build_group_way(struct tr_fused *fused, uint32_t region, const LLVMBasicBlockRef *targets);

/* ---- what is kept behind sync points (warp_places.c, warp_values.c) ---- */

/* Gives values that are never kept at the same time one array: the fewer there are, the more of
 * them are in the first cache. False when out of memory. */
bool tr_choose_warp_places(struct tr_fused *fused);
/* The memory of all lanes for a value of that type behind sync points of the warp. */
LLVMValueRef tr_warp_array(struct tr_fused *fused, uint32_t value, LLVMTypeRef element);
/* A variable with an element for each lane. */
LLVMValueRef tr_lane_variable(const struct tr_fuse *fuse, LLVMTypeRef element);

/* Keeps the value of the region's thread for the code behind the sync point, by the sync point's
 * plan. */
void tr_keep(struct tr_region_build *region, uint32_t sync, uint32_t value, LLVMValueRef now);
/* The kept value, of home THREAD, behind the region's sync point. */
LLVMValueRef tr_kept(struct tr_region_build *region, uint32_t value);
/* The memory of all lanes for the value, of home THREAD, behind sync points of the warp. */
LLVMValueRef tr_kept_lanes(struct tr_fused *fused, uint32_t value);
/* The same of a value of home GROUP, for the group. */
void tr_keep_of_group(struct tr_fused *fused, uint32_t sync, uint32_t value, LLVMValueRef group,
                      LLVMValueRef now);
LLVMValueRef tr_kept_of_group(struct tr_fused *fused, uint32_t sync, uint32_t value,
                              LLVMValueRef group);
/* Its place, for its kept type. */
LLVMValueRef tr_group_place(struct tr_fused *fused, uint32_t sync, uint32_t value,
                            LLVMValueRef group);

/* Keeps operand i of the sync point's placeholder for the region's thread; then gives it for all
 * lanes, at a sync point of the warp: <32 x T>, where T is float if floats are shuffled, which
 * tr_as_integers undoes. */
void tr_keep_operand(struct tr_region_build *region, uint32_t sync, unsigned i, LLVMValueRef now);
LLVMValueRef tr_kept_operand(struct tr_fused *fused, uint32_t sync, unsigned i);
LLVMValueRef tr_as_integers(const struct tr_fuse *fuse, LLVMValueRef lanes);

/* Keeps the result of an operation of the warp: <32 x i32>, or <32 x float> if floats are shuffled,
 * and <32 x i1> for bit 32, or NULL; then gives it to the region's thread, as the placeholder
 * returns it. */
void tr_give_lanes(struct tr_fused *fused, uint32_t sync, LLVMValueRef values,
                   LLVMValueRef predicates);
LLVMValueRef tr_lane_result(struct tr_region_build *region);
/* Whether anybody uses bit 32 of the placeholder's result. */
bool tr_asks_predicate(LLVMValueRef call);

/* The operand of rt_shfl that is shuffled. */
#define TR_SHFL_VALUE 2

/* <32 x type> in memory that is aligned for vector registers, which are shorter. */
LLVMValueRef tr_load_lanes(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef place);
void tr_store_lanes(const struct tr_fuse *fuse, LLVMValueRef lanes, LLVMValueRef place);

/* Memory for a struct rt_fused_op, or a value of all lanes. */
LLVMValueRef tr_scratch(struct tr_fused *fused);

/* ---- when lanes part (parting.c) ---- */

/* From the builder's place: lanes of the current warp stand at one or several of these sync points,
 * as their entries say, and go on one by one. */
void tr_part(struct tr_fused *fused, const struct tr_set *outcomes);
/* Fills what tr_part leads to. */
void tr_build_parting(struct tr_fused *fused);

/* ---- operations (warp_ops.c) ---- */

/* Does the operation of a sync point of the warp, for the current warp, at the builder's place: all
 * its live lanes have come to the sync point. */
void tr_build_warp_op(struct tr_fused *fused, uint32_t sync, const struct tr_lanes *lanes);

/* i1: lanes that name each other in their masks all have the same mask, so that none of them waits
 * for a lane that is not here. For sync points that ask. */
LLVMValueRef tr_build_mask_test(struct tr_fused *fused, uint32_t sync,
                                const struct tr_lanes *lanes);

/* The same for a reduction of a barrier, for the block. */
void tr_build_barrier_reduction(struct tr_fused *fused, uint32_t sync);

#endif
