/* SPDX-License-Identifier: Apache-2.0
 *
 * Random iterations: nested ifs, loops and switches with ways out of them, or blocks with branches
 * from any to any.
 */
#include "tests/vector/random_iteration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#define BLOCKS 14

uint32_t random_roll(struct random_generator *g, uint32_t below)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % below;
}

LLVMValueRef random_number(const struct random_generator *g, uint32_t value)
{
    return LLVMConstInt(g->i32, value, false);
}

/* In the entry block, so that it becomes a value. */
LLVMValueRef random_variable(struct random_generator *g, LLVMTypeRef type)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
    LLVMValueRef first = LLVMGetFirstInstruction(g->entry);
    if (first == NULL)
        LLVMPositionBuilderAtEnd(g->builder, g->entry);
    else
        LLVMPositionBuilderBefore(g->builder, first);
    LLVMValueRef variable = LLVMBuildAlloca(g->builder, type, "");
    LLVMPositionBuilderAtEnd(g->builder, here);
    return variable;
}

LLVMBasicBlockRef random_block(const struct random_generator *g, const char *name)
{
    return LLVMAppendBasicBlockInContext(g->context, g->function, name);
}

/* ---- structured ---- */

static void make_statements(struct random_generator *g, uint32_t count, uint32_t depth);

static void go(const struct random_generator *g, LLVMBasicBlockRef block)
{
    LLVMBuildBr(g->builder, block);
    LLVMPositionBuilderAtEnd(g->builder, block);
}

static void make_if(struct random_generator *g, uint32_t depth)
{
    LLVMBasicBlockRef then = random_block(g, "then");
    LLVMBasicBlockRef other = random_block(g, "else");
    LLVMBasicBlockRef join = random_block(g, "join");
    bool has_else = random_roll(g, 2);
    LLVMBuildCondBr(g->builder, random_condition(g), then, has_else ? other : join);
    LLVMPositionBuilderAtEnd(g->builder, then);
    make_statements(g, 1 + random_roll(g, 3), depth + 1);
    LLVMBuildBr(g->builder, join);
    LLVMPositionBuilderAtEnd(g->builder, other);
    if (has_else)
        make_statements(g, 1 + random_roll(g, 3), depth + 1);
    go(g, join);
}

static void make_switch(struct random_generator *g, uint32_t depth)
{
    LLVMBasicBlockRef join = random_block(g, "join");
    LLVMBasicBlockRef other = random_roll(g, 2) ? join : random_block(g, "default");
    LLVMValueRef value = LLVMBuildAnd(g->builder, random_read(g), random_number(g, 7), "");
    LLVMValueRef which = LLVMBuildSwitch(g->builder, value, other, 4);
    uint32_t cases = 1 + random_roll(g, 4);
    LLVMBasicBlockRef previous = join;
    for (uint32_t n = 0; n < cases; n++) {
        bool is_shared = previous != join && random_roll(g, 4) == 0;
        LLVMBasicBlockRef block = is_shared ? previous : random_block(g, "case");
        LLVMAddCase(which, random_number(g, n), block);
        if (is_shared)
            continue;
        previous = block;
        LLVMPositionBuilderAtEnd(g->builder, block);
        make_statements(g, 1 + random_roll(g, 2), depth + 1);
        LLVMBuildBr(g->builder, join);
    }
    if (other != join) {
        LLVMPositionBuilderAtEnd(g->builder, other);
        make_statements(g, 1, depth + 1);
        LLVMBuildBr(g->builder, join);
    }
    LLVMPositionBuilderAtEnd(g->builder, join);
}

/* The largest number of iterations of a loop: the same for all threads, or not. */
static LLVMValueRef trip_count(struct random_generator *g)
{
    LLVMValueRef value = random_read(g);
    switch (random_roll(g, 4)) {
    case 0:
        return random_number(g, 1 + random_roll(g, 5));
    case 1:
        return LLVMBuildAnd(g->builder, g->parameters[random_roll(g, 2) ? N : Y],
                            random_number(g, 3), "");
    case 2:
        return LLVMBuildAnd(g->builder, g->parameters[X], random_number(g, 3), "");
    default:
        return LLVMBuildAnd(g->builder, value, random_number(g, 1 + random_roll(g, 7)), "");
    }
}

