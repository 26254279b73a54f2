/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of libraries and messages: what was added to those of exports.h.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_MODULE_H
#define PTXRUN_CUDART_RUNTIME_CUDART_MODULE_H

#include "cudart/runtime/cuda_runtime_types.h"

typedef CUlogsCallback cudaLogsCallback_t;
typedef CUlogsCallbackHandle cudaLogsCallbackHandle;
typedef CUlogIterator cudaLogIterator;

_Pragma("GCC visibility push(default)")

    cudaError_t
    cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library, const char *symbol);
cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void *data,
                                     cudaLogsCallbackHandle *handle);
cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle);
cudaError_t cudaLogsCurrent(cudaLogIterator *iterator, unsigned flags);
cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *path, unsigned flags);
cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
                                 unsigned flags);

_Pragma("GCC visibility pop")

#endif
