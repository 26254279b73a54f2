// SPDX-License-Identifier: Apache-2.0
// A kernel that writes through a wild pointer must become error 700 for the host, which stays
// alive; the error is sticky: it is what every later call reports.
#include "expect.h"

__global__ void write_to(int *address)
{
    *address = 1;
}

int main()
{
    int *good = nullptr;
    EXPECT_OK(cudaMalloc(&good, sizeof(int)));
    write_to<<<1, 1>>>(good);
    EXPECT_OK(cudaDeviceSynchronize());

    write_to<<<1, 32>>>((int *)0xdead000000ULL);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("after the wild write: %d %s\n", (int)error, cudaGetErrorName(error));
    EXPECT(error == cudaErrorIllegalAddress);
    EXPECT_CODE(cudaErrorIllegalAddress, cudaGetLastError());
    EXPECT_CODE(cudaErrorIllegalAddress, cudaMalloc(&good, sizeof(int)));
    EXPECT_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    std::printf("the host program goes on\n");
    return verdict("bad_address");
}
