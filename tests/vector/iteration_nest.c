/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_nest.h.
 */
#include "tests/vector/iteration_nest.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/analysis/analysis.h"
#include "translator/module/marks.h"
#include "translator/pipeline.h"

#define INLINE_PASSES "always-inline,globaldce"

/* ---- the host ---- */

enum pxr_status iteration_host_init(struct iteration_host *host, struct pxr_error *err)
{
    *host = (struct iteration_host){0};
    return jit_target_acquire(&host->target, err);
}

void iteration_host_fini(struct iteration_host *host)
{
    jit_target_release(host->target);
}

/* ---- the loops ---- */

struct loop {
    LLVMBasicBlockRef head, latch, done;
    LLVMValueRef counter;
    LLVMValueRef trip; /* the same, for the loop itself, as in the product */
};

struct nest_build {
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMValueRef kernel;
    LLVMTypeRef i32;
};

static struct loop begin_loop(const struct nest_build *build, const char *const names[3])
{
    struct loop loop;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(build->builder);
    LLVMBasicBlockRef *blocks[] = {&loop.head, &loop.latch, &loop.done};
    for (int i = 0; i < 3; i++)
        *blocks[i] = LLVMAppendBasicBlockInContext(build->context, build->kernel, names[i]);
    LLVMBuildBr(build->builder, loop.head);
    LLVMPositionBuilderAtEnd(build->builder, loop.head);
    loop.counter = LLVMBuildPhi(build->builder, build->i32, "");
    LLVMValueRef zero = LLVMConstInt(build->i32, 0, false);
    LLVMAddIncoming(loop.counter, &zero, &before, 1);
    loop.trip = LLVMBuildPhi(build->builder, build->i32, "trip");
    LLVMAddIncoming(loop.trip, &zero, &before, 1);
    return loop;
}

static LLVMValueRef count_up(const struct nest_build *build, LLVMValueRef phi,
                             LLVMBasicBlockRef latch)
{
    LLVMValueRef one = LLVMConstInt(build->i32, 1, false);
    LLVMValueRef next = LLVMBuildNSWAdd(build->builder, phi, one, "");
    LLVMSetNUW(next, true);
    LLVMAddIncoming(phi, &next, &latch, 1);
    return next;
}

static void end_loop(const struct nest_build *build, const struct loop *loop, LLVMValueRef count)
{
    LLVMBuildBr(build->builder, loop->latch);
    LLVMPositionBuilderAtEnd(build->builder, loop->latch);
    count_up(build, loop->counter, loop->latch);
    LLVMValueRef next = count_up(build, loop->trip, loop->latch);
    LLVMValueRef more = LLVMBuildICmp(build->builder, LLVMIntULT, next, count, "");
    LLVMBuildCondBr(build->builder, more, loop->head, loop->done);
    LLVMPositionBuilderAtEnd(build->builder, loop->done);
}

static void set_enum_attribute(LLVMContextRef context, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, kind, 0));
}

/* for y, for x: iteration */
static void build_kernel(struct nest_build *build, LLVMModuleRef module, LLVMValueRef iteration,
                         bool is_row_only)
{
    static const char *const x_names[] = {"x", "x.latch", "x.done"};
    static const char *const y_names[] = {"y", "y.latch", "y.done"};
    LLVMTypeRef ptr = LLVMPointerTypeInContext(build->context, 0);
    LLVMTypeRef i32 = build->i32;
    LLVMTypeRef types[] = {ptr, ptr, ptr, i32, i32, i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(build->context), types, 6, false);
    build->kernel = LLVMAddFunction(module, "kernel", type);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(build->context, build->kernel, "");
    LLVMPositionBuilderAtEnd(build->builder, entry);
    struct loop y = {.counter = LLVMConstInt(i32, 0, false)};
    if (!is_row_only)
        y = begin_loop(build, y_names);
    struct loop x = begin_loop(build, x_names);
    LLVMValueRef arguments[8];
    LLVMGetParams(build->kernel, arguments);
    arguments[6] = x.counter;
    arguments[7] = y.counter;
    LLVMBuildCall2(build->builder, LLVMGlobalGetValueType(iteration), iteration, arguments, 8, "");
    end_loop(build, &x, arguments[4]);
    if (!is_row_only)
        end_loop(build, &y, arguments[5]);
    LLVMBuildRetVoid(build->builder);
    LLVMSetLinkage(iteration, LLVMInternalLinkage);
    set_enum_attribute(build->context, iteration, "alwaysinline");
}

