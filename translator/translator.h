/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 1: a PTX kernel and all it reaches become a scalar LLVM module, the program of ONE thread.
 * Used inside libptxrun-compile.so only.
 *
 * The module made:
 *   void @ptxrun_kernel(ptr %ctx)                       the kernel
 *   void @ptx.<function>(ptr %ctx, ptr rets..., ptr params...) internal; each pointer is the
 *                                                       memory of one .param variable
 *   i32 @ptxrun_step(ptr, i32)                          empty; the collapse fills or drops it
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
#include "translator/module/budget.h"
#include "translator/module/launch_facts.h"
#include "translator/module/module.h"
#include "translator/module/passes.h"
#include "util/error.h"
#include "util/options.h"

struct tr_options {
    bool check_alignment; /* misaligned accesses call rt_fault(PXR_FAULT_MISALIGNED) */
    const char *triple;
    const char *data_layout;
    /* Seeded faults of tests; may be NULL. The emitter gets *inst, a copy that lives as long as the
     * translation, instead of the instruction written. */
    void (*rewrite)(void *rewrite_data, struct ptx_inst *inst);
    void *rewrite_data;
    struct tr_budget *budget; /* NULL: one of its own, of which nobody hears */
};

/* Errors: PXR_UNSUPPORTED, PXR_NOT_FOUND (unresolved extern function or variable),
 * PXR_COMPILE_FAILED (the IR verifier found a defect of ours), PXR_OUT_OF_MEMORY.
 * On success the caller owns *module, made in context. */
enum pxr_status tr_translate_kernel(const struct ptx_module *ptx, const struct ptx_func *kernel,
                                    const struct ptx_kernel_layout *layout,
                                    const struct tr_options *options, LLVMContextRef context,
                                    LLVMModuleRef *module, struct pxr_error *err);

/* Collapse `precise`: binds the placeholders that read the thread's own state to their
 * definitions (translator/rt/precise.c), leaving the meeting points as external calls. */
enum pxr_status tr_collapse_precise(LLVMModuleRef module, enum tr_effort effort,
                                    struct pxr_error *err);

/* Defects for tests to seed into the region former, one at a time. */
enum tr_seed {
    TR_SEED_NONE,
    TR_SEED_LOST_VALUE,   /* a value that lives across a stop is not saved */
    TR_SEED_EXITED_MASK,  /* an exit does not mark the thread as exited, or its mark is not looked
                             at, or loops take back what exited in steps */
    TR_SEED_MISSING_STOP, /* threads do not wait at a stop */
    TR_SEED_COUNT
};

struct tr_collapse_options {
    enum pxr_collapse collapse; /* AUTO: what is best for the kernel */
    const struct tr_facts *facts;
    bool is_vector;             /* loops over threads may become loops over vectors of threads … */
    bool is_forced;             /* … also those that are likely to be slower so */
    uint32_t width;             /* of vectors, in threads; 0: chosen */
    uint32_t jam;               /* vectors side by side; 0: chosen */
    uint32_t vector_bits;       /* of the machine's vector registers: 128, 256 or 512 */
    uint64_t cache_bytes;       /* of the last cache, for what launches only write and the caches
                                   had better not keep; 0: nothing is */
    uint64_t cache_share_bytes; /* what of it nobody else is likely to use */
    bool keeps_loops; /* for tests: loops around stops are not unrolled, so that regions have some
                         to get right */
    struct tr_budget *budget; /* never NULL */
    enum tr_seed seed;        /* which kind of defect … */
    uint32_t seed_site;       /* … and at which of the places where it could be */
};

/* What has become of a kernel. */
struct tr_collapsed {
    enum pxr_collapse collapse; /* PRECISE, FLAT or HIERARCHICAL; VECTOR: one of the latter two,
                                   with at least one loop over vectors of threads */
    uint32_t width;             /* threads in the widest of these vectors; 0: there are none */
    uint32_t jam;               /* and so many of them side by side; 0 likewise */
    uint64_t frame_fixed_bytes; /* rt_block.frame needs fixed + per warp + per thread, threads */
    uint64_t frame_warp_bytes;  /* rounded up to whole warps */
    uint64_t frame_thread_bytes;
    bool may_wait;       /* a block may wait for another: it polls */
    uint32_t seed_sites; /* places for the kind of defect asked for */
    char *explanation;   /* malloc; lines of text for --explain: what was chosen, and why */
};

/* Step 2. FLAT, HIERARCHICAL or VECTOR are asked for, not forced: where they would be wrong the
 * kernel gets another collapse, and result->explanation says why. The caller frees
 * result->explanation. Errors: PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY. */
enum pxr_status tr_collapse(LLVMModuleRef module, const struct tr_collapse_options *options,
                            struct tr_collapsed *result, struct pxr_error *err);

/* Behind the passes for vectors: blocks in one go (vector/tuning/straight.c). What it makes wants
 * to be cleaned up. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_straighten_blocks(LLVMModuleRef module, bool *has_changed,
                                     struct pxr_error *err);

#endif
