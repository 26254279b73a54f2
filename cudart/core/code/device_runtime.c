/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's device runtime: what each function of kernel_abi/device_runtime.def does. Results are
 * written through the thread's pointers on its own stack and without a lock, so a bad one faults
 * like any access of the kernel. What takes more stack than that is done aside.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/code/child_launch.h"
#include "cudart/core/code/child_memory.h"
#include "cudart/core/code/children.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/thread_error.h"
#include "cudart/core/streams/context.h"
#include "kernel_abi/device_runtime.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

/* The only flags that streams and events of kernels may have, and must have. */
#define STREAM_NON_BLOCKING   1u
#define EVENT_DISABLE_TIMING  2u

#define COPY_DEVICE_TO_DEVICE 3u
#define COPY_DEFAULT          4u

/* From this version of PTX on, cudaFuncAttributes has the fields of clusters. */
#define PTX_WITH_CLUSTER_FIELDS 80

struct call {
    struct rt_thread *thread;
    const uint8_t *arguments;
    bool is_per_thread; /* stream 0 is the thread's own */
    uint64_t result;    /* of what is done aside */
};

/* ---- arguments ---- */

static uint64_t number(const struct call *call, unsigned word)
{
    uint64_t value;
    memcpy(&value, call->arguments + word * sizeof value, sizeof value);
    return value;
}

static uint32_t small_number(const struct call *call, unsigned word)
{
    return (uint32_t)number(call, word);
}

static void *pointer(const struct call *call, unsigned word)
{
    return (void *)(uintptr_t)number(call, word);
}

static uint64_t stream(const struct call *call, unsigned word)
{
    return crt_child_default_stream(number(call, word), call->is_per_thread);
}

static struct crt_context *context(const struct call *call)
{
    return crt_launch_of(call->thread->block->launch)->ctx;
}

static struct crt_launch_config shape(const struct call *call, unsigned word)
{
    struct crt_launch_config config = {0};
    memcpy(config.grid, call->arguments + word * 8, sizeof config.grid);
    memcpy(config.block, call->arguments + (word + 2) * 8, sizeof config.block);
    config.dynamic_shared_bytes = small_number(call, word + 4);
    return config;
}

static uint64_t aside(struct call *call, void (*work)(void *call))
{
    return sch_call_aside(work, call) ? call->result : CRT_CHILD_OUT_OF_MEMORY;
}

/* ---- launches ---- */

/* What a function that gives a pointer does about an error. */
static uint64_t no_buffer(const struct call *call, uint32_t error)
{
    crt_thread_error_set(call->thread, error);
    return 0;
}

struct buffer_call {
    struct call *call;
    uint64_t address;
    uint32_t error;
};

static void get_buffer_v2(void *arg)
{
    struct buffer_call *buffer = arg;
    const struct call *call = buffer->call;
    struct crt_launch_config config = shape(call, 1);
    buffer->error = crt_child_buffer_for(call->thread, number(call, 0), &config, &buffer->address);
}

static void get_buffer(void *arg)
{
    struct buffer_call *buffer = arg;
    const struct call *call = buffer->call;
    buffer->error = crt_child_buffer(call->thread, number(call, 1), &buffer->address);
}

static uint64_t ask_for_buffer(struct call *call, void (*ask)(void *buffer))
{
    struct buffer_call buffer = {.call = call, .error = CRT_CHILD_OUT_OF_MEMORY};
    sch_call_aside(ask, &buffer);
    return buffer.error == CRT_CHILD_SUCCESS ? buffer.address : no_buffer(call, buffer.error);
}

static uint64_t do_GetParameterBufferV2(struct call *call)
{
    return ask_for_buffer(call, get_buffer_v2);
}

static uint64_t do_GetParameterBuffer(struct call *call)
{
    return ask_for_buffer(call, get_buffer);
}

static void launch_v2(void *arg)
{
    struct call *call = arg;
    call->result = crt_child_launch(call->thread, number(call, 0), stream(call, 1));
}

