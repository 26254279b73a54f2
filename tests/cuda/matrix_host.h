// SPDX-License-Identifier: Apache-2.0
// What programs with products of matrices share: numbers, memory on the device, and plain products,
// which add in the order of k with one rounding each, as ptxrun does: results are the same bits.
#ifndef PTXRUN_TESTS_CUDA_MATRIX_HOST_H
#define PTXRUN_TESTS_CUDA_MATRIX_HOST_H

#include <cmath>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

static uint32_t state = 1;

static int next_number(int count)
{
    state = state * 1664525 + 1013904223;
    return (int)(state >> 16) % count;
}

static void fill(std::vector<half> &matrix)
{
    for (half &element : matrix)
        element = __float2half((next_number(2001) - 1000) / 512.0f);
}

// Few bits: sums are exact, in whatever order and rounded however often.
static void fill(std::vector<nv_bfloat16> &matrix)
{
    for (nv_bfloat16 &element : matrix)
        element = __float2bfloat16((next_number(33) - 16) / 16.0f);
}

static void fill(std::vector<int8_t> &matrix)
{
    for (int8_t &element : matrix)
        element = (int8_t)(next_number(256) - 128);
}

static float add_product(half a, half b, float sum)
{
    return std::fma(__half2float(a), __half2float(b), sum);
}

static float add_product(nv_bfloat16 a, nv_bfloat16 b, float sum)
{
    return std::fma(__bfloat162float(a), __bfloat162float(b), sum);
}

static int add_product(int8_t a, int8_t b, int sum)
{
    return a * b + sum;
}

template <typename T> struct Device {
    T *data;
    explicit Device(const std::vector<T> &from)
    {
        cudaMalloc(&data, from.size() * sizeof(T));
        cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> get(size_t count) const
    {
        std::vector<T> to(count);
        cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return to;
    }
    ~Device()
    {
        cudaFree(data);
    }
};

// a by rows or columns, b likewise; every `step`-th row is looked at.
template <typename In, typename Sum>
static bool is_product(const std::vector<In> &a, bool is_a_row, const std::vector<In> &b,
                       bool is_b_row, const std::vector<Sum> &d, int n, Sum factor, int step)
{
    for (int row = 0; row < n; row += step)
        for (int column = 0; column < n; column++) {
            Sum sum = 0;
            for (int k = 0; k < n; k++)
                sum = add_product(a[is_a_row ? row * n + k : k * n + row],
                                  b[is_b_row ? k * n + column : column * n + k], sum);
            if (sum * factor != d[row * n + column])
                return false;
        }
    return true;
}

#endif
