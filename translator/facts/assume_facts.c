/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts in the program of one thread: known special registers and parameters become constants and
 * ranges, and LLVM's passes find the consequences: index arithmetic that does not wrap (nsw, nuw,
 * nneg), a bound check or an alignment check that never fails. Done before the threads of a block
 * are collapsed.
 */
#include "translator/facts/assume_facts.h"

#include <llvm-c/Core.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernel_abi/image_shape.h"
#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"
#include "translator/module/module_steps.h"
#include "translator/module/sregs.h"
#include "translator/module/walk.h"

struct assumption {
    LLVMModuleRef module;
    LLVMContextRef llvm;
    unsigned range_kind;
    const struct tr_facts *facts;
};

/* Says that the instruction's integer is in [min, max]. */
static void set_range(const struct assumption *as, LLVMValueRef inst, uint64_t min, uint64_t max)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    LLVMMetadataRef bounds[2] = {LLVMValueAsMetadata(LLVMConstInt(type, min, false)),
                                 LLVMValueAsMetadata(LLVMConstInt(type, max + 1, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(as->llvm, bounds, 2);
    LLVMSetMetadata(inst, as->range_kind, LLVMMetadataAsValue(as->llvm, node));
}

/* ---- special registers ---- */

/* Says that every call of the placeholder gives a number in [min, max]. */
static void assume_register(const struct assumption *as, const char *name, uint32_t min,
                            uint32_t max)
{
    LLVMValueRef function = LLVMGetNamedFunction(as->module, name);
    LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL;
    while (use) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        if (min < max) {
            set_range(as, call, min, max);
            continue;
        }
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), min, false));
        LLVMInstructionEraseFromParent(call);
    }
}

static uint32_t max_warps(const struct tr_facts *facts)
{
    const uint32_t *block = facts->block;
    uint32_t threads = TR_BLOCK_MAX_THREADS;
    if (block[0] && block[1] && block[2])
        threads = block[0] * block[1] * block[2];
    return (threads + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
}

struct bounds {
    uint32_t min;
    uint32_t max;
};

static uint32_t max_block(const struct tr_facts *facts, unsigned axis)
{
    static const uint32_t limits[3] = {TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_Z};
    return facts->block[axis] ? facts->block[axis] : limits[axis];
}

static uint32_t min_block(const struct tr_facts *facts, unsigned axis)
{
    if (facts->block[axis])
        return facts->block[axis];
    return axis == 0 && tr_has_whole_warps(facts) ? RT_WARP_SIZE : 1;
}

static uint32_t max_grid(const struct tr_facts *facts, unsigned axis)
{
    static const uint32_t limits[3] = {TR_GRID_MAX_X, TR_GRID_MAX_YZ, TR_GRID_MAX_YZ};
    uint32_t max = facts->grid_max[axis];
    return max == 0 || max > limits[axis] ? limits[axis] : max;
}

static bool find_bounds(const struct tr_facts *facts, const struct tr_sreg_info *sreg,
                        struct bounds *bounds)
{
    uint32_t block_max = max_block(facts, sreg->axis);
    switch (sreg->quantity) {
    case TR_QUANTITY_BLOCK_SIZE:
        *bounds = (struct bounds){min_block(facts, sreg->axis), block_max};
        return true;
    case TR_QUANTITY_THREAD_INDEX:
        *bounds = (struct bounds){0, block_max - 1};
        return true;
    case TR_QUANTITY_GRID_SIZE:
        *bounds = (struct bounds){1, max_grid(facts, sreg->axis)};
        return true;
    case TR_QUANTITY_BLOCK_INDEX:
        *bounds = (struct bounds){0, max_grid(facts, sreg->axis) - 1};
        return true;
    case TR_QUANTITY_LANE:
        *bounds = (struct bounds){0, RT_WARP_SIZE - 1};
        return true;
    case TR_QUANTITY_WARP:
        *bounds = (struct bounds){0, max_warps(facts) - 1};
        return true;
    case TR_QUANTITY_DYNAMIC_SHARED:
        *bounds = (struct bounds){facts->dynamic_shared_bytes, facts->dynamic_shared_bytes};
        return facts->has_dynamic_shared;
    case TR_QUANTITY_OTHER:
    default:
        return false;
    }
}

static void assume_registers(const struct assumption *as)
{
    struct bounds bounds;
    for (unsigned i = PTX_SREG_NONE + 1; i < PTX_SREG_COUNT; i++)
        if (find_bounds(as->facts, &tr_sregs[i], &bounds))
            assume_register(as, tr_sregs[i].function, bounds.min, bounds.max);
}

/* ---- parameters ---- */

/* Keeps the value, but shows that its low bits are 0. */
static void mask_low_bits(const struct assumption *as, LLVMValueRef load, unsigned align_log2)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(as->llvm);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(load));
    uint64_t mask = ~((UINT64_C(1) << align_log2) - 1);
    LLVMValueRef ones = LLVMConstAllOnes(LLVMTypeOf(load));
    LLVMValueRef masked = LLVMBuildBinOp(builder, LLVMAnd, load, ones, "aligned");
    LLVMReplaceAllUsesWith(load, masked);
    LLVMSetOperand(masked, 0, load);
    LLVMSetOperand(masked, 1, LLVMConstInt(LLVMTypeOf(load), mask, false));
    LLVMDisposeBuilder(builder);
}

