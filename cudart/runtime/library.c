/* SPDX-License-Identifier: Apache-2.0
 *
 * Code loaded at run time, and the ways down to the driver API.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, CUjit_option *jit_options,
                                void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                void **values, unsigned count)
{
    return crt_done(crt_enter()
                        ?: cuLibraryLoadData(library, code, jit_options, jit_values, jit_count,
                                             options, values, count));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    CUjit_option *jit_options, void **jit_values,
                                    unsigned jit_count, CUlibraryOption *options, void **values,
                                    unsigned count)
{
    return crt_done(crt_enter()
                        ?: cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count,
                                                 options, values, count));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return crt_done(crt_enter() ?: cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return crt_done(crt_enter() ?: cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    return crt_done(crt_enter() ?: cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count,
                                        cudaLibrary_t library)
{
    return crt_done(crt_enter() ?: cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t cudaLibraryGetGlobal(void **result, size_t *size_bytes, cudaLibrary_t library,
                                 const char *name)
{
    CUdeviceptr address = 0;
    cudaError_t error = crt_enter() ?: cuLibraryGetGlobal(&address, size_bytes, library, name);
    if (!error && result)
        *result = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaLibraryGetManaged(void **result, size_t *size_bytes, cudaLibrary_t library,
                                  const char *name)
{
    CUdeviceptr address = 0;
    cudaError_t error = crt_enter() ?: cuLibraryGetManaged(&address, size_bytes, library, name);
    if (!error && result)
        *result = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                          const char *symbol)
{
    return crt_done(crt_enter() ?: cuLibraryGetUnifiedFunction(function, library, symbol));
}

/* ---- messages ---- */

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void *data,
                                     cudaLogsCallbackHandle *handle)
{
    return crt_done(cuLogsRegisterCallback(callback, data, handle));
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle)
{
    return crt_done(cuLogsUnregisterCallback(handle));
}

cudaError_t cudaLogsCurrent(cudaLogIterator *iterator, unsigned flags)
{
    return crt_done(cuLogsCurrent(iterator, flags));
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *path, unsigned flags)
{
    return crt_done(cuLogsDumpToFile(iterator, path, flags));
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
                                 unsigned flags)
{
    return crt_done(cuLogsDumpToMemory(iterator, buffer, size, flags));
}

/* ---- ways down to the driver ---- */

/* flags and status have the numbers of cuGetProcAddress. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *status)
{
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
    if (!name || !function)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_initialize();
    if (!error)
        error = cuGetProcAddress_v2(name, function, (int)version, flags, &result);
    if (status)
        *status = (int)result;
    return crt_done(error);
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, status);
}

cudaError_t cudaGetExportTable(const void **table, const CUuuid *id)
{
    return crt_done(crt_initialize() ?: cuGetExportTable(table, id));
}

/* Pure arithmetic: describes a texel. kind: the numbers of cudaChannelFormatKind. */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = kind};
}
