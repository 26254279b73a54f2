/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays through the runtime API: channels, extents, and copies in elements and bytes.
 */
#include <string.h>

#include "cudart/driver/cuda_driver.h"
#include "runtime_fixture.h"

#define WIDTH  19 /* in elements of four floats */
#define HEIGHT 4
#define DEPTH  3
#define FLOATS (WIDTH * 4 * HEIGHT * DEPTH)

static const struct cudaChannelFormatDesc four_floats = {32, 32, 32, 32,
                                                         cudaChannelFormatKindFloat};
static const struct cudaChannelFormatDesc one_byte = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};

static cudaArray_t make_bytes(size_t width, size_t height)
{
    cudaArray_t array = NULL;
    RT_OK(cudaMallocArray(&array, &one_byte, width, height, 0));
    return array;
}

Test(rt_array, what_was_asked_for_is_told)
{
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent;
    unsigned flags = 99;
    cudaArray_t array;
    RT_OK(cudaMalloc3DArray(&array, &four_floats, (struct cudaExtent){16, 8, 5}, 1 /* layered */));
    RT_OK(cudaArrayGetInfo(&channels, &extent, &flags, array));
    cr_expect_arr_eq(&channels, &four_floats, sizeof channels);
    cr_expect_eq(extent.width, 16);
    cr_expect_eq(extent.height, 8);
    cr_expect_eq(extent.depth, 5);
    cr_expect_eq(flags, 1);
    RT_OK(cudaGetChannelDesc(&channels, array));
    cr_expect_eq(channels.w, 32);
    RT_OK(cudaFreeArray(array));
    RT_OK(cudaFreeArray(NULL));
    RT_EXPECT(400, cudaFreeArray(array));
}

