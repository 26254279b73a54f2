/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that something else has made: types and functions of the driver API.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_EXTERNAL_H
#define PTXRUN_CUDART_DRIVER_CUDA_EXTERNAL_H

#include <stddef.h>

#include "cudart/driver/cuda_types.h"

typedef struct crt_external_memory *CUexternalMemory;
typedef struct crt_semaphore *CUexternalSemaphore;

/* Types of handles; those between are of Windows, Direct3D and NvSci. */
enum {
    CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1,
    CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD = 9,
    CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 1,
    CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD = 9,
    CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 = 10,
    CUDA_EXTERNAL_MEMORY_DEDICATED = 1
};

typedef union {
    int fd;
    struct {
        void *handle;
        const void *name;
    } win32;
} CUexternalHandle;

typedef struct {
    int type;
    CUexternalHandle handle;
    unsigned long long size;
    unsigned flags;
    unsigned reserved[16];
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC;
_Static_assert(sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC) == 104, "layout of the toolkit");
_Static_assert(offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size) == 24, "layout of the toolkit");

typedef struct {
    unsigned long long offset;
    unsigned long long size;
    unsigned flags;
    unsigned reserved[16];
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;
_Static_assert(sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC) == 88, "layout of the toolkit");

typedef struct {
    int type;
    CUexternalHandle handle;
    unsigned flags;
    unsigned reserved[16];
} CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC;
_Static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) == 96, "layout of the toolkit");

/* Of a signal or a wait, which have one layout. */
typedef struct {
    struct {
        struct {
            unsigned long long value;
        } fence;
        unsigned reserved[16]; /* NvSciSync's fence, a keyed mutex */
    } params;
    unsigned flags;
    unsigned reserved[16];
} CUDA_EXTERNAL_SEMAPHORE_PARAMS;
_Static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_PARAMS) == 144, "layout of the toolkit");
_Static_assert(offsetof(CUDA_EXTERNAL_SEMAPHORE_PARAMS, flags) == 72, "layout of the toolkit");

_Pragma("GCC visibility push(default)")

    CUresult cuImportExternalMemory(CUexternalMemory *memory,
                                    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor);
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *descriptor);
CUresult cuDestroyExternalMemory(CUexternalMemory memory);
CUresult cuImportExternalSemaphore(CUexternalSemaphore *semaphore,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *descriptor);
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore);
CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                         const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                         unsigned count, CUstream stream);
CUresult cuSignalExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                              const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                              unsigned count, CUstream stream);
CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                       const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params, unsigned count,
                                       CUstream stream);
CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                            const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                            unsigned count, CUstream stream);

_Pragma("GCC visibility pop")

#endif
