/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes functions with sync points part of the kernel before threads are fused, because a loop over
 * threads cannot leave a call in the middle. Also finds kernels that cannot be fused at all.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"
#include "translator/collapse/collapsing.h"
#include "translator/collapse/prepare.h"
#include "translator/module/link_rt.h"
#include "translator/module/walk.h"

/* Functions of the module. */
struct node {
    UT_hash_handle hh;
    LLVMValueRef function;
    bool has_sync_point; /* it, or a function it calls, has one or ends the thread */
    bool is_reached;     /* from the current function */
    bool is_addressable; /* may be called through a pointer */
};

struct call_graph {
    struct pxr_arena arena;
    struct node *nodes;
    struct node *by_function; /* the same in a table */
    struct node **work;       /* nodes to look at, each at most once */
    uint32_t count;
    bool calls_pointers;
};

static bool ends_or_sync_points(LLVMValueRef inst)
{
    const struct rt_placeholder_info *callee = tr_placeholder_info(inst);
    return callee->waits != RT_WAITS_NOBODY || callee->effect == RT_EFFECT_END;
}

static struct node *find_node(const struct call_graph *graph, LLVMValueRef function)
{
    struct node *node = NULL;
    HASH_FIND_PTR(graph->by_function, &function, node);
    return node;
}

static bool is_called_only(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) == NULL || LLVMGetCalledValue(user) != function)
            return false;
    }
    return true;
}

static enum pxr_status collect(struct call_graph *graph, LLVMModuleRef module,
                               struct pxr_error *err)
{
    uint32_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        count += !LLVMIsDeclaration(f);
    graph->nodes = pxr_arena_alloc_array(&graph->arena, count, sizeof *graph->nodes);
    graph->work = pxr_arena_alloc_array(&graph->arena, count, sizeof(struct node *));
    if (graph->nodes == NULL || graph->work == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        struct node *node = &graph->nodes[graph->count++];
        *node = (struct node){.function = f, .is_addressable = !is_called_only(f)};
        HASH_ADD_PTR(graph->by_function, function, node);
        if (node->hh.tbl == NULL)
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            node->has_sync_point |= ends_or_sync_points(inst);
            graph->calls_pointers |= LLVMIsACallInst(inst) != NULL &&
                                     LLVMIsAFunction(LLVMGetCalledValue(inst)) == NULL &&
                                     LLVMIsAInlineAsm(LLVMGetCalledValue(inst)) == NULL;
        }
    }
    return PXR_OK;
}

/* Functions that call functions with sync points have sync points. */
static void spread_sync_points(struct call_graph *graph)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].has_sync_point)
            graph->work[count++] = &graph->nodes[i];
    while (count > 0) {
        LLVMValueRef function = graph->work[--count]->function;
        for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);
            if (LLVMIsACallInst(call) == NULL || LLVMGetCalledValue(call) != function)
                continue;
            LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
            struct node *caller = find_node(graph, LLVMGetBasicBlockParent(block));
            if (caller == NULL || caller->has_sync_point)
                continue;
            caller->has_sync_point = true;
            graph->work[count++] = caller;
        }
    }
}

/* Whether the function calls itself, directly or through others. */
static bool is_recursive(struct call_graph *graph, struct node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        graph->nodes[i].is_reached = &graph->nodes[i] == node;
    graph->work[count++] = node;
    while (count > 0) {
        TR_FOR_EACH_INSTRUCTION(inst, graph->work[--count]->function) {
            if (LLVMIsACallInst(inst) == NULL)
                continue;
            struct node *callee = find_node(graph, LLVMGetCalledValue(inst));
            if (callee == node)
                return true;
            if (callee == NULL || callee->is_reached)
                continue;
            callee->is_reached = true;
            graph->work[count++] = callee;
        }
    }
    return false;
}

