// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the instructions for them: wmma through the toolkit's header, mma with
// ldmatrix and asynchronous copies in two stages, as libraries write it, and mma.sp. The order in which products
// are added is that of k, each rounded once, so results are compared bit by bit.
//   matrix_products [SIZE [ROUNDS]]   a multiple of 128; only the large products, with their times
#include <cstdio>
#include <cstdlib>
#include <mma.h>

#include "expect.h"
#include "matrix_device.h"
#include "matrix_host.h"

using namespace nvcuda;

// ---- wmma: a warp for each 16 by 16 part ----

template <bool is_row> struct Order {
    using type = wmma::col_major;
};

template <> struct Order<true> {
    using type = wmma::row_major;
};

template <bool is_a_row, bool is_b_row>
__global__ void product_wmma(const half *a, const half *b, float *d, int n)
{
    using LayoutA = typename Order<is_a_row>::type;
    using LayoutB = typename Order<is_b_row>::type;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LayoutA> part_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LayoutB> part_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(part_a, a + (is_a_row ? row * n + k : k * n + row), n);
        wmma::load_matrix_sync(part_b, b + (is_b_row ? k * n + column : column * n + k), n);
        wmma::mma_sync(sum, part_a, part_b, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}

// ---- mma: matrix_device.h ----

template <typename In, typename Sum>
__global__ void __launch_bounds__(128) product_mma(const In *a, const In *b, Sum *d, int n)
{
    multiply_matrices<In>(a, b, d, n);
}

// ---- mma.sp: a warp for each 16 by 8 part; of every four elements of a row of a, two are stored ----

// places: of 16 columns of a, four bits for every four. Lanes 0 and 1 of four have them, or, with
// the other selector, 2 and 3: each for 16 columns, of two rows.
template <int Selector>
__global__ void product_sparse(const half *a, const uint16_t *places, const half *b, float *d,
                               int n)
{
    int lane = threadIdx.x, group = lane / 4, inside = lane % 4;
    int row = blockIdx.y * 16 + group, column = blockIdx.x * 8;
    const uint32_t *upper = (const uint32_t *)(a + row * n / 2);
    const uint32_t *lower = (const uint32_t *)(a + (row + 8) * n / 2);
    const uint32_t *line = (const uint32_t *)(b + (column + group) * n);
    float sum[4] = {};
    for (int k = 0; k < n; k += 32) {
        uint32_t part_a[4], part_b[4];
        int first = k / 4 + inside;
        for (int i = 0; i < 2; i++) {
            part_a[i * 2] = upper[first + i * 4];
            part_a[i * 2 + 1] = lower[first + i * 4];
        }
        for (int i = 0; i < 4; i++)
            part_b[i] = line[k / 2 + inside + i * 4];
        int sixteen = row * n / 16 + k / 16 + inside % 2;
        uint32_t meta = inside / 2 == Selector
                            ? places[sixteen] | (uint32_t)places[sixteen + n / 2] << 16
                            : 0xffffffff;
        asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, "
                     "%12, %13;"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(part_a[0]), "r"(part_a[1]), "r"(part_a[2]), "r"(part_a[3]),
                       "r"(part_b[0]), "r"(part_b[1]), "r"(part_b[2]), "r"(part_b[3]), "r"(meta),
                       "n"(Selector));
    }
    for (int e = 0; e < 4; e++)
        d[(row + e / 2 * 8) * n + column + inside * 2 + e % 2] = sum[e];
}

// ---- the host ----

template <bool is_a_row, bool is_b_row> static bool check_wmma(int n)
{
    std::vector<half> a(n * n), b(n * n);
    fill(a);
    fill(b);
    Device<half> on_a(a), on_b(b);
    Device<float> on_d(std::vector<float>(n * n));
    product_wmma<is_a_row, is_b_row>
        <<<dim3(n / 64, n / 16), dim3(32, 4)>>>(on_a.data, on_b.data, on_d.data, n);
    return is_product(a, is_a_row, b, is_b_row, on_d.get(n * n), n, 2.0f, 1);
}

template <typename In, typename Sum> static bool check_mma(const char *name, int n, int rounds)
{
    std::vector<In> a(n * n), b(n * n);
    fill(a);
    fill(b);
    Device<In> on_a(a), on_b(b);
    Device<Sum> on_d(std::vector<Sum>(n * n));
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int round = 0; round < rounds; round++) {
        float ms = 0;
        cudaEventRecord(begin);
        product_mma<<<dim3(n / Part, n / Part), 128>>>(on_a.data, on_b.data, on_d.data, n);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        if (rounds > 1)
            printf("%s %d: %.1f ms, %.1f G multiply-adds/s\n", name, n, ms,
                   (double)n * n * n / ms / 1e6);
    }
    return is_product(a, true, b, false, on_d.get(n * n), n, (Sum)1, n > 256 ? 37 : 1);
}

// Two of every four elements, by turns.
template <int Selector> static bool check_sparse(int n)
{
    static const int pairs[6][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
    std::vector<half> stored(n * n / 2), a(n * n, __float2half(0)), b(n * n);
    std::vector<uint16_t> places(n * n / 16);
    fill(stored);
    fill(b);
    for (int four = 0; four < n * n / 4; four++) {
        const int *pair = pairs[next_number(6)];
        for (int i = 0; i < 2; i++) {
            a[four * 4 + pair[i]] = stored[four * 2 + i];
            places[four / 4] |= (uint16_t)(pair[i] << (four % 4 * 4 + i * 2));
        }
    }
    Device<half> on_stored(stored), on_b(b);
    Device<uint16_t> on_places(places);
    Device<float> on_d(std::vector<float>(n * n));
    product_sparse<Selector><<<dim3(n / 8, n / 16), 32>>>(on_stored.data, on_places.data,
                                                          on_b.data, on_d.data, n);
    return is_product(a, true, b, false, on_d.get(n * n), n, 1.0f, 1);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128;
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (argc == 1) {
        EXPECT((check_wmma<true, false>(64)));
        EXPECT((check_wmma<false, true>(64)));
        EXPECT((check_sparse<0>(64)));
        EXPECT((check_sparse<1>(64)));
    }
    EXPECT((check_mma<half, float>("f16", n, rounds)));
    if (argc > 1)
        EXPECT((check_mma<nv_bfloat16, float>("bf16", n, rounds)));
    EXPECT((check_mma<int8_t, int>("s8", n, rounds)));
    return verdict("matrix_products");
}
