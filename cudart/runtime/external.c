/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that something else has made.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
                                     const cudaExternalMemoryHandleDesc *descriptor)
{
    return crt_done(crt_enter() ?: cuImportExternalMemory(memory, descriptor));
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **pointer, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc *descriptor)
{
    CUdeviceptr address = 0;
    cudaError_t error = pointer ? crt_enter() : cudaErrorInvalidValue;
    error = error ?: cuExternalMemoryGetMappedBuffer(&address, memory, descriptor);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
    return crt_done(crt_enter() ?: cuDestroyExternalMemory(memory));
}

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const cudaExternalSemaphoreHandleDesc *descriptor)
{
    return crt_done(crt_enter() ?: cuImportExternalSemaphore(semaphore, descriptor));
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore)
{
    return crt_done(crt_enter() ?: cuDestroyExternalSemaphore(semaphore));
}

cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const cudaExternalSemaphoreParams *params,
                                              unsigned count, cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuSignalExternalSemaphoresAsync(semaphores, params, count, stream));
}

cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const cudaExternalSemaphoreParams *params,
                                            unsigned count, cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuWaitExternalSemaphoresAsync(semaphores, params, count, stream));
}
