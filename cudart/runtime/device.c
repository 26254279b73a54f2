/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: choosing one, limits, flags, peers, versions. Properties are in device_properties.c.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_initialize();
    *count = error ? 0 : crt_visible_devices();
    return crt_done(error);
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = crt_initialize();
    if (!error && !device)
        error = cudaErrorInvalidValue;
    if (!error)
        *device = crt_current_device();
    return crt_done(error);
}

static cudaError_t check_device(int device)
{
    return crt_initialize() ?: (crt_is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaSetDevice(int device)
{
    return crt_done(check_device(device) ?: crt_use_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    const unsigned flags_are_valid = 1;
    CUcontext context = NULL;
    cudaError_t error = check_device(device);
    if (!error && (flags & ~flags_are_valid))
        error = cudaErrorInvalidValue;
    if (!error && (flags & flags_are_valid))
        error = cuDevicePrimaryCtxSetFlags_v2(crt_device(device), device_flags);
    return crt_done(error ?: crt_retain_primary(device, &context));
}

/* Any device will do for any wish: there is one kind. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wish)
{
    cudaError_t error = crt_initialize();
    if (!error && (!device || !wish))
        error = cudaErrorInvalidValue;
    if (!error)
        *device = 0;
    return crt_done(error);
}

/* The first of the list is what threads use that have not chosen: no device is ever busy. */
cudaError_t cudaSetValidDevices(int *devices, int count)
{
    cudaError_t error = crt_initialize();
    if (!error && (count < 0 || (count && !devices)))
        error = cudaErrorInvalidValue;
    for (int i = 0; i < count && !error; i++)
        error = check_device(devices[i]);
    if (!error)
        crt_set_first_device(count ? devices[0] : 0);
    return crt_done(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    return crt_done(crt_enter() ?: cuCtxSynchronize());
}

cudaError_t cudaDeviceReset(void)
{
    return crt_done(crt_initialize() ?: crt_reset_device());
}

/* limit: the numbers of CUlimit. */
cudaError_t cudaDeviceSetLimit(int limit, size_t value)
{
    return crt_done(crt_enter() ?: cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, int limit)
{
    return crt_done(crt_enter() ?: cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t cudaDeviceSetCacheConfig(int config)
{
    return crt_done(crt_enter() ?: cuCtxSetCacheConfig((CUfunc_cache)config));
}

cudaError_t cudaDeviceGetCacheConfig(int *config)
{
    CUfunc_cache value = 0;
    cudaError_t error = config ? crt_enter() ?: cuCtxGetCacheConfig(&value) : cudaErrorInvalidValue;
    if (!error)
        *config = (int)value;
    return crt_done(error);
}

/* Banks of shared memory have one width, four bytes (1). */
cudaError_t cudaDeviceSetSharedMemConfig(int config)
{
    (void)config;
    return crt_done(crt_enter());
}

cudaError_t cudaDeviceGetSharedMemConfig(int *config)
{
    if (!config)
        return crt_done(cudaErrorInvalidValue);
    *config = 1;
    return crt_done(crt_enter());
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return crt_done(crt_enter() ?: cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    return crt_done(crt_initialize()
                        ?: cuDevicePrimaryCtxSetFlags_v2(crt_device(crt_current_device()), flags));
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    int is_active = 0;
    if (!flags)
        return crt_done(cudaErrorInvalidValue);
    return crt_done(
        crt_initialize()
            ?: cuDevicePrimaryCtxGetState(crt_device(crt_current_device()), flags, &is_active));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return crt_done(crt_enter()); /* there is no such cache: nothing persists in it */
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    return crt_done(check_device(device) ?: cuDeviceGetPCIBusId(id, length, crt_device(device)));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    CUdevice handle = 0;
    cudaError_t error =
        device ? crt_initialize() ?: cuDeviceGetByPCIBusId(&handle, id) : cudaErrorInvalidValue;
    for (int i = 0; i < crt_visible_devices() && !error; i++) {
        if (crt_device(i) == handle)
            *device = i;
    }
    return crt_done(error);
}

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    return crt_done(check_device(device) ?: check_device(peer)
                        ?: cuDeviceCanAccessPeer(can_access, crt_device(device), crt_device(peer)));
}

/* The primary context of another device than the current one. */
static cudaError_t find_peer(int peer, CUcontext *context)
{
    cudaError_t error = crt_enter() ?: check_device(peer);
    if (!error && peer == crt_current_device())
        error = cudaErrorInvalidDevice;
    return error ?: crt_retain_primary(peer, context);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CUcontext context = NULL;
    return crt_done(find_peer(peer, &context) ?: cuCtxEnablePeerAccess(context, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    CUcontext context = NULL;
    return crt_done(find_peer(peer, &context) ?: cuCtxDisablePeerAccess(context));
}

/* attribute: the numbers of CUdevice_P2PAttribute. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int source, int destination)
{
    return crt_done(check_device(source) ?: check_device(destination)
                        ?: cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute,
                                                   crt_device(source), crt_device(destination)));
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return crt_done(version ? (cudaError_t)cuDriverGetVersion(version) : cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return crt_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
    return crt_done(crt_enter() ?: cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
    return crt_done(crt_enter() ?: cuProfilerStop());
}
