/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays through the driver API: what can be made, and copies of all kinds from and to them.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_fixture.h"

#define FORMAT_U8    0x01
#define FORMAT_FLOAT 0x20

#define WIDTH        37 /* in elements; no multiple of the pitch's alignment */
#define HEIGHT       5
#define DEPTH        3

static CUarray make_array(size_t width, size_t height, size_t depth, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {width, height, depth, FORMAT_FLOAT, 1, flags};
    CUarray array = NULL;
    OK(cuArray3DCreate_v2(&array, &descriptor));
    return array;
}

static void count_up(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)i;
}

static CUDA_MEMCPY3D whole(size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D){.WidthInBytes = WIDTH * sizeof(float), .Height = height, .Depth = depth};
}

Test(array, descriptors_come_back_as_given)
{
    make_context();
    CUDA_ARRAY_DESCRIPTOR plane = {64, 32, FORMAT_U8, 4};
    CUDA_ARRAY_DESCRIPTOR plane_got;
    CUDA_ARRAY3D_DESCRIPTOR got;
    CUarray array;
    OK(cuArrayCreate_v2(&array, &plane));
    OK(cuArrayGetDescriptor_v2(&plane_got, array));
    cr_expect_arr_eq(&plane_got, &plane, sizeof plane);
    OK(cuArray3DGetDescriptor_v2(&got, array));
    cr_expect_eq(got.Width, 64);
    cr_expect_eq(got.Height, 32);
    cr_expect_eq(got.Depth, 0);
    cr_expect_eq(got.NumChannels, 4);
    OK(cuArrayDestroy(array));

    CUDA_ARRAY3D_DESCRIPTOR layers = {16, 0, 7, FORMAT_FLOAT, 2, 1 /* layered */};
    OK(cuArray3DCreate_v2(&array, &layers));
    OK(cuArray3DGetDescriptor_v2(&got, array));
    cr_expect_eq(got.Depth, 7);
    cr_expect_eq(got.Height, 0);
    cr_expect_eq(got.Flags, 1);
    OK(cuArrayDestroy(array));
}

Test(array, every_kind_can_be_made)
{
    static const CUDA_ARRAY3D_DESCRIPTOR kinds[] = {
        {2048, 0, 0, FORMAT_FLOAT, 1, 0}, /* 1D */
        {64, 64, 0, FORMAT_FLOAT, 1, 2},  /* 2D, for surfaces */
        {16, 8, 4, 0x10, 4, 0},           /* 3D of four halves */
        {64, 0, 10, 0x03, 1, 1},          /* 1D layered */
        {64, 16, 10, 0x0a, 2, 1},         /* 2D layered */
        {32, 32, 6, FORMAT_U8, 4, 4},     /* cube map */
        {32, 32, 12, FORMAT_U8, 4, 5},    /* layered cube map */
        {64, 64, 0, FORMAT_FLOAT, 1, 8},  /* for gathers */
        {64, 64, 0, 0xc5, 4, 0},          /* 4 normalised 16-bit channels */
        {64, 64, 0, 0x50, 4, 0},          /* 10, 10, 10 and 2 bits */
    };
    make_context();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CUarray array = NULL;
        EXPECT(CRT_SUCCESS, cuArray3DCreate_v2(&array, &kinds[i]));
        cr_expect_not_null(array, "row %zu", i);
        EXPECT(CRT_SUCCESS, cuArrayDestroy(array));
    }
}

Test(array, a_destroyed_array_is_no_handle_any_more)
{
    make_context();
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    CUarray array = make_array(8, 8, 0, 0);
    OK(cuArrayDestroy(array));
    EXPECT(CRT_INVALID_HANDLE, cuArrayDestroy(array));
    EXPECT(CRT_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&descriptor, array));
    EXPECT(CRT_INVALID_HANDLE, cuMemcpyHtoA_v2(array, 0, &descriptor, 4));
}

Test(array, arrays_end_with_their_context)
{
    CUcontext ctx;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    CUarray array = make_array(8, 8, 0, 0);
    OK(cuCtxDestroy_v2(ctx));
    make_context();
    EXPECT(CRT_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&descriptor, array));
}

