/* SPDX-License-Identifier: Apache-2.0
 *
 * Two short fixed lists instead of LLVM's default<O2>: nearly the same code in a third of the time.
 * Both run after the threads have been collapsed. The code of one thread is not worth a vectoriser
 * or unroller; loops over threads live by the loop vectoriser. Neither list has loop-idiom or
 * switch-to-table passes, and neither makes vectors of straight code (slp).
 */
#include "jit/passes.h"

#include <stdbool.h>

#include "translator/translator.h"

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
    "instcombine<no-verify-fixpoint>,loop(indvars),loop-mssa(licm),"                               \
    "loop-simplify,lcssa,loop-vectorize,instcombine<no-verify-fixpoint>,"                          \
    "simplifycfg,early-cse<memssa>,dse,adce,simplifycfg),"                                         \
    "globaldce"

enum pxr_status jit_run_passes(LLVMModuleRef module, enum pxr_collapse collapse,
                               LLVMTargetMachineRef machine, struct pxr_error *err)
{
    bool has_loops = collapse == PXR_COLLAPSE_FLAT || collapse == PXR_COLLAPSE_HIERARCHICAL;
    const char *passes = has_loops ? INLINE_PASSES LOOP_PASSES : INLINE_PASSES SCALAR_PASSES;
    return tr_run_passes(module, passes, machine, err);
}
