/* SPDX-License-Identifier: Apache-2.0
 *
 * In the function of the blocks: what is the same for the launch, or for a block, goes before the
 * loops over threads. Parameters and what is computed of them, block indices, questions about the
 * alignment of pointers. It is what licm would find, without the analyses that licm needs; the
 * values are simple, and asking for one that nobody needs harms nothing. And what only a fault
 * needs, its address above all, goes to the fault.
 */
#include "translator/analysis/address.h"
#include "translator/analysis/shape.h"
#include "translator/collapse/collapsing.h"
#include "translator/module/marks.h"
#include "translator/module/walk.h"

/* Where values go: behind those that they are computed of. */
struct places {
    LLVMBuilderRef builder;
    LLVMBasicBlockRef launch; /* the entry block */
    LLVMBasicBlockRef block;  /* behind it: the head of the loop over blocks */
};

static bool is_launch_load(LLVMValueRef inst)
{
    struct tr_field field = tr_field_of(inst, TR_RECORD_BLOCK);
    return field.record != TR_RECORD_NONE && field.has_offset && tr_is_invariant_load(inst);
}

/* ---- before the loops ---- */

/* The place for the instruction; NULL: it stays. */
static LLVMBasicBlockRef place_for(const struct places *places, LLVMValueRef inst)
{
    LLVMBasicBlockRef place = places->launch;
    if (!tr_is_arithmetic(LLVMGetInstructionOpcode(inst)) && !is_launch_load(inst))
        return NULL;
    for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, (unsigned)i);
        if (LLVMIsAInstruction(operand) == NULL)
            continue; /* an argument or a constant */
        LLVMBasicBlockRef from = LLVMGetInstructionParent(operand);
        if (from != places->launch && from != places->block)
            return NULL;
        if (from == places->block)
            place = from;
    }
    return place;
}

static void move_before(LLVMBuilderRef b, LLVMValueRef inst, LLVMValueRef place)
{
    LLVMPositionBuilderBefore(b, place);
    LLVMSetCurrentDebugLocation2(b, NULL);
    LLVMInstructionRemoveFromParent(inst);
    LLVMInsertIntoBuilder(b, inst);
}

static void hoist(const struct places *places, LLVMValueRef inst)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(inst);
    LLVMBasicBlockRef place = place_for(places, inst);
    if (place == NULL || from == place || from == places->launch)
        return;
    move_before(places->builder, inst, LLVMGetBasicBlockTerminator(place));
}

static void hoist_all(LLVMValueRef function)
{
    struct places places = {.launch = LLVMGetEntryBasicBlock(function)};
    LLVMValueRef end = LLVMGetBasicBlockTerminator(places.launch);
    if (LLVMGetNumSuccessors(end) != 1)
        return; /* there is no loop over blocks */
    places.block = LLVMGetSuccessor(end, 0);
    places.builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    TR_FOR_EACH_INSTRUCTION(inst, function)
        hoist(&places, inst);
    LLVMDisposeBuilder(places.builder);
}

/* ---- to the faults ---- */

static bool ends_in_fault(LLVMBasicBlockRef block)
{
    return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL;
}

/* The only block that uses the instruction, if it is one that ends in a fault; else NULL. */
static LLVMBasicBlockRef fault_of(LLVMValueRef inst)
{
    LLVMBasicBlockRef only = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(inst); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMBasicBlockRef block = LLVMGetInstructionParent(LLVMGetUser(use));
        if ((only != NULL && block != only) || !ends_in_fault(block) ||
            LLVMIsAPHINode(LLVMGetFirstInstruction(block)))
            return NULL;
        only = block;
    }
    return only;
}

/* From the end, so that users have gone before what they use. */
static void sink_block(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    LLVMValueRef inst = LLVMGetLastInstruction(block);
    while (inst != NULL) {
        LLVMValueRef before = LLVMGetPreviousInstruction(inst);
        LLVMBasicBlockRef fault =
            tr_is_arithmetic(LLVMGetInstructionOpcode(inst)) ? fault_of(inst) : NULL;
        if (fault != NULL)
            move_before(b, inst, LLVMGetFirstInstruction(fault));
        inst = before;
    }
}

static void sink_all(LLVMValueRef function)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    for (LLVMBasicBlockRef block = LLVMGetLastBasicBlock(function); block != NULL;
         block = LLVMGetPreviousBasicBlock(block))
        if (!ends_in_fault(block))
            sink_block(b, block);
    LLVMDisposeBuilder(b);
}

void tr_place_values(LLVMValueRef function)
{
    hoist_all(function);
    sink_all(function);
}
