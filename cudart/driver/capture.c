/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture.
 */
#include "cudart/core/capture.h"

#include "cudart/driver/internal.h"

/* The modes differ in which unsafe calls of other threads they forbid; none is unsafe here. */
#define CAPTURE_MODES 3

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (mode < 0 || mode >= CAPTURE_MODES)
        return CRT_INVALID_VALUE;
    return crt_capture_begin(stream);
}

CUresult cuStreamBeginCapture(CUstream stream)
{
    return cuStreamBeginCapture_v2(stream, 0);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return graph ? crt_capture_end(stream, graph) : CRT_INVALID_VALUE;
}

/* Any of the outputs but the status may be NULL. */
static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                             CUgraph *graph, const CUgraphNode **deps, size_t *count)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!status)
        return CRT_INVALID_VALUE;
    uint64_t number = 0;
    CUgraph captured = NULL;
    const CUgraphNode *nodes = NULL;
    size_t node_count = 0;
    *status =
        (CUstreamCaptureStatus)crt_capture_status(stream, &number, &captured, &nodes, &node_count);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CRT_SUCCESS;
    if (id)
        *id = number;
    if (graph)
        *graph = captured;
    if (deps)
        *deps = nodes;
    if (count)
        *count = node_count;
    return CRT_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    return capture_info(stream, status, NULL, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return capture_info(stream, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps, size_t *count)
{
    return capture_info(stream, status, id, graph, deps, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps,
                                   const CUgraphEdgeData **edges, size_t *count)
{
    if (edges)
        *edges = NULL; /* plain dependencies only */
    return capture_info(stream, status, id, graph, deps, count);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static _Thread_local CUstreamCaptureMode current;
    if (!mode || *mode < 0 || *mode >= CAPTURE_MODES)
        return CRT_INVALID_VALUE;
    CUstreamCaptureMode previous = current;
    current = *mode;
    *mode = previous;
    return CRT_SUCCESS;
}
