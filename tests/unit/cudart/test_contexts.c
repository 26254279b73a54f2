/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: primary and created ones, each thread's stack, limits, flags, errors that stay.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "driver_fixture.h"
#include "quiet_machine.h"

/* Numbers of CUlimit. */
enum {
    STACK_SIZE,
    PRINTF_FIFO_SIZE,
    MALLOC_HEAP_SIZE,
    SYNC_DEPTH,
    PENDING_LAUNCHES,
    L2_GRANULARITY,
    PERSISTING_L2,
    SHARED_MEMORY
};

static void start(void)
{
    setenv("PTXRUN_DEVICES", "2", 1);
    OK(cuInit(0));
}

static void make_two(void)
{
    start();
    make_context();
}

static bool primary_is_active(CUdevice device)
{
    unsigned flags = 0;
    int is_active = -1;
    OK(cuDevicePrimaryCtxGetState(device, &flags, &is_active));
    return is_active == 1;
}

/* ---- primary contexts ---- */

Test(contexts, a_primary_context_lives_from_the_first_retain_to_the_last_release, .init = start)
{
    CUcontext first = NULL;
    CUcontext second = NULL;
    cr_expect(!primary_is_active(0));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    cr_expect_eq(first, second);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    cr_expect(primary_is_active(0));
    cr_expect(!primary_is_active(1));
    OK(cuDevicePrimaryCtxRelease(0));
    cr_expect(!primary_is_active(0));
    EXPECT(CRT_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
}

Test(contexts, each_device_has_its_own_primary_context, .init = start)
{
    CUcontext first;
    CUcontext second;
    unsigned long long id[2];
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    cr_expect_neq(first, second);
    OK(cuCtxGetId(first, &id[0]));
    OK(cuCtxGetId(second, &id[1]));
    cr_expect_neq(id[0], id[1]);
}

Test(contexts, a_reset_ends_what_the_context_owns_and_no_other, .init = make_two)
{
    CUcontext ctx;
    CUcontext other;
    CUstream stream;
    CUdeviceptr memory;
    CUdeviceptr kept;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxSetCurrent(other));
    OK(cuMemAlloc_v2(&kept, 64));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuMemsetD8_v2(kept, 1, 64));
    OK(cuCtxSetCurrent(ctx));
    EXPECT(CRT_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, 64));
    EXPECT(CRT_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(memory));
    EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize(stream));
    OK(cuMemAlloc_v2(&memory, 64));
}

Test(contexts, a_primary_context_may_be_reset_many_times, .init = start)
{
    for (int i = 0; i < 100; i++) {
        CUcontext ctx;
        CUdeviceptr memory;
        OK(cuDevicePrimaryCtxRetain(&ctx, i % 2));
        OK(cuCtxSetCurrent(ctx));
        OK(cuMemAlloc_v2(&memory, 4096));
        OK(cuDevicePrimaryCtxReset_v2(i % 2));
    }
    size_t available = 0;
    size_t total = 0;
    make_context();
    ignore_other_processes();
    OK(cuMemGetInfo_v2(&available, &total));
    cr_expect_eq(available, total);
}

Test(contexts, flags_of_a_primary_context_are_kept, .init = start)
{
    CUcontext ctx;
    unsigned flags = 0;
    int is_active;
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    cr_expect_eq(flags, 4);
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuCtxGetFlags(&flags));
    cr_expect_eq(flags, 4);
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 2));
    EXPECT(CRT_PRIMARY_CONTEXT_ACTIVE, cuDevicePrimaryCtxSetFlags(0, 1));
    OK(cuDevicePrimaryCtxSetFlags(0, 2));
    OK(cuCtxSetFlags(1));
    OK(cuCtxGetFlags(&flags));
    cr_expect_eq(flags, 1);
}

/* ---- created contexts and the stack ---- */

