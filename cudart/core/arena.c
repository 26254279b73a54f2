/* SPDX-License-Identifier: Apache-2.0
 *
 * Device address space: a next-fit allocator of pages over one reservation, and a sorted table
 * of what is live.
 */
#include "cudart/core/arena.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/core/context.h"
#include "cudart/core/device.h"
#include "cudart/core/leak.h"
#include "cudart/core/memory_limit.h"
#include "cudart/core/pool.h"

#define PAGE_BYTES      ((size_t)4096)
#define RESERVE_FACTOR  4
#define RESERVE_MINIMUM ((size_t)64 << 30)

/* A device maps pages of 2 MiB, so programs get away with reading a little behind the end of an
 * allocation when they discard the value. That much can be read here, too; writing is a fault. */
#define TAIL_BYTES ((size_t)64 << 10)

/* The kernel allows 65530 mappings; each allocation with a tail and a guard page costs three. Above
 * this many, both are left out, and neighbours become one mapping. */
#define GUARDED_LIMIT 13000

struct range {
    uintptr_t begin;
    uintptr_t end;
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
    uintptr_t cursor;    /* where the search for room starts */
    struct range *holes; /* sorted, none adjacent */
    size_t hole_count;
    size_t hole_cap;
    struct crt_allocation **live; /* sorted by base */
    size_t live_count;
    size_t live_cap;
    _Atomic(uint64_t) generation; /* of live: changes when an element comes or goes */
    size_t pages_count;           /* taken by crt_arena_take_pages */
    bool has_tails;               /* addresses need not be spared */
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1, .next_id = 1};

static size_t round_to_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

static bool counts_as_device(enum crt_memory kind)
{
    return kind == CRT_MEMORY_DEVICE || kind == CRT_MEMORY_MANAGED || kind == CRT_MEMORY_MODULE ||
           kind == CRT_MEMORY_ARRAY;
}

