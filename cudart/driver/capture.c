/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture.
 */
#include "cudart/core/streams/capture.h"

#include "cudart/core/graph/graph_capture.h"
#include "cudart/driver/internal.h"

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (mode < 0 || mode >= CRT_CAPTURE_MODE_COUNT)
        return CRT_INVALID_VALUE;
    return crt_capture_begin(stream, (enum crt_capture_mode)mode);
}

CUresult cuStreamBeginCapture(CUstream stream)
{
    return cuStreamBeginCapture_v2(stream, CRT_CAPTURE_GLOBAL);
}

/* Only plain dependencies exist here: data that says more cannot be kept. */
static CUresult check_edges(const CUgraphEdgeData *edges, size_t count)
{
    for (size_t i = 0; edges && i < count; i++)
        if (edges[i].from_port || edges[i].to_port || edges[i].type)
            return crt_not_supported("edges of graphs with ports or types");
    return CRT_SUCCESS;
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *deps,
                                     const CUgraphEdgeData *edges, size_t count,
                                     CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (mode < 0 || mode >= CRT_CAPTURE_MODE_COUNT || (count && !deps))
        return CRT_INVALID_VALUE;
    result = check_edges(edges, count);
    if (result != CRT_SUCCESS)
        return result;
    return crt_capture_begin_to_graph(stream, (enum crt_capture_mode)mode, graph, deps, count);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return crt_capture_end(stream, graph);
}

static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status,
                             struct crt_capture_info *info)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!status)
        return CRT_INVALID_VALUE;
    result = crt_capture_get(stream, info);
    *status = (CUstreamCaptureStatus)info->status;
    return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    struct crt_capture_info info;
    return capture_info(stream, status, &info);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps, size_t *count)
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, deps, NULL, count);
}

/* Any of the outputs but the status may be NULL. */
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps,
                                   const CUgraphEdgeData **edges, size_t *count)
{
    struct crt_capture_info info;
    if (edges && !deps)
        return CRT_INVALID_VALUE;
    CUresult result = capture_info(stream, status, &info);
    if (result != CRT_SUCCESS || info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return result;
    if (id)
        *id = info.id;
    if (graph)
        *graph = info.graph;
    if (deps)
        *deps = info.nodes;
    if (edges)
        *edges = (const CUgraphEdgeData *)info.edges;
    if (count)
        *count = info.count;
    return CRT_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *deps,
                                              const CUgraphEdgeData *edges, size_t count,
                                              unsigned flags)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !deps))
        return CRT_INVALID_VALUE;
    result = check_edges(edges, count);
    if (result != CRT_SUCCESS)
        return result;
    return crt_capture_update(stream, deps, count, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *deps, size_t count,
                                           unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(stream, deps, NULL, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return mode ? crt_capture_exchange_mode(mode) : CRT_INVALID_VALUE;
}

/* ---- the forms in which stream 0 is the calling thread's own ---- */

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *deps,
                                          const CUgraphEdgeData *edges, size_t count,
                                          CUstreamCaptureMode mode)
{
    return cuStreamBeginCaptureToGraph(own_stream(stream), graph, deps, edges, count, mode);
}

CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *deps, size_t count,
                                                unsigned flags)
{
    return cuStreamUpdateCaptureDependencies(own_stream(stream), deps, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *deps,
                                                   const CUgraphEdgeData *edges, size_t count,
                                                   unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(own_stream(stream), deps, edges, count, flags);
}
