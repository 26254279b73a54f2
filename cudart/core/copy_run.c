/* SPDX-License-Identifier: Apache-2.0
 *
 * Doing a copy that has been checked. Large ones are shared: the thread that has to do one takes
 * part after part, and workers with nothing else to do help. Nobody waits for a worker that has
 * not begun, so that a busy pool costs nothing.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/copy.h"
#include "cudart/core/process.h"
#include "cudart/core/stats.h"
#include "scheduler/scheduler.h"

#define SHARED_BYTES ((size_t)8 << 20) /* from this size on */
#define PART_BYTES   ((size_t)1 << 20)
#define HELPERS_MAX  7 /* more do not move more: memory is the limit */

/* Guarded by lock unless atomic. Freed with the last reference. */
struct shared_copy {
    struct crt_copy copy;
    size_t rows; /* of all slices; 1: parts are pieces of the one row */
    size_t rows_per_part;
    size_t part_count;
    atomic_size_t next; /* the next part to be done */
    atomic_uint references;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    size_t done;
};

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

void crt_copy_rows(const struct crt_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        copy_slice(copy, copy->dst.base + z * copy->dst.slice_bytes,
                   copy->src.base + z * copy->src.slice_bytes);
}

static uintptr_t row_of(const struct crt_side *side, const struct crt_copy *copy, size_t row)
{
    return side->base + row / copy->height * side->slice_bytes +
           row % copy->height * side->pitch_bytes;
}

static void copy_part(const struct shared_copy *shared, size_t part)
{
    const struct crt_copy *copy = &shared->copy;
    if (shared->rows == 1) {
        size_t begin = part * PART_BYTES;
        size_t left = copy->width_bytes - begin;
        memcpy((void *)(copy->dst.base + begin), (const void *)(copy->src.base + begin),
               left < PART_BYTES ? left : PART_BYTES);
        return;
    }
    size_t row = part * shared->rows_per_part;
    size_t end = row + shared->rows_per_part;
    for (; row < end && row < shared->rows; row++)
        memcpy((void *)row_of(&copy->dst, copy, row), (const void *)row_of(&copy->src, copy, row),
               copy->width_bytes);
}

static void release(struct shared_copy *shared)
{
    if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->finished);
    free(shared);
}

/* Does parts until there are none. */
static void help(void *arg)
{
    struct shared_copy *shared = arg;
    size_t count = 0;
    for (;;) {
        size_t part = atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
        if (part >= shared->part_count)
            break;
        copy_part(shared, part);
        count++;
    }
    if (count == 0)
        return;
    pthread_mutex_lock(&shared->lock);
    shared->done += count;
    if (shared->done == shared->part_count)
        pthread_cond_signal(&shared->finished);
    pthread_mutex_unlock(&shared->lock);
}

static void release_helper(void *arg, const struct sch_fault *fault)
{
    (void)fault;
    release(arg);
}

static void ask_for_help(struct shared_copy *shared)
{
    size_t helpers = sch_worker_count() > 1 ? sch_worker_count() - 1 : 0;
    if (helpers > HELPERS_MAX)
        helpers = HELPERS_MAX;
    if (helpers > shared->part_count - 1)
        helpers = shared->part_count - 1;
    for (size_t i = 0; i < helpers; i++) {
        struct sch_op *op = sch_op_task(help, release_helper, shared);
        if (!op)
            return;
        atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
        sch_op_submit(op);
        sch_op_release(op);
    }
}

static struct shared_copy *make_shared(const struct crt_copy *copy)
{
    struct shared_copy *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    shared->copy = *copy;
    shared->rows = copy->height * copy->depth;
    if (shared->rows == 1) {
        shared->part_count = (copy->width_bytes + PART_BYTES - 1) / PART_BYTES;
    } else {
        shared->rows_per_part = (PART_BYTES + copy->width_bytes - 1) / copy->width_bytes;
        shared->part_count = (shared->rows + shared->rows_per_part - 1) / shared->rows_per_part;
    }
    atomic_init(&shared->references, 1);
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->finished, NULL);
    return shared;
}

static bool copy_together(const struct crt_copy *copy)
{
    struct shared_copy *shared = make_shared(copy);
    if (!shared)
        return false;
    ask_for_help(shared);
    help(shared);
    pthread_mutex_lock(&shared->lock);
    while (shared->done < shared->part_count)
        pthread_cond_wait(&shared->finished, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
    release(shared);
    return true;
}

/* Rows without gaps are one long row. */
static struct crt_copy flatten(const struct crt_copy *copy)
{
    struct crt_copy flat = *copy;
    size_t slice = copy->width_bytes * copy->height;
    bool is_dense =
        copy->dst.pitch_bytes == copy->width_bytes && copy->src.pitch_bytes == copy->width_bytes &&
        (copy->depth == 1 || (copy->dst.slice_bytes == slice && copy->src.slice_bytes == slice));
    if (is_dense) {
        flat.width_bytes = slice * copy->depth;
        flat.height = 1;
        flat.depth = 1;
    }
    return flat;
}

static uintptr_t end_of(const struct crt_side *side, const struct crt_copy *copy)
{
    return side->base + (copy->depth - 1) * side->slice_bytes +
           (copy->height - 1) * side->pitch_bytes + copy->width_bytes;
}

static bool overlaps(const struct crt_copy *copy)
{
    return copy->dst.base < end_of(&copy->src, copy) && copy->src.base < end_of(&copy->dst, copy);
}

static enum crt_copy_kind stats_kind(const struct crt_copy *copy)
{
    if (copy->src.place == CRT_PLACE_HOST)
        return CRT_COPY_TO_DEVICE;
    return copy->dst.place == CRT_PLACE_HOST ? CRT_COPY_TO_HOST : CRT_COPY_ON_DEVICE;
}

void crt_copy_run(const struct crt_copy *copy)
{
    uint64_t start_ns = crt_stats_are_on() ? crt_now_ns() : 0;
    size_t bytes = copy->width_bytes * copy->height * copy->depth;
    struct crt_copy flat = flatten(copy);
    bool is_done =
        bytes >= SHARED_BYTES && sch_worker_count() > 1 && !overlaps(&flat) && copy_together(&flat);
    if (!is_done)
        crt_copy_rows(&flat);
    if (crt_stats_are_on())
        crt_stats_copy(stats_kind(copy), bytes, crt_now_ns() - start_ns);
}
