/* SPDX-License-Identifier: Apache-2.0
 *
 * The accesses of a kernel to memory, and whether two of them, made by two threads of a block or by
 * one, can meet. Private to the barrier optimisation (barriers.c, forward.c).
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_EFFECTS_H
#define PTXRUN_TRANSLATOR_BARRIERS_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "translator/analysis/address.h"
#include "translator/analysis/analysis.h"
#include "translator/module/launch_facts.h"

/* Addresses from several parameters, or from one that may be in the same allocation as others. */
#define TR_ROOT_ANY UINT8_MAX

struct tr_access {
    uint32_t value; /* the instruction */
    uint32_t segment;
    bool is_read;
    bool is_write;
    bool is_wall; /* may do anything, or orders more than memory: nothing is moved across it */
    bool is_gone; /* the instruction has been erased */
    uint8_t origins;
    uint8_t root;
    uint32_t size_bytes;
    struct tr_sum address; /* TR_AS_THREADS */
    LLVMValueRef pointer;
};

struct tr_effects {
    struct tr_graph *graph;
    const struct tr_dominators *dominators;
    const struct tr_loops *loops;
    const struct tr_shapes *shapes;
    const struct tr_facts *facts;
    const struct ptx_func *kernel; /* NULL: nothing is known of parameters */
    const bool *is_barrier;        /* by segment: it ends with a barrier for the block */
    struct tr_roots roots;
    bool *is_fixed; /* by value: the same in all threads of the block, whenever they execute it */
    uint32_t (*tid_low)[3];  /* by segment: the threads that get there have … */
    uint32_t (*tid_high)[3]; /* … tid_low <= tid <= tid_high */
    uint32_t access_count;
    struct tr_access *accesses; /* in the order of values, so of segments */
    uint32_t *first_access;     /* by segment, and one more: where its accesses begin */
};

/* What effects are made from, of a graph and the block's shape in facts. Memory: the graph's arena.
 */
enum pxr_status tr_effects_analyse(struct tr_graph *graph, const struct tr_facts *facts,
                                   struct tr_dominators *dominators, struct tr_loops *loops,
                                   struct tr_shapes *shapes, struct pxr_error *err);

/* Uses the fields before `roots`, which must be filled; shapes are for the block. Memory: the
 * graph's arena. */
enum pxr_status tr_effects_build(struct tr_effects *effects, struct pxr_error *err);

/* effect_addresses.c: fills roots, is_fixed, tid_low and tid_high; false: out of memory.
 */
bool tr_addresses_prepare(struct tr_effects *effects);
uint8_t tr_origins_of(const struct tr_effects *effects, LLVMValueRef pointer);
/* The number of the parameter that an address is made from, plus 1, or TR_ROOT_ANY. Only for
 * addresses that can lead to global memory only. */
uint8_t tr_param_of(const struct tr_effects *effects, LLVMValueRef pointer);

/* Whether a of one thread and b of another thread of the block may touch the same byte, whenever
 * they are executed. Symmetric. */
bool tr_may_meet(const struct tr_effects *effects, const struct tr_access *a,
                 const struct tr_access *b);

/* The same for one thread. is_same_instance: both addresses are made of the same instances of
 * values. */
bool tr_may_overlap(const struct tr_effects *effects, const struct tr_access *a,
                    const struct tr_access *b, bool is_same_instance);

/* Whether, in one thread and the same instance, they surely are the same bytes. */
bool tr_is_same_place(const struct tr_access *a, const struct tr_access *b);

/* Whether the order of a in one thread and b in another can matter. */
bool tr_conflict(const struct tr_effects *effects, const struct tr_access *a,
                 const struct tr_access *b);

/* Whether the instruction is a barrier for the whole block with a constant id; tr_is_whole_block:
 * or a reduction, which is one too. */
bool tr_is_block_barrier(LLVMValueRef inst);
bool tr_is_whole_block(LLVMValueRef inst);

/* ---- forward.c ---- */

/* The origin of the replaced loads, for the report. */
struct tr_forwarding {
    void *data;
    void (*forwarded)(void *data, LLVMValueRef load, LLVMValueRef store);
    void (*dead)(void *data, LLVMValueRef store);
    void (*promoted)(void *data, LLVMValueRef access);
};

/* Replaces loads of memory that only the own thread writes by the stored value, where no barrier
 * comes between or nobody else reads it, and erases stores to shared memory that nobody reads any
 * more. Erased instructions are marked in effects. */
enum pxr_status tr_forward_stores(struct tr_effects *effects,
                                  const struct tr_forwarding *forwarding, struct pxr_error *err);

/* ---- own_elements.c ---- */

/* Makes elements of shared memory that only one thread touches variables of that thread, if all its
 * accesses to the element are at one address that does not change. */
enum pxr_status tr_promote_own(struct tr_effects *effects, const struct tr_forwarding *report,
                               struct pxr_error *err);

#endif
