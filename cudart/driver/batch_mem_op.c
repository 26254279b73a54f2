/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory operations of streams. Each exists in two versions: the older one knows no barriers, the
 * newer one no writes without a fence. Both are always on.
 */
#include "cudart/core/memory/mem_op.h"

#include "cudart/driver/internal.h"

enum version { FIRST, SECOND };

static CUresult check_operation(const struct crt_mem_op *op, enum version version)
{
    bool is_write = op->kind == CRT_MEM_OP_WRITE_32 || op->kind == CRT_MEM_OP_WRITE_64;
    if (version == FIRST ? op->kind == CRT_MEM_OP_BARRIER : is_write && op->flags)
        return CRT_INVALID_VALUE;
    return crt_mem_op_check(op);
}

static CUresult submit_one(CUstream handle, struct crt_mem_op op, enum version version)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result == CRT_SUCCESS)
        result = check_operation(&op, version);
    return result == CRT_SUCCESS ? crt_stream_mem_ops(stream, &op, 1) : result;
}

struct crt_mem_op describe_mem_op(const CUstreamBatchMemOpParams *params)
{
    struct crt_mem_op op = {.kind = (enum crt_mem_op_kind)params->operation};
    switch (op.kind) {
    case CRT_MEM_OP_FLUSH:
    case CRT_MEM_OP_BARRIER:
        op.flags = params->memoryBarrier.flags;
        return op;
    default:
        op.flags = params->waitValue.flags;
        op.address = (uintptr_t)params->waitValue.address;
        op.value = params->waitValue.value64;
        return op;
    }
}

static CUresult submit_batch(CUstream handle, unsigned count,
                             const CUstreamBatchMemOpParams *params, unsigned flags,
                             enum version version)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (flags || count > CRT_MEM_OPS_MAX || (count && !params))
        return CRT_INVALID_VALUE;
    struct crt_mem_op ops[CRT_MEM_OPS_MAX];
    for (unsigned i = 0; i < count && result == CRT_SUCCESS; i++) {
        ops[i] = describe_mem_op(&params[i]);
        result = check_operation(&ops[i], version);
    }
    return result == CRT_SUCCESS && count ? crt_stream_mem_ops(stream, ops, count) : result;
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WAIT_32, flags, address, value},
                      FIRST);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WAIT_64, flags, address, value},
                      FIRST);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WRITE_32, flags, address, value},
                      FIRST);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WRITE_64, flags, address, value},
                      FIRST);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *params,
                            unsigned flags)
{
    return submit_batch(stream, count, params, flags, FIRST);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WAIT_32, flags, address, value},
                      SECOND);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WAIT_64, flags, address, value},
                      SECOND);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WRITE_32, flags, address, value},
                      SECOND);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags)
{
    return submit_one(stream, (struct crt_mem_op){CRT_MEM_OP_WRITE_64, flags, address, value},
                      SECOND);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *params,
                               unsigned flags)
{
    return submit_batch(stream, count, params, flags, SECOND);
}

/* ---- the forms in which stream 0 is the calling thread's own ---- */

CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                  unsigned flags)
{
    return cuStreamWaitValue32(own_stream(stream), address, value, flags);
}

CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                  unsigned flags)
{
    return cuStreamWaitValue64(own_stream(stream), address, value, flags);
}

CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                   unsigned flags)
{
    return cuStreamWriteValue32(own_stream(stream), address, value, flags);
}

CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                   unsigned flags)
{
    return cuStreamWriteValue64(own_stream(stream), address, value, flags);
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned count, CUstreamBatchMemOpParams *params,
                                 unsigned flags)
{
    return cuStreamBatchMemOp(own_stream(stream), count, params, flags);
}

CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned flags)
{
    return cuStreamWaitValue32_v2(own_stream(stream), address, value, flags);
}

CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned flags)
{
    return cuStreamWaitValue64_v2(own_stream(stream), address, value, flags);
}

CUresult cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned flags)
{
    return cuStreamWriteValue32_v2(own_stream(stream), address, value, flags);
}

CUresult cuStreamWriteValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned flags)
{
    return cuStreamWriteValue64_v2(own_stream(stream), address, value, flags);
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned count,
                                    CUstreamBatchMemOpParams *params, unsigned flags)
{
    return cuStreamBatchMemOp_v2(own_stream(stream), count, params, flags);
}
