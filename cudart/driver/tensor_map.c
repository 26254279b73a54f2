/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps. A map is a value: nothing here refers to a device or to memory.
 */
#include <string.h>

#include "cudart/driver/internal.h"
#include "kernel_abi/tensor_map.h"

_Static_assert(sizeof(CUtensorMap) == sizeof(struct rt_tensor_map), "the program's has the size");

/* What all three functions are given. */
struct request {
    CUtensorMap *map;
    int type;
    cuuint32_t rank;
    void *address;
    const cuuint64_t *sizes;
    const cuuint64_t *strides;
    const cuuint32_t *steps;
    int interleave;
    int swizzle;
    int promotion;
    int fill;
};

static const uint8_t types[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = RT_TENSOR_U8,
    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = RT_TENSOR_U16,
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = RT_TENSOR_U32,
    [CU_TENSOR_MAP_DATA_TYPE_INT32] = RT_TENSOR_S32,
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = RT_TENSOR_U64,
    [CU_TENSOR_MAP_DATA_TYPE_INT64] = RT_TENSOR_S64,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = RT_TENSOR_F16,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = RT_TENSOR_F32,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = RT_TENSOR_F64,
    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = RT_TENSOR_BF16,
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = RT_TENSOR_F32_FTZ,
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = RT_TENSOR_TF32,
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = RT_TENSOR_TF32_FTZ,
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B] = RT_TENSOR_B4X16,
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B] = RT_TENSOR_B4X16_P64,
    [CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B] = RT_TENSOR_B6X16,
};
#define TYPE_COUNT ((int)sizeof types)

static const struct {
    uint8_t swizzle;
    uint8_t atomicity;
} swizzles[] = {
    [CU_TENSOR_MAP_SWIZZLE_NONE] = {RT_TENSOR_SWIZZLE_NONE, RT_TENSOR_ATOMICITY_16B},
    [CU_TENSOR_MAP_SWIZZLE_32B] = {RT_TENSOR_SWIZZLE_32B, RT_TENSOR_ATOMICITY_16B},
    [CU_TENSOR_MAP_SWIZZLE_64B] = {RT_TENSOR_SWIZZLE_64B, RT_TENSOR_ATOMICITY_16B},
    [CU_TENSOR_MAP_SWIZZLE_128B] = {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_16B},
    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B] = {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_32B},
    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {RT_TENSOR_SWIZZLE_128B,
                                                     RT_TENSOR_ATOMICITY_32B_FLIP_8B},
    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B] = {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_64B},
};
#define SWIZZLE_COUNT ((int)(sizeof swizzles / sizeof swizzles[0]))

static bool is_below(int value, int count)
{
    return value >= 0 && value < count;
}

/* Numbers that are too large for their place are not valid, and are kept so. */
static uint8_t narrow(cuuint32_t value)
{
    return value > UINT8_MAX ? UINT8_MAX : (uint8_t)value;
}

static uint16_t narrow_count(cuuint32_t value)
{
    return value > UINT16_MAX ? UINT16_MAX : (uint16_t)value;
}

static bool fill_sizes(const struct request *request, struct rt_tensor_map *map)
{
    for (cuuint32_t i = 0; i < request->rank; i++) {
        if (request->sizes[i] == 0 || request->sizes[i] > UINT64_C(1) << 32)
            return false;
        map->last[i] = (uint32_t)(request->sizes[i] - 1);
        map->steps[i] = narrow(request->steps[i]);
        if (i > 0)
            map->strides[i - 1] = request->strides[i - 1];
    }
    return true;
}

