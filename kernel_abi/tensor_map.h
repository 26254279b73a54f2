/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps (CUDA's CUtensorMap, PTX ISA "Tensor-map"): 128 bytes that programs pass on without
 * looking into them. The driver fills them, tensormap.replace changes them, tensor copies read
 * them. Plain C without dependencies, as it is also compiled to bitcode (translator/rt/).
 *
 * Dimension 0 is the innermost. With an interleaved layout it counts slices of 16 or 32 bytes,
 * which are what elements are otherwise; of im2col the dimensions are then W, H, D, C, N instead of
 * C, W, H, D, N.
 */
#ifndef PTXRUN_KERNEL_ABI_TENSOR_MAP_H
#define PTXRUN_KERNEL_ABI_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define RT_TENSOR_RANK_MAX     5
#define RT_TENSOR_MAP_BYTES    128
#define RT_TENSOR_MAP_ALIGN    64
#define RT_TENSOR_MAP_MARK     UINT32_C(0x50414d54) /* "TMAP": the driver has been here */

#define RT_TENSOR_BOX_MAX      256
#define RT_TENSOR_PIXELS_MAX   1024
#define RT_TENSOR_W128_PIXELS  128 /* of im2col::w::128 */
#define RT_TENSOR_STEP_MAX     8
#define RT_TENSOR_STRIDE_LIMIT (UINT64_C(1) << 40)

/* Types, interleaves, swizzles, atomicities and fills have the numbers of tensormap.replace. */
enum rt_tensor_type {
    RT_TENSOR_U8,
    RT_TENSOR_U16,
    RT_TENSOR_U32,
    RT_TENSOR_S32,
    RT_TENSOR_U64,
    RT_TENSOR_S64,
    RT_TENSOR_F16,
    RT_TENSOR_F32,
    RT_TENSOR_F32_FTZ,
    RT_TENSOR_F64,
    RT_TENSOR_BF16,
    RT_TENSOR_TF32,
    RT_TENSOR_TF32_FTZ,
    RT_TENSOR_B4X16,
    RT_TENSOR_B4X16_P64,
    RT_TENSOR_B6X16, /* loads: _p32, stores: b6p2x16 */
    RT_TENSOR_TYPES
};

enum rt_tensor_interleave {
    RT_TENSOR_INTERLEAVE_NONE,
    RT_TENSOR_INTERLEAVE_16B,
    RT_TENSOR_INTERLEAVE_32B,
    RT_TENSOR_INTERLEAVES
};

enum rt_tensor_swizzle {
    RT_TENSOR_SWIZZLE_NONE,
    RT_TENSOR_SWIZZLE_32B,
    RT_TENSOR_SWIZZLE_64B,
    RT_TENSOR_SWIZZLE_128B,
    RT_TENSOR_SWIZZLE_96B,
    RT_TENSOR_SWIZZLES
};

enum rt_tensor_atomicity {
    RT_TENSOR_ATOMICITY_16B,
    RT_TENSOR_ATOMICITY_32B,
    RT_TENSOR_ATOMICITY_32B_FLIP_8B,
    RT_TENSOR_ATOMICITY_64B,
    RT_TENSOR_ATOMICITIES
};

enum rt_tensor_fill { RT_TENSOR_FILL_ZERO, RT_TENSOR_FILL_NAN, RT_TENSOR_FILLS };

enum rt_tensor_mode {
    RT_TENSOR_TILE,
    RT_TENSOR_IM2COL,
    RT_TENSOR_IM2COL_W,
    RT_TENSOR_IM2COL_W128,
    RT_TENSOR_MODES
};

struct rt_tensor_map {
    uint32_t mark;
    uint8_t mode;
    uint8_t rank;
    uint8_t type;
    uint8_t interleave;
    uint8_t swizzle;
    uint8_t atomicity;
    uint8_t fill;
    uint8_t steps[RT_TENSOR_RANK_MAX]; /* "element strides" */
    uint64_t address;
    uint64_t strides[RT_TENSOR_RANK_MAX - 1]; /* bytes, of dimensions 1 … */
    uint32_t last[RT_TENSOR_RANK_MAX];        /* the largest coordinate: the size less 1 */
    uint32_t box[RT_TENSOR_RANK_MAX];         /* of tiles */
    int16_t lower[RT_TENSOR_RANK_MAX - 2];    /* im2col: corners, of W, H, D */
    int16_t upper[RT_TENSOR_RANK_MAX - 2];
    uint16_t channels; /* per pixel */
    uint16_t pixels;   /* per column */
    uint8_t unused[12];
};

_Static_assert(sizeof(struct rt_tensor_map) == RT_TENSOR_MAP_BYTES, "the size is CUDA's");

/* What is copied as a whole: so many elements, in so many bytes there and there. */
struct rt_tensor_unit {
    uint32_t elements;
    uint32_t global_bytes;
    uint32_t shared_bytes;
};

static inline struct rt_tensor_unit rt_tensor_unit_of_type(uint32_t type)
{
    switch (type) {
    case RT_TENSOR_U8:
        return (struct rt_tensor_unit){1, 1, 1};
    case RT_TENSOR_U16:
    case RT_TENSOR_F16:
    case RT_TENSOR_BF16:
        return (struct rt_tensor_unit){1, 2, 2};
    case RT_TENSOR_U64:
    case RT_TENSOR_S64:
    case RT_TENSOR_F64:
        return (struct rt_tensor_unit){1, 8, 8};
    case RT_TENSOR_B4X16:
        return (struct rt_tensor_unit){2, 1, 1};
    case RT_TENSOR_B4X16_P64:
        return (struct rt_tensor_unit){16, 8, 16};
    case RT_TENSOR_B6X16:
        return (struct rt_tensor_unit){16, 12, 16};
    default:
        return (struct rt_tensor_unit){1, 4, 4};
    }
}

static inline uint32_t rt_tensor_slice_bytes(uint32_t interleave)
{
    return interleave == RT_TENSOR_INTERLEAVE_16B ? 16 : 32;
}

static inline struct rt_tensor_unit rt_tensor_unit_of(const struct rt_tensor_map *map)
{
    if (map->interleave == RT_TENSOR_INTERLEAVE_NONE)
        return rt_tensor_unit_of_type(map->type);
    uint32_t bytes = rt_tensor_slice_bytes(map->interleave);
    return (struct rt_tensor_unit){1, bytes, bytes};
}

static inline bool rt_tensor_is_float(uint32_t type)
{
    return type == RT_TENSOR_F16 || (type >= RT_TENSOR_F32 && type <= RT_TENSOR_TF32_FTZ);
}

static inline bool rt_tensor_is_padded(uint32_t type)
{
    return type == RT_TENSOR_B4X16_P64 || type == RT_TENSOR_B6X16;
}

static inline uint32_t rt_tensor_swizzle_bytes(uint32_t swizzle)
{
    switch (swizzle) {
    case RT_TENSOR_SWIZZLE_32B:
        return 32;
    case RT_TENSOR_SWIZZLE_64B:
        return 64;
    case RT_TENSOR_SWIZZLE_96B:
        return 96;
    default:
        return 128;
    }
}

/* The bits of an offset in shared memory that a swizzle changes: they are xored with those `shift`
 * places above them (PTX ISA "Swizzling Modes"). With the flip, bit 3 is, too, with bit 7. */
struct rt_tensor_xor {
    uint32_t bits;
    uint32_t shift;
};

static inline struct rt_tensor_xor rt_tensor_xor_of(uint32_t swizzle, uint32_t atomicity)
{
    switch (swizzle) {
    case RT_TENSOR_SWIZZLE_32B:
    case RT_TENSOR_SWIZZLE_96B:
        return (struct rt_tensor_xor){0x10, 3};
    case RT_TENSOR_SWIZZLE_64B:
        return (struct rt_tensor_xor){0x30, 3};
    case RT_TENSOR_SWIZZLE_128B:
        return atomicity == RT_TENSOR_ATOMICITY_16B   ? (struct rt_tensor_xor){0x70, 3}
               : atomicity == RT_TENSOR_ATOMICITY_64B ? (struct rt_tensor_xor){0x40, 1}
                                                      : (struct rt_tensor_xor){0x60, 2};
    default:
        return (struct rt_tensor_xor){0, 0};
    }
}

/* Units of dimension 0 (of im2col: channels) that are copied at a time. */
static inline uint32_t rt_tensor_inner_units(const struct rt_tensor_map *map)
{
    if (map->mode == RT_TENSOR_TILE)
        return map->box[0] / rt_tensor_unit_of(map).elements;
    struct rt_tensor_unit element = rt_tensor_unit_of_type(map->type);
    uint32_t units = map->channels / element.elements;
    if (map->interleave == RT_TENSOR_INTERLEAVE_NONE)
        return units;
    uint32_t slice = rt_tensor_slice_bytes(map->interleave);
    return (units * element.shared_bytes + slice - 1) / slice;
}

/* Whether all is in the ranges that the documentation gives: of the driver's functions, and so, by
 * the time of a copy, of tensormap.replace. */
static inline bool rt_tensor_sizes_are_valid(const struct rt_tensor_map *map)
{
    uint32_t wide = map->interleave == RT_TENSOR_INTERLEAVE_32B || rt_tensor_is_padded(map->type);
    uint64_t grain = wide ? 32 : 16;
    if (map->address % grain != 0)
        return false;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (i > 0 &&
            (map->strides[i - 1] % grain != 0 || map->strides[i - 1] >= RT_TENSOR_STRIDE_LIMIT))
            return false;
        /* "The first element of this array is ignored" without an interleave. */
        bool has_step = i > 0 || map->interleave != RT_TENSOR_INTERLEAVE_NONE;
        if (has_step && (map->steps[i] == 0 || map->steps[i] > RT_TENSOR_STEP_MAX))
            return false;
        if (map->mode == RT_TENSOR_TILE && (map->box[i] == 0 || map->box[i] > RT_TENSOR_BOX_MAX))
            return false;
    }
    uint64_t size = (uint64_t)map->last[0] + 1;
    return map->interleave != RT_TENSOR_INTERLEAVE_NONE ||
           size % (rt_tensor_is_padded(map->type) ? 128 : rt_tensor_unit_of(map).elements) == 0;
}

