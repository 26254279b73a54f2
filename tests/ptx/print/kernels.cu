// SPDX-License-Identifier: Apache-2.0
// A little of what compilers put into PTX: for nvcc, NVRTC and clang without any header.
#if defined(__clang__) && !defined(__NVCC__)
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define THREAD       __nvvm_read_ptx_sreg_tid_x()
#else
#define THREAD threadIdx.x
#endif
#define NOINLINE __attribute__((noinline))

struct alignas(16) pair {
    double a;
    float b[3];
};

__constant__ float coefficients[5] = {1.0f, 2.5f, -3.0f};
__device__ int counter = 7;
__device__ int *where = &counter;
__device__ NOINLINE int twice(int x) { return 2 * x; }
__device__ NOINLINE int thrice(int x) { return 3 * x; }
__device__ int (*table[2])(int) = {twice, thrice};

__device__ NOINLINE pair make(pair p, int n)
{
    for (int i = 0; i < n; i++)
        p.a += p.b[i % 3] * coefficients[i % 5];
    return p;
}

__global__ void by_value(double *out, pair p, int n)
{
    out[THREAD] = make(p, n).a;
}

__global__ void indirect(int *p, int which)
{
    extern __shared__ int dynamic[];
    __shared__ int tile[33];
    int t = THREAD;

    dynamic[t] = p[t];
    tile[t & 31] = *where;
    __syncthreads();
    p[t] = table[which & 1](dynamic[t ^ 1]) + tile[t & 1];
}

__global__ void branches(int *p, float x)
{
    int local[4] = {1, 2, 3, 4};

    switch (p[0]) {
    case 0: p[1] = 5; break;
    case 1: p[1] = 17 * p[2]; break;
    case 2: p[1] = p[3]; break;
    case 3: p[1] = (int)(x * 0.5f); break;
    case 4: p[1] = local[p[2] & 3]; break;
    default: asm volatile("{ .reg .pred q; setp.ne.s32 q, %1, 3; @q mov.u32 %0, %%laneid; }" : "=r"(p[1]) : "r"(p[4]));
    }
}
