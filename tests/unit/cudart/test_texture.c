/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects: what the driver takes, and each limit of the documentation. A row of
 * a table is a call that works but for one thing.
 */
#include <string.h>

#include "cudart/core/memory/texture.h"
#include "driver_fixture.h"

#define FORMAT_FLOAT 0x20
#define FORMAT_INT   0x0a

/* A linear image of 64 floats. */
static CUDA_RESOURCE_DESC linear_image(void)
{
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, 4096));
    return (CUDA_RESOURCE_DESC){.type = CRT_RESOURCE_LINEAR,
                                .address = memory,
                                .format = FORMAT_FLOAT,
                                .channels = 1,
                                .size_bytes = 256};
}

/* 16 by 8 floats, rows of 64 bytes. */
static CUDA_RESOURCE_DESC pitch_image(void)
{
    CUDA_RESOURCE_DESC image = linear_image();
    image.type = CRT_RESOURCE_PITCH2D;
    image.width = 16;
    image.height = 8;
    image.pitch_bytes = 64;
    return image;
}

static CUDA_RESOURCE_DESC array_image(unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 16, .Height = 8, .Format = FORMAT_FLOAT, .NumChannels = 1, .Flags = flags};
    CUDA_RESOURCE_DESC image = {.type = CRT_RESOURCE_ARRAY};
    OK(cuArray3DCreate_v2(&image.array, &shape));
    return image;
}

static const CUDA_TEXTURE_DESC plain = {.address = {1, 1, 1}};

static CUresult create(const CUDA_RESOURCE_DESC *image, const CUDA_TEXTURE_DESC *way,
                       const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject object = 0;
    CUresult result = cuTexObjectCreate(&object, image, way, view);
    if (result == CRT_SUCCESS)
        OK(cuTexObjectDestroy(object));
    return result;
}

Test(texture, a_handle_tells_what_it_was_made_of, .init = make_context)
{
    CUDA_RESOURCE_DESC image = pitch_image();
    CUDA_RESOURCE_DESC got_image;
    CUDA_TEXTURE_DESC way = {.address = {0, 1, 2}, .flags = 2, .border = {1, 2, 3, 4}};
    CUDA_TEXTURE_DESC got_way;
    CUDA_RESOURCE_VIEW_DESC got_view;
    CUtexObject object;
    OK(cuTexObjectCreate(&object, &image, &way, NULL));
    OK(cuTexObjectGetResourceDesc(&got_image, object));
    OK(cuTexObjectGetTextureDesc(&got_way, object));
    cr_expect_arr_eq(&got_image, &image, sizeof image);
    cr_expect_arr_eq(&got_way, &way, sizeof way);
    EXPECT(CRT_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&got_view, object));
    EXPECT(CRT_INVALID_VALUE, cuSurfObjectDestroy(object));
    OK(cuTexObjectDestroy(object));
    EXPECT(CRT_INVALID_VALUE, cuTexObjectDestroy(object));
    EXPECT(CRT_INVALID_VALUE, cuTexObjectGetTextureDesc(&got_way, object));
}

Test(texture, impossible_memory_is_refused, .init = make_context)
{
    CUDA_RESOURCE_DESC image = pitch_image();
    OK(create(&image, &plain, NULL));
    image.pitch_bytes = 68; /* no multiple of the attribute */
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.pitch_bytes = 32; /* shorter than a row */
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.pitch_bytes = 64;
    image.address += 4;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.address -= 4;
    image.format = 0x77;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.format = FORMAT_FLOAT;
    image.channels = 3;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.channels = 1;
    image.height = 0;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.height = 8;
    image.flags = 1;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image = linear_image();
    OK(create(&image, &plain, NULL));
    image.size_bytes = 3; /* not one element */
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
    image.type = 4;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, NULL));
}

