/* SPDX-License-Identifier: Apache-2.0
 *
 * Sharing device memory and events between processes.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    return crt_done(crt_enter() ?: cuIpcGetMemHandle(handle, (CUdeviceptr)(uintptr_t)pointer));
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags)
{
    CUdeviceptr address = 0;
    cudaError_t error = pointer ? crt_enter() : cudaErrorInvalidValue;
    error = error ?: cuIpcOpenMemHandle_v2(&address, handle, flags);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    return crt_done(crt_enter() ?: cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)pointer));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuIpcGetEventHandle(handle, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    return crt_done(crt_enter() ?: cuIpcOpenEventHandle(event, handle));
}
