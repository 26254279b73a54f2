/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams.
 */
#include "cudart/driver/internal.h"

#include "cudart/core/event.h"

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    return stream ? crt_stream_create(ctx, flags, priority, stream) : CRT_INVALID_VALUE;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, CRT_PRIORITY_LEAST);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_stream_destroy(stream) : result;
}

CUresult cuStreamQuery(CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_stream_query(stream) : result;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_stream_synchronize(stream) : result;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    return flags > 1 ? CRT_INVALID_VALUE : crt_stream_wait_event(stream, event);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *arg, unsigned flags)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!callback || flags)
        return CRT_INVALID_VALUE;
    return crt_stream_callback(stream, handle, callback, arg);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *arg)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return function ? crt_stream_host_function(stream, function, arg) : CRT_INVALID_VALUE;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!flags)
        return CRT_INVALID_VALUE;
    *flags = stream->flags;
    return CRT_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!priority)
        return CRT_INVALID_VALUE;
    *priority = stream->priority;
    return CRT_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!id)
        return CRT_INVALID_VALUE;
    *id = stream->id;
    return CRT_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx)
        return CRT_INVALID_VALUE;
    *ctx = stream->ctx;
    return CRT_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!device)
        return CRT_INVALID_VALUE;
    *device = 0;
    return CRT_SUCCESS;
}