Test(contexts, a_created_context_is_current_until_it_is_popped, .init = start)
{
    CUcontext first;
    CUcontext second;
    CUcontext got = NULL;
    OK(cuCtxCreate_v2(&first, 0, 0));
    OK(cuCtxCreate_v3(&second, NULL, 0, 0, 1));
    OK(cuCtxGetCurrent(&got));
    cr_expect_eq(got, second);
    OK(cuCtxPopCurrent_v2(&got));
    cr_expect_eq(got, second);
    OK(cuCtxGetCurrent(&got));
    cr_expect_eq(got, first);
    OK(cuCtxPushCurrent_v2(second));
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxGetCurrent(&got));
    cr_expect_eq(got, first);
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuCtxGetCurrent(&got));
    cr_expect_null(got);
    EXPECT(CRT_INVALID_CONTEXT, cuCtxPopCurrent_v2(&got));
}

Test(contexts, work_in_a_stream_needs_no_other_context, .init = make_two)
{
    CUstream stream = NULL;
    CUdeviceptr memory = 0;
    uint32_t value = 1;
    OK(cuStreamCreate(&stream, 0));
    OK(cuCtxSetCurrent(NULL));
    OK(cuMemAllocAsync(&memory, 4, stream));
    OK(cuMemsetD32Async(memory, 7, 1, stream));
    OK(cuMemcpyDtoHAsync_v2(&value, memory, 4, stream));
    OK(cuMemFreeAsync(memory, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(value, 7);
    EXPECT(CRT_INVALID_CONTEXT, cuMemAllocAsync(&memory, 4, NULL));
}

Test(contexts, contexts_of_one_device_own_their_streams_and_memory, .init = start)
{
    CUcontext ctx[2];
    CUstream stream;
    CUdeviceptr memory;
    OK(cuCtxCreate_v4(&ctx[0], NULL, 0, 0));
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuCtxCreate_v2(&ctx[1], 0, 0));
    OK(cuCtxDestroy_v2(ctx[0]));
    EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize(stream));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(memory));
    OK(cuCtxSynchronize());
}

Test(contexts, a_destroyed_context_that_is_still_current_says_so, .init = start)
{
    CUcontext ctx;
    CUdeviceptr memory;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuCtxPushCurrent_v2(ctx));
    OK(cuCtxDestroy_v2(ctx));
    EXPECT(CRT_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, 4));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxDestroy_v2(ctx));
    OK(cuCtxPopCurrent_v2(&ctx));
}

Test(contexts, a_stack_grows, .init = start)
{
    CUcontext ctx[2];
    CUcontext got = NULL;
    for (int i = 0; i < 2; i++) {
        OK(cuCtxCreate_v2(&ctx[i], 0, i));
        OK(cuCtxPopCurrent_v2(NULL));
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 200; i++)
            OK(cuCtxPushCurrent_v2(ctx[i % 3 == 0]));
        for (int i = 199; i >= 0; i--) {
            OK(cuCtxSynchronize());
            OK(cuCtxPopCurrent_v2(&got));
            cr_expect_eq(got, ctx[i % 3 == 0]);
        }
        EXPECT(CRT_INVALID_CONTEXT, cuCtxPopCurrent_v2(&got));
    }
}

static void *other_thread(void *arg)
{
    CUcontext got = arg;
    OK(cuCtxGetCurrent(&got));
    cr_expect_null(got);
    OK(cuCtxPushCurrent_v2(arg));
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuMemFree_v2(memory));
    OK(cuCtxPopCurrent_v2(&got));
    cr_expect_eq(got, arg);
    return NULL;
}

Test(contexts, each_thread_has_its_own_stack, .init = start)
{
    CUcontext ctx;
    CUcontext got = NULL;
    pthread_t thread;
    OK(cuCtxCreate_v2(&ctx, 0, 1));
    pthread_create(&thread, NULL, other_thread, ctx);
    pthread_join(thread, NULL);
    OK(cuCtxGetCurrent(&got));
    cr_expect_eq(got, ctx);
}

