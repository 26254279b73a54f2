/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that takes all memory it is told to be free, and uses it; then asks for more.
 */
#include <stdio.h>

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
int cudaMalloc(void **pointer, size_t bytes);
int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cudaFree(void *pointer);
int cudaMemset(void *pointer, int value, size_t bytes);
int cudaDeviceSynchronize(void);

#define MORE_BYTES ((size_t)64 << 20)

static int failed(const char *what, int got)
{
    printf("%s: %d\n", what, got);
    return 1;
}

int main(void)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    void *all = NULL;
    void *more = NULL;
    int result = cudaMemGetInfo(&free_bytes, &total_bytes);
    if (result || free_bytes > total_bytes || free_bytes == 0)
        return failed("cudaMemGetInfo", result);
    printf("%zu MiB\n", total_bytes >> 20);
    result = cudaMalloc(&all, free_bytes);
    if (result)
        return failed("cudaMalloc of what is free", result);
    result = cudaMemset(all, 1, free_bytes);
    if (!result)
        result = cudaDeviceSynchronize();
    if (result)
        return failed("cudaMemset", result);
    result = cudaMalloc(&more, MORE_BYTES);
    if (result != 2)
        return failed("cudaMalloc of more", result);
    result = cudaHostAlloc(&more, 4 * MORE_BYTES, 0);
    if (result != 2)
        return failed("cudaHostAlloc of more", result);
    result = cudaFree(all);
    if (!result)
        result = cudaMalloc(&more, MORE_BYTES);
    if (!result)
        result = cudaMemset(more, 1, MORE_BYTES);
    if (!result)
        result = cudaDeviceSynchronize();
    if (result)
        return failed("afterwards", result);
    puts("ok");
    return 0;
}
