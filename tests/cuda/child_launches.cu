// SPDX-License-Identifier: Apache-2.0
// Kernels that launch kernels: trees, parameters of all kinds, streams and events of blocks, work
// that comes last, copies and fills, errors and limits, faults in children.
#include <cstdio>

#include <cuda_runtime.h>

#include "expect.h"

__device__ int done;      // what has run
__device__ int wrong;     // expectations of kernels that did not hold
__device__ int seen[64];  // what the host looks at
__device__ int room[512]; // of a test

#define CHECK(claim)                                                                               \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            printf("line %d: not true: %s\n", __LINE__, #claim);                                   \
            atomicAdd(&wrong, 1);                                                                  \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call) CHECK((call) == cudaSuccess)

__global__ void count()
{
    atomicAdd(&done, 1);
}

__global__ void set(int *place, int value)
{
    *place = value;
}

// ---- trees ----

__global__ void tree(int depth)
{
    count<<<1, 1>>>();
    if (depth > 0)
        tree<<<2, 3>>>(depth - 1);
}

__global__ void wide_tree(int depth)
{
    atomicAdd(&done, 1);
    for (int i = 0; i < 10 && depth > 0; i++)
        wide_tree<<<1, 1, 0, i % 2 == 0 ? cudaStreamFireAndForget : 0>>>(depth - 1);
}

// ---- parameters ----

struct Mixed {
    char c;
    double d;
    short s;
    bool b;
};

struct Large {
    int values[300];
};

__global__ void take(char c, Mixed mixed, const int *pointer, float3 vector, unsigned char last)
{
    CHECK(c == 'x' && mixed.c == 'y' && mixed.d == 2.5 && mixed.s == -3 && mixed.b);
    CHECK(*pointer == 77 && vector.x == 1.0f && vector.y == 2.0f && vector.z == 3.0f);
    CHECK(last == 200);
    atomicAdd(&done, 1);
}

__global__ void take_large(Large large, long long sum)
{
    for (int value : large.values)
        sum -= value;
    CHECK(sum == 0);
    atomicAdd(&done, 1);
}

__global__ void take_shape(dim3 grid, dim3 block)
{
    extern __shared__ int shared[];
    int thread = threadIdx.x + threadIdx.y * blockDim.x;
    shared[thread] = thread;
    __syncthreads();
    CHECK(gridDim.x == grid.x && gridDim.y == grid.y && gridDim.z == grid.z);
    CHECK(blockDim.x == block.x && blockDim.y == block.y && blockDim.z == block.z);
    CHECK(shared[block.x * block.y - 1 - thread] == (int)(block.x * block.y) - 1 - thread);
    atomicAdd(&done, 1);
}

__global__ void give_parameters()
{
    Mixed mixed = {'y', 2.5, -3, true};
    Large large;
    long long sum = 0;
    for (int i = 0; i < 300; i++)
        sum += large.values[i] = i * i;
    room[0] = 77; // which the child reads
    take<<<1, 1>>>('x', mixed, room, make_float3(1.0f, 2.0f, 3.0f), 200);
    take_large<<<1, 1>>>(large, sum);
    dim3 grid(3, 2, 2);
    dim3 block(8, 4);
    take_shape<<<grid, block, 32 * sizeof(int)>>>(grid, block);
}

// ---- streams of blocks ----

__global__ void append(int digit)
{
    seen[blockIdx.x] = seen[blockIdx.x] * 10 + digit;
}

__global__ void read_what_was_written(const int *written, int threads)
{
    int sum = 0;
    for (int i = 0; i < threads; i++)
        sum += written[i];
    CHECK(sum == threads * (threads - 1) / 2);
    atomicAdd(&done, 1);
}

__global__ void in_order()
{
    room[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i <= 5; i++)
            append<<<1, 1>>>(i);
        read_what_was_written<<<1, 1, 0, cudaStreamFireAndForget>>>(room, blockDim.x);
    }
}

