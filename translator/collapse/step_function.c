/* SPDX-License-Identifier: Apache-2.0
 *
 * The step function: the kernel for one thread, from any entry to the next sync point. Values that
 * live across sync points are in the thread's elements of the frame: written where they are
 * defined, read where they are used. So control may enter behind every sync point, and the code is
 * only as long as the kernel.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "translator/collapse/fuse.h"
#include "translator/collapse/kept.h"
#include "translator/module/module_steps.h"

struct step {
    struct tr_fuse *fuse;
    struct tr_clone clone;
    LLVMValueRef thread;       /* struct rt_thread * */
    LLVMValueRef index;        /* i64: the thread's number in its block */
    bool has_begun;            /* the values at hand have been made */
    LLVMValueRef *homes;       /* by value: the clone's, when it is not in compute_again */
    struct tr_set wanted;      /* of compute_again */
    LLVMBasicBlockRef *resume; /* by sync point: the thread has been released … */
    LLVMBasicBlockRef *rejoin; /* … or loops brought it there … */
    LLVMBasicBlockRef *behind; /* … and here both meet */
};

static struct step *step_of(struct tr_clone *clone)
{
    return clone->data;
}

static void return_entry(struct step *step, uint32_t entry)
{
    LLVMBuildRet(step->fuse->builder, tr_fuse_i32(step->fuse, entry));
}

static uint32_t sync_point_at(const struct tr_kernel *kernel, uint32_t value)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        if (kernel->sync_points[j].value == value)
            return j;
    return 0;
}

/* Calls the sync point's arrive form, with the thread and these operands. */
static void arrive(struct step *step, uint32_t sync, LLVMValueRef *args, unsigned count)
{
    const struct tr_fuse *fuse = step->fuse;
    LLVMValueRef call = fuse->kernel->graph.values[fuse->kernel->sync_points[sync].value].llvm;
    tr_fuse_call(fuse, tr_placeholder_info(call)->arrive, fuse->void_type, args, count);
}

static void step_to_sync(struct tr_clone *clone, uint32_t value)
{
    struct step *step = step_of(clone);
    const struct tr_value *call = &clone->kernel->graph.values[value];
    LLVMValueRef args[TR_SYNC_OPERANDS + 1];
    unsigned count = LLVMGetNumArgOperands(call->llvm);
    for (unsigned i = 0; i < count; i++)
        args[i] = tr_clone_operand(clone, value, i, call->segment);
    uint32_t sync = sync_point_at(clone->kernel, value);
    arrive(step, sync, args, count);
    return_entry(step, tr_fuse_entry(step->fuse, sync));
}

static bool replace(struct tr_clone *clone, uint32_t value)
{
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    if (tr_is_sync_point(inst->llvm)) {
        step_to_sync(clone, value);
        return true;
    }
    if (inst->opcode == LLVMRet || tr_placeholder_of(inst->llvm) == RT_CALL_EXIT) {
        return_entry(step_of(clone), RT_ENTRY_EXITED);
        return true;
    }
    LLVMValueRef pitch = tr_fuse_pitch(step_of(clone)->fuse, value);
    if (pitch != NULL) {
        clone->copies[value] = pitch;
        return true;
    }
    if (step_of(clone)->has_begun && tr_set_has(&step_of(clone)->fuse->frame.at_hand, value))
        return true;
    return inst->opcode == LLVMAlloca; /* in the frame */
}

/* Finds the thread's elements. */
static void find_memory(struct step *step)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_graph *graph = &fuse->kernel->graph;
    LLVMValueRef warp =
        tr_fuse_field(fuse, fuse->i32, step->thread, offsetof(struct rt_thread, warp), "warp");
    LLVMValueRef lane =
        tr_fuse_field(fuse, fuse->i32, step->thread, offsetof(struct rt_thread, lane), "lane");
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef index = LLVMBuildMul(b, warp, tr_fuse_i32(fuse, RT_WARP_SIZE), "");
    step->index = LLVMBuildZExt(b, LLVMBuildAdd(b, index, lane, ""), fuse->i64, "thread");
    struct tr_local_place place = {.thread = step->index, .index = step->index};
    if (fuse->kernel->scope == TR_SCOPE_WARP) {
        place.group = LLVMBuildZExt(b, warp, fuse->i64, "");
        place.index = LLVMBuildZExt(b, lane, fuse->i64, "");
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].opcode == LLVMAlloca)
            step->clone.copies[v] = tr_fuse_local(fuse, v, place);
        if (fuse->frame.thread_array[v] != TR_NONE)
            step->clone.homes[v] = tr_fuse_element(
                fuse, tr_kept_type(LLVMTypeOf(graph->values[v].llvm)),
                tr_fuse_thread_array(fuse, fuse->frame.thread_array[v]), step->index);
    }
    memcpy(step->homes, step->clone.homes, graph->value_count * sizeof *step->homes);
}

