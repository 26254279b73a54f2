// SPDX-License-Identifier: Apache-2.0
// Textures of all kinds: what kernels fetch is compared with what the host computes by the formulas
// of the programming guide. Handles come as parameters and in arrays of structures.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "expect.h"

constexpr int W = 16;
constexpr int H = 8;
constexpr int D = 4;

struct named_texture {
    int unused;
    cudaTextureObject_t texture;
};

// ---- the reference, in doubles ----

struct image {
    int width, height, depth; // depth: planes, layers or faces
    std::vector<float> values;
};

static image make_image(int width, int height, int depth)
{
    image made = {width, height, depth, std::vector<float>((size_t)width * height * depth)};
    for (size_t i = 0; i < made.values.size(); i++)
        made.values[i] = (float)(i * 37 % 101) - 20.0f;
    return made;
}

static int place(int index, int size, int mode)
{
    if (mode == cudaAddressModeWrap)
        return (index % size + size) % size;
    if (mode == cudaAddressModeBorder && (index < 0 || index >= size))
        return -1;
    return index < 0 ? 0 : index >= size ? size - 1 : index;
}

static double at(const image &from, int x, int y, int z, int mode)
{
    x = place(x, from.width, mode);
    y = place(y, from.height, mode);
    return x < 0 || y < 0 ? 0.0 : from.values[((size_t)z * from.height + y) * from.width + x];
}

static double coordinate(double value, int size, int mode)
{
    double part = value - std::floor(value);
    if (mode == cudaAddressModeWrap)
        return part * size;
    if (mode == cudaAddressModeMirror)
        return (std::fmod(std::fabs(std::floor(value)), 2.0) == 1.0 ? 1.0 - part : part) * size;
    return value * size;
}

// x, y in elements.
static double reference(const image &from, double x, double y, int z, int mode, bool is_linear)
{
    if (!is_linear)
        return at(from, (int)std::floor(x), (int)std::floor(y), z, mode);
    double fx = std::nearbyint(x * 256) / 256 - 0.5;
    double fy = std::nearbyint(y * 256) / 256 - 0.5;
    int i = (int)std::floor(fx);
    int j = (int)std::floor(fy);
    double a = fx - i;
    double b = fy - j;
    return (1 - a) * (1 - b) * at(from, i, j, z, mode) + a * (1 - b) * at(from, i + 1, j, z, mode) +
           (1 - a) * b * at(from, i, j + 1, z, mode) + a * b * at(from, i + 1, j + 1, z, mode);
}

static bool is_near(float got, double wanted)
{
    return std::fabs(got - wanted) < 1e-3;
}

// ---- kernels ----

__global__ void fetch_2d(cudaTextureObject_t texture, float *out, float scale)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float x = (float)(i % 64 - 16) * scale;
    float y = (float)(i / 64 - 8) * scale;
    out[i] = tex2D<float>(texture, x, y);
}

__global__ void fetch_from_array(const named_texture *textures, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<float>(textures[i % 2].texture, (float)(i % W) + 0.5f, 1.5f);
}

__global__ void fetch_linear(cudaTextureObject_t texture, int *out)
{
    int i = threadIdx.x;
    int4 value = tex1Dfetch<int4>(texture, i - 4);
    out[i] = value.x + 2 * value.y + 3 * value.z + 4 * value.w;
}

__global__ void fetch_bytes(cudaTextureObject_t texture, float *out)
{
    int i = threadIdx.x;
    float4 value = tex2D<float4>(texture, (float)i, 0.0f);
    out[i] = value.x + 10.0f * value.y + 100.0f * value.z + 1000.0f * value.w;
}

__global__ void fetch_layers(cudaTextureObject_t texture, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(texture, (float)(i % W) + 0.5f, (float)(i / W) + 0.5f, i % D);
}

__global__ void fetch_volume(cudaTextureObject_t texture, float *out)
{
    int i = threadIdx.x;
    out[i] = tex3D<float>(texture, (float)(i % W) + 0.5f, (float)(i / W) + 0.5f, (float)(i % D));
}

