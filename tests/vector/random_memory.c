/* SPDX-License-Identifier: Apache-2.0
 *
 * Random accesses to memory. %a and %b do not change: %a has 16 bytes for each thread and 4096
 * more, of anything; %b the same, of small numbers. %c has for each thread 64 bytes in eight arrays
 * over all threads, then 64 bytes in one piece, then 64 bytes of sums
 * that all add to and 80 of places that one thread each writes to.
 */
#include "tests/vector/random_iteration.h"

#include <string.h>

#include <llvm-c/Core.h>

#define SLOTS 8

/* ---- indices ---- */

static LLVMValueRef widen_index(struct random_generator *g, LLVMValueRef index)
{
    return random_roll(g, 2) ? LLVMBuildSExt(g->builder, index, g->i64, "")
                             : LLVMBuildZExt(g->builder, index, g->i64, "");
}

/* x * k + constant, below 1024 + 4 * threads. */
static LLVMValueRef strided_index(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef factor = random_number(g, 1 + random_roll(g, 4));
    LLVMValueRef offset = random_number(g, random_roll(g, 64));
    if (random_roll(g, 2))
        return LLVMBuildAdd(b, LLVMBuildMul(b, g->parameters[X], factor, ""), offset, "");
    return LLVMBuildNSWAdd(b, LLVMBuildNSWMul(b, g->parameters[X], factor, ""), offset, "");
}

static LLVMValueRef last_place(struct random_generator *g)
{
    return LLVMBuildNSWSub(g->builder, g->parameters[NX], random_number(g, 1), "");
}

static LLVMValueRef reversed_index(struct random_generator *g)
{
    return LLVMBuildNSWSub(g->builder, last_place(g), g->parameters[X], "");
}

static LLVMValueRef limit(struct random_generator *g, const char *name, LLVMValueRef index,
                          LLVMValueRef bound)
{
    LLVMModuleRef module = LLVMGetGlobalParent(g->function);
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, strlen(name)), &g->i32, 1);
    LLVMValueRef operands[] = {index, bound};
    return LLVMBuildCall2(g->builder, LLVMGlobalGetValueType(function), function, operands, 2, "");
}

/* x plus or minus something, limited on both sides, and at times scaled by 2. */
static LLVMValueRef limited_index(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    bool is_unsigned = random_roll(g, 4) == 0;
    LLVMValueRef distance = random_number(g, random_roll(g, 8));
    LLVMValueRef index = is_unsigned || random_roll(g, 2)
                             ? LLVMBuildNSWAdd(b, g->parameters[X], distance, "")
                             : LLVMBuildNSWSub(b, g->parameters[X], distance, "");
    LLVMValueRef most =
        random_roll(g, 2) ? g->parameters[NX] : random_number(g, random_roll(g, 40));
    index = limit(g, is_unsigned ? "llvm.umin" : "llvm.smin", index, most);
    if (!is_unsigned)
        index = limit(g, "llvm.smax", index, random_number(g, random_roll(g, 4)));
    return random_roll(g, 4) == 0 ? LLVMBuildShl(b, index, random_number(g, 1), "") : index;
}

/* The place beside x, where a row's ends have neighbours at the other end or are their own. */
static LLVMValueRef place_beside(struct random_generator *g, bool is_left)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef x = g->parameters[X];
    LLVMValueRef one = random_number(g, 1);
    LLVMValueRef zero = random_number(g, 0);
    LLVMValueRef end = is_left ? zero : last_place(g);
    LLVMValueRef other_end = is_left ? last_place(g) : zero;
    LLVMValueRef beside = is_left ? LLVMBuildAdd(b, x, random_number(g, UINT32_MAX), "")
                                  : LLVMBuildAdd(b, x, one, "");
    LLVMValueRef is_end = LLVMBuildICmp(b, LLVMIntEQ, x, end, "");
    return LLVMBuildSelect(b, is_end, random_roll(g, 2) ? other_end : x, beside, "");
}