/* What a program has to free; NULL for what is a part of something else. */
static const char *leak_noun(const struct crt_allocation *allocation)
{
    if (allocation->flags & CRT_ALLOCATION_POOLED)
        return NULL;
    switch (allocation->kind) {
    case CRT_MEMORY_DEVICE:
        return "device memory";
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

/* Makes room for one more element; false when out of memory. */
static bool grow(void **array, size_t *cap, size_t count, size_t elem_bytes)
{
    if (count < *cap)
        return true;
    size_t cap_new = *cap ? *cap * 2 : 64;
    void *larger = realloc(*array, cap_new * elem_bytes);
    if (!larger)
        return false;
    *array = larger;
    *cap = cap_new;
    return true;
}

static bool reserve(size_t bytes)
{
    if (arena.file >= 0 && ftruncate(arena.file, (off_t)bytes) != 0)
        return false;
    int flags = arena.file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *base = mmap(NULL, bytes, PROT_NONE, flags | MAP_NORESERVE, arena.file, 0);
    if (base == MAP_FAILED)
        return false;
    /* A fork must not share device memory: the child may not use CUDA anyway. */
    madvise(base, bytes, MADV_DONTFORK);
    arena.begin = (uintptr_t)base;
    arena.end = arena.begin + bytes;
    arena.cursor = arena.begin;
    return true;
}

static enum crt_result init_locked(size_t total_bytes, int devices)
{
    if (arena.begin)
        return CRT_SUCCESS;
    size_t wanted = round_to_pages(total_bytes) * RESERVE_FACTOR * (size_t)devices;
    if (wanted < RESERVE_MINIMUM)
        wanted = RESERVE_MINIMUM;
    if (crt_memory_file_may_have(wanted)) {
        arena.file = memfd_create("ptxrun-device", MFD_CLOEXEC);
        if (arena.file < 0)
            return CRT_OPERATING_SYSTEM;
    }
    /* An address space limit (ulimit -v) may leave less. */
    arena.has_tails = true;
    while (!reserve(wanted)) {
        arena.has_tails = false;
        wanted = round_to_pages(wanted / 2);
        if (wanted < total_bytes * (size_t)devices)
            return CRT_OUT_OF_MEMORY;
    }
    if (!grow((void **)&arena.holes, &arena.hole_cap, 0, sizeof arena.holes[0]))
        return CRT_OUT_OF_MEMORY;
    arena.holes[0] = (struct range){arena.begin, arena.end};
    arena.hole_count = 1;
    arena.total_bytes = total_bytes;
    return CRT_SUCCESS;
}

enum crt_result crt_arena_init(size_t total_bytes, int devices)
{
    pthread_mutex_lock(&arena.lock);
    enum crt_result result = init_locked(total_bytes, devices);
    pthread_mutex_unlock(&arena.lock);
    return result;
}

/* Index of the first hole that ends above address. */
static size_t hole_at(uintptr_t address)
{
    size_t low = 0;
    size_t high = arena.hole_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (arena.holes[mid].end > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Index of the first live allocation whose base is above address. */
static size_t live_above(uintptr_t address)
{
    size_t low = 0;
    size_t high = arena.live_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (arena.live[mid]->base > address)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static struct crt_allocation *find_locked(uintptr_t address)
{
    size_t index = live_above(address);
    if (index == 0)
        return NULL;
    struct crt_allocation *candidate = arena.live[index - 1];
    return address - candidate->base < candidate->size_bytes ? candidate : NULL;
}

/* Takes [begin, begin + span) out of the hole at index; what is left of it stays. There is room
 * for the one hole that this may add. */
static void cut_hole(size_t index, uintptr_t begin, size_t span)
{
    struct range *hole = &arena.holes[index];
    struct range rest = {begin + span, hole->end};
    hole->end = begin;
    bool keeps_front = hole->begin < hole->end;
    bool keeps_rest = rest.begin < rest.end;
    if (keeps_front && keeps_rest) {
        memmove(hole + 2, hole + 1, (arena.hole_count - index - 1) * sizeof *hole);
        hole[1] = rest;
        arena.hole_count++;
    } else if (keeps_rest) {
        *hole = rest;
    } else if (!keeps_front) {
        arena.hole_count--;
        memmove(hole, hole + 1, (arena.hole_count - index) * sizeof *hole);
    }
}

/* Takes span bytes at or after the cursor, or else from the beginning; 0 when there is no room.
 * The hole with the cursor in it is looked at twice: from the cursor on, and at last as a whole. */
static uintptr_t take_range(size_t span)
{
    size_t start = hole_at(arena.cursor);
    for (size_t n = 0; n <= arena.hole_count; n++) {
        if (arena.hole_count == 0)
            return 0;
        size_t index = (start + n) % arena.hole_count;
        uintptr_t begin = arena.holes[index].begin;
        if (n == 0 && begin < arena.cursor && arena.cursor < arena.holes[index].end)
            begin = arena.cursor;
        if (arena.holes[index].end - begin < span)
            continue;
        cut_hole(index, begin, span);
        arena.cursor = begin + span;
        return begin;
    }
    return 0;
}

/* Gives a range back, joining it with its neighbours. Room for one more hole was made when the
 * range was taken, so this cannot fail. */
static void return_range(uintptr_t begin, uintptr_t end)
{
    size_t index = hole_at(begin);
    struct range *next = &arena.holes[index];
    bool joins_next = index < arena.hole_count && next->begin == end;
    bool joins_previous = index > 0 && next[-1].end == begin;
    if (joins_next && joins_previous) {
        next[-1].end = next->end;
        arena.hole_count--;
        memmove(next, next + 1, (arena.hole_count - index) * sizeof *next);
    } else if (joins_next) {
        next->begin = begin;
    } else if (joins_previous) {
        next[-1].end = end;
    } else {
        memmove(next + 1, next, (arena.hole_count - index) * sizeof *next);
        *next = (struct range){begin, end};
        arena.hole_count++;
    }
}

/* Each of taking and returning a range adds at most one hole. Returning must not fail, so room for
 * it is made when the range is taken. */
static bool make_room(void)
{
    return grow((void **)&arena.live, &arena.live_cap, arena.live_count, sizeof arena.live[0]) &&
           grow((void **)&arena.holes, &arena.hole_cap,
                arena.live_count + arena.pages_count + arena.hole_count + 2, sizeof arena.holes[0]);
}

static void insert_live(struct crt_allocation *allocation)
{
    size_t index = live_above(allocation->base);
    memmove(&arena.live[index + 1], &arena.live[index],
            (arena.live_count - index) * sizeof arena.live[0]);
    arena.live[index] = allocation;
    arena.live_count++;
    arena.generation++;
}

/* Bytes that can be read behind an allocation of so many bytes, in front of its guard page. */
static size_t tail_of(const struct crt_allocation *allocation, size_t rounded)
{
    size_t behind = allocation->span_bytes - rounded;
    return behind > PAGE_BYTES ? behind - PAGE_BYTES : 0;
}

/* Takes a range for the allocation, its tail and its guard page, or without the two when there is
 * too little room; 0 when there is none. */
static uintptr_t take_span(struct crt_allocation *wanted, size_t rounded)
{
    bool has_tail = arena.has_tails &&
                    (wanted->kind == CRT_MEMORY_DEVICE || wanted->kind == CRT_MEMORY_MANAGED);
    wanted->span_bytes = rounded;
    if (arena.live_count < GUARDED_LIMIT)
        wanted->span_bytes += PAGE_BYTES + (has_tail ? TAIL_BYTES : 0);
    uintptr_t base = take_range(wanted->span_bytes);
    if (base || wanted->span_bytes == rounded)
        return base;
    wanted->span_bytes = rounded;
    return take_range(rounded);
}

static enum crt_result alloc_locked(struct crt_allocation *wanted)
{
    size_t rounded = round_to_pages(wanted->size_bytes);
    if (counts_as_device(wanted->kind) && rounded > arena.total_bytes - *used_of(wanted))
        return CRT_OUT_OF_MEMORY;
    if (!make_room())
        return CRT_OUT_OF_MEMORY;
    uintptr_t base = take_span(wanted, rounded);
    if (!base)
        return CRT_OUT_OF_MEMORY;
    size_t tail = tail_of(wanted, rounded);
    if (mprotect((void *)base, rounded, PROT_READ | PROT_WRITE) != 0 ||
        (tail && mprotect((void *)(base + rounded), tail, PROT_READ) != 0)) {
        mprotect((void *)base, rounded, PROT_NONE);
        return_range(base, base + wanted->span_bytes);
        return CRT_OUT_OF_MEMORY;
    }
    wanted->base = base;
    wanted->id = arena.next_id++;
    insert_live(wanted);
    if (counts_as_device(wanted->kind))
        *used_of(wanted) += rounded;
    return CRT_SUCCESS;
}

enum crt_result crt_arena_alloc(size_t size_bytes, enum crt_memory kind, unsigned flags,
                                struct crt_context *ctx, uintptr_t *base)
{
    if (size_bytes == 0 || size_bytes > SIZE_MAX / 2)
        return size_bytes ? CRT_OUT_OF_MEMORY : CRT_INVALID_VALUE;
    struct crt_allocation *allocation = malloc(sizeof *allocation);
    if (!allocation)
        return CRT_OUT_OF_MEMORY;
    *allocation = (struct crt_allocation){.size_bytes = size_bytes,
                                          .kind = kind,
                                          .flags = flags,
                                          .access = CRT_ACCESS_ALL,
                                          .ctx = ctx,
                                          .device = device_of(ctx)};

    pthread_mutex_lock(&arena.lock);
    enum crt_result result = alloc_locked(allocation);
    struct crt_allocation made = *allocation;
    pthread_mutex_unlock(&arena.lock);
    if (result != CRT_SUCCESS) {
        free(allocation);
        return result;
    }
    *base = made.base;
    note_leak(&made);
    return CRT_SUCCESS;
}

/* Gives the memory back; the pages read as zero when they are used again. */
static void drop_pages(uintptr_t base, size_t bytes)
{
    if (arena.file >= 0)
        fallocate(arena.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(base - arena.begin), (off_t)bytes);
    else
        madvise((void *)base, bytes, MADV_DONTNEED);
}

/* Takes the allocation at this index out of the table and makes its pages inaccessible. */
static void remove_locked(size_t index)
{
    struct crt_allocation *allocation = arena.live[index];
    if (leak_noun(allocation))
        crt_leak_forget((const void *)allocation->base);
    arena.live_count--;
    arena.generation++;
    memmove(&arena.live[index], &arena.live[index + 1],
            (arena.live_count - index) * sizeof arena.live[0]);
    if (allocation->span_bytes) {
        size_t rounded = round_to_pages(allocation->size_bytes);
        size_t accessible = rounded + tail_of(allocation, rounded);
        mprotect((void *)allocation->base, accessible, PROT_NONE);
        drop_pages(allocation->base, accessible);
        return_range(allocation->base, allocation->base + allocation->span_bytes);
        if (counts_as_device(allocation->kind))
            *used_of(allocation) -= rounded;
    } else if (allocation->kind == CRT_MEMORY_IPC) {
        munmap((void *)allocation->base, round_to_pages(allocation->size_bytes));
    }
    free(allocation);
}

enum crt_result crt_arena_free(uintptr_t base, enum crt_memory kind)
{
    enum crt_result result = CRT_INVALID_VALUE;
    pthread_mutex_lock(&arena.lock);
    size_t index = live_above(base);
    if (index > 0 && arena.live[index - 1]->base == base && arena.live[index - 1]->kind == kind) {
        remove_locked(index - 1);
        result = CRT_SUCCESS;
    }
    pthread_mutex_unlock(&arena.lock);
    return result;
}

void crt_arena_free_owned(const struct crt_context *ctx)
{
    pthread_mutex_lock(&arena.lock);
    for (size_t i = arena.live_count; i-- > 0;)
        if (arena.live[i]->ctx == ctx)
            remove_locked(i);
    pthread_mutex_unlock(&arena.lock);
}

static enum crt_result place_locked(struct crt_allocation *wanted)
{
    size_t index = live_above(wanted->base);
    if (find_locked(wanted->base) ||
        (index < arena.live_count && arena.live[index]->base < wanted->base + wanted->size_bytes))
        return CRT_INVALID_VALUE;
    if (!make_room())
        return CRT_OUT_OF_MEMORY;
    wanted->id = arena.next_id++;
    insert_live(wanted);
    return CRT_SUCCESS;
}

enum crt_result crt_arena_place(const struct crt_allocation *wanted)
{
    struct crt_allocation *allocation = malloc(sizeof *allocation);
    if (!allocation)
        return CRT_OUT_OF_MEMORY;
    *allocation = *wanted;
    pthread_mutex_lock(&arena.lock);
    enum crt_result result = place_locked(allocation);
    pthread_mutex_unlock(&arena.lock);
    if (result == CRT_SUCCESS)
        note_leak(wanted);
    else
        free(allocation);
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
    for (size_t next = live_above(base); next > 0 && next <= arena.live_count; next++) {
        const struct crt_allocation *allocation = arena.live[next - 1];
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
    size_t rounded = round_to_pages(size_bytes);
    pthread_mutex_lock(&arena.lock);
    bool has_file = arena.file >= 0;
    uintptr_t place = has_file && make_room() ? take_range(rounded) : 0;
    if (place)
        arena.pages_count++;
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
    drop_pages(pages->place, pages->size_bytes);
    return_range(pages->place, pages->place + pages->size_bytes);
    arena.pages_count--;
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
    size_t above = live_above(address);
    const struct crt_allocation *best = above > 0 ? arena.live[above - 1] : NULL;
    bool is_inside = best && address - best->base < best->size_bytes;
    if (!is_inside && above < arena.live_count) {
        const struct crt_allocation *next = arena.live[above];
        if (!best || next->base - address < address - (best->base + best->size_bytes))
            best = next;
    }
    if (best)
        *allocation = *best;
    pthread_mutex_unlock(&arena.lock);
    return best != NULL;
}

void crt_arena_usage(int device, size_t *used_bytes, size_t *total_bytes)
{
    pthread_mutex_lock(&arena.lock);
    *used_bytes = arena.used_bytes[device];
    *total_bytes = arena.total_bytes;
    pthread_mutex_unlock(&arena.lock);
}
