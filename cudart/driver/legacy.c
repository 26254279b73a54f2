/* SPDX-License-Identifier: Apache-2.0
 *
 * The first versions of functions, for programs of CUDA's early years. Those whose arguments mean
 * the same today call their successors. Those with 32-bit device pointers are left out
 * (symbols.def): an address here does not fit.
 */
#include <limits.h>
#include <pthread.h>

#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/driver/internal.h"

/* ---- contexts ---- */

CUresult cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice device)
{
    return cuCtxCreate_v2(ctx, flags, device);
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    return cuCtxDestroy_v2(ctx);
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    return cuCtxPushCurrent_v2(ctx);
}

CUresult cuCtxPopCurrent(CUcontext *ctx)
{
    return cuCtxPopCurrent_v2(ctx);
}

/* Uses of a context beyond its creation are kept as its storage with this key; the lock guards all
 * such counts. */
static char uses_key;
static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t uses_locked(CUcontext ctx)
{
    void *uses = NULL;
    return crt_storage_get(ctx, &uses_key, &uses) == CRT_SUCCESS ? (uintptr_t)uses : 0;
}

CUresult cuCtxAttach(CUcontext *ctx, unsigned flags)
{
    CUcontext current;
    CUresult result = crt_context_require(&current);
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx || flags)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&uses_lock);
    result = crt_storage_put(current, &uses_key, (void *)(uses_locked(current) + 1), NULL);
    pthread_mutex_unlock(&uses_lock);
    if (result == CRT_SUCCESS)
        *ctx = current;
    return result;
}

CUresult cuCtxDetach(CUcontext ctx)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_context_is_valid(ctx) || ctx != crt_context_get_current())
        return CRT_INVALID_CONTEXT;
    pthread_mutex_lock(&uses_lock);
    uintptr_t uses = uses_locked(ctx);
    if (uses)
        result = crt_storage_put(ctx, &uses_key, (void *)(uses - 1), NULL);
    pthread_mutex_unlock(&uses_lock);
    return uses ? result : cuCtxDestroy_v2(ctx);
}

/* ---- memory: sizes of 32 bits, the largest for what is larger ---- */

static unsigned saturate(size_t bytes)
{
    return bytes < UINT_MAX ? (unsigned)bytes : UINT_MAX;
}

CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    size_t all = 0;
    result = cuDeviceTotalMem_v2(bytes ? &all : NULL, device);
    if (result == CRT_SUCCESS)
        *bytes = saturate(all);
    return result;
}

CUresult cuMemGetInfo(unsigned *free_bytes, unsigned *total_bytes)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    size_t free_all = 0;
    size_t total = 0;
    result = cuMemGetInfo_v2(free_bytes ? &free_all : NULL, total_bytes ? &total : NULL);
    if (result != CRT_SUCCESS)
        return result;
    if (free_bytes)
        *free_bytes = saturate(free_all);
    if (total_bytes)
        *total_bytes = saturate(total);
    return CRT_SUCCESS;
}

CUresult cuMemAllocHost(void **pointer, unsigned bytes)
{
    return cuMemAllocHost_v2(pointer, bytes);
}

CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return cuMemHostRegister_v2(pointer, bytes, flags);
}

/* ---- links ---- */

CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    return cuLinkCreate_v2(count, options, values, state);
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned count, CUjit_option *options, void **values)
{
    return cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                       CUjit_option *options, void **values)
{
    return cuLinkAddFile_v2(state, type, path, count, options, values);
}

/* ---- launches put together piece by piece ---- */

static CUresult put(CUfunction function, size_t offset, const void *value, size_t bytes)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return crt_kernel_put_old(function, offset, value, bytes);
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    uint32_t block[3] = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
    if (x <= 0 || y <= 0 || z <= 0)
        return CRT_INVALID_VALUE;
    return put(function, offsetof(struct crt_old_launch, block), block, sizeof block);
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    uint32_t shared_bytes = bytes;
    return put(function, offsetof(struct crt_old_launch, shared_bytes), &shared_bytes,
               sizeof shared_bytes);
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    size_t param_bytes = bytes;
    if (bytes > CRT_OLD_PARAM_BYTES)
        return CRT_INVALID_VALUE;
    return put(function, offsetof(struct crt_old_launch, param_bytes), &param_bytes,
               sizeof param_bytes);
}

CUresult cuParamSetv(CUfunction function, int offset, void *pointer, unsigned bytes)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || offset < 0 || offset > CRT_OLD_PARAM_BYTES ||
        bytes > CRT_OLD_PARAM_BYTES - (unsigned)offset)
        return CRT_INVALID_VALUE;
    return put(function, offsetof(struct crt_old_launch, params) + (size_t)offset, pointer, bytes);
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction function, int offset, float value)
{
    return cuParamSetv(function, offset, &value, sizeof value);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    if (width <= 0 || height <= 0)
        return CRT_INVALID_VALUE;
    struct crt_old_launch launch;
    crt_kernel_get_old(function, &launch);
    void *extra[] = {(void *)1, launch.params, (void *)2, &launch.param_bytes, NULL};
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, launch.block[0],
                          launch.block[1], launch.block[2], launch.shared_bytes, stream, NULL,
                          extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height)
{
    return cuLaunchGridAsync(function, width, height, NULL);
}

CUresult cuLaunch(CUfunction function)
{
    return cuLaunchGridAsync(function, 1, 1, NULL);
}