__global__ void fetch_cube(cudaTextureObject_t texture, float *out)
{
    int face = threadIdx.x;
    float sign = face % 2 == 0 ? 1.0f : -1.0f;
    out[face] = texCubemap<float>(texture, face / 2 == 0 ? sign : 0.1f, face / 2 == 1 ? sign : 0.1f,
                                  face / 2 == 2 ? sign : 0.1f);
}

__global__ void fetch_levels(cudaTextureObject_t texture, float *out)
{
    int i = threadIdx.x;
    out[i] = tex2DLod<float>(texture, 0.5f, 0.5f, (float)i * 0.25f);
    float step = (float)(1 << i % 4) / (float)W;
    out[32 + i] =
        tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(step, 0.0f), make_float2(0.0f, 0.0f));
}

__global__ void gather(cudaTextureObject_t texture, float4 *out)
{
    out[0] = tex2Dgather<float4>(texture, 2.0f, 3.0f, 0);
}

// ---- resources ----

static cudaArray_t make_array(const image &from, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaExtent extent = make_cudaExtent(from.width, from.height, from.depth);
    if (flags == cudaArrayDefault || flags == cudaArrayTextureGather)
        EXPECT_OK(cudaMalloc3DArray(
            &array, &format, from.depth > 1 ? extent : make_cudaExtent(from.width, from.height, 0),
            flags));
    else
        EXPECT_OK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)from.values.data(), from.width * sizeof(float),
                                      from.width, from.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_OK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureDesc describe(int mode, bool is_linear, bool is_normalised)
{
    cudaTextureDesc way = {};
    for (int i = 0; i < 3; i++)
        way.addressMode[i] = (cudaTextureAddressMode)mode;
    way.filterMode = is_linear ? cudaFilterModeLinear : cudaFilterModePoint;
    way.readMode = cudaReadModeElementType;
    way.normalizedCoords = is_normalised;
    way.maxMipmapLevelClamp = 10.0f;
    return way;
}

static cudaTextureObject_t texture_of(cudaArray_t array, const cudaTextureDesc &way)
{
    cudaTextureObject_t texture = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    return texture;
}

// ---- checks ----

static float *out;