static const char *mark_for_inlining(struct call_graph *graph, LLVMValueRef kernel)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    for (uint32_t i = 0; i < graph->count; i++) {
        struct node *node = &graph->nodes[i];
        if (!node->has_sync_point || node->function == kernel)
            continue;
        if (node->is_addressable && graph->calls_pointers)
            return "threads may stop in a function that is called through a pointer";
        if (is_recursive(graph, node))
            return "threads may stop in a recursive function";
        LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(node->function));
        LLVMAddAttributeAtIndex(node->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(llvm, always, 0));
    }
    return NULL;
}

/* Notes that there can be no loops over threads. */
static void refuse(struct tr_collapsing *collapsing, const char *obstacle)
{
    if (obstacle == NULL)
        return;
    collapsing->collapse = PXR_COLLAPSE_PRECISE;
    collapsing->why = obstacle;
}

enum pxr_status tr_inline_sync_points(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct call_graph graph = {0};
    pxr_arena_init(&graph.arena, 0);
    enum pxr_status status = collect(&graph, collapsing->module, err);
    if (status == PXR_OK) {
        spread_sync_points(&graph);
        refuse(collapsing, mark_for_inlining(&graph, collapsing->function));
    }
    HASH_CLEAR(hh, graph.by_function);
    pxr_arena_fini(&graph.arena);
    return status;
}

/* Makes polls that stay a countdown to rt_poll, which is a sync point. */
enum pxr_status tr_bind_polls(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    enum pxr_status status = tr_bind_waits(collapsing->function, true, err);
    LLVMValueRef placeholder =
        LLVMGetNamedFunction(collapsing->module, rt_placeholders[RT_CALL_SPIN].name);
    if (status != PXR_OK || placeholder == NULL)
        return status;
    collapsing->has_polls = true;
    LLVMSetValueName2(placeholder, "rt_fused_spin", 13);
    return tr_link_rt(collapsing->module, false, err);
}

enum pxr_status tr_make_pointers(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    tr_prepare_addresses(collapsing->function);
    return PXR_OK;
}

/* ---- what is left to refuse when the kernel is complete ---- */

/* Whether it uses the stack's bounds as pointers: for addresses of module-scope .local variables,
 * or to ask whether an address is local. Checks of recursive functions load them as integers. */
static bool uses_own_stack(LLVMValueRef inst)
{
    if (LLVMIsALoadInst(inst) == NULL || LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMPointerTypeKind)
        return false;
    return tr_is_field(inst, TR_RECORD_THREAD, TR_RECORD_THREAD,
                       offsetof(struct rt_thread, stack_limit)) ||
           tr_is_field(inst, TR_RECORD_THREAD, TR_RECORD_THREAD,
                       offsetof(struct rt_thread, stack_base));
}

static bool is_fixed_alloca(LLVMValueRef inst, LLVMValueRef kernel)
{
    return LLVMGetInstructionParent(inst) == LLVMGetEntryBasicBlock(kernel) &&
           LLVMIsAConstantInt(LLVMGetOperand(inst, 0)) != NULL &&
           LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 0)) == 1;
}

static bool saves_stack(LLVMValueRef inst)
{
    const char *name = tr_callee_name(inst);
    return strncmp(name, "llvm.stacksave", 14) == 0 || strncmp(name, "llvm.stackrestore", 17) == 0;
}

static const char *find_obstacle(LLVMModuleRef module, LLVMValueRef kernel)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            if (uses_own_stack(inst))
                return "it depends on where the thread's own stack is";
            if (f != kernel)
                continue;
            if (LLVMIsAAllocaInst(inst) != NULL && !is_fixed_alloca(inst, kernel))
                return "it allocates memory on the thread's stack";
            if (saves_stack(inst))
                return "it saves the thread's stack";
        }
    }
    return NULL;
}

enum pxr_status tr_find_obstacles(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    refuse(collapsing, find_obstacle(collapsing->module, collapsing->function));
    return PXR_OK;
}
