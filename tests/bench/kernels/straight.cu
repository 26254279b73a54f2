// SPDX-License-Identifier: Apache-2.0
// Kernels without inner loops, for bench_collapse. Parameters of every kernel: input arrays, output
// arrays, sizes, scalars. straight.ptx is made from this file by build_ptx.sh.

extern "C" __global__ void vadd(const float *a, const float *b, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}

extern "C" __global__ void saxpy(const float *x, float *y, unsigned n, float factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = factor * x[i] + y[i];
    }
}

// A row pitch that is no multiple of the block, and a guard in both directions.
extern "C" __global__ void scale2d(const float *in, float *out, unsigned width, unsigned height,
                                   float factor)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < (int)width && y < (int)height) {
        out[y * (int)width + x] = factor * in[y * (int)width + x];
    }
}

extern "C" __global__ void stencil(const float *in, float *out, unsigned width, unsigned height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int pitch = width;
    if (x > 0 && y > 0 && x < (int)width - 1 && y < (int)height - 1) {
        int i = y * pitch + x;
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - pitch] + in[i + pitch]);
    }
}

// The same through shared memory; threads at the rim of the block load the halo.
extern "C" __global__ void stencil_shared(const float *in, float *out, unsigned width,
                                          unsigned height)
{
    const int side = 16;
    __shared__ float tile[side + 2][side + 2];
    int tx = threadIdx.x + 1;
    int ty = threadIdx.y + 1;
    int x = blockIdx.x * side + threadIdx.x;
    int y = blockIdx.y * side + threadIdx.y;
    int pitch = width;
    int i = y * pitch + x;
    bool is_inside = x < (int)width && y < (int)height;
    if (is_inside) {
        tile[ty][tx] = in[i];
        if (tx == 1 && x > 0) {
            tile[ty][0] = in[i - 1];
        }
        if (tx == side && x < (int)width - 1) {
            tile[ty][side + 1] = in[i + 1];
        }
        if (ty == 1 && y > 0) {
            tile[0][tx] = in[i - pitch];
        }
        if (ty == side && y < (int)height - 1) {
            tile[side + 1][tx] = in[i + pitch];
        }
    }
    __syncthreads();
    if (x > 0 && y > 0 && x < (int)width - 1 && y < (int)height - 1) {
        out[i] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                         tile[ty + 1][tx]);
    }
}

// A block of 32 x 8 threads turns a tile of 32 x 32.
extern "C" __global__ void transpose(const float *in, float *out, unsigned size)
{
    const int side = 32;
    const int rows = 8;
    __shared__ float tile[side][side + 1];
    int x = blockIdx.x * side + threadIdx.x;
    int y = blockIdx.y * side + threadIdx.y;
#pragma unroll
    for (int j = 0; j < side; j += rows) {
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * (int)size + x];
    }
    __syncthreads();
    x = blockIdx.y * side + threadIdx.x;
    y = blockIdx.x * side + threadIdx.y;
#pragma unroll
    for (int j = 0; j < side; j += rows) {
        out[(y + j) * (int)size + x] = tile[threadIdx.x][threadIdx.y + j];
    }
}

extern "C" __global__ void permute(const float *in, const unsigned *from, const unsigned *to,
                                   float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[to[i]] = in[from[i]];
    }
}

static __device__ float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = 1.330274429f * k - 1.821255978f;
    poly = poly * k + 1.781477937f;
    poly = poly * k - 0.356563782f;
    poly = poly * k + 0.31938153f;
    float tail = 0.39894228f * __expf(-0.5f * d * d) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float *price, const float *strike,
                                         const float *years, float *call, float *put, unsigned n,
                                         float rate, float volatility)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float root = sqrtf(years[i]);
        float d1 = (__logf(price[i] / strike[i]) +
                    (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal_cdf(d1);
        float n2 = normal_cdf(d2);
        float discounted = strike[i] * __expf(-rate * years[i]);
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}
