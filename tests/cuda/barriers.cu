// SPDX-License-Identifier: Apache-2.0
// Barriers that count, barriers in both arms of a branch, barriers after some threads have left,
// and barriers in a loop whose length each block reads from memory.
#include "expect.h"

__global__ void reduce_at_barrier(int *out)
{
    int i = threadIdx.x;
    int thirds = __syncthreads_count(i % 3 == 0);
    int all_small = __syncthreads_and(i < 96);
    int not_all = __syncthreads_and(i != 95);
    int any_last = __syncthreads_or(i == 95);
    int none = __syncthreads_or(i > 95);
    out[i] =
        thirds * 16 + (all_small != 0) * 8 + (not_all != 0) * 4 + (any_last != 0) * 2 + (none != 0);
}

__global__ void warps_in_branches(int *out)
{
    __shared__ int buffer[32];
    int lane = threadIdx.x;
    if (lane < 16) {
        buffer[lane] = lane * 2;
        __syncwarp(0x0000ffffu);
        out[lane] = buffer[15 - lane];
    } else {
        buffer[lane] = lane * 3;
        __syncwarp(0xffff0000u);
        out[lane] = buffer[47 - lane];
    }
    __syncwarp();
    out[lane] += buffer[(lane + 16) % 32];
}

__global__ void leave_early(int *out)
{
    __shared__ int buffer[128];
    int i = threadIdx.x;
    if (i >= 70) {
        return; // half a warp and a whole warp do not reach the barriers below
    }
    buffer[i] = i;
    __syncthreads();
    int value = buffer[69 - i];
    __syncthreads();
    if (i % 2 == 1) {
        return;
    }
    buffer[i] = value;
    __syncthreads();
    out[i / 2] = buffer[(i + 2) % 70];
}

__global__ void in_loop(const int *rounds, int *out)
{
    __shared__ int ring[64];
    int i = threadIdx.x;
    ring[i] = i;
    for (int round = 0; round < rounds[blockIdx.x]; round++) {
        __syncthreads();
        int next = ring[(i + 1) % 64];
        __syncthreads();
        ring[i] = next;
    }
    out[blockIdx.x * 64 + i] = ring[i];
}

static int sum(const int *values, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += values[i];
    }
    return total;
}

int main()
{
    int *out = nullptr;
    int value[256];
    EXPECT_OK(cudaMalloc(&out, sizeof value));

    reduce_at_barrier<<<1, 96>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, 96 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 96; i++) {
        EXPECT(value[i] == 32 * 16 + 8 + 2);
    }
    std::printf("barrier with reduction: %d\n", value[0]);

    warps_in_branches<<<1, 32>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) {
        EXPECT(value[i] == (15 - i) * 2 + (i + 16) * 3);
        EXPECT(value[16 + i] == (31 - i) * 3 + i * 2);
    }
    std::printf("warp barriers in two branches: %d\n", sum(value, 32));

    leave_early<<<1, 128>>>(out);
    EXPECT_OK(cudaMemcpy(value, out, 35 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 35; i++) {
        EXPECT(value[i] == 69 - (2 * i + 2) % 70);
    }
    std::printf("early exit: %d\n", sum(value, 35));

    const int rounds[4] = {0, 1, 5, 100};
    int *device_rounds = nullptr;
    EXPECT_OK(cudaMalloc(&device_rounds, sizeof rounds));
    EXPECT_OK(cudaMemcpy(device_rounds, rounds, sizeof rounds, cudaMemcpyHostToDevice));
    in_loop<<<4, 64>>>(device_rounds, out);
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        EXPECT(value[i] == (i % 64 + rounds[i / 64]) % 64);
    }
    std::printf("barriers in a loop: %d %d %d %d\n", value[0], value[64], value[128], value[192]);
    EXPECT_OK(cudaFree(device_rounds));
    EXPECT_OK(cudaFree(out));
    return verdict("barriers");
}
