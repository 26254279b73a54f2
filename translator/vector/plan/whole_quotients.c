/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients of which compilers take a part without making the whole. A warp's loop along a row,
 * `for (i = lane; i < n; i += 32)`, is unrolled into one for a remainder of the turns and one for
 * four at a time. The number of turns is `(n - 1 - lane) >> 5`, and whether there is a remainder is
 * asked as `(n - 1 - lane) & 96`, before that. Threads that have the quotient in common
 * (common_quotients.c) have all its parts in common: they are taken out of it here.
 */
#include <llvm-c/Core.h>

#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

/* Instructions that a number is made of, which are moved with it. */
#define DEPTH_MAX 4

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

/* Whether the instruction can be done early, and is of little price. */
static bool can_rise(LLVMValueRef inst)
{
    if (LLVMIsAInstruction(inst) == NULL)
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMXor || opcode == LLVMLShr;
}

static bool is_of_block(LLVMValueRef value, LLVMBasicBlockRef block)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionParent(value) == block;
}

/* What is promised of the number is true where it was. */
static void drop_promises(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) == LLVMLShr) {
        LLVMSetExact(inst, false);
    } else if (LLVMGetInstructionOpcode(inst) != LLVMXor) {
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

/* Whether a thread's control may come back to `from` without having gone to `to`, which is behind
 * it: then a loop is left there, and what is used behind a loop is not made in it but for phis. */
static bool leaves_loop(const struct tr_nest *nests, uint32_t nest_count, LLVMBasicBlockRef from,
                        LLVMBasicBlockRef to)
{
    struct search search = {.nests = nests, .nest_count = nest_count, .blocks = {from}, .count = 1};
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
        if (above == NULL || is_of_block(LLVMGetOperand(inst, 0), block) ||
            is_of_block(LLVMGetOperand(inst, 1), block) ||
            leaves_loop(mover->nests, mover->nest_count, above, block))
            return;
        drop_promises(inst);
        LLVMInstructionRemoveFromParent(inst);
        LLVMPositionBuilderBefore(mover->builder, LLVMGetBasicBlockTerminator(above));
        LLVMInsertIntoBuilder(mover->builder, inst);
    }
}

/* Moves the number up as far as that goes, behind what it is made of. */
static void rise(struct mover *mover, LLVMValueRef number, uint32_t depth)
{
    if (!can_rise(number) || depth == 0)
        return;
    for (unsigned i = 0; i < 2; i++)
        rise(mover, LLVMGetOperand(number, i), depth - 1);
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
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMGetInstructionOpcode(inst) == LLVMAnd)
            take_out(&mover, inst);
    LLVMDisposeBuilder(mover.builder);
    return mover.has_moved;
}
