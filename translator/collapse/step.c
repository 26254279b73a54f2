/* SPDX-License-Identifier: Apache-2.0
 *
 * The step function: the kernel for one thread, from any entry to the next stop. Values that live
 * across stops are in the thread's elements of the frame: written where they are defined, read
 * where they are used. So control may enter behind every stop, and the code is as long as the
 * kernel.
 */
#include <stddef.h>
#include <stdio.h>

#include <llvm-c/DebugInfo.h>

#include "translator/collapse/fuse.h"
#include "translator/module/module.h"

struct step {
    struct tr_fuse *fuse;
    struct tr_clone clone;
    LLVMValueRef thread;       /* struct rt_thread * */
    LLVMValueRef index;        /* i64: the thread's number in its block */
    bool has_begun;            /* what is at hand has been made */
    LLVMBasicBlockRef *resume; /* by stop: the thread has been let go … */
    LLVMBasicBlockRef *rejoin; /* … loops had brought it there … */
    LLVMBasicBlockRef *behind; /* … and where both meet */
};

static struct step *step_of(struct tr_clone *clone)
{
    return clone->data;
}

static void return_entry(struct step *step, uint32_t entry)
{
    LLVMBuildRet(step->fuse->builder, tr_f_i32(step->fuse, entry));
}

static uint32_t stop_at(const struct tr_kernel *kernel, uint32_t value)
{
    for (uint32_t j = 1; j < kernel->stop_count; j++)
        if (kernel->stops[j].value == value)
            return j;
    return 0;
}

/* Calls the stop's arrive form, with the thread and these operands. */
static void arrive(struct step *step, uint32_t stop, LLVMValueRef *args, unsigned count)
{
    const struct tr_fuse *fuse = step->fuse;
    LLVMValueRef call = fuse->kernel->graph.values[fuse->kernel->stops[stop].value].llvm;
    tr_f_call(fuse, tr_placeholder_info(call)->arrive, fuse->void_type, args, count);
}

static void step_to_stop(struct tr_clone *clone, uint32_t value)
{
    struct step *step = step_of(clone);
    const struct tr_value *call = &clone->kernel->graph.values[value];
    LLVMValueRef args[TR_STOP_OPERANDS + 1];
    unsigned count = LLVMGetNumArgOperands(call->llvm);
    for (unsigned i = 0; i < count; i++)
        args[i] = tr_clone_operand(clone, value, i, call->segment);
    uint32_t stop = stop_at(clone->kernel, value);
    arrive(step, stop, args, count);
    return_entry(step, tr_f_entry(step->fuse, stop));
}

static bool replace(struct tr_clone *clone, uint32_t value)
{
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    if (tr_is_stop(inst->llvm)) {
        step_to_stop(clone, value);
        return true;
    }
    if (inst->opcode == LLVMRet || tr_placeholder_of(inst->llvm) == RT_CALL_EXIT) {
        return_entry(step_of(clone), RT_ENTRY_EXITED);
        return true;
    }
    LLVMValueRef pitch = tr_f_pitch(step_of(clone)->fuse, value);
    if (pitch != NULL) {
        clone->copies[value] = pitch;
        return true;
    }
    if (step_of(clone)->has_begun && tr_set_has(&step_of(clone)->fuse->frame.at_hand, value))
        return true;
    return inst->opcode == LLVMAlloca; /* in the frame */
}

/* Where the thread's elements are. */
static void find_memory(struct step *step)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_graph *graph = &fuse->kernel->graph;
    LLVMValueRef warp =
        tr_f_field(fuse, fuse->i32, step->thread, offsetof(struct rt_thread, warp), "warp");
    LLVMValueRef lane =
        tr_f_field(fuse, fuse->i32, step->thread, offsetof(struct rt_thread, lane), "lane");
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef index = LLVMBuildMul(b, warp, tr_f_i32(fuse, RT_WARP_SIZE), "");
    step->index = LLVMBuildZExt(b, LLVMBuildAdd(b, index, lane, ""), fuse->i64, "thread");
    struct tr_local_place place = {.thread = step->index, .index = step->index};
    if (fuse->kernel->scope == TR_SCOPE_WARP) {
        place.group = LLVMBuildZExt(b, warp, fuse->i64, "");
        place.index = LLVMBuildZExt(b, lane, fuse->i64, "");
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].opcode == LLVMAlloca)
            step->clone.copies[v] = tr_f_local(fuse, v, place);
        if (fuse->frame.thread_array[v] != TR_NONE)
            step->clone.homes[v] =
                tr_f_element(fuse, LLVMTypeOf(graph->values[v].llvm),
                             tr_f_thread_array(fuse, fuse->frame.thread_array[v]), step->index);
    }
}