static void *create_and_destroy(void *arg)
{
    const CUdevice device = arg != NULL;
    for (int i = 0; i < 50; i++) {
        CUcontext ctx;
        CUdeviceptr memory;
        CUdevice got = -1;
        OK(cuCtxCreate_v2(&ctx, 0, device));
        OK(cuMemAlloc_v2(&memory, 128));
        OK(cuMemsetD8_v2(memory, 1, 128));
        OK(cuCtxGetDevice(&got));
        cr_expect_eq(got, device);
        OK(cuCtxDestroy_v2(ctx));
    }
    return NULL;
}

Test(contexts, threads_create_and_destroy_at_once, .init = start)
{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, create_and_destroy, (void *)(i % 2));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static atomic_int destroyed;

static void *destroy(void *arg)
{
    CUresult result = cuCtxDestroy_v2(arg);
    atomic_fetch_add(&destroyed, result == CRT_SUCCESS);
    cr_expect(result == CRT_SUCCESS || result == CRT_INVALID_CONTEXT);
    return NULL;
}

Test(contexts, of_threads_that_destroy_one_at_once_one_succeeds, .init = start)
{
    for (int round = 0; round < 50; round++) {
        CUcontext ctx;
        pthread_t threads[2];
        atomic_store(&destroyed, 0);
        OK(cuCtxCreate_v2(&ctx, 0, 0));
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, destroy, ctx);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        cr_expect_eq(atomic_load(&destroyed), 1);
        OK(cuCtxPopCurrent_v2(&ctx));
    }
}

static void *retain_and_release(void *arg)
{
    CUdevice device = arg != NULL;
    for (int i = 0; i < 200; i++) {
        CUcontext ctx;
        OK(cuDevicePrimaryCtxRetain(&ctx, device));
        OK(cuCtxSetCurrent(ctx));
        OK(cuDevicePrimaryCtxRelease_v2(device));
    }
    return NULL;
}

Test(contexts, threads_retain_and_release_at_once, .init = start)
{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, retain_and_release, (void *)(i % 2));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_expect(!primary_is_active(0));
    cr_expect(!primary_is_active(1));
}

/* ---- limits ---- */

static size_t limit_of(CUlimit limit)
{
    size_t value = 0;
    OK(cuCtxGetLimit(&value, limit));
    return value;
}

Test(limits, start_with_the_values_of_a_gpu, .init = make_two)
{
    cr_expect_eq(limit_of(STACK_SIZE), 1024);
    cr_expect_eq(limit_of(PRINTF_FIFO_SIZE), 1 << 20);
    cr_expect_eq(limit_of(MALLOC_HEAP_SIZE), 8 << 20);
    cr_expect_eq(limit_of(SYNC_DEPTH), 2);
    cr_expect_eq(limit_of(PENDING_LAUNCHES), 2048);
}

Test(limits, are_kept_by_each_context_until_it_ends, .init = make_two)
{
    CUcontext other;
    OK(cuCtxSetLimit(MALLOC_HEAP_SIZE, 64 << 20));
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxSetCurrent(other));
    cr_expect_eq(limit_of(MALLOC_HEAP_SIZE), 8 << 20);
    OK(cuDevicePrimaryCtxReset_v2(0));
    make_context();
    cr_expect_eq(limit_of(MALLOC_HEAP_SIZE), 8 << 20);
}

Test(limits, are_rounded_or_clamped_where_cuda_may, .init = make_two)
{
    OK(cuCtxSetLimit(STACK_SIZE, 1001));
    cr_expect_eq(limit_of(STACK_SIZE), 1008);
    OK(cuCtxSetLimit(L2_GRANULARITY, 500));
    cr_expect_eq(limit_of(L2_GRANULARITY), 128);
}

