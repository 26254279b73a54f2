// SPDX-License-Identifier: Apache-2.0
// A failing device assert prints its text on standard error and becomes error 710, which is sticky.
#include "expect.h"

#include <cassert>

__global__ void must_be_below(int limit)
{
    assert((int)threadIdx.x < limit);
}

int main()
{
    must_be_below<<<1, 8>>>(8);
    EXPECT_OK(cudaDeviceSynchronize());
    std::printf("true assertion: no error\n");
    must_be_below<<<1, 8>>>(7);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("false assertion: %d %s\n", (int)error, cudaGetErrorName(error));
    EXPECT(error == cudaErrorAssert);
    EXPECT_CODE(cudaErrorAssert, cudaGetLastError());
    EXPECT_CODE(cudaErrorAssert, cudaDeviceSynchronize());
    return verdict("assert_fails");
}
