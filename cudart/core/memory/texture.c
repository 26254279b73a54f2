/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects.
 */
#include "cudart/core/memory/texture.h"

#include <pthread.h>
#include <utlist.h>

#include "cudart/core/streams/context.h"
#include "kernel_abi/image_shape.h"

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_texture *objects;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum crt_result add_object(struct crt_context *ctx, const struct crt_texture *filled,
                                  uint64_t *handle)
{
    struct crt_texture *made = crt_object_create(CRT_KIND_TEXTURE, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->ctx = ctx;
    made->descriptor = filled->descriptor;
    made->resource = filled->resource;
    made->sampling = filled->sampling;
    made->view = filled->view;
    made->has_view = filled->has_view;
    pthread_mutex_lock(&live.lock);
    DL_APPEND(live.objects, made);
    pthread_mutex_unlock(&live.lock);
    *handle = rt_handle_of(&made->descriptor);
    return CRT_SUCCESS;
}

enum crt_result crt_texture_create(struct crt_context *ctx, const struct crt_resource *resource,
                                   const struct crt_sampling *sampling, const struct crt_view *view,
                                   uint64_t *handle)
{
    struct crt_texture filled = {.resource = *resource, .sampling = *sampling};
    enum crt_result result =
        crt_texture_describe(ctx, resource, sampling, view, &filled.descriptor);
    if (result != CRT_SUCCESS)
        return result;
    filled.has_view = view != NULL;
    if (view)
        filled.view = *view;
    return add_object(ctx, &filled, handle);
}

/* The manual asks for arrays made with CUDA_ARRAY3D_SURFACE_LDST. Programs get by without it, such
 * as those that write the levels of a mipmapped array one after another. */
enum crt_result crt_surface_create(struct crt_context *ctx, const struct crt_resource *resource,
                                   uint64_t *handle)
{
    struct crt_texture filled = {.resource = *resource};
    if (resource->type != CRT_RESOURCE_ARRAY || !crt_array_is_valid(resource->array) ||
        crt_format_is_blocks(resource->array->shape.format))
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_texture_describe(ctx, resource, NULL, NULL, &filled.descriptor);
    return result == CRT_SUCCESS ? add_object(ctx, &filled, handle) : result;
}

struct crt_texture *crt_texture_find(uint64_t handle, uint32_t mark)
{
    uint64_t address = rt_handle_address(handle);
    struct crt_texture *texture =
        (struct crt_texture *)(uintptr_t)(address - offsetof(struct crt_texture, descriptor));
    if (address < sizeof *texture || !crt_object_is(texture, CRT_KIND_TEXTURE))
        return NULL;
    bool is_handle = handle == rt_handle_of(&texture->descriptor);
    return is_handle && texture->descriptor.mark == mark ? texture : NULL;
}

static void end_object(struct crt_texture *texture)
{
    texture->descriptor.mark = 0;
    crt_object_destroy(CRT_KIND_TEXTURE, texture);
}

enum crt_result crt_texture_destroy(struct crt_texture *texture)
{
    enum crt_result result = crt_context_wait(texture->ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    pthread_mutex_lock(&live.lock);
    DL_DELETE(live.objects, texture);
    pthread_mutex_unlock(&live.lock);
    end_object(texture);
    return result;
}

void crt_texture_destroy_all(const struct crt_context *ctx)
{
    struct crt_texture *texture;
    struct crt_texture *next;
    pthread_mutex_lock(&live.lock);
    DL_FOREACH_SAFE(live.objects, texture, next)
    {
        if (texture->ctx == ctx) {
            DL_DELETE(live.objects, texture);
            end_object(texture);
        }
    }
    pthread_mutex_unlock(&live.lock);
}
