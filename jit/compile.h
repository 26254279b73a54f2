/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside libptxrun-compile.so: one compilation, from a PTX kernel to an object in memory. Not seen
 * by libptxrun.so.
 */
#ifndef PTXRUN_JIT_COMPILE_H
#define PTXRUN_JIT_COMPILE_H

#include <llvm-c/Types.h>

#include "jit/frames.h"
#include "jit/jit.h"
#include "jit/llvm_target.h"
#include "jit/observe.h"
#include "translator/pipeline.h"

/* One compilation and everything that dies with it. Owned by one thread. */
struct jit_unit {
    LLVMContextRef context;
    LLVMModuleRef module;
    const struct ptx_func *kernel;   /* the module's kernel; NULL: the module is something else,
                                        without facts */
    const struct ptx_module *places; /* as in struct tr_compilation */
    struct jit_target *target;       /* from the pool */
    struct tr_budget budget;         /* the rest of the compilation's budget */
    struct jit_frames frames;
    struct jit_watch watch;
    struct pxr_error diagnostic; /* first error LLVM reported; status PXR_OK if none */
};

/* For tests: a defect to seed into the region former (collapse/collapse_options.h, enum tr_seed).
 */
struct jit_seed {
    enum tr_seed kind;
    uint32_t site;    /* in: which one … */
    uint32_t sites;   /* out: … of how many */
    bool keeps_loops; /* as in struct tr_collapse_options */
};

/* The target of this machine and an empty context whose diagnostics go to unit->diagnostic. */
enum pxr_status jit_unit_init(struct jit_unit *unit, struct pxr_error *err);
void jit_unit_fini(struct jit_unit *unit);

/* Whether the kernel may run in a mode in which this CPU flushes subnormals: struct tr_options. */
bool jit_unit_flushes(const struct jit_unit *unit, const struct ptx_func *kernel,
                      const struct ptx_kernel_layout *layout);

/* Makes the program of one thread in unit->module, and sets unit->kernel to its kernel. Errors:
 * those of tr_make_thread. */
enum pxr_status jit_unit_translate(struct jit_unit *unit, const struct tr_source *source,
                                   struct pxr_error *err);

/* Collapses the threads of unit->module, the code of one thread, as wanted, for launches for which
 * wanted->facts are true. Fills collapse, width, jam, frame_…_bytes, may_wait, flushes and
 * explanation of *object. seed: NULL, or a test's. Errors: PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY.
 */
enum pxr_status jit_unit_collapse(struct jit_unit *unit, const struct jit_variant *wanted,
                                  struct jit_seed *seed, struct jit_object *object,
                                  struct pxr_error *err);

/* Optimises unit->module, which object->collapse is true for, and emits it: the half of the work
 * that knows nothing of PTX. Fills the bytes, frame_bytes, optimise_ns and codegen_ns of *object.
 * Errors: PXR_COMPILE_FAILED, PXR_OUT_OF_MEMORY. */
enum pxr_status jit_unit_emit(struct jit_unit *unit, struct jit_object *object,
                              struct pxr_error *err);

/* The whole work on the calling thread. LLVM's fatal errors are not caught here. */
enum pxr_status jit_compile_request(const struct jit_request *request, struct jit_object *object,
                                    struct pxr_error *err);

/* The translation alone, of which nothing is kept. */
enum pxr_status jit_check_request(const struct jit_request *request, struct pxr_error *err);

typedef enum pxr_status (*jit_work_fn)(void *argument, struct pxr_error *err);

/* Runs work on a thread with a large stack, the default floating-point state and all signals
 * blocked; an LLVM fatal error inside it becomes PXR_COMPILE_FAILED (LLVM's memory is lost). guard:
 * for jit_catch_fatal, with which the signals of faults are open; may be NULL. */
enum pxr_status jit_run_work(jit_work_fn work, void *argument, jit_guard_fn guard,
                             struct pxr_error *err);

/* A fatal error in a part of that, on the calling thread, which jit_run_work has made; and a fault,
 * if there is a guard. Not inside of itself. */
enum pxr_status jit_catch_fatal(jit_work_fn work, void *argument, struct pxr_error *err);

#endif
