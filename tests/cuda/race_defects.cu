// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads race, each with a twin that is right:
//   race_defects CASE wrong|right
// A line that races ends in the case's name and the rule that --check=race finds broken (tests/e2e/check_defects.sh).
// Of a pair of lines the one that comes second is found: those that can are all named.
// Without arguments: the names of all cases.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <mma.h>

namespace cg = cooperative_groups;

#define THREADS 128
#define BLOCKS  6

__global__ void no_barrier(int *out, bool right)
{
    __shared__ int s[THREADS];
    s[threadIdx.x] = threadIdx.x; // no_barrier shared-race
    if (right)
        __syncthreads();
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x]; // no_barrier shared-race
}

__global__ void no_second_barrier(int *out, bool right)
{
    __shared__ int s[THREADS];
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        s[threadIdx.x] = threadIdx.x + round; // no_second_barrier shared-race
        __syncthreads();
        sum += s[(threadIdx.x + 40) % THREADS]; // no_second_barrier shared-race
        if (right)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

__global__ void no_warp_barrier(int *out, bool right)
{
    __shared__ int s[THREADS];
    unsigned lane = threadIdx.x % 32;
    s[threadIdx.x] = threadIdx.x; // no_warp_barrier shared-race
    if (right)
        __syncwarp();
    out[threadIdx.x] = s[threadIdx.x - lane + 31 - lane]; // no_warp_barrier shared-race
}

// Lanes of one half wait for each other, and read what the other half writes.
__global__ void warp_barrier_of_half(int *out, bool right)
{
    __shared__ int s[THREADS];
    unsigned lane = threadIdx.x % 32;
    s[threadIdx.x] = threadIdx.x; // warp_barrier_of_half shared-race
    if (right)
        __syncwarp();
    else if (lane < 16)
        __syncwarp(0xffff);
    else
        __syncwarp(0xffff0000);
    out[threadIdx.x] = s[threadIdx.x ^ 16]; // warp_barrier_of_half shared-race
}

__global__ void barrier_of_some(int *out, bool right)
{
    __shared__ int s[THREADS];
    unsigned group = threadIdx.x / 64;
    s[threadIdx.x] = threadIdx.x; // barrier_of_some shared-race
    if (right)
        __syncthreads();
    else if (group == 0)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 64]; // barrier_of_some shared-race
}

// Producers arrive, consumers wait.
__global__ void arrive_at_wrong_barrier(int *out, bool right)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x; // arrive_at_wrong_barrier shared-race
        if (right)
            asm volatile("barrier.arrive 1, 128;" ::: "memory");
        else
            asm volatile("barrier.arrive 2, 128;" ::: "memory");
    } else {
        if (right)
            asm volatile("barrier.sync 1, 128;" ::: "memory");
        else
            asm volatile("barrier.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = s[127 - threadIdx.x]; // arrive_at_wrong_barrier shared-race
    }
}

__global__ void plain_counter(int *out, bool right)
{
    if (right)
        atomicAdd(out, 1);
    else
        out[0] += 1; // plain_counter global-race
}

__global__ void plain_counter_of_block(int *out, bool right)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (right)
        atomicAdd(&count, 1);
    else
        count += 1; // plain_counter_of_block shared-race
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = count;
}

__global__ void atomic_against_plain(int *out, bool right)
{
    if (threadIdx.x % 2 == 0)
        atomicAdd(out, 1); // atomic_against_plain global-race
    else if (right)
        atomicExch(out, 5);
    else
        out[0] = 7; // atomic_against_plain global-race
}

__global__ void overlapping_blocks(int *out, bool right)
{
    int stride = right ? blockDim.x : blockDim.x - 1;
    out[blockIdx.x * stride + threadIdx.x] = blockIdx.x; // overlapping_blocks global-race
}

__global__ void neighbour_of_other_block(int *out, bool right)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *to = right ? out + BLOCKS * THREADS : out;
    if (i + 1 < BLOCKS * THREADS)
        to[i] = out[i + 1]; // neighbour_of_other_block global-race
}

// The last block adds up what all have written.
__device__ unsigned ticket;

__global__ void no_fence(int *out, bool right)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        out[blockIdx.x] = blockIdx.x; // no_fence global-race
        if (right)
            __threadfence();
        is_last = atomicAdd(&ticket, 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (int b = 0; b < BLOCKS; b++)
            sum += out[b]; // no_fence global-race
        out[BLOCKS] = sum;
    }
}

// Block 0 passes a value on to all others.
__global__ void relaxed_flag(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(out[1]);
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        out[0] = 42; // relaxed_flag global-race
        if (right)
            flag.store(1, cuda::memory_order_release);
        else
            flag.store(1, cuda::memory_order_relaxed);
        return;
    }
    while (flag.load(cuda::memory_order_acquire) == 0)
        continue;
    out[2 + blockIdx.x] = out[0]; // relaxed_flag global-race
}