Test(array, bytes_run_from_row_to_row)
{
    make_context();
    float in[WIDTH * HEIGHT];
    float out[WIDTH * HEIGHT] = {0};
    CUdeviceptr device;
    count_up(in, WIDTH * HEIGHT);
    CUarray array = make_array(WIDTH, HEIGHT, 0, 0);
    CUarray other = make_array(WIDTH + 4, HEIGHT, 0, 0);
    OK(cuMemAlloc_v2(&device, sizeof in));
    OK(cuMemcpyHtoA_v2(array, 0, in, sizeof in));

    /* From the middle of a row to the middle of another. */
    OK(cuMemcpyAtoH_v2(out, array, 10 * sizeof(float), (2 * WIDTH + 3) * sizeof(float)));
    cr_expect_arr_eq(out, in + 10, (2 * WIDTH + 3) * sizeof(float));

    OK(cuMemcpyAtoA_v2(other, 4 * sizeof(float), array, 0, sizeof in));
    OK(cuMemcpyAtoD_v2(device, other, 4 * sizeof(float), sizeof in));
    OK(cuMemcpyDtoH_v2(out, device, sizeof in));
    cr_expect_arr_eq(out, in, sizeof in);

    OK(cuMemsetD8_v2(device, 0, sizeof in));
    OK(cuMemcpyDtoA_v2(array, 0, device, WIDTH * sizeof(float)));
    OK(cuMemcpyAtoH_v2(out, array, 0, sizeof in));
    cr_expect_eq(out[WIDTH - 1], 0.f);
    cr_expect_eq(out[WIDTH], (float)WIDTH);
    OK(cuArrayDestroy(array));
    OK(cuArrayDestroy(other));
}

Test(array, bytes_go_both_ways_in_a_stream_and_in_the_threads_own)
{
    make_context();
    float in[WIDTH];
    float out[WIDTH] = {0};
    CUstream stream;
    CUdeviceptr device;
    count_up(in, WIDTH);
    CUarray array = make_array(WIDTH, 0, 0, 0);
    CUarray other = make_array(WIDTH, 0, 0, 0);
    OK(cuMemAlloc_v2(&device, sizeof in));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemcpyHtoAAsync_v2(array, 0, in, sizeof in, stream));
    OK(cuMemcpyAtoHAsync_v2(out, array, 0, sizeof out, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_arr_eq(out, in, sizeof in);

    memset(out, 0, sizeof out);
    OK(cuMemcpyHtoAAsync_v2_ptsz(array, 0, in, sizeof in, 0));
    OK(cuMemcpyAtoA_v2_ptds(other, 0, array, 0, sizeof in));
    OK(cuMemcpyAtoD_v2_ptds(device, other, 0, sizeof in));
    OK(cuMemcpyHtoA_v2_ptds(other, 0, out, sizeof out));
    OK(cuMemcpyDtoA_v2_ptds(other, 0, device, sizeof in));
    OK(cuMemcpyAtoH_v2_ptds(out, other, 0, sizeof out));
    cr_expect_arr_eq(out, in, sizeof in);
    memset(out, 0, sizeof out);
    OK(cuMemcpyAtoHAsync_v2_ptsz(out, other, 0, sizeof out, 0));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    cr_expect_arr_eq(out, in, sizeof in);
}

Test(array, boxes_are_copied_between_all_places)
{
    make_context();
    size_t bytes = WIDTH * HEIGHT * DEPTH * sizeof(float);
    float *in = malloc(bytes);
    float *out = calloc(1, bytes);
    CUdeviceptr device;
    count_up(in, WIDTH * HEIGHT * DEPTH);
    CUarray first = make_array(WIDTH, HEIGHT, DEPTH, 0);
    CUarray second = make_array(WIDTH, HEIGHT, DEPTH, 1);
    OK(cuMemAlloc_v2(&device, bytes));

    CUDA_MEMCPY3D to_first = whole(HEIGHT, DEPTH);
    to_first.srcMemoryType = CU_MEMORYTYPE_HOST;
    to_first.srcHost = in;
    to_first.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    to_first.dstArray = first;
    OK(cuMemcpy3D_v2(&to_first));
    CUDA_MEMCPY3D to_second = whole(HEIGHT, DEPTH);
    to_second.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    to_second.srcArray = first;
    to_second.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    to_second.dstArray = second;
    OK(cuMemcpy3DAsync_v2(&to_second, 0));
    CUDA_MEMCPY3D to_device = whole(HEIGHT, DEPTH);
    to_device.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    to_device.srcArray = second;
    to_device.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    to_device.dstDevice = device;
    OK(cuMemcpy3D_v2(&to_device));
    OK(cuMemcpyDtoH_v2(out, device, bytes));
    cr_expect_arr_eq(out, in, bytes);
    free(in);
    free(out);
}

Test(array, a_part_of_an_array_is_copied_by_its_position)
{
    make_context();
    float in[WIDTH * HEIGHT * DEPTH];
    float out[2 * 2 * 2] = {0};
    count_up(in, WIDTH * HEIGHT * DEPTH);
    CUarray array = make_array(WIDTH, HEIGHT, DEPTH, 0);
    CUDA_MEMCPY3D in_copy = whole(HEIGHT, DEPTH);
    in_copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    in_copy.srcHost = in;
    in_copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    in_copy.dstArray = array;
    OK(cuMemcpy3D_v2(&in_copy));
    CUDA_MEMCPY3D out_copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = array,
                              .srcXInBytes = 7 * sizeof(float),
                              .srcY = 2,
                              .srcZ = 1,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = out,
                              .WidthInBytes = 2 * sizeof(float),
                              .Height = 2,
                              .Depth = 2};
    OK(cuMemcpy3D_v2(&out_copy));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 2; y++)
            for (size_t x = 0; x < 2; x++)
                cr_expect_eq(out[(z * 2 + y) * 2 + x],
                             (float)(((z + 1) * HEIGHT + y + 2) * WIDTH + x + 7));

    /* One beyond in each direction. */
    out_copy.srcXInBytes = (WIDTH - 1) * sizeof(float);
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&out_copy));
    out_copy.srcXInBytes = 0;
    out_copy.srcY = HEIGHT - 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&out_copy));
    out_copy.srcY = 0;
    out_copy.srcZ = DEPTH - 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&out_copy));
    out_copy.srcZ = 0;
    out_copy.srcXInBytes = 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&out_copy));
}