/* Extents and positions are in texels, rows of the host in blocks. */
Test(rt_array, compressed_texels_are_copied_by_their_blocks)
{
    static const struct cudaChannelFormatDesc bc4 = {
        8, 0, 0, 0, cudaChannelFormatKindUnsignedBlockCompressed1 + 6};
    enum { BLOCKS = 5, BLOCK_ROWS = 2, BYTES = BLOCKS * BLOCK_ROWS * 8 };
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    struct cudaChannelFormatDesc got;
    cudaArray_t array;
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)(i + 1);
    RT_OK(cudaMallocArray(&array, &bc4, 18, 7, 0));
    RT_OK(cudaGetChannelDesc(&got, array));
    cr_expect_arr_eq(&got, &bc4, sizeof got);
    struct cudaMemcpy3DParms box = {.srcPtr = {in, BLOCKS * 8, BLOCKS, BLOCK_ROWS},
                                    .dstArray = array,
                                    .extent = {18, 7, 1},
                                    .kind = cudaMemcpyHostToDevice};
    RT_OK(cudaMemcpy3D(&box));
    RT_OK(cudaMemcpy2DFromArray(out, BLOCKS * 8, array, 0, 0, BLOCKS * 8, BLOCK_ROWS,
                                cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(in, out, BYTES);
    box.dstPos = (struct cudaPos){8, 4, 0};
    box.extent = (struct cudaExtent){4, 3, 1};
    RT_OK(cudaMemcpy3D(&box));
    RT_OK(cudaMemcpyFromArray(out, array, 0, 0, BYTES, cudaMemcpyDeviceToHost));
    memcpy(in + BLOCKS * 8 + 16, in, 8);
    cr_expect_arr_eq(in, out, BYTES);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    struct cudaMemcpy3DParms told;
    RT_OK(cudaGraphCreate(&graph, 0));
    RT_OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    RT_OK(cudaGraphMemcpyNodeGetParams(node, &told));
    cr_expect_eq(told.dstPos.x, 8);
    cr_expect_eq(told.dstPos.y, 4);
    cr_expect_eq(told.extent.width, 4);
    cr_expect_eq(told.extent.height, 4);
    RT_OK(cudaGraphDestroy(graph));
    RT_OK(cudaFreeArray(array));
}

Test(rt_array, every_kind_of_channel_comes_back)
{
    for (int kind = cudaChannelFormatKindUnsignedNormalized8X1;
         kind <= cudaChannelFormatKindSignedNormalized16X4; kind++) {
        int index = kind - cudaChannelFormatKindUnsignedNormalized8X1;
        int bits = index % 6 < 3 ? 8 : 16;
        struct cudaChannelFormatDesc asked = {bits, index % 3 > 0 ? bits : 0,
                                              index % 3 > 1 ? bits : 0, index % 3 > 1 ? bits : 0,
                                              kind};
        struct cudaChannelFormatDesc got;
        cudaArray_t array;
        RT_OK(cudaMallocArray(&array, &asked, 8, 8, 0));
        RT_OK(cudaGetChannelDesc(&got, array));
        cr_expect_eq(got.f, kind);
        RT_OK(cudaFreeArray(array));
    }
    for (int kind = cudaChannelFormatKindUnsignedBlockCompressed1;
         kind <= cudaChannelFormatKindUnsignedBlockCompressed7SRGB; kind++) {
        struct cudaChannelFormatDesc asked = {8, 8, 8, 8, kind};
        struct cudaChannelFormatDesc got;
        cudaArray_t array;
        RT_OK(cudaMallocArray(&array, &asked, 8, 8, 0));
        RT_OK(cudaGetChannelDesc(&got, array));
        cr_expect_eq(got.f, kind);
        RT_OK(cudaFreeArray(array));
    }
}

Test(rt_array, planes_of_a_picture_are_arrays)
{
    enum { ACROSS = 8, DOWN = 4, BYTES = ACROSS * DOWN * 3 / 2 };
    struct cudaChannelFormatDesc planar = {8, 8, 8, 0, cudaChannelFormatKindNV12};
    struct cudaChannelFormatDesc got;
    struct cudaExtent extent;
    cudaArray_t array;
    cudaArray_t colours;
    unsigned char in[BYTES];
    unsigned char out[BYTES / 3] = {0};
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)(i + 1);
    RT_OK(cudaMallocArray(&array, &planar, ACROSS, DOWN, 0));
    RT_OK(cudaGetChannelDesc(&got, array));
    cr_expect_eq(got.f, cudaChannelFormatKindNV12);
    RT_OK(
        cudaMemcpy2DToArray(array, 0, 0, in, ACROSS, ACROSS, DOWN * 3 / 2, cudaMemcpyHostToDevice));
    RT_OK(cudaArrayGetPlane(&colours, array, 1));
    RT_OK(cudaArrayGetInfo(&got, &extent, NULL, colours));
    cr_expect_eq(got.x, 8);
    cr_expect_eq(got.y, 8);
    cr_expect_eq(got.z, 0);
    cr_expect_eq(extent.width, ACROSS / 2);
    cr_expect_eq(extent.height, DOWN / 2);
    RT_OK(cudaMemcpy2DFromArray(out, ACROSS, colours, 0, 0, ACROSS, DOWN / 2,
                                cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in + ACROSS * DOWN, sizeof out);
    RT_OK(cudaFreeArray(array));
}

Test(rt_array, boxes_are_measured_in_the_elements_of_the_array)
{
    static float in[FLOATS];
    static float out[FLOATS];
    cudaArray_t array;
    cudaArray_t other;
    struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH};
    size_t pitch = WIDTH * 4 * sizeof(float);
    for (int i = 0; i < FLOATS; i++)
        in[i] = (float)i;
    RT_OK(cudaMalloc3DArray(&array, &four_floats, extent, 0));
    RT_OK(cudaMalloc3DArray(&other, &four_floats, extent, 0));
    struct cudaMemcpy3DParms to = {.srcPtr = {in, pitch, WIDTH, HEIGHT},
                                   .dstArray = array,
                                   .extent = extent,
                                   .kind = cudaMemcpyHostToDevice};
    RT_OK(cudaMemcpy3D(&to));
    struct cudaMemcpy3DParms across = {
        .srcArray = array, .dstArray = other, .extent = extent, .kind = cudaMemcpyDeviceToDevice};
    RT_OK(cudaMemcpy3DAsync(&across, NULL));
    struct cudaMemcpy3DParms from = {.srcArray = other,
                                     .dstPtr = {out, pitch, WIDTH, HEIGHT},
                                     .extent = extent,
                                     .kind = cudaMemcpyDeviceToHost};
    RT_OK(cudaMemcpy3D(&from));
    cr_expect_arr_eq(out, in, sizeof in);

    /* One element, of 16 bytes, at (2, 1, 2); the pointer's position is in bytes. */
    from.srcPos = (struct cudaPos){2, 1, 2};
    from.dstPos = (struct cudaPos){4, 0, 0};
    from.extent = (struct cudaExtent){1, 1, 1};
    RT_OK(cudaMemcpy3D(&from));
    cr_expect_eq(out[1], (float)(((2 * HEIGHT + 1) * WIDTH + 2) * 4));

    across.dstArray = make_bytes(WIDTH, HEIGHT);
    RT_EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&across));
    from.extent = (struct cudaExtent){WIDTH, 1, 1};
    RT_EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&from));
    from.extent = (struct cudaExtent){1, 1, 1};
    from.kind = cudaMemcpyHostToDevice; /* the pointer would be the device's */
    RT_EXPECT(cudaErrorInvalidValue, cudaMemcpy3D(&from));
}

