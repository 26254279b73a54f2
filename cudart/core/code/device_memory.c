/* SPDX-License-Identifier: Apache-2.0
 *
 * The device runtime's functions of memory: its heap, and copies and fills in streams of kernels.
 */
#include "cudart/core/code/child_memory.h"
#include "cudart/core/code/device_call.h"
#include "cudart/core/code/device_heap.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

#define COPY_DEVICE_TO_DEVICE 3u
#define COPY_DEFAULT          4u

uint64_t crt_do_Malloc(struct crt_device_call *call)
{
    uint64_t *result = crt_call_pointer(call, 0);
    uint64_t size_bytes = crt_call_number(call, 1);
    uint64_t block = rt_malloc(call->thread, size_bytes);
    if (!block && size_bytes)
        return CRT_CHILD_OUT_OF_MEMORY;
    *result = block;
    return CRT_CHILD_SUCCESS;
}

uint64_t crt_do_Free(struct crt_device_call *call)
{
    void *block = crt_call_pointer(call, 0);
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

static uint64_t run_box(const struct crt_device_call *call, const struct crt_box_work *work,
                        unsigned word)
{
    struct box_call box = {call->thread, *work, crt_call_stream(call, word),
                           CRT_CHILD_OUT_OF_MEMORY};
    if (work->height > 1 && work->dst.pitch_bytes < work->width_bytes)
        return CRT_CHILD_INVALID_VALUE;
    sch_call_aside(launch_box, &box);
    return box.error;
}

/* Kernels copy within what they can reach. */
static uint64_t run_copy(const struct crt_device_call *call, const struct crt_box_work *work,
                         uint32_t kind, unsigned word)
{
    if (kind != COPY_DEVICE_TO_DEVICE && kind != COPY_DEFAULT)
        return CRT_CHILD_INVALID_DIRECTION;
    bool is_empty = work->width_bytes == 0 || work->height == 0 || work->depth == 0;
    if (!is_empty && (!work->src.base || !work->dst.base))
        return CRT_CHILD_INVALID_VALUE;
    return run_box(call, work, word);
}

uint64_t crt_do_MemcpyAsync(struct crt_device_call *call)
{
    struct crt_box_work work = {.dst = {.base = crt_call_number(call, 0)},
                                .src = {.base = crt_call_number(call, 1)},
                                .width_bytes = crt_call_number(call, 2),
                                .height = 1,
                                .depth = 1};
    return run_copy(call, &work, crt_call_small_number(call, 3), 4);
}

uint64_t crt_do_Memcpy2DAsync(struct crt_device_call *call)
{
    struct crt_box_work work = {
        .dst = {.base = crt_call_number(call, 0), .pitch_bytes = crt_call_number(call, 1)},
        .src = {.base = crt_call_number(call, 2), .pitch_bytes = crt_call_number(call, 3)},
        .width_bytes = crt_call_number(call, 4),
        .height = crt_call_number(call, 5),
        .depth = 1};
    return run_copy(call, &work, crt_call_small_number(call, 6), 7);
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

uint64_t crt_do_Memcpy3DAsync(struct crt_device_call *call)
{
    struct copy_3d copy = *(const struct copy_3d *)crt_call_pointer(call, 0);
    if (copy.src_array || copy.dst_array)
        return CRT_CHILD_INVALID_VALUE;
    struct crt_box_work work = {.dst = box_of(&copy.dst, &copy.dst_at),
                                .src = box_of(&copy.src, &copy.src_at),
                                .width_bytes = copy.extent.x,
                                .height = copy.extent.y,
                                .depth = copy.extent.z};
    return run_copy(call, &work, copy.kind, 1);
}

uint64_t crt_do_MemsetAsync(struct crt_device_call *call)
{
    struct crt_box_work work = {.dst = {.base = crt_call_number(call, 0)},
                                .width_bytes = crt_call_number(call, 2),
                                .height = 1,
                                .depth = 1,
                                .value = (uint8_t)crt_call_small_number(call, 1)};
    return run_box(call, &work, 3);
}

uint64_t crt_do_Memset2DAsync(struct crt_device_call *call)
{
    struct crt_box_work work = {
        .dst = {.base = crt_call_number(call, 0), .pitch_bytes = crt_call_number(call, 1)},
        .width_bytes = crt_call_number(call, 3),
        .height = crt_call_number(call, 4),
        .depth = 1,
        .value = (uint8_t)crt_call_small_number(call, 2)};
    return run_box(call, &work, 5);
}

uint64_t crt_do_Memset3DAsync(struct crt_device_call *call)
{
    static const struct triple start;
    const struct pitched memory = {crt_call_number(call, 0), crt_call_number(call, 1),
                                   crt_call_number(call, 2), crt_call_number(call, 3)};
    struct crt_box_work work = {.dst = box_of(&memory, &start),
                                .width_bytes = crt_call_number(call, 5),
                                .height = crt_call_number(call, 6),
                                .depth = crt_call_number(call, 7),
                                .value = (uint8_t)crt_call_small_number(call, 4)};
    return run_box(call, &work, 8);
}
