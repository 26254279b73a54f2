/* SPDX-License-Identifier: Apache-2.0
 *
 * Reservations and mappings. A reservation is inaccessible anonymous memory; a mapping replaces
 * a part of it by pages of a memory file, and unmapping puts inaccessible memory back. All
 * processors of a machine see the same pages with the same rights, so a page may be accessed as the
 * most favoured location may.
 */
#include "cudart/core/memory/vmm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"
#include "util/guard.h"
#include "util/pages.h"

struct mapping {
    uintptr_t base;
    size_t size_bytes;
    struct crt_physical *physical;
    uint8_t device_access[CRT_DEVICES_MAX];
    uint8_t host_access;
};

/* slots: for each granule the mapping it belongs to, or NULL. */
struct reservation {
    uintptr_t base;
    size_t size_bytes;
    size_t guard_before; /* inaccessible on either side, unless the program wants the addresses */
    size_t guard_after;
    size_t slot_count;
    struct mapping **slots;
    struct reservation *next;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct reservation *reservations;
} vmm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_multiple(uint64_t value, size_t unit)
{
    return (value & (unit - 1)) == 0;
}

/* Everything below with the suffix _locked is called with the lock held. */

/* Inaccessible memory at just this address; NULL if something is there. */
static void *map_at(uintptr_t address, size_t size_bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *base = mmap((void *)address, size_bytes, PROT_NONE, flags, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (base == (void *)address)
        return base;
    munmap(base, size_bytes); /* a kernel that takes the address for a mere hint */
    return NULL;
}

/* Guards give way to addresses that the program asks for: growing vectors want the addresses behind
 * their memory. */
static void clear_guards_locked(uintptr_t begin, uintptr_t end)
{
    struct reservation *reservation;
    LL_FOREACH(vmm.reservations, reservation)
    {
        uintptr_t low = reservation->base;
        uintptr_t high = low + reservation->size_bytes;
        if (begin >= high && begin - high < reservation->guard_after) {
            munmap((void *)begin, high + reservation->guard_after - begin);
            reservation->guard_after = begin - high;
        }
        if (end <= low && low - end < reservation->guard_before) {
            munmap((void *)(low - reservation->guard_before),
                   end + reservation->guard_before - low);
            reservation->guard_before = low - end;
        }
    }
}

/* Reserves addresses at the program's wish; false if that cannot be. */
static bool reserve_at_locked(struct reservation *wanted, size_t alignment, uintptr_t hint)
{
    size_t guard = CRT_MAPPING_GUARD_BYTES;
    if (hint < guard || !is_multiple(hint, alignment) ||
        wanted->size_bytes > UINTPTR_MAX - guard - hint)
        return false;
    clear_guards_locked(hint, hint + wanted->size_bytes);
    if (!map_at(hint, wanted->size_bytes))
        return false;
    wanted->base = hint;
    wanted->guard_before = map_at(hint - guard, guard) ? guard : 0;
    wanted->guard_after = map_at(hint + wanted->size_bytes, guard) ? guard : 0;
    return true;
}

static bool reserve_anywhere(struct reservation *wanted, size_t alignment)
{
    wanted->base = (uintptr_t)pxr_reserve(wanted->size_bytes, alignment, CRT_MAPPING_GUARD_BYTES);
    wanted->guard_before = CRT_MAPPING_GUARD_BYTES;
    wanted->guard_after = CRT_MAPPING_GUARD_BYTES;
    return wanted->base != 0;
}

static void unmap_reservation(const struct reservation *reservation)
{
    munmap((void *)(reservation->base - reservation->guard_before),
           reservation->guard_before + reservation->size_bytes + reservation->guard_after);
}

/* Addresses first: if there are none, no slots are needed either. */
static bool reserve_locked(struct reservation *wanted, size_t alignment, uintptr_t hint)
{
    if (!reserve_at_locked(wanted, alignment, hint) && !reserve_anywhere(wanted, alignment))
        return false;
    wanted->slots = calloc(wanted->slot_count, sizeof wanted->slots[0]);
    if (!wanted->slots)
        unmap_reservation(wanted);
    return wanted->slots != NULL;
}

enum crt_result crt_vmm_reserve(size_t size_bytes, size_t alignment, uintptr_t hint,
                                uintptr_t *base)
{
    if (size_bytes == 0 || !is_multiple(size_bytes, pxr_page_bytes()) ||
        !is_multiple(hint, pxr_page_bytes()) || (alignment & (alignment - 1)))
        return CRT_INVALID_VALUE;
    if (size_bytes > SIZE_MAX / 2 || alignment > SIZE_MAX / 2)
        return CRT_OUT_OF_MEMORY;
    if (alignment < CRT_GRANULARITY)
        alignment = CRT_GRANULARITY;
    struct reservation *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->size_bytes = size_bytes;
    created->slot_count = (size_bytes + CRT_GRANULARITY - 1) / CRT_GRANULARITY;
    pthread_mutex_lock(&vmm.lock);
    bool is_reserved = reserve_locked(created, alignment, hint);
    if (is_reserved)
        LL_PREPEND(vmm.reservations, created);
    pthread_mutex_unlock(&vmm.lock);
    if (!is_reserved) {
        free(created);
        return CRT_OUT_OF_MEMORY;
    }
    /* As device memory: a fork must not share it. */
    madvise((void *)created->base, size_bytes, MADV_DONTFORK);
    *base = created->base;
    return CRT_SUCCESS;
}

/* The reservation that the whole range lies in, or NULL. */
static struct reservation *find_reservation_locked(uintptr_t base, size_t size_bytes)
{
    struct reservation *reservation;
    LL_FOREACH(vmm.reservations, reservation)
    {
        uintptr_t offset = base - reservation->base;
        if (base >= reservation->base && offset < reservation->size_bytes &&
            size_bytes <= reservation->size_bytes - offset)
            return reservation;
    }
    return NULL;
}

static struct mapping **slot_of(struct reservation *reservation, uintptr_t address)
{
    return &reservation->slots[(address - reservation->base) / CRT_GRANULARITY];
}

static struct mapping *find_mapping_locked(uintptr_t address)
{
    struct reservation *reservation = find_reservation_locked(address, 1);
    return reservation ? *slot_of(reservation, address) : NULL;
}

static enum crt_result free_locked(uintptr_t base, size_t size_bytes)
{
    struct reservation *reservation = find_reservation_locked(base, size_bytes);
    if (!reservation || reservation->base != base || reservation->size_bytes != size_bytes)
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < reservation->slot_count; i++)
        if (reservation->slots[i])
            return CRT_INVALID_VALUE;
    LL_DELETE(vmm.reservations, reservation);
    unmap_reservation(reservation);
    free(reservation->slots);
    free(reservation);
    return CRT_SUCCESS;
}

