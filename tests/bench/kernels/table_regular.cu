// SPDX-License-Identifier: Apache-2.0
// Kernels whose work does not depend on data, for `ptxbench table`. table_regular.ptx is made from
// this file by build_ptx.sh.

extern "C" __global__ void vector_add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}

extern "C" __global__ void saxpy(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = factor * x[i] + y[i];
    }
}

// ---- matrix products: square matrices, one element per thread

template <typename T> static __device__ void multiply_naive(const T *a, const T *b, T *c, int size)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || column >= size) {
        return;
    }
    T sum = 0;
    for (int k = 0; k < size; k++) {
        sum += a[row * size + k] * b[k * size + column];
    }
    c[row * size + column] = sum;
}

template <typename T, int SIDE>
static __device__ void multiply_tiled(const T *a, const T *b, T *c, int size, int tx, int ty)
{
    __shared__ T a_tile[SIDE][SIDE];
    __shared__ T b_tile[SIDE][SIDE];
    int column = blockIdx.x * SIDE + tx;
    int row = blockIdx.y * SIDE + ty;
    T sum = 0;
    for (int k = 0; k < size; k += SIDE) {
        a_tile[ty][tx] = row < size && k + tx < size ? a[row * size + k + tx] : 0;
        b_tile[ty][tx] = k + ty < size && column < size ? b[(k + ty) * size + column] : 0;
        __syncthreads();
        for (int j = 0; j < SIDE; j++) {
            sum += a_tile[ty][j] * b_tile[j][tx];
        }
        __syncthreads();
    }
    if (row < size && column < size) {
        c[row * size + column] = sum;
    }
}

extern "C" __global__ void matmul_naive_f32(const float *a, const float *b, float *c, int size)
{
    multiply_naive(a, b, c, size);
}

extern "C" __global__ void matmul_naive_f64(const double *a, const double *b, double *c, int size)
{
    multiply_naive(a, b, c, size);
}

extern "C" __global__ void matmul_tiled_f32_16(const float *a, const float *b, float *c, int size)
{
    multiply_tiled<float, 16>(a, b, c, size, threadIdx.x, threadIdx.y);
}

extern "C" __global__ void matmul_tiled_f32_32(const float *a, const float *b, float *c, int size)
{
    multiply_tiled<float, 32>(a, b, c, size, threadIdx.x, threadIdx.y);
}

extern "C" __global__ void matmul_tiled_f64_16(const double *a, const double *b, double *c,
                                               int size)
{
    multiply_tiled<double, 16>(a, b, c, size, threadIdx.x, threadIdx.y);
}

extern "C" __global__ void matmul_tiled_f64_32(const double *a, const double *b, double *c,
                                               int size)
{
    multiply_tiled<double, 32>(a, b, c, size, threadIdx.x, threadIdx.y);
}

// The same by blocks of one row, which the program takes for rows of 32.
extern "C" __global__ void matmul_line_f32(const float *a, const float *b, float *c, int size)
{
    multiply_tiled<float, 32>(a, b, c, size, threadIdx.x % 32, threadIdx.x / 32);
}

// A tile of 128x128 by 256 threads in one row: each holds 8x8 sums. Sizes are multiples of 128.
extern "C" __global__ void __launch_bounds__(256)
    matmul_sums_f32(const float *a, const float *b, float *c, int size)
{
    const int side = 128;
    const int depth = 8;
    const int own = 8;
    __shared__ float a_tile[side * depth];
    __shared__ float b_tile[depth * side];
    int t = threadIdx.x;
    int place = t % (side / own) * own;
    int row = t / (side / own) * own;
    a += blockIdx.y * side * size;
    b += blockIdx.x * side;
    c += blockIdx.y * side * size + blockIdx.x * side;
    float sums[own][own] = {};
    for (int k = 0; k < size; k += depth) {
        for (int i = t; i < side * depth; i += 256) {
            a_tile[i] = a[i / depth * size + k + i % depth];
            b_tile[i] = b[(k + i / side) * size + i % side];
        }
        __syncthreads();
        for (int j = 0; j < depth; j++) {
            float down[own], across[own];
            for (int i = 0; i < own; i++) {
                down[i] = a_tile[(row + i) * depth + j];
                across[i] = b_tile[j * side + place + i];
            }
            for (int y = 0; y < own; y++) {
                for (int x = 0; x < own; x++) {
                    sums[y][x] += down[y] * across[x];
                }
            }
        }
        __syncthreads();
    }
    for (int y = 0; y < own; y++) {
        for (int x = 0; x < own; x++) {
            c[(row + y) * size + place + x] = sums[y][x];
        }
    }
}

// ---- stencils: the mean of a cell and its neighbours; cells at the rim are left alone

