/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references: variables of a module to which the host binds an image. A
 * variable holds the handle of its reference's descriptor, 0 while no image is bound, and kernels
 * fetch through it as through an object's handle.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_REFERENCE_H
#define PTXRUN_CUDART_CORE_MEMORY_REFERENCE_H

#include "cudart/core/memory/texture.h"

struct crt_reference {
    struct crt_object object;
    struct crt_context *ctx;
    uint32_t mark;                   /* RT_TEXTURE_MARK, or RT_SURFACE_MARK */
    uint64_t *slot;                  /* the variable; NULL: a reference without one */
    const struct crt_module *module; /* of the variable */
    bool is_bound;                   /* resource is what the program has set */
    struct crt_resource resource;
    struct crt_sampling sampling;
    int format; /* of memory that is bound */
    unsigned channels;
    struct rt_texture descriptor;
    struct crt_reference *prev; /* guarded by the lock in reference.c */
    struct crt_reference *next;
};

CRT_API_BEGIN

/* The reference of a module's variable, made at the first call; slot: NULL makes one without. */
enum crt_result crt_reference_get(struct crt_context *ctx, uint32_t mark, uint64_t *slot,
                                  const struct crt_module *module,
                                  struct crt_reference **reference);
bool crt_reference_is(const struct crt_reference *reference, uint32_t mark);

/* Of one without a variable; others end with their module. */
enum crt_result crt_reference_destroy(struct crt_reference *reference);

/* What has changed is in the reference: when the work of its context is done, the variable gets the
 * image. What cannot be described yet, as its format may come later, is not bound. */
enum crt_result crt_reference_apply(struct crt_reference *reference);

CRT_API_END

/* Ends the references of a module's variables, or, with NULL, all of the context. */
void crt_reference_end(const struct crt_context *ctx, const struct crt_module *module);

#endif
