/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: instantiation, launch, update.
 */
#include "cudart/core/graph/graph_exec.h"

#include <stdio.h>

#include "cudart/driver/internal.h"

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags,
                            struct crt_instantiate_info *info)
{
    *info = (struct crt_instantiate_info){.answer = CRT_INSTANTIATE_ERROR};
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    result = or_sticky(CRT_SUCCESS);
    if (result != CRT_SUCCESS)
        return result;
    return exec ? crt_graph_instantiate(graph, flags, exec, info) : CRT_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    struct crt_instantiate_info info;
    if (flags & CRT_INSTANTIATE_UPLOAD)
        return CRT_INVALID_VALUE; /* there is no stream to upload in */
    return instantiate(exec, graph, flags, &info);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *culprit, char *log,
                               size_t log_bytes)
{
    struct crt_instantiate_info info;
    CUresult result = instantiate(exec, graph, 0, &info);
    if (culprit)
        *culprit = info.culprit;
    if (log && log_bytes)
        snprintf(log, log_bytes, "%s", result == CRT_SUCCESS ? "" : crt_result_text((int)result));
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *culprit, char *log,
                            size_t log_bytes)
{
    return cuGraphInstantiate_v2(exec, graph, culprit, log, log_bytes);
}

static CUresult instantiate_with(CUgraphExec *exec, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params, CUstream stream)
{
    struct crt_instantiate_info info;
    CUresult result = instantiate(exec, graph, params->flags, &info);
    if (result == CRT_SUCCESS && (params->flags & CRT_INSTANTIATE_UPLOAD)) {
        result = cuGraphUpload(*exec, stream);
        if (result != CRT_SUCCESS) {
            crt_graph_exec_destroy(*exec);
            info.answer = CRT_INSTANTIATE_ERROR;
        }
    }
    params->hErrNode_out = info.culprit;
    params->result_out = (int)info.answer;
    return result;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return params ? instantiate_with(exec, graph, params, params->hUploadStream)
                  : CRT_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CRT_INVALID_VALUE;
    CUstream stream = params->hUploadStream ? params->hUploadStream : CU_STREAM_PER_THREAD;
    return instantiate_with(exec, graph, params, stream);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return crt_check_ready() ?: or_sticky(crt_graph_exec_destroy(exec));
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_exec_is_valid(exec) || !flags)
        return CRT_INVALID_VALUE;
    *flags = exec->flags;
    return CRT_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_exec_is_valid(exec) || !crt_graph_is_valid(graph) || !info)
        return CRT_INVALID_VALUE;
    struct crt_update_info own;
    result = or_sticky(crt_graph_exec_update(exec, graph, &own));
    *info = (CUgraphExecUpdateResultInfo){
        .result = (int)own.answer, .errorNode = own.node, .errorFromNode = own.from};
    return result;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *culprit,
                           CUgraphExecUpdateResult *answer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUgraphExecUpdateResultInfo info;
    if (!answer)
        return CRT_INVALID_VALUE;
    result = cuGraphExecUpdate_v2(exec, graph, &info);
    if (result == CRT_INVALID_VALUE)
        return result;
    if (culprit)
        *culprit = info.errorNode;
    *answer = info.result;
    return result;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned is_enabled)
{
    return crt_check_ready() ?: crt_graph_exec_enable(exec, node, is_enabled != 0);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *is_enabled)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUgraphNode mine = crt_graph_exec_find(exec, node);
    if (!mine || !is_enabled)
        return CRT_INVALID_VALUE;
    enum crt_node_kind kind = mine->work.kind;
    if (kind != CRT_NODE_KERNEL && kind != CRT_NODE_COPY && kind != CRT_NODE_FILL)
        return CRT_INVALID_VALUE;
    *is_enabled = !mine->is_disabled;
    return CRT_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_graph_exec_upload(exec, stream) : result;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_graph_exec_launch(exec, stream) : result;
}
