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
#include "translator/module/keep_lines.h"
#include "translator/module/link_rt.h"
#include "translator/module/walk.h"

/* Functions of the module. */
struct node {
    UT_hash_handle hh;
    LLVMValueRef function;
    LLVMValueRef sync_point; /* one of the function, where it ends the thread, or a call of a
                                function that has such a place; NULL: there is none */
    bool is_reached;         /* from the current function */
    bool is_addressable;     /* may be called through a pointer */
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
            if (node->sync_point == NULL && ends_or_sync_points(inst))
                node->sync_point = inst;
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
        if (graph->nodes[i].sync_point != NULL)
            graph->work[count++] = &graph->nodes[i];
    while (count > 0) {
        LLVMValueRef function = graph->work[--count]->function;
        for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);
            if (LLVMIsACallInst(call) == NULL || LLVMGetCalledValue(call) != function)
                continue;
            LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
            struct node *caller = find_node(graph, LLVMGetBasicBlockParent(block));
            if (caller == NULL || caller->sync_point != NULL)
                continue;
            caller->sync_point = call;
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

/* Why threads get a stack each. */
struct obstacle {
    const char *why; /* NULL: there is none */
    LLVMValueRef inst;
};

static struct obstacle mark_for_inlining(struct call_graph *graph, LLVMValueRef kernel)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    for (uint32_t i = 0; i < graph->count; i++) {
        struct node *node = &graph->nodes[i];
        if (node->sync_point == NULL || node->function == kernel)
            continue;
        if (node->is_addressable && graph->calls_pointers)
            return (struct obstacle){"threads may wait for each other, or end, in a function that "
                                     "is called through a pointer",
                                     node->sync_point};
        if (is_recursive(graph, node))
            return (struct obstacle){
                "threads may wait for each other, or end, in a recursive function",
                node->sync_point};
        LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(node->function));
        LLVMAddAttributeAtIndex(node->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(llvm, always, 0));
    }
    return (struct obstacle){0};
}

/* Notes that there can be no loops over threads. */
static void refuse(struct tr_collapsing *collapsing, struct obstacle obstacle)
{
    if (obstacle.why == NULL)
        return;
    collapsing->collapse = PXR_COLLAPSE_PRECISE;
    collapsing->why = obstacle.why;
    collapsing->why_line = tr_line_near(obstacle.inst);
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
    enum pxr_status status = tr_bind_waits(collapsing->function, true, collapsing->options->facts,
                                           &collapsing->waits_again, err);
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

static const char *why_obstacle(LLVMValueRef inst, LLVMValueRef kernel)
{
    if (uses_own_stack(inst))
        return "the kernel asks where the thread's own stack is";
    if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)) != kernel)
        return NULL;
    if (LLVMIsAAllocaInst(inst) != NULL && !is_fixed_alloca(inst, kernel))
        return "the kernel allocates memory on the thread's stack";
    return saves_stack(inst) ? "the kernel saves the thread's stack" : NULL;
}

static struct obstacle find_obstacle(LLVMModuleRef module, LLVMValueRef kernel)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            const char *why = why_obstacle(inst, kernel);
            if (why != NULL)
                return (struct obstacle){why, inst};
        }
    }
    return (struct obstacle){0};
}

enum pxr_status tr_find_obstacles(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    refuse(collapsing, find_obstacle(collapsing->module, collapsing->function));
    return PXR_OK;
}
