/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies loads and stores by the shapes of their addresses. Emits nothing. Private to
 * translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PLAN_ACCESS_H
#define PTXRUN_TRANSLATOR_VECTOR_PLAN_ACCESS_H

#include "translator/analysis/address.h"
#include "translator/vector/plan/plan.h"

/* Wide accesses with shuffles are made for at most so many elements from lane to lane. */
#define TR_MAX_STEP  8
#define TR_MAX_WIDTH 64

/* ---- what an access is like (access.c) ---- */

enum tr_memory_kind {
    TR_MEMORY_SAME,       /* all lanes of a row at one address */
    TR_MEMORY_CONTIGUOUS, /* lanes next to each other, upwards or downwards */
    TR_MEMORY_STRIDED,    /* 2 to TR_MAX_STEP elements from lane to lane, up or down */
    TR_MEMORY_GENERAL
};

struct tr_memory {
    uint32_t value;
    LLVMValueRef inst;
    LLVMValueRef address;
    uint32_t address_value; /* its number; TR_NONE: a constant */
    LLVMValueRef stored;    /* NULL: a load */
    LLVMTypeRef type;       /* in one lane */
    uint32_t bytes;
    bool is_word; /* the type has exactly 8 * bytes bits, 1, 2, 4 or 8 bytes of them */
    uint32_t align;
    enum tr_memory_kind kind;
    bool has_stride;
    int64_t stride; /* in bytes, if has_stride */
};

struct tr_memory tr_plan_describe(const struct tr_iteration *iteration, uint32_t value);

/* Whether the instruction may write memory, or read memory that something writes. */
bool tr_plan_may_read(const struct tr_iteration *iteration, uint32_t value);
bool tr_plan_may_write(const struct tr_iteration *iteration, uint32_t value);

/* The address as a base and indices of elements. */
struct tr_sum tr_plan_sum(const struct tr_iteration *iteration, LLVMValueRef address);

/* ---- accesses that are done together (fields.c) ---- */

#define TR_MAX_FIELDS 16

/* Accesses of one segment with one stride that lie within one stride, such as those to the fields
 * of a structure; in the order of the segment. All have the size of one field. */
struct tr_fields {
    uint32_t count;
    uint32_t values[TR_MAX_FIELDS];
    uint32_t fields[TR_MAX_FIELDS]; /* by access: elements from the lowest one */
    uint32_t last_field;            /* the highest of them */
    uint32_t place;                 /* which access of them all are done at */
    uint32_t place_field;
    uint32_t align; /* of the lowest */
};

/* The access alone, without others. */
struct tr_fields tr_plan_only(const struct tr_memory *memory);
/* The accesses to do together with this one: at least itself. */
struct tr_fields tr_plan_fields(const struct tr_iteration *iteration,
                                const struct tr_memory *memory);

/* ---- neighbours, unless an index wraps or is clamped (narrow_index.c, clamped_index.c) ---- */

/* A number that is a scalar in vector code: terms and offset, in the width of what it stands for;
 * it grows by `stride` from lane to lane. */
struct tr_unclamped {
    struct tr_sum sum;
    int64_t stride;
};

/* `min` or `max` of a number that grows along the row, and a limit that the row has in common. */
struct tr_clamp {
    struct tr_unclamped limited;
    LLVMValueRef limit;
    bool is_max;
    bool is_signed;
};

#define TR_CLAMPS 4

/* An address of the form sum.base + terms, of which one differs along the row: an index, extended
 * or not, that grows by one element from lane to lane, but where it wraps or is limited to a range.
 */
struct tr_checked {
    struct tr_sum sum;
    bool is_exact; /* no index wraps, by the flags of what computes it; else … */
    uint32_t term;
    LLVMValueRef narrow;
    int64_t stride; /* of the narrow index: small */
    bool is_signed;
    /* The narrow index without its limits, and these, if it has any. */
    struct tr_unclamped unclamped;
    struct tr_clamp clamps[TR_CLAMPS];
    uint32_t clamp_count;
};

/* A bound on the lanes behind the first one: width * jam is less. */
#define TR_MAX_LANES 4096

/* Fills narrow, is_signed, stride, unclamped and clamps of an index that is limited to a range.
 * False: it has another form. */
bool tr_plan_find_clamped(const struct tr_iteration *iteration, struct tr_checked *checked);

/* False: the address has another form. */
bool tr_plan_find_checked(const struct tr_iteration *iteration, const struct tr_memory *memory,
                          struct tr_checked *checked);

/* ---- order (access_order.c) ---- */

/* Whether an access that must be done need not be in order with those of other lanes. */
bool tr_plan_is_relaxed(LLVMValueRef access);
/* Whether it must be in order: its lanes do it one after the other. */
bool tr_plan_is_ordered(LLVMValueRef access);

/* ---- instructions that a lane does before the next lane begins (access_order.c) ---- */

#define TR_MAX_SEQUENCE 16

struct tr_sequence {
    uint32_t count;
    uint32_t values[TR_MAX_SEQUENCE];
};

/* A volatile load and the store that ends it: an atomic operation on the block's memory. `load` is
 * its load. False: it belongs to none. */
bool tr_plan_find_exchange(const struct tr_iteration *iteration, uint32_t load,
                           struct tr_sequence *sequence);
/* Whether the store ends an exchange, and so has been emitted with the load. */
bool tr_plan_ends_exchange(const struct tr_iteration *iteration, uint32_t store);
/* ---- what the target has instructions for (access.c) ---- */

/* Whether the address is one of the block's shared memory, by its form. Only the worker that runs
 * the block, and its cluster, accesses that. */
bool tr_plan_is_in_shared_memory(LLVMValueRef address);
/* Whether a vector of elements of so many bytes, some of which are stored to the address, is better
 * loaded and stored whole: nobody else may write there meanwhile. */
bool tr_plan_is_better_rewritten(const struct tr_target *target, LLVMValueRef address,
                                 uint32_t bytes);
/* Whether the access becomes a branch for each lane under a mask. */
bool tr_plan_is_masked_badly(const struct tr_target *target, const struct tr_memory *memory);
/* Whether LLVM's gathers, and scatters on machines that have them, can do these accesses. */
bool tr_plan_is_gatherable(const struct tr_target *target, const struct tr_memory *memory);
/* Whether lanes at one distance from each other, all active, are better accessed one by one: their
 * addresses are the first one's plus constants. */
bool tr_plan_is_faster_by_lane(const struct tr_target *target, const struct tr_memory *memory);
/* Whether nobody reads soon what the access stores. */
bool tr_plan_is_nontemporal(const struct tr_memory *memory);

#endif