Test(array, two_dimensional_copies_take_arrays)
{
    make_context();
    unsigned char in[4][16];
    unsigned char out[4][16] = {0};
    for (size_t i = 0; i < sizeof in; i++)
        ((unsigned char *)in)[i] = (unsigned char)i;
    CUDA_ARRAY_DESCRIPTOR descriptor = {16, 4, FORMAT_U8, 1};
    CUarray array;
    OK(cuArrayCreate_v2(&array, &descriptor));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 16,
                          .Height = 4};
    OK(cuMemcpy2D_v2(&copy));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 16,
                          .WidthInBytes = 16,
                          .Height = 4};
    OK(cuMemcpy2DUnaligned_v2(&back));
    cr_expect_arr_eq(out, in, sizeof in);
    memset(out, 0, sizeof out);
    OK(cuMemcpy2DAsync_v2(&back, 0));
    OK(cuCtxSynchronize());
    cr_expect_arr_eq(out, in, sizeof in);
}

Test(array, mip_levels_are_arrays_of_half_the_size)
{
    make_context();
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {64, 16, 0, FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR got;
    OK(cuMipmappedArrayCreate(&mipmap, &descriptor, 100));
    for (unsigned i = 0; i < 7; i++) {
        OK(cuMipmappedArrayGetLevel(&level, mipmap, i));
        OK(cuArray3DGetDescriptor_v2(&got, level));
        cr_expect_eq(got.Width, 64u >> i);
        cr_expect_eq(got.Height, i < 4 ? 16u >> i : 1u);
    }
    EXPECT(CRT_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, 7));
    OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    float in[32] = {1.f, 2.f};
    float out[32] = {0};
    OK(cuMemcpyHtoA_v2(level, 0, in, sizeof in));
    OK(cuMemcpyAtoH_v2(out, level, 0, sizeof out));
    cr_expect_arr_eq(out, in, sizeof in);
    EXPECT(CRT_INVALID_HANDLE, cuArrayDestroy(level));
    OK(cuMipmappedArrayDestroy(mipmap));
    EXPECT(CRT_INVALID_HANDLE, cuMipmappedArrayDestroy(mipmap));
    EXPECT(CRT_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&got, level));
}

