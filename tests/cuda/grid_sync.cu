// SPDX-License-Identifier: Apache-2.0
// Cooperative grids whose blocks wait for each other in each step of a loop: a relaxation that swaps
// its arrays, a solver with sums over the grid, a scan whose steps double their distance. Numbers
// are integers, so that every order gives the same.
#include <cooperative_groups.h>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;

__global__ void relax(unsigned *a, unsigned *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < steps; k++) {
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
            b[i] = a[i > 0 ? i - 1 : n - 1] + 3 * a[i] + a[i + 1 < n ? i + 1 : 0] + k;
        grid.sync();
        unsigned *t = a;
        a = b;
        b = t;
    }
}

// Each step needs the sum of the step before. sums has one element for each step.
__global__ void follow_sums(unsigned *x, int n, unsigned *sums, int steps)
{
    __shared__ unsigned of_block;
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    unsigned before = 1;
    for (int k = 0; k < steps; k++) {
        if (block.thread_rank() == 0)
            of_block = 0;
        block.sync();
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) {
            x[i] = x[i] * 5 + before;
            atomicAdd(&of_block, x[i]);
        }
        block.sync();
        if (block.thread_rank() == block.size() - 1)
            atomicAdd(&sums[k], of_block);
        grid.sync();
        before = sums[k];
    }
}

// Sums of all elements up to each one, in both arrays.
__global__ void scan(unsigned *a, unsigned *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    for (int distance = 1; distance < n; distance *= 2) {
        if (i < n)
            b[i] = a[i] + (i >= distance ? a[i - distance] : 0);
        grid.sync();
        unsigned *t = a;
        a = b;
        b = t;
    }
    if (i >= n)
        return;
    b[i] = a[i];
}

static const int element_count = 5000;

struct arrays {
    std::vector<unsigned> host;
    unsigned *a, *b, *sums;

    arrays() : host(element_count)
    {
        for (int i = 0; i < element_count; i++)
            host[i] = (i * 7919u + 13u) % 1000u;
        EXPECT_OK(cudaMalloc(&a, bytes()));
        EXPECT_OK(cudaMalloc(&b, bytes()));
        EXPECT_OK(cudaMalloc(&sums, 64 * sizeof *sums));
        EXPECT_OK(cudaMemset(sums, 0, 64 * sizeof *sums));
        EXPECT_OK(cudaMemcpy(a, host.data(), bytes(), cudaMemcpyHostToDevice));
    }
    ~arrays()
    {
        cudaFree(a);
        cudaFree(b);
        cudaFree(sums);
    }
    size_t bytes() const { return host.size() * sizeof(unsigned); }
    bool has(const unsigned *device) const
    {
        std::vector<unsigned> there(host.size());
        EXPECT_OK(cudaDeviceSynchronize());
        EXPECT_OK(cudaMemcpy(there.data(), device, bytes(), cudaMemcpyDeviceToHost));
        return there == host;
    }
};

template <typename Kernel, typename... Arguments>
static void launch(Kernel kernel, int blocks, int threads, Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    EXPECT_OK(cudaLaunchCooperativeKernel((void *)kernel, dim3(blocks), dim3(threads), pointers, 0, 0));
}

static void try_relax(int blocks, int threads, int steps)
{
    arrays all;
    int n = element_count;
    launch(relax, blocks, threads, all.a, all.b, n, steps);
    for (int k = 0; k < steps; k++) {
        std::vector<unsigned> before = all.host;
        for (int i = 0; i < n; i++)
            all.host[i] = before[i > 0 ? i - 1 : n - 1] + 3 * before[i] + before[i + 1 < n ? i + 1 : 0] + k;
    }
    EXPECT(all.has(steps % 2 == 0 ? all.a : all.b));
}

static void try_sums(int blocks, int threads, int steps)
{
    arrays all;
    launch(follow_sums, blocks, threads, all.a, element_count, all.sums, steps);
    unsigned before = 1;
    for (int k = 0; k < steps; k++) {
        unsigned sum = 0;
        for (unsigned &x : all.host) {
            x = x * 5 + before;
            sum += x;
        }
        before = sum;
    }
    EXPECT(all.has(all.a));
}

static void try_scan(int threads)
{
    arrays all;
    int n = element_count, blocks = (n + threads - 1) / threads, steps = 0;
    launch(scan, blocks, threads, all.a, all.b, n);
    while (1 << steps < n)
        steps++;
    for (int i = 1; i < n; i++)
        all.host[i] += all.host[i - 1];
    EXPECT(all.has(all.a) && all.has(all.b));
}

int main()
{
    const int shapes[][2] = {{1, 32}, {2, 70}, {7, 256}, {40, 33}, {160, 128}, {3, 1024}};
    for (auto &shape : shapes) {
        try_relax(shape[0], shape[1], 1);
        try_relax(shape[0], shape[1], 20);
        try_sums(shape[0], shape[1], 15);
    }
    try_scan(128);
    try_scan(96);
    return verdict("grid_sync");
}
