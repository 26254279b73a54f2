/* SPDX-License-Identifier: Apache-2.0
 *
 * See child_memory.h. What may be touched is what kernels may touch, the heap of the device's
 * malloc included: so nothing is checked beforehand, and an access that fails ends like one of a
 * kernel.
 */
#include "cudart/core/code/child_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/children.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/memory/written.h"
#include "cudart/core/streams/context.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

struct box_task {
    struct crt_child child; /* first */
    struct crt_context *ctx;
    const char *kernel; /* whose thread has asked for it */
    struct crt_box_work work;
};

static uintptr_t row_of(const struct crt_box *box, size_t y, size_t z)
{
    return box->base + z * box->slice_bytes + y * box->pitch_bytes;
}

static void do_row(const struct crt_box_work *work, size_t y, size_t z)
{
    uintptr_t dst = row_of(&work->dst, y, z);
    if (!work->src.base) {
        crt_written_set(dst, work->width_bytes);
        crt_heap_put_written(dst, work->width_bytes, RT_WRITTEN_ALL);
        memset((void *)dst, work->value, work->width_bytes);
        return;
    }
    uintptr_t src = row_of(&work->src, y, z);
    crt_written_copy(dst, src, work->width_bytes);
    crt_heap_put_written(dst, work->width_bytes, RT_WRITTEN_ALL);
    memmove((void *)dst, (const void *)src, work->width_bytes);
}

static void do_rows(void *arg)
{
    const struct crt_box_work *work = arg;
    for (size_t z = 0; z < work->depth; z++)
        for (size_t y = 0; y < work->height; y++)
            do_row(work, y, z);
}

static void run_task(void *arg)
{
    struct box_task *task = arg;
    struct pxr_error error;
    if (sch_try(do_rows, &task->work))
        return;
    pxr_fail(&error, PXR_FAULT_ADDRESS, "invalid memory access in a %s launched by kernel '%s'",
             task->work.src.base ? "copy" : "fill", task->kernel);
    if (crt_context_may_report(task->ctx, CRT_ILLEGAL_ADDRESS))
        crt_context_report_fault(task->ctx, &error);
    crt_context_poison(task->ctx, CRT_ILLEGAL_ADDRESS);
}

static void end_task(void *arg, const struct sch_fault *fault)
{
    struct crt_child child = ((struct box_task *)arg)->child;
    (void)fault;
    free(arg);
    crt_child_end(&child);
}

static void drop_task(struct crt_child *child)
{
    free(child);
}

uint32_t crt_child_box(struct rt_thread *thread, const struct crt_box_work *work, uint64_t stream)
{
    const struct crt_launch *parent = crt_launch_of(thread->block->launch);
    if (work->width_bytes == 0 || work->height == 0 || work->depth == 0)
        return CRT_CHILD_SUCCESS;
    struct box_task *task = calloc(1, sizeof *task);
    if (!task)
        return CRT_CHILD_OUT_OF_MEMORY;
    *task = (struct box_task){.child = {.drop = drop_task},
                              .ctx = parent->ctx,
                              .kernel = crt_kernel_name(parent->kernel),
                              .work = *work};
    struct sch_op *op = sch_op_task(run_task, end_task, task);
    uint32_t error = crt_child_submit(thread, &task->child, op, stream);
    if (error != CRT_CHILD_SUCCESS)
        free(task);
    return error;
}