Test(rt_array, planes_go_both_ways)
{
    unsigned char in[8][16];
    unsigned char out[8][16] = {{0}};
    for (size_t i = 0; i < sizeof in; i++)
        ((unsigned char *)in)[i] = (unsigned char)i;
    cudaArray_t array = make_bytes(16, 8);
    cudaArray_t other = make_bytes(16, 8);
    RT_OK(cudaMemcpy2DToArray(array, 0, 0, in, 16, 16, 8, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 16, 8, cudaMemcpyDeviceToDevice));
    RT_OK(cudaMemcpy2DFromArray(out, 16, other, 0, 0, 16, 8, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in, sizeof in);

    memset(out, 0, sizeof out);
    RT_OK(cudaMemcpy2DToArrayAsync(array, 2, 3, in, 16, 4, 2, cudaMemcpyDefault, NULL));
    RT_OK(cudaMemcpy2DFromArrayAsync(out, 16, array, 2, 3, 4, 2, cudaMemcpyDeviceToHost, NULL));
    RT_OK(cudaDeviceSynchronize());
    cr_expect_arr_eq(out[0], in[0], 4);
    cr_expect_arr_eq(out[1], in[1], 4);
    cr_expect_eq(out[0][4], 0);

    memset(out, 0, sizeof out);
    RT_OK(cudaMemcpy2DToArray_ptds(array, 0, 0, in, 16, 16, 8, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpy2DArrayToArray_ptds(other, 0, 0, array, 0, 0, 16, 8, cudaMemcpyDefault));
    RT_OK(cudaMemcpy2DFromArray_ptds(out, 16, other, 0, 0, 16, 8, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in, sizeof in);
    RT_OK(cudaMemcpy2DToArrayAsync_ptsz(array, 0, 0, in, 16, 16, 8, cudaMemcpyDefault, NULL));
    RT_OK(cudaMemcpy2DFromArrayAsync_ptsz(out, 16, array, 0, 0, 16, 8, cudaMemcpyDefault, NULL));
    RT_OK(cudaStreamSynchronize(CUDA_STREAM_PER_THREAD));
    RT_EXPECT(cudaErrorInvalidPitchValue,
              cudaMemcpy2DToArray(array, 0, 0, in, 8, 16, 8, cudaMemcpyHostToDevice));
    RT_EXPECT(cudaErrorInvalidMemcpyDirection,
              cudaMemcpy2DFromArray(out, 16, array, 0, 0, 16, 8, cudaMemcpyHostToDevice));
}

Test(rt_array, bytes_run_on_in_the_next_row)
{
    unsigned char in[50];
    unsigned char out[50] = {0};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i + 1);
    cudaArray_t array = make_bytes(16, 8);
    cudaArray_t other = make_bytes(10, 8);
    RT_OK(cudaMemcpyToArray(array, 5, 1, in, sizeof in, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpyFromArray(out, array, 5, 1, sizeof out, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in, sizeof in);
    RT_OK(cudaMemcpy2DFromArray(out, 16, array, 0, 2, 16, 1, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in + 11, 16);

    memset(out, 0, sizeof out);
    RT_OK(cudaMemcpyArrayToArray(other, 3, 0, array, 5, 1, sizeof in, cudaMemcpyDeviceToDevice));
    RT_OK(cudaMemcpyFromArrayAsync(out, other, 3, 0, sizeof out, cudaMemcpyDeviceToHost, NULL));
    RT_OK(cudaDeviceSynchronize());
    cr_expect_arr_eq(out, in, sizeof in);

    memset(out, 0, sizeof out);
    RT_OK(cudaMemcpyToArray_ptds(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpyToArrayAsync(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice, NULL));
    RT_OK(cudaMemcpyToArrayAsync_ptsz(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice, NULL));
    RT_OK(cudaMemcpyArrayToArray_ptds(other, 0, 0, array, 0, 0, 50, cudaMemcpyDefault));
    RT_OK(cudaMemcpyFromArrayAsync_ptsz(out, other, 0, 0, 50, cudaMemcpyDefault, NULL));
    RT_OK(cudaMemcpyFromArray_ptds(out, other, 0, 0, 50, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in, sizeof in);
    RT_EXPECT(cudaErrorInvalidValue,
              cudaMemcpyToArray(array, 0, 6, in, sizeof in, cudaMemcpyHostToDevice));
}

Test(rt_array, mipmaps_have_levels)
{
    cudaMipmappedArray_t mipmap;
    cudaArray_t level;
    struct cudaExtent extent;
    RT_OK(cudaMallocMipmappedArray(&mipmap, &four_floats, (struct cudaExtent){32, 32, 0}, 3, 0));
    RT_OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    RT_OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    cr_expect_eq(extent.width, 8);
    RT_EXPECT(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmap, 3));

    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    cudaArray_t plane;
    RT_EXPECT(cudaErrorInvalidValue, cudaArrayGetPlane(&plane, level, 0));
    RT_EXPECT(cudaErrorInvalidValue, cudaArrayGetMemoryRequirements(&requirements, level, 0));
    RT_EXPECT(cudaErrorInvalidValue, cudaArrayGetSparseProperties(&sparse, level));
    RT_EXPECT(cudaErrorInvalidValue,
              cudaMipmappedArrayGetMemoryRequirements(&requirements, mipmap, 0));
    RT_EXPECT(cudaErrorInvalidValue, cudaMipmappedArrayGetSparseProperties(&sparse, mipmap));
    RT_OK(cudaFreeMipmappedArray(mipmap));
    RT_EXPECT(400, cudaFreeMipmappedArray(mipmap));
}