static LLVMValueRef from_bits(struct tr_fuse *fuse, LLVMValueRef bits, LLVMTypeRef type)
{
    unsigned width = LLVMGetIntTypeWidth(type);
    return width == 64 ? bits : LLVMBuildTrunc(fuse->builder, bits, type, "");
}

/* The result of a sync point of the block to which loops had come. */
static LLVMValueRef looped_result(struct step *step)
{
    struct tr_fuse *fuse = step->fuse;
    LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.result_array);
    return LLVMBuildLoad2(fuse->builder, fuse->i64,
                          tr_fuse_element(fuse, fuse->i64, base, step->index), "");
}

/* Behind the sync point: takes its operation's result. The branches to and from here are added when
 * the code there exists. */
static void begin_resume(struct step *step, uint32_t sync)
{
    struct tr_fuse *fuse = step->fuse;
    uint32_t value = fuse->kernel->sync_points[sync].value;
    LLVMTypeRef type = LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
    step->resume[sync] = tr_fuse_new_block(fuse, "resume");
    step->rejoin[sync] = tr_fuse_new_block(fuse, "rejoin");
    step->behind[sync] = tr_fuse_new_block(fuse, "behind");
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return;
    LLVMPositionBuilderAtEnd(fuse->builder, step->resume[sync]);
    tr_clone_locate(&step->clone, value);
    LLVMValueRef results[2] = {tr_fuse_call(fuse, "rt_result", fuse->i64, &step->thread, 1)};
    LLVMPositionBuilderAtEnd(fuse->builder, step->rejoin[sync]);
    results[1] = looped_result(step);
    LLVMPositionBuilderAtEnd(fuse->builder, step->behind[sync]);
    LLVMBasicBlockRef blocks[2] = {step->resume[sync], step->rejoin[sync]};
    LLVMValueRef result = LLVMBuildPhi(fuse->builder, fuse->i64, "");
    LLVMAddIncoming(result, results, blocks, 2);
    step->clone.copies[value] = from_bits(fuse, result, type);
    tr_clone_store_home(&step->clone, value);
}

/* ---- from loops to steps ---- */

static bool is_live_behind(const struct step *step, uint32_t sync, uint32_t value)
{
    const struct tr_kernel *kernel = step->fuse->kernel;
    return tr_set_has(&kernel->liveness.live_in[kernel->sync_points[sync].resume], value);
}

/* Adds to step->wanted what its values are computed from, if that is computed again, too: what is
 * live behind the sync point has its home. */
static void want_parts(struct step *step, uint32_t sync)
{
    const struct tr_crossing *crossing = &step->fuse->storage.crossings[sync];
    for (uint32_t i = crossing->again_count; i-- > 0;) {
        const struct tr_value *value = &step->fuse->kernel->graph.values[crossing->again[i]];
        bool is_wanted = tr_set_has(&step->wanted, crossing->again[i]);
        for (uint32_t k = 0; is_wanted && k < value->operand_count; k++) {
            uint32_t part = value->operands[k];
            if (part != TR_NONE && crossing->home[part] == TR_HOME_AGAIN &&
                !tr_set_has(&step->fuse->frame.at_hand, part) && !is_live_behind(step, sync, part))
                tr_set_add(&step->wanted, part);
        }
    }
}

/* Computes values that the plan computes again behind the sync point, and stores them: those that
 * are live there, or the others that are needed. What they are made of is not stored. */