static LLVMValueRef is_below(struct random_generator *g, LLVMValueRef counter, LLVMValueRef limit)
{
    return LLVMBuildICmp(g->builder, LLVMIntULT, LLVMBuildLoad2(g->builder, g->i32, counter, ""),
                         LLVMBuildLoad2(g->builder, g->i32, limit, ""), "");
}

static void make_loop(struct random_generator *g, uint32_t depth)
{
    LLVMValueRef counter = random_variable(g, g->i32);
    LLVMValueRef limit = random_variable(g, g->i32);
    LLVMBasicBlockRef head = random_block(g, "head");
    LLVMBasicBlockRef body = random_block(g, "body");
    LLVMBasicBlockRef again = random_block(g, "again");
    LLVMBasicBlockRef out = random_block(g, "out");
    bool is_first_run = random_roll(g, 3) == 0; /* do { } while */
    LLVMBuildStore(g->builder, random_number(g, 0), counter);
    LLVMBuildStore(g->builder, trip_count(g), limit);
    LLVMBuildBr(g->builder, is_first_run ? body : head);
    LLVMPositionBuilderAtEnd(g->builder, head);
    LLVMBuildCondBr(g->builder, is_below(g, counter, limit), body, out);
    LLVMPositionBuilderAtEnd(g->builder, body);
    g->ways_out[g->loop_depth] = out;
    g->ways_again[g->loop_depth++] = again;
    if (random_roll(g, 3) == 0)
        LLVMBuildStore(g->builder, LLVMBuildLoad2(g->builder, g->i32, counter, ""),
                       g->ints[random_roll(g, RANDOM_INTS)]);
    make_statements(g, 1 + random_roll(g, 4), depth + 1);
    g->loop_depth--;
    go(g, again);
    LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, counter, "");
    LLVMBuildStore(g->builder, LLVMBuildAdd(g->builder, value, random_number(g, 1), ""), counter);
    LLVMBuildBr(g->builder, head);
    LLVMPositionBuilderAtEnd(g->builder, out);
}

/* Under a condition, out of a loop around, on with its next iteration, or to the iteration's end.
 */
static void make_jump(struct random_generator *g)
{
    LLVMBasicBlockRef rest = random_block(g, "rest");
    LLVMBasicBlockRef way = g->end;
    if (g->loop_depth > 0 && random_roll(g, 5) > 0) {
        uint32_t loop = g->loop_depth - 1;
        if (loop > 0 && random_roll(g, 4) == 0)
            loop--;
        way = random_roll(g, 2) ? g->ways_out[loop] : g->ways_again[loop];
    }
    bool is_first = random_roll(g, 2);
    LLVMBuildCondBr(g->builder, random_condition(g), is_first ? way : rest, is_first ? rest : way);
    LLVMPositionBuilderAtEnd(g->builder, rest);
}

/* Divides where the divisor is not 0. */
static void make_division(struct random_generator *g)
{
    LLVMBasicBlockRef then = random_block(g, "divide");
    LLVMBasicBlockRef join = random_block(g, "join");
    LLVMValueRef divisor = LLVMBuildAnd(g->builder, random_read(g), random_number(g, 3), "");
    LLVMValueRef is_good = LLVMBuildICmp(g->builder, LLVMIntNE, divisor, random_number(g, 0), "");
    LLVMBuildCondBr(g->builder, is_good, then, join);
    LLVMPositionBuilderAtEnd(g->builder, then);
    LLVMValueRef value = random_read(g);
    value = random_roll(g, 2) ? LLVMBuildUDiv(g->builder, value, divisor, "")
                              : LLVMBuildURem(g->builder, value, divisor, "");
    LLVMBuildStore(g->builder, value, g->ints[random_roll(g, RANDOM_INTS)]);
    go(g, join);
}

