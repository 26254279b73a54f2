/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=api: copies that have been submitted and not been made, and who has called for them.
 * Without that check there are none. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_PENDING_COPIES_H
#define PTXRUN_CUDART_CORE_MEMORY_PENDING_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crt_frames;
struct crt_pending_copy;

/* What the calling thread submits: the bytes from the first to the last on both sides. NULL: nobody
 * wants to know, or out of memory. */
struct crt_pending_copy *crt_pending_copy_begin(uintptr_t dst, size_t dst_bytes, uintptr_t src,
                                                size_t src_bytes);
/* It has been made; pending may be NULL. */
void crt_pending_copy_end(struct crt_pending_copy *pending);

/* Whether one uses any of these bytes; who has called for it. */
bool crt_pending_copy_find(uintptr_t base, size_t bytes, struct crt_frames *frames);

#endif