static void compute_again(struct step *step, uint32_t sync, bool is_live)
{
    const struct tr_crossing *crossing = &step->fuse->storage.crossings[sync];
    LLVMValueRef *homes = step->clone.homes;
    memset(step->wanted.words, 0, step->wanted.word_count * sizeof *step->wanted.words);
    for (uint32_t i = 0; i < crossing->again_count; i++) {
        uint32_t v = crossing->again[i];
        bool is_live_here = is_live_behind(step, sync, v);
        if (homes[v] != NULL && tr_set_has(&crossing->needed, v) && is_live_here == is_live)
            tr_set_add(&step->wanted, v);
        else if (!is_live_here)
            homes[v] = NULL;
    }
    want_parts(step, sync);
    for (uint32_t i = 0; i < crossing->again_count; i++)
        if (tr_set_has(&step->wanted, crossing->again[i]))
            tr_clone_value(&step->clone, crossing->again[i]);
    for (uint32_t i = 0; i < crossing->again_count; i++)
        homes[crossing->again[i]] = step->homes[crossing->again[i]];
}

/* Loops have kept values needed behind the sync point by its plan (collapse.h, tr_crossing); steps
 * want all of them in the thread's own elements. */
static void take_values(struct step *step, uint32_t sync)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_crossing *crossing = &fuse->storage.crossings[sync];
    const struct tr_set *saved = &crossing->saved;
    LLVMValueRef group = tr_fuse_i64(fuse, 0);
    if (fuse->kernel->scope == TR_SCOPE_WARP)
        group = LLVMBuildLShr(fuse->builder, step->index, tr_fuse_i64(fuse, 5), "");
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (crossing->home[v] != TR_HOME_GROUP)
            continue;
        LLVMTypeRef type = tr_kept_type(LLVMTypeOf(fuse->kernel->graph.values[v].llvm));
        LLVMValueRef from = tr_fuse_group_element(fuse, fuse->frame.group_array[v], type, group);
        LLVMBuildStore(fuse->builder, LLVMBuildLoad2(fuse->builder, type, from, ""),
                       step->clone.homes[v]);
    }
    compute_again(step, sync, true);
}

/* A barrier whose operands are the same for all threads. */
static bool is_plain_barrier(LLVMValueRef call)
{
    return tr_placeholder_of(call) == RT_CALL_BAR_SYNC && LLVMIsConstant(LLVMGetOperand(call, 1)) &&
           LLVMIsConstant(LLVMGetOperand(call, 2));
}

/* A thread that loops have brought to the sync point arrives there. */
static LLVMBasicBlockRef build_arrival(struct step *step, uint32_t sync)
{
    struct tr_fuse *fuse = step->fuse;
    uint32_t value = fuse->kernel->sync_points[sync].value;
    LLVMValueRef call = fuse->kernel->graph.values[value].llvm;
    LLVMBasicBlockRef block = tr_fuse_new_block(fuse, "arrive");
    LLVMPositionBuilderAtEnd(fuse->builder, block);
    tr_clone_locate(&step->clone, value);
    LLVMValueRef args[TR_SYNC_OPERANDS + 1] = {step->thread};
    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 1; i < count; i++) {
        args[i] = LLVMGetOperand(call, i);
        if (LLVMIsConstant(args[i]))
            continue;
        LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.operand_array[i - 1]);
        LLVMValueRef bits = LLVMBuildLoad2(fuse->builder, fuse->i64,
                                           tr_fuse_element(fuse, fuse->i64, base, step->index), "");
        args[i] = from_bits(fuse, bits, LLVMTypeOf(args[i]));
    }
    if (is_plain_barrier(call))
        tr_fuse_call(fuse, "rt_arrive_looped_bar_sync", fuse->void_type, args, count);
    else
        arrive(step, sync, args, count);
    return_entry(step, tr_fuse_entry(fuse, sync));
    return block;
}

/* Where a thread begins that loops have brought to the sync point: behind it, or before it. */
static LLVMBasicBlockRef build_taking(struct step *step, uint32_t sync, LLVMValueRef entry)
{
    struct tr_fuse *fuse = step->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMBasicBlockRef arrival = build_arrival(step, sync);
    LLVMBasicBlockRef block = tr_fuse_new_block(fuse, "take");
    LLVMPositionBuilderAtEnd(b, block);
    tr_clone_locate(&step->clone, fuse->kernel->sync_points[sync].value);
    take_values(step, sync);
    LLVMValueRef bit = LLVMBuildAnd(b, entry, tr_fuse_i32(fuse, RT_ENTRY_ARRIVE), "");
    LLVMValueRef is_behind = LLVMBuildICmp(b, LLVMIntEQ, bit, tr_fuse_i32(fuse, 0), "");
    LLVMBuildCondBr(b, is_behind, step->rejoin[sync], arrival);
    return block;
}