/* A fault that never comes: %b has small numbers only. */
static void make_fault(struct random_generator *g)
{
    LLVMBasicBlockRef bad = random_block(g, "bad");
    LLVMBasicBlockRef good = random_block(g, "good");
    LLVMValueRef index = LLVMBuildZExt(g->builder, g->thread, g->i64, "");
    LLVMValueRef address = LLVMBuildGEP2(g->builder, g->i32, g->parameters[B], &index, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, address, "");
    LLVMValueRef is_bad = LLVMBuildICmp(g->builder, LLVMIntUGT, value, random_number(g, 1000), "");
    LLVMBuildCondBr(g->builder, is_bad, bad, good);
    LLVMPositionBuilderAtEnd(g->builder, bad);
    LLVMValueRef arguments[] = {g->parameters[C], value, LLVMConstInt(g->i64, 8, false)};
    LLVMTypeRef types[] = {g->ptr, g->i32, g->i64};
    random_call(g, "rt_fault", LLVMVoidTypeInContext(g->context), types, arguments, 3);
    LLVMBuildUnreachable(g->builder);
    LLVMPositionBuilderAtEnd(g->builder, good);
}

static void make_statement(struct random_generator *g, uint32_t depth)
{
    uint32_t kind = random_roll(g, 24);
    if (kind < 4 && depth < RANDOM_DEPTH)
        make_if(g, depth);
    else if (kind < 7 && depth < RANDOM_DEPTH)
        make_loop(g, depth);
    else if (kind < 8 && depth < RANDOM_DEPTH)
        make_switch(g, depth);
    else if (kind < 11)
        make_jump(g);
    else if (kind < 12)
        make_division(g);
    else if (kind == 12 && random_roll(g, 3) == 0)
        make_fault(g);
    else if (kind < 16)
        random_access(g);
    else
        random_assign(g);
}

static void make_statements(struct random_generator *g, uint32_t count, uint32_t depth)
{
    for (; count > 0 && g->budget > 0; count--) {
        g->budget--;
        make_statement(g, depth);
    }
}

/* ---- branches from any block to any ---- */

struct jumps {
    LLVMBasicBlockRef blocks[BLOCKS];
    uint32_t count;
    uint32_t back_share; /* in 100 */
    LLVMValueRef fuel;   /* jumps back that are left */
};

/* A block that goes to this one while there is fuel. */
static LLVMBasicBlockRef way_back(struct random_generator *g, const struct jumps *jumps,
                                  LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
    LLVMBasicBlockRef back = random_block(g, "back");
    LLVMPositionBuilderAtEnd(g->builder, back);
    LLVMValueRef fuel = LLVMBuildLoad2(g->builder, g->i32, jumps->fuel, "");
    LLVMValueRef left = LLVMBuildSub(g->builder, fuel, random_number(g, 1), "");
    LLVMBuildStore(g->builder, left, jumps->fuel);
    LLVMValueRef is_left = LLVMBuildICmp(g->builder, LLVMIntNE, left, random_number(g, 0), "");
    LLVMBuildCondBr(g->builder, is_left, to, jumps->blocks[jumps->count - 1]);
    LLVMPositionBuilderAtEnd(g->builder, here);
    return back;
}

static LLVMBasicBlockRef target(struct random_generator *g, const struct jumps *jumps,
                                uint32_t from)
{
    uint32_t to = from + 1 + random_roll(g, 3);
    if (random_roll(g, 100) < jumps->back_share)
        to = 1 + random_roll(g, jumps->count - 1);
    if (to >= jumps->count)
        to = jumps->count - 1;
    return to > from ? jumps->blocks[to] : way_back(g, jumps, jumps->blocks[to]);
}

