/* SPDX-License-Identifier: Apache-2.0
 *
 * One region: a loop over the threads of a group, whose body is the copy of the region's segments.
 * Values that live across sync points are loaded at the body's beginning and saved at each sync
 * point, by the plan of storage.c.
 */

#include "translator/collapse/region_loop.h"
#include "translator/collapse/prepare.h"
#include "translator/module/marks.h"

static const struct tr_crossing *crossing_of(const struct tr_region_build *region)
{
    return &region->fuse->storage.crossings[region->number];
}

static struct tr_region_build *region_of(struct tr_clone *clone)
{
    return clone->data;
}

/* ---- values ---- */

static LLVMTypeRef type_of(const struct tr_fuse *fuse, uint32_t value)
{
    return LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
}

/* Whether the value is both: from before the region, and defined in it, depending on the way. Such
 * values are kept in a variable. */
static bool is_in_variable(const struct tr_region_build *region, uint32_t value)
{
    const struct tr_fuse *fuse = region->fuse;
    return value != fuse->kernel->sync_points[region->number].value &&
           tr_region_defines(fuse->kernel, region->number, value);
}

static void bring_in(struct tr_region_build *region, uint32_t value, LLVMValueRef from_before)
{
    struct tr_clone *clone = &region->fused->clone;
    clone->copies[value] = from_before;
    if (!is_in_variable(region, value))
        return;
    clone->homes[value] = tr_fuse_variable(region->fuse, type_of(region->fuse, value), "");
    LLVMBuildStore(region->fuse->builder, from_before, clone->homes[value]);
}

/* Loads a group's elements before the loop: a thread may store the next value while others still
 * need this one. */
static void load_group_values(struct tr_region_build *region)
{
    const struct tr_crossing *crossing = crossing_of(region);
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
        if (crossing->home[v] == TR_HOME_GROUP)
            region->loaded[v] =
                tr_kept_of_group(region->fused, region->number, v, region->lanes.group);
}

static LLVMValueRef sync_result(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMTypeRef type = type_of(fuse, fuse->kernel->sync_points[region->number].value);
    LLVMValueRef same = region->fused->result[region->number];
    if (same != NULL)
        return LLVMBuildLoad2(fuse->builder, type, same, "");
    return tr_lane_result(region);
}

static struct tr_local_place place_of(const struct tr_region_build *region)
{
    const struct tr_fuse *fuse = region->fuse;
    struct tr_local_place place = {.thread = region->index, .index = region->index};
    if (fuse->kernel->scope == TR_SCOPE_BLOCK)
        return place;
    place.group = region->lanes.group;
    place.index = LLVMBuildZExt(fuse->builder, region->lane, fuse->i64, "");
    return place;
}

/* The thread's memory for an alloca. */
static LLVMValueRef local_memory(const struct tr_region_build *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    if (!fuse->frame.is_local_shared)
        return tr_fuse_local(fuse, value, place_of(region));
    LLVMValueRef alloca = fuse->kernel->graph.values[value].llvm;
    LLVMValueRef shared = tr_fuse_variable(fuse, LLVMGetAllocatedType(alloca), "local");
    LLVMSetAlignment(shared, LLVMGetAlignment(alloca));
    return shared;
}

/* Loads at the body's beginning all values needed from before, of which the region has a use. */
static void bring_in_values(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    struct tr_clone *clone = &region->fused->clone;
    const struct tr_crossing *crossing = crossing_of(region);
    const struct tr_graph *graph = &fuse->kernel->graph;
    struct tr_set *imports = &region->fused->imports;
    clone->copies[0] = region->context;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].opcode == LLVMAlloca)
            clone->copies[v] = local_memory(region, v);
    if (region->number == 0)
        return;
    tr_find_imports(fuse->kernel, &fuse->storage, region->number, imports);
    uint32_t result = fuse->kernel->sync_points[region->number].value;
    if (LLVMGetTypeKind(type_of(fuse, result)) != LLVMVoidTypeKind)
        clone->copies[result] = sync_result(region);
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (!tr_set_has(imports, v))
            continue;
        if (crossing->home[v] == TR_HOME_THREAD)
            region->loaded[v] = tr_kept(region, v);
        bring_in(region, v, region->loaded[v]);
    }
    for (uint32_t i = 0; i < crossing->again_count; i++) {
        uint32_t v = crossing->again[i];
        if (!tr_set_has(imports, v))
            continue;
        tr_clone_value(clone, v);
        bring_in(region, v, clone->copies[v]);
    }
}

/* ---- what threads do at a sync point, and at their end ---- */

