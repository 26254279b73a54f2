/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight host threads in each of two processes use everything at once: first initialisation, first
 * parse and first compilation of the same kernel, streams of their own, the stream of the thread,
 * the null stream, events of others, allocations, copies, host functions, contexts that a kernel
 * ruins. A plain program, because it starts itself twice.
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "cudart/driver/cuda_driver.h"

/* CU_STREAM_NON_BLOCKING */
#define NON_BLOCKING 1

#define THREADS      8
#define ROUNDS       6
#define COUNT        1000
#define BYTES        (COUNT * sizeof(uint32_t))

extern char **environ;

static const char ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 bytes);\n"
    ".extern .func free (.param .b64 pointer);\n"
    ".visible .global .align 1 .b8 nothing[2];\n"
    ".visible .entry call_library()\n"
    "{\n .reg .b64 %rd<3>; .param .b64 a; .param .b64 b; .param .b32 r; .param .b64 m;\n"
    " mov.u64 %rd1, nothing; cvta.global.u64 %rd1, %rd1; st.param.b64 [a], %rd1;\n"
    " st.param.b64 [b], 0; call (r), vprintf, (a, b);\n"
    " st.param.b64 [a], 100; call (m), malloc, (a); ld.param.b64 %rd2, [m];\n"
    " st.u32 [%rd2], 5; st.param.b64 [a], %rd2; call free, (a); ret;\n}\n"
    ".visible .entry fail() { .reg .b64 %rd; mov.u64 %rd, 16; st.global.u32 [%rd], 1; ret; }\n"
    ".visible .global .align 4 .u32 launches;\n"
    ".visible .entry add(.param .u64 data, .param .u32 count, .param .u32 value)\n"
    "{\n .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p;\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    " mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [count]; ld.param.u32 %r6, [value];\n"
    " setp.ne.u32 %p, %r4, 0; @%p bra counted; mov.u64 %rd4, launches;\n"
    " atom.global.add.u32 %r8, [%rd4], 1;\ncounted:\n"
    " setp.ge.u32 %p, %r4, %r5; @%p ret;\n"
    " ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, %r6; st.global.u32 [%rd3], %r7; ret;\n}\n"
    ".visible .entry meet(.param .u64 data)\n"
    "{\n .reg .b32 %r<5>; .reg .b64 %rd<2>; .shared .align 4 .b8 sum[4];\n"
    " ld.param.u64 %rd1, [data]; st.shared.u32 [sum], 0; bar.sync 0;\n"
    " atom.shared.add.u32 %r1, [sum], 1; bar.sync 0; ld.shared.u32 %r2, [sum];\n"
    " shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; atom.global.add.u32 %r4, [%rd1], %r3; ret;\n}\n";

static struct {
    pthread_barrier_t start;
    CUlibrary library;
    CUevent events[THREADS]; /* recorded by one thread, waited for by the next */
    pthread_barrier_t recorded;
    atomic_uint host_functions;
    atomic_uint add_launches;
} shared;

static void launch(CUfunction kernel, CUstream stream, unsigned blocks, unsigned threads,
                   void **params)
{
    OK(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, params, NULL));
}

static void launch_add(CUfunction kernel, CUstream stream, CUdeviceptr data, uint32_t value)
{
    uint32_t count = COUNT;
    void *params[] = {&data, &count, &value};
    launch(kernel, stream, (COUNT + 127) / 128, 128, params);
    atomic_fetch_add(&shared.add_launches, 1);
}

