/* SPDX-License-Identifier: Apache-2.0
 *
 * Device address space: a next-fit allocator of pages over one reservation, and the live
 * allocations. Both holes and live allocations are trees by address, so that no call costs more
 * because of others.
 */
#include "cudart/core/memory/device_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/base/memory_limit.h"
#include "cudart/core/memory/file_mapping.h"
#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/holes.h"
#include "cudart/core/memory/host_pages.h"
#include "cudart/core/memory/memory_budget.h"
#include "cudart/core/memory/numa.h"
#include "cudart/core/memory/pages_ahead.h"
#include "cudart/core/memory/pool.h"
#include "cudart/core/memory/shadow.h"
#include "cudart/core/memory/unused.h"
#include "cudart/core/memory/written.h"
#include "cudart/core/streams/context.h"
#include "util/guard.h"
#include "util/pages.h"

#define RESERVE_FACTOR  4
#define RESERVE_MINIMUM ((size_t)64 << 30)

/* The system puts other mappings, stacks of threads among them, right below the last one. */
#define OUTER_GUARD_BYTES ((size_t)64 << 20)

/* A device maps pages of 2 MiB next to each other, so programs get away with accesses a little
 * before or behind an allocation. That much can be read here, too; what is written there is told
 * once (crt_arena_open_margin). */
#define MARGIN_BYTES ((size_t)64 << 10)

/* Behind each allocation and its margins, and so in front of the next. */
#define GUARD_BYTES ((size_t)64 << 10)

/* The kernel allows 65530 mappings; each allocation with margins and a guard costs four. Above this
 * many, these are left out, and neighbours become one mapping. */
#define GUARDED_LIMIT 13000

/* Above that many allocations, memory that is freed next to each other is made inaccessible and
 * given back in pieces of this size, as each step is a call of the system; smaller holes stay open.
 */
#define STALE_BYTES      ((size_t)1 << 20)
#define SMALL_HOLE_BYTES ((size_t)64 << 10)

/* Allocations of so many bytes get their pages at once. Larger ones, of which programs may use a
 * part, get each page when it is written first. */
#define POPULATE_MIN_BYTES ((size_t)16 << 10)
#define POPULATE_MAX_BYTES ((size_t)1 << 20)

/* A live allocation in the tree of them: its size as asked for. */
struct live {
    struct crt_range range;
    struct crt_allocation allocation;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    int file;        /* -1: anonymous memory */
    uintptr_t begin; /* 0: not reserved yet */
    uintptr_t end;
    size_t total_bytes; /* of each device */
    size_t used_bytes[CRT_DEVICES_MAX];
    uint64_t next_id;
    struct crt_holes holes;
    struct crt_range_tree live;
    size_t live_count;
    uintptr_t stale_begin; /* freed, but still accessible and not given back; in one hole */
    uintptr_t stale_end;
    _Atomic(uint64_t) generation; /* of live: changes when an element comes or goes */
    struct crt_budget budget;
    size_t pages_count; /* taken by crt_arena_take_pages */
    bool has_margins;   /* addresses need not be spared */
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1, .next_id = 1};

static bool counts_as_device(enum crt_memory kind)
{
    return kind == CRT_MEMORY_DEVICE || kind == CRT_MEMORY_MANAGED || kind == CRT_MEMORY_MODULE ||
           kind == CRT_MEMORY_ARRAY;
}

/* The noun for memory that a program has to free; NULL for a part of another object. */
static const char *leak_noun(const struct crt_allocation *allocation)
{
    if (allocation->flags & CRT_ALLOCATION_POOLED)
        return NULL;
    switch (allocation->kind) {
    case CRT_MEMORY_DEVICE:
        return CRT_NOUN_DEVICE_MEMORY;
    case CRT_MEMORY_MANAGED:
        return allocation->ctx ? "managed memory" : NULL; /* a variable of a library */
    case CRT_MEMORY_HOST:
        return "page-locked host memory";
    case CRT_MEMORY_REGISTERED:
        return "registered host memory";
    case CRT_MEMORY_ARRAY:
        return "array";
    case CRT_MEMORY_IPC:
        return "memory of another process";
    case CRT_MEMORY_EXTERNAL:
        return "mapped external memory";
    default:
        return NULL;
    }
}