__global__ void flag_of_block_scope(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> wide(out[1]);
    cuda::atomic_ref<int, cuda::thread_scope_block> narrow(out[1]);
    if (threadIdx.x != 0)
        return;
    if (right)
        wide.fetch_add(1, cuda::memory_order_relaxed);
    else
        narrow.fetch_add(1, cuda::memory_order_relaxed); // flag_of_block_scope global-race
}

__global__ void no_grid_barrier(int *out, bool right)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = gridDim.x * blockDim.x;
    out[i] = i; // no_grid_barrier global-race
    if (right)
        grid.sync();
    else
        __syncthreads();
    out[count + i] = out[count - 1 - i]; // no_grid_barrier global-race
}

__global__ void lock_without_fence(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> lock(out[0]);
    if (threadIdx.x != 0)
        return;
    while (lock.exchange(1, right ? cuda::memory_order_acquire : cuda::memory_order_relaxed) != 0)
        continue;
    out[1] += blockIdx.x; // lock_without_fence global-race
    if (right)
        lock.store(0, cuda::memory_order_release);
    else
        lock.store(0, cuda::memory_order_relaxed);
}

__global__ void bytes_of_neighbours(char *out, bool right)
{
    int i = right ? threadIdx.x : threadIdx.x / 2;
    out[i] = threadIdx.x; // bytes_of_neighbours global-race
}

// All write one value: no race.
__global__ void same_value(int *out, bool right)
{
    out[0] = right ? 7 : (int)threadIdx.x; // same_value global-race
}

__global__ void same_pair(int *out, bool right)
{
    int value = right ? 7 : (int)threadIdx.x;
    *(int2 *)out = make_int2(5, value); // same_pair global-race
}

// Whoever comes first reads bytes that the others write later.
__global__ void bytes_for_one(int *out, bool right)
{
    __shared__ unsigned char s[THREADS];
    s[threadIdx.x] = (unsigned char)threadIdx.x; // bytes_for_one shared-race
    if (right)
        __syncthreads();
    if (threadIdx.x == 0)
        out[0] = s[0] + 2 * s[1] + 3 * s[2] + 4 * s[3]; // bytes_for_one shared-race
}

__global__ void reduction_tail(int *out, bool right)
{
    __shared__ int s[THREADS];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d]; // reduction_tail shared-race
        if (right || d > 32)
            __syncthreads();
    }
    if (threadIdx.x == 0)
        out[0] = s[0];
}

__global__ void transposed_in_place(int *m, bool right)
{
    int x = threadIdx.x % 16;
    int y = threadIdx.x / 16;
    int value = m[x * 16 + y]; // transposed_in_place global-race
    if (right)
        __syncthreads();
    m[y * 16 + x] = value; // transposed_in_place global-race
}

// An operation that there is not, as CUDA's programming guide makes one: the plain read is a guess.
__global__ void add_by_cas(int *sum, bool right)
{
    unsigned *word = (unsigned *)sum;
    unsigned found = *word, guess; // add_by_cas global-race
    do {
        guess = found;
        found = atomicCAS(word, guess, __float_as_uint(__uint_as_float(guess) + 1)); // add_by_cas global-race
    } while (found != guess);
    if (!right && threadIdx.x == 0)
        *word = 0; // add_by_cas global-race
}

// What all blocks read is written by the last one: a word that all threads read, one of a row, one of those that each
// looks for.
__global__ void table_changed(int *out, bool right)
{
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += out[i]; // table_changed global-race
    out[(1 + blockIdx.x) * THREADS + threadIdx.x] = sum;
    if (!right && blockIdx.x == gridDim.x - 1 && threadIdx.x == 77)
        out[11] = sum; // table_changed global-race
}

__global__ void row_changed(int *out, bool right)
{
    out[(1 + blockIdx.x) * THREADS + threadIdx.x] = out[threadIdx.x]; // row_changed global-race
    if (!right && blockIdx.x == gridDim.x - 1 && threadIdx.x == 77)
        out[12] = 1; // row_changed global-race
}

__global__ void gathered_changed(int *out, bool right)
{
    unsigned place = threadIdx.x * threadIdx.x * 5 % 61;
    out[(1 + blockIdx.x) * THREADS + threadIdx.x] = out[place]; // gathered_changed global-race
    if (!right && blockIdx.x == gridDim.x - 1 && threadIdx.x == 77)
        atomicAdd(&out[20], 1); // gathered_changed global-race
}

