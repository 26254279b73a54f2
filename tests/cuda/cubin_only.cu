// SPDX-License-Identifier: Apache-2.0
// Built for one architecture without PTX: nothing in it can be translated, and the launch must say
// so with error 209 while calls that need no kernel work.
#include "expect.h"

__global__ void set(int *out)
{
    *out = 7;
}

int main()
{
    int *out = nullptr;
    EXPECT_OK(cudaMalloc(&out, sizeof(int)));
    EXPECT_OK(cudaMemset(out, 0, sizeof(int)));
    set<<<1, 1>>>(out);
    cudaError_t error = cudaGetLastError();
    std::printf("launch without PTX: %d %s\n", (int)error, cudaGetErrorName(error));
    EXPECT(error == cudaErrorNoKernelImageForDevice);
    EXPECT_OK(cudaDeviceSynchronize());
    int value = -1;
    EXPECT_OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 0);
    EXPECT_OK(cudaFree(out));
    return verdict("cubin_only");
}
