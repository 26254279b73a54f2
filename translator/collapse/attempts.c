/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of attempts, as programs write for atomic operations that GPUs lack (the greater of two
 * doubles): a compare-and-swap that is tried again, with what it has found, until it succeeds. It
 * fails only because somebody else has succeeded meanwhile, so a thread that nobody disturbs ends
 * with its second attempt: it waits for nobody, though memory decides when the loop ends.
 */
#include <llvm-c/Core.h>

#include "translator/collapse/prepare.h"

struct attempts {
    const struct tr_graph *graph;
    const struct tr_loop *loop;
    uint32_t latch;     /* the segment of the only branch back */
    LLVMValueRef swap;  /* the cmpxchg of the comparison looked at */
    LLVMValueRef guess; /* what that expects to find */
};

static bool is_inside(const struct attempts *attempts, LLVMValueRef llvm)
{
    uint32_t v = tr_graph_number(attempts->graph, llvm);
    uint32_t segment = v == TR_NONE ? TR_NONE : attempts->graph->values[v].segment;
    return segment != TR_NONE && tr_set_has(&attempts->loop->segments, segment);
}

static LLVMValueRef skip_bitcasts(LLVMValueRef llvm)
{
    while (LLVMIsABitCastInst(llvm) != NULL)
        llvm = LLVMGetOperand(llvm, 0);
    return llvm;
}

/* Part 0 of what a cmpxchg gives is what it has found, part 1 whether it has succeeded. */
static bool is_part_of_swap(struct attempts *attempts, LLVMValueRef llvm, unsigned part)
{
    if (LLVMIsAExtractValueInst(llvm) == NULL || LLVMGetIndices(llvm)[0] != part)
        return false;
    attempts->swap = LLVMGetOperand(llvm, 0);
    if (LLVMIsAAtomicCmpXchgInst(attempts->swap) == NULL || !is_inside(attempts, attempts->swap))
        return false;
    attempts->guess = LLVMGetOperand(attempts->swap, 1);
    return true;
}

/* Whether the comparison of `found` with `guess` is whether a swap has succeeded. */
static bool compares_swap(struct attempts *attempts, LLVMValueRef found, LLVMValueRef guess)
{
    return is_part_of_swap(attempts, found, 0) && attempts->guess == guess;
}

/* Whether the next attempt guesses what this one has found, or what is there by then. */
static bool guesses_anew(const struct attempts *attempts)
{
    LLVMValueRef guess = skip_bitcasts(attempts->guess);
    if (!is_inside(attempts, guess))
        return false;
    if (LLVMIsALoadInst(guess) != NULL)
        return LLVMGetOperand(guess, 0) == LLVMGetOperand(attempts->swap, 0);
    const struct tr_value *phi = &attempts->graph->values[tr_graph_number(attempts->graph, guess)];
    if (phi->opcode != LLVMPHI || phi->segment != attempts->loop->header)
        return false;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (phi->incoming[i] != attempts->latch)
            continue;
        LLVMValueRef next = skip_bitcasts(LLVMGetOperand(guess, i));
        return LLVMIsAExtractValueInst(next) != NULL && LLVMGetIndices(next)[0] == 0 &&
               LLVMGetOperand(next, 0) == attempts->swap;
    }
    return false;
}

/* Whether an address is the same in each turn. */
static bool is_fixed(const struct attempts *attempts, LLVMValueRef llvm)
{
    if (!is_inside(attempts, llvm))
        return true;
    if (LLVMIsACastInst(llvm) == NULL && LLVMIsAGetElementPtrInst(llvm) == NULL)
        return false;
    for (int i = 0; i < LLVMGetNumOperands(llvm); i++)
        if (!is_fixed(attempts, LLVMGetOperand(llvm, (unsigned)i)))
            return false;
    return true;
}

static bool is_attempt(const struct attempts *attempts)
{
    return is_fixed(attempts, LLVMGetOperand(attempts->swap, 0)) && guesses_anew(attempts);
}

static bool is_bool(LLVMValueRef llvm, unsigned value)
{
    return LLVMIsAConstantInt(llvm) != NULL && LLVMConstIntGetZExtValue(llvm) == value;
}

/* Whether a condition with this result implies that an attempt has failed. */
static bool tells_failure(struct attempts *attempts, LLVMValueRef condition, bool result)
{
    if (LLVMIsAInstruction(condition) == NULL || !is_inside(attempts, condition))
        return false;
    LLVMValueRef first = LLVMGetOperand(condition, 0);
    switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMExtractValue:
        return !result && is_part_of_swap(attempts, condition, 1) && is_attempt(attempts);
    case LLVMICmp: {
        LLVMValueRef second = LLVMGetOperand(condition, 1);
        return LLVMGetICmpPredicate(condition) == (result ? LLVMIntNE : LLVMIntEQ) &&
               (compares_swap(attempts, first, second) || compares_swap(attempts, second, first)) &&
               is_attempt(attempts);
    }
    case LLVMXor:
        return is_bool(LLVMGetOperand(condition, 1), 1) && tells_failure(attempts, first, !result);
    case LLVMAnd:
    case LLVMOr:
        return (LLVMGetInstructionOpcode(condition) == LLVMAnd) == result &&
               (tells_failure(attempts, first, result) ||
                tells_failure(attempts, LLVMGetOperand(condition, 1), result));
    case LLVMSelect: /* `a && b` is select a, b, false, and `a || b` is select a, true, b */
        return is_bool(LLVMGetOperand(condition, result ? 2 : 1), !result) &&
               (tells_failure(attempts, first, result) ||
                tells_failure(attempts, LLVMGetOperand(condition, result ? 1 : 2), result));
    default:
        return false;
    }
}

/* The only segment from which control goes back to the loop's header; TR_NONE: there are others. */
static uint32_t only_latch(const struct tr_graph *graph, const struct tr_loop *loop)
{
    const struct tr_segment *header = &graph->segments[loop->header];
    uint32_t latch = TR_NONE;
    for (uint32_t i = 0; i < header->pred_count; i++) {
        if (!tr_set_has(&loop->segments, header->preds[i]))
            continue;
        if (latch != TR_NONE)
            return TR_NONE;
        latch = header->preds[i];
    }
    return latch;
}

bool tr_is_loop_of_attempts(const struct tr_graph *graph, const struct tr_loop *loop)
{
    struct attempts attempts = {graph, loop, only_latch(graph, loop), NULL, NULL};
    if (loop->is_irreducible || attempts.latch == TR_NONE)
        return false;
    const struct tr_segment *latch = &graph->segments[attempts.latch];
    LLVMValueRef branch = graph->values[latch->first_value + latch->value_count - 1].llvm;
    if (LLVMIsABranchInst(branch) == NULL || !LLVMIsConditional(branch))
        return false;
    bool goes_on = latch->succs[0] == loop->header;
    return latch->succs[0] != latch->succs[1] &&
           tells_failure(&attempts, LLVMGetCondition(branch), goes_on);
}
