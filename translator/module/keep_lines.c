/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark is metadata of a kind of our own, which passes keep where they move an instruction and
 * drop where they make one of several.
 */
#include "translator/module/keep_lines.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

#include "translator/module/marks.h"
#include "translator/module/walk.h"

static bool is_access(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst) || LLVMIsAAtomicRMWInst(inst) ||
           LLVMIsAAtomicCmpXchgInst(inst);
}

static void mark(LLVMValueRef inst)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
    if (location)
        tr_mark_with(inst, TR_MARK_LINE, location);
}

/* The location in the function's own code: the end of the inlined calls. */
static LLVMMetadataRef outermost_scope(LLVMMetadataRef location)
{
    LLVMMetadataRef call = LLVMDILocationGetInlinedAt(location);
    for (; call; call = LLVMDILocationGetInlinedAt(location))
        location = call;
    return LLVMDILocationGetScope(location);
}

/* The inliner tells locations which call brought them, but not those in marks: code of a function
 * inlined since gets its line in the function that it is part of now. */
static LLVMMetadataRef located_here(LLVMValueRef inst, LLVMMetadataRef location)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    if (!subprogram || outermost_scope(location) == subprogram)
        return location;
    return LLVMDIBuilderCreateDebugLocation(LLVMGetTypeContext(LLVMTypeOf(inst)),
                                            LLVMDILocationGetLine(location),
                                            LLVMDILocationGetColumn(location), subprogram, NULL);
}

static void restore(LLVMValueRef inst)
{
    LLVMValueRef node = tr_marked_node(inst, TR_MARK_LINE);
    if (!node)
        return;
    LLVMMetadataRef own = LLVMInstructionGetDebugLoc(inst);
    LLVMValueRef location;
    LLVMGetMDNodeOperands(node, &location);
    if (!own || LLVMDILocationGetLine(own) == 0)
        LLVMInstructionSetDebugLoc(inst, located_here(inst, LLVMValueAsMetadata(location)));
    tr_unmark(inst, TR_MARK_LINE);
}

typedef void (*access_fn)(LLVMValueRef inst);

static void each_access(LLVMModuleRef module, access_fn visit)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (is_access(inst))
                visit(inst);
}

void tr_lines_mark(LLVMModuleRef module)
{
    each_access(module, mark);
}

void tr_lines_restore(LLVMModuleRef module)
{
    each_access(module, restore);
}

/* ---- for people ---- */

static uint32_t first_line(LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    return subprogram ? LLVMDISubprogramGetLine(subprogram) : 0;
}

uint32_t tr_line_near(LLVMValueRef inst)
{
    uint32_t line = 0;
    for (LLVMValueRef at = inst; at && line == 0; at = LLVMGetPreviousInstruction(at))
        line = LLVMGetDebugLocLine(at);
    for (LLVMValueRef at = inst; at && line == 0; at = LLVMGetNextInstruction(at))
        line = LLVMGetDebugLocLine(at);
    if (line == 0)
        line = first_line(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    return line;
}