static void mark(struct tr_region_build *region, uint32_t entry)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuildStore(fuse->builder, LLVMConstInt(fuse->i16, entry, false),
                   tr_fuse_element(fuse, fuse->i16, fuse->frame_base, region->index));
}

/* Threads side by side that come to the same sync point may report it once. This is in volatile
 * memory, because a value carried from iteration to iteration would prevent that. */
static void add_to(struct tr_region_build *region, LLVMValueRef variable, LLVMOpcode opcode,
                   uint32_t sync)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef old = LLVMBuildLoad2(b, fuse->i32, variable, "");
    LLVMValueRef sum = LLVMBuildBinOp(b, opcode, old, tr_fuse_i32(fuse, sync), "");
    LLVMValueRef store = LLVMBuildStore(b, sum, variable);
    LLVMSetVolatile(old, fuse->options->is_vector);
    LLVMSetVolatile(store, fuse->options->is_vector);
}

static void add_outcome(struct tr_region_build *region, uint32_t sync)
{
    add_to(region, region->fused->any, LLVMOr, sync);
    if (tr_region_parts(region->fused, region->number))
        add_to(region, region->fused->all, LLVMAnd, sync);
}

static void save_value(struct tr_region_build *region, uint32_t sync, uint32_t value,
                       uint32_t segment)
{
    struct tr_fuse *fuse = region->fuse;
    if (tr_is_saved_already(fuse->kernel, &fuse->storage, region->number, sync, value) ||
        tr_is_group_value(region->fused, region->number, sync, value) ||
        tr_fuse_seed(fuse, TR_SEED_LOST_VALUE))
        return;
    tr_keep(region, sync, value, tr_clone_use(&region->fused->clone, value, segment));
}

static void save_operands(struct tr_region_build *region, uint32_t sync, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    const struct tr_value *call = &fuse->kernel->graph.values[value];
    unsigned count = LLVMGetNumArgOperands(call->llvm);
    for (unsigned i = 1; i < count; i++) {
        if (LLVMIsConstant(LLVMGetOperand(call->llvm, i)))
            continue;
        LLVMValueRef operand = tr_clone_operand(&region->fused->clone, value, i, call->segment);
        tr_keep_operand(region, sync, i, operand);
    }
}

static void come_to_sync(struct tr_region_build *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    uint32_t sync = 1;
    while (fuse->kernel->sync_points[sync].value != value)
        sync++;
    save_operands(region, sync, value);
    const struct tr_set *saved = &fuse->storage.crossings[sync].saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
        save_value(region, sync, v, fuse->kernel->graph.values[value].segment);
    if (fuse->can_mix && fuse->mixes_at[sync])
        mark(region, tr_fuse_entry(fuse, sync) | RT_ENTRY_LOOPED);
    if (tr_region_is_dynamic(region->fused, region->number))
        add_outcome(region, sync);
    LLVMBuildBr(fuse->builder, region->next);
}

static void exit_thread(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    const struct tr_region *shape = &fuse->kernel->regions[region->number];
    bool matters = fuse->can_mix || tr_set_next(&shape->outcomes, 0) != TR_NONE;
    if (fuse->has_entries && matters && !tr_fuse_seed(fuse, TR_SEED_EXITED_MASK))
        mark(region, RT_ENTRY_EXITED);
    LLVMBuildBr(fuse->builder, region->next);
}

/* ---- instructions that are not copied ---- */

static bool loads_block(const struct tr_value *inst)
{
    return inst->opcode == LLVMLoad && inst->operands[0] == 0;
}

/* In a walk the thread's column counts on through the blocks that run as one: it is a sum, whose
 * bits meet, and which does not wrap where the product, of the last block too, does not. */
static LLVMValueRef build_column(struct tr_clone *clone, uint32_t value)
{
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    LLVMValueRef parts[2];
    bool is_nuw = inst->opcode == LLVMOr || LLVMGetNUW(inst->llvm);
    bool is_nsw = inst->opcode == LLVMOr || LLVMGetNSW(inst->llvm);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef part = LLVMGetOperand(inst->llvm, i);
        LLVMOpcode opcode = LLVMGetInstructionOpcode(part);
        bool is_product = opcode == LLVMMul || opcode == LLVMShl;
        is_nuw &= !is_product || LLVMGetNUW(part);
        is_nsw &= !is_product || LLVMGetNSW(part);
        parts[i] = tr_clone_operand(clone, value, i, inst->segment);
    }
    tr_clone_locate(clone, value);
    LLVMValueRef sum = LLVMBuildAdd(clone->builder, parts[0], parts[1], "");
    LLVMSetNUW(sum, is_nuw);
    LLVMSetNSW(sum, is_nuw && is_nsw);
    return sum;
}