// The same, where blocks know of each other: the last one that comes may write, if it waits for all of its threads.
__global__ void read_and_counted(int *out, bool right)
{
    __shared__ bool is_last;
    out[(1 + blockIdx.x) * THREADS + threadIdx.x] = out[threadIdx.x]; // read_and_counted global-race
    if (right)
        __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(&out[(1 + BLOCKS) * THREADS], 1) == BLOCKS - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last)
        out[threadIdx.x] = 1; // read_and_counted global-race
}

// A word that two warps have read, and that two others read until one writes it.
__global__ void tile_changed(int *out, bool right)
{
    __shared__ int s[THREADS];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < 16; i++)
        sum += s[i]; // tile_changed shared-race
    if (right)
        __syncthreads();
    if (threadIdx.x == 77)
        s[11] = sum; // tile_changed shared-race
    __syncthreads();
    out[threadIdx.x] = sum + s[11];
}

// Bytes that four threads write into a word, of which the first is read.
__global__ void bytes_of_row(int *out, bool right)
{
    __shared__ unsigned char s[THREADS];
    s[threadIdx.x] = threadIdx.x; // bytes_of_row shared-race
    if (right)
        __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x * 4 + 64) % THREADS]; // bytes_of_row shared-race
}

// Structures of three words, of which the neighbour's is read.
__global__ void members_of_neighbours(int *out, bool right)
{
    __shared__ int s[3 * (THREADS + 1)];
    for (int i = 0; i < 3; i++)
        s[3 * threadIdx.x + i] = threadIdx.x + i; // members_of_neighbours shared-race
    if (right)
        __syncthreads();
    out[threadIdx.x] = s[3 * ((threadIdx.x + 1) % THREADS) + 1]; // members_of_neighbours shared-race
}

// Loops in which nothing orders threads. Each thread reads its neighbour's row, …
__global__ void row_of_neighbour(int *out, bool right)
{
    __shared__ int s[16 * (THREADS + 1)];
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        s[16 * threadIdx.x + i] = i; // row_of_neighbour shared-race
    if (right)
        __syncthreads();
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        sum += s[16 * ((threadIdx.x + 1) % THREADS) + i]; // row_of_neighbour shared-race
    out[threadIdx.x] = sum;
}

// … all of them read all, in reverse order, …
__global__ void all_read_backwards(int *out, bool right)
{
    __shared__ int s[THREADS];
    int sum = 0;
    s[threadIdx.x] = threadIdx.x; // all_read_backwards shared-race
    if (right)
        __syncthreads();
#pragma unroll 1
    for (int i = THREADS - 1; i >= 0; i--)
        sum += s[i]; // all_read_backwards shared-race
    out[threadIdx.x] = sum;
}

// … a column, as far as the thread's number, …
__global__ void columns_of_triangle(int *out, bool right)
{
    __shared__ int s[16 * 32];
    int sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < 16 * 32; i += THREADS)
        s[i] = i; // columns_of_triangle shared-race
    if (right)
        __syncthreads();
#pragma unroll 1
    for (int i = 0; i < threadIdx.x % 16; i++)
        sum += s[32 * i + threadIdx.x % 32]; // columns_of_triangle shared-race
    out[threadIdx.x] = sum;
}

// … what another block writes, every third word and with a way out of the loop, …
__global__ void strided_of_other_block(int *out, bool right)
{
    int sum = 0;
    int *others = right ? out + BLOCKS * THREADS : out;
    out[blockIdx.x * THREADS + threadIdx.x] = 1; // strided_of_other_block global-race
#pragma unroll 1
    for (int i = 0; i < 100; i += 3) {
        int value = others[i]; // strided_of_other_block global-race
        if (value > 100)
            break;
        sum += value;
    }
    out[2 * BLOCKS * THREADS + blockIdx.x * THREADS + threadIdx.x] = sum;
}

// … and one word, before the last time round.
__global__ void same_place_each_time(int *out, bool right)
{
    int *place = out + (right ? BLOCKS : 0);
    int sum = 0;
    if (threadIdx.x == 0 && blockIdx.x > 0)
        out[blockIdx.x] = 1;
    if (threadIdx.x == 0 && blockIdx.x == 0)
        out[0] = 1; // same_place_each_time global-race
#pragma unroll 1
    for (int i = 0; i < 8 && sum < 1000; i++)
        sum += *place + i; // same_place_each_time global-race
    out[2 * BLOCKS * THREADS + blockIdx.x * THREADS + threadIdx.x] = sum;
}

// All threads add to what one of them sets to zero meanwhile, the first one as well: its own addition, which would not
// race with others, is no reason to forget that.
__global__ void counted_too_early(int *out, bool right)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0; // counted_too_early shared-race
    if (right)
        __syncthreads();
    atomicAdd(&sum, 1); // counted_too_early shared-race
    __syncthreads();
    out[threadIdx.x] = sum;
}

#define TILE 16

#define LDMATRIX "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"

