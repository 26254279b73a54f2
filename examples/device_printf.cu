// SPDX-License-Identifier: Apache-2.0
// printf in a kernel. The order between threads is not defined, so only one thread speaks at a
// time: one launch per line, or one thread that prints what all of them left in shared memory.
#include "check.h"

__global__ void say_hello(int number)
{
    if (threadIdx.x == 3) {
        printf("hello from thread %d of block %d in launch %d\n", threadIdx.x, blockIdx.x, number);
    }
}

__global__ void print_squares()
{
    __shared__ int square[8];
    square[threadIdx.x] = threadIdx.x * threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 8; i++) {
            printf("%d squared is %2d%s", i, square[i], i % 4 == 3 ? "\n" : ", ");
        }
    }
}

__global__ void print_formats(int *length)
{
    printf("|%5d|%-5d|%05d|%x|%#o|%c|\n", 42, 42, 42, 0xbeefu, 8u, 'z');
    printf("|%8.3f|%e|%g|%s|%%|\n", 3.14159, 12345.678, 0.0001, "text");
    *length = printf("%lld %llu\n", -9000000000LL, 18000000000000000000ULL);
}

int main()
{
    for (int number = 1; number <= 3; number++) {
        say_hello<<<1, 8>>>(number);
    }
    print_squares<<<1, 8>>>();
    int *length = nullptr;
    CHECK(cudaMallocManaged(&length, sizeof *length));
    print_formats<<<1, 1>>>(length);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize()); // what kernels printed appears here at the latest
    int arguments = *length;        // device printf returns the number of arguments
    std::printf("the last call had %d arguments\n", arguments);
    CHECK(cudaFree(length));
    return finish("device_printf", arguments == 2);
}
