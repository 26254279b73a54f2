// SPDX-License-Identifier: Apache-2.0
// Kernels that access memory which they may not access, each with a twin that is right:
//   memory_defects CASE wrong|right
// The line that is wrong ends in the case's name and the rule that --check finds broken
// (tests/e2e/check_defects.sh). Without arguments: the names of all cases.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <mma.h>

#define N 1001 // odd: the last grain of the shadow is not whole

// `off` is 0 in the right twin.
__global__ void write_past_end(float *x, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + off)
        x[i] = 1; // write_past_end out-of-bounds
}

__global__ void read_past_end(const float *x, float *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + off]; // read_past_end out-of-bounds
}

__global__ void bytes_past_end(char *x, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + off)
        x[i] = 1; // bytes_past_end out-of-bounds
}

__global__ void read_before_begin(const int *x, int *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i - off]; // read_before_begin out-of-bounds
}

__global__ void wrong_stride(const int *x, int *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i * (1 + off)]; // wrong_stride out-of-bounds
}

__global__ void bad_index(const int *x, const int *index, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]]; // bad_index out-of-bounds
}

__global__ void set_index(int *index, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        index[i] = i == 77 ? n - 1 + off : n - 1 - i;
}

__global__ void null_pointer(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // null_pointer out-of-bounds
}

__global__ void use_after_free(int *x)
{
    x[threadIdx.x] += 1; // use_after_free use-after-free
}

__global__ void use_after_free_in_stream(int *x)
{
    x[threadIdx.x] = 1; // use_after_free_in_stream use-after-free
}

__global__ void past_end_in_pool(char *x, int n, int off)
{
    int i = threadIdx.x;
    if (i < n + off)
        x[i] = 1; // past_end_in_pool out-of-bounds
}

__global__ void four_at_once(const float4 *x, float *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4 + off) {
        float4 v = x[i]; // four_at_once out-of-bounds
        y[i] = v.x + v.y + v.z + v.w;
    }
}

__global__ void atomic_past_end(int *bins, int n, int off)
{
    atomicAdd(&bins[threadIdx.x % (n + off)], 1); // atomic_past_end out-of-bounds
}

__global__ void managed_past_end(int *x, int n, int off)
{
    if (threadIdx.x < n + off)
        x[threadIdx.x] = 1; // managed_past_end out-of-bounds
}

__global__ void pinned_past_end(int *x, int n, int off)
{
    if (threadIdx.x < n + off)
        x[threadIdx.x] = 1; // pinned_past_end out-of-bounds
}

__global__ void memory_of_the_host(int *x)
{
    x[threadIdx.x] = 1; // memory_of_the_host host-memory
}

__global__ void unrolled_tail(const float *x, float *y, int n, int off)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    if (i + 3 < n + 3 * off) {
        sum += x[i];
        sum += x[i + 1]; // unrolled_tail out-of-bounds
        sum += x[i + 2]; // unrolled_tail out-of-bounds
        sum += x[i + 3]; // unrolled_tail out-of-bounds
        y[i / 4] = sum;
    }
}

__global__ void stencil_border(const float *x, float *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1 + off)
        y[i] = x[i - 1] + x[i] +
               x[i + 1]; // stencil_border out-of-bounds
}

__global__ void columns(const float *x, float *y, int width, int height, int off)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (column < width) {
        for (int row = 0; row < height + off; row++)
            sum += x[row * width + column]; // columns out-of-bounds
        y[column] = sum;
    }
}

__global__ void row_for_each(const float *x, float *y, int width, int height, int off)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row < height) {
        for (int column = 0; column < width + off; column++)
            sum += x[row * width + column]; // row_for_each out-of-bounds
        y[row] = sum;
    }
}

__global__ void shared_past_end(float *x, int off)
{
    extern __shared__ float tile[];
    tile[threadIdx.x + off] = x[threadIdx.x]; // shared_past_end shared-out-of-bounds
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void shared_before_begin(float *x, int off)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0 || off)
        x[threadIdx.x] = tile[(int)threadIdx.x - 1]; // shared_before_begin variable-out-of-bounds
}

__global__ void shared_reduction(float *x, int off)
{
    extern __shared__ float sums[];
    sums[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half + off)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // shared_reduction shared-out-of-bounds
        __syncthreads();
    }
    if (threadIdx.x == 0)
        x[0] = sums[0];
}

