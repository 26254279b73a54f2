// SPDX-License-Identifier: Apache-2.0
// What the program itself does with managed and page-locked memory beside kernels, copies and fills that it has not
// waited for, each with a twin that is right:
//   managed_defects CASE wrong|right
// A line ends in the case's name and the rule that --check=race finds broken (tests/e2e/check_defects.sh). Of two sides
// the one that comes second is found: both are named, as either may. Without arguments: the names of all cases.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

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

static int *data, *page_locked, *device;
static cudaStream_t a, b;
static cudaEvent_t event;
static volatile int seen;

WRITER(not_waited_for); // read_too_early host-race

static void read_too_early(bool right)
{
    not_waited_for<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        cudaDeviceSynchronize();
    seen = data[77]; // read_too_early host-race
}

READER(reads_later); // write_too_early host-race

static void write_too_early(bool right)
{
    reads_later<<<BLOCKS, THREADS, 0, a>>>(device, data);
    if (right)
        cudaStreamSynchronize(a);
    data[77] = 5; // write_too_early host-race
}

WRITER(in_first_stream); // wrong_stream host-race

static void wrong_stream(bool right)
{
    in_first_stream<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaStreamSynchronize(right ? a : b);
    seen = data[77]; // wrong_stream host-race
}

WRITER(after_event); // event_too_early host-race

static void event_too_early(bool right)
{
    if (!right)
        cudaEventRecord(event, a);
    after_event<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        cudaEventRecord(event, a);
    cudaEventSynchronize(event);
    seen = data[77]; // event_too_early host-race
}

WRITER(writes_page_locked); // page_locked_read host-race

static void page_locked_read(bool right)
{
    writes_page_locked<<<BLOCKS, THREADS, 0, a>>>(page_locked, 1);
    if (right)
        cudaStreamSynchronize(a);
    seen = page_locked[77]; // page_locked_read host-race
}

static void changed_before_copy(bool right)
{
    cudaMemcpyAsync(device, page_locked, BYTES, cudaMemcpyHostToDevice, a); // changed_before_copy host-race
    if (right)
        cudaStreamSynchronize(a);
    page_locked[77] = 5; // changed_before_copy host-race
}

static void read_before_copy(bool right)
{
    cudaMemcpyAsync(page_locked, device, BYTES, cudaMemcpyDeviceToHost, a); // read_before_copy host-race
    if (right)
        cudaStreamSynchronize(a);
    seen = page_locked[77]; // read_before_copy host-race
}

static void read_before_fill(bool right)
{
    cudaMemsetAsync(data, 1, BYTES, a); // read_before_fill host-race
    if (right)
        cudaStreamSynchronize(a);
    seen = data[77]; // read_before_fill host-race
}

READER(reads_what_is_set); // set_by_libc host-race

static void set_by_libc(bool right)
{
    reads_what_is_set<<<BLOCKS, THREADS, 0, a>>>(device, data);
    if (right)
        cudaStreamSynchronize(a);
    memset(data, (int)seen, seen == 0 ? BYTES : 8); // set_by_libc host-race
    seen = 1;
}

WRITER(writes_what_is_saved); // saved_too_early host-race

// The system reads it.
static void saved_too_early(bool right)
{
    int file = open("/dev/null", O_WRONLY);
    writes_what_is_saved<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    if (right)
        cudaStreamSynchronize(a);
    ssize_t done = write(file, data, BYTES); // saved_too_early host-race
    if (done != (ssize_t)BYTES)
        perror("write");
    close(file);
}

READER(reads_what_is_loaded); // loaded_too_early host-race

static void loaded_too_early(bool right)
{
    int file = open("/dev/zero", O_RDONLY);
    reads_what_is_loaded<<<BLOCKS, THREADS, 0, a>>>(device, right ? data : page_locked);
    ssize_t done = read(file, page_locked, BYTES); // loaded_too_early host-race
    if (done != (ssize_t)BYTES)
        perror("read");
    close(file);
}

__managed__ int total;

