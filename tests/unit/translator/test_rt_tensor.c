/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/tensor_copy.c against the tables and examples of the manual (PTX ISA "Tensors").
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "kernel_abi/rt.h"
#include "translator/rt/bulk.h"
#include "translator/rt/tensor.h"

#define LINE  128
#define CELLS 8 /* of 16 bytes in a line */

static uint8_t global[1 << 16] __attribute__((aligned(1024)));
static uint8_t shared[1 << 14] __attribute__((aligned(1024)));

static void fill(void)
{
    for (size_t i = 0; i < sizeof global; i++)
        global[i] = (uint8_t)(i / 16 + (i % 16 >= 8 ? 0x80 : 0));
    memset(shared, 0xee, sizeof shared);
}

static struct rt_tensor_map matrix(uint32_t columns, uint32_t rows)
{
    return (struct rt_tensor_map){
        .mark = RT_TENSOR_MAP_MARK,
        .rank = 2,
        .type = RT_TENSOR_U8,
        .steps = {1, 1, 1, 1, 1},
        .address = (uintptr_t)global,
        .strides = {columns},
        .last = {columns - 1, rows - 1},
        .box = {columns, rows},
    };
}

/* Returns the bytes that the copy says it has. */
static uint32_t load(const struct rt_tensor_map *map, int32_t c0, int32_t c1, int32_t c2,
                     int32_t c3, enum rt_tensor_access access, uint64_t offsets)
{
    uint64_t request = rt_tensor_request(RT_TENSOR_LOAD, access, map->rank, RT_BULK_ADD) | offsets;
    uint64_t c01 = (uint32_t)c0 | (uint64_t)(uint32_t)c1 << 32;
    uint64_t c23 = (uint32_t)c2 | (uint64_t)(uint32_t)c3 << 32;
    uint32_t bytes = rt_tensor_bytes(NULL, (uintptr_t)map, request);
    if (bytes != 0)
        rt_tensor_copy(NULL, (uintptr_t)shared, (uintptr_t)map, c01, c23, 0, request);
    return bytes;
}

/* "Swizzling Modes": where the cells of a line are, line after line; the pattern repeats. */
static const struct {
    uint8_t swizzle;
    uint8_t atomicity;
    unsigned lines;
    const char *cells;
} patterns[] = {
    {RT_TENSOR_SWIZZLE_NONE, 0, 1, "01234567"},
    {RT_TENSOR_SWIZZLE_32B, 0, 2, "01234567 10325476"},
    {RT_TENSOR_SWIZZLE_96B, 0, 2, "01234567 10325476"},
    {RT_TENSOR_SWIZZLE_64B, 0, 4, "01234567 10325476 23016745 32107654"},
    {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_16B, 8,
     "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210"},
    {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_32B, 4, "01234567 23016745 45670123 67452301"},
    {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_32B_FLIP_8B, 4,
     "01234567 23016745 45670123 67452301"},
    {RT_TENSOR_SWIZZLE_128B, RT_TENSOR_ATOMICITY_64B, 2, "01234567 45670123"},
};

Test(rt_tensor, swizzles_have_the_patterns_of_the_manual)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        uint32_t row = patterns[i].swizzle == RT_TENSOR_SWIZZLE_NONE
                           ? LINE
                           : rt_tensor_swizzle_bytes(patterns[i].swizzle);
        struct rt_tensor_map map = matrix(row, 16 * LINE / row);
        bool flips = patterns[i].atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B;
        map.swizzle = patterns[i].swizzle;
        map.atomicity = patterns[i].atomicity;
        fill();
        uint32_t bytes = load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_TILE, 0);
        cr_expect_eq(bytes, row * (16 * LINE / row));
        for (uint32_t cell = 0; cell < bytes / 16; cell++) {
            uint32_t line = cell / CELLS;
            uint32_t half = flips && line % 2 == 1 ? 0x80 : 0;
            uint32_t want =
                (uint32_t)(patterns[i]
                               .cells[line % patterns[i].lines * (CELLS + 1) + cell % CELLS] -
                           '0');
            if (line * CELLS + want >= bytes / 16)
                continue; /* the last line is not whole */
            cr_expect_eq(shared[16 * cell], (line * CELLS + want) | half, "pattern %zu, cell %u", i,
                         cell);
        }
    }
}

Test(rt_tensor, what_lies_outside_is_filled_and_counts)
{
    struct rt_tensor_map map = matrix(64, 4);
    map.type = RT_TENSOR_F16;
    map.last[0] = 31;
    map.box[0] = 32;
    map.fill = RT_TENSOR_FILL_NAN;
    fill();
    cr_expect_eq(load(&map, -1, -1, 0, 0, RT_TENSOR_ACCESS_TILE, 0), 4 * 64);
    for (unsigned i = 0; i < 66; i++)
        cr_expect_eq(shared[i], i % 2 == 0 ? 0xf7 : 0x7f, "byte %u", i);
    cr_expect(memcmp(shared + 66, global, 62) == 0);
    cr_expect(memcmp(shared + 130, global + 64, 62) == 0);
}

/* A tensor of C = 16, W = 9, H = 8, N = 4 bytes, as the example with traversal stride 2, where the
 * pixels are told by their number in memory. */
Test(rt_tensor, im2col_goes_round_in_the_bounding_box)
{
    static const int want[] = {/* w, h */ 5, 4, 7, 4, -1, 6, 1, 6, 3, 6, 5, 6, 7, 6,
                               -1,           -1};
    struct rt_tensor_map map = {
        .mark = RT_TENSOR_MAP_MARK,
        .mode = RT_TENSOR_IM2COL,
        .rank = 4,
        .type = RT_TENSOR_U8,
        .steps = {1, 2, 2, 1},
        .address = (uintptr_t)global,
        .strides = {16, 16 * 9, 16 * 9 * 8},
        .last = {15, 8, 7, 3},
        .lower = {-1, -1},
        .upper = {-1, -1},
        .channels = 16,
        .pixels = 8,
    };
    for (size_t i = 0; i < sizeof global; i++)
        global[i] = (uint8_t)(i / 16);
    cr_expect_eq(load(&map, 0, 5, 4, 1, RT_TENSOR_ACCESS_IM2COL, 0), 8 * 16);
    for (unsigned i = 0; i < 8; i++) {
        int w = want[2 * i];
        int h = want[2 * i + 1];
        int n = i == 7 ? 2 : 1;
        uint8_t pixel = w < 0 || h < 0 ? 0 : (uint8_t)((n * 8 + h) * 9 + w);
        cr_expect_eq(shared[16 * i], pixel, "pixel %u", i);
    }
    load(&map, 0, 5, 4, 1, RT_TENSOR_ACCESS_IM2COL, 1 | 2 << 16);
    cr_expect_eq(shared[0], (uint8_t)((8 + 6) * 9 + 6), "offsets are added");
}

Test(rt_tensor, a_map_must_be_one_for_the_instruction)
{
    struct rt_tensor_map map = matrix(128, 8);
    cr_expect_neq(load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_TILE, 0), 0);
    cr_expect_eq(load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_IM2COL, 0), 0);
    cr_expect_eq(load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_FOUR_ROWS, 0), 0, "boxes have one row");
    map.box[1] = 1;
    cr_expect_eq(load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_FOUR_ROWS, 0), 4 * 128);
    map.mark = 0;
    cr_expect_eq(load(&map, 0, 0, 0, 0, RT_TENSOR_ACCESS_TILE, 0), 0);
}
