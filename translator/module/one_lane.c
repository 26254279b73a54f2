/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM 22 makes a store of four bytes of a masked store with one lane, known at compile time, of a
 * value that was cut to two bytes or one (AVX-512BW: the cut goes into the store, which then
 * forgets it). Here it becomes a plain store of that lane, which is correct and no slower.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "translator/module/masked_store.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* The only lane that is set; -1: the mask is not known, or has none or several. */
static int only_lane(LLVMValueRef mask)
{
    unsigned lane;
    return tr_lanes_set(mask, &lane) == 1 ? (int)lane : -1;
}

static unsigned alignment_of(LLVMValueRef store)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(store, 1 + TR_MASKED_STORE_POINTER, kind);
    return align == NULL ? 1 : (unsigned)LLVMGetEnumAttributeValue(align);
}

static unsigned lowest_bit(unsigned number)
{
    return number & -number;
}

static void store_lane(LLVMBuilderRef b, LLVMValueRef store, int lane)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(store));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef element =
        LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(store, TR_MASKED_STORE_VALUE)));
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(store))));
    unsigned offset = (unsigned)lane * (unsigned)LLVMABISizeOfType(layout, element);
    LLVMValueRef index = LLVMConstInt(i32, (unsigned)lane, false);
    LLVMPositionBuilderBefore(b, store);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(store));
    LLVMValueRef value =
        LLVMBuildExtractElement(b, LLVMGetOperand(store, TR_MASKED_STORE_VALUE), index, "");
    LLVMValueRef pointer =
        LLVMBuildGEP2(b, element, LLVMGetOperand(store, TR_MASKED_STORE_POINTER), &index, 1, "");
    unsigned align = alignment_of(store);
    LLVMValueRef single = LLVMBuildStore(b, value, pointer);
    LLVMSetAlignment(single, offset == 0 ? align : lowest_bit(align | offset));
    LLVMInstructionEraseFromParent(store);
}

void tr_mend_one_lane_stores(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn) {
            int lane = tr_is_masked_store(inst)
                           ? only_lane(LLVMGetOperand(inst, TR_MASKED_STORE_MASK))
                           : -1;
            if (lane >= 0)
                store_lane(b, inst, lane);
        }
    LLVMDisposeBuilder(b);
}
