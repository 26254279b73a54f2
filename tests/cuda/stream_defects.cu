// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and fills that nothing orders, each with a twin that is right:
//   stream_defects CASE wrong|right
// A line ends in the case's name and the rule that --check=race finds broken (tests/e2e/check_defects.sh). Of two sides
// the one that comes second is found: both are named, as either may. Without arguments: the names of all cases.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define THREADS 128
#define BLOCKS  32
#define COUNT   (BLOCKS * THREADS)
#define BYTES   (COUNT * sizeof(int))

// Each side of each case is a kernel of its own, whose code has the line where it is made.
#define WRITER(name)                                                                               \
    __global__ void name(int *out, int value)                                                      \
    {                                                                                              \
        out[blockIdx.x * blockDim.x + threadIdx.x] = value + threadIdx.x;                          \
    }
#define READER(name)                                                                               \
    __global__ void name(int *out, const int *in)                                                  \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        out[i] = in[COUNT - 1 - i];                                                                \
    }
#define ADDER(name)                                                                                \
    __global__ void name(int *counters)                                                            \
    {                                                                                              \
        atomicAdd(&counters[threadIdx.x], 1);                                                      \
    }

static int *data, *other;
static int *page_locked;
static cudaStream_t a, b;
static cudaEvent_t event;

static void wait_for(cudaStream_t waits, cudaStream_t for_this)
{
    cudaEventRecord(event, for_this);
    cudaStreamWaitEvent(waits, event, 0);
}

WRITER(first_writer); // two_writers stream-race
WRITER(second_writer); // two_writers stream-race

static void two_writers(bool right)
{
    first_writer<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        wait_for(b, a);
    second_writer<<<BLOCKS, THREADS, 0, b>>>(data, 2);
}

WRITER(writer); // no_wait_for_host stream-race
READER(reader); // no_wait_for_host stream-race

// The host waits for the wrong stream.
static void no_wait_for_host(bool right)
{
    writer<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaStreamSynchronize(right ? a : b);
    reader<<<BLOCKS, THREADS, 0, b>>>(other, data);
}

WRITER(late_writer); // event_too_early stream-race
READER(early_reader); // event_too_early stream-race

static void event_too_early(bool right)
{
    if (!right)
        cudaEventRecord(event, a);
    late_writer<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    early_reader<<<BLOCKS, THREADS, 0, b>>>(other, data);
}

WRITER(before_copy); // copy_beside_kernel stream-race

static void copy_beside_kernel(bool right)
{
    before_copy<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        wait_for(b, a);
    cudaMemcpyAsync(page_locked, data, BYTES, cudaMemcpyDeviceToHost, b); // copy_beside_kernel stream-race
}

READER(uses_copied); // kernel_beside_copy stream-race

static void kernel_beside_copy(bool right)
{
    cudaMemcpyAsync(data, page_locked, BYTES, cudaMemcpyHostToDevice, a); // kernel_beside_copy stream-race
    if (right)
        wait_for(b, a);
    uses_copied<<<BLOCKS, THREADS, 0, b>>>(other, data);
}

READER(uses_part); // kernel_beside_short_copy stream-race

// Less than a page, in the middle.
static void kernel_beside_short_copy(bool right)
{
    cudaMemcpyAsync(data + 101, page_locked, 55, cudaMemcpyHostToDevice, a); // kernel_beside_short_copy stream-race
    if (right)
        wait_for(b, a);
    uses_part<<<BLOCKS, THREADS, 0, b>>>(other, data);
}

WRITER(before_fill); // fill_beside_kernel stream-race

static void fill_beside_kernel(bool right)
{
    before_fill<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaMemsetAsync(data, 0, BYTES, right ? a : b); // fill_beside_kernel stream-race
}

static void two_copies(bool right)
{
    cudaMemcpyAsync(data, page_locked, BYTES, cudaMemcpyHostToDevice, a); // two_copies stream-race
    if (right)
        cudaDeviceSynchronize();
    cudaMemcpyAsync(other, data, BYTES, cudaMemcpyDeviceToDevice, b); // two_copies stream-race
}

WRITER(in_null_stream); // beside_null_stream stream-race
READER(in_own_stream); // beside_null_stream stream-race

// Streams wait for the null stream, unless they are made not to.
static void beside_null_stream(bool right)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, right ? cudaStreamDefault : cudaStreamNonBlocking);
    in_null_stream<<<BLOCKS, THREADS>>>(data, 1);
    in_own_stream<<<BLOCKS, THREADS, 0, stream>>>(other, data);
    cudaStreamDestroy(stream);
}

WRITER(in_stream); // null_stream_beside stream-race