static bool replace(struct tr_clone *clone, uint32_t value)
{
    struct tr_region_build *region = region_of(clone);
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    if (inst->opcode == LLVMAlloca)
        return true; /* in the frame */
    uint32_t bypass = tr_fault_bypass(clone->kernel, &region->fuse->faults, value);
    if (bypass != TR_NONE) {
        LLVMBuildBr(clone->builder, clone->blocks[bypass]);
        return true;
    }
    if (loads_block(inst)) {
        clone->copies[value] = region->fuse->block;
        return true;
    }
    if (region->fused->together != NULL && region->fuse->walk.is_sum[value]) {
        clone->copies[value] = build_column(clone, value);
        return true;
    }
    LLVMValueRef special = tr_read_register(region, value);
    if (special == NULL)
        special = tr_fuse_pitch(region->fuse, value);
    if (special != NULL) {
        clone->copies[value] = special;
        return true;
    }
    if (tr_is_sync_point(inst->llvm)) {
        come_to_sync(region, value);
        return true;
    }
    if (inst->opcode == LLVMRet || tr_placeholder_of(inst->llvm) == RT_CALL_EXIT) {
        exit_thread(region);
        return true;
    }
    return false;
}

/* ---- what the next block reads and writes ---- */

static bool is_in_global_memory(const struct tr_kernel *kernel, uint32_t pointer)
{
    const struct tr_value *values = kernel->graph.values;
    while (pointer != TR_NONE && values[pointer].opcode == LLVMGetElementPtr)
        pointer = values[pointer].operands[0];
    return pointer != TR_NONE && values[pointer].opcode == LLVMIntToPtr;
}

/* Marks the loads that blocks begin with. Where there are barriers, they come after long pauses, in
 * which the machine looks no further ahead than the work behind them, and in short runs, from which
 * it cannot see what comes next. The same holds for stores behind a block's barriers. */
static void mark_accesses(struct tr_region_build *region)
{
    const struct tr_kernel *kernel = region->fuse->kernel;
    const struct tr_set *segments = &kernel->regions[region->number].segments;
    bool is_store = region->number != 0;
    uint32_t opcode = is_store ? LLVMStore : LLVMLoad;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1)) {
        const struct tr_segment *segment = &kernel->graph.segments[s];
        for (uint32_t i = 0; kernel->loops.innermost[s] == TR_NONE && i < segment->value_count;
             i++) {
            uint32_t value = segment->first_value + i;
            const struct tr_value *inst = &kernel->graph.values[value];
            LLVMValueRef access = region->fused->clone.copies[value];
            if (inst->opcode == opcode && access != NULL && LLVMIsAInstruction(access) != NULL &&
                LLVMGetInstructionOpcode(access) == opcode &&
                is_in_global_memory(kernel, inst->operands[is_store ? 1 : 0])) {
                if (!is_store)
                    tr_mark(access, TR_MARK_FIRST);
                if (kernel->sync_count > 1)
                    tr_mark(access, TR_MARK_AHEAD);
            }
        }
    }
}

/* ---- what threads do once, at their end ---- */

/* Whether threads that leave the region come to it again. */
static bool is_in_loop(struct tr_kernel *kernel, uint32_t number)
{
    struct tr_set later = tr_set_make(&kernel->graph.arena, kernel->sync_count);
    bool is_more = later.words != NULL && tr_set_merge(&later, &kernel->regions[number].outcomes);
    while (is_more && !tr_set_has(&later, number)) {
        is_more = false;
        for (uint32_t s = tr_set_next(&later, 0); s != TR_NONE; s = tr_set_next(&later, s + 1))
            is_more |= tr_set_merge(&later, &kernel->regions[s].outcomes);
    }
    return later.words != NULL && tr_set_has(&later, number);
}

static bool leads_on(const struct tr_segment *segment, const struct tr_set *leading)
{
    bool leads = segment->is_sync_point;
    for (uint32_t i = 0; i < segment->succ_count; i++)
        leads |= tr_set_has(leading, segment->succs[i]);
    return leads;
}

/* Segments of the region from where threads come to a sync point; false: out of memory. */
static bool find_leading(struct tr_kernel *kernel, const struct tr_set *segments,
                         struct tr_set *leading)
{
    bool is_more = true;
    *leading = tr_set_make(&kernel->graph.arena, kernel->graph.segment_count);
    while (is_more && leading->words != NULL) {
        is_more = false;
        for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
            if (!tr_set_has(leading, s) && leads_on(&kernel->graph.segments[s], leading)) {
                tr_set_add(leading, s);
                is_more = true;
            }
    }
    return leading->words != NULL;
}

