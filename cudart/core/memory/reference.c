/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references.
 */
#include "cudart/core/memory/reference.h"

#include <pthread.h>
#include <utlist.h>

#include "cudart/core/streams/context.h"
#include "kernel_abi/image_shape.h"

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_reference *references;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool crt_reference_is(const struct crt_reference *reference, uint32_t mark)
{
    return crt_object_is(reference, CRT_KIND_REFERENCE) && reference->mark == mark;
}

static struct crt_reference *find_locked(const uint64_t *slot)
{
    struct crt_reference *reference;
    DL_FOREACH(live.references, reference)
    if (slot && reference->slot == slot)
        return reference;
    return NULL;
}

static struct crt_reference *create_locked(struct crt_context *ctx, uint32_t mark, uint64_t *slot,
                                           const struct crt_module *module)
{
    struct crt_reference *made = crt_object_create(CRT_KIND_REFERENCE, sizeof *made);
    if (!made)
        return NULL;
    made->ctx = ctx;
    made->mark = mark;
    made->slot = slot;
    made->module = module;
    made->format = CRT_FORMAT_FLOAT;
    made->channels = 1;
    DL_APPEND(live.references, made);
    return made;
}

enum crt_result crt_reference_get(struct crt_context *ctx, uint32_t mark, uint64_t *slot,
                                  const struct crt_module *module, struct crt_reference **reference)
{
    pthread_mutex_lock(&live.lock);
    *reference = find_locked(slot);
    if (!*reference)
        *reference = create_locked(ctx, mark, slot, module);
    pthread_mutex_unlock(&live.lock);
    return *reference ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

static void end_locked(struct crt_reference *reference)
{
    DL_DELETE(live.references, reference);
    reference->descriptor.mark = 0;
    crt_object_destroy(CRT_KIND_REFERENCE, reference);
}

enum crt_result crt_reference_destroy(struct crt_reference *reference)
{
    if (reference->slot)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&live.lock);
    end_locked(reference);
    pthread_mutex_unlock(&live.lock);
    return CRT_SUCCESS;
}

void crt_reference_end(const struct crt_context *ctx, const struct crt_module *module)
{
    struct crt_reference *reference;
    struct crt_reference *next;
    pthread_mutex_lock(&live.lock);
    DL_FOREACH_SAFE(live.references, reference, next)
    {
        if (module ? reference->module == module : reference->ctx == ctx)
            end_locked(reference);
    }
    pthread_mutex_unlock(&live.lock);
}

static enum crt_result describe(const struct crt_reference *reference,
                                struct rt_texture *descriptor)
{
    struct crt_resource resource = reference->resource;
    bool is_texture = reference->mark == RT_TEXTURE_MARK;
    if (resource.type == CRT_RESOURCE_LINEAR) {
        resource.format = reference->format;
        resource.channels = reference->channels;
    }
    return crt_texture_describe(reference->ctx, &resource, is_texture ? &reference->sampling : NULL,
                                NULL, descriptor);
}

enum crt_result crt_reference_apply(struct crt_reference *reference)
{
    struct rt_texture descriptor;
    enum crt_result result = crt_context_wait(reference->ctx);
    if (result != CRT_SUCCESS)
        return result;
    bool is_bound = reference->is_bound && describe(reference, &descriptor) == CRT_SUCCESS;
    if (is_bound)
        reference->descriptor = descriptor;
    if (reference->slot)
        *reference->slot = is_bound ? rt_handle_of(&reference->descriptor) : 0;
    return CRT_SUCCESS;
}
