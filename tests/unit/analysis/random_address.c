/* SPDX-License-Identifier: Apache-2.0
 *
 * See random_address.h.
 */
#include "random_address.h"

#include <stddef.h>
#include <stdio.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"

static uint32_t roll(struct address_generator *g, uint32_t below)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % below;
}

static LLVMValueRef word(struct address_generator *g, int64_t n)
{
    return LLVMConstInt(g->i32, (uint64_t)n, true);
}

static LLVMValueRef number(struct address_generator *g, int64_t n)
{
    return LLVMConstInt(g->i64, (uint64_t)n, true);
}

static LLVMValueRef pick(struct address_generator *g, const struct pool *pool)
{
    return pool->values[roll(g, pool->count)];
}

static void put(struct pool *pool, LLVMValueRef value)
{
    if (pool->count < POOL)
        pool->values[pool->count++] = value;
}

/* ---- what addresses begin with ---- */

static LLVMValueRef read_register(struct address_generator *g, const char *name)
{
    LLVMTypeRef type = LLVMFunctionType(g->i32, &g->ptr, 1, false);
    LLVMValueRef callee = LLVMGetNamedFunction(g->module, name);
    LLVMValueRef thread = LLVMGetParam(g->function, 0);
    if (callee == NULL)
        callee = LLVMAddFunction(g->module, name, type);
    return LLVMBuildCall2(g->builder, type, callee, &thread, 1, "");
}

static LLVMValueRef load(struct address_generator *g, LLVMTypeRef type, LLVMValueRef base,
                         uint64_t offset)
{
    static const char name[] = "invariant.load";
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef index = number(g, (int64_t)offset);
    LLVMValueRef at = offset == 0 ? base : LLVMBuildGEP2(g->builder, byte, base, &index, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(g->builder, type, at, "");
    LLVMSetMetadata(value, LLVMGetMDKindIDInContext(g->context, name, sizeof name - 1),
                    LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, NULL, 0)));
    return value;
}

static void load_bases(struct address_generator *g)
{
    LLVMValueRef thread = LLVMGetParam(g->function, 0);
    LLVMValueRef block = load(g, g->ptr, thread, offsetof(struct rt_thread, block));
    LLVMValueRef launch = load(g, g->ptr, block, offsetof(struct rt_block, launch));
    LLVMValueRef params = load(g, g->ptr, launch, offsetof(struct rt_launch, params));
    LLVMValueRef slots = load(g, g->ptr, launch, offsetof(struct rt_launch, slots));
    put(&g->pointers, load(g, g->ptr, block, offsetof(struct rt_block, shared)));
    for (uint64_t i = 0; i < VARIABLES; i++)
        put(&g->pointers, load(g, g->ptr, slots, i * sizeof(void *)));
    for (uint64_t i = 0; i < PARAMS; i++)
        put(i + 1 < PARAMS ? &g->integers : &g->numbers,
            load(g, g->i64, params, i * sizeof(uint64_t)));
}

static void read_registers(struct address_generator *g)
{
    static const char *const triples[] = {"tid", "ntid", "ctaid"};
    for (uint32_t i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "rt_sreg_%s_%c", triples[i / 3], (int)('x' + i % 3));
        if (roll(g, 3) != 0)
            put(&g->words, read_register(g, name));
    }
    put(&g->words, read_register(g, "rt_sreg_tid_x"));
}

/* ---- instructions ---- */

/* Small numbers, mostly. */
static int64_t any_constant(struct address_generator *g)
{
    if (roll(g, 8) == 0)
        return (int64_t)roll(g, UINT32_MAX) - INT32_MAX;
    return (int64_t)roll(g, 40) - 12;
}

/* To shift by. */
static LLVMValueRef bits(struct address_generator *g, LLVMTypeRef type)
{
    uint32_t most = LLVMGetIntTypeWidth(type) - 1;
    return LLVMConstInt(type, roll(g, 4) != 0 ? roll(g, 7) : most - roll(g, 8) * 5, false);
}

