/* SPDX-License-Identifier: Apache-2.0
 *
 * Random iterations' variables of types that are not numbers of 32 or 64 bits: pointers,
 * conditions, pairs, and doubles.
 */
#include "tests/vector/random_iteration.h"

#include <llvm-c/Core.h>

static LLVMTypeRef pair_type(const struct random_generator *g)
{
    return LLVMVectorType(g->i32, 2);
}

static LLVMValueRef read_variable(struct random_generator *g, LLVMTypeRef type,
                                  const LLVMValueRef *variables)
{
    return LLVMBuildLoad2(g->builder, type, variables[random_roll(g, RANDOM_OTHERS)], "");
}

static void write_variable(struct random_generator *g, const LLVMValueRef *variables,
                           LLVMValueRef value)
{
    LLVMBuildStore(g->builder, value, variables[random_roll(g, RANDOM_OTHERS)]);
}

/* ---- reading ---- */

static LLVMValueRef read_element(struct random_generator *g)
{
    LLVMValueRef index = random_roll(g, 2)
                             ? random_number(g, random_roll(g, 2))
                             : LLVMBuildAnd(g->builder, random_read(g), random_number(g, 1), "");
    LLVMValueRef pair = read_variable(g, pair_type(g), g->pairs);
    return LLVMBuildExtractElement(g->builder, pair, index, "");
}

LLVMValueRef random_read_other(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value;
    switch (random_roll(g, 5)) {
    case 0:
        return LLVMBuildLoad2(b, g->i32, read_variable(g, g->ptr, g->pointers), "");
    case 1:
        return LLVMBuildZExt(b, read_variable(g, g->i1, g->flags), g->i32, "");
    case 2:
        return read_element(g);
    case 3: /* how far a pointer is from where the numbers begin */
        value = LLVMBuildPtrToInt(b, read_variable(g, g->ptr, g->pointers), g->i64, "");
        value = LLVMBuildSub(b, value, LLVMBuildPtrToInt(b, g->parameters[B], g->i64, ""), "");
        return LLVMBuildTrunc(b, value, g->i32, "");
    default:
        value = LLVMBuildBitCast(b, read_variable(g, g->f64, g->doubles), g->i64, "");
        value = LLVMBuildLShr(b, value, LLVMConstInt(g->i64, 30, false), "");
        return LLVMBuildTrunc(b, value, g->i32, "");
    }
}

/* ---- changing ---- */

static LLVMValueRef pointer_expression(struct random_generator *g)
{
    if (random_roll(g, 3) > 0)
        return random_address(g);
    return LLVMBuildSelect(g->builder, random_condition(g), read_variable(g, g->ptr, g->pointers),
                           random_address(g), "");
}

static LLVMValueRef flag_expression(struct random_generator *g)
{
    if (random_roll(g, 3) > 0)
        return random_condition(g);
    return LLVMBuildXor(g->builder, read_variable(g, g->i1, g->flags), random_condition(g), "");
}

static LLVMValueRef pair_expression(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef pair = read_variable(g, pair_type(g), g->pairs);
    LLVMValueRef other = read_variable(g, pair_type(g), g->pairs);
    LLVMValueRef places[2] = {random_number(g, random_roll(g, 4)),
                              random_number(g, random_roll(g, 4))};
    switch (random_roll(g, 4)) {
    case 0:
        return LLVMBuildAdd(b, pair, other, "");
    case 1:
        return LLVMBuildShuffleVector(b, pair, other, LLVMConstVector(places, 2), "");
    case 2:
        return LLVMBuildSelect(b, random_condition(g), pair, other, "");
    default:
        return LLVMBuildInsertElement(b, pair, random_read(g), random_number(g, random_roll(g, 2)),
                                      "");
    }
}

/* No NaN, and no infinity to make one of. */
static LLVMValueRef double_expression(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = LLVMBuildSIToFP(b, random_read(g), g->f64, "");
    LLVMValueRef other = read_variable(g, g->f64, g->doubles);
    other = LLVMBuildFMul(b, other, LLVMConstReal(g->f64, 0.25), "");
    return random_roll(g, 2) ? LLVMBuildFAdd(b, value, other, "")
                             : LLVMBuildFSub(b, value, other, "");
}

void random_assign_other(struct random_generator *g)
{
    switch (random_roll(g, 4)) {
    case 0:
        write_variable(g, g->pointers, pointer_expression(g));
        break;
    case 1:
        write_variable(g, g->flags, flag_expression(g));
        break;
    case 2:
        write_variable(g, g->pairs, pair_expression(g));
        break;
    default:
        write_variable(g, g->doubles, double_expression(g));
        break;
    }
}
