/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects. A handle is the address of a descriptor that kernels read
 * (kernel_abi/texture.h), inside the object.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_TEXTURE_H
#define PTXRUN_CUDART_CORE_MEMORY_TEXTURE_H

#include <stdint.h>

#include "cudart/core/memory/array.h"
#include "kernel_abi/texture.h"

/* Numbers of CUresourcetype. */
enum crt_resource_type {
    CRT_RESOURCE_ARRAY,
    CRT_RESOURCE_MIPMAP,
    CRT_RESOURCE_LINEAR,
    CRT_RESOURCE_PITCH2D,
    CRT_RESOURCE_TYPES
};

/* Laid out as CUDA_RESOURCE_DESC. */
struct crt_resource {
    int type;
    union {
        struct crt_array *array;
        struct crt_mipmap *mipmap;
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            union {
                size_t size_bytes; /* LINEAR */
                size_t width;      /* PITCH2D */
            };
            size_t height;
            size_t pitch_bytes;
        };
        int reserved[32];
    };
    unsigned flags; /* 0 */
};
_Static_assert(sizeof(struct crt_resource) == 144, "the size is CUDA's");

/* Flags of CUDA_TEXTURE_DESC. */
#define CRT_SAMPLING_AS_INTEGER   0x01u
#define CRT_SAMPLING_NORMALISED   0x02u
#define CRT_SAMPLING_SRGB         0x10u
#define CRT_SAMPLING_NO_TRILINEAR 0x20u
#define CRT_SAMPLING_SEAMLESS     0x40u

/* Laid out as CUDA_TEXTURE_DESC. */
struct crt_sampling {
    int address[3];
    int filter;
    unsigned flags;
    unsigned max_anisotropy;
    int mip_filter;
    float lod_bias;
    float lod_min;
    float lod_max;
    float border[4];
    int reserved[12];
};
_Static_assert(sizeof(struct crt_sampling) == 104, "the size is CUDA's");

/* Laid out as CUDA_RESOURCE_VIEW_DESC. */
struct crt_view {
    int format;
    size_t width;
    size_t height;
    size_t depth;
    unsigned first_level;
    unsigned last_level;
    unsigned first_layer;
    unsigned last_layer;
    unsigned reserved[16];
};
_Static_assert(sizeof(struct crt_view) == 112, "the size is CUDA's");

struct crt_texture {
    struct crt_object object;
    struct crt_context *ctx;
    struct rt_texture descriptor; /* its mark says whether this is a texture or a surface */
    struct crt_resource resource;
    struct crt_sampling sampling; /* of textures */
    struct crt_view view;
    bool has_view;
    struct crt_texture *prev; /* guarded by the lock in texture.c */
    struct crt_texture *next;
};

CRT_API_BEGIN

/* Makes a descriptor of what the program gives; view may be NULL. CRT_INVALID_VALUE for what makes
 * no sense or is beyond the device's limits; CRT_NOT_SUPPORTED for seamless cubes and
 * views as BC6H and BC7. */
enum crt_result crt_texture_describe(const struct crt_context *ctx,
                                     const struct crt_resource *resource,
                                     const struct crt_sampling *sampling,
                                     const struct crt_view *view, struct rt_texture *descriptor);

enum crt_result crt_texture_create(struct crt_context *ctx, const struct crt_resource *resource,
                                   const struct crt_sampling *sampling, const struct crt_view *view,
                                   uint64_t *handle);
enum crt_result crt_surface_create(struct crt_context *ctx, const struct crt_resource *resource,
                                   uint64_t *handle);

/* The live object with this handle and this mark; NULL: none has it. */
struct crt_texture *crt_texture_find(uint64_t handle, uint32_t mark);

/* Kernels that use the handle afterwards fault. */
enum crt_result crt_texture_destroy(struct crt_texture *texture);

CRT_API_END

/* Ends the objects of a context. */
void crt_texture_destroy_all(const struct crt_context *ctx);

#endif