static void mark_last_of(const struct tr_region_build *region, const struct tr_segment *segment)
{
    for (uint32_t v = segment->first_value; v < segment->first_value + segment->value_count; v++) {
        LLVMOpcode opcode = region->fuse->kernel->graph.values[v].opcode;
        LLVMValueRef access = region->fused->clone.copies[v];
        if ((opcode == LLVMLoad || opcode == LLVMStore) && access != NULL &&
            LLVMIsAInstruction(access) != NULL && LLVMGetInstructionOpcode(access) == opcode)
            tr_mark(access, TR_MARK_LAST);
    }
}

/* What stands behind a loop with barriers is in the same region as the loop's next turn. */
static void mark_last(const struct tr_region_build *region)
{
    struct tr_kernel *kernel = region->fuse->kernel;
    const struct tr_set *segments = &kernel->regions[region->number].segments;
    struct tr_set leading;
    if (!is_in_loop(kernel, region->number) || !find_leading(kernel, segments, &leading))
        return;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        if (!tr_set_has(&leading, s))
            mark_last_of(region, &kernel->graph.segments[s]);
}

/* ---- the body ---- */

static void skip_exited(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    if (!tr_looks_for_exited(region->fused, region->number) ||
        tr_fuse_seed(fuse, TR_SEED_EXITED_MASK))
        return;
    LLVMValueRef entry =
        LLVMBuildLoad2(fuse->builder, fuse->i16,
                       tr_fuse_element(fuse, fuse->i16, fuse->frame_base, region->index), "");
    LLVMValueRef is_exited = LLVMBuildICmp(
        fuse->builder, LLVMIntEQ, entry, LLVMConstInt(fuse->i16, RT_ENTRY_EXITED, false), "exited");
    LLVMBasicBlockRef live = tr_fuse_new_block(fuse, "live");
    LLVMBuildCondBr(fuse->builder, is_exited, region->next, live);
    LLVMPositionBuilderAtEnd(fuse->builder, live);
}

/* Builds the body at the builder's place in the innermost loop; thread and tid are known. */
static void build_body(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    struct tr_clone *clone = &region->fused->clone;
    region->index = LLVMBuildZExt(fuse->builder, region->thread, fuse->i64, "");
    if (LLVMIsAZExtInst(region->index) != NULL)
        LLVMSetNNeg(region->index, true); /* of three dimensions nobody could tell */
    skip_exited(region);
    LLVMValueRef offset =
        LLVMBuildMul(fuse->builder, region->index, tr_fuse_i64(fuse, RT_THREAD_STRIDE), "");
    region->context =
        LLVMBuildGEP2(fuse->builder, fuse->i8, region->fused->threads, &offset, 1, "");
    tr_clone_reset(clone);
    clone->data = region;
    clone->replace = replace;
    bring_in_values(region);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(fuse->builder);
    tr_clone_segments(clone, &fuse->kernel->regions[region->number].segments);
    if (fuse->options->is_vector) {
        mark_accesses(region);
        mark_last(region);
    }
    LLVMPositionBuilderAtEnd(fuse->builder, before);
    LLVMBuildBr(fuse->builder, clone->blocks[fuse->kernel->sync_points[region->number].resume]);
    LLVMSetCurrentDebugLocation2(fuse->builder, NULL);
}

enum pxr_status tr_build_region(struct tr_fused *fused, uint32_t sync, struct pxr_error *err)
{
    struct tr_fuse *fuse = fused->fuse;
    struct tr_graph *graph = &fuse->kernel->graph;
    struct tr_region_build region = {.fused = fused, .fuse = fuse, .number = sync};
    region.loaded = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof(LLVMValueRef));
    if (region.loaded == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    fused->loaded[sync] = region.loaded;
    region.lanes = tr_region_is_whole(fused, sync) ? tr_lanes_of_block(fused) : tr_lanes_now(fused);
    if (fuse->kernel->sync_points[sync].kind == RT_SYNC_WARP)
        tr_build_warp_op(fused, sync, &region.lanes);
    if (tr_region_is_dynamic(fused, sync)) {
        LLVMBuildStore(fuse->builder, tr_fuse_i32(fuse, 0), fused->any);
        LLVMBuildStore(fuse->builder, tr_fuse_i32(fuse, UINT32_MAX), fused->all);
    }
    if (sync != 0)
        load_group_values(&region);
    tr_build_thread_loops(&region, build_body);
    return PXR_OK;
}
