// SPDX-License-Identifier: Apache-2.0
// Programs that use the API wrongly for memory, each with a twin that is right:
//   host_defects CASE wrong|right [abort]
// The line that is wrong ends in the case's name and the rule that --check finds broken
// (tests/e2e/check_memory.sh). All memory is given back, but where that is the defect.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static void free_twice(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, 400);
    cudaFree(x);
    if (is_wrong)
        cudaFree(x); // free_twice double-free
}

static void free_host_twice(bool is_wrong)
{
    int *x;
    cudaMallocHost(&x, 400);
    cudaFreeHost(x);
    if (is_wrong)
        cudaFreeHost(x); // free_host_twice double-free
}

static void free_in_stream_twice(bool is_wrong)
{
    int *x;
    cudaMallocAsync(&x, 400, 0);
    cudaFreeAsync(x, 0);
    if (is_wrong)
        cudaFreeAsync(x, 0); // free_in_stream_twice double-free
    cudaDeviceSynchronize();
}

static void free_inside(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, 400);
    if (is_wrong)
        cudaFree(x + 25); // free_inside invalid-free
    cudaFree(x);
}

static void free_of_the_host(bool is_wrong)
{
    int *x = (int *)malloc(400);
    if (is_wrong)
        cudaFree(x); // free_of_the_host invalid-free
    free(x);
}

static void free_by_the_wrong_function(bool is_wrong)
{
    int *x;
    cudaMallocHost(&x, 400);
    if (is_wrong)
        cudaFree(x); // free_by_the_wrong_function invalid-free
    cudaFreeHost(x);
}

static void free_device_as_host(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, 400);
    if (is_wrong)
        cudaFreeHost(x); // free_device_as_host invalid-free
    cudaFree(x);
}

static void copy_past_end(bool is_wrong)
{
    int *x;
    static int y[200];
    cudaMalloc(&x, 400);
    cudaMemcpy(x, y, 400 + 4 * is_wrong, cudaMemcpyHostToDevice); // copy_past_end api-out-of-bounds
    cudaFree(x);
}

static void copy_from_past_end(bool is_wrong)
{
    int *x;
    static int y[200];
    cudaMalloc(&x, 400);
    cudaMemset(x, 0, 400);
    cudaMemcpy(y, x + is_wrong, 400, cudaMemcpyDefault); // copy_from_past_end api-out-of-bounds
    cudaFree(x);
}

static void copy_of_pinned_memory(bool is_wrong)
{
    int *x;
    int *y;
    cudaMalloc(&x, 4000);
    cudaMallocHost(&y, 400);
    cudaMemcpy(x, y, 400 + is_wrong, cudaMemcpyDefault); // copy_of_pinned_memory api-out-of-bounds
    cudaFree(x);
    cudaFreeHost(y);
}

static void rows_past_end(bool is_wrong)
{
    char *x;
    static char y[64 * 11];
    int rows = 10 + is_wrong;
    cudaMalloc(&x, 128 * 9 + 64);
    cudaMemcpy2D(x, 128, y, 64, 64, rows, cudaMemcpyDefault); // rows_past_end api-out-of-bounds
    cudaFree(x);
}

static void fill_past_end(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, 401);
    cudaMemset(x, 1, 401 + is_wrong); // fill_past_end api-out-of-bounds
    cudaFree(x);
}

static void fill_in_pool(bool is_wrong)
{
    char *x;
    cudaMallocAsync(&x, 100, 0);
    cudaMemsetAsync(x, 1, 100 + is_wrong, 0); // fill_in_pool api-out-of-bounds
    cudaFreeAsync(x, 0);
    cudaDeviceSynchronize();
}

static void fill_of_freed(bool is_wrong)
{
    char *x;
    cudaMalloc(&x, 100);
    if (!is_wrong)
        cudaMemset(x, 1, 100);
    cudaFree(x);
    if (is_wrong)
        cudaMemset(x, 1, 100); // fill_of_freed api-use-after-free
}

static void copy_to_freed_of_pool(bool is_wrong)
{
    char *x;
    static char y[100];
    cudaMallocAsync(&x, 100, 0);
    cudaFreeAsync(x, 0);
    if (is_wrong)
        cudaMemcpy(x, y, 100, cudaMemcpyHostToDevice); // copy_to_freed_of_pool api-use-after-free
    cudaDeviceSynchronize();
}

static void leaked(bool is_wrong)
{
    int *x;
    cudaMalloc(&x, 400); // leaked leak
    if (!is_wrong)
        cudaFree(x);
}

static void leaked_of_pool(bool is_wrong)
{
    int *x;
    cudaMallocAsync(&x, 400, 0); // leaked_of_pool leak
    if (!is_wrong)
        cudaFreeAsync(x, 0);
    cudaDeviceSynchronize();
}

static void leaked_stream(bool is_wrong)
{
    cudaStream_t stream;
    cudaStreamCreate(&stream); // leaked_stream leak
    if (!is_wrong)
        cudaStreamDestroy(stream);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: host_defects CASE wrong|right\n");
        return 2;
    }
    cudaFree(0); // twins that call nothing else are to be looked at, too
    bool is_wrong = strcmp(argv[2], "wrong") == 0;
#define CASE(name)                                                                                 \
    if (strcmp(argv[1], #name) == 0)                                                               \
        name(is_wrong);
    CASE(free_twice)
    CASE(free_host_twice)
    CASE(free_in_stream_twice)
    CASE(free_inside)
    CASE(free_of_the_host)
    CASE(free_by_the_wrong_function)
    CASE(free_device_as_host)
    CASE(copy_past_end)
    CASE(copy_from_past_end)
    CASE(copy_of_pinned_memory)
    CASE(rows_past_end)
    CASE(fill_past_end)
    CASE(fill_in_pool)
    CASE(fill_of_freed)
    CASE(copy_to_freed_of_pool)
    CASE(leaked)
    CASE(leaked_of_pool)
    CASE(leaked_stream)
    if (argc > 3 && std::strcmp(argv[3], "abort") == 0)
        std::abort();
    return 0;
}