static void leave_block(struct random_generator *g, const struct jumps *jumps, uint32_t index)
{
    uint32_t kind = random_roll(g, 10);
    if (kind < 1) {
        LLVMBuildBr(g->builder, target(g, jumps, index));
    } else if (kind < 9) {
        LLVMValueRef condition = random_condition(g);
        LLVMBasicBlockRef one = target(g, jumps, index);
        LLVMBuildCondBr(g->builder, condition, one, target(g, jumps, index));
    } else {
        LLVMValueRef value = LLVMBuildAnd(g->builder, random_read(g), random_number(g, 3), "");
        LLVMBasicBlockRef other = target(g, jumps, index);
        LLVMValueRef which = LLVMBuildSwitch(g->builder, value, other, 2);
        LLVMAddCase(which, random_number(g, 0), target(g, jumps, index));
        LLVMAddCase(which, random_number(g, 1), target(g, jumps, index));
    }
}

static void make_blocks(struct random_generator *g)
{
    struct jumps jumps = {.count = 4 + random_roll(g, BLOCKS - 3),
                          .back_share = 5 + random_roll(g, 25),
                          .fuel = random_variable(g, g->i32)};
    jumps.blocks[0] = LLVMGetInsertBlock(g->builder);
    for (uint32_t i = 1; i < jumps.count; i++)
        jumps.blocks[i] = random_block(g, "block");
    LLVMBuildStore(g->builder, random_number(g, 2 + random_roll(g, 8)), jumps.fuel);
    for (uint32_t i = 0; i + 1 < jumps.count; i++) {
        LLVMPositionBuilderAtEnd(g->builder, jumps.blocks[i]);
        for (uint32_t n = random_roll(g, 3); n > 0; n--)
            random_roll(g, 3) ? random_assign(g) : random_access(g);
        leave_block(g, &jumps, i);
    }
    LLVMPositionBuilderAtEnd(g->builder, jumps.blocks[jumps.count - 1]);
    random_access(g);
}

/* ---- the iteration ---- */

static void begin_module(struct random_generator *g, uint64_t seed)
{
    *g = (struct random_generator){
        .state = seed * 2 + 1, .context = LLVMContextCreate(), .takes_apart = seed % 2 == 0};
    random_roll(g, 2);
    g->is_plain = random_roll(g, g->takes_apart ? 2 : 4) == 0;
    g->module = LLVMModuleCreateWithNameInContext("random", g->context);
    g->builder = LLVMCreateBuilderInContext(g->context);
    g->i1 = LLVMInt1TypeInContext(g->context);
    g->i8 = LLVMInt8TypeInContext(g->context);
    g->i16 = LLVMInt16TypeInContext(g->context);
    g->i32 = LLVMInt32TypeInContext(g->context);
    g->i64 = LLVMInt64TypeInContext(g->context);
    g->f16 = LLVMHalfTypeInContext(g->context);
    g->f32 = LLVMFloatTypeInContext(g->context);
    g->f64 = LLVMDoubleTypeInContext(g->context);
    g->ptr = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef types[PARAMETERS] = {g->ptr, g->ptr, g->ptr, g->i32,
                                     g->i32, g->i32, g->i32, g->i32};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, PARAMETERS, false);
    g->function = LLVMAddFunction(g->module, "iteration", type);
    LLVMGetParams(g->function, g->parameters);
    g->own_share = 15 + random_roll(g, 50);
    g->budget = 6 + random_roll(g, 30);
    g->entry = random_block(g, "");
    g->end = random_block(g, "end");
}

static void begin_others(struct random_generator *g)
{
    LLVMTypeRef pair = LLVMVectorType(g->i32, 2);
    for (uint32_t i = 0; i < RANDOM_OTHERS; i++) {
        g->pointers[i] = random_variable(g, g->ptr);
        g->flags[i] = random_variable(g, g->i1);
        g->pairs[i] = random_variable(g, pair);
        g->doubles[i] = random_variable(g, g->f64);
        LLVMBuildStore(g->builder, LLVMConstInt(g->i1, i, false), g->flags[i]);
        LLVMBuildStore(g->builder, LLVMConstReal(g->f64, i), g->doubles[i]);
        LLVMBuildStore(g->builder, LLVMConstNull(pair), g->pairs[i]);
        LLVMBuildStore(g->builder, random_address(g), g->pointers[i]);
    }
}

