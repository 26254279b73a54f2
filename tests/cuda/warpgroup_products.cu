// SPDX-License-Identifier: Apache-2.0
// Products of matrices as they are written for Hopper: wgmma with descriptors made by hand. Tiles
// come to shared memory by the threads' own stores, in swizzles of 128 bytes, with elements of one
// k side by side or those of one row; by bulk copies without swizzle; A also from registers. A block
// of two warpgroups computes 128 by 64 elements. Results are compared bit by bit.
#include <cstdio>
#include <cstdlib>

#include "expect.h"
#include "matrix_host.h"

constexpr int Rows = 128, Columns = 64, GroupRows = 64;
constexpr int Step = 64; // elements of k for a stage of f16: 128 bytes

// ---- descriptors ----

enum Swizzle : uint64_t { None = 0, Bytes128 = 1 };

__device__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

__device__ uint64_t encode(uint64_t bytes)
{
    return (bytes & 0x3ffff) >> 4;
}

__device__ uint64_t descriptor(const void *tile, int leading, int stride, Swizzle swizzle)
{
    return encode(shared_address(tile)) | encode(leading) << 16 | encode(stride) << 32 |
           (uint64_t)swizzle << 62;
}

// The piece of 16 bytes of a line of 128, in a tile that begins at a multiple of 1024.
__device__ uint4 *swizzled_piece(void *tile, int line, int piece)
{
    return (uint4 *)tile + line * 8 + (piece ^ line % 8);
}

// ---- wgmma ----

__device__ void begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void finish()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define SUMS(c, s)                                                                                 \
    c(s[0]), c(s[1]), c(s[2]), c(s[3]), c(s[4]), c(s[5]), c(s[6]), c(s[7]), c(s[8]), c(s[9]),      \
        c(s[10]), c(s[11]), c(s[12]), c(s[13]), c(s[14]), c(s[15]), c(s[16]), c(s[17]), c(s[18]),  \
        c(s[19]), c(s[20]), c(s[21]), c(s[22]), c(s[23]), c(s[24]), c(s[25]), c(s[26]), c(s[27]),  \
        c(s[28]), c(s[29]), c(s[30]), c(s[31])
#define FLOAT(x)   "+f"(x)
#define INTEGER(x) "+r"(x)
#define LIST                                                                                       \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "  \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

template <int TransB>
__device__ void multiply_add(float (&d)[32], uint64_t a, uint64_t b, bool has_sum)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST
                 ", %32, %33, p, 1, 1, 0, %35; }"
                 : SUMS(FLOAT, d)
                 : "l"(a), "l"(b), "r"((int)has_sum), "n"(TransB));
}

template <int TransB>
__device__ void multiply_add(float (&d)[32], const uint32_t (&a)[4], uint64_t b, bool has_sum)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " LIST
                 ", {%32, %33, %34, %35}, %36, p, 1, 1, %38; }"
                 : SUMS(FLOAT, d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)has_sum),
                   "n"(TransB));
}

__device__ void multiply_add(int (&d)[32], uint64_t a, uint64_t b, bool has_sum)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 " LIST ", %32, %33, p; }"
                 : SUMS(INTEGER, d)
                 : "l"(a), "l"(b), "r"((int)has_sum));
}

// Stores by threads, and then reads by wgmma.
__device__ void publish()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

template <typename Sum> __device__ void store(Sum *d, int n, const Sum (&sum)[32])
{
    int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    for (int i = 0; i < 32; i++) {
        int row = blockIdx.y * Rows + group * GroupRows + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        int column = blockIdx.x * Columns + i / 4 * 8 + lane % 4 * 2 + i % 2;
        d[(size_t)row * n + column] = sum[i];
    }
}

// ---- the elements of one k side by side: of f16 64, of s8 128 are a line of 128 bytes ----

template <typename Sum> struct Element {
    using type = half;
};

template <> struct Element<int> {
    using type = int8_t;
};

