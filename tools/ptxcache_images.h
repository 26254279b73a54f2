/* SPDX-License-Identifier: Apache-2.0
 *
 * Images with kernels to compile: out of files, and those that recordings name. What is loaded
 * stays loaded until the process ends.
 */
#ifndef PTXRUN_TOOLS_PTXCACHE_IMAGES_H
#define PTXRUN_TOOLS_PTXCACHE_IMAGES_H

#include "cudart/core/code/recording.h"
#include "tools/ptxcache_jobs.h"

/* Adds jobs for all kernels of a file, or of all files of a directory. PTXCACHE_FAILED, with a
 * message: it cannot be read, or holds no PTX; of files in directories only what is damaged counts.
 */
enum ptxcache_exit ptxcache_add_path(const char *path, struct ptxcache_jobs *jobs);

/* Adds a job for each of the recording's launches, which must outlive them. */
enum ptxcache_exit ptxcache_add_recording(const struct ptxcache *tool,
                                          const struct crt_recording *recording,
                                          struct ptxcache_jobs *jobs);

/* ---- ptxcache_warm.c ---- */

/* Whether there is a compiler for the CPU that is wanted; a message if not. */
bool ptxcache_can_compile(void);

/* Compiles what a recording and the operands ask for. */
enum ptxcache_exit ptxcache_warm_recording(const struct ptxcache *tool,
                                           const struct crt_recording *recording);

#endif