static uint64_t do_LaunchDeviceV2(struct call *call)
{
    return aside(call, launch_v2);
}

static void launch(void *arg)
{
    struct call *call = arg;
    struct crt_launch_config config = shape(call, 2);
    call->result = crt_child_launch_with(call->thread, number(call, 0), &config, number(call, 1),
                                         stream(call, 7));
}

static uint64_t do_LaunchDevice(struct call *call)
{
    return aside(call, launch);
}

static void launch_graph(void *arg)
{
    struct call *call = arg;
    call->result = crt_child_graph(call->thread, number(call, 0), number(call, 1));
}

static uint64_t do_GraphLaunch(struct call *call)
{
    return aside(call, launch_graph);
}

/* ---- streams and events ---- */

static uint64_t do_StreamCreateWithFlags(struct call *call)
{
    uint64_t handle;
    uint64_t *result = pointer(call, 0);
    if (small_number(call, 1) != STREAM_NON_BLOCKING)
        return CRT_CHILD_INVALID_VALUE;
    uint32_t error = crt_child_stream_create(call->thread, &handle);
    if (error == CRT_CHILD_SUCCESS)
        *result = handle;
    return error;
}

static uint64_t do_StreamDestroy(struct call *call)
{
    return crt_child_stream_destroy(call->thread, number(call, 0));
}

static void wait_event(void *arg)
{
    struct call *call = arg;
    call->result = crt_child_event_wait(call->thread, number(call, 1), stream(call, 0));
}

static uint64_t do_StreamWaitEvent(struct call *call)
{
    return aside(call, wait_event);
}

static uint64_t do_EventCreateWithFlags(struct call *call)
{
    uint64_t handle;
    uint64_t *result = pointer(call, 0);
    if (small_number(call, 1) != EVENT_DISABLE_TIMING)
        return CRT_CHILD_INVALID_VALUE;
    uint32_t error = crt_child_event_create(call->thread, &handle);
    if (error == CRT_CHILD_SUCCESS)
        *result = handle;
    return error;
}

static uint64_t do_EventRecord(struct call *call)
{
    return crt_child_event_record(call->thread, number(call, 0), stream(call, 1));
}

static uint64_t do_EventRecordWithFlags(struct call *call)
{
    return small_number(call, 2) <= 1 ? do_EventRecord(call) : CRT_CHILD_INVALID_VALUE;
}

static uint64_t do_EventDestroy(struct call *call)
{
    return crt_child_event_destroy(call->thread, number(call, 0));
}

/* ---- memory ---- */

static uint64_t do_Malloc(struct call *call)
{
    uint64_t *result = pointer(call, 0);
    uint64_t size_bytes = number(call, 1);
    uint64_t block = rt_malloc(call->thread, size_bytes);
    if (!block && size_bytes)
        return CRT_CHILD_OUT_OF_MEMORY;
    *result = block;
    return CRT_CHILD_SUCCESS;
}

static uint64_t do_Free(struct call *call)
{
    void *block = pointer(call, 0);
    return !block || crt_heap_give(block) ? CRT_CHILD_SUCCESS : CRT_CHILD_INVALID_VALUE;
}

struct box_call {
    struct rt_thread *thread;
    struct crt_box_work work;
    uint64_t stream;
    uint32_t error;
};

static void launch_box(void *arg)
{
    struct box_call *box = arg;
    box->error = crt_child_box(box->thread, &box->work, box->stream);
}

static uint64_t run_box(const struct call *call, const struct crt_box_work *work, unsigned word)
{
    struct box_call box = {call->thread, *work, stream(call, word), CRT_CHILD_OUT_OF_MEMORY};
    if (work->height > 1 && work->dst.pitch_bytes < work->width_bytes)
        return CRT_CHILD_INVALID_VALUE;
    sch_call_aside(launch_box, &box);
    return box.error;
}

