// SPDX-License-Identifier: Apache-2.0
// Kernels that do not wait for what they copy to shared memory (cp.async), or for an mbarrier to be made or to be
// left, each with a twin that is right:
//   copy_defects CASE wrong|right
// A line that races ends in the case's name and the rule that --check=race finds broken (tests/e2e/check_defects.sh).
// Of a pair of lines the one that comes second is found. Without arguments: the names of all cases.
#include <cstdio>
#include <cstring>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define THREADS 128
#define TILES   5

// A thread reads its own element; no barrier would help.
__global__ void own_element(const int *in, int *out, bool right)
{
    __shared__ int s[THREADS];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    if (right)
        __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x]; // own_element shared-race
    __pipeline_wait_prior(0);
}

// All threads wait behind the barrier, each for its own copy alone.
__global__ void wait_behind_barrier(const int *in, int *out, bool right)
{
    __shared__ int s[THREADS];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    if (right)
        __pipeline_wait_prior(0);
    __syncthreads();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x]; // wait_behind_barrier shared-race
}

// Two tiles in turn, the next one under way: one group too many may still be.
__global__ void group_too_many(const int *in, int *out, bool right)
{
    __shared__ int s[2][THREADS];
    int sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
#pragma unroll 1
    for (int tile = 0; tile < TILES; tile++) {
        const int *next = &in[(tile + 1) * THREADS + threadIdx.x];
        if (tile + 1 < TILES)
            __pipeline_memcpy_async(&s[(tile + 1) % 2][threadIdx.x], next, 4); // group_too_many shared-race
        __pipeline_commit();
        if (right)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(2);
        __syncthreads();
        sum += s[tile % 2][THREADS - 1 - threadIdx.x]; // group_too_many shared-race
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// What a thread writes, the copy may overwrite, or not.
__global__ void written_meanwhile(const int *in, int *out, bool right)
{
    __shared__ __align__(16) int s[4 * THREADS];
    __pipeline_memcpy_async(&s[4 * threadIdx.x], &in[4 * threadIdx.x], 16);
    __pipeline_commit();
    if (right)
        __pipeline_wait_prior(0);
    s[4 * threadIdx.x + 1] = 0; // written_meanwhile shared-race
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[4 * (THREADS - 1 - threadIdx.x) + 1];
}

// An mbarrier knows of copies only if it is told.
__global__ void barrier_not_told(const int *in, int *out, bool right)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int s[THREADS];
    if (threadIdx.x == 0)
        __mbarrier_init(&barrier, THREADS);
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    if (right)
        __pipeline_arrive_on(&barrier);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token))
        continue;
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x]; // barrier_not_told shared-race
}

// Others arrive at an object that the first thread has perhaps not made yet.
__global__ void object_not_made(const int *in, int *out, bool right)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int s[THREADS];
    s[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0)
        __mbarrier_init(&barrier, THREADS); // object_not_made shared-race
    if (right)
        __syncthreads();
    __mbarrier_token_t token = __mbarrier_arrive(&barrier); // object_not_made shared-race
    while (!__mbarrier_test_wait(&barrier, token)) // object_not_made shared-race
        continue;
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x];
}

// The first thread destroys an object that others still ask.
__global__ void object_gone(const int *in, int *out, bool right)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int s[THREADS];
    s[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0)
        __mbarrier_init(&barrier, THREADS);
    __syncthreads();
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) // object_gone shared-race
        continue;
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x];
    if (right)
        __syncthreads();
    if (threadIdx.x == 0)
        __mbarrier_inval(&barrier); // object_gone shared-race
}

// A thread that waits for a phase does not know what others do behind it: it writes what they may still read. It
// goes on when all others have come to the next phase.
__global__ void next_phase_too_early(const int *in, int *out, bool right)
{
    __shared__ __mbarrier_t barrier;
    __shared__ volatile int gone_on;
    __shared__ int s;
    if (threadIdx.x == 0) {
        __mbarrier_init(&barrier, THREADS);
        gone_on = 0;
        s = in[0];
    }
    __syncthreads();
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    if (threadIdx.x < 32) {
        while (gone_on < THREADS - 32)
            continue;
        while (!__mbarrier_test_wait(&barrier, token))
            continue;
        if (right) {
            token = __mbarrier_arrive(&barrier);
            while (!__mbarrier_test_wait(&barrier, token))
                continue;
        }
        if (threadIdx.x == 0)
            s = in[1]; // next_phase_too_early shared-race
        return;
    }
    while (!__mbarrier_test_wait(&barrier, token))
        continue;
    out[threadIdx.x] = s; // next_phase_too_early shared-race
    (void)__mbarrier_arrive(&barrier);
    atomicAdd((int *)&gone_on, 1);
}

#define CASES(X)                                                                                   \
    X(own_element) X(wait_behind_barrier) X(group_too_many) X(written_meanwhile) X(barrier_not_told) \
    X(object_not_made) X(object_gone) X(next_phase_too_early)

static bool launch(const char *name, bool right, const int *in, int *out)
{
#define LAUNCH(kernel)                                                                             \
    if (strcmp(name, #kernel) == 0) {                                                              \
        kernel<<<1, THREADS>>>(in, out, right);                                                    \
        return true;                                                                               \
    }
    CASES(LAUNCH)
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(kernel) puts(#kernel);
        CASES(NAME)
        return 0;
    }
    int *in, *out;
    cudaMalloc(&in, TILES * THREADS * sizeof *in);
    cudaMemset(in, 0, TILES * THREADS * sizeof *in);
    cudaMalloc(&out, THREADS * sizeof *out);
    if (!launch(argv[1], strcmp(argv[2], "right") == 0, in, out)) {
        fprintf(stderr, "no case '%s'\n", argv[1]);
        return 2;
    }
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return result != cudaSuccess;
}
