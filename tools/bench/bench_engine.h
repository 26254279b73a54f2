/* SPDX-License-Identifier: Apache-2.0
 *
 * For bench_collapse and ptxbench: compiles kernels and launches them.
 */
#ifndef PTXRUN_TOOLS_BENCH_BENCH_ENGINE_H
#define PTXRUN_TOOLS_BENCH_BENCH_ENGINE_H

#include "jit/jit.h"
#include "scheduler/scheduler.h"

/* A kernel compiled in one way. */
struct bench_code {
    struct ptx_kernel_layout layout;
    bool has_layout;
    const char *name; /* the kernel's */
    struct jit_code *loaded;
    enum pxr_collapse collapse; /* what came of the one asked for */
    uint32_t width;             /* lanes of a vector, 0 in scalar code */
    uint32_t jam;               /* vectors side by side, 0 in scalar code */
    uint32_t stack_bytes;
    double wall_ms; /* of all of the compilation; the others are CPU time */
    double translate_ms;
    double optimise_ms;
    double codegen_ms;
    size_t object_bytes;
    char *explanation;
};

struct bench_wish {
    enum pxr_collapse collapse;
    const struct tr_facts *facts; /* what is assumed of launches */
    const char *dump_dir;         /* NULL: no dumps */
    bool is_quick;                /* the quick tier's, whatever the environment says */
};

/* How a kernel is launched, once or many times. */
struct bench_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    const uint8_t *params; /* the parameter block */
};

/* workers: 0 means one per CPU. */
enum pxr_status bench_engine_open(unsigned workers, struct pxr_error *err);

/* Whether the compile library is there and has code for the CPU that is asked for (PTXRUN_CPU). May
 * come before bench_engine_open, and in another process. */
enum pxr_status bench_engine_check(struct pxr_error *err);

/* What code is made for, in words. The caller frees *text. After bench_engine_open. */
enum pxr_status bench_engine_describe(char **text, struct pxr_error *err);

/* A kernel that does nothing. The caller destroys both, also after an error. */
enum pxr_status bench_empty_open(struct ptx_module **module, struct bench_code *code,
                                 struct pxr_error *err);

/* Parses kernels/<file>.ptx. The caller destroys the module. */
enum pxr_status bench_module_open(const char *file, struct ptx_module **module,
                                  struct pxr_error *err);

/* Width and jam of vectors and the tier are the environment's (PTXRUN_WIDTH, PTXRUN_JAM,
 * PTXRUN_TIER). The module outlives the code. The caller calls bench_code_fini in any case. */
enum pxr_status bench_code_init(struct bench_code *code, const struct ptx_module *module,
                                const struct ptx_func *func, const struct bench_wish *wish,
                                struct pxr_error *err);
void bench_code_fini(struct bench_code *code);

/* Starts a launch once `after` (may be NULL) has finished. *fault, not touched if nothing goes
 * wrong, and the launch's params live until the launch has finished. Gives the caller a reference,
 * or NULL: out of memory. */
struct sch_op *bench_submit(const struct bench_code *code, const struct bench_launch *launch,
                            struct sch_op *after, struct sch_fault *fault);

/* What *fault, a fault of this code's, says. */
enum pxr_status bench_fault_text(const struct bench_code *code, const struct sch_fault *fault,
                                 struct pxr_error *err);

/* Launches and waits. */
enum pxr_status bench_run(const struct bench_code *code, const struct bench_launch *launch,
                          struct pxr_error *err);

#endif