__device__ void multiply_line(float (&sum)[32], const char *a, const char *b, bool has_sum)
{
    for (int at = 0; at < 128; at += 32)
        multiply_add<0>(sum, descriptor(a + at, 16, 1024, Bytes128),
                        descriptor(b + at, 16, 1024, Bytes128), has_sum || at > 0);
}

__device__ void multiply_line(int (&sum)[32], const char *a, const char *b, bool has_sum)
{
    for (int at = 0; at < 128; at += 32)
        multiply_add(sum, descriptor(a + at, 16, 1024, Bytes128),
                     descriptor(b + at, 16, 1024, Bytes128), has_sum || at > 0);
}

template <typename Sum>
__global__ void __launch_bounds__(256) product_by_k(const void *a, const void *b, Sum *d, int n)
{
    __shared__ __align__(1024) char tile_a[Rows * 128];
    __shared__ __align__(1024) char tile_b[Columns * 128];
    int line_bytes = n * (int)sizeof(typename Element<Sum>::type);
    const char *from_a = (const char *)a + (size_t)blockIdx.y * Rows * line_bytes;
    const char *from_b = (const char *)b + (size_t)blockIdx.x * Columns * line_bytes;
    Sum sum[32];
    for (int at = 0; at < line_bytes; at += 128) {
        for (int i = threadIdx.x; i < Rows * 8; i += blockDim.x)
            *swizzled_piece(tile_a, i / 8, i % 8) =
                *(const uint4 *)(from_a + (size_t)(i / 8) * line_bytes + at + i % 8 * 16);
        for (int i = threadIdx.x; i < Columns * 8; i += blockDim.x)
            *swizzled_piece(tile_b, i / 8, i % 8) =
                *(const uint4 *)(from_b + (size_t)(i / 8) * line_bytes + at + i % 8 * 16);
        publish();
        begin();
        multiply_line(sum, tile_a + threadIdx.x / 128 * GroupRows * 128, tile_b, at > 0);
        finish();
        __syncthreads();
    }
    store(d, n, sum);
}

// ---- A in registers, the rows of B side by side: 64 of its columns are a line of 128 bytes ----

__global__ void __launch_bounds__(256)
    product_by_n(const half *a, const half *b, float *d, int n)
{
    __shared__ __align__(1024) char tile_b[Step * 128];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const half *row = a + (size_t)(blockIdx.y * Rows + warp * 16 + lane / 4) * n + lane % 4 * 2;
    float sum[32];
    for (int k = 0; k < n; k += Step) {
        for (int i = threadIdx.x; i < Step * 8; i += blockDim.x)
            *swizzled_piece(tile_b, i / 8, i % 8) =
                *(const uint4 *)(b + (size_t)(k + i / 8) * n + blockIdx.x * Columns + i % 8 * 8);
        publish();
        uint32_t part[4][4];
        for (int i = 0; i < 4; i++)
            for (int r = 0; r < 4; r++)
                part[i][r] =
                    *(const uint32_t *)(row + (size_t)(r % 2 * 8) * n + k + i * 16 + r / 2 * 8);
        begin();
#pragma unroll
        for (int i = 0; i < 4; i++)
            multiply_add<1>(sum, part[i], descriptor(tile_b + i * 16 * 128, 8192, 1024, Bytes128),
                            k + i > 0);
        finish();
        __syncthreads();
    }
    store(d, n, sum);
}

// ---- bulk copies: 8 by 8 elements, which lie one behind the other, are a piece of 128 bytes ----

__device__ void wait(uint64_t *barrier, uint32_t phase)
{
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN; }" ::"r"(shared_address(barrier)),
                 "r"(phase)
                 : "memory");
}

