/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/budget.h"
#include "translator/module/elements.h"

#include <inttypes.h>
#include <stdio.h>

#include <llvm-c/Core.h>

#include "kernel_abi/placeholders.h"
#include "translator/module/walk.h"

static const struct {
    uint64_t most;
    enum tr_effort effort;
    const char *what;
} limits[TR_LIMIT_COUNT] = {
#define LIMIT(ID, most, effort, what) {most, TR_EFFORT_##effort, what},
#include "translator/module/budget.def"
#undef LIMIT
};

static uint64_t limit_of(const struct tr_budget *budget, enum tr_limit limit)
{
    return limits[limit].most / (budget->divisor > 0 ? budget->divisor : 1);
}

void tr_budget_begin(struct tr_budget *budget, enum tr_effort effort)
{
    budget->effort = effort;
    budget->is_quick = effort == TR_EFFORT_QUICK;
}

/* What a kernel gets that has passed the limit. */
static enum tr_effort effort_behind(const struct tr_budget *budget, enum tr_limit limit)
{
    enum tr_effort effort = limits[limit].effort;
    return budget->is_quick && effort == TR_EFFORT_THREAD ? TR_EFFORT_SHORT : effort;
}

bool tr_budget_allows(struct tr_budget *budget, enum tr_limit limit, uint64_t amount)
{
    if (amount <= limit_of(budget, limit))
        return true;
    enum tr_effort effort = effort_behind(budget, limit);
    if (budget->effort < effort) {
        budget->effort = effort;
        budget->limit = limit;
        budget->amount = amount;
    }
    return false;
}

bool tr_budget_spend(struct tr_budget *budget, enum tr_limit limit, uint64_t amount)
{
    if (!tr_budget_allows(budget, limit, budget->spent + amount))
        return false;
    budget->spent += amount;
    return true;
}

void tr_budget_excess(const struct tr_budget *budget, char text[TR_BUDGET_TEXT_BYTES])
{
    text[0] = '\0';
    if (budget->amount > 0)
        snprintf(text, TR_BUDGET_TEXT_BYTES, "%" PRIu64 " %s, at most %" PRIu64, budget->amount,
                 limits[budget->limit].what, limit_of(budget, budget->limit));
}

void tr_budget_text(const struct tr_budget *budget, char text[TR_BUDGET_TEXT_BYTES])
{
    static const char *const names[] = {
        [TR_EFFORT_FULL] = "everything",
        [TR_EFFORT_LOOPS] = "no vectors of threads",
        [TR_EFFORT_QUICK] = "no vectors of threads and few passes",
        [TR_EFFORT_THREAD] = "no loops over threads",
        [TR_EFFORT_SHORT] = "few passes",
        [TR_EFFORT_LINEAR] = "no passes",
    };
    char excess[TR_BUDGET_TEXT_BYTES];
    tr_budget_excess(budget, excess);
    text[0] = '\0';
    if (budget->amount > 0)
        snprintf(text, TR_BUDGET_TEXT_BYTES, "compile budget: %s: %s\n", names[budget->effort],
                 excess);
}

/* ---- sizes ---- */

/* A pair of accesses costs the machine scheduler as much as so many other pairs. */
#define ACCESS_WEIGHT 16

static bool is_access(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMCall ||
           opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg;
}

/* Whether the machine scheduler begins anew behind it: a call that is never inlined, and that ends
 * the region of a loop over threads. */
static bool is_sync_point(LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMIsACallInst(inst) == NULL ? NULL : LLVMGetCalledValue(inst);
    size_t len = 0;
    if (callee == NULL || LLVMIsAFunction(callee) == NULL)
        return false;
    const char *name = LLVMGetValueName2(callee, &len);
    return rt_placeholders[rt_find_placeholder(name, len)].sync != RT_SYNC_NONE;
}

#define WORD_BITS 64

/* How many instructions of the code generator's it is like: no processor has vectors of integers
 * that are longer than a word, so each element is computed by itself. */
static uint64_t weight_of(LLVMValueRef inst)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    if (tr_element_kind(type) == LLVMHalfTypeKind && tr_calls_intrinsic(inst, "llvm.fma"))
        return TR_FUSED_HALF;
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return 1;
    LLVMTypeRef element = LLVMGetElementType(type);
    bool is_long =
        LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) > WORD_BITS;
    return is_long ? LLVMGetVectorSize(type) : 1;
}

static void add_block(LLVMBasicBlockRef block, struct tr_size *size)
{
    uint64_t instructions = 0;
    uint64_t accesses = 0; /* since the last sync point */
    uint64_t pairs = 0;
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        instructions += weight_of(inst);
        accesses += is_access(inst);
        if (!is_sync_point(inst))
            continue;
        pairs += accesses * accesses;
        accesses = 0;
    }
    pairs += accesses * accesses;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    size->blocks++;
    uint64_t targets = end != NULL ? LLVMGetNumSuccessors(end) : 0;
    size->edges += targets;
    size->targets = targets > size->targets ? targets : size->targets;
    size->instructions += instructions;
    size->square += instructions * instructions + ACCESS_WEIGHT * pairs;
}

void tr_module_size(LLVMModuleRef module, struct tr_size *size)
{
    *size = (struct tr_size){0};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            add_block(block, size);
}

uint32_t tr_instruction_count(LLVMValueRef function)
{
    uint32_t count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function)
        count++;
    return count;
}