static enum pxr_status parse(const struct iteration_case *c, LLVMContextRef context,
                             LLVMModuleRef *module, struct pxr_error *err)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(c->text, c->text_bytes, c->name);
    char *message = NULL;
    bool is_bad = LLVMParseIRInContext2(context, buffer, module, &message);
    LLVMDisposeMemoryBuffer(buffer);
    if (!is_bad)
        is_bad = LLVMVerifyModule(*module, LLVMReturnStatusAction, &message);
    if (is_bad)
        pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: %s", c->name, message);
    LLVMDisposeMessage(message);
    return is_bad ? PXR_INVALID_ARGUMENT : PXR_OK;
}

enum pxr_status iteration_nest_build(const struct iteration_case *c,
                                     const struct iteration_host *host, LLVMContextRef context,
                                     LLVMModuleRef *module, struct pxr_error *err)
{
    enum pxr_status status = parse(c, context, module, err);
    if (status != PXR_OK)
        return status;
    struct nest_build build = {.context = context, .i32 = LLVMInt32TypeInContext(context)};
    LLVMValueRef iteration = LLVMGetNamedFunction(*module, "iteration");
    if (iteration != NULL) {
        build.builder = LLVMCreateBuilderInContext(context);
        build_kernel(&build, *module, iteration, c->is_row_only);
        LLVMDisposeBuilder(build.builder);
    }
    jit_target_prepare(host->target, *module);
    if (LLVMGetNamedFunction(*module, "kernel") == NULL)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: neither @iteration nor @kernel", c->name);
    return PXR_OK;
}

void iteration_nest_fix_size(LLVMModuleRef module, const struct iteration_size *size)
{
    LLVMValueRef kernel = LLVMGetNamedFunction(module, "kernel");
    LLVMTypeRef i32 = LLVMTypeOf(LLVMGetParam(kernel, 4));
    LLVMReplaceAllUsesWith(LLVMGetParam(kernel, 4), LLVMConstInt(i32, size->nx, false));
    LLVMReplaceAllUsesWith(LLVMGetParam(kernel, 5), LLVMConstInt(i32, size->ny, false));
}

/* ---- passes ---- */

enum pxr_status iteration_nest_prepare(LLVMModuleRef module, struct pxr_error *err)
{
    LLVMValueRef kernel = LLVMGetNamedFunction(module, "kernel");
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
        const char *name = LLVMGetBasicBlockName(block);
        if (strncmp(name, "x.latch", 7) == 0 || strncmp(name, "y.latch", 7) == 0)
            tr_mark_threads(block, name[0], 0);
    }
    enum pxr_status status = tr_run_passes(module, INLINE_PASSES, NULL, err);
    if (status != PXR_OK)
        return status;
    return tr_run_passes(module, tr_steps[TR_STEP_VECTOR_PREPARE].passes, NULL, err);
}

enum pxr_status iteration_nest_widen(LLVMModuleRef module, const struct tr_vector_options *options,
                                     struct tr_vector_report *report, struct pxr_error *err)
{
    char *message = NULL;
    LLVMValueRef kernel = LLVMGetNamedFunction(module, "kernel");
    enum pxr_status status = tr_vectorise(kernel, options, report, err);
    if (status == PXR_OK && LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        status = pxr_fail(err, PXR_COMPILE_FAILED, "not well formed: %s", message);
    LLVMDisposeMessage(message);
    return status;
}

bool iteration_nest_is_irreducible(LLVMModuleRef module)
{
    struct tr_graph graph;
    struct tr_loops loops;
    LLVMValueRef kernel = LLVMGetNamedFunction(module, "kernel");
    bool is_irreducible = false;
    if (tr_graph_build(&graph, kernel, NULL, NULL) != PXR_OK)
        return false;
    if (tr_loops_build(&graph, &loops, NULL) == PXR_OK)
        for (uint32_t l = 0; l < loops.count; l++)
            is_irreducible |= loops.loops[l].is_irreducible;
    tr_graph_fini(&graph);
    return is_irreducible;
}