/* ---- without passes ---- */

/* Where a thread begins that has this entry. */
struct way_in {
    uint32_t entry;
    LLVMBasicBlockRef block; /* NULL: nobody has it */
};

static int by_entry(const void *a, const void *b)
{
    const struct way_in *x = a, *y = b;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Branches at the builder's place; the ways in are in the order of their entries. Without passes a
 * switch would be a row of comparisons. */
static void build_halving(struct step *step, LLVMValueRef entry, const struct way_in *ways,
                          uint32_t count)
{
    struct tr_fuse *fuse = step->fuse;
    LLVMBuilderRef b = fuse->builder;
    if (count == 1) {
        LLVMBuildBr(b, ways->block);
        return;
    }
    uint32_t half = count / 2;
    LLVMBasicBlockRef low = tr_fuse_new_block(fuse, "low"), high = tr_fuse_new_block(fuse, "high");
    LLVMValueRef middle = tr_fuse_i32(fuse, ways[half].entry);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, entry, middle, ""), low, high);
    LLVMPositionBuilderAtEnd(b, low);
    build_halving(step, entry, ways, half);
    LLVMPositionBuilderAtEnd(b, high);
    build_halving(step, entry, ways + half, count - half);
}

/* Every use in another block gets an address of its own: part of the instruction, where the one of
 * the first block would be computed by all who enter. */
static void sink_address(LLVMBuilderRef builder, LLVMValueRef address)
{
    LLVMUseRef next;
    for (LLVMUseRef use = LLVMGetFirstUse(address); use != NULL; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (LLVMIsAPHINode(user) != NULL ||
            LLVMGetInstructionParent(user) == LLVMGetInstructionParent(address))
            continue;
        LLVMValueRef copy = LLVMInstructionClone(address);
        LLVMPositionBuilderBefore(builder, user);
        LLVMInsertIntoBuilder(builder, copy);
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, i) == address)
                LLVMSetOperand(user, i, copy);
        next = LLVMGetFirstUse(address);
    }
    if (LLVMGetFirstUse(address) == NULL)
        LLVMInstructionEraseFromParent(address);
}

static void sink_addresses(LLVMBuilderRef builder, LLVMBasicBlockRef entry_block)
{
    LLVMValueRef before;
    for (LLVMValueRef inst = LLVMGetLastInstruction(entry_block); inst != NULL; inst = before) {
        before = LLVMGetPreviousInstruction(inst);
        if (LLVMIsAGetElementPtrInst(inst) != NULL)
            sink_address(builder, inst);
    }
}

/* ---- the function ---- */

/* Fills the ways in, three for a sync point and one for the beginning. */
static void add_entries(struct step *step, LLVMValueRef entry, struct way_in *ways)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_kernel *kernel = fuse->kernel;
    ways[0] = (struct way_in){0, step->clone.blocks[0]};
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        uint32_t looped = tr_fuse_entry(fuse, j) | RT_ENTRY_LOOPED;
        LLVMPositionBuilderAtEnd(fuse->builder, step->behind[j]);
        /* What is not live here loops may look for in the frame behind a later sync point. */
        if (fuse->can_mix)
            compute_again(step, j, false);
        LLVMBuildBr(fuse->builder, step->clone.blocks[kernel->sync_points[j].resume]);
        LLVMPositionBuilderAtEnd(fuse->builder, step->resume[j]);
        LLVMBuildBr(fuse->builder, step->behind[j]);
        ways[j] = (struct way_in){tr_fuse_entry(fuse, j), step->resume[j]};
        LLVMPositionBuilderAtEnd(fuse->builder, step->rejoin[j]);
        tr_clone_locate(&step->clone, kernel->sync_points[j].value);
        LLVMBuildBr(fuse->builder, step->behind[j]);
        if (!fuse->can_mix || !fuse->mixes_at[j])
            continue; /* no loop ever leads to a step here */
        LLVMBasicBlockRef taking = build_taking(step, j, entry);
        ways[kernel->sync_count + j] = (struct way_in){looped, taking};
        ways[2 * kernel->sync_count + j] = (struct way_in){looped | RT_ENTRY_ARRIVE, taking};
    }
}

