/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events. A stream can be asked whether it is being captured; capture itself and graphs
 * are not implemented.
 */
#include "cudart/runtime/runtime.h"

#define STREAM_DEFAULT 0
#define EVENT_DEFAULT  0

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return crt_done(crt_enter() ?: cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, STREAM_DEFAULT);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return crt_done(crt_enter() ?: cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuStreamDestroy_v2(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuStreamSynchronize(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuStreamQuery(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return crt_done(crt_enter() ?: cuStreamWaitEvent(stream, event, flags));
}

/* The callback's status argument has the same numbers in both APIs. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, CUstreamCallback callback, void *user_data,
                                  unsigned flags)
{
    return crt_done(crt_enter() ?: cuStreamAddCallback(stream, callback, user_data, flags));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    return crt_done(crt_enter() ?: cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return crt_done(crt_enter() ?: cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    return crt_done(crt_enter() ?: cuStreamGetId(stream, id));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    CUcontext context = NULL;
    if (!device)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: cuStreamGetCtx(stream, &context);
    if (!error)
        *device = crt_current_device();
    return crt_done(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, CUstreamCaptureStatus *status)
{
    return crt_done(crt_enter() ?: cuStreamIsCapturing(stream, status));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return crt_done(crt_enter() ?: cuThreadExchangeStreamCaptureMode(mode));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return crt_done(crt_enter() ?: cuEventCreate(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, EVENT_DEFAULT);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    return crt_done(crt_enter() ?: cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuEventSynchronize(event));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuEventDestroy_v2(event));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    return crt_done(crt_enter() ?: cuEventElapsedTime(milliseconds, begin, end));
}
