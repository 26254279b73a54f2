/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients of which compilers take a part without making the whole. A warp's loop along a row,
 * `for (i = lane; i < n; i += 32)`, is unrolled into one for a remainder of the turns and one for
 * four at a time. The number of turns is `(n - 1 - lane) >> 5`, and whether there is a remainder is
 * asked as `(n - 1 - lane) & 96`, before that. Threads that have the quotient in common
 * (common_quotients.c) have all its parts in common: they are taken out of it here.
 *
 * A loop over the grid, `for (i = place; i < n; i += threads)`, divides by the number of threads,
 * and does so behind `place < n`. That quotient moves in front of the branch, where it is asked for
 * whatever comes behind the loop.
 */
#include <llvm-c/Core.h>

#include "translator/analysis/address.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

/* Instructions that a number is made of, which are moved with it. */
#define DEPTH_MAX 8

struct mover {
    LLVMBuilderRef builder;
    bool has_moved; /* anything */
    const struct tr_nest *nests;
    uint32_t nest_count;
};

bool tr_find_unsigned(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

static bool is_shift_by(LLVMValueRef inst, uint64_t digits)
{
    uint64_t constant = 0;
    return LLVMIsAInstruction(inst) != NULL && LLVMGetInstructionOpcode(inst) == LLVMLShr &&
           tr_find_unsigned(LLVMGetOperand(inst, 1), &constant) && constant == digits;
}

/* The number divided by 2 to the power of `digits`; NULL: the function has no such quotient. */
static LLVMValueRef find_quotient(LLVMValueRef number, uint64_t digits)
{
    for (LLVMUseRef use = LLVMGetFirstUse(number); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_shift_by(user, digits) && LLVMGetOperand(user, 0) == number)
            return user;
    }
    return NULL;
}

/* The only block before this one; NULL: there are several, or none. */
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    bool is_only = use != NULL && LLVMGetNextUse(use) == NULL;
    return is_only ? LLVMGetInstructionParent(LLVMGetUser(use)) : NULL;
}

/* Whether it reads what the launch or the block says, which is there for every thread. */
static bool is_told(LLVMValueRef load)
{
    return tr_is_invariant_load(load) &&
           tr_field_of(load, TR_RECORD_BLOCK).record != TR_RECORD_NONE;
}

/* Whether the instruction can be done early, and is of little price. */
static bool can_rise(LLVMValueRef inst)
{
    if (LLVMIsAInstruction(inst) == NULL)
        return false;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMTrunc:
        return true;
    case LLVMGetElementPtr:
        return LLVMGetNumOperands(inst) == 2 && LLVMIsAConstantInt(LLVMGetOperand(inst, 1)) != NULL;
    case LLVMLoad:
        return is_told(inst);
    case LLVMCall:
        return tr_calls_intrinsic(inst, "llvm.umax");
    default:
        return false;
    }
}

static bool is_of_block(LLVMValueRef value, LLVMBasicBlockRef block)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionParent(value) == block;
}

static bool has_operand_of(LLVMValueRef inst, LLVMBasicBlockRef block)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        if (is_of_block(LLVMGetOperand(inst, (unsigned)i), block))
            return true;
    return false;
}

/* What is promised of the number is true where it was. */
static void drop_promises(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLShr:
    case LLVMUDiv:
        LLVMSetExact(inst, false);
        break;
    case LLVMZExt:
        LLVMSetNNeg(inst, false);
        break;
    case LLVMGetElementPtr:
        LLVMGEPSetNoWrapFlags(inst, 0);
        break;
    case LLVMXor:
    case LLVMLoad:
    case LLVMCall:
        break;
    default:
        LLVMSetNSW(inst, false);
        LLVMSetNUW(inst, false);
    }
}

/* Blocks that are looked at to know whether control comes again. */
#define MOST_BLOCKS 64

struct search {
    const struct tr_nest *nests;
    uint32_t nest_count;
    LLVMBasicBlockRef blocks[MOST_BLOCKS]; /* that control can come to */
    uint32_t count;
};

static bool is_new_thread(const struct search *search, LLVMBasicBlockRef block)
{
    for (uint32_t i = 0; i < search->nest_count; i++)
        if (block == search->nests[i].x.header || block == search->nests[i].y.header)
            return true;
    return false;
}