__global__ void named_streams()
{
    cudaStream_t one;
    cudaStream_t two;
    cudaEvent_t event;
    CHECK_OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK_OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 1; i <= 3; i++) {
        append<<<1, 1, 0, one>>>(i);
        CHECK_OK(cudaEventRecord(event, one));
        CHECK_OK(cudaStreamWaitEvent(two, event, 0));
        append<<<1, 1, 0, two>>>(i + 3);
        CHECK_OK(cudaEventRecord(event, two));
        CHECK_OK(cudaStreamWaitEvent(one, event, 0));
    }
    CHECK_OK(cudaEventDestroy(event));
    CHECK_OK(cudaStreamDestroy(one));
    CHECK_OK(cudaStreamDestroy(two));
    CHECK(cudaStreamDestroy(two) == cudaErrorInvalidResourceHandle);
    append<<<1, 1, 0, two>>>(9);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamDefault) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDefault) == cudaErrorInvalidValue);
}

// ---- what comes last ----

__global__ void last(int wanted, int digit)
{
    CHECK(done == wanted);
    seen[0] = seen[0] * 10 + digit;
    if (digit == 1)
        last<<<1, 1, 0, cudaStreamTailLaunch>>>(wanted, 2);
}

__global__ void with_tails()
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        last<<<1, 1, 0, cudaStreamTailLaunch>>>(4 * 32 * 40, 1);
        last<<<1, 1, 0, cudaStreamTailLaunch>>>(4 * 32 * 40, 3);
    }
    tree<<<1, 1, 0, cudaStreamFireAndForget>>>(1); // 1 + 6
    tree<<<1, 1>>>(1);
    for (int i = 0; i < 26; i++)
        count<<<1, 1>>>();
}

__global__ void loop_of_tails(int left)
{
    atomicAdd(&done, 1);
    if (left > 1)
        loop_of_tails<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
}

// ---- memory ----

__global__ void check_bytes(const unsigned char *bytes, int count, int value)
{
    for (int i = 0; i < count; i++)
        CHECK(bytes[i] == value);
    atomicAdd(&done, 1);
}

__global__ void free_block(void *block)
{
    CHECK_OK(cudaFree(block));
}

__global__ void use_heap()
{
    unsigned char *block = nullptr;
    CHECK_OK(cudaMalloc((void **)&block, 1000));
    CHECK_OK(cudaMemsetAsync(block, 7, 1000, 0));
    check_bytes<<<1, 1>>>(block, 1000, 7);
    free_block<<<1, 1>>>(block);
    CHECK(cudaFree(room) != cudaSuccess);
    cudaGetLastError();
}

__global__ void check_rows(int corner)
{
    for (int i = 0; i < 512; i++) {
        int x = i % 16;
        int y = i / 16;
        CHECK((room[i] == 0x01010101) == (x >= corner && x < corner + 4 && y >= 2 && y < 5));
    }
    atomicAdd(&done, 1);
}

