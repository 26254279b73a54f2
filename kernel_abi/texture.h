/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures and surfaces. Their handles are addresses of these descriptors, with what is said of the
 * image in the upper bits (kernel_abi/image_shape.h): the host side fills them, generated code
 * reads them. Plain C without dependencies, as it is also compiled to bitcode (translator/rt/).
 */
#ifndef PTXRUN_KERNEL_ABI_TEXTURE_H
#define PTXRUN_KERNEL_ABI_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#define RT_TEXTURE_MARK       UINT32_C(0x52545854) /* "TXTR" */
#define RT_SURFACE_MARK       UINT32_C(0x46525553) /* "SURF" */
#define RT_SAMPLER_MARK       UINT32_C(0x504d4153) /* "SAMP": without an image */

#define RT_TEXTURE_ALIGN      8
#define RT_TEXTURE_LEVELS_MAX 18
#define RT_CUBE_FACES         6

/* What the image is. */
enum rt_texture_kind {
    RT_TEXTURE_LINEAR, /* 1D, in linear memory */
    RT_TEXTURE_1D,
    RT_TEXTURE_2D, /* an array, or linear memory with a pitch */
    RT_TEXTURE_3D,
    RT_TEXTURE_A1D,
    RT_TEXTURE_A2D,
    RT_TEXTURE_CUBE,
    RT_TEXTURE_ACUBE,
    RT_TEXTURE_KINDS
};

/* Of one channel; of those from 1010102 on: of all of an element or block. */
enum rt_texel {
    RT_TEXEL_U8,
    RT_TEXEL_U16,
    RT_TEXEL_U32,
    RT_TEXEL_S8,
    RT_TEXEL_S16,
    RT_TEXEL_S32,
    RT_TEXEL_F16,
    RT_TEXEL_F32,
    RT_TEXEL_1010102,
    RT_TEXEL_BC1, /* blocks of 4 by 4 from here on, as CUresourceViewFormat counts them */
    RT_TEXEL_BC2,
    RT_TEXEL_BC3,
    RT_TEXEL_BC4,
    RT_TEXEL_BC4_SIGNED,
    RT_TEXEL_BC5,
    RT_TEXEL_BC5_SIGNED,
    RT_TEXEL_BC6H,
    RT_TEXEL_BC6H_SIGNED,
    RT_TEXEL_BC7,
    RT_TEXELS
};

/* Numbers of CUaddress_mode. */
enum rt_texture_address {
    RT_TEXTURE_WRAP,
    RT_TEXTURE_CLAMP,
    RT_TEXTURE_MIRROR,
    RT_TEXTURE_BORDER,
    RT_TEXTURE_ADDRESSES
};

/* A mip level, or all of an image without. */
struct rt_texture_level {
    uint64_t base;
    uint64_t pitch_bytes; /* from row to row */
    uint64_t slice_bytes; /* from plane, layer or face to the next */
    uint32_t width;       /* elements, at least 1 each */
    uint32_t height;
    uint32_t depth; /* planes of 3D */
    uint32_t layers;
};

struct rt_texture {
    uint32_t mark;
    uint8_t kind;
    uint8_t texel;
    uint8_t channels;
    uint8_t elem_bytes;
    bool gives_floats;  /* integers up to 16 bits as parts of 1 */
    bool is_normalised; /* coordinates */
    bool is_srgb;
    bool is_linear;     /* the filter within a level … */
    bool is_mip_linear; /* … and between levels */
    bool is_seamless;   /* of cubes: the filter goes across edges */
    uint8_t address[3];
    uint8_t level_count;
    float border[4];
    float lod_bias;
    float lod_min;
    float lod_max;
    struct rt_texture_level levels[RT_TEXTURE_LEVELS_MAX];
};

/* What an instruction asks for, in one number: */
#define RT_FETCH_KIND_SHIFT        0              /* enum rt_texture_kind: its coordinates */
#define RT_FETCH_IS_FLOAT          8              /* bits: coordinates are floats … */
#define RT_FETCH_HAS_LOD           9              /* … there is a level of detail … */
#define RT_FETCH_IS_BASE           10             /* … the first level is wanted … */
#define RT_FETCH_HAS_DEPTH         11             /* … there is a depth to compare with … */
#define RT_FETCH_IS_HALF           12             /* … results are halves */
#define RT_FETCH_GATHER_SHIFT      13             /* tld4: the channel and 1 */
#define RT_FETCH_OFFSET_SHIFT(i)   (32 + 4 * (i)) /* -8 … 7 */

#define RT_FETCH_BIT(request, bit) (((request) >> (bit) & 1) != 0)

/* What txq and suq ask for. */
enum rt_texture_query {
    RT_QUERY_WIDTH,
    RT_QUERY_HEIGHT,
    RT_QUERY_DEPTH,
    RT_QUERY_CHANNEL_DATA_TYPE,
    RT_QUERY_CHANNEL_ORDER,
    RT_QUERY_NORMALIZED_COORDS,
    RT_QUERY_ARRAY_SIZE,
    RT_QUERY_NUM_MIPMAP_LEVELS,
    RT_QUERY_NUM_SAMPLES,
    RT_QUERY_MEMORY_LAYOUT,
    RT_QUERY_FORCE_UNNORMALIZED_COORDS,
    RT_QUERY_FILTER_MODE,
    RT_QUERY_ADDR_MODE_0,
    RT_QUERY_ADDR_MODE_1,
    RT_QUERY_ADDR_MODE_2
};

/* How surface accesses treat what lies outside. */
enum rt_surface_mode { RT_SURFACE_TRAP, RT_SURFACE_CLAMP, RT_SURFACE_ZERO };

static inline bool rt_texture_is_layered(uint32_t kind)
{
    return kind == RT_TEXTURE_A1D || kind == RT_TEXTURE_A2D || kind == RT_TEXTURE_ACUBE;
}

static inline bool rt_texture_is_cube(uint32_t kind)
{
    return kind == RT_TEXTURE_CUBE || kind == RT_TEXTURE_ACUBE;
}

static inline uint32_t rt_texture_dimensions(uint32_t kind)
{
    switch (kind) {
    case RT_TEXTURE_LINEAR:
    case RT_TEXTURE_1D:
    case RT_TEXTURE_A1D:
        return 1;
    case RT_TEXTURE_3D:
        return 3;
    default:
        return 2;
    }
}

#endif
