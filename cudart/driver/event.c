/* SPDX-License-Identifier: Apache-2.0
 *
 * Events.
 */
#include "cudart/core/streams/event.h"

#include "cudart/driver/internal.h"

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    return event ? crt_event_create(ctx, flags, event) : CRT_INVALID_VALUE;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? or_sticky(crt_event_destroy(event)) : result;
}

CUresult cuEventDestroy(CUevent event)
{
    return cuEventDestroy_v2(event);
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_event_record(event, stream) : result;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags)
{
    if (flags == 0)
        return cuEventRecord(event, handle);
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (flags != CU_EVENT_EXTERNAL)
        return CRT_INVALID_VALUE;
    return crt_event_record_external(event, stream);
}

/* CRT_SUCCESS when the handle is that of a context that can be worked with; it need not be the
 * current one. */
static CUresult check_given_context(CUcontext handle)
{
    CUresult result = crt_check_ready();
    CUcontext ctx = crt_context_behind(handle);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_context_is_valid(ctx))
        return CRT_INVALID_CONTEXT;
    if (!atomic_load(&ctx->is_active))
        return CRT_CONTEXT_IS_DESTROYED;
    return crt_context_sticky(ctx);
}

CUresult cuCtxRecordEvent(CUcontext ctx, CUevent event)
{
    CUresult result = check_given_context(ctx);
    if (result != CRT_SUCCESS)
        return result;
    return crt_event_record_all(event, crt_context_behind(ctx), crt_green_of(ctx));
}

CUresult cuCtxWaitEvent(CUcontext ctx, CUevent event)
{
    CUresult result = check_given_context(ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    return crt_stream_wait_event_all(crt_context_behind(ctx), crt_green_of(ctx), event);
}

CUresult cuEventQuery(CUevent event)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? or_sticky(crt_event_query(event)) : result;
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? or_sticky(crt_event_synchronize(event)) : result;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return ms ? crt_event_elapsed(start, end, ms) : CRT_INVALID_VALUE;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(ms, start, end);
}