static void check_modes()
{
    image from = make_image(W, H, 1);
    cudaArray_t array = make_array(from, cudaArrayDefault);
    static const struct {
        int mode;
        bool is_linear, is_normalised;
    } ways[] = {{cudaAddressModeClamp, false, false}, {cudaAddressModeClamp, true, false},
                {cudaAddressModeWrap, false, true},   {cudaAddressModeWrap, true, true},
                {cudaAddressModeMirror, false, true}, {cudaAddressModeMirror, true, true},
                {cudaAddressModeBorder, true, false}, {cudaAddressModeBorder, true, true}};
    int wrong = 0;
    for (auto &way : ways) {
        cudaTextureObject_t texture =
            texture_of(array, describe(way.mode, way.is_linear, way.is_normalised));
        float scale = way.is_normalised ? 0.0390625f : 0.40625f;
        fetch_2d<<<16, 64>>>(texture, out, scale);
        EXPECT_OK(cudaDeviceSynchronize());
        for (int i = 0; i < 1024; i++) {
            double x = (i % 64 - 16) * (double)scale;
            double y = (i / 64 - 8) * (double)scale;
            if (way.is_normalised) {
                x = coordinate(x, W, way.mode);
                y = coordinate(y, H, way.mode);
            }
            wrong += !is_near(out[i], reference(from, x, y, 0, way.mode, way.is_linear));
        }
        EXPECT_OK(cudaDestroyTextureObject(texture));
    }
    std::printf("modes: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaFreeArray(array));
}

static void check_handles_in_memory()
{
    image from = make_image(W, H, 1);
    image other = from;
    for (float &value : other.values)
        value += 1000.0f;
    cudaArray_t arrays[] = {make_array(from, cudaArrayDefault),
                            make_array(other, cudaArrayDefault)};
    named_texture *textures;
    EXPECT_OK(cudaMallocManaged(&textures, 2 * sizeof *textures));
    for (int i = 0; i < 2; i++)
        textures[i].texture = texture_of(arrays[i], describe(cudaAddressModeClamp, false, false));
    fetch_from_array<<<1, 32>>>(textures, out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        wrong += out[i] != from.values[W + i % W] + (i % 2 ? 1000.0f : 0.0f);
    std::printf("handles in memory: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(cudaDestroyTextureObject(textures[i].texture));
        EXPECT_OK(cudaFreeArray(arrays[i]));
    }
    EXPECT_OK(cudaFree(textures));
}

static void check_memory()
{
    int4 *numbers;
    EXPECT_OK(cudaMallocManaged(&numbers, 16 * sizeof *numbers));
    for (int i = 0; i < 16; i++)
        numbers[i] = make_int4(i, -i, 100 + i, 7);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = numbers;
    resource.res.linear.desc = cudaCreateChannelDesc<int4>();
    resource.res.linear.sizeInBytes = 16 * sizeof *numbers;
    cudaTextureDesc way = describe(cudaAddressModeClamp, false, false);
    cudaTextureObject_t texture;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    fetch_linear<<<1, 32>>>(texture, (int *)out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 32; i++) {
        int n = i - 4;
        int wanted = n < 0 || n >= 16 ? 0 : n - 2 * n + 3 * (100 + n) + 28;
        wrong += ((int *)out)[i] != wanted;
    }
    std::printf("linear memory: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(texture));

    auto *bytes = (unsigned char *)numbers;
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 4);
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = bytes;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    resource.res.pitch2D.width = 8;
    resource.res.pitch2D.height = 2;
    resource.res.pitch2D.pitchInBytes = 32;
    way.readMode = cudaReadModeNormalizedFloat;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    fetch_bytes<<<1, 8>>>(texture, out);
    EXPECT_OK(cudaDeviceSynchronize());
    wrong = 0;
    for (int i = 0; i < 8; i++) {
        double wanted = 0;
        for (int c = 3; c >= 0; c--)
            wanted = wanted * 10 + bytes[4 * i + c] / 255.0;
        wrong += !is_near(out[i], wanted);
    }
    std::printf("parts of bytes: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaFree(numbers));
}

static void check_depths()
{
    image from = make_image(W, H, D);
    cudaArray_t layers = make_array(from, cudaArrayLayered);
    cudaArray_t volume = make_array(from, cudaArrayDefault);
    cudaTextureObject_t layered = texture_of(layers, describe(cudaAddressModeClamp, true, false));
    cudaTextureObject_t solid = texture_of(volume, describe(cudaAddressModeClamp, true, false));
    int wrong = 0;
    fetch_layers<<<1, W * H>>>(layered, out);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H; i++)
        wrong += out[i] != from.values[(i % D * H + i / W) * W + i % W];
    fetch_volume<<<1, W * H>>>(solid, out);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H; i++) {
        int z = i % D;
        double above = at(from, i % W, i / W, z, cudaAddressModeClamp);
        double below = at(from, i % W, i / W, z == 0 ? 0 : z - 1, cudaAddressModeClamp);
        wrong += !is_near(out[i], (above + below) / 2);
    }
    std::printf("layers and planes: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(layered));
    EXPECT_OK(cudaDestroyTextureObject(solid));
    EXPECT_OK(cudaFreeArray(layers));
    EXPECT_OK(cudaFreeArray(volume));
}

static void check_cube()
{
    image from = make_image(4, 4, 6);
    for (int i = 0; i < 96; i++)
        from.values[i] = (float)(i / 16);
    cudaArray_t array = make_array(from, cudaArrayCubemap);
    cudaTextureObject_t texture = texture_of(array, describe(cudaAddressModeClamp, false, true));
    fetch_cube<<<1, 6>>>(texture, out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 6; i++)
        wrong += out[i] != (float)i;
    std::printf("faces: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaFreeArray(array));
}

// Level n holds n everywhere.
static void check_levels()
{
    cudaMipmappedArray_t mipmap;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    EXPECT_OK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(W, W, 0), 4));
    for (int level = 0; level < 4; level++) {
        std::vector<float> values((size_t)W * W, (float)level);
        cudaArray_t array;
        int side = W >> level;
        EXPECT_OK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
        EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, values.data(), side * sizeof(float),
                                      side * sizeof(float), side, cudaMemcpyHostToDevice));
    }
    cudaTextureDesc way = describe(cudaAddressModeWrap, true, true);
    way.mipmapFilterMode = cudaFilterModeLinear;
    way.maxMipmapLevelClamp = 2.5f;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    cudaTextureObject_t texture;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    fetch_levels<<<1, 16>>>(texture, out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 16; i++) {
        wrong += out[i] != std::fmin((float)i * 0.25f, 2.5f);
        wrong += out[32 + i] != std::fmin((float)(i % 4), 2.5f);
    }
    std::printf("levels: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaFreeMipmappedArray(mipmap));
}

