/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's device runtime: what the functions of kernel_abi/device_runtime.def do, but for those of
 * memory (device_memory.c). Results are written through the thread's pointers on its own stack and
 * without a lock, so a bad one faults like any access of the kernel. What takes more stack than
 * that is done aside.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/error_names.h"
#include "cudart/core/base/process.h"
#include "cudart/core/code/child_launch.h"
#include "cudart/core/code/device_call.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/thread_error.h"
#include "cudart/core/streams/context.h"
#include "kernel_abi/device_runtime.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

/* The only flags that streams and events of kernels may have, and must have. */
#define STREAM_NON_BLOCKING  1u
#define EVENT_DISABLE_TIMING 2u

/* From this version of PTX on, cudaFuncAttributes has the fields of clusters. */
#define PTX_WITH_CLUSTER_FIELDS 80

static struct crt_context *context(const struct crt_device_call *call)
{
    return crt_launch_of(call->thread->block->launch)->ctx;
}

static struct crt_launch_config shape(const struct crt_device_call *call, unsigned word)
{
    struct crt_launch_config config = {0};
    memcpy(config.grid, call->arguments + word * 8, sizeof config.grid);
    memcpy(config.block, call->arguments + (word + 2) * 8, sizeof config.block);
    config.dynamic_shared_bytes = crt_call_small_number(call, word + 4);
    return config;
}

static uint64_t aside(struct crt_device_call *call, void (*work)(void *call))
{
    return sch_call_aside(work, call) ? call->result : CRT_CHILD_OUT_OF_MEMORY;
}

/* ---- launches ---- */

/* What a function that gives a pointer does about an error. */
static uint64_t no_buffer(const struct crt_device_call *call, uint32_t error)
{
    crt_thread_error_set(call->thread, error);
    return 0;
}

struct buffer_call {
    struct crt_device_call *call;
    uint64_t address;
    uint32_t error;
};

static void get_buffer_v2(void *arg)
{
    struct buffer_call *buffer = arg;
    const struct crt_device_call *call = buffer->call;
    struct crt_launch_config config = shape(call, 1);
    buffer->error =
        crt_child_buffer_for(call->thread, crt_call_number(call, 0), &config, &buffer->address);
}

static void get_buffer(void *arg)
{
    struct buffer_call *buffer = arg;
    const struct crt_device_call *call = buffer->call;
    buffer->error = crt_child_buffer(call->thread, crt_call_number(call, 1), &buffer->address);
}

static uint64_t ask_for_buffer(struct crt_device_call *call, void (*ask)(void *buffer))
{
    struct buffer_call buffer = {.call = call, .error = CRT_CHILD_OUT_OF_MEMORY};
    sch_call_aside(ask, &buffer);
    return buffer.error == CRT_CHILD_SUCCESS ? buffer.address : no_buffer(call, buffer.error);
}

uint64_t crt_do_GetParameterBufferV2(struct crt_device_call *call)
{
    return ask_for_buffer(call, get_buffer_v2);
}

uint64_t crt_do_GetParameterBuffer(struct crt_device_call *call)
{
    return ask_for_buffer(call, get_buffer);
}

static void launch_v2(void *arg)
{
    struct crt_device_call *call = arg;
    call->result =
        crt_child_launch(call->thread, crt_call_number(call, 0), crt_call_stream(call, 1));
}

uint64_t crt_do_LaunchDeviceV2(struct crt_device_call *call)
{
    return aside(call, launch_v2);
}

static void launch(void *arg)
{
    struct crt_device_call *call = arg;
    struct crt_launch_config config = shape(call, 2);
    call->result = crt_child_launch_with(call->thread, crt_call_number(call, 0), &config,
                                         crt_call_number(call, 1), crt_call_stream(call, 7));
}

uint64_t crt_do_LaunchDevice(struct crt_device_call *call)
{
    return aside(call, launch);
}

static void launch_graph(void *arg)
{
    struct crt_device_call *call = arg;
    call->result =
        crt_child_graph(call->thread, crt_call_number(call, 0), crt_call_number(call, 1));
}

uint64_t crt_do_GraphLaunch(struct crt_device_call *call)
{
    return aside(call, launch_graph);
}

/* ---- streams and events ---- */

