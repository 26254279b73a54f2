/* SPDX-License-Identifier: Apache-2.0
 *
 * Green contexts, and the shares of a device's multiprocessors that they get. A share is a number
 * of them: which ones they are is nobody's business, as blocks run on any core.
 */
#include "cudart/driver/cuda_green.h"

#include <string.h>

#include "cudart/core/streams/event.h"
#include "cudart/driver/internal.h"

struct cu_resource_desc {
    struct crt_object object;
    CUdevice device;
    unsigned sm_count;
};

/* Where a resource comes from: in what the program must not touch. */
struct origin {
    CUdevice device;
    uint64_t split; /* the call that made it a part of another one, or 0 */
};

_Static_assert(sizeof(struct origin) <= sizeof((CUdevResource){0}.internal), "has room");
_Static_assert(sizeof(CUdevResource) == 144, "as programs have it");

static struct origin origin_of(const CUdevResource *resource)
{
    struct origin origin;
    memcpy(&origin, resource->internal, sizeof origin);
    return origin;
}

/* What parts of a device's multiprocessors are possible; CUDA, "Green Contexts". */
struct grain {
    unsigned least;
    unsigned multiple;
};

static struct grain grain_of(unsigned flags)
{
    int capability = crt_architecture_get()->capability;
    if (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING || capability < 80)
        return (struct grain){.least = 2, .multiple = 2};
    return capability < 90 ? (struct grain){.least = 4, .multiple = 2}
                           : (struct grain){.least = 8, .multiple = 8};
}

/* Without multiprocessors: nothing that could be used. */
static void fill_resource(CUdevResource *resource, struct origin origin, struct grain grain,
                          unsigned sm_count)
{
    memset(resource, 0, sizeof *resource);
    if (!sm_count)
        return;
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    memcpy(resource->internal, &origin, sizeof origin);
    resource->sm = (CUdevSmResource){.smCount = sm_count,
                                     .minSmPartitionSize = grain.least,
                                     .smCoscheduledAlignment = grain.multiple};
}

static CUresult get_resource(CUdevice device, unsigned sm_count, CUdevResource *resource,
                             CUdevResourceType type)
{
    if (!resource)
        return CRT_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CRT_INVALID_RESOURCE_TYPE;
    fill_resource(resource, (struct origin){.device = device}, grain_of(0), sm_count);
    return CRT_SUCCESS;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return get_resource(device, crt_device_sm_count(), resource, type);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_green_is_valid(green))
        return CRT_INVALID_CONTEXT;
    return get_resource(green->ctx->device->index, green->sm_count, resource, type);
}

CUresult cuCtxGetDevResource(CUcontext ctx, CUdevResource *resource, CUdevResourceType type)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (crt_green_of(ctx))
        return cuGreenCtxGetDevResource(crt_green_of(ctx), resource, type);
    if (!crt_context_is_valid(ctx))
        return CRT_INVALID_CONTEXT;
    return get_resource(ctx->device->index, crt_device_sm_count(), resource, type);
}

static unsigned round_up(unsigned number, unsigned multiple)
{
    return (number + multiple - 1) / multiple * multiple;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *groups, unsigned *count,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned flags, unsigned least)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!count || !input || flags > 3)
        return CRT_INVALID_VALUE;
    if (input->type != CU_DEV_RESOURCE_TYPE_SM)
        return CRT_INVALID_RESOURCE_TYPE;
    struct origin origin = origin_of(input);
    if (!crt_device_at(origin.device) || least > input->sm.smCount)
        return CRT_INVALID_VALUE;
    if (origin.split) /* such a part must be a green context's first */
        return CRT_INVALID_RESOURCE_CONFIGURATION;
    struct grain grain = grain_of(flags);
    unsigned size = round_up(least > grain.least ? least : grain.least, grain.multiple);
    unsigned most = input->sm.smCount / size;
    if (!groups || *count > most)
        *count = most;
    if (!groups)
        return CRT_SUCCESS;
    unsigned rest = input->sm.smCount - *count * size;
    origin.split = crt_next_number();
    for (unsigned i = 0; i < *count; i++)
        fill_resource(&groups[i], origin, grain, size);
    if (remaining)
        fill_resource(remaining, origin, grain, rest);
    return CRT_SUCCESS;
}

/* Whether two resources may belong to one context. */
static bool go_together(const CUdevResource *one, const CUdevResource *other)
{
    struct origin first = origin_of(one);
    struct origin second = origin_of(other);
    return first.device == second.device && first.split && first.split == second.split;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources,
                                   unsigned count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!desc || !resources || !count)
        return CRT_INVALID_VALUE;
    unsigned sm_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
            return CRT_INVALID_RESOURCE_TYPE;
        if (i > 0 && !go_together(&resources[0], &resources[i]))
            return CRT_INVALID_RESOURCE_CONFIGURATION;
        sm_count += resources[i].sm.smCount;
    }
    CUdevice device = origin_of(&resources[0]).device;
    if (!crt_device_at(device))
        return CRT_INVALID_VALUE;
    /* CUDA has no function that ends one. */
    struct cu_resource_desc *created = crt_object_create(CRT_KIND_RESOURCES, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->device = device;
    created->sm_count = sm_count;
    *desc = created;
    return CRT_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device,
                          unsigned flags)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!green || !crt_object_is(desc, CRT_KIND_RESOURCES) || desc->device != device ||
        flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CRT_INVALID_VALUE;
    return crt_green_create(crt_device_at(device), desc->sm_count, green);
}

CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_green_destroy(green) : result;
}

CUresult cuCtxFromGreenCtx(CUcontext *ctx, CUgreenCtx green)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!ctx)
        return CRT_INVALID_VALUE;
    if (!crt_green_is_valid(green))
        return CRT_INVALID_CONTEXT;
    *ctx = (CUcontext)green;
    return CRT_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event)
{
    return crt_green_is_valid(green) ? cuCtxRecordEvent((CUcontext)green, event)
                                     : CRT_INVALID_CONTEXT;
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event)
{
    return crt_green_is_valid(green) ? cuCtxWaitEvent((CUcontext)green, event)
                                     : CRT_INVALID_CONTEXT;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int priority)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_green_is_valid(green))
        return CRT_INVALID_CONTEXT;
    if (!stream || flags != CRT_STREAM_NON_BLOCKING)
        return CRT_INVALID_VALUE;
    return crt_stream_create(green->ctx, green, flags, priority, stream);
}

CUresult cuGreenCtxGetId(CUgreenCtx green, unsigned long long *id)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!green)
        green = crt_green_current();
    if (!crt_green_is_valid(green))
        return CRT_INVALID_CONTEXT;
    if (!id)
        return CRT_INVALID_VALUE;
    *id = green->id;
    return CRT_SUCCESS;
}
