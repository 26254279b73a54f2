// SPDX-License-Identifier: Apache-2.0
//
// Kernels with arrays of each thread's own that are indexed by variables.

// The median of 5 x 5 pixels, by insertion.
extern "C" __global__ void median(const float *in, float *out, unsigned side)
{
    float sorted[25];
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned pitch = side + 4;
    if (x >= side || y >= side)
        return;
#pragma unroll 1
    for (int count = 0; count < 25; count++) {
        float value = in[(y + count / 5) * pitch + x + count % 5];
        int place = count;
#pragma unroll 1
        for (; place > 0 && sorted[place - 1] > value; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = value;
    }
    out[y * side + x] = sorted[12];
}

// How many of a thread's words end in each of 16 ways.
extern "C" __global__ void endings(const unsigned *in, unsigned *out, unsigned words, unsigned)
{
    unsigned counts[16];
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = 0; i < 16; i++)
        counts[i] = 0;
#pragma unroll 1
    for (unsigned i = 0; i < words; i++)
        counts[in[i * threads + thread] % 16]++;
#pragma unroll 1
    for (unsigned i = 0; i < 16; i++)
        out[i * threads + thread] = counts[i];
}

// A polynomial of each thread's own, at many places; its coefficients are loaded in a loop.
extern "C" __global__ void polynomial(const float *in, float *out, unsigned places,
                                      unsigned degree, unsigned)
{
    float coefficient[16];
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned i = 0; i < degree; i++)
        coefficient[i] = in[i * threads + thread];
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned place = 0; place < places; place++) {
        float x = (float)place * 0.01f;
        float value = 0.0f;
#pragma unroll 1
        for (unsigned i = 0; i < degree; i++)
            value = value * x + coefficient[i];
        sum += value;
    }
    out[thread] = sum;
}
