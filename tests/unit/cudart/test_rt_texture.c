/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects through the runtime API: descriptors there and back.
 */
#include <string.h>

#include "cudart/driver/cuda_driver.h"
#include "runtime_fixture.h"

static const struct cudaChannelFormatDesc four_bytes = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};

static struct cudaResourceDesc pitch_image(void)
{
    struct cudaResourceDesc image = {.resType = CRT_RESOURCE_PITCH2D};
    RT_OK(cudaMalloc(&image.res.pitch2D.devPtr, 4096));
    image.res.pitch2D.desc = four_bytes;
    image.res.pitch2D.width = 8;
    image.res.pitch2D.height = 4;
    image.res.pitch2D.pitchInBytes = 64;
    return image;
}

Test(rt_texture, descriptors_come_back)
{
    struct cudaResourceDesc image = pitch_image();
    struct cudaResourceDesc got_image;
    struct cudaTextureDesc way = {.addressMode = {0, 2, 3},
                                  .filterMode = 1,
                                  .readMode = cudaReadModeNormalizedFloat,
                                  .sRGB = 1,
                                  .borderColor = {0.25f, 0.5f, 1.0f, 2.0f},
                                  .normalizedCoords = 1,
                                  .maxAnisotropy = 4,
                                  .mipmapFilterMode = 1,
                                  .mipmapLevelBias = 0.5f,
                                  .minMipmapLevelClamp = 1.0f,
                                  .maxMipmapLevelClamp = 3.0f,
                                  .disableTrilinearOptimization = 1,
                                  .seamlessCubemap = 1};
    struct cudaTextureDesc got_way;
    cudaTextureObject_t object;
    RT_OK(cudaCreateTextureObject(&object, &image, &way, NULL));
    RT_OK(cudaGetTextureObjectResourceDesc(&got_image, object));
    RT_OK(cudaGetTextureObjectTextureDesc(&got_way, object));
    cr_expect_arr_eq(&got_way, &way, sizeof way);
    cr_expect_arr_eq(&got_image, &image, sizeof image);
    RT_OK(cudaDestroyTextureObject(object));
    cr_expect_eq(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
}

Test(rt_texture, linear_memory_and_views)
{
    struct cudaResourceDesc image = {.resType = CRT_RESOURCE_LINEAR};
    struct cudaResourceDesc got;
    struct cudaTextureDesc way = {0};
    CUDA_RESOURCE_VIEW_DESC view = {.width = 8};
    CUDA_RESOURCE_VIEW_DESC got_view;
    cudaTextureObject_t object;
    cudaArray_t array;
    RT_OK(cudaMalloc(&image.res.linear.devPtr, 4096));
    image.res.linear.desc = four_bytes;
    image.res.linear.sizeInBytes = 1024;
    RT_OK(cudaCreateTextureObject(&object, &image, &way, NULL));
    RT_OK(cudaGetTextureObjectResourceDesc(&got, object));
    cr_expect_arr_eq(&got, &image, sizeof image);
    RT_OK(cudaDestroyTextureObject(object));
    image.res.linear.desc.y = 7;
    cr_expect_eq(cudaCreateTextureObject(&object, &image, &way, NULL),
                 cudaErrorInvalidChannelDescriptor);
    RT_OK(cudaMallocArray(&array, &four_bytes, 8, 0, 0));
    image = (struct cudaResourceDesc){.resType = CRT_RESOURCE_ARRAY, .res.array = array};
    RT_OK(cudaCreateTextureObject(&object, &image, &way, &view));
    RT_OK(cudaGetTextureObjectResourceViewDesc(&got_view, object));
    cr_expect_arr_eq(&got_view, &view, sizeof view);
    RT_OK(cudaDestroyTextureObject(object));
}

/* Drivers take it. */
Test(rt_texture, no_filter_for_integers)
{
    struct cudaResourceDesc image = pitch_image();
    struct cudaTextureDesc way = {.filterMode = 1, .readMode = cudaReadModeNormalizedFloat};
    cudaTextureObject_t object;
    RT_OK(cudaCreateTextureObject(&object, &image, &way, NULL));
    way.readMode = cudaReadModeElementType;
    cr_expect_eq(cudaCreateTextureObject(&object, &image, &way, NULL),
                 cudaErrorInvalidFilterSetting);
    image = (struct cudaResourceDesc){.resType = CRT_RESOURCE_ARRAY};
    RT_OK(cudaMallocArray(&image.res.array, &four_bytes, 8, 8, 0));
    cr_expect_eq(cudaCreateTextureObject(&object, &image, &way, NULL),
                 cudaErrorInvalidFilterSetting);
    way.filterMode = 0;
    RT_OK(cudaCreateTextureObject(&object, &image, &way, NULL));
    image = (struct cudaResourceDesc){.resType = CRT_RESOURCE_MIPMAP};
    struct cudaExtent size = {8, 8, 0};
    struct cudaChannelFormatDesc word = {.x = 32, .f = cudaChannelFormatKindUnsigned};
    RT_OK(cudaMallocMipmappedArray(&image.res.mipmap, &word, size, 2, 0));
    way = (struct cudaTextureDesc){
        .filterMode = 1, .readMode = cudaReadModeNormalizedFloat, .normalizedCoords = 1};
    cr_expect_eq(cudaCreateTextureObject(&object, &image, &way, NULL),
                 cudaErrorInvalidFilterSetting);
}

Test(rt_texture, surfaces)
{
    struct cudaResourceDesc image = {.resType = CRT_RESOURCE_ARRAY};
    struct cudaResourceDesc got;
    cudaSurfaceObject_t object;
    RT_OK(cudaMallocArray(&image.res.array, &four_bytes, 8, 8, 2 /* surfaces */));
    RT_OK(cudaCreateSurfaceObject(&object, &image));
    RT_OK(cudaGetSurfaceObjectResourceDesc(&got, object));
    cr_expect_arr_eq(&got, &image, sizeof image);
    RT_OK(cudaDestroySurfaceObject(object));
    cr_expect_eq(cudaDestroySurfaceObject(object), cudaErrorInvalidValue);
    cr_expect_eq(cudaCreateSurfaceObject(NULL, &image), cudaErrorInvalidValue);
}
