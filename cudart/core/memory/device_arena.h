/* SPDX-License-Identifier: Apache-2.0
 *
 * The address space of device memory: one reservation, backed by a memory file, in which
 * everything but live allocations is inaccessible. Also knows the host memory that programs
 * have allocated or registered through the API, so that any address can be classified.
 *
 * Addresses are handed out upwards through the whole reservation before a freed range is used
 * again, so that a dangling pointer faults instead of reaching a later allocation.
 * One lock guards everything; thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_DEVICE_ARENA_H
#define PTXRUN_CUDART_CORE_MEMORY_DEVICE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

struct crt_context;

enum crt_memory {
    CRT_MEMORY_DEVICE,
    CRT_MEMORY_MANAGED,
    CRT_MEMORY_HOST,       /* page-locked host memory made by the API */
    CRT_MEMORY_REGISTERED, /* the program's own, registered */
    CRT_MEMORY_MODULE,     /* variables of a module */
    CRT_MEMORY_ARRAY,      /* CUDA arrays */
    CRT_MEMORY_MAPPED,     /* a physical allocation at an address of the program's choice */
    CRT_MEMORY_IPC,        /* another process's device memory */
    CRT_MEMORY_EXTERNAL    /* a part of a file that the program has given (external.h) */
};

#define CRT_ACCESS_READ  1u
#define CRT_ACCESS_WRITE 2u
#define CRT_ACCESS_ALL   (CRT_ACCESS_READ | CRT_ACCESS_WRITE)

struct crt_allocation {
    uintptr_t base;
    size_t size_bytes;   /* as asked for */
    size_t span_bytes;   /* with rounding, margins and guard; 0 for what is not the arena's own */
    size_t margin_bytes; /* on either side: can be read, and written once that was told */
    enum crt_memory kind;
    unsigned flags;          /* of cuMemHostAlloc, cuMemAllocManaged or cuMemHostRegister */
    unsigned access;         /* allowed now; less than all for mappings only */
    uint64_t id;             /* never used twice */
    struct crt_context *ctx; /* owner; NULL: the process */
    int device;              /* index of the device whose memory it is */
    bool is_host;            /* a mapping of host memory */
};

/* Memory without an address: a range of a memory file. */
struct crt_pages {
    int file;
    int64_t offset;
    size_t size_bytes;
    uintptr_t place; /* its inaccessible address in the arena */
};

/* Reserves the address space at the first call, for so many devices of total_bytes each. */
enum crt_result crt_arena_init(size_t total_bytes, int devices);

/* Page-aligned memory of size_bytes > 0, zero-filled. Fails with CRT_OUT_OF_MEMORY, also when the
 * system has less left than was allocated and not yet touched. */
enum crt_result crt_arena_alloc(size_t size_bytes, enum crt_memory kind, unsigned flags,
                                struct crt_context *ctx, uintptr_t *base);

/* Frees the allocation that starts at base; CRT_INVALID_VALUE if none of this kind does. */
enum crt_result crt_arena_free(uintptr_t base, enum crt_memory kind);

/* Frees all allocations of ctx, of whatever kind. */
void crt_arena_free_owned(const struct crt_context *ctx);

/* Adds or removes host memory of the program's own. */
enum crt_result crt_arena_register(uintptr_t base, size_t size_bytes, unsigned flags,
                                   struct crt_context *ctx);
enum crt_result crt_arena_unregister(uintptr_t base);

/* Makes memory known that was mapped elsewhere, as `wanted` says (without span_bytes and id); freed
 * by crt_arena_free, which ends a file's mapping (file_mapping.h) and leaves others alone.
 * CRT_INVALID_VALUE where other memory is known. */
enum crt_result crt_arena_place(const struct crt_allocation *wanted);

/* Changes the access of the memory that was placed at base. */
void crt_arena_set_access(uintptr_t base, unsigned access);

/* Whether it lies in what is kept inaccessible around the memory of devices. */
bool crt_arena_is_guard(uintptr_t address);

/* Whether it lies in an allocation's margin, which can be written from now on. In the handler of a
 * signal, on threads that run kernels. */
bool crt_arena_open_margin(uintptr_t address);

/* Whether the range lies in one allocation, or in adjacent mappings, with this access. */
bool crt_arena_covers(uintptr_t base, size_t size_bytes, unsigned access);

/* Counts memory of a device as used, or no longer; a device below 0 is the host and not counted. */
enum crt_result crt_arena_charge(int device, size_t size_bytes);
void crt_arena_discharge(int device, size_t size_bytes);

/* Takes pages of the arena's file, zero-filled, that have no address until they are mapped; their
 * file is the arena's. CRT_NOT_SUPPORTED when the arena has no file. Not counted. */
enum crt_result crt_arena_take_pages(size_t size_bytes, struct crt_pages *pages);
void crt_arena_return_pages(const struct crt_pages *pages);

/* The place in a file of an address of the arena's; false when there is no file. */
bool crt_arena_file(uintptr_t address, int *file, int64_t *offset);

/* As long as this is the same, crt_arena_find gives the same ranges. Takes no lock. */
uint64_t crt_arena_generation(void);

/* The allocation that address lies in. */
bool crt_arena_find(uintptr_t address, struct crt_allocation *allocation);

/* The allocation that address lies in, or the nearest; false when there is none at all. */
bool crt_arena_nearest(uintptr_t address, struct crt_allocation *allocation);

/* The first allocation that begins behind the address. */
bool crt_arena_next(uintptr_t address, struct crt_allocation *allocation);

/* Whether a program takes it for the host's memory. */
static inline bool crt_allocation_is_host(const struct crt_allocation *allocation)
{
    return allocation->kind == CRT_MEMORY_HOST || allocation->kind == CRT_MEMORY_REGISTERED ||
           allocation->is_host;
}

/* Device and managed memory in use, rounded to pages, and the total of the device with this index.
 * Memory that belongs to no context counts for the first device. */
void crt_arena_usage(int device, size_t *used_bytes, size_t *total_bytes);

/* Bytes that could be allocated and all be touched now, whatever devices may have. */
size_t crt_arena_room(void);

/* Whether that is at least size_bytes. Cheap when called often. */
bool crt_arena_has_room(size_t size_bytes);

#endif
