/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes pointers of addresses. PTX computes them as integers, and LLVM's analyses give up where an
 * integer becomes a pointer. `inttoptr (parameter + offset)` becomes `inttoptr parameter` plus
 * offset, which they can follow. Parameters are loaded in the entry block: no loop pass would dare
 * to load them before the condition that they stand behind.
 */
#include "translator/collapse/prepare.h"

#include "translator/analysis/address.h"
#include "translator/module/walk.h"

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

/* Moves the load with the instructions that compute its address, all of which depend on the first
 * argument only. */
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
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (tr_is_launch_load(inst))
            move_chain(builder, inst, entry);
}

/* ---- addresses ---- */

#define ADDENDS_MAX 16

bool tr_is_pointer_parameter(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMAnd &&
        LLVMIsAConstantInt(LLVMGetOperand(value, 1)))
        value = LLVMGetOperand(value, 0);
    struct tr_field field = tr_field_of(value, TR_RECORD_THREAD);
    return (field.record == TR_RECORD_PARAMS || field.record == TR_RECORD_SLOTS) &&
           field.has_offset && tr_is_invariant_load(value);
}

/* Takes the parameters out of the terms and returns their sum; NULL: there are none. */
static LLVMValueRef take_params(LLVMBuilderRef builder, struct tr_sum *sum)
{
    LLVMValueRef params = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct tr_term term = sum->terms[i];
        if (!tr_is_pointer_parameter(term.index))
            sum->terms[kept++] = term;
        for (uint64_t n = 0; tr_is_pointer_parameter(term.index) && n < term.factor; n++)
            params = params ? LLVMBuildAdd(builder, params, term.index, "") : term.index;
    }
    sum->count = kept;
    return params;
}

static LLVMValueRef add_to(LLVMBuilderRef builder, LLVMValueRef pointer, LLVMValueRef offset)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(pointer)));
    return LLVMBuildGEP2(builder, byte, pointer, &offset, 1, "");
}

static LLVMValueRef add_terms(LLVMBuilderRef builder, LLVMValueRef pointer,
                              const struct tr_sum *sum)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(pointer)));
    for (uint32_t i = 0; i < sum->count; i++)
        for (uint64_t n = 0; n < sum->terms[i].factor; n++)
            pointer = add_to(builder, pointer, sum->terms[i].index);
    if (sum->offset == 0)
        return pointer;
    return add_to(builder, pointer, LLVMConstInt(i64, sum->offset, false));
}

/* Without products, a term's factor counts how often it is added. */
static void rewrite_address(LLVMBuilderRef builder, LLVMValueRef inst)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
    struct tr_sum_query query = {.layout = LLVMGetModuleDataLayout(module),
                                 .through = TR_AS_ADDENDS};
    struct tr_sum sum;
    tr_sum_of(&query, LLVMGetOperand(inst, 0), &sum);
    if (!sum.is_known || sum.addends < 2 || sum.addends > ADDENDS_MAX)
        return;
    LLVMPositionBuilderBefore(builder, inst);
    LLVMValueRef base = take_params(builder, &sum);
    if (!base)
        return;
    LLVMValueRef pointer = LLVMBuildIntToPtr(builder, base, LLVMTypeOf(inst), "");
    pointer = add_terms(builder, pointer, &sum);
    LLVMReplaceAllUsesWith(inst, pointer);
    LLVMInstructionEraseFromParent(inst);
}

void tr_prepare_addresses(LLVMValueRef function)
{
    LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    hoist_launch_loads(builder, function);
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMIsAIntToPtrInst(inst) &&
            LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(inst, 0))) == 64)
            rewrite_address(builder, inst);
    LLVMDisposeBuilder(builder);
}
