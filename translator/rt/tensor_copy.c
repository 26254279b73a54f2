/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of boxes of tensors. A box is rows of units along dimension 0; in shared memory rows
 * follow each other, and each 16 bytes are put where the swizzle says. What lies outside of the
 * tensor is filled, or not stored. Not part of kernels but of the process: it is long, and would be
 * compiled with each.
 */
#include "kernel_abi/rt.h"
#include "translator/rt/bulk.h"
#include "translator/rt/tensor.h"

#define CHUNK_BYTES     16
#define NAN_FILL        UINT64_C(0x7ff77ff77ff77ff7) /* what fma.oob takes for such a NaN */
#define SIX_BITS        0x3f
#define FLIP_HALF_BYTES 8
#define GATHERED_ROWS   4
#define HALO_PERIOD     32 /* im2col::w::128: pixels between halos */

struct copy {
    const struct rt_tensor_map *map;
    struct rt_tensor_unit unit;
    struct rt_tensor_xor swizzle;
    uint32_t action;
    uint32_t op;
    bool flips;
    bool only_range;
    uint32_t done; /* bytes of shared memory */
    uint8_t *shared;
    uint64_t first; /* what the range is so far */
    uint64_t last;
};

/* A place in the tensor, in units along dimension 0. */
struct place {
    int64_t at[RT_TENSOR_RANK_MAX];
};

static uint32_t action_of(uint64_t request)
{
    return (uint32_t)(request >> RT_TENSOR_ACTION_SHIFT) & 15;
}

static uint32_t access_of(uint64_t request)
{
    return (uint32_t)(request >> RT_TENSOR_ACCESS_SHIFT) & 15;
}

static uint32_t rank_of(uint64_t request)
{
    return (uint32_t)(request >> RT_TENSOR_RANK_SHIFT) & 7;
}

static uint32_t op_of(uint64_t request)
{
    return (uint32_t)(request >> RT_TENSOR_OP_SHIFT) & 15;
}

static uint32_t offset_of(uint64_t request, uint32_t i)
{
    return (uint32_t)(request >> (16 * i)) & 0xffff;
}

/* ---- 16 bytes of shared memory ---- */

static uint8_t *half_at(const struct copy *copy, uint32_t offset, uint32_t half)
{
    uintptr_t to = (uintptr_t)(copy->shared + offset);
    to ^= to >> copy->swizzle.shift & copy->swizzle.bits;
    if (copy->flips)
        half ^= (uint32_t)(to >> 7) & 1;
    return (uint8_t *)to + FLIP_HALF_BYTES * half;
}

static uint32_t flush(uint32_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

/* "rounded to nearest even" */
static uint32_t round_to_tf32(uint32_t bits)
{
    uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : rounded;
}

static uint32_t convert(uint32_t bits, uint32_t type)
{
    if (type == RT_TENSOR_F32_FTZ || type == RT_TENSOR_TF32_FTZ)
        bits = flush(bits);
    return type == RT_TENSOR_TF32 || type == RT_TENSOR_TF32_FTZ ? round_to_tf32(bits) : bits;
}

static bool is_converted(uint32_t type)
{
    return type == RT_TENSOR_F32_FTZ || type == RT_TENSOR_TF32 || type == RT_TENSOR_TF32_FTZ;
}

/* Of the chunk's bytes in global memory those from low to high (not included) are the tensor's. */
struct chunk {
    uint8_t *global;
    uint32_t bytes;
    uint32_t low;
    uint32_t high;
    uint32_t offset; /* in shared memory */
};

static void load_chunk(const struct copy *copy, const struct chunk *chunk)
{
    const struct rt_tensor_map *map = copy->map;
    uint8_t bytes[CHUNK_BYTES] __attribute__((aligned(CHUNK_BYTES)));
    uint64_t fill = map->fill == RT_TENSOR_FILL_NAN ? NAN_FILL : 0;
    __builtin_memcpy(bytes, &fill, sizeof fill);
    __builtin_memcpy(bytes + sizeof fill, &fill, sizeof fill);
    for (uint32_t i = chunk->low; i < chunk->high; i++)
        bytes[i] = chunk->global[i];
    if (is_converted(map->type))
        for (uint32_t i = chunk->low; i < chunk->high; i += 4) {
            uint32_t word;
            __builtin_memcpy(&word, bytes + i, sizeof word);
            word = convert(word, map->type);
            __builtin_memcpy(bytes + i, &word, sizeof word);
        }
    /* "The padded region is uninitialised": it stays as it is. */
    __builtin_memcpy(half_at(copy, chunk->offset, 0), bytes, FLIP_HALF_BYTES);
    if (chunk->bytes == CHUNK_BYTES)
        __builtin_memcpy(half_at(copy, chunk->offset, 1), bytes + FLIP_HALF_BYTES, FLIP_HALF_BYTES);
    else if (chunk->bytes > FLIP_HALF_BYTES)
        __builtin_memcpy(half_at(copy, chunk->offset, 1), bytes + FLIP_HALF_BYTES,
                         sizeof(uint32_t));
}

/* b6p2x16: six bits of each byte, side by side. */
static void pack_six_bits(uint8_t bytes[CHUNK_BYTES])
{
    for (uint32_t i = 0; i < CHUNK_BYTES; i += 4) {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4; k++)
            word |= (uint32_t)(bytes[i + k] & SIX_BITS) << (6 * k);
        for (uint32_t k = 0; k < 3; k++)
            bytes[i / 4 * 3 + k] = (uint8_t)(word >> (8 * k));
    }
}

