// SPDX-License-Identifier: Apache-2.0
// Graphs that kernels launch: at once, behind everything else, themselves again; what is refused.
#include <cstdio>

#include <cuda_runtime.h>

#include "expect.h"

__device__ int done;     // what has run
__device__ int wrong;    // expectations of kernels that did not hold
__device__ int seen[64]; // what the host looks at
__device__ int places;   // of seen that are used

#define CHECK(claim)                                                                               \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            printf("line %d: not true: %s\n", __LINE__, #claim);                                   \
            atomicAdd(&wrong, 1);                                                                  \
        }                                                                                          \
    } while (0)

__global__ void count(int by)
{
    atomicAdd(&done, by);
}

__global__ void note(int what)
{
    seen[places++] = what;
}

__global__ void note_done()
{
    seen[places++] = done;
}

__global__ void again(int wanted)
{
    CHECK(cudaGetCurrentGraphExec() != nullptr);
    if (atomicAdd(&done, 1) + 1 < wanted)
        CHECK(cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch) ==
              cudaSuccess);
}

__global__ void launch(cudaGraphExec_t graph, cudaStream_t stream)
{
    CHECK(cudaGraphLaunch(graph, stream) == cudaSuccess);
}

__global__ void launch_two(cudaGraphExec_t first, cudaGraphExec_t second)
{
    CHECK(cudaGetCurrentGraphExec() == nullptr);
    CHECK(cudaGraphLaunch(first, cudaStreamGraphTailLaunch) == cudaSuccess);
    CHECK(cudaGraphLaunch(second, cudaStreamGraphTailLaunch) == cudaSuccess);
}

__global__ void misuse(cudaGraphExec_t good, cudaGraphExec_t not_for_kernels)
{
    CHECK(cudaGraphLaunch(not_for_kernels, cudaStreamGraphFireAndForget) == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(nullptr, cudaStreamGraphTailLaunch) == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch((cudaGraphExec_t)64, cudaStreamGraphTailLaunch) ==
          cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(good, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphLaunch(good, cudaStreamGraphTailLaunch) == cudaSuccess);
    CHECK(cudaGraphLaunch(good, cudaStreamGraphTailLaunch) == cudaErrorInvalidValue);
}

__global__ void outside(cudaGraphExec_t graph)
{
    CHECK(cudaGraphLaunch(graph, cudaStreamGraphTailLaunch) == cudaErrorInvalidValue);
}

static cudaStream_t stream;

static void begin()
{
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

static cudaGraphExec_t end(unsigned flags)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec = nullptr;
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, flags));
    EXPECT_OK(cudaGraphDestroy(graph));
    if (flags)
        EXPECT_OK(cudaGraphUpload(exec, stream));
    return exec;
}

static void clear()
{
    static const int zeros[64] = {};
    EXPECT_OK(cudaMemcpyToSymbol(done, zeros, sizeof done));
    EXPECT_OK(cudaMemcpyToSymbol(seen, zeros, sizeof seen));
    EXPECT_OK(cudaMemcpyToSymbol(places, zeros, sizeof places));
}

static int value_of(const int &variable)
{
    int value = -1;
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT_OK(cudaMemcpyFromSymbol(&value, variable, sizeof value));
    return value;
}

static void expect_seen(const int *wanted, int wanted_places)
{
    int values[64];
    EXPECT(value_of(places) == wanted_places);
    EXPECT(value_of(wrong) == 0);
    EXPECT_OK(cudaMemcpyFromSymbol(values, seen, sizeof values));
    for (int i = 0; i < wanted_places; i++)
        EXPECT(values[i] == wanted[i]);
}

// A loop: a graph that launches itself behind its end.
static void test_loop()
{
    clear();
    begin();
    again<<<1, 1, 0, stream>>>(5000);
    count<<<1, 1, 0, stream>>>(4);
    cudaGraphExec_t loop = end(cudaGraphInstantiateFlagDeviceLaunch);
    EXPECT_OK(cudaGraphLaunch(loop, stream));
    note_done<<<1, 1, 0, stream>>>();
    const int wanted[] = {5005};
    expect_seen(wanted, 1);
    EXPECT_OK(cudaGraphExecDestroy(loop));
    std::printf("a loop\n");
}