static void build_switch(struct step *step, LLVMValueRef entry, const struct way_in *ways,
                         uint32_t count)
{
    struct tr_fuse *fuse = step->fuse;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(fuse->builder);
    LLVMBasicBlockRef none = tr_fuse_new_block(fuse, "none");
    LLVMPositionBuilderAtEnd(fuse->builder, none);
    LLVMBuildUnreachable(fuse->builder);
    LLVMPositionBuilderAtEnd(fuse->builder, here);
    LLVMValueRef choice = LLVMBuildSwitch(fuse->builder, entry, none, count);
    for (uint32_t i = 0; i < count; i++)
        LLVMAddCase(choice, tr_fuse_i32(fuse, ways[i].entry), ways[i].block);
}

static uint32_t leave_out_none(struct way_in *ways, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (ways[i].block != NULL)
            ways[kept++] = ways[i];
    return kept;
}

/* Takes the function of this name that the translation has left empty, for the sake of its
 * subprogram. */
static LLVMValueRef take_function(struct tr_fuse *fuse, LLVMMetadataRef *subprogram)
{
    LLVMValueRef function = LLVMGetNamedFunction(fuse->module, TR_STEP_NAME);
    *subprogram = LLVMGetSubprogram(function);
    LLVMDeleteBasicBlock(LLVMGetEntryBasicBlock(function));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    return function;
}

static void clear_location(LLVMBuilderRef builder)
{
    LLVMSetCurrentDebugLocation2(builder, NULL);
}

enum pxr_status tr_build_step(struct tr_fuse *fuse, bool is_plain, struct pxr_error *err)
{
    struct tr_kernel *kernel = fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    struct step step = {.fuse = fuse};
    step.resume = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *step.resume);
    step.rejoin = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *step.rejoin);
    step.behind = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *step.behind);
    step.homes = pxr_arena_alloc_array(arena, kernel->graph.value_count, sizeof *step.homes);
    struct way_in *ways =
        pxr_arena_alloc_array(arena, 3 * (size_t)kernel->sync_count, sizeof *ways);
    struct tr_set all = tr_set_make(arena, kernel->graph.segment_count);
    step.wanted = tr_set_make(arena, kernel->graph.value_count);
    if (!step.resume || !step.rejoin || !step.behind || !step.homes || !step.wanted.words ||
        !ways || !all.words)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    enum pxr_status status = tr_clone_init(&step.clone, kernel, err);
    if (status != PXR_OK)
        return status;
    fuse->function = take_function(fuse, &step.clone.subprogram);
    fuse->step = fuse->function;
    step.clone.has_kept_homes = true;
    step.clone.llvm = fuse->llvm;
    step.clone.function = fuse->function;
    step.clone.builder = fuse->builder;
    step.clone.replace = replace;
    step.clone.data = &step;
    step.thread = LLVMGetParam(fuse->function, 0);
    step.clone.copies[0] = step.thread;

    LLVMBasicBlockRef entry_block = tr_fuse_new_block(fuse, "entry");
    LLVMPositionBuilderAtEnd(fuse->builder, entry_block);
    clear_location(fuse->builder);
    fuse->block =
        tr_fuse_field(fuse, fuse->ptr, step.thread, offsetof(struct rt_thread, block), "block");
    tr_fuse_load_shape(fuse);
    find_memory(&step);
    const struct tr_set *at_hand = &fuse->frame.at_hand;
    for (uint32_t v = tr_set_next(at_hand, 0); v != TR_NONE; v = tr_set_next(at_hand, v + 1))
        tr_clone_value(&step.clone, v);
    step.has_begun = true;
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        begin_resume(&step, j);
    for (uint32_t s = 0; s < kernel->graph.segment_count; s++)
        tr_set_add(&all, s);
    tr_clone_segments(&step.clone, &all);
    LLVMValueRef entry = LLVMGetParam(fuse->function, 1);
    add_entries(&step, entry, ways);
    uint32_t count = leave_out_none(ways, 3 * kernel->sync_count);
    LLVMPositionBuilderAtEnd(fuse->builder, entry_block);
    clear_location(fuse->builder);
    if (is_plain) {
        qsort(ways, count, sizeof *ways, by_entry);
        build_halving(&step, entry, ways, count);
        sink_addresses(fuse->builder, entry_block);
    } else {
        build_switch(&step, entry, ways, count);
    }
    clear_location(fuse->builder);
    return PXR_OK;
}