static uint32_t reduction_type(uint32_t type)
{
    switch (type) {
    case RT_TENSOR_S32:
        return RT_BULK_S32;
    case RT_TENSOR_U64:
        return RT_BULK_U64;
    case RT_TENSOR_S64:
        return RT_BULK_S64;
    case RT_TENSOR_F16:
        return RT_BULK_F16;
    case RT_TENSOR_BF16:
        return RT_BULK_BF16;
    case RT_TENSOR_F64:
        return RT_BULK_F64;
    case RT_TENSOR_U32:
        return RT_BULK_U32;
    default:
        return RT_BULK_F32;
    }
}

static void store_chunk(const struct copy *copy, const struct chunk *chunk)
{
    uint8_t bytes[CHUNK_BYTES] __attribute__((aligned(CHUNK_BYTES)));
    for (uint32_t i = 0; i < 2; i++)
        __builtin_memcpy(bytes + FLIP_HALF_BYTES * i, half_at(copy, chunk->offset, i),
                         FLIP_HALF_BYTES);
    if (copy->map->type == RT_TENSOR_B6X16)
        pack_six_bits(bytes);
    if (copy->action == RT_TENSOR_STORE)
        for (uint32_t i = chunk->low; i < chunk->high; i++)
            chunk->global[i] = bytes[i];
    else
        rt_bulk_reduce(chunk->global + chunk->low, bytes + chunk->low, chunk->high - chunk->low,
                       copy->op, reduction_type(copy->map->type));
}

/* Chunks that are wholly the tensor's, and copied as they are, are most. */
static bool copy_whole(const struct copy *copy, const struct chunk *chunk)
{
    if (chunk->low != 0 || chunk->high != CHUNK_BYTES || copy->action == RT_TENSOR_REDUCE ||
        is_converted(copy->map->type))
        return false;
    for (uint32_t i = 0; i < CHUNK_BYTES; i += FLIP_HALF_BYTES) {
        uint8_t *shared = half_at(copy, chunk->offset, i / FLIP_HALF_BYTES);
        if (copy->action == RT_TENSOR_LOAD)
            __builtin_memcpy(shared, chunk->global + i, FLIP_HALF_BYTES);
        else
            __builtin_memcpy(chunk->global + i, shared, FLIP_HALF_BYTES);
    }
    return true;
}

static void do_chunk(const struct copy *copy, const struct chunk *chunk)
{
    if (copy_whole(copy, chunk))
        return;
    if (copy->action == RT_TENSOR_LOAD)
        load_chunk(copy, chunk);
    else
        store_chunk(copy, chunk);
}

/* ---- rows ---- */

static bool is_inside(const struct rt_tensor_map *map, const struct place *place,
                      uint32_t dimension)
{
    return place->at[dimension] >= 0 && place->at[dimension] <= (int64_t)map->last[dimension];
}

