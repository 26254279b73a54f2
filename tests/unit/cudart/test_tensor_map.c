/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps: what the driver takes, and each limit of the documentation. A row of a table is a
 * call that works but for one thing.
 */
#include <string.h>

#include "driver_fixture.h"
#include "kernel_abi/tensor_map.h"

/* The arguments of all functions; a row changes some of them. */
struct arguments {
    CUtensorMap *map;
    int type;
    cuuint32_t rank;
    cuuint64_t address;
    cuuint64_t sizes[5];
    cuuint64_t strides[4];
    cuuint32_t box[5];
    cuuint32_t steps[5];
    int lower[3];
    int upper[3];
    cuuint32_t channels;
    cuuint32_t pixels;
    int interleave;
    int mode;
    int swizzle;
    int promotion;
    int fill;
};

static CUtensorMap target;

/* f32, dimensions 64 x 32 x 16 x 8 x 4, boxes of 128 bytes. */
static struct arguments usual(void)
{
    return (struct arguments){
        .map = &target,
        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        .rank = 5,
        .address = 0x10000,
        .sizes = {64, 32, 16, 8, 4},
        .strides = {256, 8192, 131072, 1048576},
        .box = {32, 4, 2, 1, 1},
        .steps = {1, 1, 2, 1, 8},
        .lower = {-1, -1, -1},
        .upper = {-1, -1, 0},
        .channels = 32,
        .pixels = 64,
        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
    };
}

static CUresult encode_tiled(const struct arguments *a)
{
    return cuTensorMapEncodeTiled(a->map, a->type, a->rank, (void *)a->address, a->sizes,
                                  a->strides, a->box, a->steps, a->interleave, a->swizzle,
                                  a->promotion, a->fill);
}

static CUresult encode_im2col(const struct arguments *a)
{
    return cuTensorMapEncodeIm2col(a->map, a->type, a->rank, (void *)a->address, a->sizes,
                                   a->strides, a->lower, a->upper, a->channels, a->pixels, a->steps,
                                   a->interleave, a->swizzle, a->promotion, a->fill);
}

static CUresult encode_wide(const struct arguments *a)
{
    return cuTensorMapEncodeIm2colWide(a->map, a->type, a->rank, (void *)a->address, a->sizes,
                                       a->strides, a->lower[0], a->upper[0], a->channels, a->pixels,
                                       a->steps, a->interleave, a->mode, a->swizzle, a->promotion,
                                       a->fill);
}

