// SPDX-License-Identifier: Apache-2.0
// Launches of a few blocks that run for long: code that comes while they run goes on inside them,
// and every thread runs once. Rows, boxes of odd sizes, lanes that exchange values, local arrays,
// blocks that have begun beside others that have not; and barriers, at which nothing can change.
#include <vector>

#include "expect.h"

__host__ __device__ static unsigned turn_around(unsigned x, int turns)
{
    for (int i = 0; i < turns; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
        x += x << 3;
    }
    return x;
}

__device__ static unsigned number_in_block()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ static unsigned first_of_block()
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return block * blockDim.x * blockDim.y * blockDim.z;
}

// In place: a thread that ran twice would be seen.
__global__ void in_rows(unsigned *x, int turns)
{
    unsigned *mine = x + blockIdx.x * blockDim.x + threadIdx.x;
    *mine = turn_around(*mine, turns);
}

__global__ void in_boxes(unsigned *x, int turns)
{
    unsigned *mine = x + first_of_block() + number_in_block();
    *mine = turn_around(*mine, turns + threadIdx.z);
}

__global__ void beside_lanes(unsigned *x, int turns)
{
    unsigned *mine = x + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = turn_around(*mine, turns);
    *mine = value + __shfl_xor_sync(0xffffffffu, value, 5);
}

__global__ void with_arrays(unsigned *x, int turns)
{
    unsigned *mine = x + blockIdx.x * blockDim.x + threadIdx.x, parts[8];
    for (unsigned i = 0; i < 8; i++)
        parts[i] = *mine + i;
    for (int i = 0; i < turns; i++) {
        unsigned *part = &parts[(*mine + i) % 8];
        *part = turn_around(*part, 1);
    }
    unsigned sum = 0;
    for (unsigned part : parts)
        sum = sum * 3 + part;
    *mine = sum;
}

__global__ void with_barriers(unsigned *x, int turns)
{
    __shared__ unsigned values[1024];
    unsigned *mine = x + blockIdx.x * blockDim.x + threadIdx.x;
    values[threadIdx.x] = turn_around(*mine, turns);
    __syncthreads();
    *mine = values[threadIdx.x] + values[(threadIdx.x + 1) % blockDim.x];
}

static unsigned expected_of_arrays(unsigned x, int turns)
{
    unsigned parts[8], sum = 0;
    for (unsigned i = 0; i < 8; i++)
        parts[i] = x + i;
    for (int i = 0; i < turns; i++)
        parts[(x + i) % 8] = turn_around(parts[(x + i) % 8], 1);
    for (unsigned part : parts)
        sum = sum * 3 + part;
    return sum;
}

typedef void (*kernel_fn)(unsigned *, int);

// Runs it on numbers of its own, and gives what it leaves.
static std::vector<unsigned> run(kernel_fn kernel, dim3 grid, dim3 block, int turns)
{
    size_t n = (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    std::vector<unsigned> x(n);
    for (size_t i = 0; i < n; i++)
        x[i] = (unsigned)i * 2654435761u;
    unsigned *device;
    EXPECT_OK(cudaMalloc(&device, n * sizeof *device));
    EXPECT_OK(cudaMemcpy(device, x.data(), n * sizeof *device, cudaMemcpyHostToDevice));
    kernel<<<grid, block>>>(device, turns);
    EXPECT_OK(cudaMemcpy(x.data(), device, n * sizeof *device, cudaMemcpyDeviceToHost));
    EXPECT_OK(cudaFree(device));
    return x;
}

template <typename Expected>
static void try_kernel(kernel_fn kernel, dim3 grid, dim3 block, int turns, Expected expected)
{
    std::vector<unsigned> x = run(kernel, grid, block, turns);
    size_t wrong = 0;
    for (size_t i = 0; i < x.size(); i++)
        wrong += x[i] != expected((unsigned)i);
    EXPECT(wrong == 0);
}

int main()
{
    const int turns = 200000;
    auto begin = [](unsigned i) { return i * 2654435761u; };
    auto plain = [&](unsigned i) { return turn_around(begin(i), turns); };
    try_kernel(in_rows, 1, 256, turns, plain);
    try_kernel(in_rows, 5, 200, turns, plain);
    try_kernel(in_boxes, dim3(1, 2, 1), dim3(7, 5, 3), turns, [&](unsigned i) {
        return turn_around(begin(i), turns + (int)(i % 105 / 35));
    });
    try_kernel(beside_lanes, 2, 192, turns,
               [&](unsigned i) { return plain(i) + plain(i ^ 5); });
    try_kernel(with_arrays, 1, 150, turns,
               [&](unsigned i) { return expected_of_arrays(begin(i), turns); });
    try_kernel(with_barriers, 1, 128, turns,
               [&](unsigned i) { return plain(i) + plain((i + 1) % 128); });
    return verdict("long_blocks");
}
