/* SPDX-License-Identifier: Apache-2.0
 *
 * Test harness of the translator: PTX text in, memory out. The kernel is translated, collapsed
 * `precise`, compiled for this machine and run for every thread of a launch, one thread after
 * another. The functions of kernel_abi/rt.h are doubles that write down how they were called.
 */
#ifndef PTXRUN_TESTS_TRANSLATOR_HARNESS_H
#define PTXRUN_TESTS_TRANSLATOR_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "kernel_abi/rt.h"
#include "ptx/ptx.h"
#include "util/error.h"

#define HARNESS_LOG_BYTES 4096

struct harness {
    struct ptx_module *ptx;
    const struct ptx_func *kernel;
    struct ptx_kernel_layout layout;
    LLVMContextRef context;
    struct LLVMOrcOpaqueLLJIT *jit;
    char *ir;     /* of step 1, text */
    void **slots; /* memory of the module's variables, by index */
    void (*entry)(struct rt_thread *);
    /* what the launch is like; to be changed before harness_run */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    uint64_t grid_workspace;
    int32_t poll_budget;
    uint32_t stack_bytes;
    /* what came of it */
    enum pxr_status fault; /* of rt_fault, PXR_OK if it was not called */
    uint64_t fault_address;
    char log[HARNESS_LOG_BYTES]; /* one line per call of a placeholder: "bar_sync 0 32" */
};

/* Translates kernel (NULL: the first entry). Fails as the parser or the translator does. The
 * options are all off but check_alignment. */
enum pxr_status harness_open(struct harness *harness, const char *ptx, const char *kernel,
                             bool check_alignment, struct pxr_error *err);
void harness_close(struct harness *harness);

/* Runs the grid; ends at the first fault. */
void harness_run(struct harness *harness, const void *params);

/* Memory of a module-scope variable, NULL if there is none of that name. */
void *harness_var(struct harness *harness, const char *name);

/* Runs instructions in a kernel of one thread, with registers
 *   %in, %out (addresses), %p<16> pred, %h<16> b16, %r<32> b32, %rd<32> b64, %f<32> f32,
 *   %fd<32> f64
 * and checks that this works. Reads in with ld.u32 %r1, [%in] and so on. */
void harness_eval(const char *instructions, const void *in, void *out);

/* The failure to translate these instructions, PXR_OK if there is none. */
enum pxr_status harness_eval_status(const char *instructions, struct pxr_error *err);

#endif