static void null_stream_beside(bool right)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, right ? cudaStreamDefault : cudaStreamNonBlocking);
    in_stream<<<BLOCKS, THREADS, 0, stream>>>(data, 1);
    cudaMemcpy(page_locked, data, BYTES, cudaMemcpyDeviceToHost); // null_stream_beside stream-race
    cudaStreamDestroy(stream);
}

WRITER(left_branch); // branches_of_graph stream-race
READER(right_branch); // branches_of_graph stream-race

static void branches_of_graph(bool right)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t writes, reads;
    int value = 1;
    void *writer_args[] = {&data, &value};
    void *reader_args[] = {&other, &data};
    cudaKernelNodeParams params = {};
    params.gridDim = dim3(BLOCKS);
    params.blockDim = dim3(THREADS);
    cudaGraphCreate(&graph, 0);
    params.func = (void *)left_branch;
    params.kernelParams = writer_args;
    cudaGraphAddKernelNode(&writes, graph, NULL, 0, &params);
    params.func = (void *)right_branch;
    params.kernelParams = reader_args;
    cudaGraphAddKernelNode(&reads, graph, &writes, right ? 1 : 0, &params);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(exec, a);
    cudaStreamSynchronize(a);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

WRITER(captured_writer); // capture_without_join stream-race
READER(captured_reader); // capture_without_join stream-race

// A stream that is drawn in too early.
static void capture_without_join(bool right)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    if (!right)
        wait_for(b, a);
    captured_writer<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        wait_for(b, a);
    captured_reader<<<BLOCKS, THREADS, 0, b>>>(other, data);
    wait_for(a, b);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphLaunch(exec, a);
    cudaStreamSynchronize(a);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

WRITER(of_graph); // graph_beside_stream stream-race
READER(beside_graph); // graph_beside_stream stream-race

static void graph_beside_stream(bool right)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    of_graph<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphLaunch(exec, a);
    beside_graph<<<BLOCKS, THREADS, 0, right ? a : b>>>(other, data);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

ADDER(adds); // atomic_and_plain stream-race
WRITER(sets); // atomic_and_plain stream-race
ADDER(adds_as_well); // atomic_and_plain stream-race

// Atomic operations of two kernels are in no race, whatever their order.
static void atomic_and_plain(bool right)
{
    adds<<<BLOCKS, THREADS, 0, a>>>(data);
    if (right)
        adds_as_well<<<BLOCKS, THREADS, 0, b>>>(data);
    else
        sets<<<BLOCKS, THREADS, 0, b>>>(data, 1);
}

WRITER(last_use); // freed_and_used stream-race
WRITER(first_use); // freed_and_used stream-race

// Memory of a pool goes from stream to stream by itself, if it is given back where it was used last.
static void freed_and_used(bool right)
{
    int *block;
    cudaMallocAsync((void **)&block, BYTES, a);
    last_use<<<BLOCKS, THREADS, 0, a>>>(block, 1);
    if (right) {
        cudaFreeAsync(block, a);
        cudaMallocAsync((void **)&block, BYTES, b);
    }
    first_use<<<BLOCKS, THREADS, 0, b>>>(block, 2);
    cudaStreamSynchronize(a);
    cudaFreeAsync(block, b);
}

#define CASES(X)                                                                                   \
    X(two_writers) X(no_wait_for_host) X(event_too_early) X(copy_beside_kernel)                    \
    X(kernel_beside_copy) X(kernel_beside_short_copy) X(fill_beside_kernel) X(two_copies)          \
    X(beside_null_stream) X(null_stream_beside) X(branches_of_graph) X(capture_without_join)       \
    X(graph_beside_stream) X(atomic_and_plain) X(freed_and_used)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(name) puts(#name);
        CASES(NAME)
        return 0;
    }
    bool right = strcmp(argv[2], "right") == 0;
    bool is_known = false;
    cudaMalloc((void **)&data, BYTES);
    cudaMalloc((void **)&other, BYTES);
    cudaMemset(data, 0, BYTES);
    cudaMallocHost((void **)&page_locked, BYTES);
    memset(page_locked, 0, BYTES);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaDeviceSynchronize();
#define RUN(name)                                                                                  \
    if (strcmp(argv[1], #name) == 0) {                                                             \
        name(right);                                                                               \
        is_known = true;                                                                           \
    }
    CASES(RUN)
    cudaError_t result = cudaDeviceSynchronize();
    if (!is_known || result != cudaSuccess)
        fprintf(stderr, "%s: %s\n", argv[1], is_known ? cudaGetErrorString(result) : "no such case");
    return !is_known || result != cudaSuccess;
}
