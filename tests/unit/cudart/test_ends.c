/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that have to do with each other, destroyed at the same time by different threads: each is
 * its thread's own to destroy. What is destroyed is made again at once, so that who still looks at
 * it is noticed (by ThreadSanitizer, or by its consequences).
 */
#include <pthread.h>

#include "stream_fixture.h"

enum { ROUNDS = 40 };

static const CUmemPoolProps device_pool = {.allocType = 1, .location = {.type = 1, .id = 0}};

static struct {
    CUcontext ctx;
    CUstream stream;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUuserObject user;
    CUmemoryPool pool;
    CUdeviceptr memory;
    CUcontext other;
    CUlibrary library;
    CUarray array;
    CUmipmappedArray mipmap;
    pthread_barrier_t ready;
} all;

/* Takes the memory of what has just been destroyed, of every kind. */
static void make_others(void)
{
    CUstream stream = make_stream(0);
    CUevent event = make_event(2);
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUuserObject user;
    CUmemoryPool pool;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuUserObjectCreate(&user, NULL, note, 2, 1));
    OK(cuUserObjectRelease(user, 1));
    OK(cuMemPoolCreate(&pool, &device_pool));
    OK(cuEventRecord(event, stream));
    OK(cuMemPoolDestroy(pool));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(stream));
}

/* ---- pairs: what is made, and how its two parts end ---- */

static void make_recorded(void)
{
    all.stream = make_stream(0);
    all.event = make_event(2);
    OK(cuLaunchHostFunc(all.stream, note, ""));
    OK(cuEventRecord(all.event, all.stream));
    OK(cuStreamWaitEvent(NULL, all.event, 0));
}

static void make_captured(void)
{
    all.stream = make_stream(1);
    all.event = make_event(2);
    OK(cuStreamBeginCapture_v2(all.stream, 2));
    OK(cuLaunchHostFunc(all.stream, note, ""));
    OK(cuEventRecord(all.event, all.stream));
}

static void end_stream(void)
{
    OK(cuStreamDestroy_v2(all.stream));
}

static void end_event(void)
{
    OK(cuEventDestroy_v2(all.event));
}

static void make_user(void)
{
    OK(cuGraphCreate(&all.graph, 0));
    OK(cuUserObjectCreate(&all.user, "", note, 1, 1));
    OK(cuGraphRetainUserObject(all.graph, all.user, 1, 0));
}

static void end_graph(void)
{
    OK(cuGraphDestroy(all.graph));
}

static void end_user(void)
{
    OK(cuUserObjectRelease(all.user, 1));
}

static void make_pool(void)
{
    all.stream = make_stream(0);
    OK(cuMemPoolCreate(&all.pool, &device_pool));
    OK(cuMemAllocFromPoolAsync(&all.memory, 4096, all.pool, all.stream));
}

static void end_pool(void)
{
    OK(cuMemPoolDestroy(all.pool));
}

static void end_memory(void)
{
    OK(cuMemFreeAsync(all.memory, all.stream));
    OK(cuStreamDestroy_v2(all.stream));
}

static void make_graph_memory(void)
{
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = device_pool, .bytesize = 4096};
    OK(cuGraphCreate(&all.graph, 0));
    OK(cuGraphAddMemAllocNode(&node, all.graph, NULL, 0, &params));
    OK(cuGraphInstantiateWithFlags(&all.exec, all.graph, 0));
    OK(cuGraphDestroy(all.graph));
    OK(cuGraphLaunch(all.exec, NULL));
    all.memory = params.dptr;
}

static void end_exec(void)
{
    OK(cuGraphExecDestroy(all.exec));
}

static void free_memory(void)
{
    OK(cuMemFree_v2(all.memory));
}

static void make_exec(void)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {.fn = note, .userData = ""};
    OK(cuGraphCreate(&all.graph, 0));
    OK(cuGraphAddHostNode(&node, all.graph, NULL, 0, &params));
    for (int i = 0; i < 100; i++)
        OK(cuGraphAddEmptyNode(&node, all.graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&all.exec, all.graph, 0));
    all.stream = make_stream(0);
    OK(cuGraphLaunch(all.exec, all.stream));
}

static void end_exec_and_graph(void)
{
    end_exec();
    end_graph();
}

static void sleep_a_little(void *arg)
{
    (void)arg;
    sleep_ms(2);
}

/* A library is no context's; it has a module in each where it is used. */
static void make_library(void)
{
    CUmodule module;
    CUkernel kernel;
    CUfunction function;
    OK(cuLibraryLoadData(&all.library, stream_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, all.library, "put"));
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuMemAlloc_v2(&all.memory, 4));
    OK(cuCtxCreate_v2(&all.other, 0, 0));
    OK(cuLibraryGetModule(&module, all.library));
    launch_put(NULL, (const void *)(uintptr_t)all.memory, 1);
    OK(cuLaunchHostFunc(NULL, sleep_a_little, NULL)); /* both wait for this */
    OK(cuCtxPopCurrent_v2(NULL));
}

