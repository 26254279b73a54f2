/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs kernels given as PTX text on one of several engines behind one call, so that a comparison
 * is "same text, same buffers, two runners, memcmp":
 *   driver     any libcuda.so.1, ours or a GPU's, through the CUDA driver API
 *   inprocess  the translator, compiler and scheduler of this build, with hooks for seeded faults
 *   oracle     the interpreter of tests/oracle
 *
 * A runner belongs to one thread. No dependence on NVIDIA's headers.
 */
#ifndef PTXRUN_TESTS_SUPPORT_RUNNER_H
#define PTXRUN_TESTS_SUPPORT_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include "translator/pipeline.h"
#include "util/error.h"
#include "util/options.h"

struct ptx_inst;
struct LLVMOpaqueModule;
struct runner;

/* Memory that a kernel reads and writes; the caller's, aligned as the kernel needs (runner_alloc).
 * After a run it holds what the kernel left there. */
struct runner_buffer {
    void *bytes;
    size_t size_bytes;
};

/* The kernel's parameters, in order: .u64 addresses of buffers, or values. */
struct runner_launch {
    const char *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    const struct runner_buffer *buffers;
    size_t buffer_count;
    uint64_t
        values; /* bit i: parameter i is the bytes of buffers[i] themselves, not their address */
};

/* Zeroed and aligned to 256 bytes; freed with free(). NULL when out of memory. */
void *runner_alloc(size_t size_bytes);

/* path: NULL or "" lets the loader look for libcuda.so.1. PXR_NO_COMPILER never; PXR_NOT_FOUND when
 * there is no such library or no device. */
enum pxr_status runner_open_driver(const char *path, struct runner **runner, struct pxr_error *err);

/* Changes to the translation, for seeded faults; each may be NULL. */
struct runner_hooks {
    void *data;
    /* *inst is a copy the emitter will get instead of the instruction written. */
    void (*rewrite)(void *data, struct ptx_inst *inst);
    /* The kernel's module after the translation, helpers inlined, before threads are collapsed. */
    void (*mutate)(void *data, struct LLVMOpaqueModule *module);
    /* A defect of the region former. */
    enum tr_seed seed;
    uint32_t seed_site;
};

/* How a runner in this process makes code of kernels. */
struct runner_build {
    enum pxr_collapse collapse; /* what is asked for; a kernel may get another */
    uint32_t width;             /* of vectors of threads, and how many side by side; 0: chosen */
    uint32_t jam;
    bool has_facts;   /* the launch's configuration is a fact, as in --mode=jit; or only whether
                         blocks are one row, as in --mode=normal */
    unsigned workers; /* of the process's pool, which gets as many as the first runner
                         asks for (0: one per CPU) */
    enum tr_effort effort;   /* as if a limit had been passed before anything was done, … */
    uint32_t budget_divisor; /* … and limits so many times lower; 0: they are as they are */
    bool hands_over; /* quick code begins, and this code takes over in the middle of the grid */
    struct runner_hooks hooks;
};

/* build is copied; if the variable PTXRUN_TEST_EFFORT is set to `loops`, `quick`, `thread`,
 * `short` or `linear` it goes before build->effort; NULL: all zero but for the collapse, which is
 * precise. */
enum pxr_status runner_open_inprocess(const struct runner_build *build, struct runner **runner,
                                      struct pxr_error *err);

/* Of a runner in this process: the hooks for what is compiled from now on. What is loaded is
 * dropped. */
void runner_set_hooks(struct runner *runner, const struct runner_hooks *hooks);

/* What the kernel launched last has become; of a runner in this process, until it loads another
 * text. */
struct runner_made {
    enum pxr_collapse collapse; /* never AUTO */
    uint32_t width;             /* of vectors of threads, and how many side by side; 0: scalar */
    uint32_t jam;
    uint32_t seed_sites;  /* places for the kind of defect in the hooks */
    uint32_t frame_bytes; /* of stack, for each thread; 0: not known */
    char *explanation;    /* of the choice; may be NULL */
};
struct runner_made runner_last_made(const struct runner *runner);

/* Changes the order in which threads and blocks run; 0: none. Of a runner in this process. */
void runner_set_chaos(unsigned seed);

/* seed: of the schedule, see struct oracle_launch; 0 is round robin. */
enum pxr_status runner_open_oracle(uint64_t seed, struct runner **runner, struct pxr_error *err);

/* NULL is allowed. */
void runner_close(struct runner *runner);

/* Makes the text the runner's module; what was loaded before is gone. Loading the text that is
 * loaded already does nothing. */
enum pxr_status runner_load(struct runner *runner, const char *ptx_text, struct pxr_error *err);

/* Runs a kernel of the loaded module to its end. A fault of the kernel is PXR_FAULT_…; the runner
 * stays usable. */
enum pxr_status runner_launch(struct runner *runner, const struct runner_launch *launch,
                              struct pxr_error *err);

/* runner_load and runner_launch. */
enum pxr_status runner_run(struct runner *runner, const char *ptx_text,
                           const struct runner_launch *launch, struct pxr_error *err);

#endif