/* Without the lock: looking at the stack takes locks of the loader. */
static void note_leak(const struct crt_allocation *allocation)
{
    const char *noun = leak_noun(allocation);
    if (noun)
        crt_leak_note(noun, (const void *)allocation->base, allocation->size_bytes);
}

static int device_of(const struct crt_context *ctx)
{
    return ctx ? ctx->device->index : 0;
}

static size_t *used_of(const struct crt_allocation *allocation)
{
    return &arena.used_bytes[allocation->device];
}

/* Makes room for the holes that one more range in use can make. */
static bool make_room(void)
{
    return crt_holes_make_room(&arena.holes, arena.live_count + arena.pages_count + 1);
}

/* ---- memory that was freed ---- */

/* Whether a page of the range was ever written to. */
static bool has_data(uintptr_t begin, size_t bytes)
{
    off_t offset = (off_t)(begin - arena.begin);
    off_t data = lseek(arena.file, offset, SEEK_DATA);
    return data < 0 ? errno != ENXIO : data < offset + (off_t)bytes;
}

/* Gives the memory back; the pages read as zero when they are used again. */
static void drop_pages(uintptr_t base, size_t bytes)
{
    if (arena.file < 0)
        madvise((void *)base, bytes, MADV_DONTNEED);
    else if (has_data(base, bytes))
        fallocate(arena.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(base - arena.begin), (off_t)bytes);
}

/* Puts the stale memory into its proper state. The whole hole becomes inaccessible: where an
 * earlier call failed, for want of mappings, this mends it. */
static void end_stale(void)
{
    if (!arena.stale_begin)
        return;
    const struct crt_range *hole = crt_holes_at(&arena.holes, arena.stale_begin);
    if (arena.live_count < GUARDED_LIMIT || hole->size_bytes >= SMALL_HOLE_BYTES)
        mprotect((void *)hole->begin, hole->size_bytes, PROT_NONE);
    drop_pages(arena.stale_begin, arena.stale_end - arena.stale_begin);
    arena.stale_begin = 0;
    arena.stale_end = 0;
}

/* Takes span bytes out of a hole; 0 when there is no room. */
static uintptr_t take_range(size_t span)
{
    uintptr_t begin = crt_holes_find(&arena.holes, span);
    if (begin && begin < arena.stale_end && arena.stale_begin < begin + span)
        end_stale();
    if (begin)
        crt_holes_take(&arena.holes, begin, span);
    return begin;
}

/* Ends the use of a range, which becomes a hole. */
static void free_range(uintptr_t begin, uintptr_t end)
{
    if (end != arena.stale_begin && begin != arena.stale_end)
        end_stale();
    crt_holes_add(&arena.holes, begin, end);
    if (!arena.stale_begin || begin < arena.stale_begin)
        arena.stale_begin = begin;
    if (end > arena.stale_end)
        arena.stale_end = end;
    if (arena.live_count < GUARDED_LIMIT || arena.stale_end - arena.stale_begin >= STALE_BYTES)
        end_stale();
}

/* ---- the reservation ---- */

static bool reserve(size_t bytes)
{
    if (arena.file >= 0 && ftruncate(arena.file, (off_t)bytes) != 0)
        return false;
    void *base = pxr_reserve(bytes, pxr_page_bytes(), OUTER_GUARD_BYTES);
    if (!base)
        return false;
    int flags = arena.file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    flags |= MAP_NORESERVE | MAP_FIXED;
    if (mmap(base, bytes, PROT_NONE, flags, arena.file, 0) == MAP_FAILED) {
        pxr_unreserve(base, bytes, OUTER_GUARD_BYTES);
        return false;
    }
    /* A fork must not share device memory: the child may not use CUDA anyway. */
    madvise(base, bytes, MADV_DONTFORK);
    crt_numa_place(base, bytes);
    arena.begin = (uintptr_t)base;
    arena.end = arena.begin + bytes;
    return true;
}

