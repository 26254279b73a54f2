// SPDX-License-Identifier: Apache-2.0
// A histogram of bytes: every block counts in shared memory with atomics, then adds its counts to
// the global ones, again with atomics. Integer additions commute, so the result is the same in
// every order.
#include "check.h"

#include <cstdint>
#include <vector>

const int BINS = 256;
const int THREADS = 128;

__global__ void histogram(const uint8_t *data, int n, unsigned *counts)
{
    __shared__ unsigned local[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        local[bin] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        if (local[bin] != 0) {
            atomicAdd(&counts[bin], local[bin]);
        }
    }
}

int main()
{
    const int n = 500000;
    std::vector<uint8_t> data(n);
    std::vector<unsigned> expected(BINS, 0);
    uint32_t state = 12345;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        // the smaller of two random bytes: low values are more frequent
        uint8_t first = (uint8_t)(state >> 24);
        uint8_t second = (uint8_t)(state >> 16);
        data[i] = first < second ? first : second;
        expected[data[i]]++;
    }

    uint8_t *device_data = nullptr;
    unsigned *device_counts = nullptr;
    std::vector<unsigned> counts(BINS);
    CHECK(cudaMalloc(&device_data, n));
    CHECK(cudaMalloc(&device_counts, BINS * sizeof(unsigned)));
    CHECK(cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_counts, 0, BINS * sizeof(unsigned)));
    histogram<<<40, THREADS>>>(device_data, n, device_counts);
    CHECK(cudaGetLastError());
    CHECK(
        cudaMemcpy(counts.data(), device_counts, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));

    std::printf("%d bytes in %d bins, one row for 32 bins:\n", n, BINS);
    for (int row = 0; row < BINS; row += 32) {
        unsigned sum = 0;
        for (int bin = row; bin < row + 32; bin++) {
            sum += counts[bin];
        }
        std::printf("%3d..%3d %7u ", row, row + 31, sum);
        for (unsigned mark = 0; mark < sum / 4000; mark++) {
            std::putchar('#');
        }
        std::putchar('\n');
    }
    CHECK(cudaFree(device_data));
    CHECK(cudaFree(device_counts));
    return finish("histogram_atomics", counts == expected);
}
