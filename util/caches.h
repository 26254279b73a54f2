/* SPDX-License-Identifier: Apache-2.0
 *
 * What the system's files say of CPUs and caches.
 */
#ifndef PTXRUN_UTIL_CACHES_H
#define PTXRUN_UTIL_CACHES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* The sizes of the last caches of all CPUs that this process may use, in bytes, together; 0: not
 * known. Reads some files for each cache. Thread-safe. */
uint64_t pxr_last_cache_bytes(void);

/* Reads a list such as "0-3,8" from a file. False: there is no such file, or no CPU in it.
 * Thread-safe. */
bool pxr_read_cpu_list(const char *path, cpu_set_t *cpus);

#endif
