// SPDX-License-Identifier: Apache-2.0
// Kernels whose blocks race in the shared memory of their cluster, each with a twin that is right:
//   cluster_defects CASE wrong|right
// A line that races ends in the case's name and the rule that --check=race finds broken (tests/e2e/check_defects.sh).
// Of a pair of lines the one that comes second is found. Without arguments: the names of all cases.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define THREADS 64
#define BLOCKS  8
#define CLUSTER __cluster_dims__(4, 1, 1)

// Every block reads what its neighbour has written.
__global__ void CLUSTER neighbour(int *out, bool right)
{
    __shared__ int s[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = blockIdx.x; // neighbour shared-race
    if (right)
        cluster.sync();
    else
        __syncthreads();
    const int *there = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % 4);
    out[blockIdx.x * THREADS + threadIdx.x] = there[threadIdx.x]; // neighbour shared-race
    cluster.sync();
}

// Only the first block reads from the others.
__global__ void CLUSTER gather(int *out, bool right)
{
    __shared__ int sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        sum = blockIdx.x; // gather shared-race
    if (right)
        cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < 4)
        out[blockIdx.x + threadIdx.x] = *cluster.map_shared_rank(&sum, threadIdx.x); // gather shared-race
    cluster.sync();
}

// All write to the first block's memory.
__global__ void CLUSTER scatter(int *out, bool right)
{
    __shared__ int s[4 * THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    int *first = cluster.map_shared_rank(s, 0);
    int row = right ? cluster.block_rank() : 0;
    first[row * THREADS + threadIdx.x] = blockIdx.x; // scatter shared-race
    cluster.sync();
    if (cluster.block_rank() == 0)
        out[blockIdx.x * THREADS + threadIdx.x] = s[threadIdx.x];
}

__global__ void CLUSTER counter(int *out, bool right)
{
    __shared__ int count;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        count = 0;
    cluster.sync();
    int *first = cluster.map_shared_rank(&count, 0);
    if (right)
        atomicAdd(first, 1);
    else
        *first += 1; // counter shared-race
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = count;
}

// The next round writes what a neighbour may still be reading.
__global__ void CLUSTER rounds(int *out, bool right)
{
    __shared__ int s[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    const int *there = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        s[threadIdx.x] = blockIdx.x + round; // rounds shared-race
        cluster.sync();
        sum += there[threadIdx.x]; // rounds shared-race
        if (right)
            cluster.sync();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
    cluster.sync();
}

#define CASES(X) X(neighbour) X(gather) X(scatter) X(counter) X(rounds)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(kernel) puts(#kernel);
        CASES(NAME)
        return 0;
    }
    bool right = strcmp(argv[2], "right") == 0;
    bool is_known = false;
    int *out;
    cudaMalloc(&out, BLOCKS * THREADS * sizeof *out);
    cudaMemset(out, 0, BLOCKS * THREADS * sizeof *out);
#define LAUNCH(kernel)                                                                             \
    if (strcmp(argv[1], #kernel) == 0) {                                                           \
        kernel<<<BLOCKS, THREADS>>>(out, right);                                                   \
        is_known = true;                                                                           \
    }
    CASES(LAUNCH)
    cudaError_t result = cudaDeviceSynchronize();
    if (!is_known || result != cudaSuccess)
        fprintf(stderr, "%s: %s\n", argv[1], is_known ? cudaGetErrorString(result) : "no such case");
    return !is_known || result != cudaSuccess;
}