/* x, changed at places that are far from each other. */
static LLVMValueRef border_index(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef x = g->parameters[X];
    LLVMValueRef distance = random_number(g, random_roll(g, 8));
    switch (random_roll(g, 7)) {
    case 0:
        return place_beside(g, true);
    case 1:
        return place_beside(g, false);
    case 2:
        return LLVMBuildURem(b, LLVMBuildAdd(b, x, distance, ""), g->parameters[NX], "");
    case 3:
        return LLVMBuildSRem(b, LLVMBuildNSWAdd(b, x, last_place(g), ""), g->parameters[NX], "");
    case 4:
        return LLVMBuildAnd(b, LLVMBuildSub(b, x, distance, ""),
                            random_number(g, (16u << random_roll(g, 6)) - 1), "");
    case 5:
        return limit(g, "llvm.usub.sat", x, distance);
    default: {
        LLVMValueRef is_inside = LLVMBuildICmp(b, LLVMIntNE, x, last_place(g), "");
        return LLVMBuildAdd(b, x, LLVMBuildZExt(b, is_inside, g->i32, ""), "");
    }
    }
}

/* i32, below 1024 */
static LLVMValueRef any_index(struct random_generator *g, uint32_t mask)
{
    return LLVMBuildAnd(g->builder, random_read(g), random_number(g, mask), "");
}

/* A row's place, and the place in it; below twice the number of threads. */
static LLVMValueRef quotient_index(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    bool is_constant = random_roll(g, 2);
    bool is_long = random_roll(g, 2) || !is_constant;
    uint32_t least = !is_constant ? 64
                     : is_long    ? 64 + random_roll(g, 100)
                                  : 8 + random_roll(g, 56);
    LLVMValueRef columns = random_number(g, least);
    if (!is_constant)
        columns = LLVMBuildOr(b, g->parameters[N], columns, "");
    LLVMValueRef row = LLVMBuildUDiv(b, g->thread, columns, "");
    LLVMValueRef place = random_roll(g, 3) == 0
                             ? LLVMBuildURem(b, g->thread, columns, "")
                             : LLVMBuildSub(b, g->thread, LLVMBuildMul(b, row, columns, ""), "");
    LLVMValueRef begin = LLVMBuildMul(b, row, random_number(g, random_roll(g, least)), "");
    return LLVMBuildAdd(b, begin, place, "");
}

static LLVMValueRef random_index(struct random_generator *g)
{
    if (g->takes_apart && random_roll(g, 5) == 0)
        return quotient_index(g);
    if (g->takes_apart && random_roll(g, 2) == 0)
        return LLVMBuildAnd(g->builder, random_part(g), random_number(g, 1023), "");
    switch (random_roll(g, 10)) {
    case 0:
    case 1:
        return g->thread;
    case 2:
        return strided_index(g);
    case 3:
        return reversed_index(g);
    case 4:
        return g->parameters[Y];
    case 5:
        return g->parameters[X];
    case 6:
        return limited_index(g);
    case 7:
        return border_index(g);
    default:
        return any_index(g, 1023);
    }
}

/* ---- loads of what does not change ---- */

static LLVMValueRef element_address(struct random_generator *g, LLVMTypeRef type, LLVMValueRef base,
                                    LLVMValueRef index)
{
    LLVMBuilderRef b = g->builder;
    uint32_t kind = random_roll(g, 4);
    if (kind == 0) /* the index as it is */
        return LLVMBuildGEP2(b, type, base, &index, 1, "");
    index = widen_index(g, index);
    if (kind < 3)
        return LLVMBuildGEP2(b, type, base, &index, 1, "");
    LLVMValueRef bytes = LLVMBuildMul(b, index, LLVMSizeOf(type), "");
    LLVMValueRef address = LLVMBuildAdd(b, LLVMBuildPtrToInt(b, base, g->i64, ""), bytes, "");
    return LLVMBuildIntToPtr(b, address, g->ptr, "");
}

/* Often marked for what it is: a load of memory that never changes. */
static LLVMValueRef load_constant(struct random_generator *g, LLVMTypeRef type,
                                  LLVMValueRef address)
{
    static const char kind[] = "invariant.load";
    LLVMValueRef load = LLVMBuildLoad2(g->builder, type, address, "");
    if (random_roll(g, 2))
        LLVMSetMetadata(load, LLVMGetMDKindIDInContext(g->context, kind, sizeof kind - 1),
                        LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, NULL, 0)));
    return load;
}

static LLVMValueRef load_narrow(struct random_generator *g, LLVMTypeRef type, LLVMValueRef base)
{
    LLVMValueRef address = element_address(g, type, base, random_index(g));
    LLVMValueRef value = load_constant(g, type, address);
    return random_roll(g, 2) ? LLVMBuildSExt(g->builder, value, g->i32, "")
                             : LLVMBuildZExt(g->builder, value, g->i32, "");
}

