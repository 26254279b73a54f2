// SPDX-License-Identifier: Apache-2.0
// Programs for machines whose warps ran in lock step order the lanes of a warp by volatile shared
// memory alone: a reduction without any barrier in its last steps, a histogram with tags instead of
// atomics. And a lane that spins on a volatile flag must get to see the store of another lane of
// its own warp.
#include "expect.h"

const int threads = 128;

__global__ void reduce(const float *in, float *out)
{
    __shared__ volatile float s[threads];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * threads + t];
    __syncthreads();
    if (t < 64)
        s[t] = s[t] + s[t + 64];
    __syncthreads();
    if (t < 32) {
        s[t] = s[t] + s[t + 32];
        s[t] = s[t] + s[t + 16];
        s[t] = s[t] + s[t + 8];
        s[t] = s[t] + s[t + 4];
        s[t] = s[t] + s[t + 2];
        s[t] = s[t] + s[t + 1];
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// One thread of those that store to a bin finds its own tag there; the others try again.
__global__ void tagged_histogram(const unsigned char *in, int per_thread, unsigned *bins)
{
    __shared__ volatile unsigned s[8];
    unsigned tag = threadIdx.x << 27;
    if (threadIdx.x < 8)
        s[threadIdx.x] = 0;
    for (int i = 0; i < per_thread; i++) {
        int bin = in[i * 32 + threadIdx.x] % 8;
        unsigned count;
        do {
            count = tag | ((s[bin] & 0x07ffffffu) + 1);
            s[bin] = count;
        } while (s[bin] != count);
    }
    if (threadIdx.x < 8)
        bins[threadIdx.x] = s[threadIdx.x] & 0x07ffffffu;
}

// Lane by lane, from the last one to the first, each waits for the one after it.
__global__ void spin_on_flag(int *order)
{
    __shared__ volatile int turn;
    __shared__ volatile int count;
    if (threadIdx.x == 0) {
        turn = blockDim.x - 1;
        count = 0;
    }
    __syncthreads();
    while (turn != (int)threadIdx.x) {
    }
    order[threadIdx.x] = count;
    count = count + 1;
    turn = (int)threadIdx.x - 1;
}

static void check_reduction()
{
    const int blocks = 50;
    float *in, *out;
    EXPECT_OK(cudaMallocManaged(&in, blocks * threads * sizeof *in));
    EXPECT_OK(cudaMallocManaged(&out, blocks * sizeof *out));
    for (int i = 0; i < blocks * threads; i++)
        in[i] = (float)(i % 17);
    reduce<<<blocks, threads>>>(in, out);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int b = 0; b < blocks; b++) {
        float sum = 0;
        for (int i = 0; i < threads; i++)
            sum += in[b * threads + i];
        wrong += out[b] != sum;
    }
    std::printf("wrong sums: %d\n", wrong);
    EXPECT(wrong == 0);
}

static void check_histogram()
{
    const int per_thread = 100;
    unsigned char *in;
    unsigned *bins;
    unsigned expected[8] = {0};
    EXPECT_OK(cudaMallocManaged(&in, per_thread * 32));
    EXPECT_OK(cudaMallocManaged(&bins, 8 * sizeof *bins));
    for (int i = 0; i < per_thread * 32; i++) {
        in[i] = (unsigned char)(i * i / 7);
        expected[in[i] % 8]++;
    }
    tagged_histogram<<<1, 32>>>(in, per_thread, bins);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int bin = 0; bin < 8; bin++)
        EXPECT(bins[bin] == expected[bin]);
}

static void check_spinning()
{
    const int lanes = 64;
    int *order;
    EXPECT_OK(cudaMallocManaged(&order, lanes * sizeof *order));
    spin_on_flag<<<1, lanes>>>(order);
    EXPECT_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < lanes; i++)
        wrong += order[i] != lanes - 1 - i;
    std::printf("out of turn: %d\n", wrong);
    EXPECT(wrong == 0);
}

int main()
{
    check_reduction();
    check_histogram();
    check_spinning();
    return verdict("warp_in_step");
}