static inline bool rt_tensor_corners_are_valid(const struct rt_tensor_map *map)
{
    static const int limits[] = {32768, 128, 16};
    if (map->rank < 3 || map->channels == 0 || map->channels > RT_TENSOR_BOX_MAX ||
        map->pixels == 0 || map->pixels > RT_TENSOR_PIXELS_MAX)
        return false;
    bool is_wide = map->mode != RT_TENSOR_IM2COL;
    uint32_t first = map->interleave == RT_TENSOR_INTERLEAVE_NONE;
    for (uint32_t i = 0; i < (is_wide ? 1u : map->rank - 2u); i++) {
        int limit = limits[is_wide ? 0 : map->rank - 3];
        if (map->lower[i] < -limit || map->lower[i] >= limit || map->upper[i] < -limit ||
            map->upper[i] >= limit || (int64_t)map->last[first + i] + map->upper[i] < map->lower[i])
            return false;
    }
    return true;
}

/* What may stand together. */
static inline bool rt_tensor_layout_is_valid(const struct rt_tensor_map *map)
{
    bool is_interleaved = map->interleave != RT_TENSOR_INTERLEAVE_NONE;
    bool is_wide = map->mode == RT_TENSOR_IM2COL_W || map->mode == RT_TENSOR_IM2COL_W128;
    bool is_swizzled = map->swizzle != RT_TENSOR_SWIZZLE_NONE;
    if (map->atomicity != RT_TENSOR_ATOMICITY_16B && map->swizzle != RT_TENSOR_SWIZZLE_128B)
        return false;
    if (is_interleaved && (map->rank < 3 || is_wide || rt_tensor_is_padded(map->type)))
        return false;
    if (map->interleave == RT_TENSOR_INTERLEAVE_32B && map->swizzle != RT_TENSOR_SWIZZLE_32B)
        return false;
    if (is_wide && (!is_swizzled || map->swizzle == RT_TENSOR_SWIZZLE_32B ||
                    map->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B))
        return false;
    if (map->fill == RT_TENSOR_FILL_NAN && !rt_tensor_is_float(map->type))
        return false;
    if (rt_tensor_is_padded(map->type) &&
        ((map->mode == RT_TENSOR_TILE ? map->box[0] : map->channels) != 128 ||
         (is_swizzled && map->swizzle != RT_TENSOR_SWIZZLE_128B) ||
         map->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B))
        return false;
    if (map->type == RT_TENSOR_B4X16_P64 && map->atomicity == RT_TENSOR_ATOMICITY_64B)
        return false;
    if (is_interleaved)
        return true;
    struct rt_tensor_unit unit = rt_tensor_unit_of(map);
    uint32_t elements = map->mode == RT_TENSOR_TILE ? map->box[0] : map->channels;
    uint32_t inner = rt_tensor_inner_units(map) * unit.shared_bytes;
    return elements % unit.elements == 0 && inner % 16 == 0 && inner != 0 &&
           (!is_swizzled || inner <= rt_tensor_swizzle_bytes(map->swizzle));
}

static inline bool rt_tensor_map_is_valid(const struct rt_tensor_map *map)
{
    return map->mark == RT_TENSOR_MAP_MARK && map->rank >= 1 && map->rank <= RT_TENSOR_RANK_MAX &&
           map->mode < RT_TENSOR_MODES && map->type < RT_TENSOR_TYPES &&
           map->interleave < RT_TENSOR_INTERLEAVES && map->swizzle < RT_TENSOR_SWIZZLES &&
           map->atomicity < RT_TENSOR_ATOMICITIES && map->fill < RT_TENSOR_FILLS &&
           rt_tensor_sizes_are_valid(map) &&
           (map->mode == RT_TENSOR_TILE || rt_tensor_corners_are_valid(map)) &&
           rt_tensor_layout_is_valid(map);
}

#endif
