// SPDX-License-Identifier: Apache-2.0
// Launches that no device can do are refused with the right code, run nothing, and leave the device
// usable.
#include "expect.h"

__global__ void count(int *out)
{
    atomicAdd(out, 1);
}

static void try_launch(const char *what, dim3 blocks, dim3 threads, size_t shared, int *out,
                       cudaError_t expected)
{
    count<<<blocks, threads, shared>>>(out);
    EXPECT_CODE(expected, cudaPeekAtLastError());
    cudaError_t error = cudaGetLastError();
    std::printf("%s: %d %s\n", what, (int)error, cudaGetErrorName(error));
    EXPECT(error == expected);
    EXPECT_CODE(cudaSuccess, cudaGetLastError());
}

int main()
{
    int *out = nullptr;
    EXPECT_OK(cudaMalloc(&out, sizeof(int)));
    EXPECT_OK(cudaMemset(out, 0, sizeof(int)));
    try_launch("1025 threads", 1, 1025, 0, out, cudaErrorInvalidConfiguration);
    try_launch("32 x 33 threads", 1, dim3(32, 33), 0, out, cudaErrorInvalidConfiguration);
    try_launch("65 threads in z", 1, dim3(1, 1, 65), 0, out, cudaErrorInvalidConfiguration);
    try_launch("no thread", 1, 0, 0, out, cudaErrorInvalidConfiguration);
    try_launch("no block", 0, 32, 0, out, cudaErrorInvalidConfiguration);
    try_launch("1 MiB of shared memory", 1, 32, 1 << 20, out, cudaErrorInvalidValue);
    EXPECT_OK(cudaDeviceSynchronize());

    int value = -1;
    EXPECT_OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 0);
    try_launch("2 x 1024 threads", 2, 1024, 0, out, cudaSuccess);
    EXPECT_OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("threads that ran: %d\n", value);
    EXPECT(value == 2048);
    EXPECT_OK(cudaFree(out));
    return verdict("too_many_threads");
}