__device__ void copy_bulk(void *to, const void *from, int bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

// a and b: for every 8 rows of a (columns of b) their pieces, in the order of k.
__global__ void __launch_bounds__(256)
    product_of_pieces(const half *a, const half *b, float *d, int n)
{
    constexpr int Bytes = Step / 8 * 128; // of 8 rows
    __shared__ __align__(128) char tile_a[Rows / 8 * Bytes];
    __shared__ __align__(128) char tile_b[Columns / 8 * Bytes];
    __shared__ uint64_t barrier;
    const char *from_a = (const char *)a + (size_t)blockIdx.y * Rows * n * sizeof(half);
    const char *from_b = (const char *)b + (size_t)blockIdx.x * Columns * n * sizeof(half);
    float sum[32];
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    __syncthreads();
    for (int k = 0; k < n; k += Step) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(
                             shared_address(&barrier)),
                         "r"((int)(sizeof tile_a + sizeof tile_b)));
            for (int i = 0; i < Rows / 8; i++)
                copy_bulk(tile_a + i * Bytes, from_a + (size_t)i * n * 16 + k * 16, Bytes, &barrier);
            for (int i = 0; i < Columns / 8; i++)
                copy_bulk(tile_b + i * Bytes, from_b + (size_t)i * n * 16 + k * 16, Bytes, &barrier);
        }
        wait(&barrier, k / Step % 2);
        const char *own = tile_a + threadIdx.x / 128 * (GroupRows / 8) * Bytes;
        begin();
        for (int i = 0; i < Step / 16; i++)
            multiply_add<0>(sum, descriptor(own + i * 256, 128, Bytes, None),
                            descriptor(tile_b + i * 256, 128, Bytes, None), k + i > 0);
        finish();
        __syncthreads();
    }
    store(d, n, sum);
}

// ---- the host ----

// Pieces of 8 rows and 8 columns one behind the other.
static std::vector<half> in_pieces(const std::vector<half> &matrix, int n)
{
    std::vector<half> pieces(matrix.size());
    for (int row = 0; row < n; row++)
        for (int k = 0; k < n; k++)
            pieces[(size_t)row / 8 * 8 * n + k / 8 * 64 + row % 8 * 8 + k % 8] =
                matrix[(size_t)row * n + k];
    return pieces;
}

template <typename In, typename Sum> static bool check_by_k(int n)
{
    std::vector<In> a(n * n), b(n * n);
    fill(a);
    fill(b);
    Device<In> on_a(a), on_b(b);
    Device<Sum> on_d(std::vector<Sum>(n * n));
    product_by_k<<<dim3(n / Columns, n / Rows), 256>>>(on_a.data, on_b.data, on_d.data, n);
    return is_product(a, true, b, false, on_d.get(n * n), n, (Sum)1, n > 256 ? 37 : 1);
}

static bool check_by_n(int n)
{
    std::vector<half> a(n * n), b(n * n);
    fill(a);
    fill(b);
    Device<half> on_a(a), on_b(b);
    Device<float> on_d(std::vector<float>(n * n));
    product_by_n<<<dim3(n / Columns, n / Rows), 256>>>(on_a.data, on_b.data, on_d.data, n);
    return is_product(a, true, b, true, on_d.get(n * n), n, 1.0f, n > 256 ? 37 : 1);
}

static bool check_pieces(int n)
{
    std::vector<half> a(n * n), b(n * n);
    fill(a);
    fill(b);
    Device<half> on_a(in_pieces(a, n)), on_b(in_pieces(b, n));
    Device<float> on_d(std::vector<float>(n * n));
    product_of_pieces<<<dim3(n / Columns, n / Rows), 256>>>(on_a.data, on_b.data, on_d.data, n);
    return is_product(a, true, b, false, on_d.get(n * n), n, 1.0f, n > 256 ? 37 : 1);
}

// usage: warpgroup_products [SIZE], a multiple of 128
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128;
    EXPECT((check_by_k<half, float>(n)));
    EXPECT((check_by_k<int8_t, int>(n)));
    EXPECT(check_by_n(n));
    EXPECT(check_pieces(n));
    return verdict("warpgroup_products");
}