static void begin_variables(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMBasicBlockRef begin = random_block(g, "begin");
    LLVMPositionBuilderAtEnd(b, begin);
    g->thread = LLVMBuildNSWMul(b, g->parameters[Y], g->parameters[NX], "");
    g->thread = LLVMBuildNSWAdd(b, g->thread, g->parameters[X], "thread");
    for (uint32_t i = 0; i < RANDOM_INTS; i++)
        g->ints[i] = random_variable(g, g->i32);
    for (uint32_t i = 0; i < RANDOM_LONGS; i++)
        g->longs[i] = random_variable(g, g->i64);
    for (uint32_t i = 0; i < RANDOM_FLOATS; i++)
        g->floats[i] = random_variable(g, g->f32);
    LLVMValueRef first[RANDOM_INTS] = {g->parameters[X],    random_number(g, 1),
                                       g->thread,           g->parameters[Y],
                                       g->parameters[N],    random_number(g, 3),
                                       random_number(g, 0), random_number(g, random_roll(g, 100))};
    for (uint32_t i = 0; i < RANDOM_INTS; i++)
        LLVMBuildStore(b, first[i], g->ints[i]);
    if (random_roll(g, 4) == 0)
        first[5] = random_set_own(g);
    LLVMBuildStore(b, first[5], g->ints[5]);
    first[1] = random_load(g);
    LLVMBuildStore(b, first[1], g->ints[1]);
    for (uint32_t i = 0; i < RANDOM_LONGS; i++)
        LLVMBuildStore(b, LLVMBuildSExt(b, first[2 * i], g->i64, ""), g->longs[i]);
    for (uint32_t i = 0; i < RANDOM_FLOATS; i++)
        LLVMBuildStore(b, LLVMBuildSIToFP(b, first[2 * i + 1], g->f32, ""), g->floats[i]);
    begin_others(g);
    LLVMPositionBuilderAtEnd(b, g->entry);
    LLVMBuildBr(b, begin);
    LLVMPositionBuilderAtEnd(b, begin);
}

/* if (thread >= n) return; */
static void make_guard(struct random_generator *g)
{
    LLVMBasicBlockRef rest = random_block(g, "rest");
    LLVMValueRef values[] = {g->thread, g->parameters[X], g->parameters[Y]};
    LLVMValueRef value = values[random_roll(g, 3)];
    LLVMValueRef limit = random_roll(g, 2) ? g->parameters[N] : random_number(g, 40);
    LLVMValueRef is_in =
        LLVMBuildICmp(g->builder, random_roll(g, 2) ? LLVMIntSLT : LLVMIntULT, value, limit, "");
    LLVMBuildCondBr(g->builder, is_in, rest, g->end);
    LLVMPositionBuilderAtEnd(g->builder, rest);
}

/* The numbers of a loop along a row, or over the grid. */
struct turns {
    LLVMValueRef length;
    LLVMValueRef left;     /* length - 1 - x */
    LLVMValueRef place;    /* variable: x, and one step more in each turn */
    LLVMValueRef step;     /* 2^shift, or of the grid */
    LLVMValueRef quotient; /* of the grid: left / step; otherwise NULL */
    uint32_t shift;
    uint32_t off; /* that places are off what divides the turns; mostly 0 */
};

/* Some work of a turn, with its place, and the place of so many turns later. */
static void make_turn(struct random_generator *g, const struct turns *turns, uint32_t step)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef variable = g->ints[random_roll(g, RANDOM_INTS)];
    LLVMValueRef old = LLVMBuildLoad2(b, g->i32, variable, "");
    LLVMValueRef place = LLVMBuildLoad2(b, g->i32, turns->place, "");
    old = LLVMBuildMul(b, old, random_number(g, 3), "");
    LLVMBuildStore(b, LLVMBuildAdd(b, old, place, ""), variable);
    if (random_roll(g, 4) == 0)
        make_statements(g, 1, RANDOM_DEPTH);
    place = LLVMBuildAdd(b, place, LLVMBuildMul(b, turns->step, random_number(g, step), ""), "");
    place = LLVMBuildAdd(b, place, random_number(g, turns->off), "");
    LLVMBuildStore(b, place, turns->place);
}

