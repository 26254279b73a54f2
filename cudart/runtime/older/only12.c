/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that only toolkit 12 has in this form.
 */
#include "cudart/runtime/older/older.h"

cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    return cudaEventElapsedTime(milliseconds, begin, end);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                             size_t count, struct cudaGraphNodeParams *params)
{
    return cudaGraphAddNode_v2(node, graph, deps, NULL, count, params);
}

/* failed: which copy of the batch could not be made. */
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuMemcpyBatchAsync((CUdeviceptr *)(void *)to,
                                              (CUdeviceptr *)(void *)from, sizes, count, attributes,
                                              firsts, attribute_count, failed, stream));
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void **to, void **from, size_t *sizes, size_t count,
                                      CUmemcpyAttributes *attributes, size_t *firsts,
                                      size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, attribute_count, failed,
                                older_own(stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                   unsigned long long flags, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuMemcpy3DBatchAsync(count, ops, failed, flags, stream));
}

cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                        unsigned long long flags, cudaStream_t stream)
{
    return cudaMemcpy3DBatchAsync(count, ops, failed, flags, older_own(stream));
}