__global__ void copy_and_fill()
{
    CHECK_OK(cudaMemsetAsync(room, 0, sizeof room, 0));
    CHECK_OK(cudaMemset2DAsync(room + 2 * 16 + 3, 64, 1, 16, 3, 0));
    check_rows<<<1, 1>>>(3);
    CHECK_OK(cudaMemcpy2DAsync(room + 2 * 16 + 8, 64, room + 2 * 16 + 3, 64, 16, 3,
                               cudaMemcpyDeviceToDevice, 0));
    CHECK_OK(cudaMemset2DAsync(room + 2 * 16 + 3, 64, 0, 16, 3, 0));
    check_rows<<<1, 1>>>(8);
    CHECK_OK(cudaMemcpyAsync(seen, room + 2 * 16 + 8, 16, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaMemcpyAsync(seen, room, 4, cudaMemcpyHostToDevice, 0) ==
          cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
}

__global__ void volumes()
{
    // Two slices of four rows of four numbers, in rows of 16 and slices of 8 rows.
    cudaPitchedPtr memory = {room, 64, 64, 8};
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = memory;
    copy.dstPtr = memory;
    copy.dstPos.x = 32;
    copy.dstPos.y = 1;
    copy.dstPos.z = 2;
    copy.extent = {16, 4, 2};
    copy.kind = cudaMemcpyDeviceToDevice;
    CHECK_OK(cudaMemsetAsync(room, 0, sizeof room, 0));
    CHECK_OK(cudaMemset3DAsync(memory, 3, copy.extent, 0));
    CHECK_OK(cudaMemcpy3DAsync(&copy, 0));
    cudaMemcpyAsync(seen, &room[(2 * 8 + 1) * 16 + 8], 16, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(seen + 4, &room[(3 * 8 + 4) * 16 + 8], 16, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(seen + 8, &room[(3 * 8 + 5) * 16 + 8], 16, cudaMemcpyDeviceToDevice, 0);
}

// ---- errors and limits ----

__global__ void __launch_bounds__(64) small()
{
}

__global__ void errors()
{
    CHECK(cudaGetLastError() == cudaSuccess);
    count<<<1, 2048>>>();
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);
    count<<<0, 1>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    small<<<1, 65>>>();
    CHECK(cudaGetLastError() != cudaSuccess);
    if (threadIdx.x == 0)
        printf("%s: %s\n", cudaGetErrorName(cudaErrorLaunchMaxDepthExceeded),
               cudaGetErrorString(cudaErrorInvalidValue));
    // Each thread has its own.
    if (threadIdx.x % 2 == 0)
        count<<<1, 2048>>>();
    CHECK((cudaGetLastError() == cudaSuccess) == (threadIdx.x % 2 != 0));
}

__global__ void without_end(int depth)
{
    atomicAdd(&done, 1);
    without_end<<<1, 1>>>(depth + 1);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        printf("depth %d: %s\n", depth, cudaGetErrorName(error));
}

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0) {
    }
}

__global__ void too_many(int *flag)
{
    int launched = 0;
    cudaError_t error = cudaSuccess;
    wait_for<<<1, 1>>>(flag);
    while (error == cudaSuccess && launched < 1000) {
        count<<<1, 1>>>();
        error = cudaGetLastError();
        launched += error == cudaSuccess;
    }
    seen[0] = launched;
    seen[1] = error;
    __threadfence();
    *(volatile int *)flag = 1;
}

__global__ void ask()
{
    int value = -1;
    size_t limit = 0;
    cudaFuncAttributes attributes;
    CHECK_OK(cudaGetDevice(&value));
    CHECK(value == 0);
    CHECK_OK(cudaGetDeviceCount(&value));
    CHECK(value >= 1);
    CHECK_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    CHECK(value == 1024);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 1000) ==
          cudaErrorInvalidDevice);
    cudaGetLastError();
    CHECK_OK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
    CHECK(limit == 100);
    CHECK_OK(cudaFuncGetAttributes(&attributes, small));
    CHECK(attributes.maxThreadsPerBlock == 64 && attributes.sharedSizeBytes == 0);
    CHECK_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, small, 64, 0));
    CHECK(value > 0);
    CHECK_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, small, 65, 0, 0));
    CHECK(value == 0);
    CHECK_OK(cudaRuntimeGetVersion(&value));
    CHECK(value >= 12000);
}

__global__ void bad_child(int *nowhere)
{
    *nowhere = 1;
}

__global__ void launch_bad_child()
{
    bad_child<<<1, 1>>>((int *)64);
    set<<<1, 1, 0, cudaStreamTailLaunch>>>(&seen[0], 1);
}

// ---- the host ----

static int value_of(const int &variable)
{
    int value = -1;
    EXPECT_OK(cudaMemcpyFromSymbol(&value, variable, sizeof value));
    return value;
}

