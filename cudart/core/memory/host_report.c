/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/host_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/pending_copies.h"
#include "cudart/core/memory/pool.h"
#include "cudart/core/memory/written.h"

/* Adds who has called what, and where; other: the calls that have allocated, freed or copied the
 * memory that is meant, as `done` says. */
static void add_of(const struct crt_frames *frames, struct crt_finding *finding, const char *access,
                   char where[CRT_WHERE_BYTES], struct crt_frames *other, const char *done)
{
    char text[256];
    struct crt_host_place place = crt_frames_source(frames);
    char *call = crt_frames_text(frames);
    char *others = crt_describe_calls(other, done, where);
    finding->function = crt_frames_function(frames);
    finding->call = call;
    finding->file = place.file;
    finding->line = place.line;
    finding->frames = others;
    finding->where = where;
    snprintf(text, sizeof text, "%s by %s", access, finding->function);
    finding->access = text;
    crt_finding_add(finding);
    free(call);
    free(others);
}

/* Of the calling thread. */
static void add(struct crt_finding *finding, const char *access, char where[CRT_WHERE_BYTES],
                struct crt_frames *other, const char *done)
{
    struct crt_frames frames;
    crt_frames_take(&frames);
    add_of(&frames, finding, access, where, other, done);
}

/* The calls that have allocated or, if there is no block, freed the memory. */
static void add_with_block(struct crt_finding *finding, const char *access,
                           char where[CRT_WHERE_BYTES], struct crt_frames *freed)
{
    if (finding->block_base)
        crt_leak_frames((const void *)(uintptr_t)finding->block_base, freed);
    add(finding, access, where, freed, finding->block_base ? "allocated" : "freed");
}

/* Of a block that a pool keeps for later; streams may not have come to its free. */
static bool is_kept_by_pool(uintptr_t address)
{
    struct crt_allocation allocation;
    return crt_arena_find(address, &allocation) && (allocation.flags & CRT_ALLOCATION_POOLED) &&
           !crt_memory_find(address, &allocation);
}

static bool describe_freed(uintptr_t address, char where[CRT_WHERE_BYTES], struct crt_frames *freed)
{
    if (is_kept_by_pool(address)) {
        snprintf(where, CRT_WHERE_BYTES, "address 0x%zx: of a block that the pool has got back",
                 (size_t)address);
        return true;
    }
    struct crt_allocation allocation;
    return !crt_memory_find(address, &allocation) && crt_describe_freed(address, where, freed);
}

void crt_report_free(uintptr_t base)
{
    char where[CRT_WHERE_BYTES];
    if (!crt_check_is_on())
        return;
    struct crt_finding finding = {
        .kind = CRT_FINDING_DOUBLE_FREE, .address = base, .is_refused = true};
    struct crt_frames freed = {0};
    if (!describe_freed(base, where, &freed)) {
        struct crt_allocation near = crt_find_near(base);
        finding.kind = CRT_FINDING_INVALID_FREE;
        finding.block_base = near.base;
        finding.block_bytes = near.base ? near.size_bytes : 0;
        crt_describe_near(base, 0, &near, where);
    }
    add_with_block(&finding, "free of memory", where, &freed);
}

void crt_report_free_in_use(uintptr_t base, size_t size_bytes)
{
    struct crt_frames user = {0};
    char where[CRT_WHERE_BYTES];
    if (!crt_checks_api() || !crt_pending_copy_find(base, size_bytes, &user))
        return;
    struct crt_finding finding = {.kind = CRT_FINDING_FREE_IN_USE, .address = base};
    snprintf(where, sizeof where, "the %zu-byte block at 0x%zx", size_bytes, (size_t)base);
    add(&finding, "free of memory", where, &user, "copied");
}

void crt_report_extent(uintptr_t base, size_t extent, unsigned access, bool is_refused)
{
    char where[CRT_WHERE_BYTES];
    char text[64];
    if (!crt_check_is_on())
        return;
    struct crt_finding finding = {.kind = CRT_FINDING_API_USE_AFTER_FREE,
                                  .address = base,
                                  .bytes = extent,
                                  .verb = access == CRT_ACCESS_READ ? "read" : "write",
                                  .space = "global",
                                  .is_refused = is_refused};
    struct crt_frames freed = {0};
    if (!describe_freed(base, where, &freed)) {
        struct crt_allocation near = crt_find_near(base);
        finding.kind = CRT_FINDING_API_OUT_OF_BOUNDS;
        finding.block_base = near.base;
        finding.block_bytes = near.base ? near.size_bytes : 0;
        crt_describe_near(base, extent, &near, where);
    }
    snprintf(text, sizeof text, "%s of %zu bytes", finding.verb, extent);
    add_with_block(&finding, text, where, &freed);
}

/* What is copied as a structure has bytes that belong to no member: a few behind one, up to where
 * the next may begin. */
static bool is_padding(uintptr_t begin, size_t bytes)
{
    uintptr_t end = begin + bytes;
    return begin % 4 != 0 && end % (bytes < 4 ? 4 : 8) == 0 && bytes < 8;
}

/* As crt_bits_find_gap, of gaps that are no padding. */
static size_t find_gap(uintptr_t row, size_t bytes, size_t *gap)
{
    size_t place = crt_bits_find_gap(crt_written(), row, bytes, gap);
    while (*gap > 0 && is_padding(row + place, *gap)) {
        place += *gap;
        place += crt_bits_find_gap(crt_written(), row + place, bytes - place, gap);
    }
    return place;
}

/* The first row with bytes that nobody has written: where they begin, and how many they are in that
 * row; 0: there is none. */
static uintptr_t find_unwritten(const struct crt_copy *copy, size_t *gap)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            uintptr_t row = copy->src.base + z * copy->src.slice_bytes + y * copy->src.pitch_bytes;
            size_t place = find_gap(row, copy->width_bytes, gap);
            if (*gap > 0)
                return row + place;
        }
    return 0;
}

void crt_report_unwritten(const struct crt_copy *copy, const struct crt_frames *calls)
{
    size_t gap;
    char where[CRT_WHERE_BYTES];
    char text[64];
    uintptr_t address = find_unwritten(copy, &gap);
    if (!address)
        return;
    struct crt_allocation near = crt_find_near(address);
    struct crt_frames allocated = {0};
    size_t bytes = copy->width_bytes * copy->height * copy->depth;
    struct crt_finding finding = {.kind = CRT_FINDING_API_UNINITIALIZED,
                                  .address = address,
                                  .bytes = bytes,
                                  .verb = "read",
                                  .space = "global",
                                  .block_base = near.base,
                                  .block_bytes = near.size_bytes};
    crt_describe_near(address, gap, &near, where);
    crt_leak_frames((const void *)near.base, &allocated);
    snprintf(text, sizeof text, "read of %zu bytes", bytes);
    add_of(calls, &finding, text, where, &allocated, "allocated");
}
