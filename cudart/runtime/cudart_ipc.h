/* SPDX-License-Identifier: Apache-2.0
 *
 * Sharing device memory and events between processes. Handles have one layout in both APIs.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_IPC_H
#define PTXRUN_CUDART_RUNTIME_CUDART_IPC_H

#include "cudart/runtime/cuda_runtime_types.h"

typedef CUipcMemHandle cudaIpcMemHandle_t;
typedef CUipcEventHandle cudaIpcEventHandle_t;

_Pragma("GCC visibility push(default)")

    cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer);
cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void *pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);

_Pragma("GCC visibility pop")

#endif