uint64_t crt_do_StreamCreateWithFlags(struct crt_device_call *call)
{
    uint64_t handle;
    uint64_t *result = crt_call_pointer(call, 0);
    if (crt_call_small_number(call, 1) != STREAM_NON_BLOCKING)
        return CRT_CHILD_INVALID_VALUE;
    uint32_t error = crt_child_stream_create(call->thread, &handle);
    if (error == CRT_CHILD_SUCCESS)
        *result = handle;
    return error;
}

uint64_t crt_do_StreamDestroy(struct crt_device_call *call)
{
    return crt_child_stream_destroy(call->thread, crt_call_number(call, 0));
}

static void wait_event(void *arg)
{
    struct crt_device_call *call = arg;
    call->result =
        crt_child_event_wait(call->thread, crt_call_number(call, 1), crt_call_stream(call, 0));
}

uint64_t crt_do_StreamWaitEvent(struct crt_device_call *call)
{
    return aside(call, wait_event);
}

uint64_t crt_do_EventCreateWithFlags(struct crt_device_call *call)
{
    uint64_t handle;
    uint64_t *result = crt_call_pointer(call, 0);
    if (crt_call_small_number(call, 1) != EVENT_DISABLE_TIMING)
        return CRT_CHILD_INVALID_VALUE;
    uint32_t error = crt_child_event_create(call->thread, &handle);
    if (error == CRT_CHILD_SUCCESS)
        *result = handle;
    return error;
}

uint64_t crt_do_EventRecord(struct crt_device_call *call)
{
    return crt_child_event_record(call->thread, crt_call_number(call, 0), crt_call_stream(call, 1));
}

uint64_t crt_do_EventRecordWithFlags(struct crt_device_call *call)
{
    return crt_call_small_number(call, 2) <= 1 ? crt_do_EventRecord(call) : CRT_CHILD_INVALID_VALUE;
}

uint64_t crt_do_EventDestroy(struct crt_device_call *call)
{
    return crt_child_event_destroy(call->thread, crt_call_number(call, 0));
}

/* ---- errors ---- */

uint64_t crt_do_GetLastError(struct crt_device_call *call)
{
    return crt_thread_error_take(call->thread);
}

uint64_t crt_do_PeekAtLastError(struct crt_device_call *call)
{
    return crt_thread_error_get(call->thread);
}

uint64_t crt_do_GetErrorString(struct crt_device_call *call)
{
    return (uint64_t)(uintptr_t)crt_error_text(crt_call_small_number(call, 0));
}

uint64_t crt_do_GetErrorName(struct crt_device_call *call)
{
    return (uint64_t)(uintptr_t)crt_error_name(crt_call_small_number(call, 0));
}

/* ---- what there is ---- */

static uint64_t give(const struct crt_device_call *call, int value)
{
    *(int *)crt_call_pointer(call, 0) = value;
    return CRT_CHILD_SUCCESS;
}

uint64_t crt_do_GetDevice(struct crt_device_call *call)
{
    return give(call, context(call)->device->index);
}

uint64_t crt_do_GetDeviceCount(struct crt_device_call *call)
{
    return give(call, crt_device_count());
}

uint64_t crt_do_DeviceGetAttribute(struct crt_device_call *call)
{
    int value;
    const struct crt_device *device = crt_device_at((int)crt_call_small_number(call, 2));
    if (!device)
        return CRT_CHILD_INVALID_DEVICE;
    enum crt_result result =
        crt_device_attribute(device, (int)crt_call_small_number(call, 1), &value);
    return result == CRT_SUCCESS ? give(call, value) : (uint64_t)result;
}

uint64_t crt_do_DeviceGetLimit(struct crt_device_call *call)
{
    size_t value;
    enum crt_result result =
        crt_context_get_limit(context(call), crt_call_small_number(call, 1), &value);
    if (result == CRT_SUCCESS)
        *(size_t *)crt_call_pointer(call, 0) = value;
    return (uint64_t)result;
}

uint64_t crt_do_DeviceGetCacheConfig(struct crt_device_call *call)
{
    return give(call, (int)atomic_load(&context(call)->cache_config));
}

uint64_t crt_do_DeviceGetSharedMemConfig(struct crt_device_call *call)
{
    return give(call, (int)atomic_load(&context(call)->shared_config));
}

