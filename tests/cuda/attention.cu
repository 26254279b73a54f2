// SPDX-License-Identifier: Apache-2.0
// Attention as libraries for language models write it: a warp keeps 16 queries and walks over keys
// and values, with the softmax of what it has seen so far; scores never leave registers. Results
// are compared with a plain softmax in doubles.
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>

#include "expect.h"
#include "matrix_device.h"
#include "matrix_host.h"

constexpr int Width = 64;   // of queries, keys and values
constexpr int Queries = 16; // of a warp, four of which are a block
constexpr int Keys = 32;    // of a step

__device__ void load_columns(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

__device__ uint32_t pair_of(float low, float high)
{
    half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&pair);
}

// Lines of 128 bytes, in pieces of 16 that are swapped.
__device__ half *at(half (*lines)[Width], int line, int column)
{
    return &lines[line][(column / 8 ^ line % 8) * 8];
}

__device__ void copy_lines(half (*lines)[Width], const half *from, int count)
{
    for (int i = threadIdx.x; i < count * Width / 8; i += blockDim.x)
        copy_async(at(lines, i / 8, i % 8 * 8), from + i * 8);
}

// Over the four lanes that have a row.
template <typename Join> __device__ float of_row(float value, Join join)
{
    value = join(value, __shfl_xor_sync(~0u, value, 1));
    return join(value, __shfl_xor_sync(~0u, value, 2));
}

__device__ float larger(float a, float b)
{
    return fmaxf(a, b);
}

__device__ float sum_of(float a, float b)
{
    return a + b;
}

template <bool is_causal>
__global__ void __launch_bounds__(128)
    attention(const half *q, const half *k, const half *v, float *out, int n, float scale)
{
    __shared__ __align__(128) half queries[4 * Queries][Width];
    __shared__ __align__(128) half keys[Keys][Width], values[Keys][Width];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 4 * Queries;
    size_t head = (size_t)blockIdx.y * n * Width;
    float result[Width / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, weight[2] = {};
    uint32_t part_q[Width / 16][4];
    copy_lines(queries, q + head + first * Width, 4 * Queries);
    asm volatile("cp.async.wait_all;");
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Width / 16; i++)
        load_rows(part_q[i], at(queries, warp * Queries + lane % 16, i * 16 + lane / 16 * 8));
    int last = is_causal ? first + 4 * Queries : n;
    for (int key = 0; key < last; key += Keys) {
        float score[Keys / 8][4] = {};
        copy_lines(keys, k + head + key * Width, Keys);
        copy_lines(values, v + head + key * Width, Keys);
        asm volatile("cp.async.wait_all;");
        __syncthreads();
#pragma unroll
        for (int j = 0; j < Keys / 16; j++)
#pragma unroll
            for (int i = 0; i < Width / 16; i++) {
                uint32_t part[4];
                load_rows(part, at(keys, j * 16 + lane % 16, i * 16 + lane / 16 * 8));
                multiply_add<half>(score[j * 2], part_q[i], part[0], part[2]);
                multiply_add<half>(score[j * 2 + 1], part_q[i], part[1], part[3]);
            }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int row = first + warp * Queries + lane / 4 + r * 8;
            float highest = most[r], sum = 0;
#pragma unroll
            for (int j = 0; j < Keys / 8; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float &one = score[j][r * 2 + e];
                    int column = key + j * 8 + lane % 4 * 2 + e;
                    one = is_causal && column > row ? -INFINITY : one * scale;
                    highest = fmaxf(highest, one);
                }
            highest = of_row(highest, larger);
            float kept = exp2f(most[r] - highest);
#pragma unroll
            for (int j = 0; j < Keys / 8; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    score[j][r * 2 + e] = exp2f(score[j][r * 2 + e] - highest);
                    sum += score[j][r * 2 + e];
                }
            weight[r] = weight[r] * kept + of_row(sum, sum_of);
            most[r] = highest;
#pragma unroll
            for (int i = 0; i < Width / 8; i++)
                for (int e = 0; e < 2; e++)
                    result[i][r * 2 + e] *= kept;
        }
#pragma unroll
        for (int j = 0; j < Keys / 16; j++) {
            uint32_t p[4];
            for (int half = 0; half < 2; half++)
                for (int r = 0; r < 2; r++)
                    p[half * 2 + r] =
                        pair_of(score[j * 2 + half][r * 2], score[j * 2 + half][r * 2 + 1]);
#pragma unroll
            for (int i = 0; i < Width / 16; i++) {
                uint32_t part[4];
                load_columns(part, at(values, j * 16 + lane % 16, i * 16 + lane / 16 * 8));
                multiply_add<half>(result[i * 2], p, part[0], part[1]);
                multiply_add<half>(result[i * 2 + 1], p, part[2], part[3]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < Width / 8; i++)
        for (int e = 0; e < 4; e++) {
            int row = first + warp * Queries + lane / 4 + e / 2 * 8;
            out[head + row * Width + i * 8 + lane % 4 * 2 + e % 2] = result[i][e] / weight[e / 2];
        }
}

// ---- the host ----

static std::vector<double> expected_row(const std::vector<half> &q, const std::vector<half> &k,
                                        const std::vector<half> &v, size_t head, int row, int keys)
{
    std::vector<double> weights(keys), result(Width);
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < keys; j++) {
        weights[j] = 0;
        for (int i = 0; i < Width; i++)
            weights[j] += (double)__half2float(q[head + row * Width + i]) *
                          __half2float(k[head + j * Width + i]);
        weights[j] /= 8; // the root of Width
        most = std::fmax(most, weights[j]);
    }
    for (int j = 0; j < keys; j++)
        sum += weights[j] = std::exp(weights[j] - most);
    for (int j = 0; j < keys; j++)
        for (int i = 0; i < Width; i++)
            result[i] += weights[j] / sum * __half2float(v[head + j * Width + i]);
    return result;
}

template <bool is_causal> static bool check(int n, int heads)
{
    size_t count = (size_t)n * heads * Width;
    std::vector<half> q(count), k(count), v(count);
    fill(q);
    fill(k);
    fill(v);
    Device<half> on_q(q), on_k(k), on_v(v);
    Device<float> on_out(std::vector<float>(count, 0.0f));
    // exp2 takes the place of exp.
    attention<is_causal><<<dim3(n / (4 * Queries), heads), 128>>>(
        on_q.data, on_k.data, on_v.data, on_out.data, n, 0.125f * 1.44269504f);
    std::vector<float> out = on_out.get(count);
    for (int head = 0; head < heads; head++)
        for (int row = 0; row < n; row += 7) {
            size_t at = (size_t)head * n * Width;
            std::vector<double> expected = expected_row(q, k, v, at, row, is_causal ? row + 1 : n);
            for (int i = 0; i < Width; i++)
                if (!(std::fabs(out[at + row * Width + i] - expected[i]) < 4e-3))
                    return false;
        }
    return true;
}

int main()
{
    EXPECT(check<false>(128, 2));
    EXPECT(check<true>(192, 1));
    return verdict("attention");
}
