// SPDX-License-Identifier: Apache-2.0
// Eight host threads launch and copy at the same time, each with a stream and a last error of its
// own; the first use of CUDA happens in all of them at once.
#include "expect.h"

#include <atomic>
#include <thread>
#include <vector>

const int THREADS = 8;
const int ROUNDS = 20;
const int N = 1000;

__global__ void add(int *values, int n, int summand)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] += summand;
    }
}

__global__ void count(unsigned *counter)
{
    atomicAdd(counter, 1u);
}

__managed__ unsigned total = 0;
static std::atomic<int> failures(0);

static void check(bool is_true)
{
    if (!is_true) {
        failures++;
    }
}

static void work(int number)
{
    cudaStream_t stream;
    int *values = nullptr;
    std::vector<int> result(N);
    check(cudaStreamCreate(&stream) == cudaSuccess);
    check(cudaMalloc(&values, N * sizeof(int)) == cudaSuccess);
    check(cudaMemsetAsync(values, 0, N * sizeof(int), stream) == cudaSuccess);
    for (int round = 0; round < ROUNDS; round++) {
        add<<<(N + 127) / 128, 128, 0, stream>>>(values, N, number + 1);
        count<<<1, 32, 0, stream>>>(&total);
    }
    check(cudaGetLastError() == cudaSuccess);
    if (number % 2 == 1) {
        check(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
    }
    check(cudaMemcpyAsync(result.data(), values, N * sizeof(int), cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
    check(cudaStreamSynchronize(stream) == cudaSuccess);
    check(cudaGetLastError() == (number % 2 == 1 ? cudaErrorInvalidValue : cudaSuccess));
    for (int i = 0; i < N; i++) {
        check(result[i] == ROUNDS * (number + 1));
    }
    check(cudaFree(values) == cudaSuccess);
    check(cudaStreamDestroy(stream) == cudaSuccess);
}

int main()
{
    std::vector<std::thread> threads;
    for (int number = 0; number < THREADS; number++) {
        threads.emplace_back(work, number);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_OK(cudaDeviceSynchronize());
    std::printf("%d host threads, %u counted, %d failures\n", THREADS, total, failures.load());
    EXPECT(total == THREADS * ROUNDS * 32);
    EXPECT(failures == 0);
    return verdict("many_host_threads");
}