__global__ void sums_up(int value)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        total = value; // variable host-race
}

static void variable(bool right)
{
    sums_up<<<BLOCKS, THREADS, 0, a>>>(3);
    if (right)
        cudaStreamSynchronize(a);
    seen = total; // variable host-race
}

__global__ void counts(int *counter, bool right)
{
    if (right)
        atomicAdd_system(counter, 1);
    else
        atomicAdd(counter, 1); // counter_of_device host-race
}

// What is atomic for the device is not for the host.
static void counter_of_device(bool right)
{
    counts<<<BLOCKS, THREADS, 0, a>>>(data, right);
    seen = *(volatile int *)data; // counter_of_device host-race
}

__global__ void tells(int *out, int *flag)
{
    out[threadIdx.x] = threadIdx.x; // without_flag host-race
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        *(volatile int *)flag = 1;
}

static void without_flag(bool right)
{
    *page_locked = 0;
    tells<<<1, THREADS, 0, a>>>(data, page_locked);
    while (right && *(volatile int *)page_locked == 0)
        continue;
    seen = data[77]; // without_flag host-race
}

__global__ void is_told(int *out, const int *in, int *flag)
{
    while (flag && *(volatile int *)flag == 0)
        continue;
    __threadfence_system();
    out[threadIdx.x] = in[threadIdx.x]; // told_too_late host-race
}

static void told_too_late(bool right)
{
    *page_locked = 0;
    is_told<<<1, THREADS, 0, a>>>(device, data, right ? page_locked : NULL);
    data[77] = 5; // told_too_late host-race
    __sync_synchronize();
    *(volatile int *)page_locked = 1;
}

WRITER(writes_half); // other_half host-race

static void other_half(bool right)
{
    writes_half<<<BLOCKS / 2, THREADS, 0, a>>>(data, 1);
    data[right ? COUNT / 2 : COUNT / 2 - 1] = 5; // other_half host-race
}

WRITER(before_function); // in_host_function host-race

static void look(void *)
{
    seen = data[77];
}

static void in_host_function(bool right)
{
    before_function<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaLaunchHostFunc(right ? a : b, look, NULL);
    if (!right)
        seen = data[77]; // in_host_function host-race
}

WRITER(asked_for); // asked_once host-race

static void asked_once(bool right)
{
    asked_for<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    while (right && cudaStreamQuery(a) == cudaErrorNotReady)
        continue;
    seen = data[77]; // asked_once host-race
}

WRITER(of_graph); // beside_graph host-race

static void beside_graph(bool right)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    of_graph<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(exec, a);
    if (right)
        cudaStreamSynchronize(a);
    seen = data[77]; // beside_graph host-race
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

WRITER(before_thread); // other_thread host-race

static void other_thread(bool right)
{
    before_thread<<<BLOCKS, THREADS, 0, a>>>(data, 1);
    std::thread waits([=] {
        if (right)
            cudaStreamSynchronize(a);
        seen = data[77]; // other_thread host-race
    });
    waits.join();
    seen = data[78]; // other_thread host-race
}

#define CASES(X)                                                                                   \
    X(read_too_early) X(write_too_early) X(wrong_stream) X(event_too_early) X(page_locked_read)    \
    X(changed_before_copy) X(read_before_copy) X(read_before_fill) X(set_by_libc)                  \
    X(saved_too_early) X(loaded_too_early) X(variable) X(counter_of_device) X(without_flag)        \
    X(told_too_late) X(other_half) X(in_host_function) X(asked_once) X(beside_graph)               \
    X(other_thread)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(name) puts(#name);
        CASES(NAME)
        return 0;
    }
    bool right = strcmp(argv[2], "right") == 0;
    bool is_known = false;
    cudaMallocManaged((void **)&data, BYTES);
    cudaMallocHost((void **)&page_locked, BYTES);
    cudaMalloc((void **)&device, BYTES);
    cudaMemset(device, 0, BYTES);
    memset(data, 0, BYTES);
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
