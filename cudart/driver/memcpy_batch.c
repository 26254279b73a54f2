/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of copies. The batch is in order with its stream; its copies have no order among
 * themselves, and are made one after the other.
 */
#include "cudart/core/memory/array.h"
#include "cudart/core/memory/copy.h"
#include "cudart/core/memory/memory.h"
#include "cudart/driver/internal.h"

#define KNOWN_FLAGS 1u /* prefer overlap with compute work */

static bool is_order(int order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* "Must not be legacy NULL stream." */
static CUresult resolve(CUstream handle, CUstream *stream)
{
    CUresult result = crt_stream_resolve(handle, stream);
    if (result == CRT_SUCCESS && (*stream)->is_null)
        return CRT_INVALID_VALUE;
    return result;
}

/* A source that is to be read in stream order must not be read before the stream gets there, which
 * copies from pageable memory otherwise do. */
static CUresult issue(CUstream stream, const struct crt_copy *copy, int order)
{
    struct crt_allocation allocation;
    CUresult result = CRT_SUCCESS;
    if (order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && !stream->captured.capture &&
        !crt_memory_find(copy->src.base, &allocation))
        result = crt_stream_synchronize(stream);
    return result == CRT_SUCCESS ? crt_copy(stream, copy, true) : result;
}

/* "All accesses must be complete before the API call returns." */
static CUresult finish(CUstream stream, bool must_have_read)
{
    return must_have_read && !stream->captured.capture ? crt_stream_synchronize(stream)
                                                       : CRT_SUCCESS;
}

/* ---- plain copies ---- */

struct batch {
    const CUdeviceptr *dsts;
    const CUdeviceptr *srcs;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attributes;
    const size_t *firsts; /* the first copy that each attribute is for */
    size_t attribute_count;
};

static CUresult check_batch(const struct batch *batch)
{
    if (!batch->dsts || !batch->srcs || !batch->sizes || !batch->attributes || !batch->firsts ||
        !batch->count || !batch->attribute_count || batch->attribute_count > batch->count)
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < batch->attribute_count; i++) {
        bool is_first = i == 0 ? batch->firsts[0] == 0 : batch->firsts[i] > batch->firsts[i - 1];
        if (!is_first || batch->firsts[i] >= batch->count ||
            !is_order(batch->attributes[i].srcAccessOrder) ||
            (batch->attributes[i].flags & ~KNOWN_FLAGS))
            return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

static struct crt_copy describe(const struct batch *batch, size_t index)
{
    size_t bytes = batch->sizes[index];
    return (struct crt_copy){.dst = {.base = (uintptr_t)batch->dsts[index],
                                     .pitch_bytes = bytes,
                                     .place = CRT_PLACE_UNIFIED},
                             .src = {.base = (uintptr_t)batch->srcs[index],
                                     .pitch_bytes = bytes,
                                     .place = CRT_PLACE_UNIFIED},
                             .width_bytes = bytes,
                             .height = 1,
                             .depth = 1};
}

/* All copies are checked before the first one is made. */
static CUresult run_batch(const struct batch *batch, size_t *failed, CUstream handle)
{
    CUstream stream;
    *failed = SIZE_MAX;
    CUresult result = resolve(handle, &stream);
    if (result == CRT_SUCCESS)
        result = check_batch(batch);
    for (size_t i = 0; result == CRT_SUCCESS && i < batch->count; i++) {
        struct crt_copy copy = describe(batch, i);
        result = crt_copy_check(&copy);
        if (result != CRT_SUCCESS)
            *failed = i;
    }
    size_t at = 0;
    bool must_have_read = false;
    for (size_t i = 0; result == CRT_SUCCESS && i < batch->count; i++) {
        if (at + 1 < batch->attribute_count && batch->firsts[at + 1] == i)
            at++;
        int order = batch->attributes[at].srcAccessOrder;
        must_have_read = must_have_read || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        struct crt_copy copy = describe(batch, i);
        result = issue(stream, &copy, order);
        if (result != CRT_SUCCESS)
            *failed = i;
    }
    return result == CRT_SUCCESS ? finish(stream, must_have_read) : result;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count,
                            size_t *failed, CUstream stream)
{
    size_t ignored;
    struct batch batch = {dsts, srcs, sizes, count, attributes, firsts, attribute_count};
    return run_batch(&batch, failed ? failed : &ignored, stream);
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, size_t *failed, CUstream stream)
{
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, firsts, attribute_count, failed,
                              own_stream(stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firsts,
                               size_t attribute_count, CUstream stream)
{
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, firsts, attribute_count, NULL,
                              stream);
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                    size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                    size_t attribute_count, CUstream stream)
{
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes, firsts, attribute_count, NULL,
                              own_stream(stream));
}

/* ---- three-dimensional copies ---- */

static CUarray array_of(const CUmemcpy3DOperand *operand)
{
    return operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? operand->op.array.array : NULL;
}

static CUresult check_operand(const CUmemcpy3DOperand *operand)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
        return CRT_SUCCESS;
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY || !operand->op.array.array)
        return CRT_INVALID_VALUE;
    return crt_array_is_valid(operand->op.array.array) ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

