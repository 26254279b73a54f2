/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds stores of a kernel to memory that it does not read, by the parameter that an address is
 * made from. This decides how fast stores are, not whether they are right, so a guess is good
 * enough: addresses of two different parameters are taken to be apart.
 */
#include "translator/collapse/tuning/nontemporal.h"

#include <stddef.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/address.h"
#include "translator/analysis/calls.h"
#include "translator/collapse/fuse.h"
#include "translator/module/marks.h"
#include "translator/module/sregs.h"
#include "translator/module/walk.h"

/* ---- the order of accesses ---- */

static bool is_ordered_access(LLVMValueRef inst)
{
    if (LLVMIsALoadInst(inst) == NULL && LLVMIsAStoreInst(inst) == NULL)
        return LLVMIsAAtomicRMWInst(inst) != NULL || LLVMIsAAtomicCmpXchgInst(inst) != NULL ||
               LLVMIsAFenceInst(inst) != NULL;
    return LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
}

/* Whether the call makes nobody outside of the block wait or see: sync points are within the block,
 * except those that let other blocks run. */
static bool is_quiet_call(LLVMValueRef call)
{
    bool is_intrinsic = strncmp(tr_callee_name(call), "llvm.", 5) == 0;
    if (tr_effect_of_call(call) == RT_EFFECT_ANY)
        return is_intrinsic || tr_sreg_of(call) != PTX_SREG_NONE;
    return !tr_waits_for_anybody(call);
}

static bool is_quiet(LLVMValueRef inst)
{
    return !is_ordered_access(inst) && (LLVMIsACallInst(inst) == NULL || is_quiet_call(inst));
}

bool tr_has_private_order(LLVMValueRef kernel)
{
    TR_FOR_EACH_INSTRUCTION(inst, kernel)
        if (!is_quiet(inst))
            return false;
    return true;
}

/* ---- what the kernel does with the memory of a parameter ---- */

#define ROOTS_MAX 16

struct streams {
    LLVMValueRef function;
    struct tr_graph *graph;
    struct tr_loops loops;
    struct tr_roots found;
    uint32_t count;
    struct {
        uint32_t param; /* as tr_root.param */
        bool is_read;
        bool is_written_again;  /* a loop of the thread goes on writing to one place */
        uint64_t written_bytes; /* by a thread */
    } roots[ROOTS_MAX];
    bool is_unknown; /* it reads memory that may be anywhere, or there are too many parameters */
};

/* Whether the value may differ between two turns of the loop: it comes from what goes from turn to
 * turn, or from memory. */
static bool changes_in(struct streams *streams, const struct tr_loop *loop, uint32_t value)
{
    const struct tr_graph *graph = streams->graph;
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    struct tr_set seen = tr_set_make(&scratch, graph->value_count);
    uint32_t *stack = pxr_arena_alloc_array(&scratch, graph->value_count, sizeof *stack);
    uint32_t depth = 0;
    bool changes = seen.words == NULL || stack == NULL;
    if (!changes)
        stack[depth++] = value;
    while (depth > 0 && !changes) {
        const struct tr_value *at = &graph->values[stack[--depth]];
        if (at->segment == TR_NONE || !tr_set_has(&loop->segments, at->segment))
            continue;
        changes = at->opcode == LLVMLoad || (at->opcode == LLVMPHI && at->segment == loop->header);
        for (uint32_t i = 0; i < at->operand_count; i++) {
            uint32_t operand = at->operands[i];
            if (operand == TR_NONE || tr_set_has(&seen, operand))
                continue;
            tr_set_add(&seen, operand);
            stack[depth++] = operand;
        }
    }
    pxr_arena_fini(&scratch);
    return changes;
}

static bool is_of_threads(const struct streams *streams, const struct tr_loop *loop)
{
    const struct tr_graph *graph = streams->graph;
    const struct tr_segment *header = &graph->segments[loop->header];
    for (uint32_t i = 0; i < header->pred_count; i++)
        if (tr_set_has(&loop->segments, header->preds[i]) &&
            tr_thread_axis(LLVMGetBasicBlockTerminator(graph->segments[header->preds[i]].llvm)))
            return true;
    return false;
}

/* Whether the store goes on writing to one place: past the caches each of them would take as long
 * as memory does. */
static bool writes_again(struct streams *streams, LLVMValueRef store)
{
    uint32_t address = tr_graph_number(streams->graph, LLVMGetOperand(store, 1));
    uint32_t number = tr_graph_number(streams->graph, store);
    if (number == TR_NONE || address == TR_NONE)
        return true;
    for (uint32_t l = streams->loops.innermost[streams->graph->values[number].segment];
         l != TR_NONE; l = streams->loops.loops[l].parent) {
        const struct tr_loop *loop = &streams->loops.loops[l];
        if (!is_of_threads(streams, loop) && !changes_in(streams, loop, address))
            return true;
    }
    return false;
}

