/* SPDX-License-Identifier: Apache-2.0
 *
 * See random_function.h.
 */
#include "random_function.h"

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "translator/collapse/collapse.h"
#include "translator/module/passes.h"

static uint32_t roll(struct generator *g, uint32_t below)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % below;
}

static LLVMValueRef number(struct generator *g, uint32_t value)
{
    return LLVMConstInt(g->i32, value, false);
}

static LLVMValueRef declare(struct generator *g, const char *name, LLVMTypeRef type, bool is_pure)
{
    LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
    if (function != NULL)
        return function;
    function = LLVMAddFunction(g->module, name, type);
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    if (is_pure)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->context, kind, 0));
    return function;
}

static LLVMValueRef read_register(struct generator *g, const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef type = LLVMFunctionType(g->i32, &pointer, 1, false);
    LLVMValueRef thread = LLVMGetParam(g->function, 0);
    return LLVMBuildCall2(g->builder, type, declare(g, name, type, true), &thread, 1, "");
}

static void add_sync(struct generator *g)
{
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(g->context, 0), g->i32, g->i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 3, false);
    LLVMValueRef arguments[] = {LLVMGetParam(g->function, 0), number(g, 0), number(g, 0)};
    LLVMBuildCall2(g->builder, type, declare(g, "rt_bar_sync", type, false), arguments, 3, "");
}

/* Of the first ones, or of the others. */
static uint32_t pick_variable(struct generator *g, bool is_own)
{
    return is_own ? roll(g, OWN) : OWN + roll(g, VARIABLES - OWN);
}

static LLVMValueRef read_variable(struct generator *g)
{
    uint32_t variable = pick_variable(g, roll(g, 100) < g->own_share);
    return LLVMBuildLoad2(g->builder, g->i32, g->variables[variable], "");
}

static LLVMValueRef condition(struct generator *g)
{
    static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                  LLVMIntUGT, LLVMIntSLT, LLVMIntSGE};
    LLVMValueRef value = read_variable(g);
    LLVMValueRef other = roll(g, 2) == 0 ? read_variable(g) : number(g, roll(g, 12));
    return LLVMBuildICmp(g->builder, predicates[roll(g, 6)], value, other, "");
}

/* Through a narrower type and back. */
static LLVMValueRef narrowed(struct generator *g, LLVMValueRef value)
{
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, roll(g, 2) ? 8 : 4);
    value = LLVMBuildTrunc(g->builder, value, narrow, "");
    return roll(g, 2) ? LLVMBuildSExt(g->builder, value, g->i32, "")
                      : LLVMBuildZExt(g->builder, value, g->i32, "");
}

static LLVMValueRef expression(struct generator *g)
{
    LLVMValueRef a = read_variable(g);
    switch (roll(g, 13)) {
    case 0:
    case 1:
        return LLVMBuildAdd(g->builder, a, number(g, roll(g, 4)), "");
    case 2:
        return LLVMBuildAdd(g->builder, a, read_variable(g), "");
    case 3:
        return LLVMBuildSub(g->builder, a, read_variable(g), "");
    case 4:
        return LLVMBuildMul(g->builder, a, number(g, roll(g, 9)), "");
    case 5:
        return LLVMBuildShl(g->builder, a, number(g, roll(g, 2) ? roll(g, 4) : 28 + roll(g, 4)),
                            "");
    case 6:
        return LLVMBuildXor(g->builder, a, number(g, roll(g, 2) ? UINT32_MAX : 5), "");
    case 7:
        return LLVMBuildAnd(g->builder, a, number(g, 15), "");
    case 8:
        return LLVMBuildSelect(g->builder, condition(g), a, read_variable(g), "");
    case 9:
        return LLVMBuildZExt(g->builder, condition(g), g->i32, "");
    case 10:
        return narrowed(g, a);
    case 11:
        return LLVMBuildURem(g->builder, a, number(g, 1 + roll(g, 7)), "");
    default:
        return number(g, roll(g, 5));
    }
}

