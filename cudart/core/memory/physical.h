/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical allocations: memory without an address, which programs map where they like (vmm.h) and
 * pass to other processes as file descriptors. One lives while it has handles or mappings.
 * Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_PHYSICAL_H
#define PTXRUN_CUDART_CORE_MEMORY_PHYSICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"

/* Sizes, offsets and addresses of mappings are multiples of this. */
#define CRT_GRANULARITY ((size_t)2 << 20)

/* Kinds of handles for other processes, as bits. */
#define CRT_SHARE_FILE   1u
#define CRT_SHARE_WIN32  2u
#define CRT_SHARE_KMT    4u
#define CRT_SHARE_FABRIC 8u

struct crt_physical {
    struct crt_object object;
    struct crt_pages pages;
    struct crt_location location;
    unsigned share_types; /* CRT_SHARE_FILE: pages.file is its own */
    bool is_imported;
    unsigned handle_count; /* guarded by the lock of physical.c, as is mapping_count */
    unsigned mapping_count;
};

CRT_API_BEGIN

/* Whether memory can be allocated in this place: CRT_INVALID_VALUE, CRT_INVALID_DEVICE,
 * CRT_NOT_SUPPORTED. */
enum crt_result crt_physical_check(struct crt_location location, unsigned share_types);

/* size_bytes: a multiple of CRT_GRANULARITY. The memory counts as its device's. */
enum crt_result crt_physical_create(size_t size_bytes, struct crt_location location,
                                    unsigned share_types, struct crt_physical **physical);

/* Gives one handle back; CRT_INVALID_VALUE if it is none. */
enum crt_result crt_physical_release(struct crt_physical *physical);

/* Whether it is a handle that has not been released. */
bool crt_physical_is_valid(struct crt_physical *physical);

/* A file descriptor that is the caller's; CRT_INVALID_VALUE when it was not made to be shared. */
enum crt_result crt_physical_export(struct crt_physical *physical, int *file);

/* The allocation behind a file descriptor, which stays the caller's. */
enum crt_result crt_physical_import(int file, struct crt_physical **physical);

CRT_API_END

/* One more handle of a mapped allocation. */
void crt_physical_add_handle(struct crt_physical *physical);

/* For a new mapping: CRT_INVALID_VALUE when it is no valid handle. */
enum crt_result crt_physical_add_mapping(struct crt_physical *physical);
void crt_physical_remove_mapping(struct crt_physical *physical);

#endif
