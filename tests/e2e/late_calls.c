/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA calls while the process ends: in an exit handler and in destructors that run before and
 * after the runtime's own. Each call works or says that the runtime is going away (4); none crashes
 * or hangs. Prints how many of the two places were reached.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemset(void *pointer, int value, size_t bytes);
int cudaDeviceSynchronize(void);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaGetLastError(void);

static void *early;
static void *stream;

static int may_be(int error)
{
    if (error != 0 && error != 4)
        printf("an error at exit: %d\n", error);
    return error;
}

static void use_cuda(const char *place)
{
    void *memory = NULL;
    may_be(cudaMemset(early, 1, 100));
    if (may_be(cudaMalloc(&memory, 100)) == 0)
        may_be(cudaFree(memory));
    may_be(cudaDeviceSynchronize());
    may_be(cudaStreamDestroy(stream));
    may_be(cudaStreamCreate(&stream));
    may_be(cudaGetLastError());
    printf("%s\n", place);
    fflush(stdout);
}

static void at_exit(void)
{
    use_cuda("exit handler");
}

__attribute__((destructor)) static void at_end(void)
{
    use_cuda("destructor");
}

int main(void)
{
    if (cudaMalloc(&early, 100) != 0 || cudaStreamCreate(&stream) != 0)
        return 1;
    atexit(at_exit);
    return 0;
}
