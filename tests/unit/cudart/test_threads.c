/* SPDX-License-Identifier: Apache-2.0
 *
 * Every group of entry points from many threads at once for a second, each thread checking what it
 * gets; then everything is as before. Meant for ThreadSanitizer as much as for its own checks.
 */
#include "driver_fixture.h"
#include "quiet_machine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES   4096
#define WORDS   (BYTES / 4)
#define SECONDS 1

static const char kernel_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 variable = 5;\n"
    ".visible .entry add(.param .u64 data, .param .u32 value)\n"
    "{\n .reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
    " ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [value];\n"
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    " mad.lo.u32 %r2, %r3, %r4, %r2; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd3], %r5; ret;\n}\n";

#define DEVICES 2

/* What all threads of a device share. */
static struct common {
    CUcontext ctx;
    CUmodule module;
    CUfunction add;
    CUdeviceptr shared;
} commons[DEVICES];

static atomic_bool is_over;

/* Criterion's assertions are for the main thread: a thread counts what went wrong. */
struct worker {
    pthread_t thread;
    void (*round)(struct worker *worker);
    const struct common *common;
    unsigned number;
    unsigned rounds;
    unsigned failures;
    CUstream stream;
    unsigned host[WORDS];
};

#define WANT(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);                        \
            worker->failures++;                                                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define DO(call)                                                                                   \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CRT_SUCCESS) {                                                              \
            fprintf(stderr, "%s:%d: %s gave %d\n", __func__, __LINE__, #call, (int)result_);       \
            worker->failures++;                                                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static int all_are(const unsigned *words, unsigned value)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

/* ---- one round of each group ---- */

static void use_memory(struct worker *worker)
{
    CUdeviceptr memory;
    CUdeviceptr base;
    size_t size;
    CUmemorytype type;
    DO(cuMemAlloc_v2(&memory, BYTES));
    DO(cuMemsetD32_v2(memory, worker->number, WORDS));
    DO(cuMemcpyDtoH_v2(worker->host, memory, BYTES));
    WANT(all_are(worker->host, worker->number));
    DO(cuMemGetAddressRange_v2(&base, &size, memory + 100));
    WANT(base == memory && size == BYTES);
    DO(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    WANT(type == CU_MEMORYTYPE_DEVICE);
    DO(cuMemFree_v2(memory));
}

static void use_host_memory(struct worker *worker)
{
    char *pinned;
    unsigned flags;
    CUdeviceptr device;
    CUdeviceptr managed;
    char *own = aligned_alloc(4096, 8192);
    WANT(own);
    DO(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    DO(cuMemHostGetDevicePointer_v2(&device, pinned, 0));
    DO(cuMemsetD8_v2(device, 7, BYTES));
    WANT(pinned[BYTES - 1] == 7);
    DO(cuMemHostGetFlags(&flags, pinned));
    DO(cuMemFreeHost(pinned));
    DO(cuMemHostRegister_v2(own, 8192, 0));
    DO(cuMemHostUnregister(own));
    free(own);
    DO(cuMemAllocManaged(&managed, BYTES, 1));
    *(volatile unsigned *)(uintptr_t)managed = 1;
    DO(cuMemFree_v2(managed));
}

static void use_streams(struct worker *worker)
{
    CUstream stream;
    CUdeviceptr memory;
    DO(cuStreamCreate(&stream, worker->number & 1));
    DO(cuMemAllocAsync(&memory, BYTES, stream));
    DO(cuMemsetD32Async(memory, worker->number + 10, WORDS, stream));
    DO(cuMemcpyDtoHAsync_v2(worker->host, memory, BYTES, stream));
    DO(cuMemFreeAsync(memory, stream));
    DO(cuStreamSynchronize(stream));
    WANT(all_are(worker->host, worker->number + 10));
    DO(cuStreamQuery(stream));
    DO(cuStreamDestroy_v2(stream));
}

static void use_events(struct worker *worker)
{
    CUevent start;
    CUevent end;
    CUstream stream;
    float ms = -1;
    DO(cuEventCreate(&start, 0));
    DO(cuEventCreate(&end, 0));
    DO(cuStreamCreate(&stream, 1));
    DO(cuEventRecord(start, worker->stream));
    DO(cuStreamWaitEvent(stream, start, 0));
    DO(cuMemsetD8Async(worker->common->shared + 4096 + worker->number, 1, 1, stream));
    DO(cuEventRecord(end, stream));
    DO(cuStreamWaitEvent(worker->stream, end, 0));
    CUresult result = cuEventQuery(end);
    WANT(result == CRT_SUCCESS || result == CRT_NOT_READY);
    DO(cuEventSynchronize(end));
    DO(cuEventElapsedTime(&ms, start, end));
    WANT(ms >= 0);
    DO(cuEventDestroy_v2(start));
    DO(cuEventDestroy_v2(end));
    DO(cuStreamDestroy_v2(stream));
}

static CUresult launch(CUfunction function, CUdeviceptr data, unsigned value, CUstream stream)
{
    void *params[] = {&data, &value};
    return cuLaunchKernel(function, 4, 1, 1, WORDS / 4, 1, 1, 0, stream, params, NULL);
}

/* One kernel of one module in everybody's streams. */
static void use_launches(struct worker *worker)
{
    CUdeviceptr memory;
    DO(cuMemAlloc_v2(&memory, BYTES));
    DO(cuMemsetD32Async(memory, 1, WORDS, worker->stream));
    for (unsigned i = 0; i < 4; i++)
        DO(launch(worker->common->add, memory, 10, worker->stream));
    DO(cuMemcpyDtoHAsync_v2(worker->host, memory, BYTES, worker->stream));
    DO(cuStreamSynchronize(worker->stream));
    WANT(all_are(worker->host, 41));
    DO(cuMemFree_v2(memory));
}

static void use_modules(struct worker *worker)
{
    CUmodule module;
    CUfunction add;
    CUdeviceptr variable;
    unsigned value = 0;
    unsigned count = 0;
    int attribute;
    DO(cuModuleLoadData(&module, kernel_ptx));
    DO(cuModuleGetFunction(&add, module, "add"));
    DO(cuModuleGetFunctionCount(&count, module));
    WANT(count == 1);
    DO(cuModuleGetGlobal_v2(&variable, NULL, module, "variable"));
    DO(cuMemcpyDtoH_v2(&value, variable, 4));
    WANT(value == 5);
    DO(cuFuncGetAttribute(&attribute, 0, add));
    DO(cuModuleUnload(module));
}

static void use_libraries(struct worker *worker)
{
    CUlibrary library;
    CUkernel add;
    CUdeviceptr memory;
    CUdeviceptr variable;
    DO(cuLibraryLoadData(&library, kernel_ptx, NULL, NULL, 0, NULL, NULL, 0));
    DO(cuLibraryGetKernel(&add, library, "add"));
    DO(cuLibraryGetGlobal(&variable, NULL, library, "variable"));
    DO(cuMemAlloc_v2(&memory, BYTES));
    DO(cuMemsetD32_v2(memory, 0, WORDS));
    DO(launch(add, memory, 3, worker->stream));
    DO(cuLibraryUnload(library));
    DO(cuMemcpyDtoH_v2(worker->host, memory, BYTES));
    WANT(all_are(worker->host, 3));
    DO(cuMemFree_v2(memory));
}

static void use_graphs(struct worker *worker)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    size_t nodes = 0;
    DO(cuMemAlloc_v2(&memory, BYTES));
    DO(cuStreamBeginCapture_v2(worker->stream, 1 /* this thread's calls */));
    DO(cuMemsetD32Async(memory, 2, WORDS, worker->stream));
    DO(launch(worker->common->add, memory, 5, worker->stream));
    DO(cuStreamEndCapture(worker->stream, &graph));
    DO(cuGraphGetNodes(graph, NULL, &nodes));
    WANT(nodes == 2);
    DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
    DO(cuGraphLaunch(exec, worker->stream));
    DO(cuGraphLaunch(exec, worker->stream));
    DO(cuMemcpyDtoHAsync_v2(worker->host, memory, BYTES, worker->stream));
    DO(cuStreamSynchronize(worker->stream));
    WANT(all_are(worker->host, 7));
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphDestroy(graph));
    DO(cuMemFree_v2(memory));
}

static void use_contexts(struct worker *worker)
{
    CUcontext ctx;
    CUcontext popped;
    CUdeviceptr memory;
    CUdevice device;
    size_t limit;
    DO(cuCtxGetDevice(&device));
    DO(cuCtxCreate_v2(&ctx, 0, device));
    DO(cuMemAlloc_v2(&memory, BYTES));
    DO(cuMemsetD32_v2(memory, 9, WORDS));
    DO(cuCtxGetLimit(&limit, 0));
    DO(cuCtxSynchronize());
    DO(cuCtxPopCurrent_v2(&popped));
    WANT(popped == ctx);
    DO(cuCtxPushCurrent_v2(ctx));
    DO(cuCtxDestroy_v2(ctx));
    DO(cuCtxGetCurrent(&popped));
    WANT(popped == worker->common->ctx);
}

static void use_questions(struct worker *worker)
{
    int value = 0;
    const char *text;
    void *function;
    size_t free_bytes;
    size_t total_bytes;
    char name[64];
    CUlogIterator at;
    CUdevice device;
    for (int attribute = 1; attribute < 100; attribute++)
        (void)cuDeviceGetAttribute(&value, attribute, 0);
    DO(cuDeviceGetName(name, sizeof name, 0));
    DO(cuGetErrorName(CRT_NOT_READY, &text));
    DO(cuGetErrorString(CRT_NOT_READY, &text));
    DO(cuGetProcAddress("cuMemAlloc", &function, 13000, 0));
    WANT(function == api_address("cuMemAlloc_v2"));
    DO(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    DO(cuFuncGetAttribute(&value, 0, worker->common->add));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, worker->common->add, 128, 0));
    DO(cuFuncIsLoaded(&value, worker->common->add));
    DO(cuLogsCurrent(&at, 0));
    DO(cuCtxGetDevice(&device));
    WANT(cuStreamDestroy_v2(NULL) == CRT_INVALID_HANDLE);
}

static void heard(void *data, int level, char *message, size_t len)
{
    (void)level;
    (void)message;
    (void)len;
    atomic_fetch_add((atomic_uint *)data, 1);
}

/* Old launches of one kernel share its state: each sets the same. */
static void use_legacy(struct worker *worker)
{
    static atomic_uint count;
    CUlogsCallbackHandle handle = NULL;
    CUlinkState link;
    CUdeviceptr data = worker->common->shared;
    unsigned zero = 0;
    DO(cuFuncSetBlockShape(worker->common->add, 32, 1, 1));
    DO(cuParamSetv(worker->common->add, 0, &data, sizeof data));
    DO(cuParamSetv(worker->common->add, 8, &zero, sizeof zero));
    DO(cuParamSetSize(worker->common->add, 12));
    DO(cuLaunchGridAsync(worker->common->add, 2, 1, worker->stream));
    DO(cuLogsRegisterCallback(heard, &count, &handle));
    DO(cuLogsUnregisterCallback(handle));
    DO(cuLinkCreate_v2(0, NULL, NULL, &link));
    DO(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernel_ptx, sizeof kernel_ptx,
                        "kernel", 0, NULL, NULL));
    DO(cuLinkDestroy(link));
}

