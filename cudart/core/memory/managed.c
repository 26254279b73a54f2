/* SPDX-License-Identifier: Apache-2.0
 *
 * States of ranges of managed memory: for each allocation that has any, a sorted list of pieces
 * that cover it.
 */
#include "cudart/core/memory/managed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "cudart/core/streams/stream.h"
#include "util/pages.h"

/* Reaches to the beginning of the next piece. */
struct piece {
    uintptr_t begin;
    struct crt_range_state state;
};

struct entry {
    uint64_t id; /* of the allocation */
    uintptr_t base;
    uintptr_t end;
    struct piece *pieces; /* the first one begins at base */
    size_t count;
    UT_hash_handle hh;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct entry *entries;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct range {
    uintptr_t begin;
    uintptr_t end;
    struct crt_allocation allocation;
    bool is_managed;
};

/* "The start address and end address of the memory range will be rounded down and rounded up
 * respectively to be aligned to CPU page size". */
static enum crt_result find_range(uintptr_t base, size_t size_bytes, bool with_pageable,
                                  struct range *range)
{
    uintptr_t end;
    if (size_bytes == 0 || __builtin_add_overflow(base, size_bytes, &end) ||
        end > UINTPTR_MAX - pxr_page_bytes())
        return CRT_INVALID_VALUE;
    range->begin = pxr_round_down_to_pages(base);
    range->end = pxr_round_to_pages(end);
    range->is_managed = crt_memory_find(base, &range->allocation);
    if (!range->is_managed)
        return with_pageable && crt_memory_is_mapped((void *)base, size_bytes) ? CRT_SUCCESS
                                                                               : CRT_INVALID_VALUE;
    bool fits = range->allocation.kind == CRT_MEMORY_MANAGED &&
                size_bytes <= range->allocation.size_bytes - (base - range->allocation.base);
    return fits ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

enum crt_result crt_managed_check(uintptr_t base, size_t size_bytes, bool with_pageable)
{
    struct range range;
    return find_range(base, size_bytes, with_pageable, &range);
}

enum crt_result crt_managed_check_stream(struct crt_stream *stream)
{
    return stream->captured.capture ? crt_capture_refuse(stream) : CRT_SUCCESS;
}

/* ---- with the lock held ---- */

static struct entry *find_entry(uint64_t id)
{
    struct entry *entry;
    HASH_FIND(hh, table.entries, &id, sizeof id, entry);
    return entry;
}

static struct entry *add_entry(const struct crt_allocation *allocation)
{
    struct entry *entry = calloc(1, sizeof *entry);
    struct piece *pieces = calloc(1, sizeof *pieces);
    if (!entry || !pieces) {
        free(entry);
        free(pieces);
        return NULL;
    }
    pieces[0].begin = allocation->base;
    *entry = (struct entry){.id = allocation->id,
                            .base = allocation->base,
                            .end = pxr_round_to_pages(allocation->base + allocation->size_bytes),
                            .pieces = pieces,
                            .count = 1};
    HASH_ADD(hh, table.entries, id, sizeof entry->id, entry);
    return entry;
}

static void end_entry(struct entry *entry)
{
    HASH_DEL(table.entries, entry);
    free(entry->pieces);
    free(entry);
}

static size_t piece_at(const struct entry *entry, uintptr_t address)
{
    size_t index = entry->count - 1;
    while (index > 0 && entry->pieces[index].begin > address)
        index--;
    return index;
}

/* Makes a piece begin at address; there is room for one more. */
static void split(struct entry *entry, uintptr_t address)
{
    size_t index = piece_at(entry, address);
    if (address >= entry->end || entry->pieces[index].begin == address)
        return;
    struct piece *piece = &entry->pieces[index];
    memmove(piece + 1, piece, (entry->count - index) * sizeof *piece);
    piece[1].begin = address;
    entry->count++;
}

static bool are_equal(const struct crt_range_state *a, const struct crt_range_state *b)
{
    return a->is_read_mostly == b->is_read_mostly && a->accessed_by == b->accessed_by &&
           a->preferred.type == b->preferred.type && a->preferred.id == b->preferred.id &&
           a->prefetched.type == b->prefetched.type && a->prefetched.id == b->prefetched.id;
}

/* Joins neighbours that say the same. */
static void join(struct entry *entry)
{
    size_t kept = 0;
    for (size_t i = 1; i < entry->count; i++)
        if (!are_equal(&entry->pieces[kept].state, &entry->pieces[i].state))
            entry->pieces[++kept] = entry->pieces[i];
    entry->count = kept + 1;
}

static enum crt_result change_locked(const struct range *range, crt_range_change change,
                                     const void *arg)
{
    struct entry *entry = find_entry(range->allocation.id);
    if (!entry)
        entry = add_entry(&range->allocation);
    if (!entry)
        return CRT_OUT_OF_MEMORY;
    struct piece *larger = realloc(entry->pieces, (entry->count + 2) * sizeof *larger);
    if (!larger)
        return CRT_OUT_OF_MEMORY;
    entry->pieces = larger;
    split(entry, range->begin);
    split(entry, range->end);
    for (size_t i = 0; i < entry->count; i++)
        if (entry->pieces[i].begin >= range->begin && entry->pieces[i].begin < range->end)
            change(&entry->pieces[i].state, arg);
    join(entry);
    return CRT_SUCCESS;
}

enum crt_result crt_managed_change(uintptr_t base, size_t size_bytes, crt_range_change change,
                                   const void *arg)
{
    struct range range;
    enum crt_result result = find_range(base, size_bytes, true, &range);
    if (result != CRT_SUCCESS || !range.is_managed)
        return result;
    pthread_mutex_lock(&table.lock);
    result = change_locked(&range, change, arg);
    pthread_mutex_unlock(&table.lock);
    return result;
}

static void keep_common_location(struct crt_location *common, const struct crt_location *other)
{
    if (common->type != other->type || common->id != other->id)
        *common = (struct crt_location){CRT_LOCATION_NONE, 0};
}

static void keep_common(struct crt_range_state *common, const struct crt_range_state *other)
{
    common->is_read_mostly = common->is_read_mostly && other->is_read_mostly;
    common->accessed_by &= other->accessed_by;
    keep_common_location(&common->preferred, &other->preferred);
    keep_common_location(&common->prefetched, &other->prefetched);
}

enum crt_result crt_managed_query(uintptr_t base, size_t size_bytes, struct crt_range_state *state)
{
    struct range range;
    enum crt_result result = find_range(base, size_bytes, false, &range);
    if (result != CRT_SUCCESS)
        return result;
    *state = (struct crt_range_state){0};
    pthread_mutex_lock(&table.lock);
    const struct entry *entry = find_entry(range.allocation.id);
    if (entry) {
        size_t index = piece_at(entry, range.begin);
        *state = entry->pieces[index].state;
        while (++index < entry->count && entry->pieces[index].begin < range.end)
            keep_common(state, &entry->pieces[index].state);
    }
    pthread_mutex_unlock(&table.lock);
    return CRT_SUCCESS;
}

void crt_managed_forget(uint64_t id)
{
    pthread_mutex_lock(&table.lock);
    struct entry *entry = find_entry(id);
    if (entry)
        end_entry(entry);
    pthread_mutex_unlock(&table.lock);
}

void crt_managed_forget_dead(void)
{
    struct entry *entry;
    struct entry *next;
    struct crt_allocation allocation;
    pthread_mutex_lock(&table.lock);
    HASH_ITER(hh, table.entries, entry, next)
    if (!crt_arena_find(entry->base, &allocation) || allocation.id != entry->id)
        end_entry(entry);
    pthread_mutex_unlock(&table.lock);
}