Test(texture, impossible_sampling_is_refused, .init = make_context)
{
    CUDA_RESOURCE_DESC image = pitch_image();
    CUDA_TEXTURE_DESC way = plain;
    way.address[1] = 4;
    EXPECT(CRT_INVALID_VALUE, create(&image, &way, NULL));
    way = plain;
    way.filter = 2;
    EXPECT(CRT_INVALID_VALUE, create(&image, &way, NULL));
    way = plain;
    way.flags = 0x80;
    EXPECT(CRT_INVALID_VALUE, create(&image, &way, NULL));
    way = plain;
    way.filter = 1;
    OK(create(&image, &way, NULL));
    EXPECT(CRT_INVALID_VALUE, create(NULL, &way, NULL));
    EXPECT(CRT_INVALID_VALUE, create(&image, NULL, NULL));
}

/* They are not filtered. A test of NVIDIA's Warp makes such an object of words and expects no
 * error; FFmpeg's filters make them of bytes that stay integers. */
Test(texture, integers_may_have_a_filter_that_does_nothing, .init = make_context)
{
    CUDA_RESOURCE_DESC image = array_image(0);
    CUDA_TEXTURE_DESC way = {.address = {1, 1, 1}, .filter = 1};
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 4, .Height = 0, .Format = FORMAT_INT, .NumChannels = 1};
    OK(cuArrayDestroy(image.array));
    OK(cuArray3DCreate_v2(&image.array, &shape));
    OK(create(&image, &way, NULL));
    way.flags = CRT_SAMPLING_AS_INTEGER;
    OK(create(&image, &way, NULL));
    OK(cuArrayDestroy(image.array));
}

Test(texture, views_name_what_the_array_has, .init = make_context)
{
    CUDA_RESOURCE_DESC image = array_image(0);
    CUDA_RESOURCE_VIEW_DESC view = {.width = 16, .height = 8};
    CUDA_RESOURCE_VIEW_DESC got;
    CUtexObject object;
    OK(cuTexObjectCreate(&object, &image, &plain, &view));
    OK(cuTexObjectGetResourceViewDesc(&got, object));
    cr_expect_arr_eq(&got, &view, sizeof view);
    OK(cuTexObjectDestroy(object));
    view.format = 0x0d; /* one channel of 32 bits */
    OK(create(&image, &plain, &view));
    view.format = 0x0e; /* two */
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    view.format = 0x22; /* BC7, but not in words */
    view.width *= 4;
    view.height *= 4;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    view.format = 0x19; /* BC1, likewise */
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    view.width = 16;
    view.height = 8;
    view.format = 0;
    view.last_level = 1;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    view.last_level = 0;
    view.width = 8;
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    image = linear_image();
    EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
}

/* BC1 and BC4 are pairs of words, the others four; sizes are those of the elements. */
Test(texture, views_as_blocks_are_of_words, .init = make_context)
{
    for (int format = 0x19; format <= 0x22; format++) {
        bool is_half = format == 0x19 || format == 0x1c || format == 0x1d;
        CUDA_ARRAY3D_DESCRIPTOR shape = {
            .Width = 16, .Height = 8, .Format = 3, .NumChannels = is_half ? 2 : 4};
        CUDA_RESOURCE_DESC image = {.type = CRT_RESOURCE_ARRAY};
        CUDA_RESOURCE_VIEW_DESC view = {.format = format, .width = 64, .height = 32};
        OK(cuArray3DCreate_v2(&image.array, &shape));
        CUDA_TEXTURE_DESC way = plain;
        way.filter = 1;
        OK(create(&image, &way, &view));
        view.width = 16;
        EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
        view.width = 64;
        shape.NumChannels = is_half ? 4 : 2;
        OK(cuArray3DCreate_v2(&image.array, &shape));
        EXPECT(CRT_INVALID_VALUE, create(&image, &plain, &view));
    }
}

static struct rt_texture describe(CUDA_RESOURCE_DESC *image, const CUDA_TEXTURE_DESC *way,
                                  const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject object = 0;
    OK(cuTexObjectCreate(&object, image, way, view));
    return crt_texture_find(object, RT_TEXTURE_MARK)->descriptor;
}

