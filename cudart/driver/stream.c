/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams.
 */
#include "cudart/driver/internal.h"

#include <string.h>

#include "cudart/core/memory/memory.h"
#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/event.h"

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!stream)
        return CRT_INVALID_VALUE;
    return crt_stream_create(ctx, crt_green_current(), flags, priority, stream);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, CRT_PRIORITY_LEAST);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? or_sticky(crt_stream_destroy(stream)) : result;
}

CUresult cuStreamDestroy(CUstream stream)
{
    return cuStreamDestroy_v2(stream);
}

CUresult cuStreamQuery(CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_stream_query(stream) : result;
}

/* Waiting for the null stream is a wait for other streams that a capture would not see. */
CUresult cuStreamSynchronize(CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result == CRT_SUCCESS && stream->is_null)
        result = crt_capture_check_unsafe();
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
    if (flags > CU_EVENT_EXTERNAL)
        return CRT_INVALID_VALUE;
    return flags ? crt_stream_wait_external(stream, event) : crt_stream_wait_event(stream, event);
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
    CUresult result = crt_stream_identify(handle, &stream);
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
    CUresult result = crt_stream_identify(handle, &stream);
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
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!id)
        return CRT_INVALID_VALUE;
    *id = stream->id;
    return CRT_SUCCESS;
}

/* What a stream belongs to; the null stream, and a thread's own one: what is current. */
static CUresult find_contexts(CUstream handle, CUcontext *ctx, CUgreenCtx *green)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    *ctx = stream->ctx;
    *green = stream->is_null || stream->is_own ? crt_green_current() : stream->green;
    return CRT_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx)
{
    CUcontext primary;
    CUgreenCtx green;
    CUresult result = find_contexts(handle, &primary, &green);
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx)
        return CRT_INVALID_VALUE;
    *ctx = green ? (CUcontext)green : primary;
    return CRT_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!device)
        return CRT_INVALID_VALUE;
    *device = stream->ctx->device->index;
    return CRT_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *ctx, CUgreenCtx *green)
{
    CUcontext primary;
    CUgreenCtx found;
    CUresult result = find_contexts(stream, &primary, &found);
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx)
        return CRT_INVALID_VALUE;
    *ctx = primary;
    if (green)
        *green = found;
    return CRT_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green)
{
    CUcontext ctx;
    if (!green)
        return CRT_INVALID_VALUE;
    return cuStreamGetCtx_v2(stream, &ctx, green);
}

/* ---- attributes ---- */

static CUresult set_access_window(struct crt_stream_attributes *attributes, const char *value)
{
    CUaccessPolicyWindow window;
    memcpy(&window, value, sizeof window);
    /* Normal, streaming or persisting accesses; what misses must not persist. */
    if (window.hitProp < 0 || window.hitProp > 2 || window.missProp < 0 || window.missProp > 1 ||
        !(window.hitRatio >= 0 && window.hitRatio <= 1))
        return CRT_INVALID_VALUE;
    memcpy(attributes->access_window, value, sizeof attributes->access_window);
    return CRT_SUCCESS;
}

static CUresult set_number(unsigned *attribute, const char *value, unsigned first, unsigned last)
{
    unsigned number;
    memcpy(&number, value, sizeof number);
    if (number < first || number > last)
        return CRT_INVALID_VALUE;
    *attribute = number;
    return CRT_SUCCESS;
}

static CUresult set_priority(CUstream stream, const char *value)
{
    int priority;
    memcpy(&priority, value, sizeof priority);
    stream->priority = crt_stream_clamp_priority(priority);
    return CRT_SUCCESS;
}

