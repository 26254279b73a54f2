/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies from and to CUDA arrays. All become two-dimensional copies of the driver; those of a
 * number of bytes become up to three: the rest of a row, whole rows, the beginning of a row.
 * `_ptsz` and `_ptds`: stream 0 is the calling thread's own.
 */
#include "cudart/runtime/runtime.h"

/* The driver function that makes the copies. */
struct way {
    CUresult (*at_once)(const CUDA_MEMCPY2D *copy); /* NULL: in the stream */
    cudaStream_t stream;
};

static const struct way in_default_stream = {.at_once = cuMemcpy2DUnaligned_v2};
static const struct way in_own_stream = {.at_once = cuMemcpy2DUnaligned_v2_ptds};

static struct way in_stream(cudaStream_t stream)
{
    return (struct way){.stream = stream};
}

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

static cudaError_t check_array(cudaArray_t array)
{
    struct crt_array_elements elements;
    return crt_array_elements(array, &elements);
}

static cudaError_t make(struct way way, const CUDA_MEMCPY2D *copy)
{
    if (copy->WidthInBytes == 0 || copy->Height == 0)
        return cudaSuccess;
    return way.at_once ? way.at_once(copy) : cuMemcpy2DAsync_v2(copy, way.stream);
}

/* What the memory beside an array is, by the direction: an array is never the host's. */
static cudaError_t find_type(enum cudaMemcpyKind kind, enum cudaMemcpyKind with_host,
                             CUmemorytype *type)
{
    if (kind == cudaMemcpyDefault)
        *type = CU_MEMORYTYPE_UNIFIED;
    else if (kind == with_host)
        *type = CU_MEMORYTYPE_HOST;
    else if (kind == cudaMemcpyDeviceToDevice)
        *type = CU_MEMORYTYPE_DEVICE;
    else
        return cudaErrorInvalidMemcpyDirection;
    return cudaSuccess;
}

/* ---- rectangles ---- */

static cudaError_t to_array(struct way way, cudaArray_t to, size_t x, size_t y, const void *from,
                            size_t pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy = {.srcHost = from,
                          .srcDevice = (uintptr_t)from,
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = to,
                          .dstXInBytes = x,
                          .dstY = y,
                          .WidthInBytes = width,
                          .Height = height};
    cudaError_t error = crt_enter() ?: check_array(to) ?: find_type(kind, cudaMemcpyHostToDevice, &copy.srcMemoryType);
    if (!error && width > pitch)
        error = cudaErrorInvalidPitchValue;
    return error ?: make(way, &copy);
}

static cudaError_t from_array(struct way way, void *to, size_t pitch, cudaArray_t from, size_t x,
                              size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = from,
                          .srcXInBytes = x,
                          .srcY = y,
                          .dstHost = to,
                          .dstDevice = (uintptr_t)to,
                          .dstPitch = pitch,
                          .WidthInBytes = width,
                          .Height = height};
    cudaError_t error = crt_enter() ?: check_array(from) ?: find_type(kind, cudaMemcpyDeviceToHost, &copy.dstMemoryType);
    if (!error && width > pitch)
        error = cudaErrorInvalidPitchValue;
    return error ?: make(way, &copy);
}

