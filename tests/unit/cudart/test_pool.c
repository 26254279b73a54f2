/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation: what pools count, keep and give back, and in which order memory is
 * used again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"
#include "quiet_machine.h"

#define THRESHOLD        4
#define RESERVED_CURRENT 5
#define RESERVED_HIGH    6
#define USED_CURRENT     7
#define USED_HIGH        8

#define BYTES            ((size_t)1 << 20)

static const CUmemPoolProps device_pool = {.allocType = 1, .location = {.type = 1, .id = 0}};

static CUmemoryPool make_pool(void)
{
    CUmemoryPool pool = NULL;
    OK(cuMemPoolCreate(&pool, &device_pool));
    return pool;
}

static uint64_t get(CUmemoryPool pool, int attribute)
{
    uint64_t value = 0;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void set(CUmemoryPool pool, int attribute, uint64_t value)
{
    OK(cuMemPoolSetAttribute(pool, attribute, &value));
}

static CUstream make_stream(void)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, 1));
    return stream;
}

/* A host function that holds its stream up. */
static void wait_for_gate(void *arg)
{
    atomic_int *gate = arg;
    while (!atomic_load(gate))
        usleep(1000);
}

Test(pool, used_and_reserved_are_counted)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUstream stream = make_stream();
    CUdeviceptr a;
    CUdeviceptr b;
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, stream));
    OK(cuMemAllocFromPoolAsync(&b, BYTES, pool, stream));
    cr_expect_eq(get(pool, USED_CURRENT), 2 * BYTES);
    cr_expect_geq(get(pool, RESERVED_CURRENT), 2 * BYTES);
    OK(cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(get(pool, USED_CURRENT), BYTES);
    cr_expect_eq(get(pool, USED_HIGH), 2 * BYTES);
    set(pool, USED_HIGH, 0);
    cr_expect_eq(get(pool, USED_HIGH), BYTES);
    OK(cuMemFreeAsync(b, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(get(pool, USED_CURRENT), 0);
    OK(cuMemPoolDestroy(pool));
}

Test(pool, what_is_beyond_the_threshold_goes_back_at_a_synchronisation)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUstream stream = make_stream();
    CUdeviceptr a;
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, stream));
    OK(cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(get(pool, RESERVED_CURRENT), 0);

    set(pool, THRESHOLD, UINT64_MAX);
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, stream));
    OK(cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuCtxSynchronize());
    cr_expect_geq(get(pool, RESERVED_CURRENT), BYTES);
    cr_expect_eq(get(pool, USED_CURRENT), 0);
    OK(cuMemPoolTrimTo(pool, 2 * BYTES));
    cr_expect_geq(get(pool, RESERVED_CURRENT), BYTES);
    OK(cuMemPoolTrimTo(pool, 0));
    cr_expect_eq(get(pool, RESERVED_CURRENT), 0);
    cr_expect_geq(get(pool, RESERVED_HIGH), BYTES);
}

Test(pool, a_stream_gets_the_memory_it_has_freed_at_once)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUstream stream = make_stream();
    atomic_int gate = 0;
    CUdeviceptr a;
    CUdeviceptr b;
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, stream));
    OK(cuLaunchHostFunc(stream, wait_for_gate, &gate));
    OK(cuMemFreeAsync(a, stream));
    OK(cuMemAllocFromPoolAsync(&b, BYTES, pool, stream));
    cr_expect_eq(b, a);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(stream));
}

/* The first stream still reads the memory when the second one asks for it. */
Test(pool, another_stream_waits_for_the_free)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUstream first = make_stream();
    CUstream second = make_stream();
    atomic_int gate = 0;
    char *out;
    CUdeviceptr a;
    CUdeviceptr b;
    set(pool, THRESHOLD, UINT64_MAX);
    OK(cuMemHostAlloc((void **)&out, BYTES, 0));
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, first));
    OK(cuMemsetD8Async(a, 1, BYTES, first));
    OK(cuLaunchHostFunc(first, wait_for_gate, &gate));
    OK(cuMemcpyDtoHAsync_v2(out, a, BYTES, first));
    OK(cuMemFreeAsync(a, first));
    OK(cuMemAllocFromPoolAsync(&b, BYTES, pool, second));
    OK(cuMemsetD8Async(b, 2, BYTES, second));
    usleep(20000);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(first));
    for (size_t i = 0; i < BYTES; i++)
        cr_assert_eq(out[i], 1, "byte %zu", i);
    OK(cuStreamSynchronize(second));
}

