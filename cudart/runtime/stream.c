/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events.
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
    CUdevice handle = 0;
    if (!device)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: cuStreamGetDevice(stream, &handle);
    for (int i = 0; i < crt_visible_devices() && !error; i++) {
        if (crt_device(i) == handle)
            *device = i;
    }
    return crt_done(error);
}

/* Attributes have the same numbers and layouts in both APIs. */
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return crt_done(crt_enter() ?: cuStreamCopyAttributes(to, from));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id, CUstreamAttrValue *value)
{
    return crt_done(crt_enter() ?: cuStreamGetAttribute(stream, id, value));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id, const CUstreamAttrValue *value)
{
    return crt_done(crt_enter() ?: cuStreamSetAttribute(stream, id, value));
}

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from)
{
    return cudaStreamCopyAttributes(own(to), own(from));
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, int id, CUstreamAttrValue *value)
{
    return cudaStreamGetAttribute(own(stream), id, value);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, int id, const CUstreamAttrValue *value)
{
    return cudaStreamSetAttribute(own(stream), id, value);
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
