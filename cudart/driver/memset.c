/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills. `_ptds`: in the calling thread's default stream.
 */
#include "cudart/core/memory/copy.h"
#include "cudart/driver/internal.h"

static CUresult start_fill(CUstream handle, CUdeviceptr dst, size_t pitch, unsigned value,
                           unsigned elem_bytes, size_t width, size_t height, bool is_async)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_fill request = {.base = (uintptr_t)dst,
                               .pitch_bytes = pitch,
                               .width = width,
                               .height = height,
                               .value = value,
                               .elem_bytes = elem_bytes};
    return crt_fill(stream, &request, is_async);
}

static CUresult fill(CUstream stream, CUdeviceptr dst, size_t pitch, unsigned value,
                     unsigned elem_bytes, size_t width, size_t height)
{
    return start_fill(stream, dst, pitch, value, elem_bytes, width, height, false);
}

static CUresult fill_async(CUstream stream, CUdeviceptr dst, size_t pitch, unsigned value,
                           unsigned elem_bytes, size_t width, size_t height)
{
    return start_fill(stream, dst, pitch, value, elem_bytes, width, height, true);
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    return fill(CU_STREAM_LEGACY, dst, 0, value, 1, count, 1);
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr dst, unsigned char value, size_t count)
{
    return fill(CU_STREAM_PER_THREAD, dst, 0, value, 1, count, 1);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    return fill_async(stream, dst, 0, value, 1, count, 1);
}

CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
    return fill(CU_STREAM_LEGACY, dst, 0, value, 2, count, 1);
}

CUresult cuMemsetD16_v2_ptds(CUdeviceptr dst, unsigned short value, size_t count)
{
    return fill(CU_STREAM_PER_THREAD, dst, 0, value, 2, count, 1);
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    return fill_async(stream, dst, 0, value, 2, count, 1);
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned value, size_t count)
{
    return fill(CU_STREAM_LEGACY, dst, 0, value, 4, count, 1);
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr dst, unsigned value, size_t count)
{
    return fill(CU_STREAM_PER_THREAD, dst, 0, value, 4, count, 1);
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream)
{
    return fill_async(stream, dst, 0, value, 4, count, 1);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return fill(CU_STREAM_LEGACY, dst, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                              size_t height)
{
    return fill(CU_STREAM_PER_THREAD, dst, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill_async(stream, dst, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return fill(CU_STREAM_LEGACY, dst, pitch, value, 2, width, height);
}

CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                               size_t height)
{
    return fill(CU_STREAM_PER_THREAD, dst, pitch, value, 2, width, height);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_async(stream, dst, pitch, value, 2, width, height);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned value, size_t width,
                          size_t height)
{
    return fill(CU_STREAM_LEGACY, dst, pitch, value, 4, width, height);
}

CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dst, size_t pitch, unsigned value, size_t width,
                               size_t height)
{
    return fill(CU_STREAM_PER_THREAD, dst, pitch, value, 4, width, height);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_async(stream, dst, pitch, value, 4, width, height);
}
