/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of capture.c: capturing streams into graphs; and of the attributes of streams in
 * stream.c.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_STREAM_H
#define PTXRUN_CUDART_RUNTIME_CUDART_STREAM_H

#include "cudart/runtime/cuda_runtime_types.h"

#pragma GCC visibility push(default)

/* stream.c */
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id, CUstreamAttrValue *value);
cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, int id, CUstreamAttrValue *value);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id, const CUstreamAttrValue *value);
cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, int id,
                                        const CUstreamAttrValue *value);

/* capture.c */
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, CUstreamCaptureStatus *status);
cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode);
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, CUstreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, CUgraph graph,
                                          const CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                          size_t count, CUstreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, CUgraph graph,
                                               const CUgraphNode *nodes,
                                               const CUgraphEdgeData *edges, size_t count,
                                               CUstreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, CUgraph *graph);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, CUgraph *graph);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     unsigned long long *id, CUgraph *graph,
                                     const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                     size_t *count);
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                          unsigned long long *id, CUgraph *graph,
                                          const CUgraphNode **nodes, const CUgraphEdgeData **edges,
                                          size_t *count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, CUgraphNode *nodes,
                                                const CUgraphEdgeData *edges, size_t count,
                                                unsigned flags);
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, CUgraphNode *nodes,
                                                     const CUgraphEdgeData *edges, size_t count,
                                                     unsigned flags);

#pragma GCC visibility pop

#endif