/* An array of blocks is as one of words that is looked at as blocks. */
Test(texture, compressed_arrays_are_as_views, .init = make_context)
{
    static const int views[] = {0x19, 0x19, 0x1a, 0x1a, 0x1b, 0x1b, 0x1c,
                                0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x22};
    for (int i = 0; i < 14; i++) {
        bool is_half = views[i] == 0x19 || views[i] == 0x1c || views[i] == 0x1d;
        bool is_srgb = i == 1 || i == 3 || i == 5 || i == 13;
        CUDA_ARRAY3D_DESCRIPTOR words = {
            .Width = 4, .Height = 2, .Format = 3, .NumChannels = is_half ? 2 : 4};
        CUDA_ARRAY3D_DESCRIPTOR blocks = {
            .Width = 16, .Height = 8, .Format = 0x91 + i, .NumChannels = 4};
        CUDA_RESOURCE_DESC image = {.type = CRT_RESOURCE_ARRAY};
        CUDA_RESOURCE_DESC block_image = {.type = CRT_RESOURCE_ARRAY};
        CUDA_RESOURCE_VIEW_DESC view = {.format = views[i], .width = 16, .height = 8};
        CUDA_TEXTURE_DESC way = plain;
        CUsurfObject surface;
        OK(cuArray3DCreate_v2(&image.array, &words));
        OK(cuArray3DCreate_v2(&block_image.array, &blocks));
        struct rt_texture got = describe(&block_image, &way, NULL);
        struct rt_texture again = describe(&block_image, &way, &view);
        way.flags |= is_srgb ? CRT_SAMPLING_SRGB : 0;
        struct rt_texture wanted = describe(&image, &way, &view);
        wanted.levels[0].base = again.levels[0].base = got.levels[0].base;
        cr_expect_arr_eq(&got, &wanted, sizeof got, "format %d", i);
        cr_expect_arr_eq(&again, &wanted, sizeof got, "view of format %d", i);
        EXPECT(CRT_INVALID_VALUE, cuSurfObjectCreate(&surface, &block_image));
    }
}

Test(texture, cubes_may_be_seamless, .init = make_context)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = 8, .Height = 8, .Depth = 6, .Format = FORMAT_FLOAT, .NumChannels = 1, .Flags = 4};
    CUDA_RESOURCE_DESC image = {.type = CRT_RESOURCE_ARRAY};
    CUDA_TEXTURE_DESC way = plain;
    OK(cuArray3DCreate_v2(&image.array, &shape));
    way.flags = CRT_SAMPLING_NORMALISED | CRT_SAMPLING_SEAMLESS;
    way.filter = 1;
    OK(create(&image, &way, NULL));
}

Test(texture, no_object_can_be_destroyed, .init = make_context)
{
    OK(cuTexObjectDestroy(0));
    OK(cuSurfObjectDestroy(0));
    EXPECT(CRT_INVALID_VALUE, cuTexObjectDestroy(8));
    EXPECT(CRT_INVALID_VALUE, cuSurfObjectDestroy(8));
}

Test(texture, surfaces_are_of_arrays, .init = make_context)
{
    CUDA_RESOURCE_DESC image = array_image(2 /* surfaces */);
    CUDA_RESOURCE_DESC got;
    CUsurfObject object;
    OK(cuSurfObjectCreate(&object, &image));
    OK(cuSurfObjectGetResourceDesc(&got, object));
    cr_expect_arr_eq(&got, &image, sizeof image);
    EXPECT(CRT_INVALID_VALUE, cuTexObjectDestroy(object));
    OK(cuSurfObjectDestroy(object));
    EXPECT(CRT_INVALID_VALUE, cuSurfObjectDestroy(object));
    image = array_image(0); /* not made for surfaces: taken all the same */
    OK(cuSurfObjectCreate(&object, &image));
    OK(cuSurfObjectDestroy(object));
    image = linear_image();
    EXPECT(CRT_INVALID_VALUE, cuSurfObjectCreate(&object, &image));
}
