/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies. Every form becomes one struct crt_copy. `_ptds`: in the calling thread's default stream.
 */
#include "cudart/core/copy.h"

#include "cudart/driver/internal.h"

/* A plain copy of bytes. */
static CUresult copy_bytes(CUstream handle, uintptr_t dst, enum crt_place dst_place, uintptr_t src,
                           enum crt_place src_place, size_t bytes, bool is_async)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_copy copy = {.dst = {.base = dst, .pitch_bytes = bytes, .place = dst_place},
                            .src = {.base = src, .pitch_bytes = bytes, .place = src_place},
                            .width_bytes = bytes,
                            .height = 1,
                            .depth = 1};
    return crt_copy(stream, &copy, is_async);
}

static CUresult copy_unified(CUstream stream, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                             bool is_async)
{
    return copy_bytes(stream, (uintptr_t)dst, CRT_PLACE_UNIFIED, (uintptr_t)src, CRT_PLACE_UNIFIED,
                      bytes, is_async);
}

static CUresult copy_to_device(CUstream stream, CUdeviceptr dst, const void *src, size_t bytes,
                               bool is_async)
{
    return copy_bytes(stream, (uintptr_t)dst, CRT_PLACE_DEVICE, (uintptr_t)src, CRT_PLACE_HOST,
                      bytes, is_async);
}

static CUresult copy_to_host(CUstream stream, void *dst, CUdeviceptr src, size_t bytes,
                             bool is_async)
{
    return copy_bytes(stream, (uintptr_t)dst, CRT_PLACE_HOST, (uintptr_t)src, CRT_PLACE_DEVICE,
                      bytes, is_async);
}

static CUresult copy_on_device(CUstream stream, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                               bool is_async)
{
    return copy_bytes(stream, (uintptr_t)dst, CRT_PLACE_DEVICE, (uintptr_t)src, CRT_PLACE_DEVICE,
                      bytes, is_async);
}

/* One side of a two- or three-dimensional copy, as its descriptor gives it. */
struct described_side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t pitch_bytes;
    size_t height; /* rows per slice */
    size_t x_bytes;
    size_t y;
    size_t z;
};

static CUresult make_side(const struct described_side *described, size_t width_bytes,
                          struct crt_side *side)
{
    switch (described->type) {
    case CU_MEMORYTYPE_HOST:
        side->place = CRT_PLACE_HOST;
        side->base = (uintptr_t)described->host;
        break;
    case CU_MEMORYTYPE_DEVICE:
        side->place = CRT_PLACE_DEVICE;
        side->base = (uintptr_t)described->device;
        break;
    case CU_MEMORYTYPE_UNIFIED:
        side->place = CRT_PLACE_UNIFIED;
        side->base = (uintptr_t)described->device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        return crt_not_supported("copies from and to CUDA arrays");
    default:
        return CRT_INVALID_VALUE;
    }
    size_t pitch = described->pitch_bytes ? described->pitch_bytes : width_bytes;
    if (pitch < width_bytes || !side->base)
        return CRT_INVALID_VALUE;
    side->pitch_bytes = pitch;
    side->slice_bytes = pitch * described->height;
    side->base += described->x_bytes + described->y * pitch + described->z * side->slice_bytes;
    return CRT_SUCCESS;
}

CUresult describe_copy_3d(const CUDA_MEMCPY3D *copy, struct crt_copy *described)
{
    struct described_side dst = {.type = copy->dstMemoryType,
                                 .host = copy->dstHost,
                                 .device = copy->dstDevice,
                                 .pitch_bytes = copy->dstPitch,
                                 .height = copy->dstHeight ? copy->dstHeight : copy->Height,
                                 .x_bytes = copy->dstXInBytes,
                                 .y = copy->dstY,
                                 .z = copy->dstZ};
    struct described_side src = {.type = copy->srcMemoryType,
                                 .host = copy->srcHost,
                                 .device = copy->srcDevice,
                                 .pitch_bytes = copy->srcPitch,
                                 .height = copy->srcHeight ? copy->srcHeight : copy->Height,
                                 .x_bytes = copy->srcXInBytes,
                                 .y = copy->srcY,
                                 .z = copy->srcZ};
    *described = (struct crt_copy){
        .width_bytes = copy->WidthInBytes, .height = copy->Height, .depth = copy->Depth};
    CUresult result = make_side(&dst, copy->WidthInBytes, &described->dst);
    return result == CRT_SUCCESS ? make_side(&src, copy->WidthInBytes, &described->src) : result;
}