static void note(struct streams *streams, LLVMValueRef address, uint64_t read_bytes,
                 uint64_t written_bytes, bool is_again)
{
    struct tr_root root = tr_root_of(&streams->found, address);
    bool is_anywhere = (root.origins & TR_ORIGIN_UNKNOWN) != 0 || root.param == TR_PARAM_ANY;
    uint32_t i = 0;
    if (root.param == 0 && !is_anywhere)
        return;
    while (i < streams->count && streams->roots[i].param != root.param)
        i++;
    if (is_anywhere || i == ROOTS_MAX) {
        streams->is_unknown = true;
        return;
    }
    if (i == streams->count)
        streams->roots[streams->count++].param = root.param;
    streams->roots[i].is_read |= read_bytes > 0;
    streams->roots[i].is_written_again |= is_again;
    streams->roots[i].written_bytes += written_bytes;
}

static uint64_t size_of(const struct streams *streams, LLVMTypeRef type)
{
    LLVMModuleRef module = LLVMGetGlobalParent(streams->function);
    return LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module), type);
}

static void look_at(struct streams *streams, LLVMValueRef inst)
{
    if (LLVMIsAStoreInst(inst) != NULL)
        note(streams, LLVMGetOperand(inst, 1), 0,
             size_of(streams, LLVMTypeOf(LLVMGetOperand(inst, 0))), writes_again(streams, inst));
    else if (LLVMIsALoadInst(inst) != NULL && !tr_is_invariant_load(inst))
        note(streams, LLVMGetOperand(inst, 0), size_of(streams, LLVMTypeOf(inst)), 0, false);
}

static void look_at_all(struct streams *streams)
{
    TR_FOR_EACH_INSTRUCTION(inst, streams->function)
        look_at(streams, inst);
}

static bool is_stream(const struct streams *streams, uint32_t param)
{
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->roots[i].param == param)
            return !streams->roots[i].is_read && !streams->roots[i].is_written_again &&
                   streams->roots[i].written_bytes > 0;
    return false;
}

static void mark_stores(const struct streams *streams)
{
    TR_FOR_EACH_INSTRUCTION(inst, streams->function)
        if (LLVMIsAStoreInst(inst) != NULL &&
            is_stream(streams, tr_root_of(&streams->found, LLVMGetOperand(inst, 1)).param))
            tr_mark(inst, TR_MARK_NONTEMPORAL);
}

/* ---- the question ---- */

/* Code in the entry block. */
struct question {
    LLVMBuilderRef builder;
    LLVMContextRef llvm;
    LLVMTypeRef i64;
    LLVMValueRef launch;
};

static LLVMValueRef i64(const struct question *question, uint64_t number)
{
    return LLVMConstInt(question->i64, number, false);
}

/* Loads a value that does not change while the grid runs. */
static LLVMValueRef load(const struct question *question, LLVMTypeRef type, LLVMValueRef base,
                         uint64_t offset)
{
    static const char name[] = "invariant.load";
    LLVMValueRef index = i64(question, offset);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(question->llvm);
    LLVMValueRef at = LLVMBuildGEP2(question->builder, i8, base, &index, 1, "");
    LLVMValueRef loaded = LLVMBuildLoad2(question->builder, type, at, "");
    LLVMSetAlignment(
        loaded,
        LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32 ? 4 : 8);
    LLVMSetMetadata(
        loaded, LLVMGetMDKindIDInContext(question->llvm, name, sizeof name - 1),
        LLVMMetadataAsValue(question->llvm, LLVMMDNodeInContext2(question->llvm, NULL, 0)));
    return loaded;
}

/* The product of three numbers of the launch and a factor; each step is limited to 2^40, so that
 * nothing wraps. */
static LLVMValueRef times_shape(const struct question *question, LLVMValueRef product,
                                uint64_t offset)
{
    LLVMBuilderRef b = question->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(question->llvm);
    LLVMValueRef most = i64(question, UINT64_C(1) << 40);
    for (uint32_t d = 0; d < 3; d++) {
        LLVMValueRef by = load(question, i32, question->launch, offset + d * sizeof(uint32_t));
        by = LLVMBuildZExt(b, by, question->i64, "");
        product = LLVMBuildMul(b, product, by, "");
        LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, product, most, "");
        product = LLVMBuildSelect(b, is_less, product, most, "");
    }
    return product;
}

static LLVMValueRef parameter(const struct question *question, uint32_t param)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(question->llvm, 0);
    LLVMValueRef params = load(question, ptr, question->launch, offsetof(struct rt_launch, params));
    return load(question, question->i64, params, param - 1);
}

