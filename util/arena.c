/* SPDX-License-Identifier: Apache-2.0
 *
 * Arena of chunks from calloc, each twice as large as the one before (up to a cap), so that a
 * module of any size costs few system calls.
 */
#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK_BYTES ((size_t)16 * 1024)
#define MAX_CHUNK_BYTES   ((size_t)4 * 1024 * 1024)

struct pxr_arena_chunk {
    struct pxr_arena_chunk *next;
    size_t size_bytes; /* of data */
    max_align_t data[];
};

void pxr_arena_init(struct pxr_arena *arena, size_t limit_bytes)
{
    *arena = (struct pxr_arena){.limit_bytes = limit_bytes};
}

void pxr_arena_fini(struct pxr_arena *arena)
{
    struct pxr_arena_chunk *chunk = arena->head;
    while (chunk) {
        struct pxr_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct pxr_arena){0};
}

static size_t next_chunk_bytes(const struct pxr_arena *arena, size_t need_bytes)
{
    size_t size = arena->head ? 2 * arena->head->size_bytes : FIRST_CHUNK_BYTES;
    if (size > MAX_CHUNK_BYTES)
        size = MAX_CHUNK_BYTES;
    return size < need_bytes ? need_bytes : size;
}

static bool add_chunk(struct pxr_arena *arena, size_t need_bytes)
{
    size_t size = next_chunk_bytes(arena, need_bytes);
    if (size > SIZE_MAX - sizeof(struct pxr_arena_chunk))
        return false;
    if (arena->limit_bytes && size > arena->limit_bytes - arena->total_bytes) {
        size = need_bytes;
        if (size > arena->limit_bytes - arena->total_bytes)
            return false;
    }
    struct pxr_arena_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk)
        return false;
    chunk->size_bytes = size;
    chunk->next = arena->head;
    arena->head = chunk;
    arena->used_bytes = 0;
    arena->total_bytes += size;
    return true;
}

void *pxr_arena_alloc(struct pxr_arena *arena, size_t size_bytes)
{
    const size_t align = _Alignof(max_align_t);
    if (size_bytes > SIZE_MAX - align)
        return NULL;
    size_t need = size_bytes ? (size_bytes + align - 1) / align * align : align;
    if (!arena->head || arena->head->size_bytes - arena->used_bytes < need) {
        if (!add_chunk(arena, need))
            return NULL;
    }
    void *result = (char *)arena->head->data + arena->used_bytes;
    arena->used_bytes += need;
    return result;
}

void *pxr_arena_alloc_array(struct pxr_arena *arena, size_t count, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, size_bytes, &total))
        return NULL;
    return pxr_arena_alloc(arena, total);
}

char *pxr_arena_strndup(struct pxr_arena *arena, const char *text, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *copy = pxr_arena_alloc(arena, len + 1);
    if (copy && len)
        memcpy(copy, text, len);
    return copy;
}
