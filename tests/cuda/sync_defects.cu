// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads do not all come to barriers or operations of their warp, each with a twin that is right:
//   sync_defects CASE wrong|right
// A line that is wrong ends in the case's name and the rule that --check=sync finds broken (tests/e2e/check_defects.sh).
// Without arguments: the names of all cases.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define THREADS 128
#define BLOCKS  2
#define FULL    0xffffffffu

__global__ void early_return(int *out, bool right)
{
    if (!right && threadIdx.x >= 96)
        return;
    __syncthreads(); // early_return barrier-exited
    out[threadIdx.x] = threadIdx.x;
}

__global__ void early_return_of_lanes(int *out, bool right)
{
    out += 2 * THREADS * blockIdx.x;
    if (!right && threadIdx.x % 32 == 7)
        return;
    out[threadIdx.x] = 1;
    __syncthreads(); // early_return_of_lanes barrier-exited
    out[threadIdx.x + THREADS] = out[(threadIdx.x + 1) % THREADS];
}

__global__ void barrier_in_branch(int *out, bool right)
{
    int value = threadIdx.x;
    out += 2 * THREADS * blockIdx.x;
    if (right || threadIdx.x < 64) {
        out[threadIdx.x] = value;
        __syncthreads(); // barrier_in_branch barrier-exited
        value += out[(threadIdx.x + 1) % 64];
    }
    out[threadIdx.x + THREADS] = value;
}

__global__ void barrier_in_loop(int *out, bool right)
{
    out += 2 * THREADS * blockIdx.x;
    unsigned rounds = right ? 4 : threadIdx.x / 32 + 1;
    for (unsigned i = 0; i < rounds; i++) {
        out[(threadIdx.x + i) % THREADS] = i;
        __syncthreads(); // barrier_in_loop barrier-exited
    }
}

__global__ void barrier_of_half_warps(int *out, bool right)
{
    if (right || threadIdx.x % 32 < 16)
        __syncthreads(); // barrier_of_half_warps barrier-exited
    out[threadIdx.x] = 1;
}

__global__ void vote_of_block(int *out, bool right)
{
    if (!right && threadIdx.x == 100)
        return;
    out[threadIdx.x] = __syncthreads_or(threadIdx.x == 5); // vote_of_block barrier-exited
}

__global__ void group_of_block(int *out, bool right)
{
    cg::thread_block block = cg::this_thread_block();
    if (!right && block.thread_rank() > 40)
        return;
    block.sync(); // group_of_block barrier-exited
    out[threadIdx.x] = 1;
}

__device__ __noinline__ void meet(int *out)
{
    __syncthreads(); // barrier_in_function barrier-exited
    out[threadIdx.x] += 1;
}

__global__ void barrier_in_function(int *out, bool right)
{
    out += 2 * THREADS * blockIdx.x;
    if (right || threadIdx.x < 32)
        meet(out);
}

__global__ void barrier_in_two_places(int *out, bool right)
{
    out += 2 * THREADS * blockIdx.x;
    if (right) {
        __syncthreads();
    } else if (threadIdx.x % 32 < 16) {
        out[threadIdx.x] = 1;
        asm volatile("bar.sync 0; // of the lower lanes" ::: "memory"); // barrier_in_two_places divergent-barrier
        out[threadIdx.x + THREADS] = 2;
    } else {
        out[threadIdx.x] = 3;
        asm volatile("bar.sync 0;" ::: "memory"); // barrier_in_two_places divergent-barrier
        out[threadIdx.x + THREADS] = 4;
    }
    out[threadIdx.x] += 1;
}

__global__ void different_counts(int *out, bool right)
{
    unsigned count = right || threadIdx.x < 64 ? 128 : 96;
    asm volatile("barrier.sync 1, %0;" ::"r"(count) : "memory"); // different_counts barrier-count
    out[threadIdx.x] = 1;
}

__global__ void too_few_threads(int *out, bool right)
{
    if (threadIdx.x < (right ? 96 : 64))
        asm volatile("barrier.sync 1, 96;" ::: "memory"); // too_few_threads barrier-exited
    out[threadIdx.x] = 1;
}

__global__ void count_of_all(int *out, bool right)
{
    if (right || threadIdx.x < 64)
        asm volatile("barrier.sync 1, 128;" ::: "memory"); // count_of_all barrier-exited
    out[threadIdx.x] = 1;
}

__global__ void crossed_barriers(int *out, bool right)
{
    unsigned id = right || threadIdx.x < 64 ? 1 : 2;
    asm volatile("barrier.sync %0, 128;" ::"r"(id) : "memory"); // crossed_barriers deadlock
    out[threadIdx.x] = 1;
}

__global__ void count_of_no_warps(int *out, bool right)
{
    unsigned count = right ? 128 : 48;
    asm volatile("barrier.sync 1, %0;" ::"r"(count) : "memory"); // count_of_no_warps barrier-misuse
    out[threadIdx.x] = 1;
}