/* Whether a loop over threads ends there. */
static bool is_last_of_thread(const struct search *search, LLVMBasicBlockRef block)
{
    for (uint32_t i = 0; i < search->nest_count; i++)
        if (block == search->nests[i].x.latch || block == search->nests[i].y.latch)
            return true;
    return false;
}

static bool is_known(const struct search *search, LLVMBasicBlockRef block)
{
    for (uint32_t i = 0; i < search->count; i++)
        if (search->blocks[i] == block)
            return true;
    return false;
}

/* Whether control may come from one block to the other, but not through the third. */
static bool can_come(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMBasicBlockRef without)
{
    struct search search = {.blocks = {from}, .count = 1};
    for (uint32_t i = 0; i < search.count; i++) {
        if (search.blocks[i] == to)
            return true;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(search.blocks[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end) && search.count < MOST_BLOCKS; k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
            if (next != without && !is_known(&search, next))
                search.blocks[search.count++] = next;
        }
    }
    return false;
}

/* The loop over the threads of a row that begins there; NULL: none does. */
static const struct tr_counted *loop_over_row(const struct tr_nest *nests, uint32_t nest_count,
                                              LLVMBasicBlockRef block)
{
    for (uint32_t i = 0; i < nest_count; i++)
        if (nests[i].x.header == block)
            return &nests[i].x;
    return NULL;
}

/* Whether a thread's control may come back to `from` without having gone to `to`, which is behind
 * it: then a loop is left there, and what is used behind a loop is not made in it but for phis. */
static bool leaves_loop(const struct tr_nest *nests, uint32_t nest_count, LLVMBasicBlockRef from,
                        LLVMBasicBlockRef to)
{
    struct search search = {.nests = nests, .nest_count = nest_count, .blocks = {from}, .count = 1};
    const struct tr_counted *row = loop_over_row(nests, nest_count, from);
    /* Who comes back there is another thread: `to` is one's own, or behind all threads. */
    if (row != NULL)
        return row->latch == from || !can_come(to, row->latch, from);
    if (is_last_of_thread(&search, from))
        return true;
    for (uint32_t i = 0; i < search.count; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(search.blocks[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
            if (next == from || search.count == MOST_BLOCKS)
                return true;
            if (next != to && !is_new_thread(&search, next) && !is_known(&search, next))
                search.blocks[search.count++] = next;
        }
    }
    return false;
}

/* Moves it up through blocks that are come to from one only, as far as its operands are known. */
static void move_up(struct mover *mover, LLVMValueRef inst)
{
    for (;;) {
        LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
        LLVMBasicBlockRef above = only_predecessor(block);
        if (above == NULL || has_operand_of(inst, block) ||
            leaves_loop(mover->nests, mover->nest_count, above, block))
            return;
        drop_promises(inst);
        LLVMInstructionRemoveFromParent(inst);
        LLVMPositionBuilderBefore(mover->builder, LLVMGetBasicBlockTerminator(above));
        LLVMInsertIntoBuilder(mover->builder, inst);
        mover->has_moved = true;
    }
}

/* Numbers without a digit in common are added as well: a promise that is kept where they are. */
static void use_sum(struct mover *mover, LLVMValueRef inst, unsigned which)
{
    LLVMValueRef number = LLVMGetOperand(inst, which);
    if (!is_of_block(number, LLVMGetInstructionParent(inst)) ||
        LLVMGetInstructionOpcode(number) != LLVMOr || !LLVMGetIsDisjoint(number))
        return;
    LLVMPositionBuilderBefore(mover->builder, inst);
    LLVMValueRef sum =
        LLVMBuildAdd(mover->builder, LLVMGetOperand(number, 0), LLVMGetOperand(number, 1), "");
    LLVMSetOperand(inst, which, sum);
    mover->has_moved = true;
}

/* Moves the number up as far as that goes, behind what it is made of. */
static void rise(struct mover *mover, LLVMValueRef number, uint32_t depth)
{
    if (!can_rise(number) || depth == 0)
        return;
    for (int i = 0; i < LLVMGetNumOperands(number); i++) {
        use_sum(mover, number, (unsigned)i);
        rise(mover, LLVMGetOperand(number, (unsigned)i), depth - 1);
    }
    move_up(mover, number);
}

/* Moves the quotient to where the number is made, so that all of its parts are behind it, and both
 * in front of branches that the number does not depend on. */
static void make_early(struct mover *mover, LLVMValueRef quotient, LLVMValueRef number)
{
    rise(mover, number, DEPTH_MAX);
    drop_promises(quotient);
    LLVMInstructionRemoveFromParent(quotient);
    LLVMValueRef next = LLVMIsAPHINode(number) != NULL
                            ? tr_first_behind_phis(LLVMGetInstructionParent(number))
                            : LLVMGetNextInstruction(number);
    LLVMPositionBuilderBefore(mover->builder, next);
    LLVMInsertIntoBuilder(mover->builder, quotient);
}

/* Whether it is a number of turns by what all threads have in common, as tr_counts_turns says. */
static bool is_number_of_turns(LLVMValueRef inst)
{
    return LLVMGetInstructionOpcode(inst) == LLVMUDiv &&
           LLVMIsAConstant(LLVMGetOperand(inst, 1)) == NULL && tr_counts_turns(inst);
}

/* In front of branches the divisor may be anything. */
static void divide_early(struct mover *mover, LLVMValueRef quotient)
{
    LLVMBuilderRef builder = mover->builder;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(quotient);
    rise(mover, LLVMGetOperand(quotient, 0), DEPTH_MAX);
    rise(mover, LLVMGetOperand(quotient, 1), DEPTH_MAX);
    move_up(mover, quotient);
    if (LLVMGetInstructionParent(quotient) == block)
        return;
    LLVMValueRef divisor = LLVMGetOperand(quotient, 1);
    if (tr_calls_intrinsic(divisor, "llvm.umax") &&
        LLVMIsAConstantInt(LLVMGetOperand(divisor, 1)) != NULL)
        return; /* of it and 1, as the constant is no 0 */
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(divisor), 1, false);
    LLVMPositionBuilderBefore(builder, quotient);
    LLVMValueRef is_some = LLVMBuildICmp(builder, LLVMIntUGT, divisor, one, "");
    LLVMSetOperand(quotient, 1, LLVMBuildSelect(builder, is_some, divisor, one, ""));
}

