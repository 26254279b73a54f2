// SPDX-License-Identifier: Apache-2.0
// The smallest useful CUDA program: c = a + b, one thread per element, with a guard for the last
// block.
#include "check.h"

#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

int main()
{
    const int n = 100003; // not a multiple of the block size: the guard matters
    const size_t bytes = n * sizeof(float);
    std::vector<float> a(n);
    std::vector<float> b(n);
    std::vector<float> c(n);
    for (int i = 0; i < n; i++) {
        a[i] = i * 0.5f;
        b[i] = 1.0f / (i + 1);
    }

    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_c = nullptr;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_c, bytes));
    CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    std::printf("adding %d elements with %d blocks of %d threads\n", n, blocks, threads);
    vector_add<<<blocks, threads>>>(device_a, device_b, device_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += c[i] != a[i] + b[i];
    }
    std::printf("c[0] = %g, c[%d] = %g, wrong elements: %d\n", c[0], n - 1, c[n - 1], wrong);
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    return finish("vector_add", wrong == 0);
}
