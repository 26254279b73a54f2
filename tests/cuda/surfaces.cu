// SPDX-License-Identifier: Apache-2.0
// Surfaces: reads and writes in all modes for places outside, layers, volumes, and an image that is
// written as a surface and then read as a texture.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include "expect.h"

constexpr int W = 16;
constexpr int H = 8;
constexpr int D = 3;

__global__ void write_2d(cudaSurfaceObject_t surface)
{
    int x = threadIdx.x;
    int y = threadIdx.y;
    surf2Dwrite(make_float2((float)x, (float)y), surface, x * (int)sizeof(float2), y);
}

__global__ void read_2d(cudaSurfaceObject_t surface, float *out)
{
    int i = threadIdx.x;
    int x = (i - 4) * (int)sizeof(float2);
    float2 value;
    surf2Dread(&value, surface, x, 2, cudaBoundaryModeZero);
    out[i] = value.x + value.y;
    surf2Dread(&value, surface, x, -5, cudaBoundaryModeClamp);
    out[32 + i] = value.x + value.y;
}

__global__ void fetch(cudaTextureObject_t texture, float *out)
{
    float2 value = tex2D<float2>(texture, (float)threadIdx.x + 0.5f, (float)threadIdx.y + 0.5f);
    out[threadIdx.y * W + threadIdx.x] = value.x + 100.0f * value.y;
}

__global__ void write_outside(cudaSurfaceObject_t surface)
{
    surf2Dwrite(make_float2(-1.0f, -1.0f), surface, ((int)threadIdx.x - 8) * (int)sizeof(float2),
                -1, cudaBoundaryModeZero);
}

__global__ void trap_outside(cudaSurfaceObject_t surface)
{
    surf2Dwrite(make_float2(0.0f, 0.0f), surface, W * (int)sizeof(float2), 0);
}

__global__ void write_bytes(cudaSurfaceObject_t surface)
{
    int i = threadIdx.x;
    surf3Dwrite(make_uchar4(i, i + 1, i + 2, i + 3), surface, i % W * 4, i / W % H, i / W / H);
}

__global__ void write_layers(cudaSurfaceObject_t surface)
{
    int i = threadIdx.x;
    surf2DLayeredwrite((short)(i * 3), surface, i % W * 2, i / W % H, i / W / H);
}

static float *out;

template <class T> static cudaArray_t make_array(int depth, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    EXPECT_OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, H, depth), flags));
    return array;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaSurfaceObject_t surface = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

template <class T> static std::vector<T> contents(cudaArray_t array)
{
    std::vector<T> values((size_t)W * H * D);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(values.data(), W * sizeof(T), W, H);
    copy.extent = make_cudaExtent(W, H, D);
    copy.kind = cudaMemcpyDeviceToHost;
    EXPECT_OK(cudaMemcpy3D(&copy));
    return values;
}

static void check_plane(cudaArray_t array, cudaSurfaceObject_t surface)
{
    write_2d<<<1, dim3(W, H)>>>(surface);
    write_outside<<<1, 32>>>(surface);
    read_2d<<<1, 32>>>(surface, out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        int x = i - 4;
        int nearest = x < 0 ? 0 : x >= W ? W - 1 : x;
        wrong += out[i] != (x < 0 || x >= W ? 0.0f : (float)(x + 2));
        wrong += out[32 + i] != (float)nearest;
    }
    std::printf("plane: %d wrong\n", wrong);
    EXPECT(wrong == 0);

    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc way = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    fetch<<<1, dim3(W, H)>>>(texture, out);
    EXPECT_OK(cudaDeviceSynchronize());
    wrong = 0;
    for (int i = 0; i < W * H; i++)
        wrong += out[i] != (float)(i % W + 100 * (i / W));
    std::printf("as a texture: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(texture));
}

static void check_depths()
{
    cudaArray_t volume = make_array<uchar4>(D, cudaArraySurfaceLoadStore);
    cudaArray_t layers = make_array<short>(D, cudaArraySurfaceLoadStore | cudaArrayLayered);
    cudaSurfaceObject_t solid = surface_of(volume);
    cudaSurfaceObject_t layered = surface_of(layers);
    write_bytes<<<1, W * H * D>>>(solid);
    write_layers<<<1, W * H * D>>>(layered);
    EXPECT_OK(cudaDeviceSynchronize());
    std::vector<uchar4> bytes = contents<uchar4>(volume);
    std::vector<short> shorts = contents<short>(layers);
    int wrong = 0;
    for (int i = 0; i < W * H * D; i++) {
        wrong += bytes[i].x != (unsigned char)i || bytes[i].w != (unsigned char)(i + 3);
        wrong += shorts[i] != (short)(i * 3);
    }
    std::printf("planes and layers: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroySurfaceObject(solid));
    EXPECT_OK(cudaDestroySurfaceObject(layered));
    EXPECT_OK(cudaFreeArray(volume));
    EXPECT_OK(cudaFreeArray(layers));
}

// Arrays that were not made for surfaces are taken; memory is not; 0 is no object.
static void check_errors()
{
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    cudaArray_t array = make_array<float>(0, cudaArrayDefault);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
    EXPECT_OK(cudaDestroySurfaceObject(surface));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    EXPECT_CODE(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, &resource));
    EXPECT_CODE(cudaErrorInvalidValue, cudaDestroySurfaceObject(8));
    EXPECT_OK(cudaDestroySurfaceObject(0));
    EXPECT_OK(cudaFreeArray(array));
}

int main()
{
    EXPECT_OK(cudaMallocManaged(&out, 1024 * sizeof *out));
    cudaArray_t array = make_array<float2>(0, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface = surface_of(array);
    check_plane(array, surface);
    check_depths();
    check_errors();
    trap_outside<<<1, 1>>>(surface);
    EXPECT_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    return verdict("surfaces");
}
