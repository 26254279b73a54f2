/* SPDX-License-Identifier: Apache-2.0
 *
 * For bench_collapse: compiles a case's kernel in one variant and launches it.
 */
#ifndef PTXRUN_TESTS_BENCH_BENCH_ENGINE_H
#define PTXRUN_TESTS_BENCH_BENCH_ENGINE_H

#include "jit/jit.h"
#include "tests/bench/bench_case.h"

/* A kernel compiled in one way. */
struct bench_code {
    struct ptx_module *module;
    struct ptx_kernel_layout layout;
    struct jit_code *loaded;
    enum pxr_collapse collapse; /* what came of the one asked for */
    uint32_t stack_bytes;
    uint8_t *params;
    double wall_ms; /* of all of the compilation; the others are CPU time */
    double translate_ms;
    double optimise_ms;
    double codegen_ms;
    size_t object_bytes;
    char *explanation;
};

struct bench_wish {
    enum pxr_collapse collapse;
    bool is_jit;          /* with all facts about the launch */
    const char *dump_dir; /* NULL: no dumps */
};

/* workers: 0 means one per CPU. */
enum pxr_status bench_engine_open(unsigned workers, struct pxr_error *err);

/* args: the kernel's arguments for all launches. The caller calls bench_code_fini in any case. */
enum pxr_status bench_code_init(struct bench_code *code, const struct bench_case *kernel,
                                const struct bench_args *args, const struct bench_wish *wish,
                                struct pxr_error *err);
void bench_code_fini(struct bench_code *code);

enum pxr_status bench_launch(const struct bench_code *code, const struct bench_case *kernel,
                             struct pxr_error *err);

double bench_now_us(void);

#endif