__global__ void shared_is_missing(float *x)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x]; // shared_is_missing shared-out-of-bounds
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

#define TILE 16

// What lies behind an array, or in front of it, is another one.
__global__ void shared_neighbour(float *x, int off)
{
    __shared__ float first[64];
    __shared__ float second[64];
    second[threadIdx.x] = x[threadIdx.x];
    first[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = first[threadIdx.x + off]; // shared_neighbour variable-out-of-bounds
    __syncthreads();
    second[(int)threadIdx.x - off] = x[threadIdx.x]; // shared_neighbour variable-out-of-bounds
    __syncthreads();
    x[threadIdx.x] += second[63 - threadIdx.x];
}

__global__ void shared_rows(float *x, int off)
{
    __shared__ float above[TILE];
    __shared__ float tile[TILE][TILE + 1];
    __shared__ float below[TILE];
    float sum = 0;
    above[threadIdx.x] = below[threadIdx.x] = x[threadIdx.x];
    for (int row = 0; row < TILE; row++)
        tile[row][threadIdx.x] = x[row * TILE + threadIdx.x];
    __syncthreads();
    for (int row = 0; row < TILE + off; row++)
        sum += tile[row][threadIdx.x]; // shared_rows variable-out-of-bounds
    x[threadIdx.x] = sum + above[TILE - 1 - threadIdx.x] + below[TILE - 1 - threadIdx.x];
}

__global__ void below_dynamic(float *x, int off)
{
    __shared__ float fixed[64];
    extern __shared__ float tile[];
    fixed[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    tile[(int)threadIdx.x - off] = 2 * x[threadIdx.x]; // below_dynamic variable-out-of-bounds
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x] + fixed[threadIdx.x];
}

__global__ void atomic_on_neighbour(int *x, int off)
{
    __shared__ int bins[8];
    __shared__ int total[8];
    if (threadIdx.x < 8)
        bins[threadIdx.x] = total[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % (8 + off)], x[threadIdx.x]); // atomic_on_neighbour variable-out-of-bounds
    atomicAdd(&total[threadIdx.x % 8], 1);
    __syncthreads();
    x[threadIdx.x] = bins[threadIdx.x % 8] + total[threadIdx.x % 8];
}

__global__ void own_array(const float *x, float *y, int n, int off)
{
    float sums[TILE];
    for (int i = 0; i < TILE; i++)
        sums[i] = x[i];
    for (int i = 0; i < n + off; i++)
        sums[i] += x[threadIdx.x]; // own_array variable-out-of-bounds
    y[threadIdx.x] = sums[(int)x[0] & TILE - 1];
}

__global__ void before_own_array(const int *x, int *y, int off)
{
    int sorted[TILE];
    for (int i = 0; i < TILE; i++) {
        int place = i - 1;
        for (; place >= 0 && sorted[place] > x[i]; place--)
            sorted[place + 1] = sorted[place];
        sorted[place + 1] = x[i];
    }
    y[threadIdx.x] = sorted[x[threadIdx.x] - off]; // before_own_array variable-out-of-bounds
}

struct Weights {
    float of[7];
};

__global__ void parameter_past_end(float *x, const int *index, const __grid_constant__ Weights weights, int off)
{
    const float *of = weights.of;
    x[threadIdx.x] = of[index[threadIdx.x] + 7 * off]; // parameter_past_end variable-out-of-bounds
}

#define LDMATRIX "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"

namespace wmma = nvcuda::wmma;

__global__ void matrix_in_neighbour(half *x, int off)
{
    __shared__ half a[TILE * TILE];
    __shared__ half b[TILE * TILE];
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, half> sum;
    for (int i = threadIdx.x; i < TILE * TILE; i += 32)
        a[i] = b[i] = x[i];
    __syncwarp();
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(of_a, a + 8 * off, TILE); // matrix_in_neighbour variable-out-of-bounds
    wmma::load_matrix_sync(of_b, b - 8 * off, TILE); // matrix_in_neighbour variable-out-of-bounds
    wmma::mma_sync(sum, of_a, of_b, sum);
    wmma::store_matrix_sync(x, sum, TILE, wmma::mem_row_major);
}

__global__ void matrix_past_end(half *x, int off)
{
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, half> sum;
    wmma::fill_fragment(sum, 1);
    wmma::store_matrix_sync(x, sum, TILE + 8 * off, wmma::mem_row_major); // matrix_past_end out-of-bounds
}