/* Where the row would begin that has the place; whether there is one. */
static uint64_t row_address(const struct rt_tensor_map *map, const struct place *place,
                            bool *is_there)
{
    uint64_t address = map->address;
    *is_there = true;
    for (uint32_t i = 1; i < map->rank; i++) {
        *is_there = *is_there && is_inside(map, place, i);
        address += (uint64_t)place->at[i] * map->strides[i - 1];
    }
    return address;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void widen_range(struct copy *copy, uint64_t first, uint64_t end)
{
    if (copy->first == 0 || first < copy->first)
        copy->first = first;
    if (end - 1 > copy->last)
        copy->last = end - 1;
}

/* So many units from the place on. */
static void do_run(struct copy *copy, const struct place *place, uint32_t units)
{
    const struct rt_tensor_map *map = copy->map;
    int64_t unit_bytes = copy->unit.global_bytes;
    int64_t size = ((int64_t)map->last[0] + 1) / copy->unit.elements;
    bool is_there;
    uint64_t address = row_address(map, place, &is_there);
    address += (uint64_t)(place->at[0] * unit_bytes);
    int64_t bytes = units * unit_bytes;
    int64_t low = clamp(-place->at[0] * unit_bytes, 0, bytes);
    int64_t high = is_there ? clamp((size - place->at[0]) * unit_bytes, low, bytes) : low;
    uint32_t shared_bytes = units * copy->unit.shared_bytes;
    if (copy->only_range) {
        if (low < high)
            widen_range(copy, address + (uint64_t)low, address + (uint64_t)high);
        return;
    }
    bool is_padded = rt_tensor_is_padded(map->type);
    int64_t step = is_padded ? unit_bytes : CHUNK_BYTES;
    for (int64_t at = 0; at < bytes; at += step) {
        struct chunk chunk = {
            .global = (uint8_t *)(uintptr_t)(address + (uint64_t)at),
            .bytes = (uint32_t)step,
            .low = (uint32_t)clamp(low - at, 0, step),
            .high = (uint32_t)clamp(high - at, 0, step),
            .offset = copy->done + (uint32_t)(at / step) * CHUNK_BYTES,
        };
        do_chunk(copy, &chunk);
    }
    copy->done += shared_bytes;
}

/* ---- tiles ---- */

static uint32_t step_of(const struct rt_tensor_map *map, uint32_t dimension)
{
    bool is_fixed = dimension == 0 && map->interleave == RT_TENSOR_INTERLEAVE_NONE;
    return is_fixed ? 1 : map->steps[dimension];
}

static uint32_t count_of(const struct rt_tensor_map *map, uint32_t dimension)
{
    uint32_t units = dimension == 0 ? rt_tensor_inner_units(map) : map->box[dimension];
    return (units + step_of(map, dimension) - 1) / step_of(map, dimension);
}

/* The tile's first and last units that the tensor has, along each dimension: they decide. */
static void find_tile_range(struct copy *copy, const struct place *corner)
{
    const struct rt_tensor_map *map = copy->map;
    uint64_t first = map->address;
    uint64_t last = map->address + copy->unit.global_bytes;
    for (uint32_t i = 0; i < map->rank; i++) {
        int64_t step = step_of(map, i);
        int64_t units = (int64_t)map->last[i] + 1;
        uint64_t stride = i == 0 ? copy->unit.global_bytes : map->strides[i - 1];
        if (i == 0)
            units /= copy->unit.elements;
        int64_t skipped = corner->at[i] < 0 ? (-corner->at[i] + step - 1) / step : 0;
        int64_t count = (units - 1 - corner->at[i]) / step + 1;
        count = corner->at[i] >= units ? 0 : count > count_of(map, i) ? count_of(map, i) : count;
        if (skipped >= count)
            return;
        first += (uint64_t)(corner->at[i] + skipped * step) * stride;
        last += (uint64_t)(corner->at[i] + (count - 1) * step) * stride;
    }
    widen_range(copy, first, last);
}

static void do_row(struct copy *copy, const struct place *place)
{
    uint32_t units = count_of(copy->map, 0);
    uint32_t step = step_of(copy->map, 0);
    struct place at = *place;
    if (step == 1) {
        do_run(copy, &at, units);
        return;
    }
    for (uint32_t i = 0; i < units; i++, at.at[0] += step)
        do_run(copy, &at, 1);
}

static void do_tile(struct copy *copy, const struct place *corner)
{
    const struct rt_tensor_map *map = copy->map;
    uint32_t index[RT_TENSOR_RANK_MAX] = {0};
    for (;;) {
        struct place place = *corner;
        for (uint32_t i = 1; i < map->rank; i++)
            place.at[i] += (int64_t)index[i] * step_of(map, i);
        do_row(copy, &place);
        uint32_t i = 1;
        while (i < map->rank && ++index[i] == count_of(map, i))
            index[i++] = 0;
        if (i >= map->rank)
            return;
    }
}

/* One coordinate of dimension 0 and four of dimension 1. */
static void do_four_rows(struct copy *copy, const struct place *coordinates)
{
    for (uint32_t i = 0; i < GATHERED_ROWS; i++) {
        struct place place = {{coordinates->at[0], coordinates->at[1 + i]}};
        do_row(copy, &place);
    }
}

/* ---- im2col ---- */

/* Of dimensions W, H, D the first, and how many there are. */
static uint32_t first_of_space(const struct rt_tensor_map *map)
{
    return map->interleave == RT_TENSOR_INTERLEAVE_NONE ? 1 : 0;
}

/* The next pixel of the bounding box, which goes on in the next image. wide: with H and D as they
 * are, and the box shifted. */
static void next_pixel(const struct rt_tensor_map *map, struct place *place, bool is_wide,
                       uint32_t shift)
{
    uint32_t first = first_of_space(map);
    uint32_t count = is_wide ? 1u : map->rank - 2u;
    for (uint32_t i = 0; i < count; i++) {
        int64_t *at = &place->at[first + i];
        *at += map->steps[first + i];
        if (*at <= (int64_t)map->last[first + i] + map->upper[i] + shift)
            return;
        *at = (int64_t)map->lower[i] + shift;
    }
    place->at[map->rank - 1]++;
}

static void do_pixel(struct copy *copy, const struct place *base, uint64_t request)
{
    const struct rt_tensor_map *map = copy->map;
    uint32_t first = first_of_space(map);
    struct place place = *base;
    for (uint32_t i = 0; i + 2 < map->rank; i++)
        place.at[first + i] += offset_of(request, i);
    do_run(copy, &place, first == 1 ? rt_tensor_inner_units(map) : 1);
}

static void do_column(struct copy *copy, const struct place *start, uint64_t request)
{
    struct place place = *start;
    for (uint32_t i = 0; i < copy->map->pixels; i++) {
        do_pixel(copy, &place, request);
        next_pixel(copy->map, &place, false, 0);
    }
}

/* Interleaved layouts have slice after slice of all pixels. */
static void do_im2col(struct copy *copy, const struct place *start, uint64_t request)
{
    const struct rt_tensor_map *map = copy->map;
    struct place place = *start;
    uint32_t slices = first_of_space(map) == 1 ? 1 : rt_tensor_inner_units(map);
    for (uint32_t i = 0; i < slices; i++) {
        do_column(copy, &place, request);
        place.at[map->rank - 2]++;
    }
}

/* The pixels behind the last one in its row, also outside of the bounding box. */
static void do_halo(struct copy *copy, const struct place *last, uint32_t halo)
{
    struct place place = *last;
    for (uint32_t i = 0; i < halo; i++) {
        place.at[1] += copy->map->steps[1];
        do_pixel(copy, &place, 0);
    }
}

static void do_wide(struct copy *copy, const struct place *start, uint64_t request)
{
    const struct rt_tensor_map *map = copy->map;
    uint32_t halo = offset_of(request, 0);
    uint32_t shift = offset_of(request, 1);
    uint32_t period = map->mode == RT_TENSOR_IM2COL_W128 ? HALO_PERIOD : map->pixels;
    struct place place = *start;
    place.at[1] += shift;
    for (uint32_t i = 1; i <= map->pixels; i++) {
        do_pixel(copy, &place, 0);
        if (i % period == 0)
            do_halo(copy, &place, halo);
        next_pixel(map, &place, true, shift);
    }
}

/* ---- whole copies ---- */

static void do_all(struct copy *copy, const struct place *place, uint64_t request)
{
    switch (access_of(request)) {
    case RT_TENSOR_ACCESS_TILE:
        do_tile(copy, place);
        break;
    case RT_TENSOR_ACCESS_FOUR_ROWS:
        do_four_rows(copy, place);
        break;
    case RT_TENSOR_ACCESS_IM2COL:
        do_im2col(copy, place, request);
        break;
    default:
        do_wide(copy, place, request);
        break;
    }
}

/* Coordinates of packed types count single elements. */
static struct place place_at(const struct rt_tensor_map *map, uint64_t c01, uint64_t c23,
                             uint32_t c4)
{
    struct place place = {
        {(int32_t)c01, (int32_t)(c01 >> 32), (int32_t)c23, (int32_t)(c23 >> 32), (int32_t)c4}};
    int64_t elements = rt_tensor_unit_of(map).elements;
    int64_t first = place.at[0];
    place.at[0] = (first - (first < 0 ? elements - 1 : 0)) / elements;
    return place;
}

static struct copy copy_of(const struct rt_tensor_map *map, uint64_t request)
{
    return (struct copy){
        .map = map,
        .unit = rt_tensor_unit_of(map),
        .swizzle = rt_tensor_xor_of(map->swizzle, map->atomicity),
        .action = action_of(request),
        .op = op_of(request),
        .flips = map->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B,
    };
}

uint64_t rt_tensor_edge(struct rt_thread *thread, uint64_t map_address, uint64_t c01, uint64_t c23,
                        uint32_t c4, uint64_t request)
{
    const struct rt_tensor_map *map = (const struct rt_tensor_map *)(uintptr_t)map_address;
    struct copy copy = copy_of(map, request);
    struct place place = place_at(map, c01, c23, c4);
    (void)thread;
    copy.only_range = true;
    if (access_of(request) == RT_TENSOR_ACCESS_TILE)
        find_tile_range(&copy, &place);
    else
        do_all(&copy, &place, request);
    return request & RT_TENSOR_LAST ? copy.last : copy.first;
}

void rt_tensor_copy(struct rt_thread *thread, uint64_t shared, uint64_t map_address, uint64_t c01,
                    uint64_t c23, uint32_t c4, uint64_t request)
{
    struct rt_tensor_map map = *(const struct rt_tensor_map *)(uintptr_t)map_address;
    struct copy copy = copy_of(&map, request);
    struct place place = place_at(&map, c01, c23, c4);
    (void)thread;
    copy.shared = (uint8_t *)(uintptr_t)shared;
    do_all(&copy, &place, request);
}

/* ---- which copies are possible ---- */

static uint32_t mode_of_access(uint32_t access)
{
    switch (access) {
    case RT_TENSOR_ACCESS_IM2COL:
        return RT_TENSOR_IM2COL;
    case RT_TENSOR_ACCESS_W:
        return RT_TENSOR_IM2COL_W;
    case RT_TENSOR_ACCESS_W128:
        return RT_TENSOR_IM2COL_W128;
    default:
        return RT_TENSOR_TILE;
    }
}

/* PTX ISA "cp.reduce.async.bulk.tensor": the types of each operation. */
static bool can_reduce(uint32_t type, uint32_t op)
{
    bool is_32 = type == RT_TENSOR_U32 || type == RT_TENSOR_S32;
    bool is_64 = type == RT_TENSOR_U64 || type == RT_TENSOR_S64;
    bool is_16 = type == RT_TENSOR_F16 || type == RT_TENSOR_BF16;
    switch (op) {
    case RT_BULK_ADD:
        return is_32 || is_64 || rt_tensor_is_float(type);
    case RT_BULK_MIN:
    case RT_BULK_MAX:
        return is_32 || is_64 || is_16;
    case RT_BULK_INC:
    case RT_BULK_DEC:
        return type == RT_TENSOR_U32;
    default:
        return is_32 || is_64;
    }
}

/* Some layouts have one direction only. */
static bool can_go(const struct rt_tensor_map *map, uint64_t request)
{
    bool is_load = action_of(request) == RT_TENSOR_LOAD;
    if (action_of(request) == RT_TENSOR_REDUCE && !can_reduce(map->type, op_of(request)))
        return false;
    if (map->type == RT_TENSOR_B4X16_P64 || map->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B)
        return is_load;
    return map->type != RT_TENSOR_B6X16 || map->atomicity != RT_TENSOR_ATOMICITY_64B || !is_load;
}

static bool is_possible(const struct rt_tensor_map *map, uint64_t request)
{
    bool has_four_rows = access_of(request) == RT_TENSOR_ACCESS_FOUR_ROWS;
    return rt_tensor_map_is_valid(map) && map->mode == mode_of_access(access_of(request)) &&
           map->rank == rank_of(request) && can_go(map, request) &&
           (!has_four_rows || (map->box[1] == 1 && map->interleave == RT_TENSOR_INTERLEAVE_NONE));
}

uint32_t rt_tensor_bytes(struct rt_thread *thread, uint64_t map_address, uint64_t request)
{
    const struct rt_tensor_map *map = (const struct rt_tensor_map *)(uintptr_t)map_address;
    (void)thread;
    if (!is_possible(map, request))
        return 0;
    uint32_t halo = offset_of(request, 0);
    uint32_t row = rt_tensor_inner_units(map) * rt_tensor_unit_of(map).shared_bytes;
    switch (access_of(request)) {
    case RT_TENSOR_ACCESS_FOUR_ROWS:
        return GATHERED_ROWS * row;
    case RT_TENSOR_ACCESS_IM2COL:
        return map->pixels * row;
    case RT_TENSOR_ACCESS_W:
        return (map->pixels + halo) * row;
    case RT_TENSOR_ACCESS_W128:
        return (map->pixels + map->pixels / HALO_PERIOD * halo) * row;
    default:
        break;
    }
    uint64_t bytes = rt_tensor_unit_of(map).shared_bytes;
    for (uint32_t i = 0; i < map->rank; i++)
        bytes *= count_of(map, i);
    return bytes > INT32_MAX ? 0 : (uint32_t)bytes;
}