static CUresult copy_3d(CUstream handle, const CUDA_MEMCPY3D *copy, bool is_async)
{
    if (!copy)
        return CRT_INVALID_VALUE;
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CRT_SUCCESS;
    struct crt_copy described;
    result = describe_copy_3d(copy, &described);
    return result == CRT_SUCCESS ? crt_copy(stream, &described, is_async) : result;
}

/* A two-dimensional copy is a three-dimensional one of depth 1. */
static CUresult copy_2d(CUstream stream, const CUDA_MEMCPY2D *copy, bool is_async)
{
    if (!copy)
        return CRT_INVALID_VALUE;
    CUDA_MEMCPY3D wide = {.srcXInBytes = copy->srcXInBytes,
                          .srcY = copy->srcY,
                          .srcMemoryType = copy->srcMemoryType,
                          .srcHost = copy->srcHost,
                          .srcDevice = copy->srcDevice,
                          .srcArray = copy->srcArray,
                          .srcPitch = copy->srcPitch,
                          .dstXInBytes = copy->dstXInBytes,
                          .dstY = copy->dstY,
                          .dstMemoryType = copy->dstMemoryType,
                          .dstHost = copy->dstHost,
                          .dstDevice = copy->dstDevice,
                          .dstArray = copy->dstArray,
                          .dstPitch = copy->dstPitch,
                          .WidthInBytes = copy->WidthInBytes,
                          .Height = copy->Height,
                          .Depth = 1};
    return copy_3d(stream, &wide, is_async);
}

/* The descriptor of a peer copy has contexts where the plain one has reserved fields. */
static CUresult copy_3d_peer(CUstream stream, const CUDA_MEMCPY3D_PEER *peer, bool is_async)
{
    if (!peer)
        return CRT_INVALID_VALUE;
    CUDA_MEMCPY3D copy;
    _Static_assert(sizeof copy == sizeof *peer, "the two descriptors have one layout");
    __builtin_memcpy(&copy, peer, sizeof copy);
    return copy_3d(stream, &copy, is_async);
}

/* ---- synchronous ---- */

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return copy_unified(CU_STREAM_LEGACY, dst, src, bytes, false);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                      size_t bytes)
{
    if (!crt_context_is_valid(dst_ctx) || !crt_context_is_valid(src_ctx))
        return CRT_INVALID_CONTEXT;
    return copy_on_device(CU_STREAM_LEGACY, dst, src, bytes, false);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes)
{
    return copy_to_device(CU_STREAM_LEGACY, dst, src, bytes, false);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
    return copy_to_host(CU_STREAM_LEGACY, dst, src, bytes, false);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return copy_on_device(CU_STREAM_LEGACY, dst, src, bytes, true);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(CU_STREAM_LEGACY, copy, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(CU_STREAM_LEGACY, copy, false);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    return copy_3d(CU_STREAM_LEGACY, copy, false);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy_3d_peer(CU_STREAM_LEGACY, copy, false);
}

/* ---- synchronous, in the thread's own stream ---- */

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return copy_unified(CU_STREAM_PER_THREAD, dst, src, bytes, false);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                           size_t bytes)
{
    if (!crt_context_is_valid(dst_ctx) || !crt_context_is_valid(src_ctx))
        return CRT_INVALID_CONTEXT;
    return copy_on_device(CU_STREAM_PER_THREAD, dst, src, bytes, false);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t bytes)
{
    return copy_to_device(CU_STREAM_PER_THREAD, dst, src, bytes, false);
}

CUresult cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t bytes)
{
    return copy_to_host(CU_STREAM_PER_THREAD, dst, src, bytes, false);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return copy_on_device(CU_STREAM_PER_THREAD, dst, src, bytes, true);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(CU_STREAM_PER_THREAD, copy, false);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(CU_STREAM_PER_THREAD, copy, false);
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy)
{
    return copy_3d(CU_STREAM_PER_THREAD, copy, false);
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy_3d_peer(CU_STREAM_PER_THREAD, copy, false);
}

/* ---- in a stream ---- */

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy_unified(stream, dst, src, bytes, true);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                           size_t bytes, CUstream stream)
{
    if (!crt_context_is_valid(dst_ctx) || !crt_context_is_valid(src_ctx))
        return CRT_INVALID_CONTEXT;
    return copy_on_device(stream, dst, src, bytes, true);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    return copy_to_device(stream, dst, src, bytes, true);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy_to_host(stream, dst, src, bytes, true);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy_on_device(stream, dst, src, bytes, true);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_2d(stream, copy, true);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy_3d(stream, copy, true);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return copy_3d_peer(stream, copy, true);
}
