/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the loops over threads such that LLVM's loop passes understand them: addresses become
 * pointers and offsets (addresses.c), and tests with the same result for the whole launch leave the
 * loops (faults.c).
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_PREPARE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_PREPARE_H

#include <stdbool.h>

#include "translator/collapse/fuse.h"

/* For the scalar kernel, before it is fused: loads values that are the same for the whole launch in
 * the entry block, and makes addresses that are sums with a parameter that pointer plus an
 * offset. */
void tr_prepare_addresses(LLVMValueRef function);

/* Whether the value is a parameter, perhaps without its low bits: if nothing else in a sum is one,
 * it is a pointer. */
bool tr_is_pointer_parameter(LLVMValueRef value);

/* Whether the load reads, through the kernel's first argument, a value that is the same for the
 * whole launch. */
bool tr_is_launch_load(LLVMValueRef inst);

enum pxr_status tr_find_faults(struct tr_kernel *kernel, struct tr_faults *faults,
                               struct pxr_error *err);

/* The branch's target if there is no fault; TR_NONE: it is no such branch. */
uint32_t tr_fault_bypass(const struct tr_kernel *kernel, const struct tr_faults *faults,
                         uint32_t branch);

/* i1, at the builder's place in the function of the blocks: some thread may come to one of these
 * faults. */
LLVMValueRef tr_build_fault_test(const struct tr_fuse *fuse, const struct tr_faults *faults);

/* The metadata of a branch that closes a loop (llvm.loop): a node that names itself first, so that
 * no two are equal, and a property. */
LLVMMetadataRef tr_make_loop(LLVMContextRef llvm, LLVMMetadataRef property);

/* The loop that `latch` closes has an iteration for each thread; its body is in the function's
 * blocks from `first` on. Marks all its accesses to memory: those of different iterations may be
 * mixed. */
void tr_mark_parallel(const struct tr_fuse *fuse, LLVMBasicBlockRef first, LLVMBasicBlockRef latch);

/* Whether the loop tries a compare-and-swap until it succeeds, and so waits for nobody. */
bool tr_is_loop_of_attempts(const struct tr_graph *graph, const struct tr_loop *loop);

/* Finds the polls and sleeps of loops that can wait, and if there are any keeps the lanes of a warp
 * in step; drops_polls: removes the others. *waits_again is set if such a loop is in another one.
 */
enum pxr_status tr_bind_waits(LLVMValueRef function, bool drops_polls, const struct tr_facts *facts,
                              bool *waits_again, struct pxr_error *err);
/* Waits for mbarriers: those that nothing but the mbarrier ends become certain, and do not sleep;
 * drops_line_ups: threads line up only where all of the block come. */
enum pxr_status tr_find_mbarrier_waits(LLVMValueRef function, bool drops_line_ups,
                                       const struct tr_facts *facts, struct pxr_error *err);
/* The second part of tr_bind_waits: makes lanes gather where a machine would bring them together.
 * is_needed: by value; has_polls: some are. thread: the function's struct rt_thread *. Errors:
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_gather_lanes(struct tr_graph *graph, const struct tr_dominators *dominators,
                                const struct tr_loops *loops, const bool *is_needed, bool has_polls,
                                LLVMValueRef thread, const struct tr_facts *facts,
                                struct pxr_error *err);

#endif
