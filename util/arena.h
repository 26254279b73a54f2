/* SPDX-License-Identifier: Apache-2.0
 *
 * Arena: many small allocations that die together. There is no per-object free.
 */
#ifndef PTXRUN_UTIL_ARENA_H
#define PTXRUN_UTIL_ARENA_H

#include <stddef.h>

struct pxr_arena_chunk;

/* Zero-initialise or call pxr_arena_init. Not thread-safe: one owner at a time. */
struct pxr_arena {
    struct pxr_arena_chunk *head; /* newest chunk, the only one with room left */
    size_t used_bytes;            /* within head */
    size_t total_bytes;           /* taken from malloc by all chunks */
    size_t limit_bytes;           /* 0: none; otherwise allocation beyond it fails */
};

void pxr_arena_init(struct pxr_arena *arena, size_t limit_bytes);
void pxr_arena_fini(struct pxr_arena *arena);

/* Zeroed memory aligned for any scalar type, valid until pxr_arena_fini.
 * NULL when memory or the arena's limit is exhausted. A size of 0 gives a valid pointer. */
void *pxr_arena_alloc(struct pxr_arena *arena, size_t size_bytes);

/* count objects of size_bytes each; NULL also when the product overflows. */
void *pxr_arena_alloc_array(struct pxr_arena *arena, size_t count, size_t size_bytes);

/* A NUL-terminated copy of len bytes. */
char *pxr_arena_strndup(struct pxr_arena *arena, const char *text, size_t len);

#endif
