// SPDX-License-Identifier: Apache-2.0
// A sum in three steps: lanes of a warp by shuffles, warps of a block through shared memory, blocks
// by a second launch. The order of additions is fixed, so even the float result does not depend on
// the schedule.
#include "check.h"

#include <vector>

const int THREADS = 256;
const int WARPS = THREADS / 32;
const unsigned FULL_MASK = 0xffffffffu;

__device__ float sum_of_warp(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(FULL_MASK, value, distance);
    }
    return value; // lane 0 has the sum
}

__global__ void sum_blocks(const float *in, float *out, int n)
{
    __shared__ float of_warp[WARPS];
    float value = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        value += in[i];
    }
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < WARPS ? of_warp[threadIdx.x] : 0.0f;
        value = sum_of_warp(value);
        if (threadIdx.x == 0) {
            out[blockIdx.x] = value;
        }
    }
}

// The same additions in the same order, one after the other.
static float sum_on_host(const std::vector<float> &in, int blocks, std::vector<float> *out)
{
    const int n = (int)in.size();
    out->assign(blocks, 0.0f);
    for (int block = 0; block < blocks; block++) {
        float lanes[THREADS];
        for (int thread = 0; thread < THREADS; thread++) {
            lanes[thread] = 0.0f;
            for (int i = block * THREADS + thread; i < n; i += blocks * THREADS) {
                lanes[thread] += in[i];
            }
        }
        float warps[32] = {0.0f};
        for (int warp = 0; warp < WARPS; warp++) {
            float *lane = lanes + warp * 32;
            for (int distance = 16; distance > 0; distance /= 2) {
                for (int i = 0; i < distance; i++) {
                    lane[i] += lane[i + distance];
                }
            }
            warps[warp] = lane[0];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            for (int i = 0; i < distance; i++) {
                warps[i] += warps[i + distance];
            }
        }
        (*out)[block] = warps[0];
    }
    return (*out)[0];
}

int main()
{
    const int n = 200000;
    const int blocks = 64;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++) {
        in[i] = 1.0f / (float)(1 + i % 1000);
    }
    float *device_in = nullptr;
    float *device_partial = nullptr;
    float *device_sum = nullptr;
    CHECK(cudaMalloc(&device_in, n * sizeof(float)));
    CHECK(cudaMalloc(&device_partial, blocks * sizeof(float)));
    CHECK(cudaMalloc(&device_sum, sizeof(float)));
    CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    sum_blocks<<<blocks, THREADS>>>(device_in, device_partial, n);
    sum_blocks<<<1, THREADS>>>(device_partial, device_sum, blocks);
    CHECK(cudaGetLastError());
    float sum = 0.0f;
    CHECK(cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));

    std::vector<float> partial;
    std::vector<float> total;
    sum_on_host(in, blocks, &partial);
    float expected = sum_on_host(partial, 1, &total);
    std::printf("%d elements, %d blocks, sum %.6f, expected %.6f\n", n, blocks, sum, expected);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_partial));
    CHECK(cudaFree(device_sum));
    return finish("reduction_shuffle", sum == expected);
}