__global__ void lines_past_end(int *x, int off)
{
    __shared__ alignas(16) int lines[32 * 4];
    __shared__ alignas(16) int others[32 * 4];
    int word;
    for (int i = 0; i < 4; i++)
        lines[4 * threadIdx.x + i] = others[4 * threadIdx.x + i] = x[threadIdx.x];
    __syncwarp();
    unsigned line = __cvta_generic_to_shared(&lines[4 * (threadIdx.x % 8 + 25 * off)]);
    asm volatile(LDMATRIX : "=r"(word) : "r"(line)); // lines_past_end variable-out-of-bounds
    x[threadIdx.x] = word + others[threadIdx.x];
}

__device__ int table[10];
__device__ int behind_table[10];

__global__ void variable_past_end(int *y, int n, int off)
{
    if (threadIdx.x < n + off)
        y[threadIdx.x] = table[threadIdx.x]; // variable_past_end out-of-bounds
    if (threadIdx.x < n)
        y[threadIdx.x] += behind_table[threadIdx.x];
}

__constant__ int weights[5];

__global__ void constant_past_end(int *y, int n, int off)
{
    if (threadIdx.x < n + off)
        y[threadIdx.x] = weights[threadIdx.x]; // constant_past_end out-of-bounds
}

__global__ void heap_past_end(int *y, int off)
{
    int *mine = (int *)malloc(5 * sizeof(int));
    for (int i = 0; i < 5 + off; i++)
        mine[i] = i; // heap_past_end out-of-bounds
    y[threadIdx.x] = mine[4];
    free(mine);
}

__global__ void heap_after_free(int *y, int off)
{
    int *mine = (int *)malloc(5 * sizeof(int));
    mine[0] = threadIdx.x;
    if (off)
        free(mine);
    y[threadIdx.x] = mine[0]; // heap_after_free use-after-free
    if (!off)
        free(mine);
}

// No access is wrong, so it is for --leak-check alone (tests/e2e/check_reports.sh).
__global__ void heap_leaked(int *y, int off)
{
    int *mine = (int *)malloc(5 * sizeof(int));
    mine[threadIdx.x % 5] = threadIdx.x;
    y[threadIdx.x] = mine[threadIdx.x % 5];
    if (!off || threadIdx.x % 2 == 0)
        free(mine);
}

__device__ __noinline__ void put(int *x, int i, int value)
{
    x[i] = value; // in_a_function out-of-bounds
}

__global__ void in_a_function(int *x, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + off)
        put(x, i, i);
}

template <typename T> static T *make(size_t count)
{
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

static void in_streams(const char *name, bool is_wrong)
{
    char *x;
    if (strcmp(name, "use_after_free") == 0) {
        int *freed = make<int>(256);
        if (is_wrong)
            cudaFree(freed);
        use_after_free<<<1, 256>>>(freed);
    } else if (strcmp(name, "use_after_free_in_stream") == 0) {
        cudaMallocAsync(&x, 1024, 0);
        if (is_wrong)
            cudaFreeAsync(x, 0);
        use_after_free_in_stream<<<1, 256>>>((int *)x);
    } else if (strcmp(name, "past_end_in_pool") == 0) {
        cudaMallocAsync(&x, 100, 0);
        past_end_in_pool<<<1, 256>>>(x, 100, is_wrong);
        cudaFreeAsync(x, 0);
    }
}

static void in_other_memory(const char *name, int off)
{
    int *x;
    static int of_the_host[256];
    if (strcmp(name, "managed_past_end") == 0) {
        cudaMallocManaged(&x, 101 * sizeof *x);
        managed_past_end<<<1, 256>>>(x, 101, off);
    } else if (strcmp(name, "pinned_past_end") == 0) {
        cudaMallocHost(&x, 101 * sizeof *x);
        pinned_past_end<<<1, 256>>>(x, 101, off);
    } else if (strcmp(name, "memory_of_the_host") == 0) {
        if (!off)
            cudaHostRegister(of_the_host, sizeof of_the_host, 0);
        memory_of_the_host<<<1, 256>>>(of_the_host);
    }
}

// x is the first allocation of the program.
__global__ void read_before_all(const int *x, int *y, int n, int off)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i - off]; // read_before_all out-of-bounds
}