/* One element of four that are loaded together. */
static LLVMValueRef load_four(struct random_generator *g, LLVMValueRef base)
{
    LLVMTypeRef type = LLVMVectorType(g->i32, 4);
    LLVMValueRef index = random_roll(g, 2) ? g->thread : any_index(g, 255);
    LLVMValueRef value = load_constant(g, type, element_address(g, type, base, index));
    LLVMValueRef element =
        LLVMBuildExtractElement(g->builder, value, random_number(g, random_roll(g, 4)), "");
    LLVMValueRef other =
        LLVMBuildExtractElement(g->builder, value, random_number(g, random_roll(g, 4)), "");
    return LLVMBuildXor(g->builder, element, other, "");
}

#define WORDS 4

/* Words of the thread side by side, all or some of them, in any order; now and then it stores to
 * memory of its own in between. */
static LLVMValueRef load_words(struct random_generator *g, LLVMValueRef base)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef index = random_roll(g, 3) ? any_index(g, 255) : g->thread;
    LLVMValueRef start = element_address(g, LLVMVectorType(g->i32, WORDS), base, index);
    bool is_wide = random_roll(g, 4) == 0;
    LLVMTypeRef type = is_wide ? g->i64 : g->i32;
    uint32_t words = is_wide ? WORDS / 2 : WORDS;
    uint32_t left_out = random_roll(g, 3) ? words : random_roll(g, words);
    uint32_t first = random_roll(g, words);
    LLVMValueRef mixed = random_number(g, 0);
    for (uint32_t k = 0; k < words; k++) {
        uint32_t word = (first + k) % words;
        if (word == left_out)
            continue;
        if (random_roll(g, 8) == 0)
            random_set_own(g);
        LLVMValueRef place = random_number(g, word);
        LLVMValueRef load =
            LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, type, start, &place, 1, ""), "");
        if (word == 0)
            LLVMSetAlignment(load, random_roll(g, 2) ? 16 : 4);
        LLVMValueRef value = is_wide ? LLVMBuildTrunc(b, load, g->i32, "") : load;
        mixed = LLVMBuildXor(b, LLVMBuildMul(b, mixed, random_number(g, 3), ""), value, "");
    }
    return mixed;
}

/* The second of two, by a structure. */
static LLVMValueRef load_field(struct random_generator *g, LLVMValueRef base)
{
    LLVMTypeRef fields[] = {g->i32, g->i32};
    LLVMTypeRef type = LLVMStructTypeInContext(g->context, fields, 2, false);
    LLVMValueRef indices[] = {widen_index(g, g->thread), random_number(g, random_roll(g, 2))};
    LLVMValueRef address = LLVMBuildGEP2(g->builder, type, base, indices, 2, "");
    return load_constant(g, g->i32, address);
}

LLVMValueRef random_load(struct random_generator *g)
{
    LLVMValueRef base = g->parameters[random_roll(g, 3) == 0 ? A : B];
    switch (random_roll(g, 10)) {
    case 0:
        return load_narrow(g, g->i8, base);
    case 1:
        return load_narrow(g, g->i16, base);
    case 2:
        return load_four(g, base);
    case 3:
        return load_field(g, base);
    case 4:
        return load_words(g, base);
    default:
        return LLVMBuildLoad2(g->builder, g->i32, element_address(g, g->i32, base, random_index(g)),
                              "");
    }
}

LLVMValueRef random_address(struct random_generator *g)
{
    return element_address(g, g->i32, g->parameters[random_roll(g, 2) ? A : B], random_index(g));
}

/* ---- the thread's own memory ---- */

static LLVMTypeRef slot_type(const struct random_generator *g, uint32_t slot)
{
    const LLVMTypeRef types[SLOTS] = {
        g->i32, g->f32, g->i64, g->i8, g->i16, g->f64, LLVMVectorType(g->i32, 2), g->f16};
    return types[slot];
}

static LLVMValueRef slot_address(struct random_generator *g, uint32_t slot)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef threads = LLVMBuildNSWMul(b, g->parameters[NX], g->parameters[NY], "");
    LLVMValueRef before = LLVMBuildZExt(b, threads, g->i64, "");
    bool is_whole = random_roll(g, 2);
    LLVMValueRef offset = LLVMConstInt(g->i64, is_whole ? SLOTS * 8 : slot * 8, false);
    before = LLVMBuildMul(b, before, offset, "");
    LLVMValueRef start = LLVMBuildGEP2(b, g->i8, g->parameters[C], &before, 1, "");
    LLVMValueRef index = widen_index(g, g->thread);
    if (!is_whole)
        return LLVMBuildGEP2(b, slot_type(g, slot), start, &index, 1, "");
    index = LLVMBuildAdd(b, LLVMBuildMul(b, index, LLVMConstInt(g->i64, SLOTS * 8, false), ""),
                         LLVMConstInt(g->i64, slot * 8, false), "");
    return LLVMBuildGEP2(b, g->i8, start, &index, 1, "");
}