/* Arithmetic of words, or of numbers. */
static LLVMValueRef arithmetic(struct address_generator *g, const struct pool *pool)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = pick(g, pool);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef constant = LLVMConstInt(type, (uint64_t)any_constant(g), true);
    LLVMValueRef low = LLVMConstInt(type, roll(g, 4), false);
    switch (roll(g, 8)) {
    case 0:
        return LLVMBuildAdd(b, value, constant, "");
    case 1:
        return LLVMBuildAdd(b, value, pick(g, pool), "");
    case 2:
        return LLVMBuildSub(b, value, pick(g, pool), "");
    case 3:
        return LLVMBuildMul(b, value, constant, "");
    case 4:
        return LLVMBuildMul(b, value, pick(g, pool), "");
    case 5:
        return LLVMBuildShl(b, value, bits(g, type), "");
    case 6:
        value = LLVMBuildOr(b, LLVMBuildShl(b, value, LLVMConstInt(type, 2, false), ""), low, "");
        if (LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == LLVMOr)
            LLVMSetIsDisjoint(value, true);
        return value;
    default:
        return LLVMBuildOr(b, value, low, "");
    }
}

/* Of 16 bits, which mostly wrap. */
static LLVMValueRef narrow(struct address_generator *g)
{
    LLVMTypeRef type = LLVMIntTypeInContext(g->context, 16);
    LLVMValueRef value = LLVMBuildTrunc(g->builder, pick(g, &g->words), type, "");
    return LLVMBuildMul(g->builder, value, LLVMConstInt(type, 7001, false), "");
}

static LLVMValueRef converted(struct address_generator *g)
{
    LLVMValueRef value = roll(g, 3) == 0 ? narrow(g) : pick(g, &g->words);
    return roll(g, 2) == 0 ? LLVMBuildSExt(g->builder, value, g->i64, "")
                           : LLVMBuildZExt(g->builder, value, g->i64, "");
}

static LLVMValueRef condition(struct address_generator *g)
{
    return LLVMBuildICmp(g->builder, LLVMIntSLT, pick(g, &g->words), word(g, any_constant(g)), "");
}

static LLVMValueRef moved_integer(struct address_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = pick(g, &g->integers);
    switch (roll(g, 7)) {
    case 0:
        return LLVMBuildAdd(b, value, number(g, any_constant(g)), "");
    case 1:
    case 2:
        return LLVMBuildAdd(b, value, pick(g, &g->numbers), "");
    case 3:
        return LLVMBuildSub(b, value, pick(g, &g->numbers), "");
    case 4:
        return LLVMBuildAnd(b, value, number(g, -16), "");
    case 5:
        return LLVMBuildPtrToInt(b, pick(g, &g->pointers), g->i64, "");
    default:
        return LLVMBuildSelect(b, condition(g), value, pick(g, &g->integers), "");
    }
}

static LLVMValueRef moved_pointer(struct address_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef row = LLVMArrayType2(g->i32, 5);
    LLVMTypeRef fields[] = {g->i32, g->i64, row};
    LLVMTypeRef record = LLVMStructTypeInContext(g->context, fields, 3, false);
    LLVMValueRef value = pick(g, &g->pointers);
    LLVMValueRef index = roll(g, 4) == 0 ? pick(g, &g->words) : pick(g, &g->numbers);
    LLVMValueRef indices[] = {index, word(g, 2), pick(g, &g->words)};
    switch (roll(g, 9)) {
    case 0:
        index = narrow(g); /* fall through: it counts with its sign */
    case 1:
        return LLVMBuildGEP2(b, LLVMIntTypeInContext(g->context, 8u << roll(g, 4)), value, &index,
                             1, "");
    case 2:
        index = roll(g, 2) == 0 ? number(g, any_constant(g)) : word(g, any_constant(g));
        return LLVMBuildGEP2(b, LLVMInt8TypeInContext(g->context), value, &index, 1, "");
    case 3:
        return LLVMBuildGEP2(b, record, value, indices, 1 + 2 * roll(g, 2), "");
    case 4:
        indices[1] = indices[2];
        return LLVMBuildGEP2(b, row, value, indices, 2, "");
    case 5:
        return LLVMBuildSelect(b, condition(g), value, pick(g, &g->pointers), "");
    default:
        return LLVMBuildIntToPtr(b, pick(g, &g->integers), g->ptr, "");
    }
}

static void add_instruction(struct address_generator *g)
{
    switch (roll(g, 6)) {
    case 0:
        put(&g->words, roll(g, 4) != 0
                           ? arithmetic(g, &g->words)
                           : LLVMBuildTrunc(g->builder, pick(g, &g->numbers), g->i32, ""));
        return;
    case 1:
        put(&g->numbers, arithmetic(g, &g->numbers));
        return;
    case 2:
        put(&g->numbers, converted(g));
        return;
    case 3:
        put(&g->integers, moved_integer(g));
        return;
    default:
        put(&g->pointers, moved_pointer(g));
    }
}

