/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 1: a PTX kernel and all it reaches become a scalar LLVM module, the program of ONE thread.
 * Used inside libptxrun-compile.so only.
 *
 * The module made:
 *   void @ptxrun_kernel(ptr %ctx)                       the kernel
 *   void @ptx.<function>(ptr %ctx, ptr rets..., ptr params...) internal; each pointer is the
 *                                                       memory of one .param variable
 *   @ptx.handles                                        offsets of the functions whose address
 *                                                       is taken, if the kernel calls indirectly
 * %ctx is a struct rt_thread (scheduler/rt.h). What depends on other threads, and every special
 * register, is a call to a placeholder declared in scheduler/rt.h or translator/rt/sreg.h.
 * Helpers from translator/rt (bitcode) are linked in and internal. No absolute addresses.
 */
#ifndef PTXRUN_TRANSLATOR_TRANSLATOR_H
#define PTXRUN_TRANSLATOR_TRANSLATOR_H

#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "util/error.h"

struct tr_options {
    bool check_alignment; /* misaligned accesses call rt_fault(PXR_FAULT_MISALIGNED) */
    const char *triple;
    const char *data_layout;
    /* Seeded faults of tests; may be NULL. The emitter gets *inst, a copy that lives as long as the
     * translation, instead of the instruction written. */
    void (*rewrite)(void *rewrite_data, struct ptx_inst *inst);
    void *rewrite_data;
};

/* Errors: PXR_UNSUPPORTED, PXR_NOT_FOUND (unresolved extern function or variable),
 * PXR_COMPILE_FAILED (the IR verifier found a defect of ours), PXR_OUT_OF_MEMORY.
 * On success the caller owns *module, made in context. */
enum pxr_status tr_translate_kernel(const struct ptx_module *ptx, const struct ptx_func *kernel,
                                    const struct ptx_kernel_layout *layout,
                                    const struct tr_options *options, LLVMContextRef context,
                                    LLVMModuleRef *module, struct pxr_error *err);

/* The launch's block shape is a compile-time fact (`--mode=jit`): %ntid becomes constants. After
 * tr_translate_kernel, before collapsing. */
void tr_assume_block_shape(LLVMModuleRef module, const uint32_t block[3]);

/* Collapse `precise`: binds the placeholders that read the thread's own state to their
 * definitions (translator/rt/precise.c), leaving the meeting points as external calls. */
enum pxr_status tr_collapse_precise(LLVMModuleRef module, struct pxr_error *err);

/* Runs a pass list in LLVM's syntax; machine may be NULL for passes that need none. */
enum pxr_status tr_run_passes(LLVMModuleRef module, const char *passes,
                              LLVMTargetMachineRef machine, struct pxr_error *err);

#endif