/* Whether the last two digits of the number of turns less one say that no remainder is left. Along
 * a row the number is not known yet. */
static LLVMValueRef has_no_remainder(struct random_generator *g, const struct turns *turns)
{
    LLVMBuilderRef b = g->builder;
    bool is_known = turns->quotient != NULL;
    LLVMValueRef mask = random_number(g, is_known ? 3 : UINT32_C(3) << turns->shift);
    LLVMValueRef digits = LLVMBuildAnd(b, is_known ? turns->quotient : turns->left, mask, "");
    return LLVMBuildICmp(b, LLVMIntEQ, digits, mask, "");
}

/* Turns for a remainder, counted by a quotient, of which two digits are asked first. */
static void make_remainder(struct random_generator *g, const struct turns *turns)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef counter = random_variable(g, g->i32);
    LLVMBasicBlockRef head = random_block(g, "one.head");
    LLVMBasicBlockRef body = random_block(g, "one");
    LLVMBasicBlockRef out = random_block(g, "whole");
    LLVMBasicBlockRef some = random_block(g, "some");
    LLVMBuildCondBr(b, has_no_remainder(g, turns), out, some);
    LLVMPositionBuilderAtEnd(b, some);
    LLVMValueRef count = turns->quotient;
    if (count == NULL)
        count = LLVMBuildLShr(b, turns->left, random_number(g, turns->shift), "");
    count = LLVMBuildAdd(b, count, random_number(g, 1), "");
    LLVMBuildStore(b, LLVMBuildAnd(b, count, random_number(g, 3), ""), counter);
    go(g, head);
    count = LLVMBuildLoad2(b, g->i32, counter, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, count, random_number(g, 0), ""), out, body);
    LLVMPositionBuilderAtEnd(b, body);
    make_turn(g, turns, 1);
    LLVMBuildStore(b, LLVMBuildSub(b, count, random_number(g, 1), ""), counter);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, out);
}

/* Then four at a time. */
static void make_whole_turns(struct random_generator *g, const struct turns *turns)
{
    LLVMBuilderRef b = g->builder;
    LLVMBasicBlockRef head = random_block(g, "four.head");
    LLVMBasicBlockRef body = random_block(g, "four");
    LLVMBasicBlockRef out = random_block(g, "behind");
    LLVMBasicBlockRef some = random_block(g, "some");
    uint32_t least = 1 + random_roll(g, 4);
    LLVMValueRef is_short =
        turns->quotient != NULL
            ? LLVMBuildICmp(b, LLVMIntULT, turns->quotient, random_number(g, least), "")
            : LLVMBuildICmp(b, LLVMIntULT, turns->left,
                            random_number(g, (least << turns->shift) + turns->off), "");
    LLVMBuildCondBr(b, is_short, out, some);
    LLVMPositionBuilderAtEnd(b, some);
    go(g, head);
    LLVMValueRef place = LLVMBuildLoad2(b, g->i32, turns->place, "");
    LLVMIntPredicate below = random_roll(g, 2) ? LLVMIntSLT : LLVMIntULT;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, below, place, turns->length, ""), body, out);
    LLVMPositionBuilderAtEnd(b, body);
    make_turn(g, turns, 4);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, out);
}

/* The same for all threads, and not 0. */
static LLVMValueRef random_step(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef some = LLVMBuildAnd(b, g->parameters[N], random_number(g, 127), "");
    return LLVMBuildAdd(b, some, random_number(g, 1 + random_roll(g, 99)), "");
}