static void check_gather()
{
    image from = make_image(W, H, 1);
    cudaArray_t array = make_array(from, cudaArrayTextureGather);
    cudaTextureObject_t texture = texture_of(array, describe(cudaAddressModeClamp, true, false));
    gather<<<1, 1>>>(texture, (float4 *)out);
    EXPECT_OK(cudaDeviceSynchronize());
    const float *row = &from.values[2 * W];
    bool is_right =
        out[0] == row[W + 1] && out[1] == row[W + 2] && out[2] == row[2] && out[3] == row[1];
    std::printf("gather: %s\n", is_right ? "right" : "wrong");
    EXPECT(is_right);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaFreeArray(array));
}

static void check_errors()
{
    unsigned char *memory;
    cudaTextureObject_t texture = 0;
    cudaTextureDesc way = describe(cudaAddressModeClamp, false, false);
    cudaResourceDesc resource = {};
    EXPECT_OK(cudaMalloc(&memory, 4096));
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<int>();
    resource.res.pitch2D.width = 8;
    resource.res.pitch2D.height = 8;
    resource.res.pitch2D.pitchInBytes = 36;
    EXPECT_CODE(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    resource.res.pitch2D.pitchInBytes = 64;
    resource.res.pitch2D.devPtr = memory + 4;
    EXPECT_CODE(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    resource.res.pitch2D.devPtr = memory;
    way.addressMode[0] = (cudaTextureAddressMode)9;
    EXPECT_CODE(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    EXPECT_CODE(cudaErrorInvalidValue, cudaDestroyTextureObject(0x1234567890));
    way = describe(cudaAddressModeMirror, false, true);
    way.borderColor[2] = 0.5f;
    EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &way, nullptr));
    cudaTextureDesc got;
    cudaResourceDesc image;
    EXPECT_OK(cudaGetTextureObjectTextureDesc(&got, texture));
    EXPECT_OK(cudaGetTextureObjectResourceDesc(&image, texture));
    EXPECT(std::memcmp(&got, &way, sizeof got) == 0);
    EXPECT(image.res.pitch2D.pitchInBytes == 64 && image.res.pitch2D.desc.x == 32 &&
           image.res.pitch2D.desc.f == cudaChannelFormatKindSigned);
    EXPECT_OK(cudaDestroyTextureObject(texture));
    EXPECT_CODE(cudaErrorInvalidValue, cudaDestroyTextureObject(texture));
    EXPECT_OK(cudaFree(memory));
}

// A handle that has been destroyed is none: the kernel ends, and the program goes on.
static void check_dead_handle()
{
    image from = make_image(W, H, 1);
    cudaArray_t array = make_array(from, cudaArrayDefault);
    cudaTextureObject_t texture = texture_of(array, describe(cudaAddressModeClamp, false, false));
    EXPECT_OK(cudaDestroyTextureObject(texture));
    fetch_2d<<<1, 32>>>(texture, out, 1.0f);
    EXPECT_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

int main()
{
    EXPECT_OK(cudaMallocManaged(&out, 1024 * sizeof *out));
    check_modes();
    check_handles_in_memory();
    check_memory();
    check_depths();
    check_cube();
    check_levels();
    check_gather();
    check_errors();
    check_dead_handle();
    return verdict("textures");
}
