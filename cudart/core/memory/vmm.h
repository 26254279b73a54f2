/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory that the program manages: reserved addresses, physical allocations mapped at them,
 * and who may access them. The arena knows a mapping like any memory, so that copies, pointer
 * attributes and reports of faults find it. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_VMM_H
#define PTXRUN_CUDART_CORE_MEMORY_VMM_H

#include "cudart/core/memory/physical.h"

/* The access of a location to a range: numbers of CUmemAccess_flags. */
struct crt_grant {
    struct crt_location location;
    int access; /* 0, CRT_ACCESS_READ or CRT_ACCESS_ALL */
};

CRT_API_BEGIN

/* Addresses that nothing else gets; near hint where that is possible. alignment: 0, or a power of
 * two. size_bytes and hint: multiples of a page. */
enum crt_result crt_vmm_reserve(size_t size_bytes, size_t alignment, uintptr_t hint,
                                uintptr_t *base);

/* The whole of a reservation, with nothing mapped in it. */
enum crt_result crt_vmm_free(uintptr_t base, size_t size_bytes);

/* Maps a part of an allocation into one reservation, where nothing is mapped yet, inaccessible. */
enum crt_result crt_vmm_map(uintptr_t base, size_t size_bytes, size_t offset_bytes,
                            struct crt_physical *physical);

/* A range of one or more whole mappings without gaps, in both. Unmapping waits for the work of the
 * current context. */
enum crt_result crt_vmm_unmap(uintptr_t base, size_t size_bytes);
enum crt_result crt_vmm_set_access(uintptr_t base, size_t size_bytes,
                                   const struct crt_grant *grants, size_t count);
enum crt_result crt_vmm_get_access(uintptr_t address, struct crt_location location, int *access);

/* The allocation mapped at an address, with one more handle. */
enum crt_result crt_vmm_retain(uintptr_t address, struct crt_physical **physical);

CRT_API_END

#endif
