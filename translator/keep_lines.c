/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark is metadata of a kind of our own, which passes keep where they move an instruction and
 * drop where they make one of several.
 */
#include "translator/keep_lines.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

static unsigned mark_kind(LLVMModuleRef module)
{
    static const char name[] = "ptxrun.line";
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), name, sizeof name - 1);
}

static bool is_access(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst) || LLVMIsAAtomicRMWInst(inst) ||
           LLVMIsAAtomicCmpXchgInst(inst);
}

static void mark(LLVMModuleRef module, unsigned kind, LLVMValueRef inst)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
    if (!location)
        return;
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, &location, 1);
    LLVMSetMetadata(inst, kind, LLVMMetadataAsValue(context, node));
}

static void restore(LLVMModuleRef module, unsigned kind, LLVMValueRef inst)
{
    LLVMValueRef node = LLVMGetMetadata(inst, kind);
    if (!node)
        return;
    LLVMMetadataRef own = LLVMInstructionGetDebugLoc(inst);
    LLVMValueRef location;
    LLVMGetMDNodeOperands(node, &location);
    if (!own || LLVMDILocationGetLine(own) == 0)
        LLVMInstructionSetDebugLoc(inst, LLVMValueAsMetadata(location));
    LLVMSetMetadata(inst, kind, NULL);
    (void)module;
}

typedef void (*access_fn)(LLVMModuleRef module, unsigned kind, LLVMValueRef inst);

static void each_access(LLVMModuleRef module, access_fn visit)
{
    unsigned kind = mark_kind(module);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst;
                 inst = LLVMGetNextInstruction(inst))
                if (is_access(inst))
                    visit(module, kind, inst);
}

void tr_lines_mark(LLVMModuleRef module)
{
    each_access(module, mark);
}

void tr_lines_restore(LLVMModuleRef module)
{
    each_access(module, restore);
}
