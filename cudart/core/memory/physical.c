/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical allocations. Most are pages of the arena's file, as a descriptor for each would soon
 * exceed the limit on open files. A shared one has a memory file of its own; a page behind the
 * memory describes it, and seals keep an importer from being hurt by a shrinking file.
 */
#include "cudart/core/memory/physical.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/base/memory_limit.h"

#define TRAILER_BYTES  4096
#define TRAILER_MAGIC  UINT64_C(0x70747872756e766d)
#define SHARE_ALL      (CRT_SHARE_FILE | CRT_SHARE_WIN32 | CRT_SHARE_KMT | CRT_SHARE_FABRIC)
#define REQUIRED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* The contents of the page behind shared memory. */
struct trailer {
    uint64_t magic;
    uint64_t size_bytes;
    int32_t location_type;
    int32_t location_id;
};

/* Guards the counts of all allocations. */
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

/* Index of the device that the memory counts for, below 0 for the host's. */
static int device_of(struct crt_location location)
{
    return location.type == CRT_LOCATION_DEVICE ? location.id : -1;
}

static bool is_numa_node(int id)
{
    char path[64];
    if (id < 0)
        return false;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", id);
    return id == 0 || access(path, F_OK) == 0;
}

enum crt_result crt_physical_check(struct crt_location location, unsigned share_types)
{
    if (share_types & ~SHARE_ALL)
        return CRT_INVALID_VALUE;
    switch (location.type) {
    case CRT_LOCATION_DEVICE:
        if (!crt_device_at(location.id))
            return CRT_INVALID_DEVICE;
        break;
    case CRT_LOCATION_HOST:
        if (share_types)
            return CRT_INVALID_VALUE;
        break;
    case CRT_LOCATION_HOST_NUMA:
        if (!is_numa_node(location.id))
            return CRT_INVALID_VALUE;
        break;
    default:
        return CRT_INVALID_VALUE;
    }
    return share_types & ~CRT_SHARE_FILE
               ? crt_not_supported("sharing memory but by a file descriptor")
               : CRT_SUCCESS;
}

