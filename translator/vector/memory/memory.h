/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads and stores: what an access is like (access.c), which of them are done together (fields.c),
 * and how they are emitted: by address (memory.c), with small strides (strided.c), words next to
 * each other with large ones (word_blocks.c), all others (gather.c, shifted.c). Private to these
 * and serial.c.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_MEMORY_H
#define PTXRUN_TRANSLATOR_VECTOR_MEMORY_H

#include "translator/vector/emit/widen.h"

/* Elements from one lane to the next, at most, that wide accesses with shuffles are made for. */
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
    LLVMTypeRef type;       /* of a lane */
    uint32_t bytes;
    bool is_word; /* the type has exactly 8 * bytes bits, 1, 2, 4 or 8 bytes of them */
    uint32_t align;
    enum tr_memory_kind kind;
    bool has_stride;
    int64_t stride; /* in bytes, if has_stride */
};

struct tr_memory tr_m_describe(const struct tr_turn *turn, uint32_t value);

/* Whether the instruction may read memory that something writes, or write some. */
bool tr_m_may_read(const struct tr_turn *turn, uint32_t value);
bool tr_m_may_write(const struct tr_turn *turn, uint32_t value);

#define TR_SUM_TERMS 4

/* An address as a sum modulo 2^64: base + the indices, with their signs, times factors + offset. */
struct tr_sum {
    LLVMValueRef base;
    uint32_t count;
    struct {
        LLVMValueRef index;
        uint64_t factor;
    } terms[TR_SUM_TERMS];
    uint64_t offset;
};

struct tr_sum tr_m_sum(const struct tr_turn *turn, LLVMValueRef address);
/* How far the second address is behind the first, if that is a constant. */
bool tr_m_distance(const struct tr_sum *a, const struct tr_sum *b, int64_t *bytes);

/* ---- accesses that are done together (fields.c) ---- */

#define TR_MAX_FIELDS 16

/* Accesses of one segment with one stride that lie within one stride, such as those to the fields
 * of a structure; in order of the segment. All of them have the size of one field. */
struct tr_fields {
    uint32_t count;
    uint32_t values[TR_MAX_FIELDS];
    uint32_t fields[TR_MAX_FIELDS]; /* by access: elements from the lowest one */
    uint32_t last_field;            /* the highest of them */
    uint32_t place;                 /* the access at whose place all are done */
    uint32_t place_field;
    uint32_t align; /* of the lowest */
};

/* The access alone. */
struct tr_fields tr_m_only(const struct tr_memory *memory);
/* Those of an access: at least itself. */
struct tr_fields tr_m_fields(const struct tr_turn *turn, const struct tr_memory *memory);

/* ---- emission (memory.c) ---- */

/* pointer + bytes. */
LLVMValueRef tr_m_advance(struct tr_widen *widen, LLVMValueRef pointer, int64_t bytes);
/* Integer type of that many bytes. */
LLVMTypeRef tr_m_word(const struct tr_widen *widen, uint32_t bytes);
LLVMValueRef tr_m_call(struct tr_widen *widen, const char *intrinsic, LLVMTypeRef *types,
                       uint32_t type_count, LLVMValueRef *operands, uint32_t count);
/* Alignment of one of the call's operands. */
void tr_m_set_align(struct tr_widen *widen, LLVMValueRef call, unsigned operand, uint32_t align);
/* A variable in the function's entry block. */
LLVMValueRef tr_m_variable(struct tr_widen *widen, LLVMTypeRef type, const char *name);
/* Memory of that size where lanes that are not active may read and write. */
LLVMValueRef tr_m_nowhere(struct tr_widen *widen, uint32_t bytes);
/* The value with that of one lane (an i32 value) replaced; `type` is the lane's. */
LLVMValueRef tr_m_insert_lane(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef vector,
                              LLVMValueRef of_lane, LLVMValueRef lane);
/* A plain access to a vector, or with a mask of as many elements. The new instruction may say of
 * itself what all of the accesses do. */
LLVMValueRef tr_m_load(struct tr_widen *widen, const struct tr_fields *fields, LLVMTypeRef type,
                       LLVMValueRef pointer, uint32_t align, LLVMValueRef mask);
void tr_m_store(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef value,
                LLVMValueRef pointer, uint32_t align, LLVMValueRef mask);
/* Under a mask such an access is a branch for each lane. */
bool tr_m_is_masked_badly(const struct tr_target *target, const struct tr_memory *memory);
/* Asks for what lies behind an access (TR_MARK_AHEAD), done to a vector at this pointer. */
void tr_m_ask_ahead(struct tr_widen *widen, LLVMValueRef access, LLVMValueRef pointer);
/* nontemporal, invariant.load: if all of the accesses say so. */
void tr_m_keep_hints(struct tr_widen *widen, const struct tr_fields *fields, LLVMValueRef inst);
/* <width x i1> as an integer, of 32 bits or width. */
LLVMValueRef tr_m_bits(struct tr_widen *widen, LLVMValueRef mask);
/* The number of the lowest bit of such an integer that is set, as an i32. */
LLVMValueRef tr_m_lowest(struct tr_widen *widen, LLVMValueRef bits);
/* The index of the first lane that is active; 0 if mask is NULL. */
LLVMValueRef tr_m_first_lane(struct tr_widen *widen, LLVMValueRef mask);
/* Whether all lanes of a row have one value. */
bool tr_m_is_same_in_row(const struct tr_widen *widen, LLVMValueRef operand);
/* … and all copies. */
bool tr_m_is_same_for_all(const struct tr_widen *widen, LLVMValueRef operand);
/* The copy that the operand is held with; 0 for constants. */
uint32_t tr_m_holder(const struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);
/* A pointer that all lanes of a copy have in common, to so many bytes; nowhere if no lane of the
 * copies that share it is active. */