static LLVMValueRef from_bits(struct tr_fuse *fuse, LLVMValueRef bits, LLVMTypeRef type)
{
    unsigned width = LLVMGetIntTypeWidth(type);
    return width == 64 ? bits : LLVMBuildTrunc(fuse->builder, bits, type, "");
}

/* What a stop of the block gave when loops came to it. */
static LLVMValueRef looped_result(struct step *step)
{
    struct tr_fuse *fuse = step->fuse;
    LLVMValueRef base = tr_f_thread_array(fuse, fuse->frame.result_array);
    return LLVMBuildLoad2(fuse->builder, fuse->i64,
                          tr_f_element(fuse, fuse->i64, base, step->index), "");
}

/* Behind the stop: what its operation gave. The branches to and from here are added when the code
 * there exists. */
static void begin_resume(struct step *step, uint32_t stop)
{
    struct tr_fuse *fuse = step->fuse;
    uint32_t value = fuse->kernel->stops[stop].value;
    LLVMTypeRef type = LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
    step->resume[stop] = tr_f_new_block(fuse, "resume");
    step->rejoin[stop] = tr_f_new_block(fuse, "rejoin");
    step->behind[stop] = tr_f_new_block(fuse, "behind");
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return;
    LLVMPositionBuilderAtEnd(fuse->builder, step->resume[stop]);
    tr_clone_locate(&step->clone, value);
    LLVMValueRef results[2] = {tr_f_call(fuse, "rt_result", fuse->i64, &step->thread, 1)};
    LLVMPositionBuilderAtEnd(fuse->builder, step->rejoin[stop]);
    results[1] = looped_result(step);
    LLVMPositionBuilderAtEnd(fuse->builder, step->behind[stop]);
    LLVMBasicBlockRef blocks[2] = {step->resume[stop], step->rejoin[stop]};
    LLVMValueRef result = LLVMBuildPhi(fuse->builder, fuse->i64, "");
    LLVMAddIncoming(result, results, blocks, 2);
    step->clone.copies[value] = from_bits(fuse, result, type);
    if (step->clone.homes[value] != NULL)
        LLVMBuildStore(fuse->builder, step->clone.copies[value], step->clone.homes[value]);
}

/* ---- from loops to steps ---- */

/* Loops have kept what is needed behind the stop by its plan (collapse.h, tr_crossing); steps want
 * all of it in the thread's own elements. */
static void take_values(struct step *step, uint32_t stop)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_crossing *crossing = &fuse->storage.crossings[stop];
    const struct tr_set *saved = &crossing->saved;
    LLVMValueRef group = tr_f_i64(fuse, 0);
    if (fuse->kernel->scope == TR_SCOPE_WARP)
        group = LLVMBuildLShr(fuse->builder, step->index, tr_f_i64(fuse, 5), "");
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (crossing->home[v] != TR_HOME_GROUP)
            continue;
        LLVMTypeRef type = LLVMTypeOf(fuse->kernel->graph.values[v].llvm);
        LLVMValueRef from = tr_f_group_element(fuse, fuse->frame.group_array[v], type, group);
        LLVMBuildStore(fuse->builder, LLVMBuildLoad2(fuse->builder, type, from, ""),
                       step->clone.homes[v]);
    }
    for (uint32_t i = 0; i < crossing->again_count; i++)
        if (!tr_set_has(&fuse->frame.at_hand, crossing->again[i]))
            tr_clone_value(&step->clone, crossing->again[i]);
}

static LLVMBasicBlockRef build_arrival(struct step *step, uint32_t stop)
{
    struct tr_fuse *fuse = step->fuse;
    uint32_t value = fuse->kernel->stops[stop].value;
    LLVMValueRef call = fuse->kernel->graph.values[value].llvm;
    LLVMBasicBlockRef block = tr_f_new_block(fuse, "arrive");
    LLVMPositionBuilderAtEnd(fuse->builder, block);
    tr_clone_locate(&step->clone, value);
    take_values(step, stop);
    tr_clone_locate(&step->clone, value);
    LLVMValueRef args[TR_STOP_OPERANDS + 1] = {step->thread};
    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 1; i < count; i++) {
        args[i] = LLVMGetOperand(call, i);
        if (LLVMIsConstant(args[i]))
            continue;
        LLVMValueRef base = tr_f_thread_array(fuse, fuse->frame.operand_array[i - 1]);
        LLVMValueRef bits = LLVMBuildLoad2(fuse->builder, fuse->i64,
                                           tr_f_element(fuse, fuse->i64, base, step->index), "");
        args[i] = from_bits(fuse, bits, LLVMTypeOf(args[i]));
    }
    arrive(step, stop, args, count);
    return_entry(step, tr_f_entry(fuse, stop));
    return block;
}

