/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays: one- to three-dimensional memory of elements with up to four channels, in layers or
 * cube faces if wanted, and arrays of several mip levels. Rows lie one behind the other, slices
 * (planes, layers or faces) too: textures and surfaces read an element at
 *     base + z * slice_bytes + y * pitch_bytes + x * elem_bytes
 * An element is a texel, or where texels are compressed a block of 4 by 4 of them. Where a format
 * has planes, they lie one behind the other in the array's rows, each an array of its own.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_ARRAY_H
#define PTXRUN_CUDART_CORE_MEMORY_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"

struct crt_context;
struct crt_mipmap;

/* Numbers of CUarray_format. Formats from UNORM_INT8X1 on have a fixed number of channels. */
enum crt_array_format {
    CRT_FORMAT_U8 = 0x01,
    CRT_FORMAT_U16 = 0x02,
    CRT_FORMAT_U32 = 0x03,
    CRT_FORMAT_S8 = 0x08,
    CRT_FORMAT_S16 = 0x09,
    CRT_FORMAT_S32 = 0x0a,
    CRT_FORMAT_HALF = 0x10,
    CRT_FORMAT_FLOAT = 0x20,
    CRT_FORMAT_UNORM_101010_2 = 0x50,
    CRT_FORMAT_BC1 = 0x91, /* then in sRGB; BC2, BC3 likewise; BC4, BC5, BC6H, each then signed */
    CRT_FORMAT_BC7 = 0x9d,
    CRT_FORMAT_BC7_SRGB = 0x9e,
    CRT_FORMAT_UNORM8X1 = 0xc0, /* then 8X2, 8X4, 16X1, 16X2, 16X4 */
    CRT_FORMAT_SNORM8X1 = 0xc6, /* the same */
    CRT_FORMAT_SNORM16X4 = 0xcb
};

/* Flags of CUDA_ARRAY3D_DESCRIPTOR. */
#define CRT_ARRAY_LAYERED          0x01u
#define CRT_ARRAY_SURFACE          0x02u
#define CRT_ARRAY_CUBEMAP          0x04u
#define CRT_ARRAY_GATHER           0x08u
#define CRT_ARRAY_DEPTH_TEXTURE    0x10u
#define CRT_ARRAY_COLOR_ATTACHMENT 0x20u
#define CRT_ARRAY_SPARSE           0x40u
#define CRT_ARRAY_DEFERRED         0x80u

#define CRT_ARRAY_BLOCK_SIDE       4u
#define CRT_ARRAY_PLANES_MAX       3

/* A shape as the program gives it. */
struct crt_array_shape {
    size_t width;  /* in texels, at least 1 */
    size_t height; /* 0: one-dimensional */
    size_t depth;  /* planes, layers or faces; 0: none */
    unsigned format;
    unsigned channels; /* 1, 2 or 4 */
    unsigned flags;
};

struct crt_array {
    struct crt_object object;
    struct crt_context *ctx;
    struct crt_array_shape shape;
    unsigned elem_bytes; /* of a texel, or of a block of texels */
    unsigned block_side; /* 4 where texels are compressed in blocks, otherwise 1 */
    uintptr_t base;
    size_t pitch_bytes;        /* from row to row */
    size_t slice_bytes;        /* from slice to slice */
    size_t columns;            /* elements of a row */
    size_t rows;               /* per slice, at least 1 */
    size_t slices;             /* at least 1 */
    struct crt_mipmap *mipmap; /* the one it is a level of; NULL: none */
    struct crt_array *whole;   /* the one it is a plane of; NULL: none */
    struct crt_array *planes[CRT_ARRAY_PLANES_MAX];
    struct crt_array *prev; /* arrays that are no levels; guarded by the lock in array.c */
    struct crt_array *next;
};

struct crt_mipmap {
    struct crt_object object;
    struct crt_context *ctx;
    struct crt_array_shape shape;
    unsigned level_count;
    struct crt_array **levels;
    struct crt_mipmap *prev; /* as in crt_array */
    struct crt_mipmap *next;
};

CRT_API_BEGIN

/* CRT_INVALID_VALUE for an impossible shape or one beyond the device's limits, CRT_NOT_SUPPORTED
 * for packed pictures, sparse and deferred ones. */
enum crt_result crt_array_create(struct crt_context *ctx, const struct crt_array_shape *shape,
                                 struct crt_array **array);

/* Destroys it after the work of its context. CRT_INVALID_HANDLE if it is no array, or a level or
 * plane of one. */
enum crt_result crt_array_destroy(struct crt_array *array);

/* With levels 0 … level_count - 1, at most as many as halve the longest side down to 1. */
enum crt_result crt_mipmap_create(struct crt_context *ctx, const struct crt_array_shape *shape,
                                  unsigned level_count, struct crt_mipmap **mipmap);
enum crt_result crt_mipmap_destroy(struct crt_mipmap *mipmap);

bool crt_array_is_valid(const struct crt_array *array);
bool crt_mipmap_is_valid(const struct crt_mipmap *mipmap);

CRT_API_END

/* Whether texels of this format are compressed in blocks. */
bool crt_format_is_blocks(unsigned format);

/* Ends the arrays of a context. */
void crt_array_destroy_all(const struct crt_context *ctx);

#endif
