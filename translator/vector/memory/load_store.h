/* SPDX-License-Identifier: Apache-2.0
 *
 * Emits loads and stores: by address (load_store.c), with small strides (strided.c), any others
 * (gather.c, checked.c), or one lane after the other (serial.c). plan/access.h classifies them.
 * Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_MEMORY_LOAD_STORE_H
#define PTXRUN_TRANSLATOR_VECTOR_MEMORY_LOAD_STORE_H

#include "translator/vector/emit/widen.h"
#include "translator/vector/plan/access.h"

/* ---- emission (load_store.c) ---- */

/* pointer + bytes */
LLVMValueRef tr_memory_advance(struct tr_widen *widen, LLVMValueRef pointer, int64_t bytes);
/* Integer type of that many bytes. */
LLVMTypeRef tr_memory_word(const struct tr_widen *widen, uint32_t bytes);
LLVMValueRef tr_memory_call(struct tr_widen *widen, const char *intrinsic, LLVMTypeRef *types,
                            uint32_t type_count, LLVMValueRef *operands, uint32_t count);
/* Alignment of one of the call's operands. */
void tr_memory_set_align(struct tr_widen *widen, LLVMValueRef call, unsigned operand,
                         uint32_t align);
/* A variable in the function's entry block. */
LLVMValueRef tr_memory_variable(struct tr_widen *widen, LLVMTypeRef type, const char *name);
/* Memory of that size that lanes which are not active may read and write. */
LLVMValueRef tr_memory_nowhere(struct tr_widen *widen, uint32_t bytes);
/* The value with one lane (an i32 value) replaced; `type` is the lane's. */
LLVMValueRef tr_memory_insert_lane(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef vector,
                                   LLVMValueRef of_lane, LLVMValueRef lane);
/* A plain access to a vector, or one under a mask of as many elements. It gets the hints that all
 * of the accesses have. */
LLVMValueRef tr_memory_load(struct tr_widen *widen, const struct tr_fields *fields,
                            LLVMTypeRef type, LLVMValueRef pointer, uint32_t align,
                            LLVMValueRef mask);
void tr_memory_store(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef value,
                     LLVMValueRef pointer, uint32_t align, LLVMValueRef mask);
/* Prefetches the memory ahead of an access (TR_MARK_AHEAD) to a vector at this pointer. */
void tr_memory_ask_ahead(struct tr_widen *widen, LLVMValueRef access, LLVMValueRef pointer);
/* Keeps nontemporal and invariant.load if all of the accesses have them. */
void tr_memory_keep_hints(struct tr_widen *widen, const struct tr_fields *fields,
                          LLVMValueRef inst);
/* <n x i1> as an integer of n bits, and of 32 at least. */
LLVMValueRef tr_memory_bits(struct tr_widen *widen, LLVMValueRef mask);
/* The number of the lowest bit of such an integer that is set, as an i32. */
LLVMValueRef tr_memory_lowest(struct tr_widen *widen, LLVMValueRef bits);
/* The index of the first lane that is active; 0 if mask is NULL. */
LLVMValueRef tr_memory_first_lane(struct tr_widen *widen, LLVMValueRef mask);
/* Whether all lanes of all copies have one value. */
bool tr_memory_is_same_for_all(const struct tr_widen *widen, LLVMValueRef operand);
/* The copy at which the operand is defined; 0 for constants. */
uint32_t tr_memory_holder(const struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);
/* A pointer to so many bytes that all lanes of a copy have in common; it points to spare memory if
 * no lane of the copies that share it is active. */
LLVMValueRef tr_memory_address(struct tr_widen *widen, LLVMValueRef pointer, uint32_t bytes,
                               uint32_t copy);
LLVMValueRef tr_memory_i32(const struct tr_widen *widen, uint64_t n);
/* Seeds TR_VECTOR_SEED_STRIDE: makes the address, or the lanes' addresses, one element too high. */
LLVMValueRef tr_memory_seed_stride(struct tr_widen *widen, const struct tr_memory *memory,
                                   LLVMValueRef address);

/* ---- under a mask (under_mask.c) ---- */

struct tr_under_mask {
    const struct tr_fields *fields;
    LLVMTypeRef type; /* a vector's */
    LLVMValueRef pointer;
    uint32_t align;
    LLVMValueRef mask; /* of as many elements */
};
LLVMValueRef tr_memory_load_under_mask(struct tr_widen *widen, const struct tr_under_mask *access);
void tr_memory_store_under_mask(struct tr_widen *widen, const struct tr_under_mask *access,
                                LLVMValueRef value);

/* ---- small strides, and 1 (strided.c) ---- */

void tr_memory_load_fields(struct tr_widen *widen, const struct tr_memory *memory,
                           const struct tr_fields *fields);
void tr_memory_store_fields(struct tr_widen *widen, const struct tr_memory *memory,
                            const struct tr_fields *fields);

/* ---- any addresses (gather.c) ---- */

/* A vector of pointers. */
LLVMValueRef tr_memory_lane_addresses(struct tr_widen *widen, const struct tr_memory *memory,
                                      uint32_t copy);
/* All in which the lanes' addresses differ, as a vector of integers of 32 or 64 bits: an index,
 * before it is extended with its sign, or the addresses. Neighbours' differ by `step`. */
