/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that only toolkit 11 has in this form.
 */
#include "cudart/runtime/older/older.h"

#include <string.h>

cudaError_t cudaFuncGetAttributes(struct older_func_attributes *result, const void *stub)
{
    struct cudaFuncAttributes now;
    cudaError_t error = crt13_func_get_attributes(result ? &now : NULL, stub);
    if (!error && result)
        *result = (struct older_func_attributes){
            .sharedSizeBytes = now.sharedSizeBytes,
            .constSizeBytes = now.constSizeBytes,
            .localSizeBytes = now.localSizeBytes,
            .maxThreadsPerBlock = now.maxThreadsPerBlock,
            .numRegs = now.numRegs,
            .ptxVersion = now.ptxVersion,
            .binaryVersion = now.binaryVersion,
            .cacheModeCA = now.cacheModeCA,
            .maxDynamicSharedSizeBytes = now.maxDynamicSharedSizeBytes,
            .preferredShmemCarveout = now.preferredShmemCarveout};
    return error;
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags)
{
    return crt13_get_driver_entry_point(name, function, flags, NULL);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function,
                                         unsigned long long flags)
{
    return crt13_get_driver_entry_point_ptsz(name, function, flags, NULL);
}

/* ---- graphs ---- */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                 char *log, size_t log_bytes)
{
    return crt_done(crt_enter() ?: cuGraphInstantiate_v2(exec, graph, node, log, log_bytes));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                CUgraphExecUpdateResult *result)
{
    return crt_done(crt_enter() ?: cuGraphExecUpdate(exec, graph, node, result));
}

/* ---- attributes: values were shorter before 11.8, and none that 11.8 has is longer ---- */

static CUlaunchAttributeValue widen(const struct older_attribute_value *value)
{
    CUlaunchAttributeValue wide = {0};
    memcpy(&wide, value, sizeof *value);
    return wide;
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute,
                                            struct older_attribute_value *value)
{
    CUlaunchAttributeValue wide = {0};
    cudaError_t error = crt13_kernel_node_get_attribute(node, attribute, value ? &wide : NULL);
    if (!error && value)
        memcpy(value, &wide, sizeof *value);
    return error;
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute,
                                            const struct older_attribute_value *value)
{
    if (!value)
        return crt13_kernel_node_set_attribute(node, attribute, NULL);
    CUlaunchAttributeValue wide = widen(value);
    return crt13_kernel_node_set_attribute(node, attribute, &wide);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id, struct older_attribute_value *value)
{
    CUlaunchAttributeValue wide = {0};
    cudaError_t error = crt13_stream_get_attribute(stream, id, value ? &wide : NULL);
    if (!error && value)
        memcpy(value, &wide, sizeof *value);
    return error;
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, int id,
                                        struct older_attribute_value *value)
{
    return cudaStreamGetAttribute(older_own(stream), id, value);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id,
                                   const struct older_attribute_value *value)
{
    if (!value)
        return crt13_stream_set_attribute(stream, id, NULL);
    CUlaunchAttributeValue wide = widen(value);
    return crt13_stream_set_attribute(stream, id, &wide);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, int id,
                                        const struct older_attribute_value *value)
{
    return cudaStreamSetAttribute(older_own(stream), id, value);
}

/* ---- capture ---- */

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     unsigned long long *id)
{
    return cudaStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                          unsigned long long *id)
{
    return cudaStreamGetCaptureInfo(older_own(stream), status, id);
}
