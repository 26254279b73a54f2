/* SPDX-License-Identifier: Apache-2.0
 *
 * What code that asks what has been written calls (kernel_abi/placeholders.def), where the inline
 * code does not know: bytes within grains, generic addresses of shared memory, copies.
 */
#include "cudart/core/code/written_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/finding_place.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/written.h"
#include "scheduler/scheduler.h"

/* What has been written around the bytes; without grains: all, or nobody knows. */
struct place {
    struct crt_grains grains;
    bool is_shared;
};

static struct place find_place(const struct rt_thread *thread, uint64_t address, uint64_t bytes)
{
    struct rt_checked shared;
    if (crt_grains_have(crt_written(), address, bytes))
        return (struct place){.grains = *crt_written()};
    if (!sch_find_shared(thread, address, bytes, &shared))
        return (struct place){0};
    return (struct place){.grains = {.begin = shared.begin,
                                     .size_bytes = shared.size_bytes,
                                     .bytes = (uint8_t *)shared.shadow},
                          .is_shared = true};
}

/* Then it may be in the kernels' heap. */
static bool is_elsewhere(const struct place *place)
{
    return place->grains.bytes == NULL;
}

uint32_t rt_written_slow(struct rt_thread *thread, const char *address, uint64_t bytes)
{
    struct place place = find_place(thread, (uintptr_t)address, bytes);
    if (is_elsewhere(&place))
        return crt_heap_get_written((uintptr_t)address, bytes);
    return crt_bits_get(&place.grains, (uintptr_t)address, bytes);
}

void rt_mark_slow(struct rt_thread *thread, const char *address, uint64_t bytes, uint32_t written)
{
    struct place place = find_place(thread, (uintptr_t)address, bytes);
    if (is_elsewhere(&place))
        crt_heap_put_written((uintptr_t)address, bytes, written);
    else if (written == RT_WRITTEN_ALL)
        crt_bits_set(&place.grains, (uintptr_t)address, bytes);
    else
        crt_bits_put(&place.grains, (uintptr_t)address, bytes, written);
}

void rt_mark_copy(struct rt_thread *thread, const char *target, const char *source, uint64_t bytes)
{
    struct place to = find_place(thread, (uintptr_t)target, bytes);
    struct place from = find_place(thread, (uintptr_t)source, bytes);
    crt_bits_copy(&to.grains, (uintptr_t)target, &from.grains, (uintptr_t)source, bytes);
    if (is_elsewhere(&to))
        crt_heap_put_written((uintptr_t)target, bytes, RT_WRITTEN_ALL);
}

/* ---- findings ---- */

struct access {
    const struct rt_thread *thread;
    uint64_t address;
    uint64_t bytes;
    const struct rt_checked_access *checked;
    uint64_t first; /* byte that has not been written */
    size_t gap;     /* so many have not */
};

static bool is_atomic(const struct access *access)
{
    return access->checked->what == RT_ACCESS_ATOMIC_VALUE;
}

static void describe_access(const struct access *access, const char *space, char *text, size_t cap)
{
    snprintf(text, cap, "%s %" PRIu64 " byte%s of %s memory",
             is_atomic(access) ? "atomic operation on" : "read of", access->bytes,
             access->bytes == 1 ? "" : "s", space);
}

/* Of shared memory, from its beginning on. */
static void add_shared(struct crt_placed_finding *placed, const struct access *access,
                       uint64_t begin)
{
    char where[CRT_WHERE_BYTES];
    snprintf(where, sizeof where,
             "address 0x%" PRIx64 " of shared memory: no thread of the block has written %zu of "
             "its bytes, from 0x%" PRIx64 " on",
             access->address - begin, access->gap, access->first - begin);
    placed->finding.where = where;
    placed->finding.address = access->address - begin;
    crt_find_place(placed, access->thread);
    crt_finding_add(&placed->finding);
}