/* A memory file of its own for shared memory. */
static enum crt_result make_file(size_t size_bytes, struct crt_location location,
                                 struct crt_pages *pages)
{
    if (!crt_memory_file_may_have(size_bytes + TRAILER_BYTES))
        return CRT_OUT_OF_MEMORY;
    int file = memfd_create("ptxrun-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return CRT_OPERATING_SYSTEM;
    struct trailer trailer = {.magic = TRAILER_MAGIC,
                              .size_bytes = size_bytes,
                              .location_type = location.type,
                              .location_id = location.id};
    if (ftruncate(file, (off_t)(size_bytes + TRAILER_BYTES)) != 0 ||
        pwrite(file, &trailer, sizeof trailer, (off_t)size_bytes) != (ssize_t)sizeof trailer ||
        fcntl(file, F_ADD_SEALS, REQUIRED_SEALS) != 0) {
        close(file);
        return CRT_OUT_OF_MEMORY;
    }
    *pages = (struct crt_pages){.file = file, .size_bytes = size_bytes};
    return CRT_SUCCESS;
}

static void give_pages_back(const struct crt_physical *physical)
{
    if (physical->share_types)
        close(physical->pages.file);
    else
        crt_arena_return_pages(&physical->pages);
}

static enum crt_result take_pages(size_t size_bytes, struct crt_physical *physical)
{
    if (physical->share_types)
        return make_file(size_bytes, physical->location, &physical->pages);
    return crt_arena_take_pages(size_bytes, &physical->pages);
}

enum crt_result crt_physical_create(size_t size_bytes, struct crt_location location,
                                    unsigned share_types, struct crt_physical **physical)
{
    enum crt_result result = crt_physical_check(location, share_types);
    if (result != CRT_SUCCESS)
        return result;
    if (size_bytes == 0 || size_bytes % CRT_GRANULARITY)
        return CRT_INVALID_VALUE;
    result = crt_arena_has_room(size_bytes) ? crt_arena_charge(device_of(location), size_bytes)
                                            : CRT_OUT_OF_MEMORY;
    if (result != CRT_SUCCESS)
        return result;
    struct crt_physical *created = crt_object_create(CRT_KIND_PHYSICAL, sizeof *created);
    if (created) {
        created->location = location;
        created->share_types = share_types;
        created->handle_count = 1;
        result = take_pages(size_bytes, created);
    }
    if (!created || result != CRT_SUCCESS) {
        crt_arena_discharge(device_of(location), size_bytes);
        if (created)
            crt_object_destroy(CRT_KIND_PHYSICAL, created);
        return created ? result : CRT_OUT_OF_MEMORY;
    }
    crt_leak_note("physical memory", created, size_bytes);
    *physical = created;
    return CRT_SUCCESS;
}

/* Ends it when nothing refers to it any more. Called without the lock, by the thread that has taken
 * the last count. */
static void destroy_physical(struct crt_physical *physical)
{
    crt_leak_forget(physical);
    give_pages_back(physical);
    if (!physical->is_imported)
        crt_arena_discharge(device_of(physical->location), physical->pages.size_bytes);
    crt_object_destroy(CRT_KIND_PHYSICAL, physical);
}

/* With the lock held. */
static bool is_valid_locked(const struct crt_physical *physical)
{
    return crt_object_is(physical, CRT_KIND_PHYSICAL) && physical->handle_count > 0;
}

bool crt_physical_is_valid(struct crt_physical *physical)
{
    pthread_mutex_lock(&counts_lock);
    bool is_valid = is_valid_locked(physical);
    pthread_mutex_unlock(&counts_lock);
    return is_valid;
}

enum crt_result crt_physical_release(struct crt_physical *physical)
{
    pthread_mutex_lock(&counts_lock);
    bool is_valid = is_valid_locked(physical);
    bool is_last = is_valid && --physical->handle_count == 0 && physical->mapping_count == 0;
    pthread_mutex_unlock(&counts_lock);
    if (is_last)
        destroy_physical(physical);
    return is_valid ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

void crt_physical_add_handle(struct crt_physical *physical)
{
    pthread_mutex_lock(&counts_lock);
    physical->handle_count++;
    pthread_mutex_unlock(&counts_lock);
}

enum crt_result crt_physical_add_mapping(struct crt_physical *physical)
{
    pthread_mutex_lock(&counts_lock);
    bool is_valid = is_valid_locked(physical);
    if (is_valid)
        physical->mapping_count++;
    pthread_mutex_unlock(&counts_lock);
    return is_valid ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

void crt_physical_remove_mapping(struct crt_physical *physical)
{
    pthread_mutex_lock(&counts_lock);
    bool is_last = --physical->mapping_count == 0 && physical->handle_count == 0;
    pthread_mutex_unlock(&counts_lock);
    if (is_last)
        destroy_physical(physical);
}

enum crt_result crt_physical_export(struct crt_physical *physical, int *file)
{
    if (!crt_physical_is_valid(physical) || !(physical->share_types & CRT_SHARE_FILE))
        return CRT_INVALID_VALUE;
    int copy = fcntl(physical->pages.file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return CRT_OPERATING_SYSTEM;
    *file = copy;
    return CRT_SUCCESS;
}

/* Whether a descriptor is one that crt_physical_export has made, here or elsewhere. */
static bool read_trailer(int file, struct trailer *trailer)
{
    struct stat status;
    int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & REQUIRED_SEALS) != REQUIRED_SEALS || fstat(file, &status) != 0 ||
        status.st_size <= TRAILER_BYTES)
        return false;
    off_t size_bytes = status.st_size - TRAILER_BYTES;
    return pread(file, trailer, sizeof *trailer, size_bytes) == (ssize_t)sizeof *trailer &&
           trailer->magic == TRAILER_MAGIC && trailer->size_bytes == (uint64_t)size_bytes &&
           trailer->size_bytes % CRT_GRANULARITY == 0;
}

enum crt_result crt_physical_import(int file, struct crt_physical **physical)
{
    struct trailer trailer;
    if (!read_trailer(file, &trailer))
        return CRT_INVALID_VALUE;
    struct crt_location location = {trailer.location_type, trailer.location_id};
    /* The exporter may show more devices than this process has. */
    if (crt_physical_check(location, CRT_SHARE_FILE) != CRT_SUCCESS)
        return CRT_NOT_SUPPORTED;
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return CRT_OPERATING_SYSTEM;
    struct crt_physical *created = crt_object_create(CRT_KIND_PHYSICAL, sizeof *created);
    if (!created) {
        close(copy);
        return CRT_OUT_OF_MEMORY;
    }
    created->pages = (struct crt_pages){.file = copy, .size_bytes = (size_t)trailer.size_bytes};
    created->location = location;
    created->share_types = CRT_SHARE_FILE;
    created->is_imported = true;
    created->handle_count = 1;
    crt_leak_note("imported memory", created, created->pages.size_bytes);
    *physical = created;
    return CRT_SUCCESS;
}
