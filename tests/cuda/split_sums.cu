// SPDX-License-Identifier: Apache-2.0
// Products that are split along the slowest direction of the grid: the blocks of the first slice set the results to 0,
// and all slices add their parts. Nothing but the order in which a GPU begins blocks makes that right, and libraries of
// quantised networks are written so. Numbers are small integers, so that every order of additions gives the same.
#include <cuda_fp16.h>
#include <vector>

#include "expect.h"

#define THREADS 64

__global__ void split_along_z(const half *a, const half *b, half2 *sums, int rows, int inner)
{
    int column = (blockIdx.x * THREADS + threadIdx.x) * 2;
    int columns = gridDim.x * THREADS * 2;
    int row = blockIdx.y;
    int part = inner / gridDim.z;
    half2 *sum = sums + (row * columns + column) / 2;
    if (blockIdx.z == 0)
        *sum = half2(0, 0);
    half2 own = half2(0, 0);
    for (int k = blockIdx.z * part; k < (blockIdx.z + 1) * part; k++)
        own = __hfma2(half2(a[row * inner + k], a[row * inner + k]), *(const half2 *)&b[k * columns + column], own);
    atomicAdd(sum, own);
}

// The same in one direction less, by floats, and with a barrier between.
__global__ void split_along_y(const float *x, float *sums, int n)
{
    __shared__ float all[THREADS];
    if (blockIdx.y == 0 && threadIdx.x == 0)
        sums[blockIdx.x] = 1;
    all[threadIdx.x] = 0;
    for (int i = blockIdx.y * THREADS + threadIdx.x; i < n; i += gridDim.y * THREADS)
        all[threadIdx.x] += x[blockIdx.x * n + i];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            all[threadIdx.x] += all[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(&sums[blockIdx.x], all[0]);
}

static bool is_right_along_z(int blocks, int rows, int inner, int slices)
{
    int columns = blocks * THREADS * 2;
    std::vector<half> a(rows * inner), b(inner * columns), sums(rows * columns, half(-5));
    half *device_a, *device_b, *device_sums;
    for (int i = 0; i < rows * inner; i++)
        a[i] = half(i % 3);
    for (int i = 0; i < inner * columns; i++)
        b[i] = half(i % 5 - 2);
    cudaMalloc(&device_a, a.size() * sizeof(half));
    cudaMalloc(&device_b, b.size() * sizeof(half));
    cudaMalloc(&device_sums, sums.size() * sizeof(half));
    cudaMemcpy(device_a, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(device_sums, sums.data(), sums.size() * sizeof(half), cudaMemcpyHostToDevice);
    split_along_z<<<dim3(blocks, rows, slices), THREADS>>>(device_a, device_b, (half2 *)device_sums, rows, inner);
    cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(half), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_sums);
    int wrong = 0;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            float expected = 0;
            for (int k = 0; k < inner; k++)
                expected += float(a[row * inner + k]) * float(b[k * columns + column]);
            wrong += float(sums[row * columns + column]) != expected;
        }
    return wrong == 0;
}

static bool is_right_along_y(int blocks, int n, int slices)
{
    std::vector<float> x(blocks * n), sums(blocks, -7);
    float *device_x, *device_sums;
    for (int i = 0; i < blocks * n; i++)
        x[i] = i % 7 - 3;
    cudaMalloc(&device_x, x.size() * sizeof(float));
    cudaMalloc(&device_sums, sums.size() * sizeof(float));
    cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    split_along_y<<<dim3(blocks, slices), THREADS>>>(device_x, device_sums, n);
    cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_x);
    cudaFree(device_sums);
    int wrong = 0;
    for (int block = 0; block < blocks; block++) {
        float expected = 1;
        for (int i = 0; i < n; i++)
            expected += x[block * n + i];
        wrong += sums[block] != expected;
    }
    return wrong == 0;
}

int main()
{
    for (int round = 0; round < 10; round++) {
        EXPECT(is_right_along_z(1, 1, 256, 8));
        EXPECT(is_right_along_z(7, 3, 128, 4));
        EXPECT(is_right_along_z(40, 2, 64, 16));
        EXPECT(is_right_along_y(13, 20000, 10));
        EXPECT(is_right_along_y(300, 1000, 2));
    }
    return verdict("split_sums");
}
