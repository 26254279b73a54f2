/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this process may use: the machine's, or less under a control group's limit or
 * one on the address space; and how much of it is there now. A system promises more than it has,
 * and ends who believes it.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_MEMORY_LIMIT_H
#define PTXRUN_CUDART_CORE_BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that devices may have altogether: what the process may use, less what its own code, its
 * stacks and the compiler need. */
size_t crt_memory_limit(void);

/* What of so many bytes is not for devices. */
size_t crt_memory_headroom(size_t limit_bytes);

/* Bytes that may become resident now: what the machine and the control groups have left, less
 * a reserve. */
size_t crt_memory_available(void);

/* Whether the process itself, its heap and new mappings may grow by so many bytes now. Looks at the
 * system, which takes some tens of microseconds. */
bool crt_memory_can_grow(size_t bytes);

/* The smallest limit of the control groups that a process belongs to, of both versions; SIZE_MAX
 * when there is none. root: what comes before /proc and /sys. */
size_t crt_memory_limit_of_groups(const char *root);

/* For tests: what comes before /proc and /sys from now on; stays the caller's. */
void crt_memory_set_root(const char *root);

/* Whether a memory file may be of that size. A limit on the size of files (ulimit -f) counts for
 * them too, and going beyond it is a signal that ends the program. */
bool crt_memory_file_may_have(size_t bytes);

#endif