static enum crt_result init_locked(size_t total_bytes, int devices)
{
    if (arena.begin)
        return CRT_SUCCESS;
    size_t wanted = pxr_round_to_pages(total_bytes) * RESERVE_FACTOR * (size_t)devices;
    if (wanted < RESERVE_MINIMUM)
        wanted = RESERVE_MINIMUM;
    if (crt_memory_file_may_have(wanted)) {
        arena.file = memfd_create("ptxrun-device", MFD_CLOEXEC);
        if (arena.file < 0)
            return CRT_OPERATING_SYSTEM;
    }
    /* An address space limit (ulimit -v) may leave less. */
    arena.has_margins = true;
    while (!reserve(wanted)) {
        arena.has_margins = false;
        wanted = pxr_round_to_pages(wanted / 2);
        if (wanted < total_bytes * (size_t)devices)
            return CRT_OUT_OF_MEMORY;
    }
    if (!make_room())
        return CRT_OUT_OF_MEMORY;
    crt_holes_add(&arena.holes, arena.begin, arena.end);
    arena.total_bytes = total_bytes;
    enum crt_result result = crt_shadow_create(arena.begin, arena.end - arena.begin);
    return result == CRT_SUCCESS ? crt_written_create(arena.begin, arena.end - arena.begin)
                                 : result;
}

enum crt_result crt_arena_init(size_t total_bytes, int devices)
{
    pthread_mutex_lock(&arena.lock);
    enum crt_result result = init_locked(total_bytes, devices);
    pthread_mutex_unlock(&arena.lock);
    return result;
}

bool crt_arena_is_guard(uintptr_t address)
{
    /* Constant once memory has been handed out. */
    return arena.begin - address - 1 < OUTER_GUARD_BYTES || address - arena.end < OUTER_GUARD_BYTES;
}

/* ---- live allocations ---- */

static struct crt_allocation *allocation_of(struct crt_range *range)
{
    return range ? &((struct live *)range)->allocation : NULL;
}

/* The last allocation that begins at or before address, and the first one behind it; or NULL. */
static struct crt_allocation *live_floor(uintptr_t address)
{
    return allocation_of(crt_range_floor(&arena.live, address));
}

static struct crt_allocation *live_above(uintptr_t address)
{
    return allocation_of(crt_range_above(&arena.live, address));
}

static struct crt_allocation *find_locked(uintptr_t address)
{
    struct crt_allocation *candidate = live_floor(address);
    return candidate && address - candidate->base < candidate->size_bytes ? candidate : NULL;
}

static void insert_live(struct live *live)
{
    live->range.begin = live->allocation.base;
    live->range.size_bytes = live->allocation.size_bytes;
    crt_range_insert(&arena.live, &live->range);
    arena.live_count++;
    arena.generation++;
}

/* ---- what the system has left ---- */

bool crt_arena_has_room(size_t size_bytes)
{
    pthread_mutex_lock(&arena.lock);
    bool has_room = crt_budget_take(&arena.budget, arena.file, size_bytes);
    pthread_mutex_unlock(&arena.lock);
    return has_room;
}

size_t crt_arena_room(void)
{
    pthread_mutex_lock(&arena.lock);
    size_t room = crt_budget_room(&arena.budget, arena.file);
    pthread_mutex_unlock(&arena.lock);
    return room;
}

/* Takes a range for the allocation, its margins and its guard, or without these when there is too
 * little room, and fills base, margin_bytes and span_bytes. False when there is no room. */
static bool take_span(struct crt_allocation *wanted, size_t rounded)
{
    bool has_guard = arena.live_count < GUARDED_LIMIT;
    bool has_margins = has_guard && arena.has_margins &&
                       (wanted->kind == CRT_MEMORY_DEVICE || wanted->kind == CRT_MEMORY_MANAGED);
    wanted->margin_bytes = has_margins ? MARGIN_BYTES : 0;
    wanted->span_bytes = rounded + 2 * wanted->margin_bytes + (has_guard ? GUARD_BYTES : 0);
    uintptr_t begin = take_range(wanted->span_bytes);
    if (!begin && has_guard) {
        wanted->margin_bytes = 0;
        wanted->span_bytes = rounded;
        begin = take_range(rounded);
    }
    wanted->base = begin + wanted->margin_bytes;
    return begin != 0;
}

/* Gives back what take_span has taken. */
static void free_span(const struct crt_allocation *allocation)
{
    uintptr_t begin = allocation->base - allocation->margin_bytes;
    free_range(begin, begin + allocation->span_bytes);
}

