/* SPDX-License-Identifier: Apache-2.0
 *
 * Short loops around sync points whose number of iterations is known, such as the levels of a
 * reduction in a block of known size, become straight code before regions are formed: then each
 * region's working threads, and the places of their data, are known. LLVM's unroller does it; loops
 * without sync points are hidden from it, since they belong to a single thread.
 */
#include "translator/collapse/tuning/unroll.h"

#include "translator/collapse/prepare.h"

static const char loop_kind[] = "llvm.loop";

static bool has_sync_point(const struct tr_graph *graph, const struct tr_loop *loop)
{
    for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
         s = tr_set_next(&loop->segments, s + 1))
        if (graph->segments[s].is_sync_point)
            return true;
    return false;
}

/* Marks the branches that close the loop. */
static void hide(const struct tr_graph *graph, const struct tr_loop *loop)
{
    static const char property[] = "llvm.loop.unroll.disable";
    LLVMContextRef llvm = LLVMGetValueContext(graph->function);
    unsigned kind = LLVMGetMDKindIDInContext(llvm, loop_kind, sizeof loop_kind - 1);
    LLVMMetadataRef name = LLVMMDStringInContext2(llvm, property, sizeof property - 1);
    LLVMMetadataRef node = tr_make_loop(llvm, LLVMMDNodeInContext2(llvm, &name, 1));
    LLVMValueRef mark = LLVMMetadataAsValue(llvm, node);
    const struct tr_segment *header = &graph->segments[loop->header];
    for (uint32_t i = 0; i < header->pred_count; i++)
        if (tr_set_has(&loop->segments, header->preds[i]))
            LLVMSetMetadata(LLVMGetBasicBlockTerminator(graph->segments[header->preds[i]].llvm),
                            kind, mark);
}

static void forget_marks(LLVMValueRef function)
{
    unsigned kind =
        LLVMGetMDKindIDInContext(LLVMGetValueContext(function), loop_kind, sizeof loop_kind - 1);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        LLVMSetMetadata(LLVMGetBasicBlockTerminator(block), kind, NULL);
}

/* Hides loops without sync points; true: there are others. */
static enum pxr_status hide_loops(LLVMValueRef function, bool *has_others, struct pxr_error *err)
{
    struct tr_graph graph;
    struct tr_loops loops;
    *has_others = false;
    enum pxr_status status = tr_graph_build(&graph, function, tr_is_sync_point, err);
    if (status != PXR_OK)
        return status;
    status = tr_loops_build(&graph, &loops, err);
    for (uint32_t i = 0; status == PXR_OK && i < loops.count; i++) {
        if (has_sync_point(&graph, &loops.loops[i]))
            *has_others = true;
        else
            hide(&graph, &loops.loops[i]);
    }
    tr_graph_fini(&graph);
    return status;
}

enum pxr_status tr_hide_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    return hide_loops(collapsing->function, &collapsing->has_sync_loops, err);
}

enum pxr_status tr_show_plain_loops(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    forget_marks(collapsing->function);
    return PXR_OK;
}
