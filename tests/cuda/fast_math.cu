// SPDX-License-Identifier: Apache-2.0
// Built with -use_fast_math: subnormals are zero to arithmetic of floats and to nothing else. Kernels
// that want them flushed and kernels that do not (of doubles, or that only move numbers) run side by
// side.
#include <cstring>

#include "expect.h"

const int count = 1000;
const int rounds = 20;

__global__ void scale(const float *in, float factor, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] * factor;
}

__global__ void move(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] * 0.5f > 1.0f ? 0.0f : in[i];
}

__global__ void smaller(const float *a, const float *b, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = a[i] < b[i] ? a[i] : b[i];
}

__global__ void scale_double(const double *in, double factor, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = in[i] * factor;
}

// Across barriers, on stacks of their own or in loops.
__global__ void sums(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t] * 0x1p-60f;
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (t < step)
            s[t] += s[t + step];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

static float *numbers(float first, float factor)
{
    float *array = nullptr;
    EXPECT_OK(cudaMallocManaged(&array, count * sizeof *array));
    for (int i = 0; i < count; i++)
        array[i] = first * (i % 2 != 0 ? -factor : factor);
    return array;
}

static bool is(float value, unsigned bits)
{
    unsigned got;
    memcpy(&got, &value, sizeof got);
    return got == bits;
}

int main()
{
    float *tiny = numbers(0x1p-130f, 1.0f);  // subnormal
    float *small = numbers(0x1p-100f, 1.0f); // with a factor of 2^-30
    float *least = numbers(0x1p-126f, 1.0f); // 0x3f7fffff times this is normal only when rounded
    float *out[5] = {};
    for (float *&array : out)
        array = numbers(1.0f, 1.0f);
    double *in64 = nullptr, *out64 = nullptr;
    EXPECT_OK(cudaMallocManaged(&in64, count * sizeof *in64));
    EXPECT_OK(cudaMallocManaged(&out64, count * sizeof *out64));
    for (int i = 0; i < count; i++)
        in64[i] = 0x1p-1040;
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        EXPECT_OK(cudaStreamCreate(&stream));
    for (int i = 0; i < rounds; i++) {
        scale<<<8, 128, 0, streams[0]>>>(tiny, 0x1p100f, out[0]);
        scale_double<<<8, 128, 0, streams[1]>>>(in64, 0x1p20, out64);
        scale<<<8, 128, 0, streams[0]>>>(small, 0x1p-30f, out[1]);
        move<<<8, 128, 0, streams[1]>>>(tiny, out[2]);
        scale<<<8, 128, 0, streams[0]>>>(least, 0x1.fffffep-1f, out[3]);
        smaller<<<8, 128, 0, streams[1]>>>(tiny, least, out[4]);
    }
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        unsigned sign = i % 2 != 0 ? 0x80000000u : 0;
        EXPECT(is(out[0][i], sign));
        EXPECT(is(out[1][i], sign));
        EXPECT(is(out[2][i], sign | 0x00080000u));
        EXPECT(is(out[3][i], sign));
        EXPECT(is(out[4][i], sign != 0 ? 0x80800000u : 0x00080000u));
        EXPECT(out64[i] == 0x1p-1020);
    }
    for (int i = 0; i < 256; i++)
        small[i] = 0x1p-70f; // 2^-130 each in the sum
    sums<<<4, 256>>>(small, out[0]);
    for (int i = 0; i < 256; i++)
        least[i] = 0x1p-60f; // 2^-120 each
    sums<<<4, 256>>>(least, out[1]);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        EXPECT(is(out[0][i], 0));
        EXPECT(out[1][i] == 0x1p-112f);
    }
    return verdict("fast_math");
}
