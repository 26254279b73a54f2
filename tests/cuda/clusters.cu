// SPDX-License-Identifier: Apache-2.0
// Thread block clusters through cooperative groups: blocks that run together, reach each other's
// shared memory and wait for each other. Sizes from the kernel (__cluster_dims__) and from the
// launch.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;

constexpr int THREADS = 128;
constexpr int BINS = 96;

// The bins of a histogram are spread over the blocks of the cluster.
__global__ void histogram(const int *items, int count, int bins_per_block, int *bins)
{
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        own[i] = 0;
    cluster.sync();
    int step = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        int bin = items[i];
        int *there = cluster.map_shared_rank(own, bin / bins_per_block);
        atomicAdd(there + bin % bins_per_block, 1);
    }
    cluster.sync();
    int *first = bins + cluster.block_rank() * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        atomicAdd(first + i, own[i]);
}

// Each block adds up its part; the first of the cluster adds up what all have found.
__global__ void __cluster_dims__(4, 1, 1) reduce(const float *items, int count, float *sums)
{
    __shared__ float parts[THREADS];
    __shared__ float sum;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    float mine = 0;
    for (int i = blockIdx.x * THREADS + t; i < count; i += gridDim.x * THREADS)
        mine += items[i];
    parts[t] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            parts[t] += parts[t + half];
    }
    if (t == 0)
        sum = parts[0];
    cluster.sync();
    if (cluster.block_rank() == 0 && t < cluster.num_blocks()) {
        float part = *cluster.map_shared_rank(&sum, t);
        parts[t] = part;
    }
    __syncthreads();
    if (cluster.block_rank() == 0 && t == 0) {
        float all = 0;
        for (unsigned i = 0; i < cluster.num_blocks(); i++)
            all += parts[i];
        sums[blockIdx.x / cluster.num_blocks()] = all;
    }
    cluster.sync();
}

// Blocks hand their rows on, round after round, with arriving and waiting apart.
__global__ void ring(int rounds, int *out)
{
    __shared__ int rows[2][THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    unsigned next = (rank + 1) % cluster.num_blocks();
    int t = threadIdx.x;
    rows[0][t] = blockIdx.x * THREADS + t;
    cluster.sync();
    for (int round = 0; round < rounds; round++) {
        int *there = cluster.map_shared_rank(rows[(round + 1) % 2], next);
        there[(t + 1) % THREADS] = rows[round % 2][t] + round;
        cluster.barrier_arrive();
        out[blockIdx.x * THREADS + t] = round;
        cluster.barrier_wait();
    }
    out[blockIdx.x * THREADS + t] = rows[rounds % 2][t];
    cluster.sync();
}

// What threads know of their cluster.
__global__ void places(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int variable;
    dim3 block = cluster.block_index();
    dim3 blocks = cluster.dim_blocks();
    int *there = cluster.map_shared_rank(&variable, cluster.num_blocks() - 1);
    int number = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int *mine = out + 8 * number;
    int t = threadIdx.x + blockDim.x * threadIdx.y;
    if (t == 0) {
        mine[0] = block.x + 10 * block.y + 100 * block.z;
        mine[1] = blocks.x + 10 * blocks.y + 100 * blocks.z;
        mine[2] = cluster.block_rank();
        mine[3] = cluster.num_blocks();
        mine[4] = cluster.query_shared_rank(&variable);
        mine[5] = cluster.query_shared_rank(there);
        mine[6] = cluster.num_threads();
    }
    if (t == 63)
        mine[7] = cluster.thread_rank();
}

// Some threads leave early; the barrier does not wait for them.
__global__ void __cluster_dims__(2, 1, 1) leavers(int *out)
{
    __shared__ int cells[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (blockIdx.x % 2 == 1 && t >= THREADS / 2)
        return;
    cells[t] = t + 1000 * cluster.block_rank();
    cluster.sync();
    out[blockIdx.x * THREADS + t] = cluster.map_shared_rank(cells, cluster.block_rank() ^ 1)[t / 2];
    cluster.sync();
}

// A producer block fills its neighbours' buffers; they wait on barriers of their own.
__global__ void __cluster_dims__(4, 1, 1) produce(const int *in, int *out)
{
    __shared__ alignas(16) int buffer[THREADS];
    __shared__ alignas(16) int staged[THREADS];
    __shared__ uint64_t full;
    namespace ptx = cuda::ptx;
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        if (cluster.block_rank() != 0)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                           &full, sizeof buffer);
    }
    cluster.sync();
    if (cluster.block_rank() == 0) {
        staged[t] = in[blockIdx.x / 4 * THREADS + t];
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        unsigned to = t + 1;
        if (t < 3)
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared,
                               cluster.map_shared_rank(buffer, to), staged, sizeof staged,
                               cluster.map_shared_rank(&full, to));
    } else {
        while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
        }
        out[blockIdx.x * THREADS + t] = buffer[t] + (int)cluster.block_rank();
    }
    cluster.sync();
}

