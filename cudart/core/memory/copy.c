/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills.
 */
#include "cudart/core/memory/copy.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/findings.h"
#include "cudart/core/memory/access_watch.h"
#include "cudart/core/memory/host_report.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/pending_copies.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/work.h"

/* Up to this size, doing it at once is cheaper than handing it to a worker. */
#define INLINE_BYTES ((size_t)64 << 10)

/* Flag of a context: synchronous operations always synchronise. */
#define CONTEXT_SYNC_MEMOPS 0x80u

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

/* The properties of memory that the rules on synchronisation distinguish. */
struct memory_class {
    bool is_known;  /* to the API; if not, it is pageable */
    bool is_device; /* and not reachable by the host */
    bool is_sync;   /* synchronous operations on it always synchronise */
};

static struct memory_class class_of(const struct crt_allocation *allocation)
{
    bool is_device = !crt_allocation_is_host(allocation) && allocation->kind != CRT_MEMORY_MANAGED;
    return (struct memory_class){
        .is_known = true, .is_device = is_device, .is_sync = crt_memory_is_sync(allocation->id)};
}

/* Whether a range that begins in the allocation lies where it may. */
static bool is_inside(const struct crt_side *side, size_t extent, unsigned access,
                      const struct crt_allocation *allocation)
{
    switch (allocation->kind) {
    case CRT_MEMORY_REGISTERED: /* it may go on in memory of the host behind it */
        return true;
    case CRT_MEMORY_MAPPED: /* mappings of the program's own may follow each other */
        return crt_arena_covers(side->base, extent, access);
    default:
        return extent <= allocation->size_bytes - (side->base - allocation->base);
    }
}

/* access: the copy's to it, CRT_ACCESS_READ or CRT_ACCESS_WRITE. */
static enum crt_result check_side(const struct crt_side *side, const struct crt_copy *copy,
                                  unsigned access, struct memory_class *class)
{
    size_t extent;
    struct crt_allocation allocation;
    if (!side->base || !side_extent(side, copy, &extent))
        return CRT_INVALID_VALUE;
    *class = (struct memory_class){0};
    bool is_known = crt_memory_find(side->base, &allocation);
    if (!is_known && side->place != CRT_PLACE_DEVICE)
        return CRT_SUCCESS;
    if (is_known)
        *class = class_of(&allocation);
    if (is_known && is_inside(side, extent, access, &allocation))
        return CRT_SUCCESS;
    /* What a program calls the host's is not looked at any closer. */
    bool is_refused = side->place != CRT_PLACE_HOST || allocation.kind == CRT_MEMORY_MAPPED;
    crt_report_extent(side->base, extent, access, is_refused);
    return is_refused ? CRT_INVALID_VALUE : CRT_SUCCESS;
}

static size_t copy_bytes(const struct crt_copy *copy)
{
    return copy->width_bytes * copy->height * copy->depth;
}

bool crt_copy_is_small(const struct crt_copy *copy)
{
    return copy_bytes(copy) <= INLINE_BYTES;
}

bool crt_fill_is_small(const struct crt_fill *fill)
{
    return fill->width * fill->elem_bytes <= INLINE_BYTES / fill->height;
}

/* A copy that a worker makes; staged bytes follow when the source was pageable. */
struct copy_task {
    struct crt_copy copy;
    struct crt_frames calls; /* who has asked, as far as checks need it */
    bool asks_written;       /* whether all of the source has been written */
    struct crt_pending_copy *pending;
    uint8_t staged[];
};

static void run_copy_task(void *arg)
{
    const struct copy_task *task = arg;
    if (task->asks_written)
        crt_report_unwritten(&task->copy, &task->calls);
    crt_copy_run(&task->copy, &task->calls);
    crt_pending_copy_end(task->pending);
}

static struct crt_pending_copy *begin_pending(const struct crt_copy *copy)
{
    size_t dst_bytes;
    size_t src_bytes;
    side_extent(&copy->dst, copy, &dst_bytes);
    side_extent(&copy->src, copy, &src_bytes);
    return crt_pending_copy_begin(copy->dst.base, dst_bytes, copy->src.base, src_bytes);
}

static enum crt_result submit_copy(struct crt_stream *stream, const struct crt_copy *copy,
                                   const struct crt_frames *calls, bool asks_written,
                                   bool is_staged)
{
    struct copy_task *task = malloc(sizeof *task + (is_staged ? copy_bytes(copy) : 0));
    if (!task)
        return CRT_OUT_OF_MEMORY;
    task->copy = *copy;
    task->calls = *calls;
    task->asks_written = asks_written;
    if (is_staged) {
        struct crt_copy stage = *copy;
        stage.dst = (struct crt_side){.base = (uintptr_t)task->staged,
                                      .pitch_bytes = copy->width_bytes,
                                      .slice_bytes = copy->width_bytes * copy->height};
        crt_copy_rows(&stage);
        enum crt_place place = task->copy.src.place;
        task->copy.src = stage.dst;
        task->copy.src.place = place;
    }
    struct crt_pending_copy *pending = begin_pending(&task->copy);
    task->pending = pending;
    enum crt_result result = crt_stream_task(stream, run_copy_task, task);
    if (result != CRT_SUCCESS)
        crt_pending_copy_end(pending);
    return result;
}

/* Whether both sides are as the caller claims. */
static enum crt_result check_sides(const struct crt_copy *copy, struct memory_class *dst,
                                   struct memory_class *src)
{
    enum crt_result result = check_side(&copy->dst, copy, CRT_ACCESS_WRITE, dst);
    return result == CRT_SUCCESS ? check_side(&copy->src, copy, CRT_ACCESS_READ, src) : result;
}