static cudaError_t between_arrays(struct way way, cudaArray_t to, size_t to_x, size_t to_y,
                                  cudaArray_t from, size_t from_x, size_t from_y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = from,
                          .srcXInBytes = from_x,
                          .srcY = from_y,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = to,
                          .dstXInBytes = to_x,
                          .dstY = to_y,
                          .WidthInBytes = width,
                          .Height = height};
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    return crt_enter() ?: make(way, &copy);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return crt_done(to_array(in_default_stream, to, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    return crt_done(to_array(in_own_stream, to, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return crt_done(to_array(in_stream(stream), to, x, y, from, pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void *from,
                                          size_t pitch, size_t width, size_t height,
                                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, own(stream));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return crt_done(from_array(in_default_stream, to, pitch, from, x, y, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArray_ptds(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return crt_done(from_array(in_own_stream, to, pitch, from, x, y, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    return crt_done(from_array(in_stream(stream), to, pitch, from, x, y, width, height, kind));
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void *to, size_t pitch, cudaArray_t from, size_t x,
                                            size_t y, size_t width, size_t height,
                                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, own(stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    return crt_done(between_arrays(in_default_stream, to, to_x, to_y, from, from_x, from_y, width,
                                   height, kind));
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y,
                                          cudaArray_t from, size_t from_x, size_t from_y,
                                          size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return crt_done(
        between_arrays(in_own_stream, to, to_x, to_y, from, from_x, from_y, width, height, kind));
}

/* ---- a number of bytes ---- */

/* The part of such a copy that lies in one row, or in whole rows. */
struct part {
    size_t x;
    size_t y;
    size_t offset; /* in the linear memory */
    size_t width;
    size_t height;
};

/* Returns how many parts there are. */
static int split(size_t row_bytes, size_t x, size_t y, size_t bytes, struct part parts[3])
{
    int count = 0;
    size_t first = x && bytes > row_bytes - x ? row_bytes - x : bytes;
    size_t done = 0;
    if (x || first < row_bytes) {
        parts[count++] = (struct part){x, y, 0, first, 1};
        done = first;
        y++;
    }
    if ((bytes - done) / row_bytes) {
        size_t rows = (bytes - done) / row_bytes;
        parts[count++] = (struct part){0, y, done, row_bytes, rows};
        done += rows * row_bytes;
        y += rows;
    }
    if (bytes > done)
        parts[count++] = (struct part){0, y, done, bytes - done, 1};
    return count;
}

static cudaError_t find_parts(cudaArray_t array, size_t x, size_t y, size_t bytes,
                              struct part parts[3], int *count)
{
    struct crt_array_elements elements;
    cudaError_t error = crt_enter() ?: crt_array_elements(array, &elements);
    if (error)
        return error;
    if (x >= elements.columns * elements.bytes)
        return cudaErrorInvalidValue;
    *count = split(elements.columns * elements.bytes, x, y, bytes, parts);
    return cudaSuccess;
}

static cudaError_t bytes_to_array(struct way way, cudaArray_t to, size_t x, size_t y,
                                  const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct part parts[3];
    int count = 0;
    cudaError_t error = find_parts(to, x, y, bytes, parts, &count);
    for (int i = 0; !error && i < count; i++)
        error = to_array(way, to, parts[i].x, parts[i].y, (const char *)from + parts[i].offset,
                         parts[i].width, parts[i].width, parts[i].height, kind);
    return crt_done(error);
}

static cudaError_t bytes_from_array(struct way way, void *to, cudaArray_t from, size_t x, size_t y,
                                    size_t bytes, enum cudaMemcpyKind kind)
{
    struct part parts[3];
    int count = 0;
    cudaError_t error = find_parts(from, x, y, bytes, parts, &count);
    for (int i = 0; !error && i < count; i++)
        error = from_array(way, (char *)to + parts[i].offset, parts[i].width, from, parts[i].x,
                           parts[i].y, parts[i].width, parts[i].height, kind);
    return crt_done(error);
}

/* Both positions as offsets in bytes; the driver goes on from row to row. */
static cudaError_t bytes_between(CUresult (*make_copy)(CUarray, size_t, CUarray, size_t, size_t),
                                 cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                 size_t from_x, size_t from_y, size_t bytes,
                                 enum cudaMemcpyKind kind)
{
    struct crt_array_elements of_to;
    struct crt_array_elements of_from;
    cudaError_t error = crt_enter() ?: crt_array_elements(to, &of_to);
    if (!error)
        error = crt_array_elements(from, &of_from);
    if (error)
        return crt_done(error);
    size_t to_width = of_to.columns * of_to.bytes;
    size_t from_width = of_from.columns * of_from.bytes;
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return crt_done(cudaErrorInvalidMemcpyDirection);
    return crt_done(
        make_copy(to, to_y * to_width + to_x, from, from_y * from_width + from_x, bytes));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    return bytes_to_array(in_default_stream, to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind)
{
    return bytes_to_array(in_own_stream, to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes_to_array(in_stream(stream), to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void *from,
                                        size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes_to_array(in_stream(own(stream)), to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    return bytes_from_array(in_default_stream, to, from, x, y, bytes, kind);
}

cudaError_t cudaMemcpyFromArray_ptds(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    return bytes_from_array(in_own_stream, to, from, x, y, bytes, kind);
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return bytes_from_array(in_stream(stream), to, from, x, y, bytes, kind);
}

cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *to, cudaArray_t from, size_t x, size_t y,
                                          size_t bytes, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    return bytes_from_array(in_stream(own(stream)), to, from, x, y, bytes, kind);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                   size_t from_x, size_t from_y, size_t bytes,
                                   enum cudaMemcpyKind kind)
{
    return bytes_between(cuMemcpyAtoA_v2, to, to_x, to_y, from, from_x, from_y, bytes, kind);
}

cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                        size_t from_x, size_t from_y, size_t bytes,
                                        enum cudaMemcpyKind kind)
{
    return bytes_between(cuMemcpyAtoA_v2_ptds, to, to_x, to_y, from, from_x, from_y, bytes, kind);
}
