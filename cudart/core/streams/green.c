/* SPDX-License-Identifier: Apache-2.0
 *
 * Green contexts: their life, and what a handle is.
 */
#include "cudart/core/streams/green.h"

#include <utlist.h>

#include "cudart/core/base/process.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/stream.h"
#include "scheduler/scheduler.h"

bool crt_green_is_valid(const struct crt_green *green)
{
    return crt_object_is(green, CRT_KIND_GREEN);
}

struct crt_green *crt_green_of(struct crt_context *handle)
{
    struct crt_green *green = (struct crt_green *)handle;
    return crt_green_is_valid(green) ? green : NULL;
}

struct crt_context *crt_context_behind(struct crt_context *handle)
{
    struct crt_green *green = crt_green_of(handle);
    return green ? green->ctx : handle;
}

enum crt_result crt_green_create(struct crt_device *device, unsigned sm_count,
                                 struct crt_green **green)
{
    struct crt_context *ctx;
    enum crt_result result = crt_primary_retain(device, &ctx);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_green *created = crt_object_create(CRT_KIND_GREEN, sizeof *created);
    if (!created) {
        crt_primary_release(device);
        return CRT_OUT_OF_MEMORY;
    }
    created->ctx = ctx;
    created->id = crt_next_number();
    created->sm_count = sm_count;
    *green = created;
    return CRT_SUCCESS;
}

static struct crt_stream *find_stream(struct crt_green *green)
{
    struct crt_stream *stream;
    pthread_mutex_lock(&green->ctx->lock);
    DL_SEARCH_SCALAR(green->ctx->streams, stream, green, green);
    pthread_mutex_unlock(&green->ctx->lock);
    return stream;
}

enum crt_result crt_green_destroy(struct crt_green *green)
{
    if (!crt_green_is_valid(green))
        return CRT_INVALID_CONTEXT;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct crt_stream *stream;
    while ((stream = find_stream(green)))
        crt_stream_destroy(stream);
    struct crt_context *ctx = green->ctx;
    struct sch_op *for_all = green->for_all;
    crt_object_destroy(CRT_KIND_GREEN, green);
    sch_op_release(for_all);
    return crt_primary_release(ctx->device);
}
