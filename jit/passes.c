/* SPDX-License-Identifier: Apache-2.0
 *
 * A short fixed list instead of LLVM's default<O2>: nearly the same code in a third of the time.
 * No vectoriser, unroller, loop-idiom or switch-to-table pass: the translation of one thread keeps
 * the shape that the collapse of threads relies on.
 */
#include "jit/passes.h"

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

enum pxr_status jit_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine,
                               struct pxr_error *err)
{
    return tr_run_passes(module, INLINE_PASSES SCALAR_PASSES, machine, err);
}