static void count_host_function(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static CUfunction shared_kernel(const char *name)
{
    CUkernel kernel;
    CUfunction function;
    OK(cuLibraryGetKernel(&kernel, shared.library, name));
    OK(cuKernelGetFunction(&function, kernel));
    return function;
}

static void expect_all(const uint32_t *host, uint32_t wanted)
{
    for (size_t i = 0; i < COUNT; i++)
        EXPECT(wanted, host[i]);
}

static void use_stream(CUfunction add, CUstream stream, unsigned number)
{
    CUdeviceptr data;
    uint32_t *host;
    OK(cuMemHostAlloc((void **)&host, BYTES, 0));
    OK(cuMemAlloc_v2(&data, BYTES));
    for (size_t i = 0; i < COUNT; i++)
        host[i] = number;
    OK(cuMemcpyHtoDAsync_v2(data, host, BYTES, stream));
    launch_add(add, stream, data, 10);
    launch_add(add, stream, data, 20);
    OK(cuLaunchHostFunc(stream, count_host_function, &shared.host_functions));
    OK(cuMemcpyDtoHAsync_v2(host, data, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    expect_all(host, number + 30);
    OK(cuMemFree_v2(data));
    OK(cuMemFreeHost(host));
}

static void use_ordered_memory(CUfunction add, CUstream stream)
{
    CUdeviceptr data;
    uint32_t host[COUNT];
    OK(cuMemAllocAsync(&data, BYTES, stream));
    OK(cuMemsetD32Async(data, 7, COUNT, stream));
    launch_add(add, stream, data, 1);
    OK(cuMemcpyDtoHAsync_v2(host, data, BYTES, stream));
    OK(cuMemFreeAsync(data, stream));
    OK(cuStreamSynchronize(stream));
    expect_all(host, 8);
}

/* Work of this thread, then an event; work that waits for the event of another thread. */
static void use_events(CUfunction add, CUstream stream, unsigned number)
{
    CUdeviceptr data;
    CUevent start;
    float ms;
    OK(cuEventCreate(&start, 0));
    OK(cuEventRecord(start, stream));
    OK(cuMemAlloc_v2(&data, BYTES));
    OK(cuMemsetD8Async(data, 0, BYTES, stream));
    launch_add(add, stream, data, number);
    OK(cuEventRecord(shared.events[number], stream));
    pthread_barrier_wait(&shared.recorded);
    OK(cuStreamWaitEvent(stream, shared.events[(number + 1) % THREADS], 0));
    launch_add(add, stream, data, 1);
    OK(cuEventSynchronize(shared.events[number]));
    OK(cuEventElapsedTime(&ms, start, shared.events[number]));
    CHECK(ms >= 0);
    uint32_t host[COUNT];
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(host, data, BYTES));
    expect_all(host, number + 1);
    OK(cuMemFree_v2(data));
    OK(cuEventDestroy_v2(start));
    pthread_barrier_wait(&shared.recorded);
}

/* A module that belongs to this thread: loaded, compiled, run and unloaded beside all others. */
static void use_own_module(CUstream stream)
{
    CUmodule module;
    CUfunction meet;
    CUdeviceptr sum;
    uint32_t host = 0;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&meet, module, "meet"));
    OK(cuMemAlloc_v2(&sum, sizeof host));
    OK(cuMemsetD32_v2(sum, 0, 1));
    void *params[] = {&sum};
    launch(meet, stream, 3, 64, params);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&host, sum, sizeof host));
    EXPECT(3 * 64 * 64, host);
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(sum));
}

/* A context of this thread, which a kernel ruins; the others do not notice. */
static void use_own_context(CUcontext primary)
{
    CUcontext own;
    CUmodule module;
    CUfunction kernel;
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "call_library"));
    launch(kernel, NULL, 4, 32, NULL);
    OK(cuCtxSynchronize());
    OK(cuModuleGetFunction(&kernel, module, "fail"));
    launch(kernel, NULL, 4, 32, NULL);
    EXPECT(CRT_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(own));
    OK(cuCtxSetCurrent(primary));
}

static void *run_thread(void *arg)
{
    unsigned number = (unsigned)(uintptr_t)arg;
    CUcontext ctx;
    CUstream stream;
    pthread_barrier_wait(&shared.start);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    if (number == 0)
        OK(cuLibraryLoadData(&shared.library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuEventCreate(&shared.events[number], 0));
    pthread_barrier_wait(&shared.start);
    CUfunction add = shared_kernel("add");
    OK(cuStreamCreate(&stream, number % 2 ? NON_BLOCKING : 0));
    for (unsigned round = 0; round < ROUNDS; round++) {
        use_stream(add, stream, number);
        use_stream(add, CU_STREAM_PER_THREAD, number + 100);
        use_stream(add, CU_STREAM_LEGACY, number + 200);
        use_ordered_memory(add, stream);
        use_events(add, stream, number);
        use_own_module(stream);
        use_own_context(ctx);
    }
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease_v2(0));
    return NULL;
}

static void check_totals(void)
{
    CUdeviceptr counter;
    size_t bytes;
    unsigned launches;
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuLibraryGetGlobal(&counter, &bytes, shared.library, "launches"));
    OK(cuMemcpyDtoH_v2(&launches, counter, sizeof launches));
    EXPECT(atomic_load(&shared.add_launches), launches);
    EXPECT(THREADS * ROUNDS * 3, atomic_load(&shared.host_functions));
    for (int i = 0; i < THREADS; i++)
        OK(cuEventDestroy_v2(shared.events[i]));
    OK(cuLibraryUnload(shared.library));
    OK(cuDevicePrimaryCtxReset_v2(0));
}

static void run_process(void)
{
    pthread_t threads[THREADS];
    CUcontext ctx;
    pthread_barrier_init(&shared.start, NULL, THREADS);
    pthread_barrier_init(&shared.recorded, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        EXPECT(0, pthread_create(&threads[i], NULL, run_thread, (void *)i));
    /* Held, so that the last thread's release does not end the context with its variables. */
    while (cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS)
        sched_yield();
    for (int i = 0; i < THREADS; i++)
        EXPECT(0, pthread_join(threads[i], NULL));
    check_totals();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "process") == 0) {
        run_process();
        return 0;
    }
    char *arguments[] = {argv[0], (char *)"process", NULL};
    pid_t children[2];
    for (int i = 0; i < 2; i++)
        EXPECT(0, posix_spawn(&children[i], "/proc/self/exe", NULL, NULL, arguments, environ));
    for (int i = 0; i < 2; i++) {
        int status;
        EXPECT(children[i], waitpid(children[i], &status, 0));
        EXPECT(0, status);
    }
    puts("two processes with eight threads each: fine");
    return 0;
}
