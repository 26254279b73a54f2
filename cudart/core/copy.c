/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills.
 */
#include "cudart/core/copy.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/arena.h"
#include "cudart/core/context.h"
#include "cudart/core/graph.h"
#include "cudart/core/process.h"
#include "cudart/core/stats.h"

/* Up to this size, doing it at once is cheaper than handing it to a worker. */
#define INLINE_BYTES ((size_t)64 << 10)

/* Sources in pageable memory up to this size are copied aside; larger ones are waited for. */
#define STAGING_BYTES ((size_t)1 << 20)

/* Bytes from the first to the last one touched; false when that overflows. */
static bool side_extent(const struct crt_side *side, const struct crt_copy *copy, size_t *extent)
{
    size_t rows;
    size_t slices;
    if (__builtin_mul_overflow(side->pitch_bytes, copy->height - 1, &rows) ||
        __builtin_mul_overflow(side->slice_bytes, copy->depth - 1, &slices) ||
        __builtin_add_overflow(rows, slices, extent) ||
        __builtin_add_overflow(*extent, copy->width_bytes, extent))
        return false;
    return *extent <= SIZE_MAX - side->base;
}

/* *is_known: whether the API knows the memory; if not, it is pageable. */
static enum crt_result check_side(const struct crt_side *side, const struct crt_copy *copy,
                                  bool *is_known)
{
    size_t extent;
    struct crt_allocation allocation;
    if (!side->base || !side_extent(side, copy, &extent))
        return CRT_INVALID_VALUE;
    *is_known = crt_arena_find(side->base, &allocation);
    if (!*is_known)
        return side->place == CRT_PLACE_DEVICE ? CRT_INVALID_VALUE : CRT_SUCCESS;
    /* A host range may begin in registered memory and go on behind it. */
    if (side->place == CRT_PLACE_HOST || allocation.kind == CRT_MEMORY_REGISTERED)
        return CRT_SUCCESS;
    bool fits = extent <= allocation.size_bytes - (side->base - allocation.base);
    return fits ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static void copy_slice(const struct crt_copy *copy, uintptr_t dst, uintptr_t src)
{
    bool is_dense =
        copy->dst.pitch_bytes == copy->width_bytes && copy->src.pitch_bytes == copy->width_bytes;
    if (is_dense) {
        memmove((void *)dst, (const void *)src, copy->width_bytes * copy->height);
        return;
    }
    for (size_t y = 0; y < copy->height; y++)
        memmove((void *)(dst + y * copy->dst.pitch_bytes),
                (const void *)(src + y * copy->src.pitch_bytes), copy->width_bytes);
}

static enum crt_copy_kind stats_kind(const struct crt_copy *copy)
{
    if (copy->src.place == CRT_PLACE_HOST)
        return CRT_COPY_TO_DEVICE;
    return copy->dst.place == CRT_PLACE_HOST ? CRT_COPY_TO_HOST : CRT_COPY_ON_DEVICE;
}

static void run_copy(const struct crt_copy *copy)
{
    uint64_t start_ns = crt_stats_are_on() ? crt_now_ns() : 0;
    for (size_t z = 0; z < copy->depth; z++)
        copy_slice(copy, copy->dst.base + z * copy->dst.slice_bytes,
                   copy->src.base + z * copy->src.slice_bytes);
    if (crt_stats_are_on())
        crt_stats_copy(stats_kind(copy), copy->width_bytes * copy->height * copy->depth,
                       crt_now_ns() - start_ns);
}

/* A copy that a worker makes; staged bytes follow when the source was pageable. */
struct copy_task {
    struct crt_copy copy;
    uint8_t staged[];
};

static void run_copy_task(void *arg)
{
    const struct copy_task *task = arg;
    run_copy(&task->copy);
}

static enum crt_result submit_copy(struct crt_stream *stream, const struct crt_copy *copy,
                                   bool is_staged)
{
    size_t bytes = copy->width_bytes * copy->height * copy->depth;
    struct copy_task *task = malloc(sizeof *task + (is_staged ? bytes : 0));
    if (!task)
        return CRT_OUT_OF_MEMORY;
    task->copy = *copy;
    if (is_staged) {
        struct crt_copy stage = *copy;
        stage.dst = (struct crt_side){.base = (uintptr_t)task->staged,
                                      .pitch_bytes = copy->width_bytes,
                                      .slice_bytes = copy->width_bytes * copy->height};
        for (size_t z = 0; z < copy->depth; z++)
            copy_slice(&stage, stage.dst.base + z * stage.dst.slice_bytes,
                       copy->src.base + z * copy->src.slice_bytes);
        enum crt_place place = task->copy.src.place;
        task->copy.src = stage.dst;
        task->copy.src.place = place;
    }
    return crt_stream_task(stream, run_copy_task, task);
}

enum crt_result crt_copy(struct crt_stream *stream, const struct crt_copy *copy, bool is_async)
{
    if (copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0)
        return CRT_SUCCESS;
    bool dst_is_known;
    bool src_is_known;
    enum crt_result result = check_side(&copy->dst, copy, &dst_is_known);
    if (result == CRT_SUCCESS)
        result = check_side(&copy->src, copy, &src_is_known);
    if (result != CRT_SUCCESS)
        return result;

    if (stream->captured.capture) {
        struct crt_work work = {.kind = CRT_NODE_COPY, .copy = *copy};
        return is_async ? crt_capture_add(stream, &work) : crt_capture_refuse(stream);
    }
    size_t bytes = copy->width_bytes * copy->height * copy->depth;
    bool is_idle = crt_stream_is_idle(stream);
    bool can_defer = is_async && dst_is_known && (src_is_known || bytes <= STAGING_BYTES);
    bool is_cheap = is_idle && (bytes <= INLINE_BYTES || !src_is_known);
    if (can_defer && !is_cheap)
        return submit_copy(stream, copy, !src_is_known);
    result = crt_stream_synchronize(stream);
    if (result == CRT_SUCCESS)
        run_copy(copy);
    return result;
}

static void fill_row(const struct crt_fill *fill, uintptr_t row)
{
    if (fill->elem_bytes == 1) {
        memset((void *)row, (int)(fill->value & 0xff), fill->width);
    } else if (fill->elem_bytes == 2) {
        uint16_t *elems = (uint16_t *)row;
        for (size_t i = 0; i < fill->width; i++)
            elems[i] = (uint16_t)fill->value;
    } else {
        uint32_t *elems = (uint32_t *)row;
        for (size_t i = 0; i < fill->width; i++)
            elems[i] = fill->value;
    }
}

static void run_fill(const struct crt_fill *fill)
{
    for (size_t y = 0; y < fill->height; y++)
        fill_row(fill, fill->base + y * fill->pitch_bytes);
}

static void run_fill_task(void *arg)
{
    run_fill(arg);
}

enum crt_result crt_fill(struct crt_stream *stream, const struct crt_fill *fill, bool is_async)
{
    if (fill->width == 0 || fill->height == 0)
        return CRT_SUCCESS;
    if (fill->base % fill->elem_bytes || (fill->height > 1 && fill->pitch_bytes % fill->elem_bytes))
        return CRT_INVALID_VALUE;
    size_t row_bytes;
    if (__builtin_mul_overflow(fill->width, (size_t)fill->elem_bytes, &row_bytes))
        return CRT_INVALID_VALUE;
    struct crt_side side = {
        .base = fill->base, .pitch_bytes = fill->pitch_bytes, .place = CRT_PLACE_DEVICE};
    struct crt_copy shape = {.width_bytes = row_bytes, .height = fill->height, .depth = 1};
    bool is_known;
    enum crt_result result = check_side(&side, &shape, &is_known);
    if (result != CRT_SUCCESS)
        return result;

    if (stream->captured.capture) {
        struct crt_work work = {.kind = CRT_NODE_FILL, .fill = *fill};
        return crt_capture_add(stream, &work);
    }
    bool is_idle = crt_stream_is_idle(stream);
    if (is_async && !(is_idle && row_bytes <= INLINE_BYTES / fill->height)) {
        struct crt_fill *task = malloc(sizeof *task);
        if (!task)
            return CRT_OUT_OF_MEMORY;
        *task = *fill;
        return crt_stream_task(stream, run_fill_task, task);
    }
    result = crt_stream_synchronize(stream);
    if (result == CRT_SUCCESS)
        run_fill(fill);
    return result;
}
