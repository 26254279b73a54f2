// SPDX-License-Identifier: Apache-2.0
// Launches two kernels time and again, with pauses as a program makes them that also does something
// else: what is compiled meanwhile takes over, and results stay the same. Argument: rounds.
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "expect.h"

#define THREADS  128
#define COUNT    (512 * THREADS)
#define PAUSE_US 500

// x: as after so many rounds of a generator.
__device__ unsigned advance(unsigned x, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        x = x * 1664525 + 1013904223;
    return x;
}

__global__ void generate(unsigned *out, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = advance(i, rounds);
}

// Threads make different numbers of turns, and look up what they need.
__global__ void look_up(const unsigned *in, unsigned *out, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    for (unsigned turn = 0; turn < i % 8; turn++)
        x = in[x % count] ^ turn;
    out[i] = x;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
    unsigned *in, *out;
    std::vector<unsigned> wanted(COUNT), first(COUNT), second(COUNT);
    EXPECT_CODE(cudaSuccess, cudaMalloc(&in, COUNT * sizeof *in));
    EXPECT_CODE(cudaSuccess, cudaMalloc(&out, COUNT * sizeof *out));
    for (unsigned i = 0; i < COUNT; i++) {
        wanted[i] = i;
        for (unsigned round = 0; round < 20; round++)
            wanted[i] = wanted[i] * 1664525 + 1013904223;
    }
    for (int round = 0; round < rounds; round++) {
        generate<<<COUNT / THREADS, THREADS>>>(in, 20);
        look_up<<<COUNT / THREADS, THREADS>>>(in, out, COUNT);
        EXPECT_CODE(cudaSuccess,
                    cudaMemcpy(first.data(), in, COUNT * sizeof *in, cudaMemcpyDefault));
        EXPECT_CODE(cudaSuccess,
                    cudaMemcpy(second.data(), out, COUNT * sizeof *out, cudaMemcpyDefault));
        EXPECT(first == wanted);
        for (unsigned i = 0; i < COUNT; i++) {
            unsigned x = wanted[i];
            for (unsigned turn = 0; turn < i % 8; turn++)
                x = wanted[x % COUNT] ^ turn;
            first[i] = x;
        }
        EXPECT(first == second);
        usleep(PAUSE_US);
    }
    std::printf("many_launches: %s\n", broken_expectations ? "FAILED" : "PASSED");
    return broken_expectations != 0;
}
