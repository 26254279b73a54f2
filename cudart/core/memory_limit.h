/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this process may use: the machine's, or less under a control group's limit or
 * one on the address space.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_LIMIT_H
#define PTXRUN_CUDART_CORE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes. */
size_t crt_memory_limit(void);

/* The smallest limit of the control groups that a process belongs to, of both versions; SIZE_MAX
 * when there is none. root: what comes before /proc and /sys, "" but in tests. */
size_t crt_memory_limit_of_groups(const char *root);

/* Whether a memory file may be of that size. A limit on the size of files (ulimit -f) counts for
 * them too, and going beyond it is a signal that ends the program. */
bool crt_memory_file_may_have(size_t bytes);

#endif