/* The digits of a number from one on, which a quotient has, too. */
static void take_out(struct mover *mover, LLVMValueRef part)
{
    LLVMBuilderRef builder = mover->builder;
    uint64_t mask = 0;
    LLVMValueRef number = LLVMGetOperand(part, 0);
    if (LLVMIsAInstruction(number) == NULL || LLVMIsATerminatorInst(number) != NULL ||
        !tr_find_unsigned(LLVMGetOperand(part, 1), &mask) || mask == 0)
        return;
    LLVMTypeRef type = LLVMTypeOf(number);
    uint64_t digits = (uint64_t)__builtin_ctzll(mask);
    LLVMValueRef quotient = digits == 0 ? NULL : find_quotient(number, digits);
    if (quotient == NULL)
        return;
    mover->has_moved = true;
    make_early(mover, quotient, number);
    LLVMPositionBuilderBefore(builder, part);
    LLVMValueRef of_quotient =
        LLVMBuildAnd(builder, quotient, LLVMConstInt(type, mask >> digits, false), "");
    LLVMValueRef in_place =
        LLVMBuildShl(builder, of_quotient, LLVMConstInt(type, digits, false), "");
    LLVMReplaceAllUsesWith(part, in_place);
    LLVMInstructionEraseFromParent(part);
}

bool tr_make_quotients_whole(LLVMValueRef function, const struct tr_nest *nests, uint32_t count)
{
    struct mover mover = {.builder =
                              LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function))),
                          .nests = nests,
                          .nest_count = count};
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        if (LLVMGetInstructionOpcode(inst) == LLVMAnd)
            take_out(&mover, inst);
        else if (is_number_of_turns(inst))
            divide_early(&mover, inst);
    }
    LLVMDisposeBuilder(mover.builder);
    return mover.has_moved;
}
