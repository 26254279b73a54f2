/* SPDX-License-Identifier: Apache-2.0
 *
 * Short fixed lists instead of LLVM's default<O2>: nearly the same code in a third of the time.
 * They run after the threads have been collapsed. The code of one thread is not worth a vectoriser
 * or unroller, and what is made of vectors of threads has had both (translator/vector); other loops
 * over threads live by LLVM's loop vectoriser. No list has loop-idiom or switch-to-table passes,
 * and none makes vectors of straight code (slp).
 */
#include "jit/passes.h"

#include <llvm-c/Core.h>

#include "translator/emit/linear.h"
#include "translator/translator.h"
#include "translator/vector/vector.h"

/* Helpers of translator/rt are always_inline and tiny; what remains are PTX functions, in SSA form
 * already, so that the inliner sees their true size. */
#define INLINE_PASSES                                                                              \
    "always-inline,"                                                                               \
    "cgscc(inline),"                                                                               \
    "globaldce,"

#define SCALAR_PASSES                                                                              \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                 \
    "loop-mssa(loop-rotate,licm),simplifycfg,gvn,loop-mssa(licm),"                                 \
    "instcombine<no-verify-fixpoint>,dse,adce,simplifycfg),"                                       \
    "globaldce"

/* Loops over threads. What the launch decides leaves them before instcombine can move it to the
 * only place of its use, behind a condition, from where no pass dares to take it: then the
 * vectoriser does not know where an array begins. */
#define LOOP_PASSES                                                                                \
    "function(sroa,early-cse<memssa>,loop-mssa(loop-rotate,licm),simplifycfg,"                     \
    "instcombine<no-verify-fixpoint>,loop-mssa(simple-loop-unswitch),simplifycfg,gvn,"             \
    "instcombine<no-verify-fixpoint>,loop(indvars),loop-mssa(licm))"

/* Behind them and tr_hide_narrow_steps(). */
#define LOOP_VECTORIZE_PASSES                                                                      \
    "function(loop-simplify,lcssa,loop-vectorize,instcombine<no-verify-fixpoint>,"                 \
    "simplifycfg,early-cse<memssa>,dse,adce,simplifycfg),"                                         \
    "globaldce"

/* Loops over vectors of threads: as for one thread, whose values happen to be vectors. What is left
 * to combine behind gvn and licm is a hundredth of the code, and takes as long as what was there
 * before them. */
#define VECTOR_PASSES                                                                              \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                 \
    "loop-mssa(loop-rotate,licm),simplifycfg,sroa,gvn,loop-mssa(licm),adce,simplifycfg),"          \
    "globaldce"

/* The same for functions of more instructions than this. The time of gvn, which looks for what each
 * load may have read, grows faster than the code. */
#define LONG_FUNCTION 12000
#define LONG_PASSES                                                                                \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                 \
    "loop-mssa(loop-rotate,licm),simplifycfg,sroa,early-cse<memssa>,loop-mssa(licm),adce,"         \
    "simplifycfg),"                                                                                \
    "globaldce"

/* Behind tr_straighten_blocks(). */
#define STRAIGHT_PASSES "function(early-cse,instcombine<no-verify-fixpoint>,early-cse,simplifycfg)"

/* For kernels that compiling must not take longer than their length says. */
#define QUICK_PASSES "globaldce"

/* Of all functions. */
static uint32_t count_instructions(LLVMModuleRef module)
{
    uint32_t count = 0;
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        count += tr_instruction_count(fn);
    return count;
}

static enum pxr_status straighten(LLVMModuleRef module, LLVMTargetMachineRef machine,
                                  struct pxr_error *err)
{
    bool has_changed = false;
    enum pxr_status status = tr_straighten_blocks(module, &has_changed, err);
    return status == PXR_OK && has_changed ? tr_run_passes(module, STRAIGHT_PASSES, machine, err)
                                           : status;
}

enum pxr_status jit_run_passes(LLVMModuleRef module, enum pxr_collapse collapse,
                               enum tr_effort effort, LLVMTargetMachineRef machine,
                               struct pxr_error *err)
{
    if (effort >= TR_EFFORT_SHORT) {
        tr_split_blocks(module);
        return tr_run_passes(module, QUICK_PASSES, machine, err);
    }
    static const char *const lists[PXR_COLLAPSE_COUNT] = {
        [PXR_COLLAPSE_PRECISE] = INLINE_PASSES SCALAR_PASSES,
        [PXR_COLLAPSE_FLAT] = INLINE_PASSES LOOP_PASSES,
        [PXR_COLLAPSE_HIERARCHICAL] = INLINE_PASSES LOOP_PASSES,
        [PXR_COLLAPSE_VECTOR] = INLINE_PASSES VECTOR_PASSES,
    };
    const char *passes = lists[collapse];
    if (collapse == PXR_COLLAPSE_VECTOR && count_instructions(module) > LONG_FUNCTION)
        passes = INLINE_PASSES LONG_PASSES;
    enum pxr_status status =
        tr_run_passes(module, passes ? passes : lists[PXR_COLLAPSE_PRECISE], machine, err);
    if (status == PXR_OK && collapse == PXR_COLLAPSE_VECTOR)
        return straighten(module, machine, err);
    bool has_loops = collapse == PXR_COLLAPSE_FLAT || collapse == PXR_COLLAPSE_HIERARCHICAL;
    if (status != PXR_OK || !has_loops)
        return status;
    tr_hide_narrow_steps(module);
    return tr_run_passes(module, LOOP_VECTORIZE_PASSES, machine, err);
}
