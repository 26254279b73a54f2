/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory as values, while all of a block is one straight way: the values stored at each
 * offset, and loads made of them.
 */
#include "translator/vector/tuning/straight.h"

#include <stddef.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"

/* Bytes of shared memory that are tracked. */
#define LIMIT (16u << 10)

/* A load is made of at most so many values: more take longer than memory. */
#define SOURCES_MAX 3

#define LANES_MAX   64

/* ---- which pointer ---- */

/* Whether it loads the address 0 of the block's shared memory. */
static bool is_base(LLVMValueRef load)
{
    return tr_is_field(load, TR_RECORD_BLOCK, TR_RECORD_BLOCK, offsetof(struct rt_block, shared));
}

bool tr_straight_is_pointer(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

/* Whether the user is a load, a store to the pointer, a masked access or another of LLVM's
 * functions for memory. If it stores operands, they come first. */
static bool is_access(LLVMValueRef user, LLVMValueRef pointer)
{
    if (LLVMIsALoadInst(user) != NULL)
        return true;
    if (LLVMIsAStoreInst(user) != NULL)
        return LLVMGetOperand(user, 0) != pointer;
    if (LLVMIsAIntrinsicInst(user) == NULL || tr_straight_is_pointer(LLVMTypeOf(user)))
        return false;
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(user, 0))) == LLVMVectorTypeKind;
    bool is_result = LLVMGetTypeKind(LLVMTypeOf(user)) != LLVMVoidTypeKind;
    return is_result || !is_vector || LLVMGetOperand(user, 0) != pointer;
}

/* Whether the pointer is only used as the address of accesses, or to make such addresses; any other
 * use could make it known to others. */
static bool is_address_only(LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_moved =
            LLVMIsAGetElementPtrInst(user) != NULL || LLVMIsAExtractElementInst(user) != NULL;
        if (!is_access(user, pointer) && (!is_moved || !is_address_only(user)))
            return false;
    }
    return true;
}

bool tr_straight_is_private(const struct tr_graph *graph)
{
    bool is_there = false;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        LLVMValueRef value = graph->values[v].llvm;
        if (!is_base(value))
            continue;
        is_there = true;
        if (!is_address_only(value))
            return false;
    }
    return is_there;
}

bool tr_straight_init(struct tr_pieces *pieces, struct pxr_arena *arena, LLVMTargetDataRef layout)
{
    *pieces = (struct tr_pieces){.layout = layout, .limit = LIMIT};
    pieces->at = pxr_arena_alloc_array(arena, LIMIT, sizeof *pieces->at);
    return pieces->at != NULL;
}

enum tr_place tr_straight_place(const struct tr_pieces *pieces, LLVMValueRef address,
                                uint32_t *offset)
{
    struct tr_sum_query query = {.layout = pieces->layout, .through = TR_AS_INDICES};
    struct tr_sum sum;
    tr_sum_of(&query, address, &sum);
    bool is_constant = sum.count == 0;
    while (!is_base(sum.base)) {
        bool is_vector = LLVMIsAExtractElementInst(sum.base) != NULL ||
                         LLVMIsAGetElementPtrInst(sum.base) != NULL;
        if (!is_vector)
            return TR_PLACE_ELSEWHERE;
        is_constant = false;
        tr_sum_of(&query, LLVMGetOperand(sum.base, 0), &sum);
    }
    if (!is_constant || sum.offset >= LIMIT)
        return TR_PLACE_UNKNOWN;
    *offset = (uint32_t)sum.offset;
    return TR_PLACE_SHARED;
}

/* ---- elements ---- */

static LLVMTypeRef element_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static uint32_t lanes_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

/* 0: the type has no whole bytes, or cannot be converted to any other. */
static uint32_t element_bytes(LLVMTypeRef type)
{
    LLVMTypeRef element = element_of(type);
    switch (LLVMGetTypeKind(element)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return 2;
    case LLVMFloatTypeKind:
        return 4;
    case LLVMDoubleTypeKind:
        return 8;
    case LLVMIntegerTypeKind: {
        unsigned bits = LLVMGetIntTypeWidth(element);
        return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
    }
    default:
        return 0;
    }
}

static void forget(struct tr_pieces *pieces, uint32_t from, uint32_t end)
{
    for (uint32_t at = from < 8 ? 0 : from - 7; at < end; at++)
        if (at + pieces->at[at].bytes > from)
            pieces->at[at] = (struct tr_piece){0};
}

bool tr_straight_store(struct tr_pieces *pieces, LLVMValueRef value, uint32_t offset)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    uint32_t bytes = element_bytes(type);
    uint32_t lanes = lanes_of(type);
    if (bytes == 0 || lanes > LANES_MAX || offset + lanes * bytes > pieces->limit)
        return false;
    forget(pieces, offset, offset + lanes * bytes);
    for (uint32_t i = 0; i < lanes; i++)
        pieces->at[offset + i * bytes] =
            (struct tr_piece){.value = value, .lane = (uint16_t)i, .bytes = (uint16_t)bytes};
    pieces->stores++;
    return true;
}

