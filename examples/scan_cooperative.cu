// SPDX-License-Identifier: Apache-2.0
// Running sums with cooperative groups. One cooperative launch does it all: every block scans its
// part (tiles of 32 threads, then the tiles), all blocks wait for each other, then add what lies
// before them.
#include "check.h"

#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

const int THREADS = 128;
const int TILES = THREADS / 32;

// Sum of value over this thread and all before it in the block.
__device__ int scan_block(cg::thread_block block, int value)
{
    __shared__ int of_tile[TILES];
    auto tile = cg::tiled_partition<32>(block);
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = tile.shfl_up(value, distance);
        value += tile.thread_rank() >= (unsigned)distance ? other : 0;
    }
    if (tile.thread_rank() == 31) {
        of_tile[tile.meta_group_rank()] = value;
    }
    block.sync();
    for (unsigned before = 0; before < tile.meta_group_rank(); before++) {
        value += of_tile[before];
    }
    return value;
}

__global__ void scan(const int *in, int *out, int *of_block, int n)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int i = (int)grid.thread_rank();
    int value = scan_block(block, i < n ? in[i] : 0);
    if (block.thread_rank() == THREADS - 1) {
        of_block[blockIdx.x] = value;
    }
    grid.sync(); // the sums of all blocks are in memory
    for (unsigned before = 0; before < blockIdx.x; before++) {
        value += of_block[before];
    }
    if (i < n) {
        out[i] = value;
    }
}

int main()
{
    int n = 1000; // 8 blocks: they must all fit on the device at once
    int blocks = (n + THREADS - 1) / THREADS;
    std::vector<int> in(n);
    std::vector<int> out(n);
    for (int i = 0; i < n; i++) {
        in[i] = i * 7 % 23 - 5;
    }
    int is_supported = 0;
    CHECK(cudaDeviceGetAttribute(&is_supported, cudaDevAttrCooperativeLaunch, 0));
    std::printf("cooperative launch is %s\n", is_supported ? "supported" : "not supported");

    int *device_in = nullptr;
    int *device_out = nullptr;
    int *of_block = nullptr;
    CHECK(cudaMalloc(&device_in, n * sizeof(int)));
    CHECK(cudaMalloc(&device_out, n * sizeof(int)));
    CHECK(cudaMalloc(&of_block, blocks * sizeof(int)));
    CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    void *args[] = {&device_in, &device_out, &of_block, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)scan, dim3(blocks), dim3(THREADS), args, 0, nullptr));
    CHECK(cudaMemcpy(out.data(), device_out, n * sizeof(int), cudaMemcpyDeviceToHost));

    int sum = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        wrong += out[i] != sum;
    }
    std::printf("%d elements in %d blocks, last sum %d, wrong sums: %d\n", n, blocks, out[n - 1],
                wrong);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
    CHECK(cudaFree(of_block));
    return finish("scan_cooperative", wrong == 0);
}
