// SPDX-License-Identifier: Apache-2.0
// What streams promise: order inside a stream, events between streams, the null stream that waits
// for and holds up ordinary streams, host functions in their place, elapsed time that does not run
// backwards.
#include "expect.h"

#include <atomic>

__global__ void append(int *log, int *position, int value)
{
    log[(*position)++] = value;
}

__global__ void multiply_add(int *value, int factor, int summand)
{
    *value = *value * factor + summand;
}

static void on_host(void *counter)
{
    static_cast<std::atomic<int> *>(counter)->fetch_add(1);
}

int main()
{
    int *memory = nullptr; // [0] a value, [1] a position, [2...] a log
    EXPECT_OK(cudaMallocManaged(&memory, 64 * sizeof(int)));
    EXPECT_OK(cudaMemset(memory, 0, 64 * sizeof(int)));
    cudaStream_t first;
    cudaStream_t second;
    EXPECT_OK(cudaStreamCreate(&first));
    EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t begin;
    cudaEvent_t end;
    EXPECT_OK(cudaEventCreate(&begin));
    EXPECT_OK(cudaEventCreate(&end));

    EXPECT_OK(cudaEventRecord(begin, first));
    for (int i = 0; i < 10; i++) {
        multiply_add<<<1, 1, 0, first>>>(memory, 2, i);
    }
    EXPECT_OK(cudaEventRecord(end, first));
    EXPECT_OK(cudaStreamWaitEvent(second, end, 0));
    multiply_add<<<1, 1, 0, second>>>(memory, 3, 1);
    EXPECT_OK(cudaStreamSynchronize(second));
    std::printf("in order, across two streams: %d\n", memory[0]);
    EXPECT(memory[0] == 1013 * 3 + 1);
    float elapsed = -1.0f;
    EXPECT_OK(cudaEventElapsedTime(&elapsed, begin, end));
    EXPECT(elapsed >= 0.0f);
    EXPECT_OK(cudaEventQuery(end));

    std::atomic<int> host_calls(0);
    for (int i = 0; i < 8; i++) {
        append<<<1, 1, 0, first>>>(memory + 2, memory + 1,
                                   10 + i); // waits for the null stream before it
        EXPECT_OK(cudaLaunchHostFunc(first, on_host, &host_calls));
        append<<<1, 1>>>(memory + 2, memory + 1, 20 + i); // waits for the first stream
    }
    EXPECT_OK(cudaDeviceSynchronize());
    std::printf("null stream between others:");
    for (int i = 0; i < 16; i++) {
        std::printf(" %d", memory[2 + i]);
        EXPECT(memory[2 + i] == (i % 2 == 0 ? 10 : 20) + i / 2);
    }
    std::printf("\nhost functions: %d\n", host_calls.load());
    EXPECT(host_calls == 8);
    EXPECT_OK(cudaStreamQuery(first));

    cudaEvent_t untimed;
    EXPECT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    EXPECT_OK(cudaEventRecord(untimed));
    EXPECT_OK(cudaEventSynchronize(untimed));
    EXPECT_CODE(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&elapsed, begin, untimed));
    EXPECT_OK(cudaEventDestroy(untimed));
    EXPECT_OK(cudaEventDestroy(begin));
    EXPECT_OK(cudaEventDestroy(end));
    EXPECT_OK(cudaStreamDestroy(first));
    EXPECT_OK(cudaStreamDestroy(second));
    EXPECT_OK(cudaFree(memory));
    cudaGetLastError();
    return verdict("streams_events");
}
