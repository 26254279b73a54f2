/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this process may use: the machine's, or less under a control group's limit or one
 * on the address space; and how much of it is available now. A system promises more than it has,
 * and ends processes that rely on it.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_MEMORY_LIMIT_H
#define PTXRUN_CUDART_CORE_BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes for all devices together: as many as the process may use, less those that its own code, its
 * stacks and the compiler need. */
size_t crt_memory_limit(void);

/* The part of so many bytes that is not for devices. */
size_t crt_memory_headroom(size_t limit_bytes);

/* Bytes that may become resident now: what the machine and the control groups have left, less
 * a reserve. */
size_t crt_memory_available(void);

/* Whether the process itself, its heap and new mappings may grow by so many bytes now. Looks at the
 * system, which takes some tens of microseconds. */
bool crt_memory_can_grow(size_t bytes);

/* The smallest limit of the control groups that a process belongs to, of both versions; SIZE_MAX
 * when there is none. root: a prefix for /proc and /sys. */
size_t crt_memory_limit_of_groups(const char *root);

/* For tests: the prefix for /proc and /sys from now on; stays the caller's. */
void crt_memory_set_root(const char *root);

/* Whether a memory file may be of that size. A limit on the size of files (ulimit -f) counts for
 * them too, and going beyond it is a signal that ends the program. */
bool crt_memory_file_may_have(size_t bytes);

#endif
