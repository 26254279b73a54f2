/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the promises of steps to each other, behind each of them.
 */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/module/keep_lines.h"
#include "translator/module/link_rt.h"
#include "translator/pipeline.h"

/* Marks that no instruction may have behind a step. Their kinds are looked up by name once for a
 * module: for each instruction it would take as long as the passes. */
struct absent {
    enum tr_mark marks[TR_MARK_COUNT];
    unsigned kinds[TR_MARK_COUNT];
    unsigned count;
    bool is_for_loops; /* nor may a loop be marked */
};

/* NULL: no promise is broken. */
typedef const char *(*check_fn)(LLVMValueRef inst, const struct absent *absent);

/* marks: those that there may be. */
static struct absent find_absent(LLVMModuleRef module, uint32_t marks)
{
    struct absent absent = {.is_for_loops = !(marks & TR_MARKS(THREADS))};
    for (unsigned m = 0; m < TR_MARK_COUNT; m++) {
        if (m == TR_MARK_THREADS || (marks >> m & 1))
            continue;
        absent.marks[absent.count] = (enum tr_mark)m;
        absent.kinds[absent.count++] = tr_mark_kind(LLVMGetModuleContext(module), (enum tr_mark)m);
    }
    return absent;
}

static const char *check_marks(LLVMValueRef inst, const struct absent *absent)
{
    for (unsigned i = 0; i < absent->count; i++)
        if (LLVMGetMetadata(inst, absent->kinds[i]) != NULL)
            return tr_mark_name(absent->marks[i]);
    bool is_marked_loop =
        absent->is_for_loops && LLVMIsATerminatorInst(inst) != NULL && tr_thread_axis(inst) != 0;
    return is_marked_loop ? tr_mark_name(TR_MARK_THREADS) : NULL;
}

static const char *check_defined(LLVMValueRef inst, const struct absent *absent)
{
    (void)absent;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, i);
        if (LLVMIsUndef(operand) || LLVMIsPoison(operand))
            return "an operand is undefined";
    }
    return NULL;
}

static const char *check_function(LLVMValueRef function, check_fn check,
                                  const struct absent *absent)
{
    const char *broken = NULL;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL && broken == NULL;
             inst = LLVMGetNextInstruction(inst))
            broken = check(inst, absent);
    return broken;
}

static const char *check_each(LLVMModuleRef module, check_fn check, const struct absent *absent)
{
    const char *broken = NULL;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL && broken == NULL;
         f = LLVMGetNextFunction(f))
        broken = check_function(f, check, absent);
    return broken;
}

/* Vectors have no bits in memory: the vectoriser would go lane by lane. */
static const char *check_bytes(LLVMValueRef inst, const struct absent *absent)
{
    (void)absent;
    bool is_load = LLVMIsALoadInst(inst) != NULL;
    if (!is_load && LLVMIsAStoreInst(inst) == NULL)
        return NULL;
    LLVMTypeRef type = LLVMTypeOf(is_load ? inst : LLVMGetOperand(inst, 0));
    bool is_bit = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 8;
    return is_bit ? "a bit lies in memory" : NULL;
}

/* Whether somebody still calls a placeholder of special registers. */
static const char *check_sregs(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        size_t len = 0;
        const char *name = LLVMGetValueName2(f, &len);
        if (strncmp(name, "rt_sreg_", 8) == 0 && LLVMIsDeclaration(f) && LLVMGetFirstUse(f) != NULL)
            return name;
    }
    return NULL;
}

/* Whether the header of each loop that has one has two predecessors. */
static const char *check_loops(LLVMValueRef function)
{
    struct tr_graph graph;
    struct tr_loops loops;
    struct pxr_error ignored;
    const char *broken = NULL;
    if (tr_graph_build(&graph, function, NULL, &ignored) != PXR_OK)
        return NULL;
    if (tr_loops_build(&graph, &loops, &ignored) == PXR_OK)
        for (uint32_t i = 0; i < loops.count && broken == NULL; i++) {
            const struct tr_segment *header = &graph.segments[loops.loops[i].header];
            uint32_t outside = 0;
            for (uint32_t p = 0; p < header->pred_count; p++)
                outside += !tr_set_has(&loops.loops[i].segments, header->preds[p]);
            if (!loops.loops[i].is_irreducible && (outside != 1 || header->pred_count != 2))
                broken = "a loop has several ways in or back";
        }
    tr_graph_fini(&graph);
    return broken;
}

static const char *find_broken(LLVMModuleRef module, const struct tr_step *step, uint32_t marks)
{
    uint32_t leaves = step->promises.leaves;
    const struct absent absent = find_absent(module, marks);
    const char *broken = check_each(module, check_marks, &absent);
    if (broken == NULL && (leaves & TR_FORM_DEFINED))
        broken = check_each(module, check_defined, NULL);
    if (broken == NULL && (leaves & TR_FORM_LINKED))
        broken = tr_find_unlinked(module);
    if (broken == NULL && (leaves & TR_FORM_SREGS))
        broken = check_sregs(module);
    if (broken == NULL && (leaves & TR_FORM_BYTES))
        broken = check_each(module, check_bytes, NULL);
    if (broken == NULL && (leaves & TR_FORM_LOOPS))
        broken = check_loops(LLVMGetNamedFunction(module, TR_KERNEL_NAME));
    return broken;
}

static enum pxr_status verify(LLVMModuleRef module, const struct tr_step *step,
                              struct pxr_error *err)
{
    char *message = NULL;
    enum pxr_status status = PXR_OK;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        status = pxr_fail(err, PXR_COMPILE_FAILED, "step '%s' made a defective module: %s",
                          step->name, message);
    LLVMDisposeMessage(message);
    return status;
}

/* LLVM's verifier allows no locations in metadata, where lines are kept meanwhile. */
static enum pxr_status verify_without_lines(LLVMModuleRef module, const struct tr_step *step,
                                            struct pxr_error *err)
{
    LLVMModuleRef copy = LLVMCloneModule(module);
    tr_lines_restore(copy);
    enum pxr_status status = verify(copy, step, err);
    LLVMDisposeModule(copy);
    return status;
}

enum pxr_status tr_verify_step(LLVMModuleRef module, const struct tr_step *step, uint32_t marks,
                               struct pxr_error *err)
{
    enum pxr_status status = marks & TR_MARKS(LINE) ? verify_without_lines(module, step, err)
                                                    : verify(module, step, err);
    const char *broken = status == PXR_OK ? find_broken(module, step, marks) : NULL;
    if (broken != NULL)
        status = pxr_fail(err, PXR_COMPILE_FAILED, "step '%s' does not keep its promise: %s",
                          step->name, broken);
    return status;
}