uint64_t crt_do_RuntimeGetVersion(struct crt_device_call *call)
{
    return give(call, CRT_DRIVER_VERSION);
}

/* cudaFuncAttributes: its sizes, then numbers in the order of the function attributes from
 * maxThreadsPerBlock on. */
#define SIZES           3
#define NUMBERS         7
#define CLUSTER_NUMBERS 6

struct function_attributes {
    size_t sizes[SIZES];
    int numbers[NUMBERS];
    int cluster_numbers[CLUSTER_NUMBERS];
};

/* Their numbers in the driver API. */
static const int size_attributes[SIZES] = {1, 2, 3};
static const int number_attributes[NUMBERS] = {0, 4, 5, 6, 7, 8, 9};
static const int cluster_attributes[CLUSTER_NUMBERS] = {10, 11, 12, 13, 15, 14};

static enum crt_result get_numbers(struct crt_kernel *kernel, const int *attributes, int count,
                                   int *values)
{
    enum crt_result result = CRT_SUCCESS;
    for (int i = 0; i < count && result == CRT_SUCCESS; i++)
        result = crt_kernel_get_attribute(kernel, attributes[i], &values[i]);
    return result;
}

uint64_t crt_do_FuncGetAttributes(struct crt_device_call *call)
{
    struct crt_kernel *kernel = crt_child_kernel(call->thread, crt_call_number(call, 1));
    struct function_attributes all;
    int sizes[SIZES];
    if (!kernel)
        return CRT_CHILD_INVALID_FUNCTION;
    enum crt_result result = get_numbers(kernel, size_attributes, SIZES, sizes);
    if (result == CRT_SUCCESS)
        result = get_numbers(kernel, number_attributes, NUMBERS, all.numbers);
    if (result == CRT_SUCCESS)
        result = get_numbers(kernel, cluster_attributes, CLUSTER_NUMBERS, all.cluster_numbers);
    if (result != CRT_SUCCESS)
        return (uint64_t)result;
    for (int i = 0; i < SIZES; i++)
        all.sizes[i] = (size_t)sizes[i];
    bool has_clusters = kernel->library->outline->version >= PTX_WITH_CLUSTER_FIELDS;
    memcpy(crt_call_pointer(call, 0), &all,
           has_clusters ? sizeof all : offsetof(struct function_attributes, cluster_numbers));
    return CRT_CHILD_SUCCESS;
}

uint64_t crt_do_OccupancyMaxActiveBlocksPerMultiprocessor(struct crt_device_call *call)
{
    int blocks;
    struct crt_kernel *kernel = crt_child_kernel(call->thread, crt_call_number(call, 1));
    if (!kernel)
        return CRT_CHILD_INVALID_FUNCTION;
    enum crt_result result = crt_kernel_blocks_per_sm(kernel, (int)crt_call_small_number(call, 2),
                                                      crt_call_number(call, 3), &blocks);
    return result == CRT_SUCCESS ? give(call, blocks) : (uint64_t)result;
}

uint64_t crt_do_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(struct crt_device_call *call)
{
    return crt_call_small_number(call, 4) <= 1
               ? crt_do_OccupancyMaxActiveBlocksPerMultiprocessor(call)
               : CRT_CHILD_INVALID_VALUE;
}

/* ---- the call ---- */

static uint64_t (*const functions[RT_DEVICE_FUNCTION_COUNT])(struct crt_device_call *call) = {
#define DEVICE_FUNCTION(name, ...) [RT_DEVICE_##name] = crt_do_##name,
#include "kernel_abi/device_runtime.def"
#undef DEVICE_FUNCTION
};

/* Reading an error is no error. */
static bool tells_error(uint32_t function)
{
    return function == RT_DEVICE_GetLastError || function == RT_DEVICE_PeekAtLastError;
}

uint64_t rt_device_runtime(struct rt_thread *thread, uint32_t function, uint64_t arguments)
{
    uint32_t plain = function & ~RT_DEVICE_PER_THREAD;
    struct crt_device_call call = {.thread = thread,
                                   .arguments = (const uint8_t *)(uintptr_t)arguments,
                                   .is_per_thread = function != plain};
    uint64_t result = functions[plain](&call);
    if (!rt_device_functions[plain].gives_pointer && !tells_error(plain))
        crt_thread_error_set(thread, (uint32_t)result);
    return result;
}
