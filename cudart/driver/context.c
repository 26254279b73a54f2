/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: the primary one, created ones, and the state of the current one.
 */
#include "cudart/driver/internal.h"

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return ctx ? crt_primary_retain(crt_device_at(device), ctx) : CRT_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? crt_primary_release(crt_device_at(device)) : result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult result = check_device(device);
    return result == CRT_SUCCESS ? crt_primary_reset(crt_device_at(device)) : result;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_context_flags_are_valid(flags))
        return CRT_INVALID_VALUE;
    crt_primary_get(crt_device_at(device))->flags = flags;
    return CRT_SUCCESS;
}

/* The form before CUDA 11: flags of an active context could not be changed. */
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    const struct crt_context *ctx = crt_primary_get(crt_device_at(device));
    if (crt_context_flags_are_valid(flags) && ctx->is_active && ctx->flags != flags)
        return CRT_PRIMARY_CONTEXT_ACTIVE;
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!flags || !active)
        return CRT_INVALID_VALUE;
    *flags = crt_primary_get(crt_device_at(device))->flags;
    *active = crt_primary_get(crt_device_at(device))->is_active;
    return CRT_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return ctx ? crt_context_create(crt_device_at(device), flags, ctx) : CRT_INVALID_VALUE;
}

CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int count, unsigned flags,
                        CUdevice device)
{
    if (affinity || count)
        return CRT_UNSUPPORTED_EXEC_AFFINITY;
    return cuCtxCreate_v2(ctx, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    if (params && params->reserved[0])
        return CRT_UNSUPPORTED_EXEC_AFFINITY;
    if (params && params->reserved[2]) /* sharing with a graphics API */
        return CRT_NOT_SUPPORTED;
    return cuCtxCreate_v2(ctx, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_context_destroy(ctx) : result;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_context_push(ctx) : result;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_context_pop(ctx) : result;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_context_set_current(ctx) : result;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx)
        return CRT_INVALID_VALUE;
    *ctx = crt_context_get_handle();
    return CRT_SUCCESS;
}

/* The given context, or the current one when it is NULL; *green: the green one that it is, or NULL.
 */
static CUresult pick_green(CUcontext *ctx, struct crt_green **green)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUcontext handle = *ctx ? *ctx : crt_context_get_handle();
    if (!handle)
        return crt_context_missing();
    *green = crt_green_of(handle);
    *ctx = crt_context_behind(handle);
    return crt_context_is_valid(*ctx) ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
}

static CUresult pick_context(CUcontext *ctx)
{
    struct crt_green *green;
    return pick_green(ctx, &green);
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    CUresult result = pick_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!device)
        return CRT_INVALID_VALUE;
    *device = ctx->device->index;
    return CRT_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    return cuCtxGetDevice_v2(device, NULL);
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    CUcontext ctx = NULL;
    CUresult result = pick_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!flags)
        return CRT_INVALID_VALUE;
    *flags = ctx->flags;
    return CRT_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags)
{
    CUcontext ctx = NULL;
    CUresult result = pick_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_context_flags_are_valid(flags))
        return CRT_INVALID_VALUE;
    ctx->flags = flags;
    return CRT_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
    struct crt_green *green;
    CUresult result = pick_green(&ctx, &green);
    if (result != CRT_SUCCESS)
        return result;
    if (!id)
        return CRT_INVALID_VALUE;
    *id = green ? green->id : ctx->id;
    return CRT_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    struct crt_green *green;
    CUresult result = pick_green(&ctx, &green);
    if (result != CRT_SUCCESS)
        return result;
    return ctx->is_active ? crt_context_synchronize(ctx, green) : CRT_CONTEXT_IS_DESTROYED;
}

CUresult cuCtxSynchronize(void)
{
    return cuCtxSynchronize_v2(NULL);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    return result == CRT_SUCCESS ? crt_context_set_limit(ctx, (unsigned)limit, value) : result;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    return value ? crt_context_get_limit(ctx, (unsigned)limit, value) : CRT_INVALID_VALUE;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!config)
        return CRT_INVALID_VALUE;
    *config = (CUfunc_cache)ctx->cache_config;
    return CRT_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (config < 0 || config > 3)
        return CRT_INVALID_VALUE;
    ctx->cache_config = (unsigned)config;
    return CRT_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!config)
        return CRT_INVALID_VALUE;
    *config = (CUsharedconfig)ctx->shared_config;
    return CRT_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    /* Bank width cannot be chosen on this architecture: accepted without effect. */
    return config < 0 || config > 2 ? CRT_INVALID_VALUE : check_context();
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned *version)
{
    CUresult result = pick_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!version)
        return CRT_INVALID_VALUE;
    *version = CRT_CONTEXT_API_VERSION;
    return CRT_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (least)
        *least = CRT_PRIORITY_LEAST;
    if (greatest)
        *greatest = CRT_PRIORITY_GREATEST;
    return CRT_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    return check_context();
}

/* Both contexts of a peer access. */
static CUresult require_peers(CUcontext *ctx, CUcontext *peer)
{
    CUresult result = crt_context_require(ctx);
    if (result != CRT_SUCCESS)
        return result;
    *peer = crt_context_behind(*peer);
    return crt_context_is_valid(*peer) && (*peer)->is_active ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUcontext ctx;
    CUresult result = require_peers(&ctx, &peer);
    if (result != CRT_SUCCESS)
        return result;
    if (flags)
        return CRT_INVALID_VALUE;
    return peer == ctx ? CRT_INVALID_CONTEXT : crt_context_enable_peer(ctx, peer);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    CUcontext ctx;
    CUresult result = require_peers(&ctx, &peer);
    return result == CRT_SUCCESS ? crt_context_disable_peer(ctx, peer) : result;
}
