/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver functions that the runtime's unit tests reach.
 */
#include "fake_driver.h"

#include <string.h>

struct fake_driver fake = {.version = 13000, .device_count = 1};

static int primary_place;
static int library_place;
static long kernel_place;
static _Thread_local CUcontext current;

#define PRIMARY ((CUcontext)(void *)&primary_place)
#define LIBRARY ((CUlibrary)(void *)&library_place)
#define KERNEL  ((CUkernel)(void *)&kernel_place)

CUresult cuDriverGetVersion(int *version)
{
    *version = fake.version;
    return CRT_SUCCESS;
}

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return fake.init_result;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = fake.device_count;
    return CRT_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal + 10;
    return CRT_SUCCESS;
}

/* Every attribute has its own number as value, except for sizes of launches. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute >= 1 && attribute <= 7 ? 1024 : attribute;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device)
{
    (void)device;
    strncpy(name, "fake device", (size_t)len);
    return CRT_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid, device, sizeof *uuid);
    return CRT_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 33;
    return CRT_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    *ctx = current;
    return CRT_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    current = ctx;
    return CRT_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 10;
    return current ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    (void)device;
    fake.retained++;
    *ctx = PRIMARY;
    return CRT_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    fake.released++;
    return CRT_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    (void)device;
    fake.resets++;
    return CRT_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return CRT_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    fake.stream = stream;
    return CRT_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count)
{
    (void)image, (void)jit_options, (void)jit_values, (void)jit_count;
    (void)options, (void)values, (void)count;
    fake.loaded++;
    *library = LIBRARY;
    return fake.load_result;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    fake.unloaded += library == LIBRARY;
    return CRT_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    (void)library;
    fake.kernels_looked_up++;
    if (strcmp(name, "known_kernel") != 0)
        return CRT_NOT_FOUND;
    *kernel = KERNEL;
    return CRT_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    *function = (CUfunction)kernel;
    return kernel == KERNEL ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                            const char *name)
{
    (void)library, (void)name;
    *pointer = (CUdeviceptr)(uintptr_t)fake.variable;
    *bytes = sizeof fake.variable;
    return CRT_SUCCESS;
}

CUresult cuLibraryGetManaged(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                             const char *name)
{
    (void)library, (void)name;
    *pointer = (CUdeviceptr)(uintptr_t)fake.managed;
    *bytes = sizeof fake.managed;
    return CRT_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra)
{
    (void)extra;
    fake.launches++;
    fake.launched = function;
    fake.stream = stream;
    fake.params = params;
    fake.shared_bytes = shared_bytes;
    memcpy(fake.grid, (unsigned[]){grid_x, grid_y, grid_z}, sizeof fake.grid);
    memcpy(fake.block, (unsigned[]){block_x, block_y, block_z}, sizeof fake.block);
    return CRT_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    (void)from;
    fake.copy_to = to;
    fake.copied_bytes = bytes;
    return fake.copy_result;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    (void)from;
    fake.copy_to = to;
    fake.copied_bytes = bytes;
    fake.stream = stream;
    return fake.copy_result;
}
