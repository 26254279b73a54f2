/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies. Every form becomes one struct crt_copy. `_ptds`: in the calling thread's default stream.
 */
#include "cudart/core/memory/copy.h"

#include <string.h>

#include "cudart/core/memory/array.h"
#include "cudart/driver/internal.h"

#define PITCH_MAX ((size_t)INT32_MAX) /* device attribute 11 */

static CUresult finish(CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_stream_synchronize(stream) : result;
}

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
    CUarray array;
    size_t pitch_bytes;
    size_t height; /* rows per slice */
    size_t x_bytes;
    size_t y;
    size_t z;
    size_t lod;
};

static bool fits(size_t offset, size_t extent, size_t limit)
{
    return offset <= limit && extent <= limit - offset;
}

/* Offsets and widths are in bytes, but must be whole elements of the array. */
static CUresult make_array_side(const struct described_side *described, const struct crt_copy *copy,
                                struct crt_side *side)
{
    const struct crt_array *array = described->array;
    if (!array || described->lod)
        return CRT_INVALID_VALUE;
    if (!crt_array_is_valid(array))
        return CRT_INVALID_HANDLE;
    bool is_whole =
        described->x_bytes % array->elem_bytes == 0 && copy->width_bytes % array->elem_bytes == 0;
    bool is_inside =
        fits(described->x_bytes, copy->width_bytes, array->columns * array->elem_bytes) &&
        fits(described->y, copy->height, array->rows) &&
        fits(described->z, copy->depth, array->slices);
    if (!is_whole || !is_inside)
        return CRT_INVALID_VALUE;
    *side = (struct crt_side){
        .base = array->base + described->x_bytes + described->y * array->pitch_bytes +
                described->z * array->slice_bytes,
        .pitch_bytes = array->pitch_bytes,
        .slice_bytes = array->slice_bytes,
        .place = CRT_PLACE_DEVICE,
        .array = described->array,
    };
    return CRT_SUCCESS;
}

static CUresult make_linear_side(const struct described_side *described,
                                 const struct crt_copy *copy, struct crt_side *side)
{
    size_t pitch = described->pitch_bytes ? described->pitch_bytes : copy->width_bytes;
    size_t height = described->height ? described->height : copy->height;
    if (pitch < copy->width_bytes || pitch > PITCH_MAX || !side->base)
        return CRT_INVALID_VALUE;
    if (copy->depth > 1 && height < copy->height)
        return CRT_INVALID_VALUE;
    size_t rows;
    size_t offset;
    if (__builtin_mul_overflow(pitch, height, &side->slice_bytes) ||
        __builtin_mul_overflow(described->z, side->slice_bytes, &offset) ||
        __builtin_mul_overflow(described->y, pitch, &rows) ||
        __builtin_add_overflow(offset, rows, &offset) ||
        __builtin_add_overflow(offset, described->x_bytes, &offset) ||
        __builtin_add_overflow(side->base, offset, &side->base))
        return CRT_INVALID_VALUE;
    side->pitch_bytes = pitch;
    return CRT_SUCCESS;
}

static CUresult make_side(const struct described_side *described, const struct crt_copy *copy,
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
        return make_array_side(described, copy, side);
    default:
        return CRT_INVALID_VALUE;
    }
    return make_linear_side(described, copy, side);
}