// Programmatic launches: the second grid waits for the first one's memory.
__global__ void first_grid(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second_grid(int *data)
{
    cudaGridDependencySynchronize();
    data[blockIdx.x * blockDim.x + threadIdx.x] += 100;
}

static int *device_ints(int count)
{
    int *ints;
    EXPECT_OK(cudaMalloc(&ints, count * sizeof *ints));
    EXPECT_OK(cudaMemset(ints, 0, count * sizeof *ints));
    return ints;
}

static std::vector<int> fetch(const int *from, int count)
{
    std::vector<int> ints(count);
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(ints.data(), from, count * sizeof ints[0], cudaMemcpyDeviceToHost));
    return ints;
}

struct launch {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attributes[2] = {};

    launch(dim3 grid, dim3 block, dim3 cluster, size_t shared_bytes = 0)
    {
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = shared_bytes;
        config.attrs = attributes;
        config.numAttrs = 2;
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim.x = cluster.x;
        attributes[0].val.clusterDim.y = cluster.y;
        attributes[0].val.clusterDim.z = cluster.z;
        attributes[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
        attributes[1].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
    }
};

static void check_histogram(unsigned cluster)
{
    const int count = 20000;
    std::vector<int> items(count), expected(BINS);
    for (int i = 0; i < count; i++) {
        items[i] = (int)((i * 2654435761u >> 7) % BINS);
        expected[items[i]]++;
    }
    int *input = device_ints(count), *bins = device_ints(BINS);
    EXPECT_OK(cudaMemcpy(input, items.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    int per_block = BINS / (int)cluster;
    launch l(4 * cluster, THREADS, cluster, per_block * sizeof(int));
    EXPECT_OK(cudaLaunchKernelEx(&l.config, histogram, (const int *)input, count, per_block, bins));
    EXPECT(fetch(bins, BINS) == expected);
    EXPECT_OK(cudaFree(input));
    EXPECT_OK(cudaFree(bins));
}

static void check_reduce()
{
    const int count = 100000, clusters = 3;
    std::vector<float> items(count);
    for (int i = 0; i < count; i++)
        items[i] = (float)(i % 17);
    float *input, *sums;
    EXPECT_OK(cudaMalloc(&input, count * sizeof(float)));
    EXPECT_OK(cudaMalloc(&sums, clusters * sizeof(float)));
    EXPECT_OK(cudaMemcpy(input, items.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    reduce<<<4 * clusters, THREADS>>>(input, count, sums);
    EXPECT_OK(cudaDeviceSynchronize());
    float got[clusters], expected[clusters] = {};
    EXPECT_OK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        expected[i / THREADS % (4 * clusters) / 4] += items[i];
    for (int i = 0; i < clusters; i++)
        EXPECT(got[i] == expected[i]);
    EXPECT_OK(cudaFree(input));
    EXPECT_OK(cudaFree(sums));
}

static void check_ring(unsigned cluster, int rounds)
{
    const int blocks = 2 * (int)cluster;
    int *out = device_ints(blocks * THREADS);
    launch l(blocks, THREADS, cluster);
    EXPECT_OK(cudaLaunchKernelEx(&l.config, ring, rounds, out));
    std::vector<int> got = fetch(out, blocks * THREADS), rows(blocks * THREADS);
    for (int i = 0; i < blocks * THREADS; i++)
        rows[i] = i;
    for (int round = 0; round < rounds; round++) {
        std::vector<int> next(rows.size());
        for (int block = 0; block < blocks; block++)
            for (int t = 0; t < THREADS; t++) {
                int first = block / (int)cluster * (int)cluster;
                int to = first + (block - first + 1) % (int)cluster;
                next[to * THREADS + (t + 1) % THREADS] = rows[block * THREADS + t] + round;
            }
        rows = next;
    }
    EXPECT(got == rows);
    EXPECT_OK(cudaFree(out));
}

static void check_places()
{
    dim3 grid(4, 6, 2), cluster(2, 3, 1), block(32, 2);
    int blocks = grid.x * grid.y * grid.z;
    int *out = device_ints(8 * blocks);
    launch l(grid, block, cluster);
    EXPECT_OK(cudaLaunchKernelEx(&l.config, places, out));
    std::vector<int> got = fetch(out, 8 * blocks);
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                const int *mine = &got[8 * (x + grid.x * (y + grid.y * z))];
                int rank = (int)(x % 2 + 2 * (y % 3));
                EXPECT(mine[0] == (int)(x % 2 + 10 * (y % 3)));
                EXPECT(mine[1] == 132);
                EXPECT(mine[2] == rank);
                EXPECT(mine[3] == 6);
                EXPECT(mine[4] == rank);
                EXPECT(mine[5] == 5);
                EXPECT(mine[6] == 6 * 64);
                EXPECT(mine[7] == rank * 64 + 63);
            }
    EXPECT_OK(cudaFree(out));
}

static void check_leavers()
{
    const int blocks = 4;
    int *out = device_ints(blocks * THREADS);
    leavers<<<blocks, THREADS>>>(out);
    std::vector<int> got = fetch(out, blocks * THREADS);
    for (int block = 0; block < blocks; block++)
        for (int t = 0; t < THREADS; t++) {
            int expected = t / 2 + 1000 * (block % 2 == 0);
            if (block % 2 == 1 && t >= THREADS / 2)
                expected = 0;
            EXPECT(got[block * THREADS + t] == expected);
        }
    EXPECT_OK(cudaFree(out));
}

static void check_produce()
{
    const int blocks = 8;
    std::vector<int> items(blocks / 4 * THREADS);
    for (size_t i = 0; i < items.size(); i++)
        items[i] = (int)(3 * i + 1);
    int *in = device_ints((int)items.size()), *out = device_ints(blocks * THREADS);
    EXPECT_OK(cudaMemcpy(in, items.data(), items.size() * sizeof(int), cudaMemcpyHostToDevice));
    produce<<<blocks, THREADS>>>(in, out);
    std::vector<int> got = fetch(out, blocks * THREADS);
    for (int i = 0; i < blocks * THREADS; i++) {
        int rank = i / THREADS % 4;
        int expected = rank == 0 ? 0 : items[i / THREADS / 4 * THREADS + i % THREADS] + rank;
        EXPECT(got[i] == expected);
    }
    EXPECT_OK(cudaFree(in));
    EXPECT_OK(cudaFree(out));
}

// What cannot be placed, and what the occupancy functions say.
static void check_sizes()
{
    int *out = device_ints(64 * THREADS);
    int size = 0, clusters = 0;
    launch odd(6, THREADS, 4), nine(9, THREADS, 9), sixteen(16, THREADS, 16),
        large(32, THREADS, 32), eight(16, THREADS, 8);
    EXPECT_CODE(cudaErrorInvalidClusterSize, cudaLaunchKernelEx(&odd.config, ring, 1, out));
    EXPECT_CODE(cudaErrorInvalidClusterSize, cudaLaunchKernelEx(&nine.config, ring, 1, out));
    EXPECT_CODE(cudaErrorInvalidClusterSize, cudaLaunchKernelEx(&large.config, ring, 1, out));
    EXPECT_OK(cudaOccupancyMaxPotentialClusterSize(&size, ring, &eight.config));
    EXPECT(size == 8);
    EXPECT_OK(cudaOccupancyMaxActiveClusters(&clusters, ring, &eight.config));
    EXPECT(clusters > 0);
    EXPECT_CODE(cudaErrorInvalidClusterSize,
                cudaOccupancyMaxActiveClusters(&clusters, ring, &sixteen.config));
    EXPECT_OK(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    EXPECT_OK(cudaOccupancyMaxPotentialClusterSize(&size, ring, &eight.config));
    EXPECT(size == 16);
    EXPECT_CODE(cudaErrorInvalidClusterSize, cudaLaunchKernelEx(&large.config, ring, 1, out));
    check_ring(16, 5);
    launch other(8, THREADS, 2);
    float *none = nullptr;
    EXPECT_CODE(cudaErrorInvalidClusterSize,
                cudaLaunchKernelEx(&other.config, reduce, (const float *)none, 0, none));
    cudaFuncAttributes attributes;
    EXPECT_OK(cudaFuncGetAttributes(&attributes, reduce));
    EXPECT(attributes.requiredClusterWidth == 4 && attributes.requiredClusterDepth == 1);
    EXPECT_CODE(cudaErrorNotPermitted,
                cudaFuncSetAttribute(reduce, cudaFuncAttributeRequiredClusterWidth, 2));
    cudaGetLastError();
    EXPECT_OK(cudaFree(out));
}

static void check_programmatic_launch()
{
    const int blocks = 6;
    int *data = device_ints(blocks * THREADS);
    cudaStream_t stream;
    EXPECT_OK(cudaStreamCreate(&stream));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    first_grid<<<blocks, THREADS, 0, stream>>>(data);
    EXPECT_OK(cudaLaunchKernelEx(&config, second_grid, data));
    cudaEvent_t launched;
    EXPECT_OK(cudaEventCreateWithFlags(&launched, cudaEventDisableTiming));
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = launched;
    EXPECT_OK(cudaLaunchKernelEx(&config, second_grid, data));
    EXPECT_OK(cudaEventSynchronize(launched));
    std::vector<int> got = fetch(data, blocks * THREADS);
    for (int i = 0; i < blocks * THREADS; i++)
        EXPECT(got[i] == i / THREADS + 200);
    EXPECT_OK(cudaEventDestroy(launched));
    EXPECT_OK(cudaStreamDestroy(stream));
    EXPECT_OK(cudaFree(data));
}

int main()
{
    for (unsigned cluster : {1u, 2u, 4u, 8u})
        check_histogram(cluster);
    check_reduce();
    for (unsigned cluster : {1u, 2u, 3u, 8u})
        check_ring(cluster, 7);
    check_places();
    check_leavers();
    check_produce();
    check_sizes();
    check_programmatic_launch();
    return verdict("clusters");
}