/* ---- the function ---- */

static void add_entries(struct step *step, LLVMValueRef entry, LLVMBasicBlockRef entry_block)
{
    struct tr_fuse *fuse = step->fuse;
    const struct tr_kernel *kernel = fuse->kernel;
    LLVMBasicBlockRef none = tr_f_new_block(fuse, "none");
    LLVMPositionBuilderAtEnd(fuse->builder, none);
    LLVMBuildUnreachable(fuse->builder);
    LLVMPositionBuilderAtEnd(fuse->builder, entry_block);
    LLVMValueRef choice = LLVMBuildSwitch(fuse->builder, entry, none, 3 * kernel->stop_count);
    LLVMAddCase(choice, tr_f_i32(fuse, 0), step->clone.blocks[0]);
    for (uint32_t j = 1; j < kernel->stop_count; j++) {
        uint32_t looped = tr_f_entry(fuse, j) | RT_ENTRY_LOOPED;
        LLVMPositionBuilderAtEnd(fuse->builder, step->behind[j]);
        LLVMBuildBr(fuse->builder, step->clone.blocks[kernel->stops[j].resume]);
        LLVMPositionBuilderAtEnd(fuse->builder, step->resume[j]);
        LLVMBuildBr(fuse->builder, step->behind[j]);
        LLVMAddCase(choice, tr_f_i32(fuse, tr_f_entry(fuse, j)), step->resume[j]);
        LLVMPositionBuilderAtEnd(fuse->builder, step->rejoin[j]);
        tr_clone_locate(&step->clone, kernel->stops[j].value);
        if (fuse->can_mix)
            take_values(step, j);
        LLVMBuildBr(fuse->builder, step->behind[j]);
        if (!fuse->can_mix)
            continue; /* no loop ever leads to a step */
        LLVMAddCase(choice, tr_f_i32(fuse, looped), step->rejoin[j]);
        LLVMAddCase(choice, tr_f_i32(fuse, looped | RT_ENTRY_ARRIVE), build_arrival(step, j));
    }
}

/* The translation has left a function of this name to be filled, for the sake of its subprogram. */
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

enum pxr_status tr_build_step(struct tr_fuse *fuse, struct pxr_error *err)
{
    struct tr_kernel *kernel = fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    struct step step = {.fuse = fuse};
    step.resume = pxr_arena_alloc_array(arena, kernel->stop_count, sizeof *step.resume);
    step.rejoin = pxr_arena_alloc_array(arena, kernel->stop_count, sizeof *step.rejoin);
    step.behind = pxr_arena_alloc_array(arena, kernel->stop_count, sizeof *step.behind);
    struct tr_set all = tr_set_make(arena, kernel->graph.segment_count);
    if (!step.resume || !step.rejoin || !step.behind || !all.words)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    enum pxr_status status = tr_clone_init(&step.clone, kernel, err);
    if (status != PXR_OK)
        return status;
    fuse->function = take_function(fuse, &step.clone.subprogram);
    fuse->step = fuse->function;
    step.clone.llvm = fuse->llvm;
    step.clone.function = fuse->function;
    step.clone.builder = fuse->builder;
    step.clone.replace = replace;
    step.clone.data = &step;
    step.thread = LLVMGetParam(fuse->function, 0);
    step.clone.copies[0] = step.thread;

    LLVMBasicBlockRef entry_block = tr_f_new_block(fuse, "entry");
    LLVMPositionBuilderAtEnd(fuse->builder, entry_block);
    clear_location(fuse->builder);
    fuse->block =
        tr_f_field(fuse, fuse->ptr, step.thread, offsetof(struct rt_thread, block), "block");
    tr_f_load_shape(fuse);
    find_memory(&step);
    const struct tr_set *at_hand = &fuse->frame.at_hand;
    for (uint32_t v = tr_set_next(at_hand, 0); v != TR_NONE; v = tr_set_next(at_hand, v + 1))
        tr_clone_value(&step.clone, v);
    step.has_begun = true;
    for (uint32_t j = 1; j < kernel->stop_count; j++)
        begin_resume(&step, j);
    for (uint32_t s = 0; s < kernel->graph.segment_count; s++)
        tr_set_add(&all, s);
    tr_clone_segments(&step.clone, &all);
    add_entries(&step, LLVMGetParam(fuse->function, 1), entry_block);
    clear_location(fuse->builder);
    return PXR_OK;
}