extern "C" __global__ void stencil2d(const float *in, float *out, int width, int height)
{
    const int side = 16;
    __shared__ float tile[side + 2][side + 2];
    int tx = threadIdx.x + 1;
    int ty = threadIdx.y + 1;
    int x = blockIdx.x * side + threadIdx.x;
    int y = blockIdx.y * side + threadIdx.y;
    int i = y * width + x;
    if (x < width && y < height) {
        tile[ty][tx] = in[i];
        if (threadIdx.x == 0 && x > 0) {
            tile[ty][0] = in[i - 1];
        }
        if (threadIdx.x == side - 1 && x < width - 1) {
            tile[ty][side + 1] = in[i + 1];
        }
        if (threadIdx.y == 0 && y > 0) {
            tile[0][tx] = in[i - width];
        }
        if (threadIdx.y == side - 1 && y < height - 1) {
            tile[side + 1][tx] = in[i + width];
        }
    }
    __syncthreads();
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        out[i] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                         tile[ty + 1][tx]);
    }
}

extern "C" __global__ void stencil3d(const float *in, float *out, int width, int height, int depth,
                                     float center, float side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= width - 1 || y >= height - 1 || z >= depth - 1) {
        return;
    }
    int plane = width * height;
    int i = z * plane + y * width + x;
    out[i] = center * in[i] + side * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] +
                                      in[i - plane] + in[i + plane]);
}

// The mean of 3x3 pixels; those beyond the border are those at the border.
extern "C" __global__ void blur_clamped(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            sum += in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
        }
    }
    out[y * width + x] = sum * (1.0f / 9.0f);
}

// Several steps of heat on a tile in shared memory, of which fewer cells are right after each: tiles
// overlap by as many as there are steps. Beyond the border it is as warm as at the border.
extern "C" __global__ void heat_pyramid(const float *in, float *out, int width, int height, int steps,
                                        float rate)
{
    const int side = 16;
    __shared__ float now[side][side];
    __shared__ float next[side][side];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int left = blockIdx.x * (side - 2 * steps) - steps;
    int top = blockIdx.y * (side - 2 * steps) - steps;
    int x = left + tx;
    int y = top + ty;
    bool is_inside = x >= 0 && y >= 0 && x < width && y < height;
    if (is_inside) {
        now[ty][tx] = in[y * width + x];
    }
    __syncthreads();
    int west = max(tx - 1, max(-left, 0));
    int east = min(tx + 1, min(width - 1 - left, side - 1));
    int north = max(ty - 1, max(-top, 0));
    int south = min(ty + 1, min(height - 1 - top, side - 1));
    bool computes = false;
    for (int i = 0; i < steps; i++) {
        computes = is_inside && tx > i && ty > i && tx < side - 1 - i && ty < side - 1 - i;
        if (computes) {
            next[ty][tx] = now[ty][tx] + rate * (now[north][tx] + now[south][tx] + now[ty][west] +
                                                 now[ty][east] - 4.0f * now[ty][tx]);
        }
        __syncthreads();
        if (i == steps - 1) {
            break;
        }
        if (computes) {
            now[ty][tx] = next[ty][tx];
        }
        __syncthreads();
    }
    if (computes) {
        out[y * width + x] = next[ty][tx];
    }
}

// ---- arithmetic

#include "nbody.cuh"

// Without contraction, so that every pixel's count is that of plain C.
extern "C" __global__ void mandelbrot(unsigned *counts, int width, int height, int limit,
                                      float scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float re = __fadd_rn(__fmul_rn((float)x, scale), -2.2f);
    float im = __fadd_rn(__fmul_rn((float)y, scale), -1.5f);
    float a = 0.0f, b = 0.0f;
    int count = 0;
    while (count < limit) {
        float aa = __fmul_rn(a, a);
        float bb = __fmul_rn(b, b);
        if (__fadd_rn(aa, bb) > 4.0f) {
            break;
        }
        b = __fadd_rn(__fmul_rn(__fadd_rn(a, a), b), im);
        a = __fadd_rn(__fsub_rn(aa, bb), re);
        count++;
    }
    counts[y * width + x] = count;
}

static __device__ float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = 1.330274429f * k - 1.821255978f;
    poly = poly * k + 1.781477937f;
    poly = poly * k - 0.356563782f;
    poly = poly * k + 0.31938153f;
    float tail = 0.39894228f * expf(-0.5f * d * d) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float *price, const float *strike,
                                         const float *years, float *call, float *put, int n,
                                         float rate, float volatility)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float root = sqrtf(years[i]);
    float d1 =
        (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
        (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = normal_cdf(d1);
    float n2 = normal_cdf(d2);
    float discounted = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
}

// ---- moving data

// A block of 32 x 8 threads turns a tile of 32 x 32.
extern "C" __global__ void transpose(const float *in, float *out, int width, int height)
{
    const int side = 32;
    const int rows = 8;
    __shared__ float tile[side][side + 1];
    int x = blockIdx.x * side + threadIdx.x;
    int y = blockIdx.y * side + threadIdx.y;
    for (int j = 0; j < side; j += rows) {
        if (x < width && y + j < height) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * side + threadIdx.x;
    y = blockIdx.x * side + threadIdx.y;
    for (int j = 0; j < side; j += rows) {
        if (x < height && y + j < width) {
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
