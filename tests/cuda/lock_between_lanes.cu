// SPDX-License-Identifier: Apache-2.0
// Threads of one warp, and of several blocks, take the same spin lock. In the second kernel a
// thread spins inside its loop until another thread of its own warp has left the lock: lanes must
// progress independently.
#include "expect.h"

__device__ int lock_word = 0;
__device__ int protected_count = 0;

__global__ void take_turns()
{
    bool is_done = false;
    while (!is_done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            *(volatile int *)&protected_count += 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            is_done = true;
        }
    }
}

__global__ void spin_until_free()
{
    while (atomicCAS(&lock_word, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int *)&protected_count += 1;
    __threadfence();
    atomicExch(&lock_word, 0);
}

static int count_after(const char *what)
{
    EXPECT_OK(cudaDeviceSynchronize());
    int count = -1;
    EXPECT_OK(cudaMemcpyFromSymbol(&count, protected_count, sizeof count));
    std::printf("%s: %d\n", what, count);
    const int zero = 0;
    EXPECT_OK(cudaMemcpyToSymbol(protected_count, &zero, sizeof zero));
    return count;
}

int main()
{
    take_turns<<<1, 32>>>();
    EXPECT(count_after("one warp takes turns") == 32);
    take_turns<<<4, 96>>>();
    EXPECT(count_after("four blocks take turns") == 4 * 96);
    spin_until_free<<<1, 32>>>();
    EXPECT(count_after("one warp spins") == 32);
    spin_until_free<<<3, 64>>>();
    EXPECT(count_after("three blocks spin") == 3 * 64);
    return verdict("lock_between_lanes");
}
