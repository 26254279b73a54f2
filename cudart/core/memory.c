/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of a context, on top of the arena.
 */
#include "cudart/core/memory.h"

#include <stdlib.h>

#include "cudart/core/context.h"
#include "cudart/core/process.h"
#include "scheduler/scheduler.h"

enum crt_result crt_memory_alloc(struct crt_context *ctx, size_t size_bytes, enum crt_memory kind,
                                 unsigned flags, uintptr_t *base)
{
    return crt_arena_alloc(size_bytes, kind, flags, ctx, base);
}

enum crt_result crt_memory_alloc_pitch(struct crt_context *ctx, size_t width_bytes, size_t height,
                                       uintptr_t *base, size_t *pitch_bytes)
{
    if (width_bytes == 0 || height == 0 || width_bytes > SIZE_MAX / 4)
        return CRT_INVALID_VALUE;
    size_t pitch = (width_bytes + CRT_PITCH_ALIGN - 1) & ~(size_t)(CRT_PITCH_ALIGN - 1);
    if (height > SIZE_MAX / 4 / pitch)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_arena_alloc(pitch * height, CRT_MEMORY_DEVICE, 0, ctx, base);
    if (result == CRT_SUCCESS)
        *pitch_bytes = pitch;
    return result;
}

/* The allocation that starts at base, if it is one of the two kinds. */
static bool find_start(uintptr_t base, enum crt_memory a, enum crt_memory b,
                       struct crt_allocation *allocation)
{
    return crt_arena_find(base, allocation) && allocation->base == base &&
           (allocation->kind == a || allocation->kind == b);
}

enum crt_result crt_memory_free(uintptr_t base)
{
    struct crt_allocation allocation;
    if (!base)
        return CRT_SUCCESS;
    if (!find_start(base, CRT_MEMORY_DEVICE, CRT_MEMORY_MANAGED, &allocation))
        return CRT_INVALID_VALUE;
    enum crt_result result = CRT_SUCCESS;
    if (allocation.ctx)
        result = crt_context_synchronize(allocation.ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    enum crt_result freed = crt_arena_free(base, allocation.kind);
    return freed == CRT_SUCCESS ? result : freed;
}

enum crt_result crt_memory_free_host(uintptr_t base)
{
    struct crt_allocation allocation;
    if (!base)
        return CRT_SUCCESS;
    if (!find_start(base, CRT_MEMORY_HOST, CRT_MEMORY_HOST, &allocation))
        return CRT_INVALID_VALUE;
    if (allocation.ctx && !sch_on_pool_thread())
        crt_context_synchronize(allocation.ctx);
    return crt_arena_free(base, CRT_MEMORY_HOST);
}

struct free_task {
    uintptr_t base;
    enum crt_memory kind;
};

static void run_free(void *arg)
{
    const struct free_task *task = arg;
    crt_arena_free(task->base, task->kind);
}

enum crt_result crt_memory_free_async(struct crt_stream *stream, uintptr_t base)
{
    struct crt_allocation allocation;
    if (!base)
        return CRT_SUCCESS;
    if (!find_start(base, CRT_MEMORY_DEVICE, CRT_MEMORY_MANAGED, &allocation))
        return CRT_INVALID_VALUE;
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    if (crt_stream_is_idle(stream))
        return crt_arena_free(base, allocation.kind);
    struct free_task *task = malloc(sizeof *task);
    if (!task)
        return CRT_OUT_OF_MEMORY;
    *task = (struct free_task){.base = base, .kind = allocation.kind};
    return crt_stream_task(stream, run_free, task);
}

enum crt_result crt_memory_register(struct crt_context *ctx, void *base, size_t size_bytes,
                                    unsigned flags)
{
    return crt_arena_register((uintptr_t)base, size_bytes, flags, ctx);
}

enum crt_result crt_memory_unregister(void *base)
{
    if (!base)
        return CRT_INVALID_VALUE;
    return crt_arena_unregister((uintptr_t)base);
}

bool crt_memory_find(uintptr_t address, struct crt_allocation *allocation)
{
    return crt_arena_find(address, allocation);
}

void crt_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    size_t used_bytes;
    crt_arena_usage(&used_bytes, total_bytes);
    *free_bytes = *total_bytes - used_bytes;
}