static void add_instructions(struct address_generator *g, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_instruction(g);
}

/* ---- the loop ---- */

#define SMALL 6

/* What cannot wrap, and says so, made of the counter: at most 8^SMALL times as much. */
static void add_small_numbers(struct address_generator *g, LLVMValueRef counter)
{
    struct pool small = {.count = 1, .values = {counter}};
    for (int i = 0; i < SMALL; i++) {
        LLVMValueRef value = pick(g, &small);
        LLVMOpcode opcodes[] = {LLVMAdd, LLVMMul, LLVMShl, LLVMSub};
        uint32_t kind = roll(g, 4);
        value = LLVMBuildBinOp(g->builder, opcodes[kind], value, word(g, 1 + roll(g, 3)), "");
        LLVMSetNSW(value, true);
        LLVMSetNUW(value, kind != 3);
        if (kind != 3)
            put(&small, value);
        put(&g->words, value);
        put(&g->numbers, kind != 3 && roll(g, 2) == 0
                             ? LLVMBuildZExt(g->builder, value, g->i64, "")
                             : LLVMBuildSExt(g->builder, value, g->i64, ""));
    }
}

static LLVMValueRef add_phi(struct address_generator *g, struct pool *pool,
                            LLVMBasicBlockRef before)
{
    LLVMValueRef start = pick(g, pool);
    LLVMValueRef phi = LLVMBuildPhi(g->builder, LLVMTypeOf(start), "");
    LLVMAddIncoming(phi, &start, &before, 1);
    return phi;
}

/* What a pool has now, of the loop or from before. */
static void close_phi(struct address_generator *g, LLVMValueRef phi, struct pool *pool,
                      LLVMBasicBlockRef latch)
{
    LLVMValueRef next = pick(g, pool);
    LLVMAddIncoming(phi, &next, &latch, 1);
}

static void fill(struct address_generator *g)
{
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(g->context, g->function, "entry");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(g->context, g->function, "loop");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(g->context, g->function, "end");
    struct pool *pools[] = {&g->words, &g->numbers, &g->integers, &g->pointers};
    LLVMPositionBuilderAtEnd(g->builder, entry);
    load_bases(g);
    read_registers(g);
    add_instructions(g, 10 + roll(g, 20));
    LLVMBuildBr(g->builder, loop);
    LLVMPositionBuilderAtEnd(g->builder, loop);
    LLVMValueRef counter = LLVMBuildPhi(g->builder, g->i32, "");
    LLVMValueRef phis[4];
    for (uint32_t i = 0; i < 4; i++)
        phis[i] = add_phi(g, pools[i], entry);
    for (uint32_t i = 0; i < 4; i++)
        put(pools[i], phis[i]);
    put(&g->words, counter);
    add_small_numbers(g, counter);
    add_instructions(g, 10 + roll(g, 30));
    LLVMValueRef starts[] = {word(g, 0), LLVMBuildAdd(g->builder, counter, word(g, 1), "")};
    LLVMBasicBlockRef from[] = {entry, loop};
    LLVMAddIncoming(counter, starts, from, 2);
    for (uint32_t i = 0; i < 4; i++)
        close_phi(g, phis[i], pools[i], loop);
    LLVMValueRef goes_on =
        LLVMBuildICmp(g->builder, LLVMIntULT, starts[1], word(g, ITERATIONS), "");
    LLVMBuildCondBr(g->builder, goes_on, loop, end);
    LLVMPositionBuilderAtEnd(g->builder, end);
    LLVMBuildRetVoid(g->builder);
}

void random_address_function(struct address_generator *g, uint64_t seed)
{
    *g = (struct address_generator){.state = seed * 2 + 1, .context = LLVMContextCreate()};
    roll(g, 2);
    g->module = LLVMModuleCreateWithNameInContext("random", g->context);
    g->builder = LLVMCreateBuilderInContext(g->context);
    g->i32 = LLVMInt32TypeInContext(g->context);
    g->i64 = LLVMInt64TypeInContext(g->context);
    g->ptr = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &g->ptr, 1, false);
    g->function = LLVMAddFunction(g->module, "random", type);
    fill(g);
    cr_assert_eq(LLVMVerifyModule(g->module, LLVMReturnStatusAction, NULL), 0);
}

void random_address_function_fini(struct address_generator *g)
{
    LLVMDisposeBuilder(g->builder);
    LLVMContextDispose(g->context);
}