#define BLOCKS ((N + 255) / 256), 256
#define CASE(name, ...)                                                                            \
    if (strcmp(wanted, #name) == 0)                                                                \
        name<<<__VA_ARGS__;

static void in_shared_memory(const char *wanted, int off)
{
    CASE(shared_past_end, 1, 256, 1024>>>(make<float>(256), off))
    CASE(shared_before_begin, 1, 256>>>(make<float>(256), off))
    CASE(shared_reduction, 1, 256, 1024>>>(make<float>(256), 64 * off))
    CASE(shared_is_missing, 1, 256, off ? 0 : 1024>>>(make<float>(256)))
    CASE(shared_neighbour, 1, 64>>>(make<float>(64), off))
    CASE(shared_rows, 1, TILE>>>(make<float>(TILE * TILE), off))
    CASE(below_dynamic, 1, 64, 256>>>(make<float>(64), off))
    CASE(atomic_on_neighbour, 1, 64>>>(make<int>(64), off))
    CASE(matrix_in_neighbour, 1, 32>>>(make<half>(TILE * TILE), off))
    CASE(lines_past_end, 1, 32>>>(make<int>(32), off))
}

static void in_variables(const char *wanted, int off)
{
    CASE(own_array, 1, 64>>>(make<float>(64), make<float>(64), TILE, off))
    CASE(before_own_array, 1, TILE>>>(make<int>(TILE), make<int>(TILE), off))
    CASE(parameter_past_end, 1, 64>>>(make<float>(64), make<int>(64), {}, off))
}

static void in_global_memory(const char *wanted, int off)
{
    CASE(write_past_end, BLOCKS>>>(make<float>(N), N, off))
    CASE(read_past_end, BLOCKS>>>(make<float>(N), make<float>(N), N, off))
    CASE(bytes_past_end, BLOCKS>>>(make<char>(N), N, off))
    CASE(read_before_begin, BLOCKS>>>(make<int>(N), make<int>(N), N, off))
    CASE(wrong_stride, BLOCKS>>>(make<int>(N), make<int>(N), N, off))
    CASE(null_pointer, 1, 256>>>(off ? NULL : make<int>(256), make<int>(256)))
    CASE(four_at_once, BLOCKS>>>(make<float4>(N / 4), make<float>(N), N, off))
    CASE(atomic_past_end, 1, 256>>>(make<int>(37), 37, off))
    CASE(unrolled_tail, BLOCKS>>>(make<float>(N), make<float>(N), N, off))
    CASE(stencil_border, BLOCKS>>>(make<float>(N), make<float>(N), N, off))
    CASE(columns, 1, 64>>>(make<float>(50 * 20), make<float>(50), 50, 20, off))
    CASE(row_for_each, 1, 64>>>(make<float>(50 * 20), make<float>(50), 20, 50, off))
    CASE(variable_past_end, 1, 64>>>(make<int>(64), 10, off))
    CASE(constant_past_end, 1, 64>>>(make<int>(64), 5, off))
    CASE(matrix_past_end, 1, 32>>>(make<half>(TILE * TILE), off))
    CASE(heap_past_end, 1, 64>>>(make<int>(64), off))
    CASE(heap_after_free, 1, 64>>>(make<int>(64), off))
    CASE(heap_leaked, 1, 64>>>(make<int>(64), off))
    CASE(in_a_function, BLOCKS>>>(make<int>(N), N, off))
    if (strcmp(wanted, "read_before_all") == 0) {
        int *x = make<int>(N);
        read_before_all<<<BLOCKS>>>(x, make<int>(N), N, off);
    }
    if (strcmp(wanted, "bad_index") == 0) {
        int *index = make<int>(N);
        set_index<<<BLOCKS>>>(index, N, off);
        bad_index<<<BLOCKS>>>(make<int>(N), index, make<int>(N), N);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: memory_defects CASE wrong|right\n");
        return 2;
    }
    bool is_wrong = strcmp(argv[2], "wrong") == 0;
    in_global_memory(argv[1], is_wrong);
    in_shared_memory(argv[1], is_wrong);
    in_variables(argv[1], is_wrong);
    in_streams(argv[1], is_wrong);
    in_other_memory(argv[1], is_wrong);
    cudaDeviceSynchronize(); // accesses that fault, too, end with 0
    return 0;
}