__global__ void destroyed_too_early(int *out, bool right)
{
    __shared__ unsigned long long object;
    unsigned at = __cvta_generic_to_shared(&object);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at) : "memory");
    __syncthreads();
    if (!right && threadIdx.x == 7)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory"); // destroyed_too_early barrier-misuse
    out[threadIdx.x] = 1;
}

// The arrival stands for copies.
__global__ void destroyed_under_copies(int *out, bool right)
{
    __shared__ unsigned long long object;
    unsigned at = __cvta_generic_to_shared(&object);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at) : "memory");
    __syncthreads();
    if (!right && threadIdx.x == 7)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    __syncthreads();
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory"); // destroyed_under_copies barrier-misuse
    out[threadIdx.x] = 1;
}

__global__ void caller_not_in_mask(int *out, bool right)
{
    __syncwarp(right ? FULL : 0xffff); // caller_not_in_mask mask-without-caller
    out[threadIdx.x] = 1;
}

__global__ void caller_not_in_vote(int *out, bool right)
{
    unsigned mask = right ? FULL : 0xffff0000;
    out[threadIdx.x] = __any_sync(mask, threadIdx.x == 3); // caller_not_in_vote mask-without-caller
}

__global__ void caller_not_in_match(int *out, bool right)
{
    out[threadIdx.x] = __match_any_sync(right ? FULL : ~1u, threadIdx.x % 3); // caller_not_in_match mask-without-caller
}

__global__ void ended_before_warp_barrier(int *out, bool right)
{
    if (!right && threadIdx.x % 32 >= 16)
        return;
    __syncwarp(); // ended_before_warp_barrier mask-exited
    out[threadIdx.x] = 1;
}

__global__ void ended_before_shuffle(int *out, bool right)
{
    if (!right && threadIdx.x == 37)
        return;
    out[threadIdx.x] = __shfl_xor_sync(FULL, (int)threadIdx.x, 1); // ended_before_shuffle mask-exited
}

__global__ void vote_in_branch(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    unsigned votes = 0;
    if (lane < 16)
        votes = __ballot_sync(right ? 0xffff : FULL, lane & 1); // vote_in_branch mask-exited
    out[threadIdx.x] = votes;
}

__global__ void masks_that_differ(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    unsigned mask = lane < 16 ? 0xffff : right ? 0xffff0000 : FULL;
    __syncwarp(mask); // masks_that_differ mask-exited
    out[threadIdx.x] = mask;
}

__global__ void operations_that_differ(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    int result = 0;
    if (right || lane < 16)
        result = __any_sync(FULL, lane == 3); // operations_that_differ deadlock
    else
        result = __match_any_sync(FULL, lane); // operations_that_differ deadlock
    out[threadIdx.x] = result;
}

__global__ void shuffle_from_outside(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    if (lane < 16)
        out[threadIdx.x] = __shfl_sync(0xffff, (int)threadIdx.x, right ? 4 : 20); // shuffle_from_outside shuffle-inactive
}

__global__ void reduction_of_half(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    int sum = threadIdx.x;
    if (lane >= 16)
        return;
    for (int offset = 8; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffff, sum, offset, right ? 16 : 32); // reduction_of_half shuffle-inactive
    out[threadIdx.x] = sum;
}

__global__ void shuffle_up_from_outside(int *out, bool right)
{
    unsigned lane = threadIdx.x % 32;
    if (lane >= 8)
        out[threadIdx.x] = __shfl_up_sync(~0xffu, (int)lane, right && lane < 9 ? 0 : 1); // shuffle_up_from_outside shuffle-inactive
}

#define CASES(X)                                                                                                       \
    X(early_return) X(early_return_of_lanes) X(barrier_in_branch) X(barrier_in_loop) X(barrier_of_half_warps)          \
    X(vote_of_block) X(group_of_block) X(barrier_in_function) X(barrier_in_two_places) X(different_counts)             \
    X(too_few_threads) X(count_of_all) X(crossed_barriers) X(count_of_no_warps) X(destroyed_too_early)                 \
    X(destroyed_under_copies)                                                                                         \
    X(caller_not_in_mask) X(caller_not_in_vote) X(caller_not_in_match) X(ended_before_warp_barrier)                    \
    X(ended_before_shuffle) X(vote_in_branch) X(masks_that_differ) X(operations_that_differ) X(shuffle_from_outside)   \
    X(reduction_of_half) X(shuffle_up_from_outside)

static bool launch(const char *name, bool right, int *out)
{
#define LAUNCH(kernel)                                                                                                 \
    if (strcmp(name, #kernel) == 0) {                                                                                  \
        kernel<<<BLOCKS, THREADS>>>(out, right);                                                                       \
        return true;                                                                                                   \
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
    int *out;
    cudaMalloc(&out, 2 * BLOCKS * THREADS * sizeof *out);
    cudaMemset(out, 0, 2 * BLOCKS * THREADS * sizeof *out);
    if (!launch(argv[1], strcmp(argv[2], "right") == 0, out)) {
        fprintf(stderr, "no case '%s'\n", argv[1]);
        return 2;
    }
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return result != cudaSuccess;
}
