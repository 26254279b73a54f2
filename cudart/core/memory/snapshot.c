/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of allocations. Most of them are as they were when they are compared.
 */
#include "cudart/core/memory/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/memory/device_arena.h"

#define PIECE_BYTES ((size_t)4096)

struct part {
    uint8_t *memory;
    uint8_t *copy;
    size_t size_bytes;
};

struct crt_snapshot {
    uint64_t generation; /* of the arena */
    struct part *parts;
    size_t count;
};

/* Everything but mappings of which the program allows less than all. */
static bool is_writable(const struct crt_allocation *allocation)
{
    return allocation->access == CRT_ACCESS_ALL;
}

static bool copy_part(struct crt_snapshot *snapshot, const struct crt_allocation *allocation)
{
    struct part *parts = realloc(snapshot->parts, (snapshot->count + 1) * sizeof *parts);
    if (!parts)
        return false;
    snapshot->parts = parts;
    struct part part = {.memory = (uint8_t *)allocation->base,
                        .copy = malloc(allocation->size_bytes),
                        .size_bytes = allocation->size_bytes};
    if (!part.copy)
        return false;
    memcpy(part.copy, part.memory, part.size_bytes);
    parts[snapshot->count++] = part;
    return true;
}

struct crt_snapshot *crt_snapshot_take(size_t max_bytes)
{
    struct crt_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->generation = crt_arena_generation();
    struct crt_allocation allocation = {0};
    while (crt_arena_next(allocation.base, &allocation)) {
        if (!is_writable(&allocation))
            continue;
        if (allocation.size_bytes > max_bytes || !copy_part(snapshot, &allocation)) {
            crt_snapshot_free(snapshot);
            return NULL;
        }
        max_bytes -= allocation.size_bytes;
    }
    return snapshot;
}

void crt_snapshot_free(struct crt_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->parts[i].copy);
    free(snapshot->parts);
    free(snapshot);
}

bool crt_snapshot_is_valid(const struct crt_snapshot *snapshot)
{
    return snapshot->generation == crt_arena_generation();
}

/* The size of the piece at this place, at most PIECE_BYTES, if it has changed; else 0. */
static size_t changed_piece(const struct part *part, size_t at)
{
    size_t left = part->size_bytes - at;
    size_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;
    return memcmp(part->memory + at, part->copy + at, piece) == 0 ? 0 : piece;
}

void crt_snapshot_restore(const struct crt_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct part *part = &snapshot->parts[i];
        for (size_t at = 0; at < part->size_bytes; at += PIECE_BYTES)
            memcpy(part->memory + at, part->copy + at, changed_piece(part, at));
    }
}

static void compare_piece(const struct part *part, size_t at, size_t piece, crt_difference_fn tell,
                          void *arg)
{
    for (size_t end = at + piece; at < end; at += CRT_SNAPSHOT_WORD_BYTES) {
        uint32_t was = 0;
        uint32_t is = 0;
        size_t word = end - at < sizeof is ? end - at : sizeof is;
        memcpy(&was, part->copy + at, word);
        memcpy(&is, part->memory + at, word);
        if (was != is)
            tell(arg, (uint64_t)(uintptr_t)(part->memory + at), was, is);
    }
}

void crt_snapshot_compare(const struct crt_snapshot *snapshot, crt_difference_fn tell, void *arg)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct part *part = &snapshot->parts[i];
        for (size_t at = 0; at < part->size_bytes; at += PIECE_BYTES)
            compare_piece(part, at, changed_piece(part, at), tell, arg);
    }
}
