/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for building the functions of a fused kernel.
 */
#include <stddef.h>
#include <string.h>

#include "translator/collapse/fuse.h"

LLVMValueRef tr_fuse_i32(const struct tr_fuse *fuse, uint32_t value)
{
    return LLVMConstInt(fuse->i32, value, false);
}

LLVMValueRef tr_fuse_i64(const struct tr_fuse *fuse, uint64_t value)
{
    return LLVMConstInt(fuse->i64, value, false);
}

LLVMBasicBlockRef tr_fuse_new_block(const struct tr_fuse *fuse, const char *name)
{
    return LLVMAppendBasicBlockInContext(fuse->llvm, fuse->function, name);
}

LLVMValueRef tr_fuse_offset(const struct tr_fuse *fuse, LLVMValueRef base, uint64_t offset)
{
    LLVMValueRef index = tr_fuse_i64(fuse, offset);
    return offset == 0 ? base : LLVMBuildGEP2(fuse->builder, fuse->i8, base, &index, 1, "");
}

LLVMValueRef tr_fuse_field(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef base,
                           uint64_t offset, const char *name)
{
    static const char invariant[] = "invariant.load";
    LLVMValueRef load =
        LLVMBuildLoad2(fuse->builder, type, tr_fuse_offset(fuse, base, offset), name);
    LLVMMetadataRef node = LLVMMDNodeInContext2(fuse->llvm, NULL, 0);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(fuse->llvm, invariant, sizeof invariant - 1),
                    LLVMMetadataAsValue(fuse->llvm, node));
    return load;
}

LLVMValueRef tr_fuse_call(const struct tr_fuse *fuse, const char *name, LLVMTypeRef result,
                          LLVMValueRef *args, unsigned count)
{
    LLVMValueRef callee = LLVMGetNamedFunction(fuse->module, name);
    if (callee == NULL) {
        LLVMTypeRef types[16];
        for (unsigned i = 0; i < count; i++)
            types[i] = LLVMTypeOf(args[i]);
        callee = LLVMAddFunction(fuse->module, name, LLVMFunctionType(result, types, count, false));
        unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
        LLVMAddAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(fuse->llvm, nounwind, 0));
    }
    return LLVMBuildCall2(fuse->builder, LLVMGlobalGetValueType(callee), callee, args, count, "");
}

LLVMValueRef tr_fuse_variable(const struct tr_fuse *fuse, LLVMTypeRef type, const char *name)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(fuse->llvm);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(fuse->function);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first != NULL)
        LLVMPositionBuilderBefore(builder, first);
    else
        LLVMPositionBuilderAtEnd(builder, entry);
    LLVMValueRef variable = LLVMBuildAlloca(builder, type, name);
    LLVMDisposeBuilder(builder);
    return variable;
}

static LLVMValueRef load_extent(const struct tr_fuse *fuse, int dimension)
{
    uint32_t known = fuse->options->facts->block[dimension];
    if (known != 0)
        return tr_fuse_i32(fuse, known);
    LLVMValueRef extent = tr_fuse_field(
        fuse, fuse->i32, fuse->launch,
        offsetof(struct rt_launch, block) + (size_t)dimension * sizeof(uint32_t), "ntid");
    if (dimension > 0 || !tr_has_whole_warps(fuse->options->facts))
        return extent;
    return LLVMBuildAnd(fuse->builder, extent, tr_fuse_i32(fuse, ~(uint32_t)(RT_WARP_SIZE - 1)),
                        "warps");
}

void tr_fuse_load_shape(struct tr_fuse *fuse)
{
    LLVMBuilderRef b = fuse->builder;
    fuse->launch =
        tr_fuse_field(fuse, fuse->ptr, fuse->block, offsetof(struct rt_block, launch), "launch");
    fuse->frame_base =
        tr_fuse_field(fuse, fuse->ptr, fuse->block, offsetof(struct rt_block, frame), "frame");
    for (int i = 0; i < 3; i++)
        fuse->ntid[i] = load_extent(fuse, i);
    /* At most 1024 threads: nothing here wraps. */
    fuse->thread_count = LLVMBuildNUWMul(b, LLVMBuildNUWMul(b, fuse->ntid[0], fuse->ntid[1], ""),
                                         fuse->ntid[2], "threads");
    LLVMValueRef padded = LLVMBuildAnd(
        b, LLVMBuildNUWAdd(b, fuse->thread_count, tr_fuse_i32(fuse, RT_WARP_SIZE - 1), ""),
        tr_fuse_i32(fuse, ~(uint32_t)(RT_WARP_SIZE - 1)), "");
    fuse->padded_count = LLVMBuildZExt(b, padded, fuse->i64, "padded");
    fuse->group_count = tr_fuse_i64(fuse, 1);
    if (fuse->kernel->scope == TR_SCOPE_WARP)
        fuse->group_count = LLVMBuildLShr(b, fuse->padded_count, tr_fuse_i64(fuse, 5), "warps");
}

LLVMValueRef tr_fuse_scaled(const struct tr_fuse *fuse, LLVMValueRef base, LLVMValueRef count,
                            uint64_t bytes)
{
    LLVMValueRef offset = LLVMBuildNUWMul(fuse->builder, count, tr_fuse_i64(fuse, bytes), "");
    return LLVMBuildGEP2(fuse->builder, fuse->i8, base, &offset, 1, "");
}

LLVMValueRef tr_fuse_thread_array(const struct tr_fuse *fuse, uint32_t array)
{
    return tr_fuse_scaled(fuse, fuse->frame_base, fuse->padded_count, array);
}

LLVMValueRef tr_fuse_element(const struct tr_fuse *fuse, LLVMTypeRef type, LLVMValueRef base,
                             LLVMValueRef index)
{
    return LLVMBuildGEP2(fuse->builder, type, base, &index, 1, "");
}

LLVMValueRef tr_fuse_group_element(const struct tr_fuse *fuse, uint32_t array, LLVMTypeRef type,
                                   LLVMValueRef index)
{
    LLVMValueRef base =
        tr_fuse_scaled(fuse, fuse->frame_base, fuse->padded_count, fuse->frame.thread_bytes);
    base = tr_fuse_offset(fuse, base, fuse->frame.gap_bytes);
    base = tr_fuse_scaled(fuse, base, fuse->group_count, array);
    return tr_fuse_element(fuse, type, base, index);
}

uint32_t tr_fuse_entry(const struct tr_fuse *fuse, uint32_t sync)
{
    const struct tr_sync_point *at = &fuse->kernel->sync_points[sync];
    bool is_whole = (at->kind == RT_SYNC_BARRIER && at->is_fused) || at->kind == RT_SYNC_CLUSTER;
    return sync | (is_whole ? RT_ENTRY_WHOLE : 0);
}

bool tr_fuse_seed(struct tr_fuse *fuse, enum tr_seed kind)
{
    return fuse->options->seed == kind && fuse->seed_sites++ == fuse->options->seed_site;
}