enum crt_result crt_vmm_free(uintptr_t base, size_t size_bytes)
{
    if (size_bytes == 0)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&vmm.lock);
    enum crt_result result = free_locked(base, size_bytes);
    pthread_mutex_unlock(&vmm.lock);
    return result;
}

/* Puts inaccessible memory where a mapping was. */
static bool clear_range(uintptr_t base, size_t size_bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap((void *)base, size_bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED)
        return false;
    madvise((void *)base, size_bytes, MADV_DONTFORK);
    return true;
}

static bool map_pages(const struct mapping *mapping, size_t offset_bytes)
{
    const struct crt_pages *pages = &mapping->physical->pages;
    void *base = (void *)mapping->base;
    if (mmap(base, mapping->size_bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, pages->file,
             (off_t)pages->offset + (off_t)offset_bytes) == MAP_FAILED)
        return false;
    madvise(base, mapping->size_bytes, MADV_DONTFORK);
    return true;
}

static void fill_slots(struct reservation *reservation, const struct mapping *range,
                       struct mapping *value)
{
    struct mapping **slot = slot_of(reservation, range->base);
    for (size_t i = 0; i < range->size_bytes / CRT_GRANULARITY; i++)
        slot[i] = value;
}

static enum crt_result map_locked(struct mapping *wanted, size_t offset_bytes)
{
    struct reservation *reservation = find_reservation_locked(wanted->base, wanted->size_bytes);
    if (!reservation)
        return CRT_INVALID_VALUE;
    struct mapping **slot = slot_of(reservation, wanted->base);
    for (size_t i = 0; i < wanted->size_bytes / CRT_GRANULARITY; i++)
        if (slot[i])
            return CRT_INVALID_VALUE;
    struct crt_location location = wanted->physical->location;
    bool is_host = location.type != CRT_LOCATION_DEVICE;
    struct crt_allocation known = {.base = wanted->base,
                                   .size_bytes = wanted->size_bytes,
                                   .kind = CRT_MEMORY_MAPPED,
                                   .device = is_host ? 0 : location.id,
                                   .is_host = is_host};
    enum crt_result result = crt_arena_place(&known);
    if (result != CRT_SUCCESS)
        return result;
    if (!map_pages(wanted, offset_bytes)) {
        crt_arena_free(wanted->base, CRT_MEMORY_MAPPED);
        clear_range(wanted->base, wanted->size_bytes);
        return CRT_OUT_OF_MEMORY;
    }
    fill_slots(reservation, wanted, wanted);
    return CRT_SUCCESS;
}