/* Mostly to blocks further on, so that functions end. */
static LLVMBasicBlockRef target(struct generator *g, uint32_t from)
{
    if (roll(g, 100) < g->back_share)
        return g->blocks[1 + roll(g, g->block_count - 1)];
    uint32_t left = g->block_count - from - 1;
    return left == 0 ? g->blocks[g->block_count - 1]
                     : g->blocks[from + 1 + roll(g, left < 3 ? left : 3)];
}

/* Loops need something that counts. */
static void count_up(struct generator *g)
{
    LLVMValueRef variable = g->variables[pick_variable(g, roll(g, 4) == 0)];
    LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, variable, "");
    LLVMBuildStore(g->builder, LLVMBuildAdd(g->builder, value, number(g, 1 + roll(g, 3)), ""),
                   variable);
}

static void fill_block(struct generator *g, uint32_t index)
{
    LLVMPositionBuilderAtEnd(g->builder, g->blocks[index]);
    if (roll(g, 2) == 0)
        count_up(g);
    for (uint32_t i = roll(g, 3); i > 0; i--)
        LLVMBuildStore(g->builder, expression(g),
                       g->variables[pick_variable(g, roll(g, 100) < g->own_share)]);
    if (roll(g, 3) == 0)
        add_sync(g);
    if (index + 1 == g->block_count) {
        LLVMBuildRetVoid(g->builder);
        return;
    }
    if (g->fault_share > 0 && roll(g, 100) < g->fault_share) {
        LLVMBuildUnreachable(g->builder);
        return;
    }
    uint32_t kind = roll(g, 10);
    if (kind < 2) {
        LLVMBuildBr(g->builder, target(g, index));
    } else if (kind < 9) {
        LLVMValueRef way = condition(g);
        LLVMBuildCondBr(g->builder, way, target(g, index), target(g, index));
    } else {
        LLVMValueRef which = LLVMBuildSwitch(g->builder, read_variable(g), target(g, index), 2);
        LLVMAddCase(which, number(g, 0), target(g, index));
        LLVMAddCase(which, number(g, 1), target(g, index));
    }
}

static void begin_function(struct generator *g)
{
    static const char *const own[] = {"rt_sreg_tid_x", "rt_sreg_tid_y", "rt_sreg_laneid",
                                      "rt_sreg_warpid"};
    LLVMPositionBuilderAtEnd(g->builder, g->blocks[0]);
    for (uint32_t i = 0; i < VARIABLES; i++)
        g->variables[i] = LLVMBuildAlloca(g->builder, g->i32, "");
    for (uint32_t i = 0; i < OWN; i++)
        LLVMBuildStore(g->builder, read_register(g, own[roll(g, 4)]), g->variables[i]);
    LLVMBuildStore(g->builder, read_register(g, "rt_sreg_ctaid_x"), g->variables[OWN]);
    for (uint32_t i = OWN + 1; i < VARIABLES; i++)
        LLVMBuildStore(g->builder, number(g, roll(g, 3)), g->variables[i]);
}

void random_function(struct generator *g, uint64_t seed, uint32_t fault_share)
{
    *g = (struct generator){
        .state = seed * 2 + 1, .context = LLVMContextCreate(), .fault_share = fault_share};
    roll(g, 2);
    g->module = LLVMModuleCreateWithNameInContext("random", g->context);
    g->builder = LLVMCreateBuilderInContext(g->context);
    g->i32 = LLVMInt32TypeInContext(g->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &pointer, 1, false);
    g->function = LLVMAddFunction(g->module, "random", type);
    g->own_share = 5 + roll(g, 40);
    g->back_share = 15 + roll(g, 30);
    g->block_count = 4 + roll(g, BLOCKS - 3);
    for (uint32_t i = 0; i < g->block_count; i++)
        g->blocks[i] = LLVMAppendBasicBlockInContext(g->context, g->function, "b");
    begin_function(g);
    LLVMBuildBr(g->builder, g->blocks[1]);
    for (uint32_t i = 1; i < g->block_count; i++)
        fill_block(g, i);
    cr_assert_eq(LLVMVerifyModule(g->module, LLVMReturnStatusAction, NULL), 0);
    cr_assert_eq(tr_run_passes(g->module, "function(sroa)", NULL, NULL), PXR_OK);
}

void random_function_fini(struct generator *g)
{
    LLVMDisposeBuilder(g->builder);
    LLVMContextDispose(g->context);
}
