/* SPDX-License-Identifier: Apache-2.0
 *
 * Random iterations whose threads take places apart, as rows and columns of them, and planes and
 * rows, where nothing is done that makes lanes go on one by one: vectoriser, plan/groups.h.
 */
#include <llvm-c/Core.h>

#include "tests/vector/random_iteration.h"

/* The most that places are: turns of all threads of the longest row. */
#define PLACES 384

/* A number of columns, at least *least, which is one number for all threads. */
static LLVMValueRef columns_of(struct random_generator *g, uint32_t *least)
{
    LLVMBuilderRef b = g->builder;
    *least = 1 + random_roll(g, 60);
    if (random_roll(g, 3) == 0)
        return random_number(g, *least);
    LLVMValueRef number = g->parameters[random_roll(g, 2) ? N : NX];
    number = LLVMBuildLShr(b, number, random_number(g, random_roll(g, 4)), "");
    return LLVMBuildOr(b, number, random_number(g, *least), "");
}

static LLVMValueRef divide(struct random_generator *g, LLVMValueRef place, LLVMValueRef columns)
{
    return random_roll(g, 2) ? LLVMBuildUDiv(g->builder, place, columns, "")
                             : LLVMBuildSDiv(g->builder, place, columns, "");
}

/* What the quotient leaves, as one instruction or two. */
static LLVMValueRef rest_of(struct random_generator *g, LLVMValueRef place, LLVMValueRef columns,
                            LLVMValueRef row)
{
    switch (random_roll(g, 4)) {
    case 0:
        return LLVMBuildURem(g->builder, place, columns, "");
    case 1:
        return LLVMBuildSRem(g->builder, place, columns, "");
    default:
        break;
    }
    return LLVMBuildSub(g->builder, place, LLVMBuildMul(g->builder, row, columns, ""), "");
}

static void mix(struct random_generator *g, LLVMValueRef value)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef variable = g->ints[random_roll(g, RANDOM_INTS)];
    LLVMValueRef old = LLVMBuildLoad2(b, g->i32, variable, "");
    LLVMValueRef three = LLVMBuildMul(b, old, random_number(g, 3), "");
    LLVMBuildStore(b, LLVMBuildAdd(b, three, value, ""), variable);
}

/* An element of an array that does not change, at an index below 2 * PLACES. */
static void mix_element(struct random_generator *g, LLVMValueRef index)
{
    LLVMBuilderRef b = g->builder;
    index = LLVMBuildZExt(b, index, g->i64, "");
    LLVMValueRef address =
        LLVMBuildGEP2(b, g->i32, g->parameters[random_roll(g, 2) ? A : B], &index, 1, "");
    random_mix_into_own(g, LLVMBuildLoad2(b, g->i32, address, ""));
}

/* Places on both sides of 0. */
static void take_signed(struct random_generator *g, LLVMValueRef place, LLVMValueRef columns)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef before = LLVMBuildSub(b, place, random_number(g, random_roll(g, 80)), "");
    LLVMValueRef rest = LLVMBuildSRem(b, before, columns, "");
    mix_element(g, LLVMBuildAdd(b, rest, columns, ""));
    mix(g, LLVMBuildSDiv(b, before, columns, ""));
}

/* A place is taken apart, perhaps its parts again, and leads to elements. */
static void take_apart(struct random_generator *g, LLVMValueRef place)
{
    LLVMBuilderRef b = g->builder;
    uint32_t least = 0;
    LLVMValueRef columns = columns_of(g, &least);
    LLVMValueRef row = divide(g, place, columns);
    LLVMValueRef column = rest_of(g, place, columns, row);
    LLVMValueRef begin = LLVMBuildMul(b, row, random_number(g, random_roll(g, least)), "");
    mix_element(g, LLVMBuildAdd(b, begin, column, ""));
    if (random_roll(g, 2)) {
        LLVMValueRef again = columns_of(g, &least);
        LLVMValueRef of = random_roll(g, 2) ? row : column;
        LLVMValueRef part = divide(g, of, again);
        mix_element(g, random_roll(g, 2) ? part : rest_of(g, of, again, part));
    }
    if (random_roll(g, 2))
        mix(g, random_roll(g, 2) ? row : column);
    if (random_roll(g, 4) == 0)
        take_signed(g, place, columns);
    for (uint32_t i = random_roll(g, 3); i > 0; i--)
        random_access(g);
}

/* Once, or in some turns; threads may leave those apart. */
void random_groups(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    uint32_t step = random_roll(g, 3) == 0 ? 0 : 32 + random_roll(g, 60);
    LLVMBasicBlockRef turn = random_block(g, "turn");
    LLVMBasicBlockRef behind = random_block(g, "behind.turns");
    LLVMValueRef place = random_variable(g, g->i32);
    LLVMBuildStore(b, g->thread, place);
    LLVMBuildBr(b, turn);
    LLVMPositionBuilderAtEnd(b, turn);
    LLVMValueRef now = LLVMBuildLoad2(b, g->i32, place, "");
    take_apart(g, now);
    LLVMValueRef next = LLVMBuildAdd(b, now, random_number(g, step), "");
    LLVMBuildStore(b, next, place);
    LLVMValueRef more =
        LLVMBuildICmp(b, LLVMIntULT, next, random_number(g, step == 0 ? 0 : PLACES - 128), "");
    if (random_roll(g, 3) == 0)
        more = LLVMBuildAnd(b, more, random_condition(g), "");
    LLVMBuildCondBr(b, more, turn, behind);
    LLVMPositionBuilderAtEnd(b, behind);
}
