/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetches from textures whose shape is known (kernel_abi/image_shape.h): instead of a call of the
 * process's sampler, which reads the descriptor for each thread, code for that shape, of which
 * loops over vectors of threads can be made.
 */
#include "translator/facts/fixed_samplers.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/image_shape.h"
#include "kernel_abi/placeholders.h"
#include "translator/module/link_rt.h"
#include "translator/module/marks.h"
#include "translator/module/walk.h"

#define HELPER "rt_sample_shape"

/* Operands of rt_texture_fetch. */
enum { FETCH_TEXTURE = 1, FETCH_SAMPLER, FETCH_C01, FETCH_REQUEST = 6 };

/* What a fetch may ask for besides its kind and the type of its coordinates. With a single level
 * all levels are that one. */
#define REQUEST_KNOWN                                                                              \
    (UINT64_C(0xff) << RT_FETCH_KIND_SHIFT | UINT64_C(1) << RT_FETCH_IS_FLOAT |                    \
     UINT64_C(1) << RT_FETCH_HAS_LOD | UINT64_C(1) << RT_FETCH_IS_BASE)

/* The shape in the upper bits of the handle; 0: they are not known. */
static uint32_t shape_of(LLVMValueRef handle)
{
    if (LLVMIsAConstantInt(handle) != NULL)
        return rt_handle_shape(LLVMConstIntGetZExtValue(handle));
    if (LLVMIsABinaryOperator(handle) == NULL || LLVMGetInstructionOpcode(handle) != LLVMOr)
        return 0;
    LLVMValueRef bits = LLVMGetOperand(handle, 1);
    return LLVMIsAConstantInt(bits) == NULL ? 0 : rt_handle_shape(LLVMConstIntGetZExtValue(bits));
}

static bool is_known_request(uint64_t request, uint32_t shape)
{
    uint32_t wanted = (uint32_t)(request >> RT_FETCH_KIND_SHIFT & 0xff);
    uint32_t kind = rt_shape_kind(shape);
    if (kind == RT_TEXTURE_LINEAR)
        return wanted == RT_TEXTURE_1D && !RT_FETCH_BIT(request, RT_FETCH_IS_FLOAT) &&
               !(request & ~REQUEST_KNOWN);
    return kind == wanted && !(request & ~REQUEST_KNOWN);
}

/* 0: the fetch has to read the descriptor. */
static uint32_t find_shape(LLVMValueRef fetch)
{
    LLVMValueRef request = LLVMGetOperand(fetch, FETCH_REQUEST);
    LLVMValueRef handle = LLVMGetOperand(fetch, FETCH_TEXTURE);
    uint32_t shape = shape_of(handle);
    bool is_known = rt_is_shape(shape) && handle == LLVMGetOperand(fetch, FETCH_SAMPLER) &&
                    LLVMIsAConstantInt(request) != NULL &&
                    is_known_request(LLVMConstIntGetZExtValue(request), shape);
    return is_known ? shape : 0;
}

static LLVMValueRef declare_helper(LLVMModuleRef module)
{
    LLVMValueRef helper = LLVMGetNamedFunction(module, HELPER);
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(llvm);
    LLVMTypeRef types[] = {i64, i32, i32, i64};
    if (helper != NULL)
        return helper;
    return LLVMAddFunction(module, HELPER,
                           LLVMFunctionType(LLVMInt128TypeInContext(llvm), types, 4, false));
}

static void replace_fetch(LLVMValueRef fetch, uint32_t shape, LLVMValueRef helper)
{
    LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(helper));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    uint64_t request = LLVMConstIntGetZExtValue(LLVMGetOperand(fetch, FETCH_REQUEST));
    LLVMValueRef args[] = {
        LLVMGetOperand(fetch, FETCH_TEXTURE),
        LLVMConstInt(i32, shape, false),
        LLVMConstInt(i32, RT_FETCH_BIT(request, RT_FETCH_IS_FLOAT), false),
        LLVMGetOperand(fetch, FETCH_C01),
    };
    LLVMPositionBuilderBefore(builder, fetch);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(fetch));
    LLVMValueRef call =
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(helper), helper, args, 4, "");
    LLVMReplaceAllUsesWith(fetch, call);
    LLVMInstructionEraseFromParent(fetch);
    LLVMDisposeBuilder(builder);
}

/* Whether the address is a place in what the function's first argument points to. */
static bool is_in_descriptor(LLVMValueRef address, LLVMValueRef function)
{
    while (LLVMIsAGetElementPtrInst(address) != NULL || LLVMIsAIntToPtrInst(address) != NULL)
        address = LLVMGetOperand(address, 0);
    if (LLVMIsABinaryOperator(address) != NULL && LLVMGetInstructionOpcode(address) == LLVMAnd)
        address = LLVMGetOperand(address, 0);
    return address == LLVMGetParam(function, 0);
}

/* Descriptors do not change while a kernel runs. */
static void mark_descriptor(LLVMValueRef helper)
{
    TR_FOR_EACH_INSTRUCTION(inst, helper)
        if (LLVMIsALoadInst(inst) != NULL && is_in_descriptor(LLVMGetOperand(inst, 0), helper))
            tr_mark_invariant(inst);
}

enum pxr_status tr_fix_samplers(LLVMModuleRef module, bool *has_any, struct pxr_error *err)
{
    LLVMValueRef sampler = LLVMGetNamedFunction(module, "rt_texture_fetch");
    LLVMValueRef helper = NULL;
    for (LLVMUseRef use = sampler == NULL ? NULL : LLVMGetFirstUse(sampler); use != NULL;) {
        LLVMValueRef fetch = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        uint32_t shape = find_shape(fetch);
        if (shape == 0)
            continue;
        helper = declare_helper(module);
        replace_fetch(fetch, shape, helper);
    }
    *has_any = helper != NULL;
    if (helper == NULL)
        return PXR_OK;
    enum pxr_status status = tr_link_rt(module, false, err);
    if (status == PXR_OK)
        mark_descriptor(LLVMGetNamedFunction(module, HELPER));
    return status;
}
