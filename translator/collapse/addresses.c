/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX computes addresses as integers, and LLVM's analyses give up where an integer becomes a
 * pointer. Here `inttoptr (parameter + offset)` becomes `inttoptr parameter` plus offset, which
 * they can follow; and parameters are loaded in the entry block, or a loop pass would not dare to
 * load them before the condition that they stand behind now.
 */
#include "translator/collapse/prepare.h"

#include "translator/analysis/address.h"

#define MAX_TERMS 16

bool tr_is_launch_load(LLVMValueRef inst)
{
    struct tr_field field = tr_field_of(inst, TR_RECORD_THREAD);
    return field.record != TR_RECORD_NONE && field.has_offset && tr_is_invariant_load(inst);
}

/* ---- loads go to the entry block ---- */

static void move_to(LLVMBuilderRef builder, LLVMValueRef inst)
{
    LLVMInstructionRemoveFromParent(inst);
    LLVMInsertIntoBuilder(builder, inst);
}

/* With what its address is made of. All of it depends on the first argument only. */
static void move_chain(LLVMBuilderRef builder, LLVMValueRef inst, LLVMBasicBlockRef entry)
{
    if (!LLVMIsAInstruction(inst) || LLVMGetInstructionParent(inst) == entry)
        return;
    move_chain(builder, LLVMGetOperand(inst, 0), entry);
    move_to(builder, inst);
}

static void hoist_launch_loads(LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(entry));
    LLVMBasicBlockRef block = LLVMGetNextBasicBlock(entry);
    for (; block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef inst = LLVMGetFirstInstruction(block);
        while (inst) {
            LLVMValueRef next = LLVMGetNextInstruction(inst);
            if (tr_is_launch_load(inst))
                move_chain(builder, inst, entry);
            inst = next;
        }
    }
}

/* ---- addresses ---- */

struct sum {
    LLVMValueRef terms[MAX_TERMS];
    unsigned count;
    bool is_too_long;
};

static bool is_addition(LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value))
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    return opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
}

static void collect_terms(struct sum *sum, LLVMValueRef value)
{
    if (is_addition(value)) {
        collect_terms(sum, LLVMGetOperand(value, 0));
        collect_terms(sum, LLVMGetOperand(value, 1));
    } else if (sum->count < MAX_TERMS) {
        sum->terms[sum->count++] = value;
    } else {
        sum->is_too_long = true;
    }
}

/* A parameter, perhaps with its low bits off: where nothing else is, a pointer. */
static bool is_param(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMAnd &&
        LLVMIsAConstantInt(LLVMGetOperand(value, 1)))
        value = LLVMGetOperand(value, 0);
    struct tr_field field = tr_field_of(value, TR_RECORD_THREAD);
    return (field.record == TR_RECORD_PARAMS || field.record == TR_RECORD_SLOTS) &&
           field.has_offset && tr_is_invariant_load(value);
}

/* The sum of the parameters among the terms, which it takes out; NULL: there are none. */
static LLVMValueRef take_params(LLVMBuilderRef builder, struct sum *sum)
{
    LLVMValueRef params = NULL;
    unsigned kept = 0;
    for (unsigned i = 0; i < sum->count; i++) {
        LLVMValueRef term = sum->terms[i];
        if (!is_param(term))
            sum->terms[kept++] = term;
        else
            params = params ? LLVMBuildAdd(builder, params, term, "") : term;
    }
    sum->count = kept;
    return params;
}

static LLVMValueRef add_terms(LLVMBuilderRef builder, LLVMValueRef pointer, const struct sum *sum,
                              bool constants)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(pointer)));
    for (unsigned i = 0; i < sum->count; i++) {
        LLVMValueRef term = sum->terms[i];
        if (LLVMIsAConstantInt(term) ? constants : !constants)
            pointer = LLVMBuildGEP2(builder, byte, pointer, &term, 1, "");
    }
    return pointer;
}

static void rewrite_address(LLVMBuilderRef builder, LLVMValueRef inst)
{
    struct sum sum = {.count = 0};
    collect_terms(&sum, LLVMGetOperand(inst, 0));
    if (sum.is_too_long || sum.count < 2)
        return;
    LLVMPositionBuilderBefore(builder, inst);
    LLVMValueRef base = take_params(builder, &sum);
    if (!base)
        return;
    LLVMValueRef pointer = LLVMBuildIntToPtr(builder, base, LLVMTypeOf(inst), "");
    pointer = add_terms(builder, pointer, &sum, false);
    pointer = add_terms(builder, pointer, &sum, true);
    LLVMReplaceAllUsesWith(inst, pointer);
    LLVMInstructionEraseFromParent(inst);
}

void tr_prepare_addresses(LLVMValueRef function)
{
    LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    hoist_launch_loads(builder, function);
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef inst = LLVMGetFirstInstruction(block);
        while (inst) {
            LLVMValueRef next = LLVMGetNextInstruction(inst);
            if (LLVMIsAIntToPtrInst(inst) &&
                LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(inst, 0))) == 64)
                rewrite_address(builder, inst);
            inst = next;
        }
    }
    LLVMDisposeBuilder(builder);
}