/* Keeps the value, but shows which shape is in the upper bits. */
static void show_shape(const struct assumption *as, LLVMValueRef load, uint32_t shape)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(as->llvm);
    LLVMTypeRef type = LLVMTypeOf(load);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(load));
    LLVMValueRef ones = LLVMConstAllOnes(type);
    LLVMValueRef address = LLVMBuildBinOp(builder, LLVMAnd, load, ones, "");
    LLVMValueRef bits = LLVMConstInt(type, (uint64_t)shape << RT_HANDLE_ADDRESS_BITS, false);
    LLVMValueRef handle = LLVMBuildBinOp(builder, LLVMOr, address, bits, "handle");
    LLVMReplaceAllUsesWith(load, handle);
    LLVMSetOperand(address, 0, load);
    LLVMSetOperand(address, 1, LLVMConstInt(type, RT_HANDLE_ADDRESS_MASK, false));
    LLVMDisposeBuilder(builder);
}

static void assume_param(const struct assumption *as, LLVMValueRef load,
                         const struct tr_param_fact *fact)
{
    if (fact->max_log2)
        set_range(as, load, 0, UINT64_C(1) << fact->max_log2);
    if (fact->align_log2)
        mask_low_bits(as, load, fact->align_log2);
    if (fact->image_shape)
        show_shape(as, load, fact->image_shape);
}

/* The parameter that a load of this many bytes at this offset reads, or -1. */
static int find_param(const struct ptx_func *kernel, uint64_t offset, uint64_t size_bytes)
{
    for (uint32_t i = 0; i < kernel->param_count && i < TR_FACTS_PARAMS; i++)
        if (kernel->params[i]->param_offset_bytes == offset &&
            kernel->params[i]->size_bytes == size_bytes)
            return (int)i;
    return -1;
}

static void assume_param_load(const struct assumption *as, LLVMValueRef load,
                              const struct ptx_func *kernel)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    struct tr_field field = tr_field_of(load, TR_RECORD_THREAD);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || field.record != TR_RECORD_PARAMS ||
        !field.has_offset)
        return;
    int param = find_param(kernel, field.offset, LLVMGetIntTypeWidth(type) / 8);
    if (param >= 0)
        assume_param(as, load, &as->facts->params[param]);
}

static void assume_params(const struct assumption *as, const struct ptx_func *kernel)
{
    LLVMValueRef function = LLVMGetNamedFunction(as->module, TR_KERNEL_NAME);
    if (!function)
        return;
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMIsALoadInst(inst))
            assume_param_load(as, inst, kernel);
}

void tr_assume_facts(LLVMModuleRef module, const struct ptx_func *kernel,
                     const struct tr_facts *facts)
{
    static const char range[] = "range";
    struct assumption as = {.module = module, .llvm = LLVMGetModuleContext(module), .facts = facts};
    as.range_kind = LLVMGetMDKindIDInContext(as.llvm, range, sizeof range - 1);
    assume_registers(&as);
    assume_params(&as, kernel);
}