Test(pool, no_dependencies_are_made_when_the_pool_forbids_them)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUstream first = make_stream();
    CUstream second = make_stream();
    atomic_int gate = 0;
    int off = 0;
    CUdeviceptr a;
    CUdeviceptr b;
    OK(cuMemPoolSetAttribute(pool, 3 /* internal dependencies */, &off));
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, first));
    OK(cuLaunchHostFunc(first, wait_for_gate, &gate));
    OK(cuMemFreeAsync(a, first));
    OK(cuMemAllocFromPoolAsync(&b, BYTES, pool, second));
    cr_expect_neq(b, a);
    OK(cuStreamSynchronize(second)); /* while the first one still waits */
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(first));
}

Test(pool, the_maximum_size_is_kept)
{
    make_context();
    CUmemPoolProps properties = device_pool;
    properties.maxSize = 2 * BYTES;
    CUmemoryPool pool;
    CUdeviceptr a;
    CUdeviceptr b;
    OK(cuMemPoolCreate(&pool, &properties));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&a, 3 * BYTES, pool, 0));
    OK(cuMemAllocFromPoolAsync(&a, BYTES + BYTES / 2, pool, 0));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&b, BYTES, pool, 0));
    OK(cuMemFreeAsync(a, 0));
    OK(cuMemAllocFromPoolAsync(&b, BYTES, pool, 0));
}

Test(pool, allocations_survive_their_pool)
{
    make_context();
    CUmemoryPool pool = make_pool();
    uint64_t value;
    unsigned word = 0;
    CUdeviceptr a;
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, 0));
    OK(cuMemPoolDestroy(pool));
    EXPECT(CRT_INVALID_VALUE, cuMemPoolGetAttribute(pool, USED_CURRENT, &value));
    EXPECT(CRT_INVALID_VALUE, cuMemPoolDestroy(pool));
    OK(cuMemsetD32_v2(a, 7, 1));
    OK(cuMemcpyDtoH_v2(&word, a, sizeof word));
    cr_expect_eq(word, 7);
    OK(cuMemFreeAsync(a, 0));
    OK(cuCtxSynchronize());
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(&word, a, sizeof word));
}

Test(pool, freed_memory_is_no_memory_though_the_pool_keeps_it)
{
    make_context();
    CUmemoryPool pool = make_pool();
    unsigned word;
    CUdeviceptr a;
    set(pool, THRESHOLD, UINT64_MAX);
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, 0));
    OK(cuMemFreeAsync(a, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemFreeAsync(a, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(a));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(&word, a, sizeof word));
}

Test(pool, a_pointer_knows_its_pool_and_its_size)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUmemoryPool got;
    CUdeviceptr a;
    CUdeviceptr base;
    size_t size;
    OK(cuMemAllocFromPoolAsync(&a, 1000, pool, 0));
    OK(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    cr_expect_eq(got, pool);
    OK(cuMemGetAddressRange_v2(&base, &size, a + 10));
    cr_expect_eq(base, a);
    cr_expect_eq(size, 1000);
    OK(cuMemFree_v2(a));
    cr_expect_eq(get(pool, USED_CURRENT), 0);
    OK(cuMemAlloc_v2(&a, 16));
    OK(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    cr_expect_null(got);
}

Test(pool, each_place_has_a_default_and_a_current_pool)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUmemoryPool first;
    CUmemoryPool got;
    CUmemLocation device = {.type = 1, .id = 0};
    CUmemLocation host = {.type = 2};
    CUdeviceptr a;
    OK(cuDeviceGetDefaultMemPool(&first, 0));
    OK(cuDeviceGetMemPool(&got, 0));
    cr_expect_eq(got, first);
    OK(cuMemGetDefaultMemPool(&got, &device, 1));
    cr_expect_eq(got, first);
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuMemGetMemPool(&got, &device, 1));
    cr_expect_eq(got, pool);
    OK(cuMemAllocAsync(&a, BYTES, 0));
    cr_expect_eq(get(pool, USED_CURRENT), BYTES);
    OK(cuMemFreeAsync(a, 0));
    OK(cuMemPoolDestroy(pool));
    OK(cuDeviceGetMemPool(&got, 0));
    cr_expect_eq(got, first);
    OK(cuMemSetMemPool(&device, 1, first));

    OK(cuMemGetDefaultMemPool(&got, &host, 1));
    cr_expect_neq(got, first);
    OK(cuMemAllocFromPoolAsync(&a, 64, got, 0));
    *(volatile char *)(uintptr_t)a = 1;
    OK(cuMemFreeAsync(a, 0));
    OK(cuMemGetDefaultMemPool(&got, &device, 2 /* managed */));
    OK(cuMemAllocFromPoolAsync(&a, 64, got, 0));
    unsigned is_managed = 0;
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, a));
    cr_expect_eq((unsigned char)is_managed, 1);
    OK(cuMemFreeAsync(a, 0));
}

