// SPDX-License-Identifier: Apache-2.0
// Matrix product through tiles in shared memory: two barriers per tile, edges that do not fill a
// tile. The inputs are small integers, so float sums are exact and the host's result must be equal
// bit for bit.
#include "check.h"

#include <vector>

const int TILE = 16;

// c (m x n) = a (m x k) * b (k x n), row major
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += TILE) {
        int inner_a = start + threadIdx.x;
        int inner_b = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && inner_a < k ? a[row * k + inner_a] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = inner_b < k && col < n ? b[inner_b * n + col] : 0.0f;
        __syncthreads(); // both tiles are complete
        for (int i = 0; i < TILE; i++) {
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        }
        __syncthreads(); // everybody is done with them
    }
    if (row < m && col < n) {
        c[row * n + col] = sum;
    }
}

int main()
{
    const int m = 100;
    const int n = 90;
    const int k = 70;
    std::vector<float> a(m * k);
    std::vector<float> b(k * n);
    std::vector<float> c(m * n);
    for (int i = 0; i < m * k; i++) {
        a[i] = (float)(i % 13 - 6);
    }
    for (int i = 0; i < k * n; i++) {
        b[i] = (float)(i % 7 - 3);
    }

    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_c = nullptr;
    CHECK(cudaMalloc(&device_a, a.size() * sizeof(float)));
    CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
    CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
    CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    dim3 threads(TILE, TILE);
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    std::printf("%dx%d times %dx%d, %u x %u tiles\n", m, k, k, n, blocks.x, blocks.y);
    matmul<<<blocks, threads>>>(device_a, device_b, device_c, m, n, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

    int wrong = 0;
    double trace = 0.0;
    for (int row = 0; row < m; row++) {
        for (int col = 0; col < n; col++) {
            float sum = 0.0f;
            for (int i = 0; i < k; i++) {
                sum += a[row * k + i] * b[i * n + col];
            }
            wrong += c[row * n + col] != sum;
            trace += row == col ? c[row * n + col] : 0.0f;
        }
    }
    std::printf("sum of the diagonal: %g, wrong elements: %d\n", trace, wrong);
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    return finish("matmul_tiled", wrong == 0);
}
