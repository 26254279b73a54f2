/* SPDX-License-Identifier: Apache-2.0
 *
 * How far memory that came without a length can be read. For images that programs hand over: their
 * headers may be damaged, and nothing else says where they end.
 */
#ifndef PTXRUN_PTX_READABLE_H
#define PTXRUN_PTX_READABLE_H

#include <stddef.h>

/* What is mapped, as it was when it was first asked. Starts as {0}. One thread at a time. */
struct ptx_mappings {
    char *text; /* /proc/self/maps; owned */
};

/* Bytes from `at` to the end of the readable mappings that follow each other without a gap; 0 if
 * `at` is not mapped, SIZE_MAX if the system does not tell. It does not notice memory that other
 * threads unmap meanwhile. */
size_t ptx_readable_bytes(struct ptx_mappings *mappings, const void *at);
void ptx_mappings_forget(struct ptx_mappings *mappings);

#endif
