// SPDX-License-Identifier: Apache-2.0
// Calls whose target or depth is known only at run time: recursion, a table of function pointers,
// virtual functions. Neighbouring threads go different ways.
#include "expect.h"

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}
__device__ __noinline__ int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

typedef int (*operation)(int, int);
__device__ __noinline__ int add(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int subtract(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int multiply(int a, int b)
{
    return a * b;
}
__device__ operation operations[3] = {add, subtract, multiply};

struct shape {
    int size;
    __device__ explicit shape(int s) : size(s)
    {
    }
    __device__ virtual int area() const = 0;
};
struct square : shape {
    __device__ explicit square(int s) : shape(s)
    {
    }
    __device__ int area() const override
    {
        return size * size;
    }
};
struct stripe : shape {
    __device__ explicit stripe(int s) : shape(s)
    {
    }
    __device__ int area() const override
    {
        return 10 * size;
    }
};

__global__ void run(int *recursive, int *mutual, int *indirect, int *dynamic)
{
    int i = threadIdx.x;
    recursive[i] = fibonacci(i % 12);
    mutual[i] = is_even(i);
    indirect[i] = operations[i % 3](i, 5);
    square a(i);
    stripe b(i);
    const shape *which = i % 2 == 0 ? (const shape *)&a : (const shape *)&b;
    dynamic[i] = which->area();
}

static int host_fibonacci(int n)
{
    return n < 2 ? n : host_fibonacci(n - 1) + host_fibonacci(n - 2);
}

int main()
{
    const int n = 64;
    int *out = nullptr;
    EXPECT_OK(cudaMalloc(&out, 4 * n * sizeof(int)));
    run<<<1, n>>>(out, out + n, out + 2 * n, out + 3 * n);
    EXPECT_OK(cudaGetLastError());
    int value[4 * n];
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    int sums[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        const int by_table[3] = {i + 5, i - 5, i * 5};
        EXPECT(value[i] == host_fibonacci(i % 12));
        EXPECT(value[n + i] == (i % 2 == 0));
        EXPECT(value[2 * n + i] == by_table[i % 3]);
        EXPECT(value[3 * n + i] == (i % 2 == 0 ? i * i : 10 * i));
        for (int k = 0; k < 4; k++) {
            sums[k] += value[k * n + i];
        }
    }
    std::printf("sums: recursion %d, mutual %d, table %d, virtual %d\n", sums[0], sums[1], sums[2],
                sums[3]);
    EXPECT_OK(cudaFree(out));
    return verdict("recursion_indirect");
}