static void host_function(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void use_host_functions(struct worker *worker)
{
    atomic_uint count = 0;
    for (int i = 0; i < 5; i++)
        DO(cuLaunchHostFunc(worker->stream, host_function, &count));
    DO(cuStreamSynchronize(worker->stream));
    WANT(atomic_load(&count) == 5);
    DO(cuMemsetD8Async(worker->common->shared + 8000 + worker->number, 1, 1, CU_STREAM_PER_THREAD));
    DO(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* ---- all of them ---- */

static void (*const groups[])(struct worker *) = {
    use_memory, use_host_memory, use_streams,   use_events, use_launches,       use_modules,
    use_graphs, use_contexts,    use_questions, use_legacy, use_host_functions, use_libraries,
};

#define GROUPS  (sizeof groups / sizeof groups[0])
#define WORKERS (2 * GROUPS)

static void *work(void *arg)
{
    struct worker *worker = arg;
    if (cuCtxSetCurrent(worker->common->ctx) != CRT_SUCCESS ||
        cuStreamCreate(&worker->stream, 1) != CRT_SUCCESS) {
        worker->failures++;
        return NULL;
    }
    while (!atomic_load(&is_over) && !worker->failures) {
        worker->round(worker);
        worker->rounds++;
    }
    if (cuStreamSynchronize(worker->stream) != CRT_SUCCESS ||
        cuStreamDestroy_v2(worker->stream) != CRT_SUCCESS)
        worker->failures++;
    return NULL;
}

static void run_for_a_second(struct worker *workers, size_t count)
{
    struct timespec second = {.tv_sec = SECONDS};
    for (size_t i = 0; i < count; i++)
        cr_assert(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    nanosleep(&second, NULL);
    atomic_store(&is_over, 1);
    for (size_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        cr_expect(workers[i].failures == 0, "thread %zu of group %zu", i, i % GROUPS);
        cr_expect(workers[i].rounds > 0, "thread %zu has done something", i);
    }
}

static void make_common(struct common *common, CUdevice device)
{
    OK(cuDevicePrimaryCtxRetain(&common->ctx, device));
    OK(cuCtxSetCurrent(common->ctx));
    OK(cuModuleLoadData(&common->module, kernel_ptx));
    OK(cuModuleGetFunction(&common->add, common->module, "add"));
    OK(cuMemAlloc_v2(&common->shared, 16384));
    OK(cuMemsetD8_v2(common->shared, 0, 16384));
}

/* Two threads for each group and device; afterwards all memory is free again. */
static void run_groups(unsigned devices)
{
    static struct worker workers[WORKERS * DEVICES];
    size_t before[DEVICES];
    size_t after;
    size_t total;
    ignore_other_processes();
    OK(cuInit(0));
    for (unsigned device = 0; device < devices; device++) {
        make_common(&commons[device], (CUdevice)device);
        OK(cuMemGetInfo_v2(&before[device], &total));
    }
    for (size_t i = 0; i < WORKERS * devices; i++)
        workers[i] = (struct worker){.round = groups[i % GROUPS],
                                     .common = &commons[i / WORKERS],
                                     .number = (unsigned)(i % WORKERS)};
    run_for_a_second(workers, WORKERS * devices);
    for (unsigned device = 0; device < devices; device++) {
        CUmemoryPool pool;
        OK(cuCtxSetCurrent(commons[device].ctx));
        OK(cuCtxSynchronize());
        OK(cuDeviceGetDefaultMemPool(&pool, (CUdevice)device));
        OK(cuMemPoolTrimTo(pool, 0));
        OK(cuMemGetInfo_v2(&after, &total));
        cr_expect(after == before[device], "%zu bytes free, %zu before", after, before[device]);
    }
}

Test(threads, every_group_of_functions_can_be_used_from_many_threads_at_once)
{
    run_groups(1);
}

Test(threads, every_group_of_functions_can_be_used_on_several_devices_at_once)
{
    setenv("PTXRUN_DEVICES", "2", 1);
    run_groups(2);
}

/* The first use of everything, by all at once. */
static void *begin(void *arg)
{
    struct worker *worker = arg;
    CUcontext ctx = NULL;
    CUmodule module;
    CUfunction add;
    CUdeviceptr memory;
    worker->failures =
        cuInit(0) != CRT_SUCCESS || cuDevicePrimaryCtxRetain(&ctx, 0) != CRT_SUCCESS ||
        cuCtxSetCurrent(ctx) != CRT_SUCCESS ||
        cuModuleLoadData(&module, kernel_ptx) != CRT_SUCCESS ||
        cuModuleGetFunction(&add, module, "add") != CRT_SUCCESS ||
        cuMemAlloc_v2(&memory, BYTES) != CRT_SUCCESS ||
        launch(add, memory, 1, NULL) != CRT_SUCCESS || cuCtxSynchronize() != CRT_SUCCESS ||
        cuDevicePrimaryCtxRelease_v2(0) != CRT_SUCCESS;
    return NULL;
}

Test(threads, all_may_begin_at_once)
{
    static struct worker workers[8];
    unsigned flags;
    int is_active = 1;
    for (size_t i = 0; i < 8; i++)
        cr_assert(pthread_create(&workers[i].thread, NULL, begin, &workers[i]) == 0);
    for (size_t i = 0; i < 8; i++) {
        pthread_join(workers[i].thread, NULL);
        cr_expect(workers[i].failures == 0, "thread %zu", i);
    }
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    cr_expect(is_active == 0, "everybody has released it");
}