/* i1: no parameter that is written equals one that is read. */
static LLVMValueRef are_apart(const struct question *question, const struct streams *streams)
{
    LLVMBuilderRef b = question->builder;
    LLVMValueRef apart = LLVMConstInt(LLVMInt1TypeInContext(question->llvm), 1, false);
    for (uint32_t i = 0; i < streams->count; i++) {
        for (uint32_t k = 0; k < streams->count; k++) {
            if (!is_stream(streams, streams->roots[i].param) || !streams->roots[k].is_read)
                continue;
            LLVMValueRef differ =
                LLVMBuildICmp(b, LLVMIntNE, parameter(question, streams->roots[i].param),
                              parameter(question, streams->roots[k].param), "");
            apart = LLVMBuildAnd(b, apart, differ, "");
        }
    }
    return apart;
}

/* i1: so many threads, each of which writes `bytes`, write more than half of the cache. What they
 * read meanwhile needs the other half. */
static LLVMValueRef is_too_much(const struct question *question, LLVMValueRef threads,
                                uint64_t bytes, uint64_t cache_bytes)
{
    return LLVMBuildICmp(question->builder, LLVMIntUGT, threads,
                         i64(question, cache_bytes / 2 / bytes), "");
}

static struct tr_streaming ask(const struct streams *streams, uint64_t bytes, uint64_t cache_bytes,
                               uint64_t share_bytes)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(streams->function));
    struct question question = {.builder = LLVMCreateBuilderInContext(llvm),
                                .llvm = llvm,
                                .i64 = LLVMInt64TypeInContext(llvm)};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(streams->function);
    LLVMPositionBuilderBefore(question.builder, LLVMGetBasicBlockTerminator(entry));
    question.launch = load(&question, LLVMPointerTypeInContext(llvm, 0),
                           LLVMGetParam(streams->function, 0), offsetof(struct rt_block, launch));
    LLVMValueRef threads = i64(&question, 1);
    threads = times_shape(&question, threads, offsetof(struct rt_launch, grid));
    threads = times_shape(&question, threads, offsetof(struct rt_launch, block));
    LLVMValueRef apart = are_apart(&question, streams);
    LLVMValueRef of_rows = is_too_much(&question, threads, bytes, share_bytes);
    LLVMValueRef of_all = is_too_much(&question, threads, bytes, cache_bytes);
    struct tr_streaming streaming = {
        .of_rows = LLVMBuildAnd(question.builder, of_rows, apart, "stream_rows"),
        .of_all = LLVMBuildAnd(question.builder, of_all, apart, "stream_all")};
    LLVMDisposeBuilder(question.builder);
    return streaming;
}

static struct tr_streaming mark_streams(struct streams *streams, uint64_t cache_bytes,
                                        uint64_t share_bytes)
{
    uint64_t bytes = 0;
    look_at_all(streams);
    if (streams->is_unknown)
        return (struct tr_streaming){NULL, NULL};
    for (uint32_t i = 0; i < streams->count; i++)
        if (is_stream(streams, streams->roots[i].param))
            bytes += streams->roots[i].written_bytes;
    if (bytes == 0)
        return (struct tr_streaming){NULL, NULL};
    mark_stores(streams);
    return ask(streams, bytes, cache_bytes, share_bytes);
}

enum pxr_status tr_mark_streams(LLVMValueRef function, uint64_t cache_bytes, uint64_t share_bytes,
                                struct tr_streaming *streaming, struct pxr_error *err)
{
    struct tr_graph graph;
    struct streams streams = {.function = function, .graph = &graph};
    enum pxr_status status = tr_graph_build(&graph, function, NULL, err);
    if (status != PXR_OK)
        return status;
    status = tr_loops_build(&graph, &streams.loops, err);
    if (status != PXR_OK) {
        tr_graph_fini(&graph);
        return status;
    }
    if (tr_roots_build(&graph, TR_RECORD_BLOCK, TR_LIKELY, &streams.found))
        *streaming = mark_streams(&streams, cache_bytes, share_bytes);
    else
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking at stores");
    tr_graph_fini(&graph);
    return status;
}

/* ---- the end ---- */

/* A fence at the function's end: stores past the caches are not ordered with others, not even with
 * those that release. */
static void end_at(LLVMValueRef function, LLVMValueRef end, LLVMValueRef condition)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(llvm);
    LLVMBasicBlockRef drain = LLVMAppendBasicBlockInContext(llvm, function, "drain");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(llvm, function, "drained");
    LLVMPositionBuilderBefore(b, end);
    LLVMBuildCondBr(b, condition, drain, out);
    LLVMInstructionEraseFromParent(end);
    LLVMPositionBuilderAtEnd(b, drain);
    LLVMBuildFence(b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
    LLVMBuildBr(b, out);
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

static bool has_streams(LLVMValueRef function)
{
    static const char name[] = "nontemporal";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMIsAStoreInst(inst) != NULL && LLVMHasMetadata(inst) &&
            LLVMGetMetadata(inst, kind) != NULL)
            return true;
    return false;
}

void tr_end_streams(LLVMValueRef function, const struct tr_streaming *streaming)
{
    if (streaming->of_rows == NULL || !has_streams(function))
        return;
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMIsAReturnInst(end) != NULL)
            end_at(function, end, streaming->of_rows);
        if (block == last)
            return;
    }
}