static void see(int *values, int count)
{
    EXPECT_OK(cudaMemcpyFromSymbol(values, seen, count * sizeof *values));
}

static void begin()
{
    static const int zeros[64] = {};
    EXPECT_OK(cudaMemcpyToSymbol(done, zeros, sizeof done));
    EXPECT_OK(cudaMemcpyToSymbol(seen, zeros, sizeof seen));
}

static void expect_done(const char *what, int wanted)
{
    EXPECT_OK(cudaDeviceSynchronize());
    int is = value_of(done);
    if (is != wanted)
        std::printf("%s: %d kernels have run, not %d\n", what, is, wanted);
    EXPECT(is == wanted);
    EXPECT(value_of(wrong) == 0);
    std::printf("%s\n", what);
}

static void test_trees()
{
    begin();
    tree<<<1, 1>>>(4);
    expect_done("a tree", 1 + 6 + 36 + 216 + 1296);
    begin();
    wide_tree<<<1, 1>>>(5);
    expect_done("a tree of 111111 kernels", 111111);
}

static void test_streams()
{
    int values[9];
    begin();
    give_parameters<<<1, 1>>>();
    expect_done("parameters", 2 + 12 * 32);
    begin();
    in_order<<<1, 256>>>();
    expect_done("a block's stream", 1);
    see(values, 1);
    EXPECT(values[0] == 12345);
    begin();
    named_streams<<<1, 1>>>();
    expect_done("streams and events", 0);
    see(values, 1);
    EXPECT(values[0] == 142536);
}

static void test_tails()
{
    int order;
    begin();
    with_tails<<<4, 32>>>();
    EXPECT_OK(cudaMemcpyFromSymbol(&order, seen, sizeof order));
    EXPECT(order == 123);
    expect_done("what comes last", 4 * 32 * 40);
    begin();
    loop_of_tails<<<1, 1>>>(2000);
    expect_done("a loop of kernels", 2000);
}

static void test_memory()
{
    int values[12];
    begin();
    use_heap<<<1, 1>>>();
    expect_done("the heap", 1);
    begin();
    copy_and_fill<<<1, 1>>>();
    expect_done("copies and fills", 2);
    see(values, 4);
    for (int i = 0; i < 4; i++)
        EXPECT(values[i] == 0x01010101);
    begin();
    volumes<<<1, 1>>>();
    expect_done("volumes", 0);
    see(values, 12);
    for (int i = 0; i < 12; i++)
        EXPECT(values[i] == (i < 8 ? 0x03030303 : 0));
}

static void test_errors()
{
    int *flag;
    int values[2];
    begin();
    errors<<<1, 32>>>();
    expect_done("errors of threads", 0);
    without_end<<<1, 1>>>(0);
    expect_done("a recursion without end", 25);
    begin();
    EXPECT_OK(cudaMalloc(&flag, sizeof *flag));
    EXPECT_OK(cudaMemset(flag, 0, sizeof *flag));
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    too_many<<<1, 1>>>(flag);
    expect_done("too many launches", 99);
    see(values, 2);
    EXPECT(values[0] == 99 && values[1] == cudaErrorLaunchPendingCountExceeded);
    begin();
    ask<<<1, 1>>>();
    expect_done("questions", 0);
}

static void test_graph()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    begin();
    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    wide_tree<<<1, 1, 0, stream>>>(1);
    loop_of_tails<<<1, 1, 0, stream>>>(9);
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        EXPECT_OK(cudaGraphLaunch(exec, stream));
    expect_done("in a graph", 5 * 20);
}

static void test_fault()
{
    launch_bad_child<<<1, 1>>>();
    EXPECT_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    std::printf("a fault in a child\n");
}

int main()
{
    test_trees();
    test_streams();
    test_tails();
    test_memory();
    test_errors();
    test_graph();
    test_fault();
    return verdict("child_launches");
}