/* Opens the allocation for reading and writing, and its margins for reading. */
static bool open_span(const struct crt_allocation *allocation, size_t rounded)
{
    size_t margin = allocation->margin_bytes;
    char *begin = (char *)allocation->base;
    return mprotect(begin, rounded, PROT_READ | PROT_WRITE) == 0 &&
           (margin == 0 || (mprotect(begin - margin, margin, PROT_READ) == 0 &&
                            mprotect(begin + rounded, margin, PROT_READ) == 0));
}

/* Whether the margin that begins there holds the address and can be written now. */
static bool open_margin(uintptr_t begin, size_t margin_bytes, uintptr_t address)
{
    return address - begin < margin_bytes &&
           mprotect((void *)begin, margin_bytes, PROT_READ | PROT_WRITE) == 0;
}

bool crt_arena_open_margin(uintptr_t address)
{
    pthread_mutex_lock(&arena.lock);
    const struct crt_allocation *below = live_floor(address);
    const struct crt_allocation *above = live_above(address);
    bool is_open =
        (below && open_margin(below->base + pxr_round_to_pages(below->size_bytes),
                              below->margin_bytes, address)) ||
        (above && open_margin(above->base - above->margin_bytes, above->margin_bytes, address));
    pthread_mutex_unlock(&arena.lock);
    return is_open;
}

static void populate(const struct crt_allocation *made)
{
    if (made->size_bytes >= POPULATE_MIN_BYTES && made->size_bytes <= POPULATE_MAX_BYTES)
        crt_pages_get(made->base, made->size_bytes);
}

static enum crt_result alloc_locked(struct live *live)
{
    struct crt_allocation *wanted = &live->allocation;
    size_t rounded = pxr_round_to_pages(wanted->size_bytes);
    if (counts_as_device(wanted->kind) && rounded > arena.total_bytes - *used_of(wanted))
        return CRT_OUT_OF_MEMORY;
    if (!crt_budget_take(&arena.budget, arena.file, rounded) || !make_room())
        return CRT_OUT_OF_MEMORY;
    if (!take_span(wanted, rounded))
        return CRT_OUT_OF_MEMORY;
    if (!open_span(wanted, rounded)) {
        free_span(wanted);
        return CRT_OUT_OF_MEMORY;
    }
    wanted->id = arena.next_id++;
    insert_live(live);
    crt_shadow_open(wanted->base, wanted->size_bytes);
    if (wanted->kind != CRT_MEMORY_DEVICE)
        crt_written_set(wanted->base, wanted->size_bytes);
    if (wanted->kind == CRT_MEMORY_MANAGED || wanted->kind == CRT_MEMORY_HOST)
        crt_host_pages_add(wanted->base, wanted->size_bytes);
    arena.budget.promised_bytes += rounded;
    if (counts_as_device(wanted->kind))
        *used_of(wanted) += rounded;
    return CRT_SUCCESS;
}

enum crt_result crt_arena_alloc(size_t size_bytes, enum crt_memory kind, unsigned flags,
                                struct crt_context *ctx, uintptr_t *base)
{
    if (size_bytes == 0 || size_bytes > SIZE_MAX / 2)
        return size_bytes ? CRT_OUT_OF_MEMORY : CRT_INVALID_VALUE;
    struct live *live = malloc(sizeof *live);
    if (!live)
        return CRT_OUT_OF_MEMORY;
    live->allocation = (struct crt_allocation){.size_bytes = size_bytes,
                                               .kind = kind,
                                               .flags = flags,
                                               .access = CRT_ACCESS_ALL,
                                               .ctx = ctx,
                                               .device = device_of(ctx)};

    pthread_mutex_lock(&arena.lock);
    enum crt_result result = alloc_locked(live);
    struct crt_allocation made = live->allocation;
    pthread_mutex_unlock(&arena.lock);
    if (result != CRT_SUCCESS) {
        free(live);
        return result;
    }
    *base = made.base;
    populate(&made);
    note_leak(&made);
    return CRT_SUCCESS;
}

