// SPDX-License-Identifier: Apache-2.0
// Programs that allocate more device memory than they write to, each with a twin that is right:
//   unused_defects CASE wrong|right
// The allocation that is too large ends in the case's name and the rule that --check=init --unused-memory=1 finds
// broken (tests/e2e/check_defects.sh).
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define N 1000

__global__ void fill(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

static void never_written(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, N * sizeof *x); // never_written unused-memory
    if (!is_wrong)
        cudaMemset(x, 0, N * sizeof *x);
    cudaFree(x);
}

static void half_written(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, N * sizeof *x); // half_written unused-memory
    fill<<<4, 256>>>(x, is_wrong ? N / 2 : N);
    cudaFree(x);
}

static void copied_to_partly(bool is_wrong)
{
    int *x;
    static int host[N];
    cudaMalloc(&x, N * sizeof *x); // copied_to_partly unused-memory
    cudaMemcpy(x + N / 4, host, N * sizeof *x / 4, cudaMemcpyHostToDevice);
    if (!is_wrong)
        fill<<<4, 256>>>(x, N);
    cudaFree(x);
}

static void left_at_exit(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, N * sizeof *x); // left_at_exit unused-memory
    fill<<<4, 256>>>(x, is_wrong ? N - 100 : N);
    cudaDeviceSynchronize();
}

// Memory of the host, and of managed memory, counts as written.
static void of_the_host(bool is_wrong)
{
    int *x, *y, *z;
    cudaMallocHost(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *x);
    cudaMalloc(&z, N * sizeof *x); // of_the_host unused-memory
    fill<<<4, 256>>>(z, is_wrong ? 1 : N);
    cudaFreeHost(x);
    cudaFree(y);
    cudaFree(z);
}

#define CASES(X) X(never_written) X(half_written) X(copied_to_partly) X(left_at_exit) X(of_the_host)

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: unused_defects CASE wrong|right\n");
        return 2;
    }
    bool is_wrong = strcmp(argv[2], "wrong") == 0;
#define RUN(name)                                                                                                      \
    if (strcmp(argv[1], #name) == 0)                                                                                   \
        name(is_wrong);
    CASES(RUN)
    return 0;
}