/* An int variable as the slot's type. */
static LLVMValueRef to_slot(struct random_generator *g, uint32_t slot)
{
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef type = slot_type(g, slot);
    LLVMValueRef value = random_read(g);
    LLVMValueRef pair = LLVMGetUndef(LLVMVectorType(g->i32, 2));
    switch (slot) {
    case 1:
        return LLVMBuildLoad2(b, g->f32, g->floats[random_roll(g, RANDOM_FLOATS)], "");
    case 2:
        return LLVMBuildLoad2(b, g->i64, g->longs[random_roll(g, RANDOM_LONGS)], "");
    case 3:
    case 4:
        return LLVMBuildTrunc(b, value, type, "");
    case 5:
        return LLVMBuildSIToFP(b, value, type, "");
    case 6:
        pair = LLVMBuildInsertElement(b, pair, value, random_number(g, 0), "");
        return LLVMBuildInsertElement(b, pair, random_read(g), random_number(g, 1), "");
    case 7:
        value = LLVMBuildAnd(b, value, random_number(g, 1023), "");
        return LLVMBuildUIToFP(b, value, type, "");
    default:
        return value;
    }
}

/* The value in the slot, as an int. */
static LLVMValueRef from_slot(struct random_generator *g, uint32_t slot, LLVMValueRef value)
{
    LLVMBuilderRef b = g->builder;
    switch (slot) {
    case 1:
        return LLVMBuildBitCast(b, value, g->i32, "");
    case 2:
        return LLVMBuildTrunc(b, value, g->i32, "");
    case 3:
    case 4:
        return LLVMBuildZExt(b, value, g->i32, "");
    case 5:
        return LLVMBuildTrunc(b, LLVMBuildBitCast(b, value, g->i64, ""), g->i32, "");
    case 6:
        return LLVMBuildExtractElement(b, value, random_number(g, 1), "");
    case 7:
        return LLVMBuildSExt(b, LLVMBuildBitCast(b, value, g->i16, ""), g->i32, "");
    default:
        return value;
    }
}

/* Stores words side by side, in one quarter or another of the thread's memory, in any order, and
 * loads some of them in between. */
static void store_words(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef threads = LLVMBuildNSWMul(b, g->parameters[NX], g->parameters[NY], "");
    LLVMValueRef index = LLVMBuildNSWMul(b, LLVMBuildNSWAdd(b, threads, g->thread, ""),
                                         random_number(g, SLOTS * 2), "");
    LLVMValueRef quarter = random_roll(g, 3) ? any_index(g, 3) : random_number(g, 1);
    quarter = LLVMBuildMul(b, quarter, random_number(g, WORDS), "");
    index = widen_index(g, LLVMBuildNSWAdd(b, index, quarter, ""));
    LLVMValueRef start = LLVMBuildGEP2(b, g->i32, g->parameters[C], &index, 1, "");
    uint32_t first = random_roll(g, WORDS);
    for (uint32_t k = 0; k < WORDS; k++) {
        LLVMValueRef place = random_number(g, (first + k) % WORDS);
        LLVMValueRef address = LLVMBuildGEP2(b, g->i32, start, &place, 1, "");
        if (random_roll(g, 4) == 0)
            LLVMBuildStore(b, LLVMBuildLoad2(b, g->i32, address, ""),
                           g->ints[random_roll(g, RANDOM_INTS)]);
        LLVMBuildStore(b, random_read(g), address);
    }
}

static void add_to_sum(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef threads = LLVMBuildNSWMul(b, g->parameters[NX], g->parameters[NY], "");
    LLVMValueRef index = LLVMBuildNSWMul(b, threads, random_number(g, SLOTS * 4), "");
    LLVMValueRef which =
        random_roll(g, 2) ? random_number(g, random_roll(g, 16)) : any_index(g, 15);
    index = LLVMBuildZExt(b, LLVMBuildNSWAdd(b, index, which, ""), g->i64, "");
    LLVMValueRef address = LLVMBuildGEP2(b, g->i32, g->parameters[C], &index, 1, "");
    LLVMValueRef arguments[] = {address, random_read(g)};
    LLVMTypeRef types[] = {g->ptr, g->i32};
    if (random_roll(g, 2))
        random_call(g, "outside_add", LLVMVoidTypeInContext(g->context), types, arguments, 2);
    else
        LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpAdd, address, arguments[1],
                           LLVMAtomicOrderingMonotonic, false);
}