/* Takes the allocation out of the table and makes its pages inaccessible. */
static void remove_locked(struct crt_allocation *allocation)
{
    struct live *live = (struct live *)((char *)allocation - offsetof(struct live, allocation));
    if (leak_noun(allocation))
        crt_leak_forget((const void *)allocation->base);
    crt_range_remove(&arena.live, &live->range);
    arena.live_count--;
    arena.generation++;
    crt_freed_note(allocation->base, allocation->size_bytes);
    if (allocation->span_bytes) {
        crt_shadow_close(allocation->base, allocation->size_bytes);
        crt_written_clear(allocation->base, allocation->size_bytes);
        crt_host_pages_remove(allocation->base);
        size_t rounded = pxr_round_to_pages(allocation->size_bytes);
        free_span(allocation);
        arena.budget.promised_bytes -= rounded;
        if (counts_as_device(allocation->kind))
            *used_of(allocation) -= rounded;
    } else if (allocation->kind == CRT_MEMORY_IPC || allocation->kind == CRT_MEMORY_EXTERNAL) {
        crt_file_unmap(allocation->base, allocation->size_bytes);
    }
    free(live);
}

static void report_unused(uintptr_t base)
{
    struct crt_allocation found;
    if (crt_unused_is_on() && crt_arena_find(base, &found) && found.base == base)
        crt_unused_report(base, found.size_bytes);
}

enum crt_result crt_arena_free(uintptr_t base, enum crt_memory kind)
{
    if (kind == CRT_MEMORY_DEVICE)
        report_unused(base);
    enum crt_result result = CRT_INVALID_VALUE;
    pthread_mutex_lock(&arena.lock);
    struct crt_allocation *found = live_floor(base);
    if (found && found->base == base && found->kind == kind) {
        remove_locked(found);
        result = CRT_SUCCESS;
    }
    pthread_mutex_unlock(&arena.lock);
    return result;
}

void crt_arena_free_owned(const struct crt_context *ctx)
{
    pthread_mutex_lock(&arena.lock);
    struct crt_allocation *next;
    for (struct crt_allocation *found = live_above(0); found; found = next) {
        next = live_above(found->base);
        if (found->ctx == ctx)
            remove_locked(found);
    }
    pthread_mutex_unlock(&arena.lock);
}

static enum crt_result place_locked(struct live *live)
{
    struct crt_allocation *wanted = &live->allocation;
    const struct crt_allocation *above = live_above(wanted->base);
    if (find_locked(wanted->base) || (above && above->base < wanted->base + wanted->size_bytes))
        return CRT_INVALID_VALUE;
    if (!make_room())
        return CRT_OUT_OF_MEMORY;
    wanted->id = arena.next_id++;
    insert_live(live);
    return CRT_SUCCESS;
}

enum crt_result crt_arena_place(const struct crt_allocation *wanted)
{
    struct live *live = malloc(sizeof *live);
    if (!live)
        return CRT_OUT_OF_MEMORY;
    live->allocation = *wanted;
    pthread_mutex_lock(&arena.lock);
    enum crt_result result = place_locked(live);
    pthread_mutex_unlock(&arena.lock);
    if (result == CRT_SUCCESS)
        note_leak(wanted);
    else
        free(live);
    return result;
}

enum crt_result crt_arena_register(uintptr_t base, size_t size_bytes, unsigned flags,
                                   struct crt_context *ctx)
{
    if (base == 0 || size_bytes == 0 || base + size_bytes < base)
        return CRT_INVALID_VALUE;
    struct crt_allocation wanted = {.base = base,
                                    .size_bytes = size_bytes,
                                    .kind = CRT_MEMORY_REGISTERED,
                                    .flags = flags,
                                    .access = CRT_ACCESS_ALL,
                                    .ctx = ctx,
                                    .device = device_of(ctx)};
    enum crt_result result = crt_arena_place(&wanted);
    return result == CRT_INVALID_VALUE ? CRT_HOST_MEMORY_ALREADY_REGISTERED : result;
}

enum crt_result crt_arena_unregister(uintptr_t base)
{
    enum crt_result result = crt_arena_free(base, CRT_MEMORY_REGISTERED);
    return result == CRT_SUCCESS ? CRT_SUCCESS : CRT_HOST_MEMORY_NOT_REGISTERED;
}

uint64_t crt_arena_generation(void)
{
    return atomic_load_explicit(&arena.generation, memory_order_acquire);
}

bool crt_arena_find(uintptr_t address, struct crt_allocation *allocation)
{
    pthread_mutex_lock(&arena.lock);
    const struct crt_allocation *found = find_locked(address);
    if (found)
        *allocation = *found;
    pthread_mutex_unlock(&arena.lock);
    return found != NULL;
}