Test(array, what_no_array_has_is_refused)
{
    make_context();
    CUarray array = make_array(8, 8, 0, 0);
    CUarray plane;
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    EXPECT(CRT_INVALID_VALUE, cuArrayGetPlane(&plane, array, 0));
    EXPECT(CRT_INVALID_VALUE, cuArrayGetMemoryRequirements(&requirements, array, 0));
    EXPECT(CRT_INVALID_VALUE, cuArrayGetSparseProperties(&sparse, array));
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {8, 8, 0, FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmap;
    OK(cuMipmappedArrayCreate(&mipmap, &descriptor, 1));
    EXPECT(CRT_INVALID_VALUE, cuMipmappedArrayGetMemoryRequirements(&requirements, mipmap, 0));
    EXPECT(CRT_INVALID_VALUE, cuMipmappedArrayGetSparseProperties(&sparse, mipmap));
    descriptor.Flags = 0x40; /* sparse */
    EXPECT(CRT_NOT_SUPPORTED, cuArray3DCreate_v2(&array, &descriptor));
    descriptor.Flags = 0;
    descriptor.Format = 0xa5; /* packed */
    EXPECT(CRT_NOT_SUPPORTED, cuArray3DCreate_v2(&array, &descriptor));
}

static void expect_plane(CUarray whole, unsigned index, size_t width, size_t height,
                         unsigned channels)
{
    CUDA_ARRAY_DESCRIPTOR got = {0};
    CUarray plane = NULL;
    OK(cuArrayGetPlane(&plane, whole, index));
    OK(cuArrayGetDescriptor_v2(&got, plane));
    cr_expect_eq(got.Width, width);
    cr_expect_eq(got.Height, height);
    cr_expect_eq(got.NumChannels, channels);
    cr_expect_eq(got.Format, FORMAT_U8);
}

/* 4:2:0: both colours of four texels behind the brightness of all. */
Test(array, planes_of_a_picture_are_arrays)
{
    make_context();
    enum { NV12 = 0xb0, ACROSS = 6, DOWN = 4, BYTES = ACROSS * DOWN * 3 / 2 };
    CUarray array;
    CUarray colours = NULL;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {ACROSS, DOWN, 0, NV12, 3, 0};
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)(i + 1);
    OK(cuArray3DCreate_v2(&array, &descriptor));
    expect_plane(array, 0, ACROSS, DOWN, 1);
    expect_plane(array, 1, ACROSS / 2, DOWN / 2, 2);
    EXPECT(CRT_INVALID_VALUE, cuArrayGetPlane(&colours, array, 2));
    OK(cuMemcpyHtoA_v2(array, 0, in, BYTES));
    OK(cuArrayGetPlane(&colours, array, 1));
    OK(cuMemcpyAtoH_v2(out, colours, 0, BYTES / 3));
    cr_expect_arr_eq(out, in + BYTES * 2 / 3, BYTES / 3);
    EXPECT(CRT_INVALID_VALUE, cuMemcpyAtoH_v2(out, colours, 0, BYTES / 3 + 1));
    EXPECT(CRT_INVALID_HANDLE, cuArrayDestroy(colours));
    OK(cuArrayDestroy(array));
    EXPECT(CRT_INVALID_HANDLE, cuMemcpyAtoH_v2(out, colours, 0, 1));
}

Test(array, pictures_have_the_planes_of_their_format)
{
    make_context();
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {8, 4, 0, 0xa2, 3, 0}; /* NV16 */
    OK(cuArray3DCreate_v2(&array, &descriptor));
    expect_plane(array, 1, 4, 4, 2);
    OK(cuArrayDestroy(array));
    descriptor.Format = 0xb2; /* 4:4:4 in three planes */
    OK(cuArray3DCreate_v2(&array, &descriptor));
    expect_plane(array, 2, 8, 4, 1);
    OK(cuArrayDestroy(array));
    descriptor.Format = 0xb4; /* in two */
    OK(cuArray3DCreate_v2(&array, &descriptor));
    expect_plane(array, 1, 8, 4, 2);
    OK(cuArrayDestroy(array));
}

