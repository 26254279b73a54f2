/* SPDX-License-Identifier: Apache-2.0
 *
 * What a launch of a small grid and the wait for it cost their thread, through the driver API: the
 * least over many rounds, so that a busy machine does not count. The kernel does next to nothing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cudart/driver/cuda_driver.h"

#define ROUNDS      200
#define REPETITIONS 200
#define BURST       10

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry store(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n"
    " .reg .b64 %rd<6>; .reg .b32 %r<5>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
    " ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 ret;\n"
    " mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r2; ret;\n}\n";

struct shape {
    const char *name;
    CUfunction kernel;
    unsigned blocks;
    unsigned threads;
    void **params;
};

static void check(CUresult result)
{
    if (result == CRT_SUCCESS)
        return;
    fprintf(stderr, "error %d\n", (int)result);
    exit(1);
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void run(const struct shape *shape, CUstream stream, int burst)
{
    for (int i = 0; i < burst; i++)
        check(cuLaunchKernel(shape->kernel, shape->blocks, 1, 1, shape->threads, 1, 1, 0, stream,
                             shape->params, NULL));
    check(cuStreamSynchronize(stream));
}

static double best_ns(const struct shape *shape, CUstream stream, int burst)
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start_ns = now_ns();
        for (int i = 0; i < REPETITIONS; i++)
            run(shape, stream, burst);
        double ns = (now_ns() - start_ns) / REPETITIONS;
        best = ns < best ? ns : best;
    }
    return best;
}

static void measure(const struct shape *shape, CUstream stream, const char *name)
{
    printf("%-24s %-14s launch and wait %5.0f ns, %d launches and a wait %6.0f ns\n", shape->name,
           name, best_ns(shape, stream, 1), BURST, best_ns(shape, stream, BURST));
}

int main(void)
{
    CUcontext ctx;
    CUmodule module;
    CUstream own;
    CUdeviceptr memory[3];
    unsigned n = 32;
    void *params[] = {&memory[0], &memory[1], &memory[2], &n};
    struct shape shapes[] = {{"empty, 1 block", NULL, 1, 32, NULL},
                             {"empty, 16 of 256", NULL, 16, 256, NULL},
                             {"3 pointers, 1 block", NULL, 1, 32, params}};
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&ctx, 0));
    check(cuCtxSetCurrent(ctx));
    check(cuModuleLoadData(&module, ptx));
    check(cuStreamCreate(&own, 0));
    for (int i = 0; i < 3; i++)
        check(cuMemAlloc_v2(&memory[i], 4096));
    check(cuModuleGetFunction(&shapes[0].kernel, module, "empty"));
    shapes[1].kernel = shapes[0].kernel;
    check(cuModuleGetFunction(&shapes[2].kernel, module, "store"));
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        measure(&shapes[i], NULL, "null stream");
        measure(&shapes[i], own, "own stream");
    }
    return 0;
}
