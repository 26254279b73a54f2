/* SPDX-License-Identifier: Apache-2.0
 *
 * From PTX to a module: the functions behind the first steps of translator/pipeline.def.
 *
 * The module made:
 *   void @ptxrun_kernel(ptr %ctx)                       the kernel
 *   void @ptx.<function>(ptr %ctx, ptr rets..., ptr params...) internal; each pointer is the
 *                                                       memory of one .param variable
 *   i32 @ptxrun_step(ptr, i32)                          empty; the collapse fills or drops it
 *   @ptx.handles                                        offsets of the functions whose address
 *                                                       is taken, if the kernel calls indirectly
 * %ctx is a struct rt_thread (kernel_abi/rt.h). What depends on other threads, and every special
 * register, is a call to a placeholder declared in kernel_abi/rt.h or translator/rt/sreg.h.
 * Helpers from translator/rt (bitcode) are linked in and internal. No absolute addresses.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_EMISSION_H
#define PTXRUN_TRANSLATOR_EMIT_EMISSION_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/module_steps.h"
#include "util/error.h"

struct tr_options {
    bool check_alignment; /* misaligned accesses call rt_fault(PXR_FAULT_MISALIGNED) */
    bool checks_memory;   /* accesses are preceded by rt_check */
    bool checks_races;    /* what threads do to memory that they share is told by rt_race_… */
    bool checks_meetings; /* barriers, operations of warps and ends of threads are told by rt_meet_…
                           */
    bool checks_written;  /* reads and writes are preceded by rt_written and rt_mark */
    bool checks_numbers;  /* numbers that went wrong are told by rt_number */
    bool has_fused;       /* the CPU multiplies and adds with one rounding */
    bool is_quick;        /* for the quick tier: short code counts, not what can be made of it */
    bool dots_bf16; /* products of matrices of bf16 are sums of the CPU's dot products, which take
                       subnormals for zero */
    bool flushes;   /* the CPU flushes subnormals by itself while the kernel runs, which is one
                       that allows it (ptx/flush.h) */
    bool begins_inside;   /* struct tr_facts has it */
    uint32_t vector_bits; /* of the CPU's registers; 0: any CPU's */
    const char *triple;
    const char *data_layout;
    /* Where debuggers find the PTX: the file's name, and the folder if that is not for them to
     * search. NULL: what the module is called; nowhere. */
    const char *source_file;
    const char *source_dir;
    /* Seeds faults for tests; may be NULL. The emitter gets *inst, a copy that lives as long as the
     * translation, instead of the original instruction. */
    void (*rewrite)(void *rewrite_data, struct ptx_inst *inst);
    void *rewrite_data;
    struct tr_budget *budget; /* NULL: one of its own, which nobody reads */
};

/* The source of a translation. Everything outlives the emission. */
struct tr_source {
    const struct ptx_module *ptx;
    const struct ptx_func *kernel;
    const struct ptx_kernel_layout *layout;
    const struct tr_options *options; /* its budget is not NULL */
    LLVMContextRef context;
};

/* What dots_bf16 makes: a function of the module then. */
#define TR_BF16_DOTS "llvm.x86.avx512bf16.dpbf16ps.512"

struct tr_ctx;

/* The kernel and every function it reaches, registers in memory, helpers as calls. The caller ends
 * the emission, and owns *module, also after a failure (both may be NULL then). Errors:
 * PXR_UNSUPPORTED, PXR_NOT_FOUND (unresolved extern function or variable), PXR_COMPILE_FAILED (the
 * IR verifier found a defect of ours), PXR_OUT_OF_MEMORY. */
enum pxr_status tr_emit_module(const struct tr_source *source, struct tr_ctx **emission,
                               LLVMModuleRef *module, struct pxr_error *err);
void tr_end_emission(struct tr_ctx *emission);

/* Asks the budget whether passes may run on the module, with helpers linked. */
void tr_measure_module(struct tr_ctx *emission);

/* Without passes registers stay in memory: clears it first. */
void tr_clear_registers(struct tr_ctx *emission);

/* With passes: a register read before it is written is undefined for LLVM, which may then take a
 * different value at every use. It becomes 0. */
void tr_define_undefined(LLVMModuleRef module);

#endif