/* ---- loads ---- */

struct sources {
    LLVMValueRef value[SOURCES_MAX];
    uint32_t count;
};

static bool find_sources(const struct tr_piece *at, uint32_t lanes, uint32_t bytes,
                         struct sources *sources)
{
    for (uint32_t i = 0; i < lanes; i++) {
        const struct tr_piece *piece = &at[i * bytes];
        if (piece->value == NULL || piece->bytes != bytes)
            return false;
        uint32_t s = 0;
        while (s < sources->count && sources->value[s] != piece->value)
            s++;
        if (s == SOURCES_MAX)
            return false;
        sources->value[s] = piece->value;
        sources->count += s == sources->count;
    }
    return true;
}

/* The value with elements of the loaded type. */
static LLVMValueRef converted(LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef element)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef to = is_vector ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
    return to == type ? value : LLVMBuildBitCast(b, value, to, "");
}

/* The lanes of the result that come from one vector, as a permutation of it; others are poison. */
static LLVMValueRef permuted(LLVMBuilderRef b, const struct tr_piece *at, uint32_t lanes,
                             LLVMValueRef source, LLVMTypeRef element)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(element));
    LLVMValueRef from[LANES_MAX];
    bool is_same = lanes == lanes_of(LLVMTypeOf(source));
    uint32_t bytes = element_bytes(element);
    for (uint32_t i = 0; i < lanes; i++) {
        bool is_here = at[i * bytes].value == source;
        from[i] = is_here ? LLVMConstInt(i32, at[i * bytes].lane, false) : LLVMGetPoison(i32);
        is_same &= is_here && at[i * bytes].lane == i;
    }
    LLVMValueRef value = converted(b, source, element);
    LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(value));
    return is_same ? value
                   : LLVMBuildShuffleVector(b, value, none, LLVMConstVector(from, lanes), "");
}

/* Adds the lanes that come from the source to the result so far (NULL: nothing). */
static LLVMValueRef merged(LLVMBuilderRef b, const struct tr_piece *at, LLVMTypeRef type,
                           LLVMValueRef source, LLVMValueRef so_far)
{
    LLVMTypeRef element = element_of(type);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    uint32_t lanes = lanes_of(type), bytes = element_bytes(type);
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(source)) == LLVMVectorTypeKind;
    LLVMValueRef value =
        is_vector ? permuted(b, at, lanes, source, element) : converted(b, source, element);
    if (is_vector && so_far == NULL)
        return value;
    LLVMValueRef choice[LANES_MAX];
    for (uint32_t i = 0; i < lanes; i++) {
        bool is_here = at[i * bytes].value == source;
        choice[i] = LLVMConstInt(i32, is_here ? lanes + i : i, false);
        if (is_here && !is_vector)
            so_far = LLVMBuildInsertElement(b, so_far ? so_far : LLVMGetPoison(type), value,
                                            LLVMConstInt(i32, i, false), "");
    }
    return is_vector ? LLVMBuildShuffleVector(b, so_far, value, LLVMConstVector(choice, lanes), "")
                     : so_far;
}

static LLVMValueRef put_together(LLVMBuilderRef b, const struct tr_piece *at, LLVMTypeRef type,
                                 const struct sources *sources)
{
    LLVMValueRef result = NULL;
    for (int pass = 0; pass < 2; pass++) /* vectors first */
        for (uint32_t s = 0; s < sources->count; s++) {
            LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(sources->value[s]));
            if ((kind == LLVMVectorTypeKind) == (pass == 0))
                result = merged(b, at, type, sources->value[s], result);
        }
    return result;
}

static LLVMValueRef one_element(LLVMBuilderRef b, const struct tr_piece *piece, LLVMTypeRef type)
{
    LLVMValueRef value = converted(b, piece->value, type);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
    return is_vector ? LLVMBuildExtractElement(b, value, LLVMConstInt(i32, piece->lane, false), "")
                     : value;
}

LLVMValueRef tr_straight_load(struct tr_pieces *pieces, LLVMBuilderRef builder, LLVMTypeRef type,
                              uint32_t offset)
{
    uint32_t bytes = element_bytes(type);
    uint32_t lanes = lanes_of(type);
    const struct tr_piece *at = &pieces->at[offset];
    struct sources sources = {.count = 0};
    if (bytes == 0 || lanes > LANES_MAX || offset + lanes * bytes > pieces->limit ||
        !find_sources(at, lanes, bytes, &sources))
        return NULL;
    pieces->forwarded++;
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? put_together(builder, at, type, &sources)
                                                       : one_element(builder, at, type);
}
