/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of a number of bytes from and to CUDA arrays. The bytes of an array are its rows, one
 * behind the other without what lies between them. `_ptds`: in the calling thread's default stream.
 */
#include "cudart/core/memory/array.h"
#include "cudart/core/memory/copy.h"
#include "cudart/driver/internal.h"

static size_t row_bytes(const struct crt_array *array)
{
    return array->columns * array->elem_bytes;
}

/* Offsets and sizes are whole elements, and the bytes lie in the array. */
static CUresult check_bytes(CUarray array, size_t offset, size_t bytes)
{
    if (!array)
        return CRT_INVALID_VALUE;
    if (!crt_array_is_valid(array))
        return CRT_INVALID_HANDLE;
    size_t total = row_bytes(array) * array->rows * array->slices;
    bool is_whole = offset % array->elem_bytes == 0 && bytes % array->elem_bytes == 0;
    bool fits = offset <= total && bytes <= total - offset;
    return is_whole && fits ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* Rows from the byte at this offset on. */
static struct crt_side array_side(CUarray array, size_t offset)
{
    size_t width = row_bytes(array);
    return (struct crt_side){.base =
                                 array->base + offset / width * array->pitch_bytes + offset % width,
                             .pitch_bytes = array->pitch_bytes,
                             .slice_bytes = array->slice_bytes,
                             .place = CRT_PLACE_DEVICE,
                             .array = array};
}

/* Copies between an array and linear memory: what is left of the first row, whole rows, and what
 * is left over. */
struct transfer {
    CUarray array;
    size_t offset;
    uintptr_t linear;
    enum crt_place place;
    bool to_array;
};

static CUresult copy_rows(CUstream stream, struct transfer *transfer, size_t width, size_t rows,
                          bool is_async)
{
    struct crt_side linear = {
        .base = transfer->linear, .pitch_bytes = width, .place = transfer->place};
    struct crt_side array = array_side(transfer->array, transfer->offset);
    struct crt_copy copy = {.dst = transfer->to_array ? array : linear,
                            .src = transfer->to_array ? linear : array,
                            .width_bytes = width,
                            .height = rows,
                            .depth = 1};
    transfer->offset += width * rows;
    transfer->linear += width * rows;
    return crt_copy(stream, &copy, is_async);
}

static CUresult copy_linear(CUstream handle, struct transfer transfer, size_t bytes, bool is_async)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result == CRT_SUCCESS)
        result = check_bytes(transfer.array, transfer.offset, bytes);
    if (result != CRT_SUCCESS)
        return result;
    size_t width = row_bytes(transfer.array);
    size_t begun = transfer.offset % width;
    size_t first = begun ? width - begun : 0;
    if (first > bytes)
        first = bytes;
    bytes -= first;
    if (first)
        result = copy_rows(stream, &transfer, first, 1, is_async);
    if (result == CRT_SUCCESS && bytes / width)
        result = copy_rows(stream, &transfer, width, bytes / width, is_async);
    if (result == CRT_SUCCESS && bytes % width)
        result = copy_rows(stream, &transfer, bytes % width, 1, is_async);
    return result;
}

/* "The size of the elements in the CUDA arrays need not be the same format, but the elements must
 * be the same size". Row by row of whichever array's row ends first. */
static CUresult copy_arrays(CUstream handle, CUarray dst, size_t dst_offset, CUarray src,
                            size_t src_offset, size_t bytes)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result == CRT_SUCCESS)
        result = check_bytes(dst, dst_offset, bytes);
    if (result == CRT_SUCCESS)
        result = check_bytes(src, src_offset, bytes);
    if (result != CRT_SUCCESS)
        return result;
    if (dst->elem_bytes != src->elem_bytes)
        return CRT_INVALID_VALUE;
    while (result == CRT_SUCCESS && bytes) {
        size_t dst_left = row_bytes(dst) - dst_offset % row_bytes(dst);
        size_t src_left = row_bytes(src) - src_offset % row_bytes(src);
        size_t width = dst_left < src_left ? dst_left : src_left;
        if (width > bytes)
            width = bytes;
        struct crt_copy copy = {.dst = array_side(dst, dst_offset),
                                .src = array_side(src, src_offset),
                                .width_bytes = width,
                                .height = 1,
                                .depth = 1};
        result = crt_copy(stream, &copy, false);
        dst_offset += width;
        src_offset += width;
        bytes -= width;
    }
    return result;
}

static CUresult from_array(CUstream stream, uintptr_t dst, enum crt_place place, CUarray src,
                           size_t offset, size_t bytes, bool is_async)
{
    struct transfer transfer = {.array = src, .offset = offset, .linear = dst, .place = place};
    return copy_linear(stream, transfer, bytes, is_async);
}

static CUresult to_array(CUstream stream, CUarray dst, size_t offset, uintptr_t src,
                         enum crt_place place, size_t bytes, bool is_async)
{
    struct transfer transfer = {
        .array = dst, .offset = offset, .linear = src, .place = place, .to_array = true};
    return copy_linear(stream, transfer, bytes, is_async);
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                         size_t bytes)
{
    return copy_arrays(CU_STREAM_LEGACY, dst, dst_offset, src, src_offset, bytes);
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                              size_t bytes)
{
    return copy_arrays(CU_STREAM_PER_THREAD, dst, dst_offset, src, src_offset, bytes);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(CU_STREAM_LEGACY, dst, CRT_PLACE_DEVICE, src, offset, bytes, false);
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(CU_STREAM_PER_THREAD, dst, CRT_PLACE_DEVICE, src, offset, bytes, false);
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
    return to_array(CU_STREAM_LEGACY, dst, offset, src, CRT_PLACE_DEVICE, bytes, false);
}

CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
    return to_array(CU_STREAM_PER_THREAD, dst, offset, src, CRT_PLACE_DEVICE, bytes, false);
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(CU_STREAM_LEGACY, (uintptr_t)dst, CRT_PLACE_HOST, src, offset, bytes, false);
}

CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t offset, size_t bytes)
{
    return from_array(CU_STREAM_PER_THREAD, (uintptr_t)dst, CRT_PLACE_HOST, src, offset, bytes,
                      false);
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes)
{
    return to_array(CU_STREAM_LEGACY, dst, offset, (uintptr_t)src, CRT_PLACE_HOST, bytes, false);
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t offset, const void *src, size_t bytes)
{
    return to_array(CU_STREAM_PER_THREAD, dst, offset, (uintptr_t)src, CRT_PLACE_HOST, bytes,
                    false);
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
    return from_array(stream, (uintptr_t)dst, CRT_PLACE_HOST, src, offset, bytes, true);
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t offset, size_t bytes,
                                   CUstream stream)
{
    return cuMemcpyAtoHAsync_v2(dst, src, offset, bytes, own_stream(stream));
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes,
                              CUstream stream)
{
    return to_array(stream, dst, offset, (uintptr_t)src, CRT_PLACE_HOST, bytes, true);
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t offset, const void *src, size_t bytes,
                                   CUstream stream)
{
    return cuMemcpyHtoAAsync_v2(dst, offset, src, bytes, own_stream(stream));
}