enum crt_result crt_vmm_map(uintptr_t base, size_t size_bytes, size_t offset_bytes,
                            struct crt_physical *physical)
{
    if (size_bytes == 0 || !is_multiple(base | size_bytes | offset_bytes, CRT_GRANULARITY))
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_physical_add_mapping(physical);
    if (result != CRT_SUCCESS)
        return result;
    struct mapping *created = calloc(1, sizeof *created);
    if (!created) {
        crt_physical_remove_mapping(physical);
        return CRT_OUT_OF_MEMORY;
    }
    *created = (struct mapping){.base = base, .size_bytes = size_bytes, .physical = physical};
    size_t available = physical->pages.size_bytes;
    if (offset_bytes > available || size_bytes > available - offset_bytes) {
        result = CRT_INVALID_VALUE;
    } else {
        pthread_mutex_lock(&vmm.lock);
        result = map_locked(created, offset_bytes);
        pthread_mutex_unlock(&vmm.lock);
    }
    if (result != CRT_SUCCESS) {
        free(created);
        crt_physical_remove_mapping(physical);
    }
    return result;
}

/* The reservation of a range that consists of whole mappings without gaps, or NULL. */
static struct reservation *find_mapped_locked(uintptr_t base, size_t size_bytes)
{
    struct reservation *reservation = size_bytes ? find_reservation_locked(base, size_bytes) : NULL;
    if (!reservation)
        return NULL;
    for (uintptr_t at = base; at - base < size_bytes;) {
        const struct mapping *mapping = *slot_of(reservation, at);
        if (!mapping || mapping->base != at || mapping->size_bytes > size_bytes - (at - base))
            return NULL;
        at += mapping->size_bytes;
    }
    return reservation;
}

static enum crt_result unmap_locked(uintptr_t base, size_t size_bytes)
{
    struct reservation *reservation = find_mapped_locked(base, size_bytes);
    if (!reservation)
        return CRT_INVALID_VALUE;
    if (!clear_range(base, size_bytes))
        return CRT_OUT_OF_MEMORY;
    for (uintptr_t at = base; at - base < size_bytes;) {
        struct mapping *mapping = *slot_of(reservation, at);
        at += mapping->size_bytes;
        crt_arena_free(mapping->base, CRT_MEMORY_MAPPED);
        fill_slots(reservation, mapping, NULL);
        crt_physical_remove_mapping(mapping->physical);
        free(mapping);
    }
    return CRT_SUCCESS;
}

/* Copies that have been accepted would find their memory gone. */
static void finish_work(void)
{
    struct crt_context *ctx = crt_context_get_current();
    if (!crt_context_is_valid(ctx) || !atomic_load(&ctx->is_active) || sch_on_pool_thread())
        return;
    struct sch_op *join = crt_stream_join_all(ctx, NULL);
    if (!join)
        return;
    sch_op_submit(join);
    sch_op_wait(join);
    sch_op_release(join);
}

enum crt_result crt_vmm_unmap(uintptr_t base, size_t size_bytes)
{
    finish_work();
    pthread_mutex_lock(&vmm.lock);
    enum crt_result result = unmap_locked(base, size_bytes);
    pthread_mutex_unlock(&vmm.lock);
    return result;
}

