// SPDX-License-Identifier: Apache-2.0
// Kernels whose results, or whose end, depend on the order of their threads, each with a twin that is right:
//   schedule_defects CASE wrong|right
// A line ends in the case's name and the rule that --check=race --schedules finds broken (tests/e2e/check_defects.sh).
// Races that --check=race finds in any order are named, too. Without arguments: the names of all cases.
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <cuda_runtime.h>

#define THREADS 64
#define BLOCKS  4

// Each block leaves its number, all with strong writes: no race, but who is the last?
__global__ void last_writer(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> last(out[0]);
    if (threadIdx.x != 0)
        return;
    if (right)
        last.fetch_max(blockIdx.x, cuda::memory_order_relaxed);
    else
        last.store(blockIdx.x, cuda::memory_order_relaxed); // last_writer schedule-result
}

// A chain through which threads hand on what they find: a sum does not depend on the order, what each has found does.
__global__ void exchange_chain(int *out, bool right)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (right)
        atomicAdd(&out[0], i);
    else
        out[1 + i] = atomicExch(&out[0], i); // exchange_chain schedule-result
}

// x = 3 x + i, by a loop of compare-and-swap.
__global__ void swap_loop(int *out, bool right)
{
    int seen = out[THREADS]; // nobody writes it
    int old;
    do {
        old = seen;
        int next = right ? old + (int)threadIdx.x : 3 * old + (int)threadIdx.x;
        seen = atomicCAS(&out[0], old, next); // swap_loop schedule-result
    } while (seen != old);
}

// Places are taken by a counter: which thread has which place depends on the order.
__global__ void places_by_counter(int *out, bool right)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3 != 0)
        return;
    int place = atomicAdd(&out[0], 1);
    out[1 + (right ? i / 3 : place)] = i; // places_by_counter schedule-result
}

__global__ void float_sum(float *out, bool right)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (right)
        atomicAdd((int *)out, i);
    else
        atomicAdd(out, 1.0f / (1 + i * i)); // float_sum schedule-rounding
}

__global__ void no_barrier(int *out, bool right)
{
    __shared__ int s[THREADS];
    s[threadIdx.x] = threadIdx.x; // no_barrier shared-race
    if (right)
        __syncthreads();
    int other = s[THREADS - 1 - threadIdx.x]; // no_barrier shared-race
    out[blockIdx.x * THREADS + threadIdx.x] = other; // no_barrier schedule-result
}

// Looks once whether the other block has written: nothing says that it has.
__global__ void flag_seen_once(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(out[0]);
    if (threadIdx.x != 0 || blockIdx.x > 1)
        return;
    if (blockIdx.x == 0) {
        out[1] = 42;
        flag.store(1, cuda::memory_order_release);
        return;
    }
    if (right)
        while (flag.load(cuda::memory_order_acquire) == 0)
            continue;
    out[2] = flag.load(cuda::memory_order_acquire) ? out[1] : -1; // flag_seen_once schedule-result
}

// A read, something else, and a write, each of them strong: what others add between is lost.
__global__ void lost_update(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]);
    if (right)
        sum.fetch_add(1, cuda::memory_order_relaxed);
    else
        sum.store(sum.load(cuda::memory_order_relaxed) + 1, cuda::memory_order_relaxed); // lost_update schedule-result
}

static __device__ void lock(int *which)
{
    while (atomicCAS(which, 0, 1) != 0) {}; // lock_order schedule-deadlock
    __threadfence();
}

static __device__ void unlock(int *which)
{
    __threadfence();
    atomicExch(which, 0);
}

// Block 0 takes lock 0 and then 1, block 1 the other way round.
__global__ void lock_order(int *out, bool right)
{
    if (threadIdx.x != 0 || blockIdx.x > 1)
        return;
    int first = right ? 0 : blockIdx.x;
    lock(&out[first]);
    lock(&out[1 - first]);
    out[2] += 1;
    unlock(&out[1 - first]);
    unlock(&out[first]);
}

// Block 0 says that all may go on, if it is the first to come: the others wait for that.
__global__ void first_opens(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> open(out[1]);
    if (threadIdx.x != 0)
        return;
    int ticket = atomicAdd(&out[0], 1);
    if (blockIdx.x == 0 && (right || ticket == 0))
        open.store(1, cuda::memory_order_relaxed);
    while (open.load(cuda::memory_order_relaxed) == 0) {}; // first_opens schedule-deadlock
}

// Reads through an index that is there only if the writer has come first.
__global__ void index_not_yet_there(int *out, bool right)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> index(out[0]);
    if (threadIdx.x != 0 || blockIdx.x > 1)
        return;
    if (blockIdx.x == 0) {
        index.store(1, cuda::memory_order_release);
        return;
    }
    int i = index.load(cuda::memory_order_acquire);
    if (right && i == 0)
        i = 1;
    if (i == 0)
        __trap(); // index_not_yet_there schedule-fault
    out[1] = out[i + 1];
}

#define CASES(X)                                                                                   \
    X(last_writer, BLOCKS) X(exchange_chain, BLOCKS) X(swap_loop, 1) X(places_by_counter, BLOCKS)  \
    X(float_sum, BLOCKS) X(no_barrier, BLOCKS) X(flag_seen_once, BLOCKS) X(lost_update, BLOCKS)    \
    X(lock_order, BLOCKS) X(first_opens, BLOCKS) X(index_not_yet_there, BLOCKS)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(kernel, blocks) puts(#kernel);
        CASES(NAME)
        return 0;
    }
    bool right = strcmp(argv[2], "right") == 0;
    bool is_known = false;
    int *out;
    cudaMalloc(&out, 2 * BLOCKS * THREADS * sizeof *out);
    cudaMemset(out, 0, 2 * BLOCKS * THREADS * sizeof *out);
    void *args[] = {&out, &right};
#define LAUNCH(kernel, blocks)                                                                     \
    if (strcmp(argv[1], #kernel) == 0) {                                                           \
        cudaLaunchKernel((const void *)kernel, blocks, THREADS, args, 0, 0);                       \
        is_known = true;                                                                           \
    }
    CASES(LAUNCH)
    cudaError_t result = cudaDeviceSynchronize();
    if (!is_known || result != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", argv[1], is_known ? cudaGetErrorString(result) : "no such case");
        return 2;
    }
    int first;
    cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
    return 0;
}
