// SPDX-License-Identifier: Apache-2.0
// Kernels of ptxbench's table that fetch from textures: an image turned and moved.
// table_images.ptx is made from this file by build_ptx.sh.

// Where the pixel comes from, in elements.
static __device__ float2 source(unsigned x, unsigned y, float cosine, float sine)
{
    float u = x + 0.5f;
    float v = y + 0.5f;
    return make_float2(cosine * u - sine * v, sine * u + cosine * v);
}

// For a texture with either filter.
extern "C" __global__ void turn_floats(cudaTextureObject_t image, float *out, unsigned width,
                                       unsigned height, float cosine, float sine)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float2 from = source(x, y, cosine, sine);
        out[y * width + x] = tex2D<float>(image, from.x, from.y);
    }
}

// Of bytes that are parts of 1; written as bytes again.
extern "C" __global__ void turn_colours(cudaTextureObject_t image, unsigned *out, unsigned width,
                                        unsigned height, float cosine, float sine)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float2 from = source(x, y, cosine, sine);
        float4 colour = tex2D<float4>(image, from.x, from.y);
        out[y * width + x] = (unsigned)(colour.x * 255.0f + 0.5f) |
                             (unsigned)(colour.y * 255.0f + 0.5f) << 8 |
                             (unsigned)(colour.z * 255.0f + 0.5f) << 16 |
                             (unsigned)(colour.w * 255.0f + 0.5f) << 24;
    }
}
