/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions: attributes. A kernel's handle is a function's handle.
 */
#include "cudart/core/code/module.h"
#include "cudart/driver/internal.h"

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return cuLibraryGetModule(module, function->library);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!value)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return or_sticky(crt_kernel_get_attribute(function, attribute, value));
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return or_sticky(crt_kernel_set_attribute(function, attribute, value));
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    if (config < 0 || config > 3)
        return CRT_INVALID_VALUE;
    function->cache_config = config;
    return or_sticky(CRT_SUCCESS);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return config < 0 || config > 2 ? CRT_INVALID_VALUE : CRT_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!name)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    *name = crt_kernel_name(function);
    return CRT_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!offset)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return crt_kernel_param(function, index, offset, bytes);
}

CUresult cuFuncIsLoaded(int *state, CUfunction function)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!state)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    *state = crt_kernel_is_loaded(function);
    return CRT_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    return crt_kernel_is_valid(function) ? crt_kernel_load(function) : CRT_INVALID_HANDLE;
}