/* Atomics on the thread's own memory. */
static void access_atomically(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef address = slot_address(g, 0);
    LLVMValueRef value = random_read(g);
    LLVMAtomicOrdering order =
        random_roll(g, 2) ? LLVMAtomicOrderingMonotonic : LLVMAtomicOrderingAcquireRelease;
    LLVMValueRef old;
    if (random_roll(g, 2)) {
        old = LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpXchg, address, value, order, false);
    } else {
        LLVMValueRef expected = random_read(g);
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(b, address, expected, value, order,
                                                   LLVMAtomicOrderingMonotonic, false);
        old = LLVMBuildExtractValue(b, pair, 0, "");
    }
    LLVMBuildStore(b, old, g->ints[random_roll(g, RANDOM_INTS)]);
}

/* One thread stores to an address that all have. */
static void store_alone(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMBasicBlockRef then = random_block(g, "alone");
    LLVMBasicBlockRef join = random_block(g, "join");
    LLVMValueRef which = random_number(g, random_roll(g, 20));
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, g->thread, which, ""), then, join);
    LLVMPositionBuilderAtEnd(b, then);
    LLVMValueRef threads = LLVMBuildNSWMul(b, g->parameters[NX], g->parameters[NY], "");
    LLVMValueRef bytes = LLVMBuildNSWMul(b, threads, random_number(g, SLOTS * 16), "");
    bytes = LLVMBuildNSWAdd(b, bytes, LLVMBuildShl(b, which, random_number(g, 2), ""), "");
    bytes = LLVMBuildNSWAdd(b, bytes, random_number(g, 64), "");
    LLVMValueRef index = LLVMBuildSExt(b, bytes, g->i64, "");
    LLVMBuildStore(b, random_read(g), LLVMBuildGEP2(b, g->i8, g->parameters[C], &index, 1, ""));
    LLVMBuildBr(b, join);
    LLVMPositionBuilderAtEnd(b, join);
}

void random_mix_into_own(struct random_generator *g, LLVMValueRef value)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef address = slot_address(g, 0);
    LLVMValueRef old = LLVMBuildLoad2(b, g->i32, address, "");
    LLVMValueRef three = LLVMBuildMul(b, old, random_number(g, 3), "");
    LLVMBuildStore(b, LLVMBuildAdd(b, three, value, ""), address);
}

LLVMValueRef random_set_own(struct random_generator *g)
{
    uint32_t slot = random_roll(g, SLOTS);
    LLVMValueRef old = random_number(g, 0);
    LLVMValueRef address = slot_address(g, slot);
    if (random_roll(g, 2))
        old = from_slot(g, slot, LLVMBuildLoad2(g->builder, slot_type(g, slot), address, ""));
    LLVMValueRef store = LLVMBuildStore(g->builder, LLVMConstNull(slot_type(g, slot)), address);
    LLVMSetVolatile(store, random_roll(g, 12) == 0 && !g->is_plain);
    return old;
}

void random_access(struct random_generator *g)
{
    uint32_t kind = random_roll(g, 11);
    kind = g->is_plain && (kind == 0 || kind == 8) ? 1 : kind;
    uint32_t slot = random_roll(g, SLOTS);
    if (kind == 10) {
        store_words(g);
    } else if (kind == 0) {
        add_to_sum(g);
    } else if (kind == 8) {
        access_atomically(g);
    } else if (kind == 9) {
        store_alone(g);
    } else if (kind < 6) {
        LLVMValueRef value = to_slot(g, slot);
        LLVMValueRef store = LLVMBuildStore(g->builder, value, slot_address(g, slot));
        LLVMSetVolatile(store, random_roll(g, 12) == 0 && !g->is_plain);
    } else {
        LLVMValueRef address = slot_address(g, slot);
        LLVMValueRef value = LLVMBuildLoad2(g->builder, slot_type(g, slot), address, "");
        LLVMBuildStore(g->builder, from_slot(g, slot, value), g->ints[random_roll(g, RANDOM_INTS)]);
    }
}