/* Makes of the request all that the three kinds of maps have in common. */
static CUresult begin(const struct request *request, struct rt_tensor_map *map)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!request->map || (uintptr_t)request->map % RT_TENSOR_MAP_ALIGN != 0 ||
        !is_below(request->type, TYPE_COUNT) || request->rank == 0 ||
        request->rank > RT_TENSOR_RANK_MAX || !request->sizes || !request->steps ||
        (request->rank > 1 && !request->strides) ||
        !is_below(request->interleave, RT_TENSOR_INTERLEAVES) ||
        !is_below(request->swizzle, SWIZZLE_COUNT) ||
        !is_below(request->promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B + 1) ||
        !is_below(request->fill, RT_TENSOR_FILLS))
        return CRT_INVALID_VALUE;
    *map = (struct rt_tensor_map){
        .mark = RT_TENSOR_MAP_MARK,
        .rank = (uint8_t)request->rank,
        .type = types[request->type],
        .interleave = (uint8_t)request->interleave,
        .swizzle = swizzles[request->swizzle].swizzle,
        .atomicity = swizzles[request->swizzle].atomicity,
        .fill = (uint8_t)request->fill,
        .address = (uintptr_t)request->address,
    };
    return fill_sizes(request, map) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static CUresult finish(CUtensorMap *target, const struct rt_tensor_map *map)
{
    if (!rt_tensor_map_is_valid(map))
        return CRT_INVALID_VALUE;
    memcpy(target, map, sizeof *map);
    return CRT_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                const cuuint64_t *sizes, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill)
{
    struct request request = {map,   type,       rank,    address,   sizes, strides,
                              steps, interleave, swizzle, promotion, fill};
    struct rt_tensor_map made;
    CUresult result = begin(&request, &made);
    if (result != CRT_SUCCESS)
        return result;
    if (!box)
        return CRT_INVALID_VALUE;
    made.mode = RT_TENSOR_TILE;
    memcpy(made.box, box, rank * sizeof *box);
    return finish(map, &made);
}

/* A corner that a number of 16 bits cannot be is none that any map can have. */
static bool set_corner(struct rt_tensor_map *map, unsigned i, int lower, int upper)
{
    map->lower[i] = (int16_t)lower;
    map->upper[i] = (int16_t)upper;
    return map->lower[i] == lower && map->upper[i] == upper;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                 const cuuint64_t *sizes, const cuuint64_t *strides,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *steps, int interleave,
                                 int swizzle, int promotion, int fill)
{
    struct request request = {map,   type,       rank,    address,   sizes, strides,
                              steps, interleave, swizzle, promotion, fill};
    struct rt_tensor_map made;
    CUresult result = begin(&request, &made);
    if (result != CRT_SUCCESS)
        return result;
    if (!lower || !upper)
        return CRT_INVALID_VALUE;
    made.mode = RT_TENSOR_IM2COL;
    made.channels = narrow_count(channels);
    made.pixels = narrow_count(pixels);
    for (unsigned i = 0; i + 2 < rank; i++)
        if (!set_corner(&made, i, lower[i], upper[i]))
            return CRT_INVALID_VALUE;
    return finish(map, &made);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                     const cuuint64_t *sizes, const cuuint64_t *strides, int lower,
                                     int upper, cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t *steps, int interleave, int mode, int swizzle,
                                     int promotion, int fill)
{
    struct request request = {map,   type,       rank,    address,   sizes, strides,
                              steps, interleave, swizzle, promotion, fill};
    struct rt_tensor_map made;
    CUresult result = begin(&request, &made);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_below(mode, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 + 1))
        return CRT_INVALID_VALUE;
    bool is_fixed = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    made.mode = is_fixed ? RT_TENSOR_IM2COL_W128 : RT_TENSOR_IM2COL_W;
    made.channels = narrow_count(channels);
    made.pixels = is_fixed ? RT_TENSOR_W128_PIXELS : narrow_count(pixels);
    return set_corner(&made, 0, lower, upper) ? finish(map, &made) : CRT_INVALID_VALUE;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!map || (uintptr_t)map % RT_TENSOR_MAP_ALIGN != 0)
        return CRT_INVALID_VALUE;
    struct rt_tensor_map made;
    memcpy(&made, map, sizeof made);
    made.address = (uintptr_t)address;
    return finish(map, &made);
}