struct tr_lane_index {
    LLVMValueRef vector;
    uint64_t step;
};
struct tr_lane_index tr_memory_lane_index(struct tr_widen *widen, const struct tr_memory *memory,
                                          uint32_t copy);
LLVMValueRef tr_memory_gather(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                              LLVMValueRef mask);
void tr_memory_scatter(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                       LLVMValueRef mask);

/* ---- elements of local arrays (local_arrays.c) ---- */

/* The addresses as a vector of pointers; NULL: the access is not to an array in local memory, or
 * not at indices of whole elements. */
LLVMValueRef tr_memory_array_addresses(struct tr_widen *widen, const struct tr_memory *memory,
                                       uint32_t copy);

/* ---- neighbours, or any addresses (either.c) ---- */

/* A vector's last lanes, if they are neighbours elsewhere than those in front of them. */
struct tr_second_row {
    LLVMValueRef lanes;        /* <width x i1>; those between active ones may not be active */
    LLVMValueRef last_address; /* of the vector's last lane */
};

/* Where neighbours are in memory. */
struct tr_neighbours {
    /* The address of the copy's lane 0, active or not. */
    LLVMValueRef (*first_address)(struct tr_widen *widen, const struct tr_memory *memory,
                                  const void *detail, uint32_t copy);
    /* Asked behind the check; NULL: all lanes are in one row. */
    struct tr_second_row (*second_row)(struct tr_widen *widen, const struct tr_memory *memory,
                                       const void *detail, uint32_t copy);
    /* i1: whether lanes are neighbours; NULL: they are. */
    LLVMValueRef (*check)(struct tr_widen *widen, const struct tr_memory *memory,
                          const void *detail);
    const void *detail;
    bool is_guess; /* that they mostly are */
};

/* Whether the copy has an access of its own. */
bool tr_memory_does_access(const struct tr_widen *widen, const struct tr_memory *memory,
                           uint32_t copy);
/* <width x i1> of the lanes that a copy's access is for; NULL: all. */
LLVMValueRef tr_memory_mask(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy);
/* Does the access to neighbours, and behind a branch, if there is a check, to any addresses. */
void tr_memory_access_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct tr_neighbours *neighbours);

/* ---- neighbours, unless an index wraps (checked.c) ---- */

void tr_memory_access_checked(struct tr_widen *widen, const struct tr_access_plan *plan);

/* ---- stores past the caches (nontemporal_stores.c) ---- */

/* One copy's store to neighbours. All its lanes are active. */
struct tr_store {
    LLVMValueRef value;
    LLVMValueRef address;
};

/* Whether a store to neighbours may go past the caches: then tr_memory_store_past_caches writes its
 * copies. */
bool tr_memory_may_pass_caches(const struct tr_widen *widen, const struct tr_memory *memory);
/* stores: by copy. */
void tr_memory_store_past_caches(struct tr_widen *widen, const struct tr_memory *memory,
                                 const struct tr_store *stores);

/* ---- checks of memory (bounds.c) and of numbers (wrong_numbers.c) ---- */

bool tr_memory_is_check(LLVMValueRef inst);
void tr_memory_check(struct tr_widen *widen, uint32_t value);

bool tr_memory_is_number_check(LLVMValueRef inst);
void tr_memory_check_number(struct tr_widen *widen, uint32_t value);

/* ---- checks of races (race_rows.c) ---- */

/* Whether the instruction is one that lanes can do together. */
bool tr_memory_is_race_check(const struct tr_iteration *iteration, LLVMValueRef inst);
void tr_memory_tell_races(struct tr_widen *widen, uint32_t value);

/* ---- volatile and relaxed accesses (relaxed.c) ---- */

/* Gives the new access, to a lane or a vector of this type, the ordering of `from` if that is
 * relaxed. */
void tr_memory_set_relaxed(LLVMValueRef from, LLVMValueRef access, LLVMTypeRef type);
/* Keeps the order around a call of an intrinsic that does such an access; before and behind it. */
void tr_memory_keep_order(struct tr_widen *widen, LLVMValueRef from);

/* ---- instructions that a lane does before the next lane begins (exchange.c) ---- */

/* Whether the lanes of an atomic operation or an exchange can be combined first, so that it is done
 * once. */
bool tr_memory_can_combine(const struct tr_iteration *iteration,
                           const struct tr_sequence *sequence);
/* Emits the atomic operation or exchange with its lanes combined; false: they cannot be
 * combined. */
bool tr_memory_combine(struct tr_widen *widen, const struct tr_sequence *sequence);

/* ---- loads and stores (load_store.c) ---- */

/* Emits a load or store, as planned, for all copies that differ, and defines the load's value. */
void tr_memory_access(struct tr_widen *widen, uint32_t value);

/* ---- one lane after the other (serial.c) ---- */

/* Emits an instruction for each active lane of each copy, as a loop over the set bits of the mask
 * or over all lanes: one that has effects or no vector form (atomics, calls, fences, volatile
 * accesses under a mask). Its result, if it has one, is varying. */
void tr_memory_serial(struct tr_widen *widen, uint32_t value);

#endif
