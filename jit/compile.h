/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside libptxrun-compile.so: one compilation, from a PTX kernel to an object in memory. Not seen
 * by libptxrun.so.
 */
#ifndef PTXRUN_JIT_COMPILE_H
#define PTXRUN_JIT_COMPILE_H

#include <llvm-c/Types.h>

#include "jit/dump.h"
#include "jit/frames.h"
#include "jit/jit.h"
#include "jit/llvm_target.h"

/* One compilation and everything that dies with it. Owned by one thread. */
struct jit_unit {
    LLVMContextRef context;
    LLVMModuleRef module;
    struct jit_target *target; /* from the pool */
    struct jit_frames frames;
    struct jit_dump dump;
    struct pxr_error diagnostic; /* first error LLVM reported; status PXR_OK if none */
};

/* The target of this machine and an empty context whose diagnostics go to unit->diagnostic. */
enum pxr_status jit_unit_init(struct jit_unit *unit, struct pxr_error *err);
void jit_unit_fini(struct jit_unit *unit);

/* Optimises unit->module and emits it: the half of the work that knows nothing of PTX. Fills the
 * bytes, frame_bytes, optimise_ns and codegen_ns of *object. Errors: PXR_COMPILE_FAILED,
 * PXR_OUT_OF_MEMORY. */
enum pxr_status jit_unit_emit(struct jit_unit *unit, struct jit_object *object,
                              struct pxr_error *err);

/* The whole work on the calling thread. LLVM's fatal errors are not caught here. */
enum pxr_status jit_compile_request(const struct jit_request *request, struct jit_object *object,
                                    struct pxr_error *err);

typedef enum pxr_status (*jit_work_fn)(void *argument, struct pxr_error *err);

/* Runs work on a thread with a large stack, the default floating-point state and all signals
 * blocked; an LLVM fatal error inside it becomes PXR_COMPILE_FAILED (what LLVM had allocated is
 * lost). */
enum pxr_status jit_run_work(jit_work_fn work, void *argument, struct pxr_error *err);

#endif
