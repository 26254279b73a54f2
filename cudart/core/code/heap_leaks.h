/* SPDX-License-Identifier: Apache-2.0
 *
 * --leak-check with --check: blocks of the kernels' heap that no kernel has freed, by the kernels
 * that have allocated them. Told when the process ends, also of contexts that are gone by then.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_HEAP_LEAKS_H
#define PTXRUN_CUDART_CORE_CODE_HEAP_LEAKS_H

#include <stddef.h>

struct crt_heap_user; /* a kernel that allocates; lives as long as the process */

/* One for each name. NULL: nobody asks for leaks, or there is no memory. Thread-safe. */
struct crt_heap_user *crt_heap_user(const char *kernel);

/* A block of this user's, which may be NULL, is taken, or freed by a kernel. Called with the heap's
 * lock held. */
void crt_heap_note_taken(struct crt_heap_user *user, size_t size_bytes);
void crt_heap_note_freed(struct crt_heap_user *user, size_t size_bytes);

#endif
