/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a copy that has been checked.
 */
#include <string.h>

#include "cudart/core/base/process.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/memory/access_watch.h"
#include "cudart/core/memory/copy.h"
#include "cudart/core/memory/pages_ahead.h"
#include "cudart/core/memory/written.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where pages are absent, in pieces that get theirs before. */
static void copy_bytes(uintptr_t dst, uintptr_t src, size_t bytes)
{
    bool overlaps = dst - src < bytes || src - dst < bytes;
    if (overlaps || !crt_pages_are_absent(dst, bytes)) {
        memmove((void *)dst, (const void *)src, bytes);
        return;
    }
    for (size_t done = 0; done < bytes; done += CRT_AHEAD_BYTES) {
        size_t piece = least(bytes - done, CRT_AHEAD_BYTES);
        crt_pages_get(dst + done, piece);
        memcpy((void *)(dst + done), (const void *)(src + done), piece);
    }
}

static void copy_slice(const struct crt_copy *copy, uintptr_t dst, uintptr_t src)
{
    bool is_dense =
        copy->dst.pitch_bytes == copy->width_bytes && copy->src.pitch_bytes == copy->width_bytes;
    if (is_dense) {
        copy_bytes(dst, src, copy->width_bytes * copy->height);
        return;
    }
    for (size_t y = 0; y < copy->height; y++)
        copy_bytes(dst + y * copy->dst.pitch_bytes, src + y * copy->src.pitch_bytes,
                   copy->width_bytes);
}

void crt_copy_rows(const struct crt_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        copy_slice(copy, copy->dst.base + z * copy->dst.slice_bytes,
                   copy->src.base + z * copy->src.slice_bytes);
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

static uintptr_t row_of(const struct crt_side *side, size_t z, size_t y)
{
    return side->base + z * side->slice_bytes + y * side->pitch_bytes;
}

/* What has been written of the source has been of the target. */
static void note_written(const struct crt_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            crt_written_copy(row_of(&copy->dst, z, y), row_of(&copy->src, z, y), copy->width_bytes);
}

static void tell_accesses(const struct crt_copy *copy, const struct crt_frames *calls)
{
    struct crt_watched watched;
    if (!crt_accesses_are_watched())
        return;
    crt_watch_begin(&watched, "copy", calls);
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++) {
            crt_watch_access(&watched, row_of(&copy->src, z, y), copy->width_bytes, false);
            crt_watch_access(&watched, row_of(&copy->dst, z, y), copy->width_bytes, true);
        }
}

static enum crt_copy_kind stats_kind(const struct crt_copy *copy)
{
    if (copy->src.place == CRT_PLACE_HOST)
        return CRT_COPY_TO_DEVICE;
    return copy->dst.place == CRT_PLACE_HOST ? CRT_COPY_TO_HOST : CRT_COPY_ON_DEVICE;
}

void crt_copy_run(const struct crt_copy *copy, const struct crt_frames *calls)
{
    uint64_t start_ns = crt_stats_are_on() ? crt_now_ns() : 0;
    struct crt_copy flat = flatten(copy);
    note_written(&flat);
    tell_accesses(&flat, calls);
    crt_copy_rows(&flat);
    if (crt_stats_are_on())
        crt_stats_copy(stats_kind(copy), copy->width_bytes * copy->height * copy->depth,
                       crt_now_ns() - start_ns);
}