namespace wmma = nvcuda::wmma;
using sums = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;

// A warp's matrix is read by the other warps, or by its own lanes, which get other elements.
__global__ void matrix_stored(int *out, bool right)
{
    __shared__ float tile[TILE * TILE];
    sums sum;
    if (threadIdx.x < 32) {
        wmma::fill_fragment(sum, 1);
        wmma::store_matrix_sync(tile, sum, TILE, wmma::mem_row_major); // matrix_stored shared-race
    }
    if (right)
        __syncthreads();
    out[threadIdx.x] = tile[TILE * TILE - 1 - threadIdx.x]; // matrix_stored shared-race
    __syncthreads();
}

// What others write is loaded as a matrix.
__global__ void matrix_loaded(int *out, bool right)
{
    __shared__ float tile[TILE * TILE];
    sums sum;
    tile[2 * threadIdx.x] = tile[2 * threadIdx.x + 1] = threadIdx.x; // matrix_loaded shared-race
    if (right)
        __syncthreads();
    if (threadIdx.x >= 96) {
        wmma::load_matrix_sync(sum, tile, TILE, wmma::mem_row_major); // matrix_loaded shared-race
        out[threadIdx.x] = sum.x[0];
    }
}

// The lines of ldmatrix belong to lanes, and nothing makes other lanes wait for them.
__global__ void lines_loaded(int *out, bool right)
{
    __shared__ alignas(16) int lines[4 * THREADS];
    int word;
    for (int i = 0; i < 4; i++)
        lines[4 * (threadIdx.x ^ 1) + i] = threadIdx.x; // lines_loaded shared-race
    if (right)
        __syncwarp();
    unsigned line = __cvta_generic_to_shared(&lines[4 * threadIdx.x]);
    asm volatile(LDMATRIX : "=r"(word) : "r"(line)); // lines_loaded shared-race
    out[threadIdx.x] = word;
}

#define CASES(X)                                                                                   \
    X(no_barrier, 1) X(no_second_barrier, 1) X(no_warp_barrier, 1) X(warp_barrier_of_half, 1)      \
    X(barrier_of_some, 1) X(arrive_at_wrong_barrier, 1) X(plain_counter, BLOCKS)                   \
    X(plain_counter_of_block, BLOCKS) X(atomic_against_plain, BLOCKS) X(overlapping_blocks, BLOCKS)\
    X(neighbour_of_other_block, BLOCKS) X(no_fence, BLOCKS) X(relaxed_flag, BLOCKS)                \
    X(flag_of_block_scope, BLOCKS) X(lock_without_fence, BLOCKS) X(bytes_of_neighbours, 1)         \
    X(same_value, BLOCKS) X(same_pair, BLOCKS) X(bytes_for_one, 1) X(reduction_tail, 1)            \
    X(transposed_in_place, 1) X(add_by_cas, BLOCKS) X(table_changed, BLOCKS)                       \
    X(row_changed, BLOCKS) X(gathered_changed, BLOCKS) X(read_and_counted, BLOCKS)                 \
    X(tile_changed, 1) X(bytes_of_row, 1) X(members_of_neighbours, 1)                              \
    X(row_of_neighbour, 1) X(all_read_backwards, 1) X(columns_of_triangle, 1)                      \
    X(strided_of_other_block, BLOCKS) X(same_place_each_time, BLOCKS)                          \
    X(counted_too_early, 1) X(matrix_stored, 1) X(matrix_loaded, 1) X(lines_loaded, 1)

static bool launch(const char *name, bool right, int *out)
{
#define LAUNCH(kernel, blocks)                                                                     \
    if (strcmp(name, #kernel) == 0) {                                                              \
        int threads = strcmp(name, "transposed_in_place") == 0 ? 256 : THREADS;                    \
        void *args[] = {&out, &right};                                                             \
        return cudaLaunchKernel((const void *)kernel, blocks, threads, args, 0, 0) == cudaSuccess; \
    }
    CASES(LAUNCH)
    if (strcmp(name, "no_grid_barrier") != 0)
        return false;
    void *args[] = {&out, &right};
    return cudaLaunchCooperativeKernel((const void *)no_grid_barrier, 2, THREADS, args, 0, 0) == cudaSuccess;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(kernel, blocks) puts(#kernel);
        CASES(NAME)
        puts("no_grid_barrier");
        return 0;
    }
    int *out;
    cudaMalloc(&out, (2 + 3 * BLOCKS) * THREADS * sizeof *out);
    cudaMemset(out, 0, (2 + 3 * BLOCKS) * THREADS * sizeof *out);
    if (!launch(argv[1], strcmp(argv[2], "right") == 0, out)) {
        fprintf(stderr, "no case '%s'\n", argv[1]);
        return 2;
    }
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return result != cudaSuccess;
}