/* A row: what is wanted of `encode` after the statements. */
#define ROW(wanted, encode, ...)                                                                   \
    do {                                                                                           \
        struct arguments a = usual();                                                              \
        __VA_ARGS__;                                                                               \
        CUresult got_ = encode(&a);                                                                \
        cr_expect_eq(got_, wanted, "%s after %s gave %d", #encode, #__VA_ARGS__, (int)got_);       \
    } while (0)
#define GOOD(encode, ...) ROW(CRT_SUCCESS, encode, __VA_ARGS__)
#define BAD(encode, ...)  ROW(CRT_INVALID_VALUE, encode, __VA_ARGS__)

static const struct rt_tensor_map *made(void)
{
    return (const struct rt_tensor_map *)(const void *)&target;
}

Test(tensor_map, nothing_works_before_the_driver_does)
{
    ROW(CRT_NOT_INITIALIZED, encode_tiled, (void)a);
    ROW(CRT_NOT_INITIALIZED, encode_im2col, (void)a);
    ROW(CRT_NOT_INITIALIZED, encode_wide, (void)a);
    EXPECT(CRT_NOT_INITIALIZED, cuTensorMapReplaceAddress(&target, NULL));
}

Test(tensor_map, a_tiled_map_has_what_was_asked_for)
{
    make_context();
    GOOD(encode_tiled, (void)a);
    cr_expect_eq(made()->mode, RT_TENSOR_TILE);
    cr_expect_eq(made()->rank, 5);
    cr_expect_eq(made()->type, RT_TENSOR_F32);
    cr_expect_eq(made()->address, 0x10000);
    cr_expect_eq(made()->last[1], 31);
    cr_expect_eq(made()->strides[3], 1048576);
    cr_expect_eq(made()->box[1], 4);
    cr_expect_eq(made()->steps[4], 8);
    cr_expect_eq(made()->swizzle, RT_TENSOR_SWIZZLE_128B);
    cr_expect_eq(made()->atomicity, RT_TENSOR_ATOMICITY_16B);
    GOOD(encode_tiled, a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
    cr_expect_eq(made()->atomicity, RT_TENSOR_ATOMICITY_64B);
    GOOD(encode_tiled, a.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64; a.box[0] = 16);
    cr_expect_eq(made()->type, RT_TENSOR_F64);
}

Test(tensor_map, arguments_common_to_all_have_their_ranges)
{
    make_context();
    BAD(encode_tiled, a.map = NULL);
    BAD(encode_tiled, a.map = (CUtensorMap *)(void *)((char *)&target + 32));
    BAD(encode_tiled, a.type = 16);
    BAD(encode_tiled, a.type = -1);
    BAD(encode_tiled, a.rank = 0);
    BAD(encode_tiled, a.rank = 6);
    BAD(encode_tiled, a.address = 8);
    GOOD(encode_tiled, a.address = 16);
    BAD(encode_tiled, a.sizes[2] = 0);
    BAD(encode_tiled, a.sizes[2] = (UINT64_C(1) << 32) + 1);
    GOOD(encode_tiled, a.sizes[2] = UINT64_C(1) << 32);
    BAD(encode_tiled, a.strides[0] = 264);
    BAD(encode_tiled, a.strides[3] = UINT64_C(1) << 40);
    GOOD(encode_tiled, a.strides[3] = (UINT64_C(1) << 40) - 16);
    BAD(encode_tiled, a.steps[1] = 0);
    BAD(encode_tiled, a.steps[1] = 9);
    BAD(encode_tiled, a.steps[1] = 257);
    GOOD(encode_tiled, a.steps[0] = 0);
    BAD(encode_tiled, a.interleave = 3);
    BAD(encode_tiled, a.swizzle = 7);
    BAD(encode_tiled, a.promotion = 4);
    GOOD(encode_tiled, a.promotion = 3);
    BAD(encode_tiled, a.fill = 2);
    GOOD(encode_tiled, a.fill = 1);
    BAD(encode_tiled, a.fill = 1; a.type = CU_TENSOR_MAP_DATA_TYPE_INT32);
}

Test(tensor_map, arrays_must_be_there)
{
    make_context();
    struct arguments a = usual();
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeTiled(&target, a.type, 5, NULL, NULL, a.strides,
                                                     a.box, a.steps, 0, 3, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeTiled(&target, a.type, 5, NULL, a.sizes, NULL, a.box,
                                                     a.steps, 0, 3, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeTiled(&target, a.type, 5, NULL, a.sizes, a.strides,
                                                     NULL, a.steps, 0, 3, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeTiled(&target, a.type, 5, NULL, a.sizes, a.strides,
                                                     a.box, NULL, 0, 3, 0, 0));
    OK(cuTensorMapEncodeTiled(&target, a.type, 1, NULL, a.sizes, NULL, a.box, a.steps, 0, 3, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeIm2col(&target, a.type, 5, NULL, a.sizes, a.strides,
                                                      NULL, a.upper, 32, 64, a.steps, 0, 3, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapEncodeIm2col(&target, a.type, 5, NULL, a.sizes, a.strides,
                                                      a.lower, NULL, 32, 64, a.steps, 0, 3, 0, 0));
}

Test(tensor_map, boxes_fit_elements_and_swizzles)
{
    make_context();
    BAD(encode_tiled, a.box[1] = 0);
    BAD(encode_tiled, a.box[1] = 257);
    GOOD(encode_tiled, a.box[1] = 256);
    BAD(encode_tiled, a.box[0] = 30);
    BAD(encode_tiled, a.box[0] = 36);
    GOOD(encode_tiled, a.box[0] = 36; a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    BAD(encode_tiled, a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    GOOD(encode_tiled, a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; a.box[0] = 16);
    BAD(encode_tiled, a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.box[0] = 16);
    GOOD(encode_tiled, a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.box[0] = 8);
}

Test(tensor_map, interleaved_layouts_have_slices)
{
    make_context();
    GOOD(encode_tiled, a.interleave = 1);
    BAD(encode_tiled, a.interleave = 1; a.rank = 2);
    BAD(encode_tiled, a.interleave = 1; a.steps[0] = 0);
    BAD(encode_tiled, a.interleave = 2);
    GOOD(encode_tiled, a.interleave = 2; a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
    BAD(encode_tiled, a.interleave = 2; a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.address = 16);
    BAD(encode_tiled, a.interleave = 2; a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.strides[0] = 272);
}

#define PADDED(t)                                                                                  \
    a.type = (t);                                                                                  \
    a.sizes[0] = 256;                                                                              \
    a.box[0] = 128

Test(tensor_map, packed_types_have_limits_of_their_own)
{
    make_context();
    for (int type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
         type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B; type++) {
        GOOD(encode_tiled, PADDED(type));
        BAD(encode_tiled, PADDED(type); a.address = 16);
        BAD(encode_tiled, PADDED(type); a.sizes[0] = 192);
        BAD(encode_tiled, PADDED(type); a.strides[1] = 8208);
        BAD(encode_tiled, PADDED(type); a.box[0] = 64);
        BAD(encode_tiled, PADDED(type); a.interleave = 1);
        BAD(encode_tiled, PADDED(type); a.fill = 1);
        BAD(encode_tiled, PADDED(type); a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
        BAD(encode_tiled, PADDED(type); a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
        GOOD(encode_tiled, PADDED(type); a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
        GOOD(encode_tiled, PADDED(type); a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    }
    GOOD(encode_tiled, PADDED(15); a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
    BAD(encode_tiled, PADDED(14); a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
    GOOD(encode_tiled, PADDED(13));
    BAD(encode_tiled, PADDED(13); a.sizes[0] = 255);
    BAD(encode_tiled, PADDED(13); a.box[0] = 16);
}

Test(tensor_map, corners_and_columns_of_im2col_have_ranges)
{
    make_context();
    GOOD(encode_im2col, (void)a);
    cr_expect_eq(made()->mode, RT_TENSOR_IM2COL);
    cr_expect_eq(made()->lower[0], -1);
    cr_expect_eq(made()->upper[2], 0);
    cr_expect_eq(made()->pixels, 64);
    BAD(encode_im2col, a.rank = 2);
    GOOD(encode_im2col, a.lower[0] = -16; a.upper[0] = 15);
    BAD(encode_im2col, a.lower[0] = -17);
    BAD(encode_im2col, a.upper[2] = 16);
    GOOD(encode_im2col, a.rank = 4; a.lower[0] = -128; a.upper[1] = 127);
    BAD(encode_im2col, a.rank = 4; a.lower[0] = -129);
    GOOD(encode_im2col, a.rank = 3; a.lower[0] = -32768; a.upper[0] = 32767);
    BAD(encode_im2col, a.rank = 3; a.lower[0] = -32769);
    BAD(encode_im2col, a.rank = 3; a.lower[0] = 20; a.upper[0] = -20);
    BAD(encode_im2col, a.channels = 0);
    BAD(encode_im2col, a.channels = 257; a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    GOOD(encode_im2col, a.channels = 256; a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    BAD(encode_im2col, a.channels = 64);
    BAD(encode_im2col, a.channels = 2);
    BAD(encode_im2col, a.pixels = 0);
    BAD(encode_im2col, a.pixels = 1025);
    BAD(encode_im2col, a.pixels = 65536 + 64);
    GOOD(encode_im2col, a.pixels = 1024);
}

Test(tensor_map, wide_maps_are_swizzled_and_not_interleaved)
{
    make_context();
    GOOD(encode_wide, (void)a);
    cr_expect_eq(made()->mode, RT_TENSOR_IM2COL_W);
    GOOD(encode_wide, a.mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128; a.pixels = 0);
    cr_expect_eq(made()->mode, RT_TENSOR_IM2COL_W128);
    cr_expect_eq(made()->pixels, 128);
    BAD(encode_wide, a.mode = 2);
    BAD(encode_wide, a.rank = 2);
    BAD(encode_wide, a.interleave = 1);
    BAD(encode_wide, a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE);
    BAD(encode_wide, a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; a.channels = 8);
    BAD(encode_wide, a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
    GOOD(encode_wide, a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; a.channels = 16);
    GOOD(encode_wide, a.lower[0] = -32768);
    BAD(encode_wide, a.lower[0] = -32769);
    BAD(encode_wide, a.upper[0] = 32768);
}

Test(tensor_map, an_address_is_replaced_if_it_is_aligned)
{
    make_context();
    GOOD(encode_tiled, (void)a);
    EXPECT(CRT_INVALID_VALUE, cuTensorMapReplaceAddress(NULL, (void *)0x20000));
    EXPECT(CRT_INVALID_VALUE, cuTensorMapReplaceAddress(&target, (void *)0x20008));
    cr_expect_eq(made()->address, 0x10000);
    OK(cuTensorMapReplaceAddress(&target, (void *)0x20000));
    cr_expect_eq(made()->address, 0x20000);
    GOOD(encode_tiled, a.interleave = 2; a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
    EXPECT(CRT_INVALID_VALUE, cuTensorMapReplaceAddress(&target, (void *)0x20010));
    memset(&target, 0, sizeof target);
    EXPECT(CRT_INVALID_VALUE, cuTensorMapReplaceAddress(&target, (void *)0x20000));
}
