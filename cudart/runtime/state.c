/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the process: the driver, its devices, and the primary context of each.
 *
 * A thread that has made a context of its own current keeps it. Any other thread gets the primary
 * context of its device, which is retained once for the process.
 */
#include "cudart/runtime/runtime.h"

#include "util/log.h"
#include "util/options.h"

#include <pthread.h>
#include <stdatomic.h>

/* Numbers of CUdevice_attribute. */
enum {
    ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    ATTRIBUTE_MAX_GRID_DIM_X = 5,
    ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    ATTRIBUTE_MAX_GRID_DIM_Z = 7,
};

struct device {
    CUdevice handle;
    _Atomic(CUcontext) primary; /* NULL while not retained; written under state.lock */
    struct crt_launch_limits limits;
};

/* Written once by initialize, except for the primary contexts. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    cudaError_t result;
    int device_count;
    struct device devices[CRT_DEVICES_MAX];
} state = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Of threads that have not called cudaSetDevice. */
static atomic_int first_device;

static _Thread_local int chosen_device = -1;

static int thread_device(void)
{
    return chosen_device >= 0 ? chosen_device : atomic_load(&first_device);
}

static unsigned attribute_of(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return cuDeviceGetAttribute(&value, attribute, device) ? 0 : (unsigned)value;
}

static cudaError_t find_device(int ordinal)
{
    struct device *device = &state.devices[ordinal];
    cudaError_t error = cuDeviceGet(&device->handle, ordinal);
    if (error)
        return error;
    struct crt_launch_limits *limits = &device->limits;
    limits->threads = attribute_of(device->handle, ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    limits->block[0] = attribute_of(device->handle, ATTRIBUTE_MAX_BLOCK_DIM_X);
    limits->block[1] = attribute_of(device->handle, ATTRIBUTE_MAX_BLOCK_DIM_Y);
    limits->block[2] = attribute_of(device->handle, ATTRIBUTE_MAX_BLOCK_DIM_Z);
    limits->grid[0] = attribute_of(device->handle, ATTRIBUTE_MAX_GRID_DIM_X);
    limits->grid[1] = attribute_of(device->handle, ATTRIBUTE_MAX_GRID_DIM_Y);
    limits->grid[2] = attribute_of(device->handle, ATTRIBUTE_MAX_GRID_DIM_Z);
    return cudaSuccess;
}

static cudaError_t start_driver(void)
{
    int version = 0;
    int count = 0;
    cudaError_t error = cuDriverGetVersion(&version) ?: cuInit(0) ?: cuDeviceGetCount(&count);
    if (error)
        return error;
    if (version < CUDART_VERSION)
        return cudaErrorInsufficientDriver;
    if (count == 0)
        return cudaErrorNoDevice;
    state.device_count = count < CRT_DEVICES_MAX ? count : CRT_DEVICES_MAX;
    for (int i = 0; i < state.device_count && !error; i++)
        error = find_device(i);
    return error;
}

static void initialize(void)
{
    pxr_log_set_level((enum pxr_log_level)pxr_options_get()->log);
    state.result = start_driver();
}

cudaError_t crt_initialize(void)
{
    pthread_once(&state.once, initialize);
    return state.result;
}

int crt_visible_devices(void)
{
    return state.device_count;
}

bool crt_is_device(int ordinal)
{
    return ordinal >= 0 && ordinal < state.device_count;
}

CUdevice crt_device(int ordinal)
{
    return state.devices[ordinal].handle;
}

void crt_set_first_device(int ordinal)
{
    atomic_store(&first_device, ordinal);
}

int crt_current_device(void)
{
    if (state.device_count == 1)
        return 0;
    CUcontext context = NULL;
    CUdevice handle = 0;
    if (cuCtxGetCurrent(&context) || !context || cuCtxGetDevice(&handle))
        return thread_device();
    for (int i = 0; i < state.device_count; i++) {
        if (state.devices[i].handle == handle)
            return i;
    }
    return thread_device();
}

const struct crt_launch_limits *crt_launch_limits_get(void)
{
    return &state.devices[crt_current_device()].limits;
}

/* The primary context, retained for the process at the first call. */
static cudaError_t retain_primary(struct device *device, CUcontext *context)
{
    pthread_mutex_lock(&state.lock);
    cudaError_t error = cudaSuccess;
    *context = atomic_load_explicit(&device->primary, memory_order_relaxed);
    if (!*context) {
        error = cuDevicePrimaryCtxRetain(context, device->handle);
        if (!error) /* pairs with the load in revive_primary */
            atomic_store_explicit(&device->primary, *context, memory_order_release);
    }
    pthread_mutex_unlock(&state.lock);
    return error;
}

cudaError_t crt_retain_primary(int ordinal, CUcontext *context)
{
    return retain_primary(&state.devices[ordinal], context);
}

static cudaError_t enter_device(int ordinal)
{
    CUcontext context = NULL;
    return crt_retain_primary(ordinal, &context) ?: cuCtxSetCurrent(context) ?: crt_place_managed();
}

cudaError_t crt_use_device(int ordinal)
{
    cudaError_t error = enter_device(ordinal);
    if (!error)
        chosen_device = ordinal;
    return error;
}

/* A context is current. Either this library has the primary context retained and nothing is to do,
 * or the current one may be a primary context that another thread has reset: then it comes to life
 * again by being retained. */
static cudaError_t revive_primary(void)
{
    struct device *device = &state.devices[crt_current_device()];
    CUcontext primary = NULL;
    if (atomic_load_explicit(&device->primary, memory_order_acquire))
        return cudaSuccess;
    return retain_primary(device, &primary) ?: crt_place_managed();
}

cudaError_t crt_enter(void)
{
    cudaError_t error = crt_initialize();
    if (error)
        return error;
    CUcontext context = NULL;
    error = cuCtxGetCurrent(&context);
    if (error)
        return error;
    return context ? revive_primary() : enter_device(thread_device());
}

cudaError_t crt_reset_device(void)
{
    struct device *device = &state.devices[crt_current_device()];
    pthread_mutex_lock(&state.lock);
    CUcontext primary = atomic_load_explicit(&device->primary, memory_order_relaxed);
    cudaError_t error = cuDevicePrimaryCtxReset(device->handle);
    if (primary && !error)
        atomic_store_explicit(&device->primary, NULL, memory_order_release);
    pthread_mutex_unlock(&state.lock);
    if (!error && primary)
        error = cuCtxSetCurrent(NULL);
    return error;
}

/* The library goes away: at exit, or with the last plugin that uses it. */
__attribute__((destructor)) static void release_primaries(void)
{
    for (int i = 0; i < state.device_count; i++) {
        if (atomic_exchange(&state.devices[i].primary, NULL))
            cuDevicePrimaryCtxRelease(state.devices[i].handle);
    }
}
