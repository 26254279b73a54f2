// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory, asynchronous copies and pipelines of the toolkit's C++ library: threads
// that wait for phases, alone or all of a block; copies that complete on a barrier or in a stage.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int THREADS = 128;
constexpr int BLOCKS = 4;
constexpr int TILES = 8;
constexpr int ITEMS = BLOCKS * TILES * THREADS;

#pragma nv_diag_suppress static_var_with_dynamic_init

// Each round every thread adds what its neighbour has stored.
__global__ void rounds(int *out)
{
    __shared__ int cells[THREADS];
    __shared__ block_barrier stored;
    __shared__ block_barrier read;
    int t = threadIdx.x;
    if (t == 0) {
        init(&stored, THREADS);
        init(&read, THREADS);
    }
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 10; round++) {
        cells[t] = round * 1000 + t;
        block_barrier::arrival_token token = stored.arrive();
        stored.wait(std::move(token));
        sum += cells[(t + 1) % THREADS];
        read.arrive_and_wait();
    }
    out[blockIdx.x * THREADS + t] = sum;
}

// Threads leave one after the other; the last one sees what all of them did.
__global__ void leaving(int *out)
{
    __shared__ int sum;
    __shared__ block_barrier barrier;
    int t = threadIdx.x;
    if (t == 0) {
        init(&barrier, THREADS);
        sum = 0;
    }
    __syncthreads();
    for (int round = 0; round < t; round++)
        barrier.arrive_and_wait();
    cuda::atomic_ref<int, cuda::thread_scope_block>(sum).fetch_add(t, cuda::memory_order_relaxed);
    barrier.arrive_and_drop();
    if (t == THREADS - 1)
        out[blockIdx.x] = cuda::atomic_ref<int, cuda::thread_scope_block>(sum).load();
}

