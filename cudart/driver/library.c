/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries and kernels.
 */
#include "cudart/core/code/module.h"

#include "cudart/driver/internal.h"
#include "cudart/driver/jit_options.h"
#include "ptx/image.h"

/* Options that exist; their values may be missing. */
static CUresult check_options(const CUlibraryOption *options, unsigned count)
{
    if (count && !options)
        return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (options[i] < 0 || options[i] > CU_LIBRARY_BINARY_IS_PRESERVED)
            return CRT_INVALID_VALUE;
    return CRT_SUCCESS;
}

static bool is_preserved(const CUlibraryOption *options, void *const *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            return !values || values[i] != NULL;
    return false;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!library || !image || check_options(options, count) != CRT_SUCCESS)
        return CRT_INVALID_VALUE;
    struct jit_log log;
    result = jit_log_init(&log, jit_count, jit_options, jit_values);
    if (result != CRT_SUCCESS)
        return result;
    /* Whoever wants the log wants the errors now. */
    bool can_wait = is_preserved(options, values, count) && !log.error.cap && !log.info.cap;
    struct pxr_error error = {0};
    result = crt_library_load(image, PTX_IMAGE_SIZE_UNKNOWN, can_wait, library, &error);
    if (result == CRT_SUCCESS)
        jit_log_describe(&log, *library);
    jit_log_finish(&log, &error);
    return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options,
                               void **jit_values, unsigned jit_count, CUlibraryOption *options,
                               void **values, unsigned count)
{
    (void)values;
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!library || !path || check_options(options, count) != CRT_SUCCESS)
        return CRT_INVALID_VALUE;
    struct jit_log log;
    result = jit_log_init(&log, jit_count, jit_options, jit_values);
    if (result != CRT_SUCCESS)
        return result;
    struct pxr_error error = {0};
    result = crt_library_load_file(path, library, &error);
    if (result == CRT_SUCCESS)
        jit_log_describe(&log, *library);
    jit_log_finish(&log, &error);
    return result;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_library_unload(library) : result;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return kernel ? crt_library_get_kernel(library, name, kernel) : CRT_INVALID_VALUE;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!count)
        return CRT_INVALID_VALUE;
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    result = crt_library_open(library);
    if (result == CRT_SUCCESS)
        *count = library->kernel_count;
    return result;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!kernels && count)
        return CRT_INVALID_VALUE;
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    result = crt_library_open(library);
    for (unsigned i = 0; result == CRT_SUCCESS && i < count && i < library->kernel_count; i++)
        kernels[i] = library->kernels[i];
    return result;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!module)
        return CRT_INVALID_VALUE;
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    return crt_module_get(library, ctx, module);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                            const char *name)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUmodule module;
    if (!name)
        return CRT_INVALID_VALUE;
    result = cuLibraryGetModule(&module, library);
    if (result != CRT_SUCCESS)
        return result;
    uintptr_t address;
    size_t size_bytes;
    result = crt_module_get_global(module, name, &address, &size_bytes);
    if (result == CRT_SUCCESS)
        store_range(pointer, bytes, address, size_bytes);
    return result;
}

CUresult cuLibraryGetManaged(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                             const char *name)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    uintptr_t address;
    size_t size_bytes;
    result = crt_library_get_managed(library, name, &address, &size_bytes);
    if (result == CRT_SUCCESS)
        store_range(pointer, bytes, address, size_bytes);
    return result;
}

/* A unified function is one that GPUs and the host call by one pointer: there are none. */
CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *symbol)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!function || !symbol)
        return CRT_INVALID_VALUE;
    return crt_library_is_valid(library) ? CRT_NOT_FOUND : CRT_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!function)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    crt_kernel_want(kernel);
    *function = kernel;
    return CRT_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!library)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    *library = kernel->library;
    return CRT_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? cuFuncGetAttribute(value, attribute, kernel) : result;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? cuFuncSetAttribute(kernel, attribute, value) : result;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? cuFuncSetCacheConfig(kernel, config) : result;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, kernel);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
