/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/handing_over.h"

#include <stddef.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/module/module_steps.h"

_Atomic(int32_t) handing_over_countdown;

/* Where a thread that is not the one to ask writes. */
static uint32_t nobody_asks;

static LLVMValueRef address_of(LLVMContextRef llvm, const volatile void *memory)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(llvm);
    return LLVMConstIntToPtr(LLVMConstInt(i64, (uint64_t)(uintptr_t)memory, false),
                             LLVMPointerTypeInContext(llvm, 0));
}

static LLVMValueRef load_pointer(LLVMBuilderRef b, LLVMContextRef llvm, LLVMValueRef base,
                                 size_t offset)
{
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(llvm), offset, false);
    LLVMValueRef field = LLVMBuildGEP2(b, LLVMInt8TypeInContext(llvm), base, &index, 1, "");
    return LLVMBuildLoad2(b, LLVMPointerTypeInContext(llvm, 0), field, "");
}

/* Without a branch: there is nothing to split. */
void handing_over_ask(struct LLVMOpaqueModule *module, _Atomic(int32_t) *countdown)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMValueRef kernel = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(llvm);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(kernel)));
    LLVMValueRef before =
        LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpSub, address_of(llvm, countdown),
                           LLVMConstInt(i32, 1, false), LLVMAtomicOrderingMonotonic, false);
    LLVMValueRef is_last =
        LLVMBuildICmp(b, LLVMIntEQ, before, LLVMConstInt(i32, 1, false), "is_last");
    LLVMValueRef block =
        load_pointer(b, llvm, LLVMGetParam(kernel, 0), offsetof(struct rt_thread, block));
    LLVMValueRef asked = load_pointer(b, llvm, block, offsetof(struct rt_block, hand_over));
    LLVMValueRef place =
        LLVMBuildSelect(b, is_last, asked, address_of(llvm, &nobody_asks), "place");
    LLVMBuildStore(b, LLVMConstInt(i32, RT_HAND_OVER_THREADS, false), place);
    LLVMDisposeBuilder(b);
}

enum sch_verdict handing_over_watch(void *arg, const struct sch_progress *progress,
                                    struct sch_code *code)
{
    const struct handing_over *launch = arg;
    if (!progress->code->is_provisional || atomic_load(&handing_over_countdown) > 0)
        return SCH_GO_ON;
    *code = launch->other;
    return SCH_REPLACE;
}