// One at once, which the graph waits for, and one that comes last.
static void test_streams()
{
    int *memory;
    clear();
    EXPECT_OK(cudaMalloc(&memory, 64));
    begin();
    EXPECT_OK(cudaMemsetAsync(memory, 0, 64, stream));
    count<<<3, 1, 0, stream>>>(100);
    count<<<2, 1, 0, stream>>>(50);
    cudaGraphExec_t at_once = end(cudaGraphInstantiateFlagDeviceLaunch);
    begin();
    note_done<<<1, 1, 0, stream>>>();
    cudaGraphExec_t last = end(cudaGraphInstantiateFlagDeviceLaunch);
    begin();
    launch<<<1, 1, 0, stream>>>(last, cudaStreamGraphTailLaunch);
    launch<<<1, 1, 0, stream>>>(at_once, cudaStreamGraphFireAndForget);
    count<<<1, 1, 0, stream>>>(1);
    cudaGraphExec_t top = end(0);
    for (int i = 0; i < 20; i++)
        EXPECT_OK(cudaGraphLaunch(top, stream));
    int wanted[20];
    for (int i = 0; i < 20; i++)
        wanted[i] = 401 * (i + 1);
    expect_seen(wanted, 20);
    EXPECT_OK(cudaGraphExecDestroy(top));
    EXPECT_OK(cudaGraphExecDestroy(last));
    EXPECT_OK(cudaGraphExecDestroy(at_once));
    std::printf("at once and last\n");
}

// What a tail launches comes before the next tail of the graph that has launched it.
static void test_order()
{
    cudaGraphExec_t graphs[4];
    clear();
    for (int i = 0; i < 4; i++) {
        begin();
        note<<<1, 1, 0, stream>>>(i);
        if (i == 1)
            launch<<<1, 1, 0, stream>>>(graphs[0], cudaStreamGraphTailLaunch);
        note<<<1, 1, 0, stream>>>(i + 10);
        graphs[i] = end(cudaGraphInstantiateFlagDeviceLaunch);
    }
    begin();
    launch_two<<<1, 1, 0, stream>>>(graphs[1], graphs[2]);
    note<<<1, 1, 0, stream>>>(20);
    cudaGraphExec_t top = end(0);
    EXPECT_OK(cudaGraphLaunch(top, stream));
    EXPECT_OK(cudaGraphLaunch(graphs[3], stream));
    const int wanted[] = {20, 1, 11, 0, 10, 2, 12, 3, 13};
    expect_seen(wanted, 9);
    std::printf("in order\n");
}

static void do_nothing(void *)
{
}

static void test_misuse()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    clear();
    begin();
    note<<<1, 1, 0, stream>>>(1);
    cudaGraphExec_t good = end(cudaGraphInstantiateFlagDeviceLaunch);
    begin();
    note<<<1, 1, 0, stream>>>(2);
    cudaGraphExec_t not_for_kernels = end(0);
    begin();
    misuse<<<1, 1, 0, stream>>>(good, not_for_kernels);
    cudaGraphExec_t top = end(0);
    EXPECT_OK(cudaGraphLaunch(top, stream));
    outside<<<1, 1, 0, stream>>>(good);
    const int wanted[] = {1};
    expect_seen(wanted, 1);
    begin();
    EXPECT_OK(cudaLaunchHostFunc(stream, do_nothing, nullptr));
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_CODE(cudaErrorNotSupported,
                cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    cudaGetLastError();
    std::printf("what is refused\n");
}

int main()
{
    EXPECT_OK(cudaStreamCreate(&stream));
    test_loop();
    test_streams();
    test_order();
    test_misuse();
    return verdict("graphs_from_kernels");
}