Test(pool, access_can_be_set_and_asked_for)
{
    make_context();
    CUmemoryPool pool = make_pool();
    CUmemLocation device = {.type = 1, .id = 0};
    CUmemAccessDesc access = {.location = device, .flags = 3};
    int flags = 0;
    OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &device));
    cr_expect_eq(flags, 3);
    access.flags = 0;
    EXPECT(CRT_INVALID_VALUE, cuMemPoolSetAccess(pool, &access, 1));
}

Test(pool, sharing_is_refused)
{
    make_context();
    CUmemPoolProps properties = device_pool;
    CUmemoryPool pool = make_pool();
    CUmemPoolPtrExportData data = {{0}};
    CUdeviceptr a;
    int handle = 0;
    EXPECT(CRT_INVALID_VALUE, cuMemPoolExportToShareableHandle(&handle, pool, 1, 0));
    EXPECT(CRT_NOT_SUPPORTED, cuMemPoolImportFromShareableHandle(&pool, (void *)0, 1, 0));
    OK(cuMemAllocAsync(&a, 64, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemPoolExportPointer(&data, a));
    EXPECT(CRT_INVALID_VALUE, cuMemPoolImportPointer(&a, pool, &data));
    properties.handleTypes = 1;
    EXPECT(CRT_NOT_SUPPORTED, cuMemPoolCreate(&pool, &properties));
}

Test(pool, kept_memory_makes_room_for_other_allocations)
{
    make_context();
    size_t free_bytes;
    size_t total_bytes;
    ignore_other_processes();
    CUmemoryPool pool = make_pool();
    CUdeviceptr a;
    CUdeviceptr b;
    set(pool, THRESHOLD, UINT64_MAX);
    OK(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    size_t most = free_bytes / 3 * 2;
    OK(cuMemAllocFromPoolAsync(&a, most, pool, 0));
    OK(cuMemFreeAsync(a, 0));
    OK(cuCtxSynchronize());
    OK(cuMemAlloc_v2(&b, most));
    OK(cuMemFree_v2(b));
}

Test(pool, memory_of_a_context_goes_with_it)
{
    OK(cuInit(0));
    CUcontext ctx;
    CUdeviceptr a;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    CUmemoryPool pool = make_pool();
    OK(cuMemAllocFromPoolAsync(&a, BYTES, pool, 0));
    OK(cuCtxDestroy_v2(ctx));
    cr_expect_eq(get(pool, USED_CURRENT), 0);
    cr_expect_eq(get(pool, RESERVED_CURRENT), 0);
    OK(cuMemPoolDestroy(pool));
}

#define THREADS 4
#define ROUNDS  50

/* Each thread fills memory of the shared pool in a stream of its own and finds it as it left it. */
static void *use_pool(void *arg)
{
    CUmemoryPool pool = arg;
    CUcontext ctx;
    CUstream stream = NULL;
    unsigned mistakes = 0;
    unsigned mark = (unsigned)(uintptr_t)&mistakes;
    if (cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) || cuStreamCreate(&stream, 1))
        return (void *)1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        CUdeviceptr memory;
        unsigned last = 0;
        size_t words = 1000 + i * 37;
        mistakes += cuMemAllocFromPoolAsync(&memory, words * 4, pool, stream) != 0;
        mistakes += cuMemsetD32Async(memory, mark + i, words, stream) != 0;
        mistakes += cuMemcpyDtoHAsync_v2(&last, memory + (words - 1) * 4, 4, stream) != 0;
        mistakes += cuMemFreeAsync(memory, stream) != 0;
        mistakes += cuStreamSynchronize(stream) != 0 || last != mark + i;
    }
    cuStreamDestroy_v2(stream);
    cuDevicePrimaryCtxRelease_v2(0);
    return (void *)(uintptr_t)mistakes;
}

Test(pool, threads_can_share_one)
{
    make_context();
    CUmemoryPool pool = make_pool();
    pthread_t threads[THREADS];
    set(pool, THRESHOLD, 8 * 4096);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_pool, pool);
    for (int i = 0; i < THREADS; i++) {
        void *mistakes;
        pthread_join(threads[i], &mistakes);
        cr_expect_null(mistakes);
    }
    cr_expect_eq(get(pool, USED_CURRENT), 0);
    OK(cuMemPoolDestroy(pool));
}
