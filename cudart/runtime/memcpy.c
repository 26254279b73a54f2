/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills: linear, pitched, to and from variables. The direction a program names selects
 * the driver call; cudaMemcpyDefault leaves the choice to the driver.
 */
#include <string.h>

#include "cudart/runtime/runtime.h"

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static cudaError_t check_kind(enum cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoD_v2(device_pointer(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoH_v2(to, device_pointer(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoD_v2(device_pointer(to), device_pointer(from), bytes);
    default:
        return cuMemcpy(device_pointer(to), device_pointer(from), bytes);
    }
}

static cudaError_t copy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync_v2(device_pointer(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync_v2(to, device_pointer(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync_v2(device_pointer(to), device_pointer(from), bytes, stream);
    default:
        return cuMemcpyAsync(device_pointer(to), device_pointer(from), bytes, stream);
    }
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = crt_enter();
    if (!error && bytes)
        error = check_kind(kind) ?: copy(to, from, bytes, kind);
    return crt_done(error);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    cudaError_t error = crt_enter();
    if (!error && bytes)
        error = check_kind(kind) ?: copy_async(to, from, bytes, kind, stream);
    return crt_done(error);
}

/* All devices share one address space. */
static cudaError_t check_peers(int to, int from)
{
    return crt_enter()
               ?: (crt_is_device(to) && crt_is_device(from) ? cudaSuccess : cudaErrorInvalidDevice);
}

/* The context of a pointer's memory, whose work a synchronous copy waits for; the current one for
 * memory that has none. */
static CUcontext context_of(const void *pointer)
{
    CUcontext ctx = NULL;
    if (cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, device_pointer(pointer)) || !ctx)
        cuCtxGetCurrent(&ctx);
    return ctx;
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    cudaError_t error = check_peers(to_device, from_device);
    if (!error && bytes)
        error = cuMemcpyPeer(device_pointer(to), context_of(to), device_pointer(from),
                             context_of(from), bytes);
    return crt_done(error);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    cudaError_t error = check_peers(to_device, from_device);
    if (!error && bytes)
        error = copy_async(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    return crt_done(error);
}

/* ---- variables ---- */

static cudaError_t locate(const void *symbol, size_t bytes, size_t offset, void **address)
{
    CUdeviceptr start = 0;
    size_t size_bytes = 0;
    cudaError_t error = crt_enter() ?: crt_variable_of(symbol, &start, &size_bytes);
    if (error)
        return error;
    if (offset > size_bytes || bytes > size_bytes - offset)
        return cudaErrorInvalidValue;
    *address = (void *)(uintptr_t)(start + offset);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    void *address = NULL;
    cudaError_t error = locate(symbol, bytes, offset, &address);
    return error ? crt_done(error) : cudaMemcpy(address, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    void *address = NULL;
    cudaError_t error = locate(symbol, bytes, offset, &address);
    return error ? crt_done(error) : cudaMemcpy(to, address, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *address = NULL;
    cudaError_t error = locate(symbol, bytes, offset, &address);
    return error ? crt_done(error) : cudaMemcpyAsync(address, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *address = NULL;
    cudaError_t error = locate(symbol, bytes, offset, &address);
    return error ? crt_done(error) : cudaMemcpyAsync(to, address, bytes, kind, stream);
}

cudaError_t cudaGetSymbolAddress(void **result, const void *symbol)
{
    return crt_done(result ? locate(symbol, 0, 0, result) : cudaErrorInvalidValue);
}

cudaError_t cudaGetSymbolSize(size_t *size_bytes, const void *symbol)
{
    CUdeviceptr address = 0;
    cudaError_t error = size_bytes ? crt_enter() : cudaErrorInvalidValue;
    return crt_done(error ?: crt_variable_of(symbol, &address, size_bytes));
}

/* ---- pitched copies ---- */

/* Which member of the descriptor holds a pointer, by direction. */
static CUmemorytype type_of(enum cudaMemcpyKind kind, enum cudaMemcpyKind other_with_host)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == other_with_host ? CU_MEMORYTYPE_HOST
                                                                   : CU_MEMORYTYPE_DEVICE;
}

static cudaError_t describe_2d(CUDA_MEMCPY2D *result, void *to, size_t to_pitch, const void *from,
                               size_t from_pitch, size_t width, size_t height,
                               enum cudaMemcpyKind kind)
{
    if (check_kind(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return cudaErrorInvalidPitchValue;
    *result = (CUDA_MEMCPY2D){
        .srcMemoryType = type_of(kind, cudaMemcpyHostToDevice),
        .srcHost = from,
        .srcDevice = device_pointer(from),
        .srcPitch = from_pitch,
        .dstMemoryType = type_of(kind, cudaMemcpyDeviceToHost),
        .dstHost = to,
        .dstDevice = device_pointer(to),
        .dstPitch = to_pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D description;
    cudaError_t error = crt_enter();
    if (!error && width && height)
        error = describe_2d(&description, to, to_pitch, from, from_pitch, width, height, kind)
                    ?: cuMemcpy2DUnaligned_v2(&description);
    return crt_done(error);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    CUDA_MEMCPY2D description;
    cudaError_t error = crt_enter();
    if (!error && width && height)
        error = describe_2d(&description, to, to_pitch, from, from_pitch, width, height, kind)
                    ?: cuMemcpy2DAsync_v2(&description, stream);
    return crt_done(error);
}

/* ---- boxes ---- */

/* One side of a box: an array or a pointer. Positions are in the texels of an array, and in bytes
 * of a pointer; the extent is in texels of the array if there is one. */
struct side {
    cudaArray_t array;
    struct cudaPitchedPtr pointer;
    struct cudaPos position;
    struct crt_array_elements elements;
};

static cudaError_t make_side(void *array, struct cudaPitchedPtr pointer, struct cudaPos position,
                             struct side *side)
{
    *side = (struct side){array, pointer, position, {.bytes = 1, .side = 1}};
    if (!array == !pointer.ptr)
        return cudaErrorInvalidValue;
    return array ? crt_array_elements(array, &side->elements) : cudaSuccess;
}

static CUmemorytype side_type(const struct side *side, enum cudaMemcpyKind kind,
                              enum cudaMemcpyKind other_with_host)
{
    return side->array ? CU_MEMORYTYPE_ARRAY : type_of(kind, other_with_host);
}

/* Whether the pitched memory can have rows and planes as the box has. */
static bool has_room(const struct side *side, size_t width, struct cudaExtent extent)
{
    if (side->array)
        return true;
    return (extent.height == 1 || side->pointer.pitch >= width) &&
           (extent.depth == 1 || side->pointer.ysize >= extent.height);
}

/* Elements that so many texels begin in or fill. */
static size_t elements_of(size_t texels, unsigned side)
{
    return texels / side + (texels % side != 0);
}

static cudaError_t describe_sides(const struct side *to, const struct side *from,
                                  struct cudaExtent extent, enum cudaMemcpyKind kind,
                                  CUDA_MEMCPY3D *result)
{
    const struct crt_array_elements *elements = to->array ? &to->elements : &from->elements;
    if (to->array && from->array && to->elements.bytes != from->elements.bytes)
        return cudaErrorInvalidValue;
    extent.height = elements_of(extent.height, elements->side);
    size_t width = elements_of(extent.width, elements->side);
    if (__builtin_mul_overflow(width, elements->bytes, &width))
        return cudaErrorInvalidValue;
    if (!has_room(to, width, extent) || !has_room(from, width, extent))
        return cudaErrorInvalidPitchValue;
    *result = (CUDA_MEMCPY3D){
        .srcXInBytes = from->position.x / from->elements.side * from->elements.bytes,
        .srcY = from->position.y / from->elements.side,
        .srcZ = from->position.z,
        .srcMemoryType = side_type(from, kind, cudaMemcpyHostToDevice),
        .srcHost = from->pointer.ptr,
        .srcDevice = device_pointer(from->pointer.ptr),
        .srcArray = from->array,
        .srcPitch = from->pointer.pitch,
        .srcHeight = from->pointer.ysize,
        .dstXInBytes = to->position.x / to->elements.side * to->elements.bytes,
        .dstY = to->position.y / to->elements.side,
        .dstZ = to->position.z,
        .dstMemoryType = side_type(to, kind, cudaMemcpyDeviceToHost),
        .dstHost = to->pointer.ptr,
        .dstDevice = device_pointer(to->pointer.ptr),
        .dstArray = to->array,
        .dstPitch = to->pointer.pitch,
        .dstHeight = to->pointer.ysize,
        .WidthInBytes = width,
        .Height = extent.height,
        .Depth = extent.depth,
    };
    return cudaSuccess;
}

cudaError_t crt_describe_3d(const struct cudaMemcpy3DParms *box, CUDA_MEMCPY3D *result)
{
    struct side to;
    struct side from;
    if (!box)
        return cudaErrorInvalidValue;
    return check_kind(box->kind) ?: make_side(box->dstArray, box->dstPtr, box->dstPos, &to)
               ?: make_side(box->srcArray, box->srcPtr, box->srcPos, &from)
                      ?: describe_sides(&to, &from, box->extent, box->kind, result);
}

static bool is_empty(struct cudaExtent extent)
{
    return !extent.width || !extent.height || !extent.depth;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *box, cudaStream_t stream)
{
    CUDA_MEMCPY3D description;
    cudaError_t error = box ? crt_enter() : cudaErrorInvalidValue;
    if (error || is_empty(box->extent))
        return crt_done(error);
    return crt_done(crt_describe_3d(box, &description) ?: cuMemcpy3DAsync_v2(&description, stream));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *box)
{
    CUDA_MEMCPY3D description;
    cudaError_t error = box ? crt_enter() : cudaErrorInvalidValue;
    if (error || is_empty(box->extent))
        return crt_done(error);
    return crt_done(crt_describe_3d(box, &description) ?: cuMemcpy3D_v2(&description));
}

static struct cudaMemcpy3DParms box_of_peers(const struct cudaMemcpy3DPeerParms *box)
{
    return (struct cudaMemcpy3DParms){
        .srcArray = box->srcArray,
        .srcPos = box->srcPos,
        .srcPtr = box->srcPtr,
        .dstArray = box->dstArray,
        .dstPos = box->dstPos,
        .dstPtr = box->dstPtr,
        .extent = box->extent,
        .kind = cudaMemcpyDefault,
    };
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *box, cudaStream_t stream)
{
    cudaError_t error = box ? check_peers(box->dstDevice, box->srcDevice) : cudaErrorInvalidValue;
    if (error)
        return crt_done(error);
    struct cudaMemcpy3DParms plain = box_of_peers(box);
    return cudaMemcpy3DAsync(&plain, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *box)
{
    CUDA_MEMCPY3D description;
    CUDA_MEMCPY3D_PEER peers;
    cudaError_t error = box ? check_peers(box->dstDevice, box->srcDevice) : cudaErrorInvalidValue;
    if (error || is_empty(box->extent))
        return crt_done(error);
    struct cudaMemcpy3DParms plain = box_of_peers(box);
    error = crt_describe_3d(&plain, &description);
    if (error)
        return crt_done(error);
    _Static_assert(sizeof peers == sizeof description, "the two descriptors have one layout");
    memcpy(&peers, &description, sizeof peers);
    peers.srcContext = context_of(box->srcPtr.ptr);
    peers.dstContext = context_of(box->dstPtr.ptr);
    return crt_done(cuMemcpy3DPeer(&peers));
}

/* ---- batches ---- */

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
                                 size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, cudaStream_t stream)
{
    _Static_assert(sizeof(void *) == sizeof(CUdeviceptr), "pointers of both APIs have one size");
    return crt_done(crt_enter()
                        ?: cuMemcpyBatchAsync_v2((CUdeviceptr *)(uintptr_t)to,
                                                 (CUdeviceptr *)(uintptr_t)from,
                                                 (size_t *)(uintptr_t)sizes, count, attributes,
                                                 firsts, attribute_count, stream));
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void *const *to, const void *const *from, const size_t *sizes,
                                      size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                      size_t attribute_count, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, attribute_count,
                                stream ? stream : CUDA_STREAM_PER_THREAD);
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                   unsigned long long flags, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuMemcpy3DBatchAsync_v2(count, ops, flags, stream));
}

cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                        unsigned long long flags, cudaStream_t stream)
{
    return cudaMemcpy3DBatchAsync(count, ops, flags, stream ? stream : CUDA_STREAM_PER_THREAD);
}

/* ---- fills ---- */

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    cudaError_t error = crt_enter();
    if (!error && bytes)
        error = cuMemsetD8_v2(device_pointer(to), (unsigned char)value, bytes);
    return crt_done(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    cudaError_t error = crt_enter();
    if (!error && bytes)
        error = cuMemsetD8Async(device_pointer(to), (unsigned char)value, bytes, stream);
    return crt_done(error);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    cudaError_t error = crt_enter();
    if (!error && width && height)
        error = cuMemsetD2D8_v2(device_pointer(to), pitch, (unsigned char)value, width, height);
    return crt_done(error);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    cudaError_t error = crt_enter();
    if (!error && width && height)
        error = cuMemsetD2D8Async(device_pointer(to), pitch, (unsigned char)value, width, height,
                                  stream);
    return crt_done(error);
}

static char *plane_of(const struct cudaPitchedPtr *pointer, size_t plane)
{
    return (char *)pointer->ptr + plane * pointer->ysize * pointer->pitch;
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    if (is_empty(extent))
        return crt_done(crt_enter());
    if (extent.height > to.ysize || (extent.height > 1 && extent.width > to.pitch))
        return crt_done(cudaErrorInvalidValue);
    for (size_t plane = 0; plane < extent.depth; plane++) {
        cudaError_t error = cudaMemset2DAsync(plane_of(&to, plane), to.pitch, value, extent.width,
                                              extent.height, stream);
        if (error)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(to, value, extent, NULL);
}