static CUresult set_locked(CUstream stream, CUstreamAttrID id, const char *value)
{
    struct crt_stream_attributes *attributes = &stream->attributes;
    switch (id) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_access_window(attributes, value);
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return set_number(&attributes->sync_policy, value, CU_SYNC_POLICY_AUTO,
                          CU_SYNC_POLICY_BLOCKING_SYNC);
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        return set_priority(stream, value);
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(attributes->domain_map, value, sizeof attributes->domain_map);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return set_number(&attributes->domain, value, 0, 1);
    case CU_STREAM_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return set_number(&attributes->link_utilisation, value, 0, 1);
    default:
        return CRT_INVALID_VALUE;
    }
}

static CUresult get_locked(CUstream stream, CUstreamAttrID id, char *value)
{
    const struct crt_stream_attributes *attributes = &stream->attributes;
    unsigned policy = attributes->sync_policy ? attributes->sync_policy : CU_SYNC_POLICY_AUTO;
    int priority = stream->priority;
    switch (id) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        memcpy(value, attributes->access_window, sizeof attributes->access_window);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        memcpy(value, &policy, sizeof policy);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        memcpy(value, &priority, sizeof priority);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(value, attributes->domain_map, sizeof attributes->domain_map);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        memcpy(value, &attributes->domain, sizeof attributes->domain);
        return CRT_SUCCESS;
    case CU_STREAM_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        memcpy(value, &attributes->link_utilisation, sizeof attributes->link_utilisation);
        return CRT_SUCCESS;
    default:
        return CRT_INVALID_VALUE;
    }
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue *value)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!value)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&stream->lock);
    result = set_locked(stream, id, (const char *)value);
    pthread_mutex_unlock(&stream->lock);
    return result;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *value)
{
    CUstream stream;
    CUresult result = crt_stream_identify(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!value)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&stream->lock);
    result = get_locked(stream, id, (char *)value);
    pthread_mutex_unlock(&stream->lock);
    return result;
}

CUresult cuStreamCopyAttributes(CUstream dst_handle, CUstream src_handle)
{
    CUstream dst;
    CUstream src;
    CUresult result = crt_stream_identify(dst_handle, &dst);
    if (result == CRT_SUCCESS)
        result = crt_stream_identify(src_handle, &src);
    if (result != CRT_SUCCESS)
        return result;
    if (dst->ctx != src->ctx)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&src->lock);
    struct crt_stream_attributes attributes = src->attributes;
    pthread_mutex_unlock(&src->lock);
    pthread_mutex_lock(&dst->lock);
    dst->attributes = attributes;
    pthread_mutex_unlock(&dst->lock);
    dst->priority = src->priority;
    return CRT_SUCCESS;
}

/* ---- managed memory ---- */

/* Which streams may touch managed memory makes no difference where all memory is the host's: only
 * the rules are checked. */
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, size_t bytes, unsigned flags)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return CRT_INVALID_VALUE;
    if (!pointer || (flags == CU_MEM_ATTACH_SINGLE && stream->is_null))
        return CRT_INVALID_VALUE;
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    struct crt_allocation allocation;
    if (!crt_memory_find((uintptr_t)pointer, &allocation)) /* the program's own memory */
        return bytes ? CRT_SUCCESS : CRT_INVALID_VALUE;
    bool is_whole = bytes == 0 || bytes == allocation.size_bytes;
    return is_whole && allocation.kind == CRT_MEMORY_MANAGED ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* ---- the forms in which stream 0 is the calling thread's own ---- */

CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *ctx, CUgreenCtx *green)
{
    return cuStreamGetCtx_v2(own_stream(stream), ctx, green);
}

CUresult cuStreamSetAttribute_ptsz(CUstream stream, CUstreamAttrID id,
                                   const CUstreamAttrValue *value)
{
    return cuStreamSetAttribute(own_stream(stream), id, value);
}

CUresult cuStreamGetAttribute_ptsz(CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value)
{
    return cuStreamGetAttribute(own_stream(stream), id, value);
}

CUresult cuStreamCopyAttributes_ptsz(CUstream dst, CUstream src)
{
    return cuStreamCopyAttributes(own_stream(dst), own_stream(src));
}