/* Kernels copy within what they can reach. */
static uint64_t run_copy(const struct call *call, const struct crt_box_work *work, uint32_t kind,
                         unsigned word)
{
    if (kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return CRT_CHILD_INVALID_DIRECTION;
    bool is_empty = work->width_bytes == 0 || work->height == 0 || work->depth == 0;
    if (!is_empty && (!work->src.base || !work->dst.base))
        return CRT_CHILD_INVALID_VALUE;
    return run_box(call, work, word);
}

static uint64_t do_MemcpyAsync(struct call *call)
{
    struct crt_box_work work = {.dst = {.base = number(call, 0)},
                                .src = {.base = number(call, 1)},
                                .width_bytes = number(call, 2),
                                .height = 1,
                                .depth = 1};
    return run_copy(call, &work, small_number(call, 3), 4);
}

static uint64_t do_Memcpy2DAsync(struct call *call)
{
    struct crt_box_work work = {.dst = {.base = number(call, 0), .pitch_bytes = number(call, 1)},
                                .src = {.base = number(call, 2), .pitch_bytes = number(call, 3)},
                                .width_bytes = number(call, 4),
                                .height = number(call, 5),
                                .depth = 1};
    return run_copy(call, &work, small_number(call, 6), 7);
}

/* The layouts of cudaPitchedPtr, cudaPos, cudaExtent and cudaMemcpy3DParms. */
struct pitched {
    uint64_t base;
    uint64_t pitch_bytes;
    uint64_t row_bytes;
    uint64_t rows; /* of a slice */
};

struct triple {
    uint64_t x;
    uint64_t y;
    uint64_t z;
};

struct copy_3d {
    uint64_t src_array;
    struct triple src_at;
    struct pitched src;
    uint64_t dst_array;
    struct triple dst_at;
    struct pitched dst;
    struct triple extent;
    uint32_t kind;
};

static struct crt_box box_of(const struct pitched *memory, const struct triple *at)
{
    size_t slice_bytes = memory->pitch_bytes * memory->rows;
    return (struct crt_box){.base = memory->base + at->z * slice_bytes +
                                    at->y * memory->pitch_bytes + at->x,
                            .pitch_bytes = memory->pitch_bytes,
                            .slice_bytes = slice_bytes};
}

static uint64_t do_Memcpy3DAsync(struct call *call)
{
    struct copy_3d copy = *(const struct copy_3d *)pointer(call, 0);
    if (copy.src_array || copy.dst_array)
        return CRT_CHILD_INVALID_VALUE;
    struct crt_box_work work = {.dst = box_of(&copy.dst, &copy.dst_at),
                                .src = box_of(&copy.src, &copy.src_at),
                                .width_bytes = copy.extent.x,
                                .height = copy.extent.y,
                                .depth = copy.extent.z};
    return run_copy(call, &work, copy.kind, 1);
}

static uint64_t do_MemsetAsync(struct call *call)
{
    struct crt_box_work work = {.dst = {.base = number(call, 0)},
                                .width_bytes = number(call, 2),
                                .height = 1,
                                .depth = 1,
                                .value = (uint8_t)small_number(call, 1)};
    return run_box(call, &work, 3);
}

static uint64_t do_Memset2DAsync(struct call *call)
{
    struct crt_box_work work = {.dst = {.base = number(call, 0), .pitch_bytes = number(call, 1)},
                                .width_bytes = number(call, 3),
                                .height = number(call, 4),
                                .depth = 1,
                                .value = (uint8_t)small_number(call, 2)};
    return run_box(call, &work, 5);
}

static uint64_t do_Memset3DAsync(struct call *call)
{
    static const struct triple start;
    const struct pitched memory = {number(call, 0), number(call, 1), number(call, 2),
                                   number(call, 3)};
    struct crt_box_work work = {.dst = box_of(&memory, &start),
                                .width_bytes = number(call, 5),
                                .height = number(call, 6),
                                .depth = number(call, 7),
                                .value = (uint8_t)small_number(call, 4)};
    return run_box(call, &work, 8);
}

/* ---- errors ---- */

static uint64_t do_GetLastError(struct call *call)
{
    return crt_thread_error_take(call->thread);
}

static uint64_t do_PeekAtLastError(struct call *call)
{
    return crt_thread_error_get(call->thread);
}

static uint64_t do_GetErrorString(struct call *call)
{
    return (uint64_t)(uintptr_t)crt_thread_error_text(small_number(call, 0));
}

static uint64_t do_GetErrorName(struct call *call)
{
    return (uint64_t)(uintptr_t)crt_thread_error_name(small_number(call, 0));
}

/* ---- what there is ---- */

static uint64_t give(const struct call *call, int value)
{
    *(int *)pointer(call, 0) = value;
    return CRT_CHILD_SUCCESS;
}

static uint64_t do_GetDevice(struct call *call)
{
    return give(call, context(call)->device->index);
}

static uint64_t do_GetDeviceCount(struct call *call)
{
    return give(call, crt_device_count());
}

static uint64_t do_DeviceGetAttribute(struct call *call)
{
    int value;
    const struct crt_device *device = crt_device_at((int)small_number(call, 2));
    if (!device)
        return CRT_CHILD_INVALID_DEVICE;
    enum crt_result result = crt_device_attribute(device, (int)small_number(call, 1), &value);
    return result == CRT_SUCCESS ? give(call, value) : (uint64_t)result;
}

static uint64_t do_DeviceGetLimit(struct call *call)
{
    size_t value;
    enum crt_result result = crt_context_get_limit(context(call), small_number(call, 1), &value);
    if (result == CRT_SUCCESS)
        *(size_t *)pointer(call, 0) = value;
    return (uint64_t)result;
}

static uint64_t do_DeviceGetCacheConfig(struct call *call)
{
    return give(call, (int)atomic_load(&context(call)->cache_config));
}

static uint64_t do_DeviceGetSharedMemConfig(struct call *call)
{
    return give(call, (int)atomic_load(&context(call)->shared_config));
}

static uint64_t do_RuntimeGetVersion(struct call *call)
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

static uint64_t do_FuncGetAttributes(struct call *call)
{
    struct crt_kernel *kernel = crt_child_kernel(call->thread, number(call, 1));
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
    memcpy(pointer(call, 0), &all,
           has_clusters ? sizeof all : offsetof(struct function_attributes, cluster_numbers));
    return CRT_CHILD_SUCCESS;
}

static uint64_t do_OccupancyMaxActiveBlocksPerMultiprocessor(struct call *call)
{
    int blocks;
    struct crt_kernel *kernel = crt_child_kernel(call->thread, number(call, 1));
    if (!kernel)
        return CRT_CHILD_INVALID_FUNCTION;
    enum crt_result result =
        crt_kernel_blocks_per_sm(kernel, (int)small_number(call, 2), number(call, 3), &blocks);
    return result == CRT_SUCCESS ? give(call, blocks) : (uint64_t)result;
}

static uint64_t do_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(struct call *call)
{
    return small_number(call, 4) <= 1 ? do_OccupancyMaxActiveBlocksPerMultiprocessor(call)
                                      : CRT_CHILD_INVALID_VALUE;
}

/* ---- the call ---- */

static uint64_t (*const functions[RT_DEVICE_FUNCTION_COUNT])(struct call *call) = {
#define DEVICE_FUNCTION(name, ...) [RT_DEVICE_##name] = do_##name,
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
    struct call call = {.thread = thread,
                        .arguments = (const uint8_t *)(uintptr_t)arguments,
                        .is_per_thread = function != plain};
    uint64_t result = functions[plain](&call);
    if (!rt_device_functions[plain].gives_pointer && !tells_error(plain))
        crt_thread_error_set(thread, (uint32_t)result);
    return result;
}