CUresult describe_copy_3d(const CUDA_MEMCPY3D *copy, struct crt_copy *described)
{
    struct described_side dst = {.type = copy->dstMemoryType,
                                 .host = copy->dstHost,
                                 .device = copy->dstDevice,
                                 .array = copy->dstArray,
                                 .pitch_bytes = copy->dstPitch,
                                 .height = copy->dstHeight,
                                 .x_bytes = copy->dstXInBytes,
                                 .y = copy->dstY,
                                 .z = copy->dstZ,
                                 .lod = copy->dstLOD};
    struct described_side src = {.type = copy->srcMemoryType,
                                 .host = copy->srcHost,
                                 .device = copy->srcDevice,
                                 .array = copy->srcArray,
                                 .pitch_bytes = copy->srcPitch,
                                 .height = copy->srcHeight,
                                 .x_bytes = copy->srcXInBytes,
                                 .y = copy->srcY,
                                 .z = copy->srcZ,
                                 .lod = copy->srcLOD};
    *described = (struct crt_copy){
        .width_bytes = copy->WidthInBytes, .height = copy->Height, .depth = copy->Depth};
    CUresult result = make_side(&dst, described, &described->dst);
    return result == CRT_SUCCESS ? make_side(&src, described, &described->src) : result;
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

/* "… serialized with respect to all pending and future asynchronous work in the current context,
 * the copy's source context, and the copy's destination context": the synchronous forms wait for
 * what the two contexts have pending, and return when they are done. */
static CUresult settle(CUcontext handle)
{
    CUcontext ctx = crt_context_behind(handle);
    return ctx == crt_context_get_current() ? CRT_SUCCESS : crt_context_wait(ctx);
}

static CUresult copy_peer(CUstream stream, CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,
                          CUcontext src_ctx, size_t bytes, bool is_async)
{
    if (!is_context(dst_ctx) || !is_context(src_ctx))
        return CRT_INVALID_CONTEXT;
    if (is_async)
        return copy_on_device(stream, dst, src, bytes, true);
    CUresult result = settle(dst_ctx);
    if (result == CRT_SUCCESS)
        result = settle(src_ctx);
    if (result == CRT_SUCCESS)
        result = copy_on_device(stream, dst, src, bytes, false);
    bool is_own = dst_ctx == src_ctx && crt_context_behind(dst_ctx) == crt_context_get_current();
    return result == CRT_SUCCESS && !is_own ? finish(stream) : result;
}

/* Whether a side of a peer copy names a context where it needs one. */
static bool has_context(CUmemorytype type, CUcontext ctx)
{
    return type == CU_MEMORYTYPE_HOST || is_context(ctx);
}

/* The descriptor of a peer copy has contexts where the plain one has reserved fields. */
static CUresult copy_3d_peer(CUstream stream, const CUDA_MEMCPY3D_PEER *peer, bool is_async)
{
    if (!peer)
        return CRT_INVALID_VALUE;
    if (!has_context(peer->dstMemoryType, peer->dstContext) ||
        !has_context(peer->srcMemoryType, peer->srcContext))
        return CRT_INVALID_CONTEXT;
    CUDA_MEMCPY3D copy;
    _Static_assert(sizeof copy == sizeof *peer, "the two descriptors have one layout");
    memcpy(&copy, peer, sizeof copy);
    if (is_async)
        return copy_3d(stream, &copy, true);
    CUresult result = CRT_SUCCESS;
    if (peer->dstMemoryType != CU_MEMORYTYPE_HOST)
        result = settle(peer->dstContext);
    if (result == CRT_SUCCESS && peer->srcMemoryType != CU_MEMORYTYPE_HOST)
        result = settle(peer->srcContext);
    if (result == CRT_SUCCESS)
        result = copy_3d(stream, &copy, false);
    return result == CRT_SUCCESS ? finish(stream) : result;
}

/* ---- synchronous ---- */

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
    return copy_unified(CU_STREAM_LEGACY, dst, src, bytes, false);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
                      size_t bytes)
{
    return copy_peer(CU_STREAM_LEGACY, dst, dst_ctx, src, src_ctx, bytes, false);
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
    return copy_on_device(CU_STREAM_LEGACY, dst, src, bytes, false);
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
    return copy_peer(CU_STREAM_PER_THREAD, dst, dst_ctx, src, src_ctx, bytes, false);
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
    return copy_on_device(CU_STREAM_PER_THREAD, dst, src, bytes, false);
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
    return copy_peer(stream, dst, dst_ctx, src, src_ctx, bytes, true);
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
