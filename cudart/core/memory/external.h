/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that something else has made and gives as file descriptors.
 *
 * Memory is any file that the system keeps in memory (memfd_create, shm_open, the files of
 * cuMemExportToShareableHandle). A binary semaphore is an eventfd: a signal adds one to it, a wait
 * takes one away, or all if it was not made with EFD_SEMAPHORE. A timeline is such a file, too: the
 * first eight bytes are the number that it has reached, which other processes read and write with
 * atomic operations. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_EXTERNAL_H
#define PTXRUN_CUDART_CORE_MEMORY_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"

struct crt_context;
struct crt_mem_op;

struct crt_external_memory {
    struct crt_object object;
    int file; /* its own */
    uint64_t size_bytes;
};

struct crt_semaphore {
    struct crt_object object;
    struct crt_context *ctx;
    int event;         /* of a binary one, its own; -1 */
    uintptr_t reached; /* by a timeline: the address of its number */
};

CRT_API_BEGIN

/* Takes the file over if it succeeds. CRT_INVALID_VALUE for one that cannot be read and written or
 * has less than size_bytes; CRT_NOT_SUPPORTED for one that is no memory. */
enum crt_result crt_external_import(int file, uint64_t size_bytes,
                                    struct crt_external_memory **memory);

/* What has been mapped stays. CRT_INVALID_HANDLE if it is none. */
enum crt_result crt_external_destroy(struct crt_external_memory *memory);

/* Memory of the context's device, which crt_memory_free ends. */
enum crt_result crt_external_map(struct crt_context *ctx, const struct crt_external_memory *memory,
                                 uint64_t offset, uint64_t size_bytes, uintptr_t *base);

bool crt_external_is_valid(const struct crt_external_memory *memory);

/* As crt_external_import. */
enum crt_result crt_semaphore_import(struct crt_context *ctx, int file, bool is_timeline,
                                     struct crt_semaphore **semaphore);

/* After the work of its context. */
enum crt_result crt_semaphore_destroy(struct crt_semaphore *semaphore);

bool crt_semaphore_is_valid(const struct crt_semaphore *semaphore);

/* What a stream does to signal a semaphore, or to wait for it. value: of a timeline. */
struct crt_mem_op crt_semaphore_op(const struct crt_semaphore *semaphore, bool is_wait,
                                   uint64_t value);

CRT_API_END

#endif