Test(array, impossible_pictures_are_refused)
{
    make_context();
    CUarray array;
    CUmipmappedArray mipmap;
    const CUDA_ARRAY3D_DESCRIPTOR right = {6, 4, 0, 0xb0, 3, 0};
    CUDA_ARRAY3D_DESCRIPTOR wrong = right;
    wrong.Width = 5;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &wrong));
    wrong = right;
    wrong.Height = 0;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &wrong));
    wrong = right;
    wrong.Depth = 2;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &wrong));
    wrong = right;
    wrong.NumChannels = 1;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &wrong));
    EXPECT(CRT_INVALID_VALUE, cuMipmappedArrayCreate(&mipmap, &right, 2));
}

/* Sizes are in texels; copies are of blocks, in bytes and rows of them. */
Test(array, compressed_texels_are_copied_in_blocks)
{
    make_context();
    enum {
        BC1 = 0x91,
        BC7_SRGB = 0x9e,
        BLOCKS = 5,
        BLOCK_ROWS = 2,
        BYTES = BLOCKS * BLOCK_ROWS * 8
    };
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {18, 7, 0, BC1, 4, 0};
    CUDA_ARRAY3D_DESCRIPTOR got;
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)(i + 1);
    OK(cuArray3DCreate_v2(&array, &descriptor));
    OK(cuArray3DGetDescriptor_v2(&got, array));
    cr_expect_eq(got.Width, 18);
    cr_expect_eq(got.Height, 7);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = BLOCKS * 8,
                          .Height = BLOCK_ROWS,
                          .Depth = 1};
    OK(cuMemcpy3D_v2(&copy));
    OK(cuMemcpyAtoH_v2(out, array, 0, BYTES));
    cr_expect_arr_eq(in, out, BYTES);
    copy.Height = BLOCK_ROWS + 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&copy));
    copy.Height = 1;
    copy.WidthInBytes = 4;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&copy));
    copy.WidthInBytes = (BLOCKS + 1) * 8;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3D_v2(&copy));
    CUmipmappedArray mipmap;
    descriptor = (CUDA_ARRAY3D_DESCRIPTOR){16, 16, 0, BC7_SRGB, 4, 0};
    OK(cuMipmappedArrayCreate(&mipmap, &descriptor, 5));
    OK(cuMipmappedArrayGetLevel(&array, mipmap, 4));
    OK(cuMemcpyHtoA_v2(array, 0, in, 16));
    descriptor.Height = 0;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &descriptor));
    descriptor.Height = 16;
    descriptor.NumChannels = 5;
    EXPECT(CRT_INVALID_VALUE, cuArray3DCreate_v2(&array, &descriptor));
}

Test(array, batches_take_arrays_with_extents_in_elements)
{
    make_context();
    CUstream stream;
    float in[WIDTH * HEIGHT];
    float out[WIDTH * HEIGHT] = {0};
    count_up(in, WIDTH * HEIGHT);
    OK(cuStreamCreate(&stream, 0));
    CUarray first = make_array(WIDTH, HEIGHT, 0, 0);
    CUarray second = make_array(WIDTH, HEIGHT, 0, 0);
    CUDA_MEMCPY3D_BATCH_OP op = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                 .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY},
                                 .extent = {WIDTH, HEIGHT, 1},
                                 .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
    op.src.op.ptr.ptr = (uintptr_t)in;
    op.dst.op.array.array = first;
    OK(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    op.src = op.dst;
    op.dst.op.array.array = second;
    OK(cuMemcpy3DBatchAsync_v2_ptsz(1, &op, 0, stream));
    op.src = op.dst;
    op.dst = (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_POINTER};
    op.dst.op.ptr.ptr = (uintptr_t)out;
    size_t failed = 7;
    OK(cuMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_arr_eq(out, in, sizeof in);
    cr_expect_eq(failed, SIZE_MAX);
    op.extent.height = HEIGHT + 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy3DBatchAsync_ptsz(1, &op, &failed, 0, stream));
    cr_expect_eq(failed, 0);
}
