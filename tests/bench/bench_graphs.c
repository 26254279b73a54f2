/* SPDX-License-Identifier: Apache-2.0
 *
 * Many small kernels, launched one by one through a stream and as one graph: kernels per second
 * until all have ended, and the CPU time that a kernel costs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart/driver/cuda_driver.h"

#define KERNELS 1000
#define ROUNDS  200
#define STREAMS 8

static const char ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .b64 %rd<4>; .reg .b32 %r<5>;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
    " mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, %r1; st.global.u32 [%rd3], %r4; ret;\n}\n";

static struct {
    CUfunction kernel;
    CUdeviceptr memory;
    CUstream streams[STREAMS];
    unsigned threads;
} bench;

static void check(CUresult result, const char *what)
{
    if (result == CRT_SUCCESS)
        return;
    fprintf(stderr, "bench_graphs: %s gave %d\n", what, (int)result);
    exit(1);
}

#define CHECK(call) check((call), #call)

/* Time that has passed, and that the calling thread and all threads have run: the latter are what
 * they are on a busy machine, too. */
struct times {
    double wall_s;
    double thread_s;
    double process_s;
};

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct times read_times(void)
{
    return (struct times){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_THREAD_CPUTIME_ID),
                          read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

/* What kernel i of a round gets: all in a chain work on one place, others on one each. */
static CUdeviceptr place_of(bool is_chain, int i)
{
    return bench.memory + (is_chain ? 0 : (CUdeviceptr)i * 4 * bench.threads);
}

static void launch_one_by_one(bool is_chain)
{
    unsigned one = 1;
    for (int i = 0; i < KERNELS; i++) {
        CUdeviceptr place = place_of(is_chain, i);
        void *params[] = {&place, &one};
        CHECK(cuLaunchKernel(bench.kernel, 1, 1, 1, bench.threads, 1, 1, 0,
                             bench.streams[is_chain ? 0 : i % STREAMS], params, NULL));
    }
}

static CUgraphExec make_graph(bool is_chain)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode last = NULL;
    unsigned one = 1;
    CHECK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < KERNELS; i++) {
        CUdeviceptr place = place_of(is_chain, i);
        void *values[] = {&place, &one};
        CUDA_KERNEL_NODE_PARAMS params = {.func = bench.kernel,
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = bench.threads,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = values};
        CUgraphNode node;
        CHECK(cuGraphAddKernelNode_v2(&node, graph, &last, is_chain && i > 0, &params));
        last = node;
    }
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

static void report(const char *name, struct times start, double launch_s)
{
    struct times end = read_times();
    double kernels = (double)KERNELS * ROUNDS;
    printf(
        "%-24s %9.0f kernels/s; CPU time per kernel: %5.0f ns of the calling thread, %5.0f ns of "
        "all\n",
        name, kernels / (end.wall_s - start.wall_s), launch_s / kernels * 1e9,
        (end.process_s - start.process_s) / kernels * 1e9);
}

/* exec NULL: one by one. */
static void measure(const char *name, CUgraphExec exec, bool is_chain)
{
    double launch_s = 0;
    struct times start = read_times();
    for (int round = -1; round < ROUNDS; round++) {
        if (round == 0) {
            launch_s = 0;
            start = read_times();
        }
        double before_s = read_clock(CLOCK_THREAD_CPUTIME_ID);
        if (exec)
            CHECK(cuGraphLaunch(exec, bench.streams[0]));
        else
            launch_one_by_one(is_chain);
        launch_s += read_clock(CLOCK_THREAD_CPUTIME_ID) - before_s;
        CHECK(cuCtxSynchronize());
    }
    report(name, start, launch_s);
}

int main(int argc, char **argv)
{
    CUcontext ctx;
    CUmodule module;
    bench.threads = argc > 1 ? (unsigned)atoi(argv[1]) : 32;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, 0));
    CHECK(cuCtxSetCurrent(ctx));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&bench.kernel, module, "add"));
    CHECK(cuMemAlloc_v2(&bench.memory, (size_t)4 * KERNELS * bench.threads));
    for (int i = 0; i < STREAMS; i++)
        CHECK(cuStreamCreate(&bench.streams[i], 1));
    measure("chain, one by one", NULL, true);
    measure("chain, graph", make_graph(true), true);
    measure("independent, one by one", NULL, false);
    measure("independent, graph", make_graph(false), false);
    return 0;
}
