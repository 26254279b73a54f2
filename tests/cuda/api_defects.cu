// SPDX-License-Identifier: Apache-2.0
// Programs that use the API wrongly, each with a twin that is right:
//   api_defects CASE wrong|right
// The line that is wrong ends in the case's name and the rule that --check=api finds broken
// (tests/e2e/check_defects.sh). Some need two devices. Without arguments: the names of all cases.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

// Functions of their own: compilers join the ends of what they inline.
#define CASE(name) static __attribute__((noinline)) void name(bool is_wrong)

__global__ void set(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

__global__ void fail()
{
    __trap();
}

// ---- errors ----

CASE(allocation_too_large)
{
    int *x = NULL;
    cudaMalloc(&x, (size_t)1 << 60); // allocation_too_large ignored-error
    if (!is_wrong && cudaGetLastError() != cudaSuccess)
        cudaMalloc(&x, 400);
    cudaFree(x);
}

CASE(fill_of_nothing)
{
    cudaMemset(NULL, 0, 400); // fill_of_nothing ignored-error
    if (!is_wrong)
        printf("%d\n", cudaPeekAtLastError());
}

CASE(no_such_device)
{
    cudaError_t error = cudaSetDevice(1000); // no_such_device ignored-error
    if (!is_wrong)
        puts(cudaGetErrorString(error));
}

CASE(no_such_symbol)
{
    static int x;
    cudaError_t error = cudaMemcpyToSymbol(x, "x", 1); // no_such_symbol ignored-error
    if (!is_wrong)
        puts(cudaGetErrorName(error));
}

CASE(asked_too_early)
{
    cudaGetLastError();
    cudaMemset(NULL, 0, 400); // asked_too_early ignored-error
    if (!is_wrong)
        cudaGetLastError();
}

CASE(asked_by_another_thread)
{
    cudaMemset(NULL, 0, 400); // asked_by_another_thread ignored-error
    std::thread([] { cudaGetLastError(); }).join();
    if (!is_wrong)
        cudaGetLastError();
}

CASE(kernel_that_fails)
{
    fail<<<1, 32>>>();
    cudaDeviceSynchronize(); // kernel_that_fails ignored-error
    puts("done");
    if (!is_wrong)
        cudaGetLastError();
}

CASE(handled)
{
    cudaError_t error = cudaMemset(NULL, 0, 400); // handled ignored-error
    if (error != cudaSuccess && !is_wrong)
        exit(cudaGetLastError() == error ? 0 : 1);
}

// ---- launches ----

CASE(block_too_large)
{
    int *x;
    cudaMalloc(&x, 4096);
    set<<<1, is_wrong ? 2048 : 1024>>>(x); // block_too_large launch-failed
    cudaDeviceSynchronize();
    cudaFree(x);
}

CASE(no_blocks)
{
    int *x;
    cudaMalloc(&x, 4096);
    set<<<!is_wrong, 32>>>(x); // no_blocks launch-failed
    cudaFree(x);
}

CASE(too_much_shared_memory)
{
    int *x;
    cudaMalloc(&x, 4096);
    set<<<1, 32, is_wrong ? 1 << 20 : 1024>>>(x); // too_much_shared_memory launch-failed
    cudaFree(x);
}

CASE(launch_that_is_asked_for)
{
    int *x;
    cudaMalloc(&x, 4096);
    set<<<1, 4096>>>(x); // launch_that_is_asked_for launch-failed
    if (!is_wrong && cudaGetLastError() != cudaSuccess)
        set<<<1, 32>>>(x);
    cudaFree(x);
}

CASE(launch_of_no_kernel)
{
    int x;
    void *args[] = {&x};
    cudaError_t error = cudaLaunchKernel((const void *)&x, 1, 1, args, 0, 0); // launch_of_no_kernel ignored-error
    if (!is_wrong)
        puts(cudaGetErrorName(error));
}

// ---- contexts ----

CASE(event_of_another_device)
{
    cudaEvent_t event;
    cudaStream_t stream;
    cudaEventCreate(&event);
    cudaSetDevice(is_wrong);
    cudaStreamCreate(&stream);
    cudaEventRecord(event, stream); // event_of_another_device wrong-context
    cudaGetLastError();
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
}

CASE(events_of_two_devices)
{
    cudaEvent_t first, second;
    float ms;
    cudaEventCreate(&first);
    cudaEventRecord(first, 0);
    cudaSetDevice(is_wrong);
    cudaEventCreate(&second);
    cudaEventRecord(second, 0);
    cudaEventSynchronize(second);
    cudaEventSynchronize(first);
    cudaEventElapsedTime(&ms, first, second); // events_of_two_devices wrong-context
    cudaGetLastError();
    cudaEventDestroy(first);
    cudaEventDestroy(second);
}

CASE(stream_of_another_device)
{
    int *x;
    cudaStream_t stream;
    cudaMalloc(&x, 4096);
    cudaStreamCreate(&stream);
    cudaSetDevice(is_wrong);
    set<<<1, 32, 0, stream>>>(x); // stream_of_another_device wrong-context
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
}

// ---- asynchronous copies ----

static void CUDART_CB wait_a_little(void *)
{
    usleep(200000);
}

CASE(free_before_copy)
{
    int *x, *y;
    cudaStream_t stream;
    cudaMalloc(&x, 1 << 20);
    cudaMallocHost(&y, 1 << 20);
    cudaStreamCreate(&stream);
    cudaLaunchHostFunc(stream, wait_a_little, NULL);
    cudaMemcpyAsync(x, y, 1 << 20, cudaMemcpyHostToDevice, stream);
    if (!is_wrong)
        cudaStreamSynchronize(stream);
    cudaFreeHost(y); // free_before_copy free-in-use
    cudaStreamDestroy(stream);
    cudaFree(x);
}

CASE(free_before_result)
{
    int *x, *y;
    cudaMalloc(&x, 1 << 20);
    cudaHostAlloc(&y, 1 << 20, cudaHostAllocDefault);
    cudaMemset(x, 0, 1 << 20);
    cudaLaunchHostFunc(0, wait_a_little, NULL);
    cudaMemcpyAsync(y + 1000, x, 400, cudaMemcpyDeviceToHost, 0);
    if (!is_wrong)
        cudaDeviceSynchronize();
    cudaFreeHost(y); // free_before_result free-in-use
    cudaFree(x);
}

CASE(unregister_before_copy)
{
    int *x, *y = (int *)malloc(1 << 20);
    memset(y, 0, 1 << 20);
    cudaMalloc(&x, 1 << 20);
    cudaHostRegister(y, 1 << 20, cudaHostRegisterDefault);
    cudaLaunchHostFunc(0, wait_a_little, NULL);
    cudaMemcpyAsync(x, y, 1 << 20, cudaMemcpyHostToDevice, 0);
    if (!is_wrong)
        cudaDeviceSynchronize();
    cudaHostUnregister(y); // unregister_before_copy free-in-use
    cudaDeviceSynchronize();
    cudaFree(x);
    free(y);
}

CASE(freed_twice)
{
    int *x;
    cudaMalloc(&x, 400);
    cudaFree(x);
    if (is_wrong)
        cudaFree(x); // freed_twice double-free
    cudaGetLastError();
}

#define CASES(X)                                                                                                       \
    X(allocation_too_large) X(fill_of_nothing) X(no_such_device) X(no_such_symbol) X(asked_too_early)                  \
    X(asked_by_another_thread) X(kernel_that_fails) X(handled) X(block_too_large) X(no_blocks)                         \
    X(too_much_shared_memory) X(launch_that_is_asked_for) X(launch_of_no_kernel) X(event_of_another_device)            \
    X(events_of_two_devices) X(stream_of_another_device) X(free_before_copy) X(free_before_result)                     \
    X(unregister_before_copy) X(freed_twice)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(function) puts(#function);
        CASES(NAME)
        return 0;
    }
    bool is_wrong = strcmp(argv[2], "wrong") == 0;
#define CALL(function)                                                                                                 \
    if (strcmp(argv[1], #function) == 0) {                                                                             \
        function(is_wrong);                                                                                            \
        return 0;                                                                                                      \
    }
    CASES(CALL)
    fprintf(stderr, "no case '%s'\n", argv[1]);
    return 2;
}