Test(limits, out_of_range_are_refused_and_change_nothing, .init = make_two)
{
    EXPECT(CRT_INVALID_VALUE, cuCtxSetLimit(STACK_SIZE, (size_t)1 << 30));
    EXPECT(CRT_INVALID_VALUE, cuCtxSetLimit(MALLOC_HEAP_SIZE, SIZE_MAX));
    EXPECT(CRT_INVALID_VALUE, cuCtxSetLimit(SYNC_DEPTH, 25));
    cr_expect_eq(limit_of(STACK_SIZE), 1024);
    cr_expect_eq(limit_of(MALLOC_HEAP_SIZE), 8 << 20);
    cr_expect_eq(limit_of(SYNC_DEPTH), 2);
}

Test(limits, of_other_architectures_are_unsupported, .init = make_two)
{
    size_t value;
    EXPECT(CRT_UNSUPPORTED_LIMIT, cuCtxSetLimit(PERSISTING_L2, 1 << 20));
    EXPECT(CRT_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, SHARED_MEMORY));
    EXPECT(CRT_INVALID_VALUE, cuCtxGetLimit(&value, 77));
    EXPECT(CRT_INVALID_VALUE, cuCtxSetLimit(77, 1));
}

Test(limits, the_depth_of_synchronisation_ends_with_sm_90)
{
    size_t value;
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    make_context();
    EXPECT(CRT_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, SYNC_DEPTH));
    EXPECT(CRT_UNSUPPORTED_LIMIT, cuCtxSetLimit(SYNC_DEPTH, 2));
}

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
                          ".visible .entry allocate()\n"
                          "{\n .reg .b64 %rd<3>;\n { .param .b64 size; .param .b64 result;\n"
                          " st.param.b64 [size], 64;\n"
                          " call.uni (result), malloc, (size);\n"
                          " ld.param.b64 %rd1, [result]; }\n ret;\n}\n"
                          ".visible .entry stop() { trap; }\n";

static CUfunction kernel_of(const char *name)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

Test(limits, the_heap_has_its_size_once_a_kernel_has_used_it, .init = make_two)
{
    CUfunction function = kernel_of("allocate");
    OK(cuCtxSetLimit(MALLOC_HEAP_SIZE, 16 << 20));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    EXPECT(CRT_INVALID_VALUE, cuCtxSetLimit(MALLOC_HEAP_SIZE, 32 << 20));
    cr_expect_eq(limit_of(MALLOC_HEAP_SIZE), 16 << 20);
}

/* ---- errors that stay ---- */

Test(contexts, a_fault_stays_with_its_context_until_it_is_reset, .init = make_two)
{
    CUcontext ctx;
    CUcontext other;
    CUdeviceptr memory;
    CUresult fault = CRT_SUCCESS;
    OK(cuLaunchKernel(kernel_of("stop"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    fault = cuCtxSynchronize();
    cr_expect_neq(fault, CRT_SUCCESS);
    EXPECT(fault, cuMemAlloc_v2(&memory, 64));
    EXPECT(fault, cuCtxSetLimit(STACK_SIZE, 2048));
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxPushCurrent_v2(other));
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuMemAlloc_v2(&memory, 64));
}

Test(contexts, settings_without_effect_are_remembered, .init = make_two)
{
    CUfunc_cache cache = 9;
    CUsharedconfig banks = 9;
    unsigned version = 0;
    int least = 9;
    int greatest = 9;
    OK(cuCtxSetCacheConfig(2));
    OK(cuCtxGetCacheConfig(&cache));
    cr_expect_eq((int)cache, 2);
    OK(cuCtxSetSharedMemConfig(2));
    OK(cuCtxGetSharedMemConfig(&banks));
    cr_expect_eq((int)banks, 1);
    OK(cuCtxGetApiVersion(NULL, &version));
    cr_expect_eq(version, 3020);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    cr_expect_lt(greatest, least);
    OK(cuCtxResetPersistingL2Cache());
}
