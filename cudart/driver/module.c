/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: a library of their own in the current context.
 */
#include "cudart/core/code/module.h"

#include "cudart/core/streams/capture.h"
#include "cudart/driver/internal.h"
#include "cudart/driver/jit_options.h"
#include "ptx/image.h"

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!mode)
        return CRT_INVALID_VALUE;
    *mode = crt_environment_get()->loads_eagerly ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CRT_SUCCESS;
}

/* Makes a fresh library a module of the current context. */
static CUresult adopt_library(CUmodule *module, CUlibrary library, CUcontext ctx)
{
    library->is_private = true;
    library->home = ctx;
    CUresult result = crt_module_get(library, ctx, module);
    if (result != CRT_SUCCESS)
        crt_library_unload(library);
    return result;
}

/* Drivers since CUDA 12.3 load modules in captures, too, whatever the mode: NVIDIA's Warp compiles
 * kernels when a capture comes to them. */
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!module || !path)
        return CRT_INVALID_VALUE;
    CUlibrary library;
    result = crt_library_load_file(path, &library, NULL);
    return result == CRT_SUCCESS ? adopt_library(module, library, ctx) : result;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!module || !image)
        return CRT_INVALID_VALUE;
    struct jit_log log;
    result = jit_log_init(&log, count, options, values);
    if (result != CRT_SUCCESS)
        return result;
    struct pxr_error error = {0};
    CUlibrary library;
    result = crt_library_load(image, PTX_IMAGE_SIZE_UNKNOWN, false, &library, &error);
    if (result == CRT_SUCCESS)
        jit_log_describe(&log, library);
    jit_log_finish(&log, &error);
    return result == CRT_SUCCESS ? adopt_library(module, library, ctx) : result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleUnload(CUmodule module)
{
    CUresult result = crt_check_ready();
    if (result == CRT_SUCCESS)
        result = crt_capture_check_unsafe();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    /* The module of a library goes with the library. */
    if (!module->library->is_private)
        return CRT_NOT_PERMITTED;
    return or_sticky(crt_library_unload(module->library));
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!function || !name)
        return CRT_INVALID_VALUE;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    result = crt_library_get_kernel(module->library, name, function);
    if (result == CRT_SUCCESS)
        crt_kernel_want(*function);
    return result;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    return cuLibraryGetKernelCount(count, module->library);
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    return cuLibraryEnumerateKernels(functions, count, module->library);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                              const char *name)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!name || (!pointer && !bytes))
        return CRT_INVALID_VALUE;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    uintptr_t address;
    size_t size_bytes;
    result = crt_module_get_global(module, name, &address, &size_bytes);
    if (result == CRT_SUCCESS)
        store_range(pointer, bytes, address, size_bytes);
    return result;
}