static void end_library(void)
{
    OK(cuLibraryUnload(all.library));
}

static void end_context(void)
{
    CUcontext again;
    OK(cuCtxDestroy_v2(all.other));
    OK(cuCtxCreate_v2(&again, 0, 0));
    OK(cuCtxDestroy_v2(again));
}

static void make_arrays(void)
{
    CUDA_ARRAY_DESCRIPTOR flat = {.Width = 8, .Height = 8, .Format = 1, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR deep = {.Width = 8, .Height = 8, .Format = 1, .NumChannels = 1};
    OK(cuArrayCreate_v2(&all.array, &flat));
    OK(cuMipmappedArrayCreate(&all.mipmap, &deep, 3));
}

static void end_array(void)
{
    OK(cuArrayDestroy(all.array));
}

static void end_mipmap(void)
{
    OK(cuMipmappedArrayDestroy(all.mipmap));
}

static const struct pair {
    const char *name;
    void (*make)(void);
    void (*end[2])(void);
} pairs[] = {
    {"an event and its stream", make_recorded, {end_event, end_stream}},
    {"an event and the stream that captured it", make_captured, {end_event, end_stream}},
    {"a user object and a graph", make_user, {end_user, end_graph}},
    {"a pool and the last of its memory", make_pool, {end_pool, end_memory}},
    {"an executable graph and its memory", make_graph_memory, {end_exec, free_memory}},
    {"an executable graph and its stream", make_exec, {end_exec_and_graph, end_stream}},
    {"a library and a context", make_library, {end_library, end_context}},
    {"arrays", make_arrays, {end_array, end_mipmap}},
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

static void *end_second(void *arg)
{
    (void)arg;
    OK(cuCtxSetCurrent(all.ctx));
    for (int i = 0; i < PAIRS * ROUNDS; i++) {
        pthread_barrier_wait(&all.ready);
        pairs[i / ROUNDS].end[1]();
        make_others();
        pthread_barrier_wait(&all.ready);
    }
    return NULL;
}

Test(ends, what_belongs_together_may_be_destroyed_by_different_threads, .init = make_context,
     .timeout = 200)
{
    pthread_t thread;
    OK(cuCtxGetCurrent(&all.ctx));
    pthread_barrier_init(&all.ready, NULL, 2);
    pthread_create(&thread, NULL, end_second, NULL);
    for (int i = 0; i < PAIRS * ROUNDS; i++) {
        pairs[i / ROUNDS].make();
        pthread_barrier_wait(&all.ready);
        pairs[i / ROUNDS].end[0]();
        make_others();
        pthread_barrier_wait(&all.ready);
    }
    pthread_join(thread, NULL);
    OK(cuCtxSynchronize());
}

/* ---- contexts that other threads have current ---- */

static void *use_ended_context(void *arg)
{
    CUdeviceptr memory;
    (void)arg;
    OK(cuCtxSetCurrent(all.other));
    OK(cuMemAlloc_v2(&memory, 4));
    for (int i = 0; i < 3; i++) {
        pthread_barrier_wait(&all.ready);
        pthread_barrier_wait(&all.ready);
        EXPECT(CRT_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, 4));
    }
    return NULL;
}

Test(ends, a_context_destroyed_elsewhere_is_not_taken_for_a_later_one, .init = make_context,
     .timeout = 60)
{
    pthread_t thread;
    CUcontext later;
    pthread_barrier_init(&all.ready, NULL, 2);
    OK(cuCtxCreate_v2(&all.other, 0, 0));
    pthread_create(&thread, NULL, use_ended_context, NULL);
    pthread_barrier_wait(&all.ready);
    OK(cuCtxDestroy_v2(all.other));
    pthread_barrier_wait(&all.ready);
    for (int i = 0; i < 2; i++) {
        pthread_barrier_wait(&all.ready);
        OK(cuCtxCreate_v2(&later, 0, 0));
        cr_expect_eq(later, all.other, "not the same memory: this test shows nothing");
        pthread_barrier_wait(&all.ready);
        sleep_ms(5);
        OK(cuCtxDestroy_v2(later));
    }
    pthread_join(thread, NULL);
}

/* ---- one executable graph in several captures ---- */

static void *capture_exec(void *arg)
{
    CUstream stream;
    CUgraph graph;
    (void)arg;
    OK(cuCtxSetCurrent(all.ctx));
    stream = make_stream(1);
    for (int i = 0; i < ROUNDS; i++) {
        OK(cuStreamBeginCapture_v2(stream, 2));
        OK(cuGraphLaunch(all.exec, stream));
        OK(cuStreamEndCapture(stream, &graph));
        OK(cuGraphDestroy(graph));
    }
    return NULL;
}

Test(ends, an_executable_graph_may_be_captured_by_several_threads, .init = make_context,
     .timeout = 60)
{
    pthread_t threads[2];
    OK(cuCtxGetCurrent(&all.ctx));
    make_exec();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, capture_exec, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    end_exec_and_graph();
}