LLVMValueRef tr_m_address(struct tr_widen *widen, LLVMValueRef pointer, uint32_t bytes,
                          uint32_t copy);
LLVMValueRef tr_m_i32(const struct tr_widen *widen, uint64_t n);
/* TR_VECTOR_SEED_STRIDE: the address, or the lanes' addresses, one element off. */
LLVMValueRef tr_m_seed_stride(struct tr_widen *widen, const struct tr_memory *memory,
                              LLVMValueRef address);

/* ---- small strides, and 1 (strided.c) ---- */

void tr_m_load_fields(struct tr_widen *widen, const struct tr_memory *memory,
                      const struct tr_fields *fields);
void tr_m_store_fields(struct tr_widen *widen, const struct tr_memory *memory,
                       const struct tr_fields *fields);

/* ---- any addresses (gather.c) ---- */

LLVMValueRef tr_m_gather(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                         LLVMValueRef mask);
void tr_m_scatter(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                  LLVMValueRef mask);
/* Whether these are LLVM's gathers, and, on machines that have them, scatters. */
bool tr_m_is_gatherable(const struct tr_widen *widen, const struct tr_memory *memory);

/* ---- elements of local arrays (local_arrays.c) ---- */

/* A vector of pointers; NULL: it is no such access, or not made of numbers of elements. */
LLVMValueRef tr_m_array_addresses(struct tr_widen *widen, const struct tr_memory *memory,
                                  uint32_t copy);

/* ---- neighbouring words of lanes that are far apart (word_blocks.c) ---- */

#define TR_GROUP_MAX 64

/* Accesses of one segment, with one stride, that can be done at one place: that of the first, if
 * they are loads, of the last, if they are stores. */
struct tr_group {
    uint32_t count;
    uint32_t values[TR_GROUP_MAX]; /* in order of the segment */
    int64_t offsets[TR_GROUP_MAX]; /* in bytes, from the access asked about */
    uint32_t beside_count;         /* accesses of the other kind to the same rows, in between */
    int64_t beside[TR_GROUP_MAX];
};

/* Each of a group finds the same. */
struct tr_group tr_m_group(const struct tr_turn *turn, const struct tr_memory *memory);
/* Emits such an access, or, at the place of another, all of its block; false: it is in none. */
bool tr_m_access_block(struct tr_widen *widen, const struct tr_memory *memory);
bool tr_m_is_in_block(const struct tr_widen *widen, const struct tr_memory *memory);

/* ---- what the next lane has gathered (shifted.c) ---- */

/* Emits such a load, with the one that has it, or, at the place of the second of them, nothing;
 * false: it is none. */
bool tr_m_load_shifted(struct tr_widen *widen, const struct tr_memory *memory);

/* ---- neighbours, unless an index wraps (checked.c) ---- */

bool tr_m_is_checked(const struct tr_turn *turn, const struct tr_memory *memory);
/* Emits such an access; false: it is none. */
bool tr_m_access_checked(struct tr_widen *widen, const struct tr_memory *memory);

/* ---- stores past the caches (nontemporal_stores.c) ---- */

/* One copy's store to neighbours, all lanes of which are active. */
struct tr_store {
    LLVMValueRef value;
    LLVMValueRef address;
};

/* Whether nobody reads soon what an access stores. */
bool tr_m_is_stream(const struct tr_memory *memory);
/* Whether a store to neighbours is one of those: its copies are written by tr_m_stream. */
bool tr_m_may_stream(const struct tr_widen *widen, const struct tr_memory *memory);
/* stores: by copy. */
void tr_m_stream(struct tr_widen *widen, const struct tr_memory *memory,
                 const struct tr_store *stores);

/* ---- volatile and relaxed accesses (relaxed.c) ---- */

/* A load or store that need not be in order with those of other lanes, but must be done. */
bool tr_m_is_relaxed(LLVMValueRef access);
/* The new access, to a lane or a vector of this type, is one like `from` if that is one. */
void tr_m_set_relaxed(LLVMValueRef from, LLVMValueRef access, LLVMTypeRef type);
/* Before and behind calls of intrinsics that do such an access. */
void tr_m_keep_order(struct tr_widen *widen, LLVMValueRef from);

/* ---- what will be loaded later (prefetch.c) ---- */

/* Where one copy of a load of neighbours is emitted, which begins at this address. */
void tr_m_prefetch(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                   LLVMValueRef address);

/* ---- instructions that a lane does before the next lane begins (exchange.c) ---- */

#define TR_MAX_SEQUENCE 16

struct tr_sequence {
    uint32_t count;
    uint32_t values[TR_MAX_SEQUENCE];
};

/* A volatile load and the store that it ends in: an atomic operation on memory of the block. Found
 * by its load. False: it is none. */
bool tr_m_find_exchange(const struct tr_turn *turn, uint32_t load, struct tr_sequence *sequence);
/* The store is the end of one: it has been emitted with the load. */
bool tr_m_ends_exchange(const struct tr_turn *turn, uint32_t store);
/* Whether lanes can be combined before it is done once. */
bool tr_m_can_combine(const struct tr_turn *turn, const struct tr_sequence *sequence);
/* Emits the atomic operation, or the exchange, if lanes can be combined before it is done once;
 * false: they cannot. */
bool tr_m_combine(struct tr_widen *widen, const struct tr_sequence *sequence);

#endif
