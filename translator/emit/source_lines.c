/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_lines.h.
 */
#include "translator/emit/source_lines.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "ptx/place.h"
#include "translator/module/walk.h"

/* What was made for the location before: neighbours mostly come from the same line. */
struct teller {
    const struct ptx_module *ptx;
    LLVMContextRef llvm;
    LLVMDIBuilderRef debug;
    LLVMMetadataRef from;
    LLVMMetadataRef to;
};

static LLVMMetadataRef make_file(struct teller *teller, const struct ptx_place *place)
{
    return LLVMDIBuilderCreateFile(teller->debug, place->file.ptr, place->file.len,
                                   place->folder.len ? place->folder.ptr : "", place->folder.len);
}

/* The location itself if .loc tells nothing. */
static LLVMMetadataRef told(struct teller *teller, LLVMMetadataRef location)
{
    struct ptx_place place;
    unsigned line = LLVMDILocationGetLine(location);
    if (line == 0 || !ptx_find_place(teller->ptx, (int)line, &place))
        return location;
    LLVMMetadataRef scope = LLVMDIBuilderCreateLexicalBlockFile(
        teller->debug, LLVMDILocationGetScope(location), make_file(teller, &place), line);
    return LLVMDIBuilderCreateDebugLocation(teller->llvm, place.line, place.column, scope,
                                            LLVMDILocationGetInlinedAt(location));
}

static void tell(struct teller *teller, LLVMValueRef inst)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
    if (!location)
        return;
    if (location != teller->from) {
        teller->from = location;
        teller->to = told(teller, location);
    }
    LLVMInstructionSetDebugLoc(inst, teller->to);
}

void tr_tell_source_lines(LLVMModuleRef module, const struct ptx_module *ptx)
{
    struct teller teller = {.ptx = ptx,
                            .llvm = LLVMGetModuleContext(module),
                            .debug = LLVMCreateDIBuilderDisallowUnresolved(module)};
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            tell(&teller, inst);
    LLVMDIBuilderFinalize(teller.debug);
    LLVMDisposeDIBuilder(teller.debug);
}
