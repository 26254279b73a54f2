/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that something else has made. Handles and descriptors have one layout in
 * both APIs; toolkits before 13 leave out reserved words behind, which nobody reads.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_EXTERNAL_H
#define PTXRUN_CUDART_RUNTIME_CUDART_EXTERNAL_H

#include "cudart/runtime/cuda_runtime_types.h"

typedef CUexternalMemory cudaExternalMemory_t;
typedef CUexternalSemaphore cudaExternalSemaphore_t;
typedef CUDA_EXTERNAL_MEMORY_HANDLE_DESC cudaExternalMemoryHandleDesc;
typedef CUDA_EXTERNAL_MEMORY_BUFFER_DESC cudaExternalMemoryBufferDesc;
typedef CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC cudaExternalSemaphoreHandleDesc;
typedef CUDA_EXTERNAL_SEMAPHORE_PARAMS cudaExternalSemaphoreParams; /* of signals and waits */

_Pragma("GCC visibility push(default)")

    cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
                                         const cudaExternalMemoryHandleDesc *descriptor);
cudaError_t cudaExternalMemoryGetMappedBuffer(void **pointer, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc *descriptor);
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory);
cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const cudaExternalSemaphoreHandleDesc *descriptor);
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore);
cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const cudaExternalSemaphoreParams *params,
                                              unsigned count, cudaStream_t stream);
cudaError_t cudaSignalExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t *semaphores,
                                                   const cudaExternalSemaphoreParams *params,
                                                   unsigned count, cudaStream_t stream);
cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const cudaExternalSemaphoreParams *params,
                                            unsigned count, cudaStream_t stream);
cudaError_t cudaWaitExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t *semaphores,
                                                 const cudaExternalSemaphoreParams *params,
                                                 unsigned count, cudaStream_t stream);

_Pragma("GCC visibility pop")

#endif