/* A mapping's access for a location; NULL for a location that makes no sense. */
static uint8_t *access_of(struct mapping *mapping, struct crt_location location)
{
    switch (location.type) {
    case CRT_LOCATION_DEVICE:
        return &mapping->device_access[location.id];
    case CRT_LOCATION_HOST:
    case CRT_LOCATION_HOST_NUMA:
        return &mapping->host_access;
    default:
        return NULL;
    }
}

static enum crt_result check_location(struct crt_location location)
{
    if (location.type == CRT_LOCATION_DEVICE)
        return crt_device_at(location.id) ? CRT_SUCCESS : CRT_INVALID_DEVICE;
    bool is_host = location.type == CRT_LOCATION_HOST || location.type == CRT_LOCATION_HOST_NUMA;
    return is_host ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static enum crt_result check_grants(const struct crt_grant *grants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int access = grants[i].access;
        if (access != 0 && access != (int)CRT_ACCESS_READ && access != (int)CRT_ACCESS_ALL)
            return CRT_INVALID_VALUE;
        enum crt_result result = check_location(grants[i].location);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

/* "Users cannot specify HOST_NUMA accessibility for allocations created on with other location
 * types": the documentation of cuMemSetAccess. */
static bool may_grant(const struct mapping *mapping, const struct crt_grant *grants, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (grants[i].location.type == CRT_LOCATION_HOST_NUMA &&
            mapping->physical->location.type != CRT_LOCATION_HOST_NUMA)
            return false;
    return true;
}

static void apply_grants(struct mapping *mapping, const struct crt_grant *grants, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *access_of(mapping, grants[i].location) = (uint8_t)grants[i].access;
    unsigned access = mapping->host_access;
    for (int i = 0; i < CRT_DEVICES_MAX; i++)
        access |= mapping->device_access[i];
    int protection = (access & CRT_ACCESS_READ ? PROT_READ : 0) |
                     (access & CRT_ACCESS_WRITE ? PROT_READ | PROT_WRITE : 0);
    mprotect((void *)mapping->base, mapping->size_bytes, protection);
    crt_arena_set_access(mapping->base, access);
}

static enum crt_result set_access_locked(uintptr_t base, size_t size_bytes,
                                         const struct crt_grant *grants, size_t count)
{
    struct reservation *reservation = find_mapped_locked(base, size_bytes);
    if (!reservation)
        return CRT_INVALID_VALUE;
    const struct mapping *mapping;
    for (uintptr_t at = base; at - base < size_bytes; at += mapping->size_bytes) {
        mapping = *slot_of(reservation, at);
        if (!may_grant(mapping, grants, count))
            return CRT_INVALID_VALUE;
    }
    for (uintptr_t at = base; at - base < size_bytes;) {
        struct mapping *changed = *slot_of(reservation, at);
        apply_grants(changed, grants, count);
        at += changed->size_bytes;
    }
    return CRT_SUCCESS;
}

enum crt_result crt_vmm_set_access(uintptr_t base, size_t size_bytes,
                                   const struct crt_grant *grants, size_t count)
{
    enum crt_result result = check_grants(grants, count);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&vmm.lock);
    result = set_access_locked(base, size_bytes, grants, count);
    pthread_mutex_unlock(&vmm.lock);
    return result;
}

enum crt_result crt_vmm_get_access(uintptr_t address, struct crt_location location, int *access)
{
    enum crt_result result = check_location(location);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&vmm.lock);
    struct mapping *mapping = find_mapping_locked(address);
    if (mapping)
        *access = *access_of(mapping, location);
    pthread_mutex_unlock(&vmm.lock);
    return mapping ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

enum crt_result crt_vmm_retain(uintptr_t address, struct crt_physical **physical)
{
    pthread_mutex_lock(&vmm.lock);
    const struct mapping *mapping = find_mapping_locked(address);
    if (mapping) {
        crt_physical_add_handle(mapping->physical);
        *physical = mapping->physical;
    }
    pthread_mutex_unlock(&vmm.lock);
    return mapping ? CRT_SUCCESS : CRT_INVALID_VALUE;
}
