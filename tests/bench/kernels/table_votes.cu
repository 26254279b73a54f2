// SPDX-License-Identifier: Apache-2.0
// Kernels of ptxbench's page whose warps vote in each round of a loop, and do little else.
// table_votes.ptx is made from this file by build_ptx.sh.

// A warp looks at 32 neighbouring elements in each round; it leaves in how many rounds the vote was
// won, or how many elements were above the limit.
#define VOTES(name, vote)                                                                          \
    extern "C" __global__ void name(const float *in, unsigned *counts, unsigned rounds,            \
                                    float limit)                                                   \
    {                                                                                              \
        unsigned count = 0;                                                                        \
        unsigned first = blockIdx.x * blockDim.x + threadIdx.x;                                    \
        for (unsigned i = 0; i < rounds; i++) {                                                    \
            count += vote(in[first + i * blockDim.x * gridDim.x] > limit);                         \
        }                                                                                          \
        if (threadIdx.x % 32 == 0) {                                                               \
            counts[first / 32] = count;                                                            \
        }                                                                                          \
    }

static __device__ unsigned is_any(bool is_above)
{
    return __any_sync(0xffffffffu, is_above);
}

static __device__ unsigned is_all(bool is_above)
{
    return __all_sync(0xffffffffu, is_above);
}

static __device__ unsigned how_many(bool is_above)
{
    return __popc(__ballot_sync(0xffffffffu, is_above));
}

VOTES(vote_any, is_any)
VOTES(vote_all, is_all)
VOTES(vote_ballot, how_many)
