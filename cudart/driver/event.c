/* SPDX-License-Identifier: Apache-2.0
 *
 * Events.
 */
#include "cudart/core/event.h"

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
    return result == CRT_SUCCESS ? crt_event_destroy(event) : result;
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_event_record(event, stream) : result;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    return flags > 1 ? CRT_INVALID_VALUE : cuEventRecord(event, stream);
}

CUresult cuEventQuery(CUevent event)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_event_query(event) : result;
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_event_synchronize(event) : result;
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
