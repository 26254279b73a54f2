/* SPDX-License-Identifier: Apache-2.0
 *
 * Capturing streams into graphs.
 */
#include "cudart/runtime/runtime.h"

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, CUstreamCaptureStatus *status)
{
    return crt_done(crt_enter() ?: cuStreamIsCapturing(stream, status));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return crt_done(crt_enter() ?: cuThreadExchangeStreamCaptureMode(mode));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode)
{
    return crt_done(crt_enter() ?: cuStreamBeginCapture_v2(stream, mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, CUgraph graph,
                                          const CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                          size_t count, CUstreamCaptureMode mode)
{
    return crt_done(crt_enter()
                        ?: cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, CUgraph *graph)
{
    return crt_done(crt_enter() ?: cuStreamEndCapture(stream, graph));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     unsigned long long *id, CUgraph *graph,
                                     const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                     size_t *count)
{
    cuuint64_t number = 0;
    cudaError_t error =
        crt_enter()
            ?: cuStreamGetCaptureInfo_v3(stream, status, &number, graph, nodes, edges, count);
    if (!error && id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = number;
    return crt_done(error);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, CUgraphNode *nodes,
                                                const CUgraphEdgeData *edges, size_t count,
                                                unsigned flags)
{
    return crt_done(
        crt_enter() ?: cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, count, flags));
}

/* ---- the forms in which stream 0 is the calling thread's own ---- */

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, CUstreamCaptureMode mode)
{
    return cudaStreamBeginCapture(own(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, CUgraph graph,
                                               const CUgraphNode *nodes,
                                               const CUgraphEdgeData *edges, size_t count,
                                               CUstreamCaptureMode mode)
{
    return cudaStreamBeginCaptureToGraph(own(stream), graph, nodes, edges, count, mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, CUgraph *graph)
{
    return cudaStreamEndCapture(own(stream), graph);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                          unsigned long long *id, CUgraph *graph,
                                          const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                          size_t *count)
{
    return cudaStreamGetCaptureInfo(own(stream), status, id, graph, nodes, edges, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, CUgraphNode *nodes,
                                                     const CUgraphEdgeData *edges, size_t count,
                                                     unsigned flags)
{
    return cudaStreamUpdateCaptureDependencies(own(stream), nodes, edges, count, flags);
}