/* for (place = x; place < length; place += step), as compilers unroll it. */
static void make_turns(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef x = g->parameters[X];
    struct turns turns = {.place = random_variable(g, g->i32),
                          .shift = 5 + random_roll(g, 3),
                          .off = random_roll(g, 3) == 0 ? 1 + random_roll(g, 40) : 0};
    bool is_of_grid = random_roll(g, 2) == 0;
    turns.step = is_of_grid ? random_step(g) : random_number(g, UINT32_C(1) << turns.shift);
    turns.length =
        random_roll(g, 4) == 0
            ? LLVMBuildAnd(b, random_read(g), random_number(g, 511), "")
            : LLVMBuildAdd(b, g->parameters[N], random_number(g, random_roll(g, 99)), "");
    LLVMBasicBlockRef row = random_block(g, "row");
    LLVMBasicBlockRef behind = random_block(g, "behind.row");
    LLVMBuildStore(b, x, turns.place);
    LLVMValueRef is_inside = random_roll(g, 2) ? LLVMConstInt(g->i1, 1, false)
                                               : LLVMBuildICmp(b, LLVMIntSLT, x, turns.length, "");
    LLVMBuildCondBr(b, is_inside, row, behind);
    LLVMPositionBuilderAtEnd(b, row);
    turns.left = LLVMBuildAdd(b, turns.length, LLVMBuildNot(b, x, ""), "");
    if (is_of_grid)
        turns.quotient = LLVMBuildUDiv(b, turns.left, turns.step, "");
    make_remainder(g, &turns);
    make_whole_turns(g, &turns);
    go(g, behind);
}

static void describe(struct iteration_case *c, struct random_generator *g, uint64_t seed)
{
    iteration_case_init(c);
    snprintf(c->name, sizeof c->name, "random_%" PRIu64, seed);
    c->arrays[0] = (struct iteration_array){16, 4096, ITERATION_FILL_BITS};
    c->arrays[1] = (struct iteration_array){16, 4096, ITERATION_FILL_SMALL};
    c->arrays[2] = (struct iteration_array){128, 64 + 80, ITERATION_FILL_F32};
    c->limit_count = 2;
    c->limits[1].kind = ITERATION_HALF;
    c->is_row_only = random_roll(g, 4) == 0;
    if (g->takes_apart) {
        static const uint32_t lengths[] = {32, 33, 64, 80, 96, 128};
        memcpy(c->row_lengths, lengths, sizeof lengths);
        c->row_length_count = sizeof lengths / sizeof lengths[0];
        c->is_row_only = !c->is_row_only;
    }
    c->may_be_scalar = true;
}

static enum pxr_status finish(struct random_generator *g, struct iteration_case *c,
                              struct pxr_error *err)
{
    char *message = NULL;
    enum pxr_status status = PXR_OK;
    if (LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message))
        status = pxr_fail(err, PXR_COMPILE_FAILED, "%s: %s", c->name, message);
    LLVMDisposeMessage(message);
    char *text = LLVMPrintModuleToString(g->module);
    c->text = strdup(text);
    c->text_bytes = strlen(text);
    LLVMDisposeMessage(text);
    LLVMDisposeBuilder(g->builder);
    LLVMDisposeModule(g->module);
    LLVMContextDispose(g->context);
    return c->text == NULL ? PXR_OUT_OF_MEMORY : status;
}

enum pxr_status random_iteration(struct iteration_case *c, uint64_t seed, struct pxr_error *err)
{
    struct random_generator g;
    begin_module(&g, seed);
    describe(c, &g, seed);
    begin_variables(&g);
    bool has_turns = g.takes_apart && random_roll(&g, 3) == 0;
    for (uint32_t guards = random_roll(&g, has_turns ? 2 : 3); guards > 0; guards--)
        make_guard(&g);
    if (has_turns)
        make_turns(&g);
    else if (g.takes_apart && g.is_plain)
        random_groups(&g);
    if (random_roll(&g, 3) == 0)
        make_blocks(&g);
    else
        make_statements(&g, 100, 0);
    random_access(&g);
    LLVMBuildBr(g.builder, g.end);
    LLVMPositionBuilderAtEnd(g.builder, g.end);
    LLVMBuildRetVoid(g.builder);
    return finish(&g, c, err);
}
