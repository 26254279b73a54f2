/* SPDX-License-Identifier: Apache-2.0
 *
 * When the lanes of a warp part: what they keep moves to the frame, where steps look for it, and
 * threads go on one by one. Lanes that stand at one sync point have the same to move, wherever they
 * have come from, so there is one place for each sync point that does it, for all regions: lanes'
 * entries say which of these places the warp has to visit.
 */
#include <llvm-c/Target.h>

#include "translator/collapse/kept.h"
#include "translator/collapse/region_loop.h"

#define VARIABLE_ALIGN 64

/* ---- at one sync point ---- */

struct put {
    struct tr_fused *fused;
    LLVMValueRef first;   /* i64: the warp's first thread */
    LLVMValueRef entries; /* of the warp's lanes */
    uint32_t entry;
};

static LLVMTypeRef type_of(const struct tr_fuse *fuse, uint32_t value)
{
    return LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
}

/* Where the entries of the current warp's lanes begin. */
static LLVMValueRef entries_at(const struct tr_fuse *fuse, LLVMValueRef first)
{
    return tr_fuse_element(fuse, fuse->i16, fuse->frame_base, first);
}

static uint32_t entry_at(const struct tr_fuse *fuse, uint32_t sync)
{
    return tr_fuse_entry(fuse, sync) | RT_ENTRY_LOOPED;
}

/* Moves the scratch memory's contents for the lanes that are at the sync point. */
static void put_scratch(const struct put *put, uint32_t array, uint32_t bytes)
{
    const struct tr_fuse *fuse = put->fused->fuse;
    LLVMValueRef offset = LLVMBuildMul(fuse->builder, put->first, tr_fuse_i64(fuse, bytes), "");
    LLVMValueRef args[5] = {
        tr_fuse_element(fuse, fuse->i8, tr_fuse_thread_array(fuse, array), offset),
        tr_scratch(put->fused), tr_fuse_i32(fuse, bytes), put->entries,
        tr_fuse_i32(fuse, put->entry)};
    tr_fuse_call(fuse, "rt_fused_put", fuse->void_type, args, 5);
}

static void put_value(const struct put *put, uint32_t value)
{
    struct tr_fused *fused = put->fused;
    const struct tr_fuse *fuse = fused->fuse;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(fuse->module);
    uint32_t bytes = (uint32_t)LLVMABISizeOfType(layout, type_of(fuse, value));
    LLVMBuildMemCpy(fuse->builder, tr_scratch(fused), VARIABLE_ALIGN, tr_kept_lanes(fused, value),
                    VARIABLE_ALIGN, tr_fuse_i64(fuse, (uint64_t)RT_WARP_SIZE * bytes));
    put_scratch(put, fuse->frame.thread_array[value], bytes);
}

static void put_operands(const struct put *put, uint32_t sync)
{
    struct tr_fused *fused = put->fused;
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef call = fuse->kernel->graph.values[fuse->kernel->sync_points[sync].value].llvm;
    LLVMTypeRef wide = LLVMVectorType(fuse->i64, RT_WARP_SIZE);
    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 1; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(call, i);
        if (LLVMIsConstant(operand))
            continue;
        LLVMValueRef lanes = tr_as_integers(fuse, tr_kept_operand(fused, sync, i));
        tr_store_lanes(fuse, LLVMBuildZExt(fuse->builder, lanes, wide, ""), tr_scratch(fused));
        put_scratch(put, fuse->frame.operand_array[i - 1], sizeof(uint64_t));
    }
}

/* Moves what those lanes of the current warp keep that stand at the sync point. */
static void put_into_frame(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    struct tr_lanes lanes = tr_lanes_now(fused);
    struct put put = {.fused = fused, .entry = entry_at(fuse, sync)};
    put.first = LLVMBuildZExt(fuse->builder, lanes.first, fuse->i64, "");
    put.entries = entries_at(fuse, put.first);
    const struct tr_crossing *crossing = &fuse->storage.crossings[sync];
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (crossing->home[v] == TR_HOME_THREAD) {
            put_value(&put, v);
            continue;
        }
        LLVMTypeRef type = tr_kept_type(type_of(fuse, v));
        LLVMValueRef now =
            LLVMBuildLoad2(fuse->builder, type, tr_group_place(fused, sync, v, lanes.group), "");
        LLVMBuildStore(fuse->builder, now,
                       tr_fuse_group_element(fuse, fuse->frame.group_array[v], type, lanes.group));
    }
    put_operands(&put, sync);
}

/* ---- all of them ---- */

void tr_part(struct tr_fused *fused, const struct tr_set *outcomes)
{
    const struct tr_fuse *fuse = fused->fuse;
    bool has_lanes = false;
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1)) {
        if (!tr_is_warp_sync_point(fuse->kernel, j))
            continue;
        has_lanes = true;
        if (fused->put[j] == NULL)
            fused->put[j] = tr_fuse_new_block(fuse, "put");
    }
    if (!has_lanes) {
        tr_set_aside(fused);
        return;
    }
    if (fused->parting == NULL) {
        fused->parting = tr_fuse_new_block(fuse, "parting");
        fused->to_put = tr_fuse_variable(fuse, fuse->i32, "to_put");
    }
    LLVMBuildStore(fuse->builder, tr_fuse_i32(fuse, UINT32_MAX), fused->to_put);
    LLVMBuildBr(fuse->builder, fused->parting);
}

void tr_build_parting(struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    if (fused->parting == NULL)
        return;
    LLVMBasicBlockRef done = tr_fuse_new_block(fuse, "parted");
    LLVMBasicBlockRef some = tr_fuse_new_block(fuse, "to_part");
    LLVMPositionBuilderAtEnd(b, fused->parting);
    LLVMValueRef left = LLVMBuildLoad2(b, fuse->i32, fused->to_put, "");
    LLVMValueRef is_none = LLVMBuildICmp(b, LLVMIntEQ, left, tr_fuse_i32(fuse, 0), "");
    LLVMBuildCondBr(b, is_none, done, some);
    LLVMPositionBuilderAtEnd(b, done);
    tr_set_aside(fused);
    LLVMPositionBuilderAtEnd(b, some);
    LLVMValueRef first = LLVMBuildZExt(b, tr_lanes_now(fused).first, fuse->i64, "");
    LLVMValueRef args[2] = {entries_at(fuse, first), fused->to_put};
    LLVMValueRef entry = tr_fuse_call(fuse, "rt_fused_next_entry", fuse->i32, args, 2);
    /* Lanes that have exited, or stand at a sync point of the block, keep nothing here. */
    LLVMValueRef choice = LLVMBuildSwitch(b, entry, fused->parting, fuse->kernel->sync_count);
    for (uint32_t j = 1; j < fuse->kernel->sync_count; j++) {
        if (fused->put[j] == NULL)
            continue;
        LLVMAddCase(choice, tr_fuse_i32(fuse, entry_at(fuse, j)), fused->put[j]);
        LLVMPositionBuilderAtEnd(b, fused->put[j]);
        put_into_frame(fused, j);
        LLVMBuildBr(b, fused->parting);
    }
}
