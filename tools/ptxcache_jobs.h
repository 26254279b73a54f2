/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels to compile, on several threads, with a bar or lines that say how far it has come.
 */
#ifndef PTXRUN_TOOLS_PTXCACHE_JOBS_H
#define PTXRUN_TOOLS_PTXCACHE_JOBS_H

#include "tools/ptxcache.h"

struct ptxcache_job {
    struct crt_kernel *kernel;
    struct jit_variant variant;
    const char *skip;  /* outlives the jobs */
    const char *image; /* likewise; for messages */
    uint64_t weight;
    size_t number; /* in which it was added */
    enum crt_warm_outcome outcome;
    struct pxr_error error;
};

/* Starts as all zero. */
struct ptxcache_jobs {
    struct ptxcache_job *jobs;
    size_t count;
    size_t room;
};

/* False, with a message: no memory. */
bool ptxcache_jobs_add(struct ptxcache_jobs *jobs, const struct ptxcache_job *job);
void ptxcache_jobs_fini(struct ptxcache_jobs *jobs);

/* Compiles all and says what came of it. PTXCACHE_FAILED when something failed. */
enum ptxcache_exit ptxcache_jobs_run(struct ptxcache_jobs *jobs, const struct ptxcache *tool);

#endif