// Tiles come by copies of the whole block that complete on a barrier.
__global__ void tiles_by_barrier(const int *in, int *out)
{
    __shared__ alignas(16) int tile[THREADS];
    __shared__ block_barrier barrier;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&barrier, THREADS);
    block.sync();
    int sum = 0;
    for (int i = 0; i < TILES; i++) {
        const int *from = in + (blockIdx.x * TILES + i) * THREADS;
        cuda::memcpy_async(block, tile, from, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum += tile[THREADS - 1 - threadIdx.x] * (i + 1);
        block.sync();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// The same through a pipeline of two stages, all threads producing and consuming.
__global__ void tiles_by_pipeline(const int *in, int *out)
{
    constexpr int STAGES = 2;
    __shared__ alignas(16) int tiles[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const int *from = in + blockIdx.x * TILES * THREADS;
    int sum = 0;
    for (int i = 0, fetched = 0; i < TILES; i++) {
        for (; fetched < TILES && fetched < i + STAGES; fetched++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tiles[fetched % STAGES], from + fetched * THREADS,
                               cuda::aligned_size_t<16>(sizeof tiles[0]), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tiles[i % STAGES][THREADS - 1 - threadIdx.x] * (i + 1);
        pipeline.consumer_release();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// A warp that copies and three that add: sums go to memory by an atomic reference.
__global__ void roles(const int *in, int *sums)
{
    constexpr int STAGES = 3;
    constexpr int PRODUCERS = 32;
    __shared__ int tiles[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    bool is_producer = threadIdx.x < PRODUCERS;
    auto pipeline = cuda::make_pipeline(block, &state,
                                        is_producer ? cuda::pipeline_role::producer
                                                    : cuda::pipeline_role::consumer);
    const int *from = in + blockIdx.x * TILES * THREADS;
    if (is_producer) {
        for (int i = 0; i < TILES; i++) {
            pipeline.producer_acquire();
            for (int k = threadIdx.x; k < THREADS; k += PRODUCERS)
                cuda::memcpy_async(&tiles[i % STAGES][k], from + i * THREADS + k, sizeof(int),
                                   pipeline);
            pipeline.producer_commit();
        }
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device> sum(sums[blockIdx.x]);
        for (int i = 0; i < TILES; i++) {
            pipeline.consumer_wait();
            for (int k = threadIdx.x - PRODUCERS; k < THREADS; k += THREADS - PRODUCERS)
                sum.fetch_add(tiles[i % STAGES][k], cuda::memory_order_relaxed);
            pipeline.consumer_release();
        }
    }
}

// Bulk copies in and out, and one that adds to memory; one thread issues, all wait.
__global__ void bulk(const int *in, int *out, int *sums)
{
    namespace ptx = cuda::ptx;
    __shared__ alignas(128) int tile[THREADS];
    __shared__ block_barrier barrier;
    bool is_first = threadIdx.x == 0;
    if (is_first) {
        init(&barrier, THREADS);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    for (int i = 0; i < TILES; i++) {
        int at = (blockIdx.x * TILES + i) * THREADS;
        block_barrier::arrival_token token;
        if (is_first) {
            cuda::device::memcpy_async_tx(tile, in + at, cuda::aligned_size_t<16>(sizeof tile),
                                          barrier);
            token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
        } else {
            token = barrier.arrive();
        }
        barrier.wait(std::move(token));
        tile[threadIdx.x] += 1;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (is_first) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + at, tile, sizeof tile);
            ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, tile,
                                      sizeof tile);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

static int value_of(int i)
{
    return i * 7 % 1000;
}

static int *device_array(int count)
{
    int *array = nullptr;
    EXPECT_OK(cudaMalloc(&array, count * sizeof(int)));
    EXPECT_OK(cudaMemset(array, 0, count * sizeof(int)));
    return array;
}

static std::vector<int> fetch(const int *array, int count)
{
    std::vector<int> values(count);
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(values.data(), array, count * sizeof(int), cudaMemcpyDeviceToHost));
    return values;
}

static void check_tiles(const char *name, const std::vector<int> &got)
{
    int wrong = 0;
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        int sum = 0;
        for (int tile = 0; tile < TILES; tile++)
            sum += value_of((i / THREADS * TILES + tile) * THREADS + THREADS - 1 - i % THREADS) *
                   (tile + 1);
        wrong += got[i] != sum;
    }
    std::printf("%s: %d wrong\n", name, wrong);
    EXPECT(wrong == 0);
}

static void check_rounds(int *out)
{
    int wrong = 0;
    rounds<<<BLOCKS, THREADS>>>(out);
    std::vector<int> got = fetch(out, BLOCKS * THREADS);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        wrong += got[i] != 45000 + 10 * ((i + 1) % THREADS);
    std::printf("rounds: %d wrong\n", wrong);
    EXPECT(wrong == 0);
    leaving<<<BLOCKS, THREADS>>>(out);
    got = fetch(out, BLOCKS);
    for (int i = 0; i < BLOCKS; i++)
        EXPECT(got[i] == THREADS * (THREADS - 1) / 2);
}

static void check_bulk(const int *in, int *out, int *sums)
{
    int wrong = 0;
    EXPECT_OK(cudaMemset(sums, 0, THREADS * sizeof(int)));
    bulk<<<BLOCKS, THREADS>>>(in, out, sums);
    std::vector<int> copied = fetch(out, ITEMS);
    std::vector<int> added = fetch(sums, THREADS);
    for (int i = 0; i < ITEMS; i++)
        wrong += copied[i] != value_of(i) + 1;
    for (int t = 0; t < THREADS; t++) {
        int sum = 0;
        for (int i = t; i < ITEMS; i += THREADS)
            sum += value_of(i) + 1;
        wrong += added[t] != sum;
    }
    std::printf("bulk: %d wrong\n", wrong);
    EXPECT(wrong == 0);
}

static void check_roles(const int *in, int *sums)
{
    EXPECT_OK(cudaMemset(sums, 0, BLOCKS * sizeof(int)));
    roles<<<BLOCKS, THREADS>>>(in, sums);
    std::vector<int> got = fetch(sums, BLOCKS);
    for (int b = 0; b < BLOCKS; b++) {
        int sum = 0;
        for (int i = 0; i < TILES * THREADS; i++)
            sum += value_of(b * TILES * THREADS + i);
        EXPECT(got[b] == sum);
    }
}

int main()
{
    std::vector<int> values(ITEMS);
    for (int i = 0; i < ITEMS; i++)
        values[i] = value_of(i);
    int *in = device_array(ITEMS);
    int *out = device_array(ITEMS);
    int *sums = device_array(THREADS);
    EXPECT_OK(cudaMemcpy(in, values.data(), ITEMS * sizeof(int), cudaMemcpyHostToDevice));
    check_rounds(out);
    tiles_by_barrier<<<BLOCKS, THREADS>>>(in, out);
    check_tiles("tiles by a barrier", fetch(out, BLOCKS * THREADS));
    tiles_by_pipeline<<<BLOCKS, THREADS>>>(in, out);
    check_tiles("tiles by a pipeline", fetch(out, BLOCKS * THREADS));
    check_roles(in, sums);
    check_bulk(in, out, sums);
    return verdict("async_copies");
}