enum crt_result crt_copy_check(const struct crt_copy *copy)
{
    struct memory_class dst;
    struct memory_class src;
    if (copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0)
        return CRT_SUCCESS;
    return check_sides(copy, &dst, &src);
}

/* Whether synchronous operations of the stream always synchronise. */
static bool context_is_sync(const struct crt_stream *stream)
{
    return atomic_load_explicit(&stream->ctx->flags, memory_order_relaxed) & CONTEXT_SYNC_MEMOPS;
}

/* "For transfers from device memory to device memory, no host-side synchronization is performed."
 */
static bool may_return_early(const struct crt_stream *stream, const struct memory_class *dst,
                             const struct memory_class *src, bool is_async)
{
    if (is_async)
        return dst->is_known;
    return dst->is_device && src->is_device && !dst->is_sync && !src->is_sync &&
           !context_is_sync(stream);
}

/* Whether the copy must find all of its source written: what the host gets decides something. */
static bool asks_written(const struct memory_class *dst, const struct memory_class *src)
{
    return crt_checks_written() && src->is_device && !dst->is_device;
}

enum crt_result crt_copy(struct crt_stream *stream, const struct crt_copy *copy, bool is_async)
{
    if (copy->width_bytes == 0 || copy->height == 0 || copy->depth == 0)
        return CRT_SUCCESS;
    struct memory_class dst;
    struct memory_class src;
    enum crt_result result = check_sides(copy, &dst, &src);
    if (result != CRT_SUCCESS)
        return result;

    if (stream->captured.capture) {
        struct crt_work work = {.kind = CRT_NODE_COPY, .copy = *copy};
        return is_async ? crt_capture_add(stream, &work) : crt_capture_refuse(stream);
    }
    bool is_idle = crt_stream_is_idle(stream);
    bool can_defer = may_return_early(stream, &dst, &src, is_async) &&
                     (src.is_known || copy_bytes(copy) <= STAGING_BYTES);
    bool is_cheap = is_idle && (crt_copy_is_small(copy) || !src.is_known);
    bool asks = asks_written(&dst, &src);
    struct crt_frames calls = {0};
    if (asks || crt_accesses_are_watched())
        crt_frames_take(&calls);
    if (crt_accesses_are_watched() || (can_defer && !is_cheap)) {
        result = submit_copy(stream, copy, &calls, asks, can_defer && !src.is_known);
        return result == CRT_SUCCESS && !can_defer ? crt_stream_synchronize(stream) : result;
    }
    result = crt_stream_synchronize(stream);
    if (result == CRT_SUCCESS && asks)
        crt_report_unwritten(copy, &calls);
    if (result == CRT_SUCCESS)
        crt_copy_run(copy, NULL);
    return result;
}

struct fill_task {
    struct crt_fill fill;
    struct crt_frames calls; /* if accesses are watched */
};

static void run_fill_task(void *arg)
{
    const struct fill_task *task = arg;
    crt_fill_run(&task->fill, &task->calls);
}

static enum crt_result submit_fill(struct crt_stream *stream, const struct crt_fill *fill)
{
    struct fill_task *task = malloc(sizeof *task);
    if (!task)
        return CRT_OUT_OF_MEMORY;
    *task = (struct fill_task){.fill = *fill};
    if (crt_accesses_are_watched())
        crt_frames_take(&task->calls);
    return crt_stream_task(stream, run_fill_task, task);
}

static enum crt_result check_fill(const struct crt_fill *fill, struct memory_class *class)
{
    if (fill->base % fill->elem_bytes || (fill->height > 1 && fill->pitch_bytes % fill->elem_bytes))
        return CRT_INVALID_VALUE;
    size_t row_bytes;
    if (__builtin_mul_overflow(fill->width, (size_t)fill->elem_bytes, &row_bytes))
        return CRT_INVALID_VALUE;
    struct crt_side side = {
        .base = fill->base, .pitch_bytes = fill->pitch_bytes, .place = CRT_PLACE_DEVICE};
    struct crt_copy shape = {.width_bytes = row_bytes, .height = fill->height, .depth = 1};
    return check_side(&side, &shape, CRT_ACCESS_WRITE, class);
}

enum crt_result crt_fill_check(const struct crt_fill *fill)
{
    struct memory_class class;
    if (fill->width == 0 || fill->height == 0)
        return CRT_SUCCESS;
    return check_fill(fill, &class);
}

/* "The synchronous memset functions are asynchronous with respect to the host except when the
 * target is pinned host memory or a Unified Memory region". */
enum crt_result crt_fill(struct crt_stream *stream, const struct crt_fill *fill, bool is_async)
{
    if (fill->width == 0 || fill->height == 0)
        return CRT_SUCCESS;
    struct memory_class class;
    enum crt_result result = check_fill(fill, &class);
    if (result != CRT_SUCCESS)
        return result;

    if (stream->captured.capture) {
        struct crt_work work = {.kind = CRT_NODE_FILL, .fill = *fill};
        return is_async ? crt_capture_add(stream, &work) : crt_capture_refuse(stream);
    }
    bool can_defer = is_async || (class.is_device && !class.is_sync && !context_is_sync(stream));
    bool is_cheap = crt_stream_is_idle(stream) && crt_fill_is_small(fill);
    if (crt_accesses_are_watched() || (can_defer && !is_cheap)) {
        result = submit_fill(stream, fill);
        return result == CRT_SUCCESS && !can_defer ? crt_stream_synchronize(stream) : result;
    }
    result = crt_stream_synchronize(stream);
    if (result == CRT_SUCCESS)
        crt_fill_run(fill, NULL);
    return result;
}