static bool fits(size_t offset, size_t extent, size_t limit)
{
    return offset <= limit && extent <= limit - offset;
}

static CUresult make_array_operand(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                                   struct crt_side *side)
{
    CUarray array = operand->op.array.array;
    const CUoffset3D *offset = &operand->op.array.offset;
    if (!fits(offset->x, extent->width, array->shape.width) ||
        !fits(offset->y, extent->height, array->rows) ||
        !fits(offset->z, extent->depth, array->slices))
        return CRT_INVALID_VALUE;
    *side =
        (struct crt_side){.base = array->base + offset->x * array->elem_bytes +
                                  offset->y * array->pitch_bytes + offset->z * array->slice_bytes,
                          .pitch_bytes = array->pitch_bytes,
                          .slice_bytes = array->slice_bytes,
                          .place = CRT_PLACE_DEVICE,
                          .array = array};
    return CRT_SUCCESS;
}

/* Lengths are in elements; 0 means as long as the copy is. */
static CUresult make_operand(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                             size_t elem_bytes, struct crt_side *side)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return make_array_operand(operand, extent, side);
    size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    *side = (struct crt_side){.base = (uintptr_t)operand->op.ptr.ptr, .place = CRT_PLACE_UNIFIED};
    bool is_wrong = row < extent->width || rows < extent->height ||
                    __builtin_mul_overflow(row, elem_bytes, &side->pitch_bytes) ||
                    __builtin_mul_overflow(side->pitch_bytes, rows, &side->slice_bytes);
    return is_wrong ? CRT_INVALID_VALUE : CRT_SUCCESS;
}

static CUresult describe_3d(const CUDA_MEMCPY3D_BATCH_OP *op, struct crt_copy *copy)
{
    CUresult result = check_operand(&op->dst);
    if (result == CRT_SUCCESS)
        result = check_operand(&op->src);
    if (result != CRT_SUCCESS)
        return result;
    const struct crt_array *dst = array_of(&op->dst);
    const struct crt_array *src = array_of(&op->src);
    size_t elem_bytes = 1;
    if (dst || src)
        elem_bytes = dst ? dst->elem_bytes : src->elem_bytes;
    bool is_wrong = (dst && src && dst->elem_bytes != src->elem_bytes) || !op->extent.width ||
                    !op->extent.height || !op->extent.depth || !is_order(op->srcAccessOrder) ||
                    (op->flags & ~KNOWN_FLAGS);
    *copy = (struct crt_copy){.height = op->extent.height, .depth = op->extent.depth};
    if (is_wrong || __builtin_mul_overflow(op->extent.width, elem_bytes, &copy->width_bytes))
        return CRT_INVALID_VALUE;
    result = make_operand(&op->dst, &op->extent, elem_bytes, &copy->dst);
    if (result == CRT_SUCCESS)
        result = make_operand(&op->src, &op->extent, elem_bytes, &copy->src);
    return result == CRT_SUCCESS ? crt_copy_check(copy) : result;
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                              unsigned long long flags, CUstream handle)
{
    CUstream stream;
    struct crt_copy copy;
    size_t ignored;
    if (!failed)
        failed = &ignored;
    *failed = SIZE_MAX;
    CUresult result = resolve(handle, &stream);
    if (result == CRT_SUCCESS && (!count || !ops || flags))
        result = CRT_INVALID_VALUE;
    for (size_t i = 0; result == CRT_SUCCESS && i < count; i++) {
        result = describe_3d(&ops[i], &copy);
        if (result != CRT_SUCCESS)
            *failed = i;
    }
    bool must_have_read = false;
    for (size_t i = 0; result == CRT_SUCCESS && i < count; i++) {
        result = describe_3d(&ops[i], &copy);
        int order = ops[i].srcAccessOrder;
        must_have_read = must_have_read || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        if (result == CRT_SUCCESS)
            result = issue(stream, &copy, order);
    }
    return result == CRT_SUCCESS ? finish(stream, must_have_read) : result;
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                   unsigned long long flags, CUstream stream)
{
    return cuMemcpy3DBatchAsync(count, ops, failed, flags, own_stream(stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                 unsigned long long flags, CUstream stream)
{
    return cuMemcpy3DBatchAsync(count, ops, NULL, flags, stream);
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                      unsigned long long flags, CUstream stream)
{
    return cuMemcpy3DBatchAsync(count, ops, NULL, flags, own_stream(stream));
}