static void add_heap(struct crt_placed_finding *placed, const struct access *access)
{
    char where[CRT_WHERE_BYTES];
    snprintf(where, sizeof where,
             "address 0x%" PRIx64 " of the kernels' heap: %zu bytes of the block, from 0x%" PRIx64
             " on, have not been written since it was allocated",
             access->address, access->gap, access->first);
    placed->finding.where = where;
    placed->finding.address = access->address;
    crt_find_place(placed, access->thread);
    crt_finding_add(&placed->finding);
}

static void add_global(struct crt_placed_finding *placed, const struct access *access)
{
    char where[CRT_WHERE_BYTES];
    struct crt_allocation near = crt_find_near(access->first);
    struct crt_frames calls = {0};
    crt_describe_near(access->first, access->gap, &near, where);
    crt_leak_frames((const void *)near.base, &calls);
    char *frames = crt_describe_calls(&calls, "allocated", where);
    placed->finding.where = where;
    placed->finding.frames = frames;
    placed->finding.address = access->address;
    placed->finding.block_base = near.base;
    placed->finding.block_bytes = near.base ? near.size_bytes : 0;
    crt_find_place(placed, access->thread);
    crt_finding_add(&placed->finding);
    free(frames);
}

static void add_finding(const struct access *access, const struct place *place)
{
    char what[96];
    struct crt_placed_finding placed;
    crt_name_place(&placed, access->thread, access->checked->line);
    placed.finding.kind =
        place->is_shared ? CRT_FINDING_SHARED_UNINITIALIZED : CRT_FINDING_UNINITIALIZED;
    if (crt_finding_again(&placed.finding))
        return;
    placed.finding.space = place->is_shared ? "shared" : "global";
    describe_access(access, placed.finding.space, what, sizeof what);
    placed.finding.access = what;
    placed.finding.verb = is_atomic(access) ? "atomic" : "read";
    placed.finding.bytes = access->bytes;
    if (place->is_shared)
        add_shared(&placed, access, place->grains.begin);
    else if (is_elsewhere(place))
        add_heap(&placed, access);
    else
        add_global(&placed, access);
}

/* Memory of the arena in no allocation is none of this check's. A block may have been given back to
 * its pool by a call that its stream has not come to. */
static bool is_allocated(uint64_t address, const struct place *place)
{
    struct crt_allocation allocation;
    return place->is_shared || crt_arena_find(address, &allocation);
}

void crt_check_written(const struct rt_thread *thread, uint64_t address, uint64_t bytes,
                       const struct rt_checked_access *checked)
{
    struct access access = {.thread = thread,
                            .address = address + checked->offset,
                            .bytes = checked->bytes ? checked->bytes : bytes,
                            .checked = checked};
    struct place place = find_place(thread, access.address, access.bytes);
    size_t written =
        is_elsewhere(&place)
            ? crt_heap_find_gap(access.address, access.bytes, &access.gap)
            : crt_bits_find_gap(&place.grains, access.address, access.bytes, &access.gap);
    access.first = access.address + written;
    if (access.gap > 0 && (is_elsewhere(&place) || is_allocated(access.first, &place)))
        add_finding(&access, &place);
}

/* ---- arrays of a thread's own ---- */

void rt_own_failed(struct rt_thread *thread, uint32_t written, uint64_t place, const char *accesses)
{
    const struct rt_checked_access *access = ((const struct rt_accesses *)accesses)->each;
    char what[64];
    char where[128];
    struct crt_placed_finding placed;
    crt_name_place(&placed, thread, access->line);
    placed.finding.kind = CRT_FINDING_LOCAL_UNINITIALIZED;
    if (crt_finding_again(&placed.finding))
        return;
    snprintf(what, sizeof what, "read of %" PRIu32 " byte%s of local memory", access->bytes,
             access->bytes == 1 ? "" : "s");
    snprintf(where, sizeof where,
             "the thread has not written the byte at place %" PRIu64 " of its own array",
             place + (uint64_t)__builtin_ctz(~written));
    placed.finding.access = what;
    placed.finding.where = where;
    placed.finding.verb = "read";
    placed.finding.space = "local";
    placed.finding.address = place;
    placed.finding.bytes = access->bytes;
    crt_find_place(&placed, thread);
    crt_finding_add(&placed.finding);
}