void crt_arena_set_access(uintptr_t base, unsigned access)
{
    pthread_mutex_lock(&arena.lock);
    struct crt_allocation *found = find_locked(base);
    if (found)
        found->access = access;
    pthread_mutex_unlock(&arena.lock);
}

static bool covers_locked(uintptr_t base, size_t size_bytes, unsigned access)
{
    for (const struct crt_allocation *allocation = live_floor(base); allocation;
         allocation = live_above(allocation->base)) {
        if (base < allocation->base || base - allocation->base >= allocation->size_bytes ||
            (allocation->access & access) != access)
            return false;
        size_t left = allocation->size_bytes - (base - allocation->base);
        if (size_bytes <= left)
            return true;
        if (allocation->kind != CRT_MEMORY_MAPPED)
            return false;
        base += left;
        size_bytes -= left;
    }
    return false;
}

bool crt_arena_covers(uintptr_t base, size_t size_bytes, unsigned access)
{
    pthread_mutex_lock(&arena.lock);
    bool covers = covers_locked(base, size_bytes, access);
    pthread_mutex_unlock(&arena.lock);
    return covers;
}

enum crt_result crt_arena_charge(int device, size_t size_bytes)
{
    if (device < 0)
        return CRT_SUCCESS;
    pthread_mutex_lock(&arena.lock);
    bool fits = size_bytes <= arena.total_bytes - arena.used_bytes[device];
    if (fits)
        arena.used_bytes[device] += size_bytes;
    pthread_mutex_unlock(&arena.lock);
    return fits ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

void crt_arena_discharge(int device, size_t size_bytes)
{
    if (device < 0)
        return;
    pthread_mutex_lock(&arena.lock);
    arena.used_bytes[device] -= size_bytes;
    pthread_mutex_unlock(&arena.lock);
}

enum crt_result crt_arena_take_pages(size_t size_bytes, struct crt_pages *pages)
{
    size_t rounded = pxr_round_to_pages(size_bytes);
    pthread_mutex_lock(&arena.lock);
    bool has_file = arena.file >= 0;
    uintptr_t place = has_file && make_room() ? take_range(rounded) : 0;
    if (place) {
        arena.pages_count++;
        arena.budget.promised_bytes += rounded;
    }
    pthread_mutex_unlock(&arena.lock);
    if (!place)
        return has_file ? CRT_OUT_OF_MEMORY : CRT_NOT_SUPPORTED;
    *pages = (struct crt_pages){.file = arena.file,
                                .offset = (int64_t)(place - arena.begin),
                                .size_bytes = rounded,
                                .place = place};
    return CRT_SUCCESS;
}

void crt_arena_return_pages(const struct crt_pages *pages)
{
    pthread_mutex_lock(&arena.lock);
    free_range(pages->place, pages->place + pages->size_bytes);
    arena.pages_count--;
    arena.budget.promised_bytes -= pages->size_bytes;
    pthread_mutex_unlock(&arena.lock);
}

bool crt_arena_file(uintptr_t address, int *file, int64_t *offset)
{
    /* Both are constant once memory has been handed out. */
    if (arena.file < 0 || address < arena.begin || address >= arena.end)
        return false;
    *file = arena.file;
    *offset = (int64_t)(address - arena.begin);
    return true;
}

bool crt_arena_nearest(uintptr_t address, struct crt_allocation *allocation)
{
    pthread_mutex_lock(&arena.lock);
    const struct crt_allocation *best = live_floor(address);
    const struct crt_allocation *next = live_above(address);
    bool is_inside = best && address - best->base < best->size_bytes;
    if (!is_inside && next &&
        (!best || next->base - address < address - (best->base + best->size_bytes)))
        best = next;
    if (best)
        *allocation = *best;
    pthread_mutex_unlock(&arena.lock);
    return best != NULL;
}

bool crt_arena_next(uintptr_t address, struct crt_allocation *allocation)
{
    pthread_mutex_lock(&arena.lock);
    const struct crt_allocation *next = live_above(address);
    if (next)
        *allocation = *next;
    pthread_mutex_unlock(&arena.lock);
    return next != NULL;
}

void crt_arena_usage(int device, size_t *used_bytes, size_t *total_bytes)
{
    pthread_mutex_lock(&arena.lock);
    *used_bytes = arena.used_bytes[device];
    *total_bytes = arena.total_bytes;
    pthread_mutex_unlock(&arena.lock);
}
