// SPDX-License-Identifier: Apache-2.0
// Threads that need much stack: deep recursion with an array in every frame, after the limit was
// raised.
#include "expect.h"

__device__ __noinline__ unsigned descend(unsigned depth, unsigned seed)
{
    unsigned local[16];
    for (int i = 0; i < 16; i++) {
        local[i] = seed * 31u + i;
    }
    unsigned below = depth == 0 ? seed : descend(depth - 1, local[seed % 16]);
    return below + local[depth % 16];
}

__global__ void run(unsigned *out, unsigned depth)
{
    out[threadIdx.x] = descend(depth + threadIdx.x, threadIdx.x);
}

static unsigned descend_on_host(unsigned depth, unsigned seed)
{
    unsigned local[16];
    for (int i = 0; i < 16; i++) {
        local[i] = seed * 31u + i;
    }
    unsigned below = depth == 0 ? seed : descend_on_host(depth - 1, local[seed % 16]);
    return below + local[depth % 16];
}

int main()
{
    size_t limit = 0;
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 64 * 1024));
    EXPECT_OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit >= 64 * 1024);
    unsigned *out = nullptr;
    unsigned value[32];
    EXPECT_OK(cudaMalloc(&out, sizeof value));
    run<<<1, 32>>>(out, 300);
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (unsigned i = 0; i < 32; i++) {
        wrong += value[i] != descend_on_host(300 + i, i);
    }
    std::printf("32 threads, recursion 300 to 331 deep, wrong results: %d\n", wrong);
    EXPECT(wrong == 0);
    EXPECT_OK(cudaFree(out));
    return verdict("deep_stack");
}
