/* SPDX-License-Identifier: Apache-2.0
 *
 * Ordering of streams and events, seen through host functions.
 */
#include <pthread.h>
#include <stdlib.h>

#include "stream_fixture.h"

Test(streams, work_of_one_stream_runs_in_order, .init = make_context)
{
    CUstream stream = make_stream(1);
    static char texts[8][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (int i = 0; i < 8; i++)
        OK(cuLaunchHostFunc(stream, note, texts[i]));
    OK(cuStreamSynchronize(stream));
    cr_expect_str_eq(history, "abcdefgh");
}

Test(streams, a_stream_that_has_work_is_not_ready, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUevent event;
    OK(cuEventCreate(&event, 0));
    EXPECT(CRT_SUCCESS, cuStreamQuery(stream));
    EXPECT(CRT_SUCCESS, cuEventQuery(event));
    OK(cuLaunchHostFunc(stream, wait_gate, "x"));
    OK(cuEventRecord(event, stream));
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(event));
    EXPECT(CRT_SUCCESS, cuStreamQuery(stream));
}

Test(streams, the_null_stream_waits_for_blocking_streams, .init = make_context)
{
    CUstream blocking = make_stream(0);
    OK(cuLaunchHostFunc(blocking, wait_gate, "b"));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "b");
}

Test(streams, blocking_streams_wait_for_the_null_stream, .init = make_context)
{
    CUstream blocking = make_stream(0);
    CUstream free_stream = make_stream(1);
    OK(cuLaunchHostFunc(NULL, wait_gate, "n"));
    EXPECT(CRT_NOT_READY, cuStreamQuery(blocking));
    EXPECT(CRT_SUCCESS, cuStreamQuery(free_stream));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(blocking));
    cr_expect_str_eq(history, "n");
}

Test(streams, the_null_stream_does_not_wait_for_non_blocking_streams, .init = make_context)
{
    CUstream free_stream = make_stream(1);
    OK(cuLaunchHostFunc(free_stream, wait_gate, "f"));
    EXPECT(CRT_SUCCESS, cuStreamQuery(NULL));
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "");
    atomic_store(&gate, 1);
    OK(cuCtxSynchronize());
    cr_expect_str_eq(history, "f");
}

Test(streams, the_null_stream_waits_for_a_destroyed_blocking_stream, .init = make_context)
{
    CUstream blocking = make_stream(0);
    OK(cuLaunchHostFunc(blocking, wait_gate, "b"));
    OK(cuStreamDestroy_v2(blocking));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "b");
}

/* A copy on a worker, held up by an event: it must not start before. */
Test(streams, a_wait_for_an_event_orders_two_streams, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUevent event;
    CUdeviceptr memory;
    int *pinned;
    OK(cuEventCreate(&event, 2));
    OK(cuMemAlloc_v2(&memory, 4));
    OK(cuMemHostAlloc((void **)&pinned, 4, 0));
    OK(cuMemsetD32_v2(memory, 7, 1));
    OK(cuCtxSynchronize());
    *pinned = 1;
    OK(cuLaunchHostFunc(first, wait_gate, "x"));
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuMemcpyDtoHAsync_v2(pinned, memory, 4, second));
    sleep_ms(20);
    cr_expect_eq(*pinned, 1);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(second));
    cr_expect_eq(*pinned, 7);
}

Test(streams, a_pageable_source_may_change_after_the_call, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUdeviceptr memory;
    int host[100];
    OK(cuMemAlloc_v2(&memory, sizeof host));
    OK(cuLaunchHostFunc(stream, wait_gate, "x"));
    memset(host, 3, sizeof host);
    OK(cuMemcpyHtoDAsync_v2(memory, host, sizeof host, stream));
    memset(host, 9, sizeof host);
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(host, memory, sizeof host));
    cr_expect_eq(host[99], 0x03030303);
}

static void *use_own_stream(void *arg)
{
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    unsigned long long number;
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &number));
    *(unsigned long long *)arg = number;
    OK(cuLaunchHostFunc_ptsz(NULL, note, "t"));
    OK(cuStreamSynchronize_ptsz(NULL));
    return NULL;
}

Test(streams, each_thread_has_its_own_default_stream, .init = make_context)
{
    unsigned long long other = 0;
    unsigned long long own;
    unsigned long long legacy;
    pthread_t thread;
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    pthread_create(&thread, NULL, use_own_stream, &other);
    pthread_join(thread, NULL);
    cr_expect_neq(own, other);
    cr_expect_neq(own, legacy);
    cr_expect_str_eq(history, "t");
}

static atomic_int callback_result = -1;

static void try_to_wait(CUstream stream, CUresult status, void *arg)
{
    (void)status;
    (void)stream;
    cuCtxSetCurrent(arg);
    atomic_store(&callback_result, (int)cuCtxSynchronize());
}

Test(streams, a_callback_must_not_wait, .init = make_context)
{
    CUstream stream = make_stream(0);
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuStreamAddCallback(stream, try_to_wait, ctx, 0));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(atomic_load(&callback_result), CRT_NOT_PERMITTED);
}

static atomic_int device_result = -1;

static void try_to_ask(void *arg)
{
    CUdeviceptr base;
    CUdevice device;
    atomic_store(&callback_result, (int)cuMemGetAddressRange_v2(&base, NULL, *(CUdeviceptr *)arg));
    atomic_store(&device_result, (int)cuCtxGetDevice(&device));
}

Test(streams, a_host_function_must_not_use_the_context_it_has_not_got, .init = make_context)
{
    CUstream stream = make_stream(0);
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, 16));
    OK(cuLaunchHostFunc(stream, try_to_ask, &memory));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(atomic_load(&callback_result), CRT_NOT_PERMITTED);
    cr_expect_eq(atomic_load(&device_result), CRT_NOT_PERMITTED);
    OK(cuMemFree_v2(memory));
}

struct ending {
    CUcontext own;
    CUlibrary library;
    CUresult destroyed;
    CUresult reset;
    CUresult released;
    CUresult unloaded;
};

static void try_to_end(void *arg)
{
    struct ending *ending = arg;
    ending->destroyed = cuCtxDestroy_v2(ending->own);
    ending->reset = cuDevicePrimaryCtxReset_v2(0);
    ending->released = cuDevicePrimaryCtxRelease_v2(0);
    ending->unloaded = cuLibraryUnload(ending->library);
}

Test(streams, a_host_function_must_not_end_what_it_belongs_to, .init = make_context)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n";
    struct ending ending = {0};
    OK(cuLibraryLoadData(&ending.library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuCtxCreate_v2(&ending.own, 0, 0));
    CUstream stream = make_stream(0);
    OK(cuLaunchHostFunc(stream, try_to_end, &ending));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(ending.destroyed, CRT_NOT_PERMITTED);
    cr_expect_eq(ending.reset, CRT_NOT_PERMITTED);
    cr_expect_eq(ending.released, CRT_NOT_PERMITTED);
    cr_expect_eq(ending.unloaded, CRT_NOT_PERMITTED);
    OK(cuLibraryUnload(ending.library));
    OK(cuCtxDestroy_v2(ending.own));
}

Test(streams, elapsed_time_is_what_passed, .init = make_context)
{
    CUstream stream = make_stream(0);
    CUevent start;
    CUevent end;
    float ms;
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, stream));
    OK(cuLaunchHostFunc(stream, wait_gate, "x"));
    OK(cuEventRecord(end, stream));
    EXPECT(CRT_NOT_READY, cuEventElapsedTime(&ms, start, end));
    sleep_ms(30);
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, end));
    cr_expect(ms >= 25 && ms < 5000, "%f ms", ms);
}

Test(streams, contexts_nest_and_are_destroyed_with_their_streams, .init = make_context)
{
    CUcontext primary;
    CUcontext own;
    CUcontext current;
    OK(cuCtxGetCurrent(&primary));
    OK(cuCtxCreate_v2(&own, 0, 0));
    OK(cuCtxGetCurrent(&current));
    cr_expect_eq(current, own);
    CUstream stream = make_stream(0);
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuLaunchHostFunc(stream, note, "o"));
    OK(cuCtxDestroy_v2(own));
    cr_expect_str_eq(history, "o");
    OK(cuCtxGetCurrent(&current));
    cr_expect_eq(current, primary);
    EXPECT(CRT_INVALID_HANDLE, cuStreamQuery(stream));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(memory));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxDestroy_v2(own));
}

Test(streams, attributes_are_kept_and_copied, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUstreamAttrValue value = {.pad = {0}};
    const CUaccessPolicyWindow window = {&value, 4096, 0.5f, 2, 1};
    CUaccessPolicyWindow got;
    int number;
    memcpy(&value, &window, sizeof window);
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    memset(&value, 0, sizeof value);
    value.priority = -100; /* becomes the greatest there is */
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    value.pad[0] = 1;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    memset(&value, 0, sizeof value);
    value.pad[0] = 1;
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, &value));

    OK(cuStreamCopyAttributes_ptsz(NULL, stream));
    OK(cuStreamGetAttribute_ptsz(NULL, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    memcpy(&got, &value, sizeof got);
    cr_expect_eq(got.base_ptr, window.base_ptr);
    cr_expect_eq(got.missProp, 1);
    OK(cuStreamGetAttribute_ptsz(NULL, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    cr_expect_eq(value.priority, -5);
    OK(cuStreamGetPriority(CU_STREAM_PER_THREAD, &number));
    cr_expect_eq(number, -5);
    OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    cr_expect_eq(value.pad[0], 1);
    OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, &value));
    OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    cr_expect_eq(value.pad[0], CU_SYNC_POLICY_AUTO);
    OK(cuStreamSetAttribute_ptsz(NULL, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
}

Test(streams, a_stream_knows_its_context_and_device, .init = make_context)
{
    CUcontext current;
    CUcontext ctx = NULL;
    CUgreenCtx green = (CUgreenCtx)(uintptr_t)1;
    CUdevice device = 9;
    CUstream stream = make_stream(1);
    OK(cuCtxGetCurrent(&current));
    OK(cuStreamGetCtx(stream, &ctx));
    cr_expect_eq(ctx, current);
    OK(cuStreamGetCtx_v2(stream, &ctx, &green));
    cr_expect_eq(ctx, current);
    cr_expect_null(green);
    OK(cuStreamGetCtx_v2_ptsz(NULL, &ctx, &green));
    cr_expect_eq(ctx, current);
    green = (CUgreenCtx)(uintptr_t)1;
    OK(cuStreamGetGreenCtx(stream, &green));
    cr_expect_null(green);
    OK(cuStreamGetDevice(stream, &device));
    cr_expect_eq(device, 0);
}

Test(streams, managed_memory_and_pageable_memory_can_be_attached, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUdeviceptr managed;
    char pageable[64];
    OK(cuMemAllocManaged(&managed, 64, 1));
    OK(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(NULL, managed, 64, CU_MEM_ATTACH_HOST));
    OK(cuStreamAttachMemAsync(stream, (uintptr_t)pageable, sizeof pageable, CU_MEM_ATTACH_GLOBAL));
}

Test(streams, null_streams_of_contexts_differ, .init = make_context)
{
    unsigned long long first;
    unsigned long long second;
    CUcontext other;
    OK(cuStreamGetId(NULL, &first));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuStreamGetId(NULL, &second));
    cr_expect_neq(first, second);
    OK(cuCtxDestroy_v2(other));
}

/* Programming guide, "Stream and Event Behavior" of several devices. */
Test(streams, events_and_streams_of_two_devices_keep_to_the_rules)
{
    CUcontext contexts[2];
    CUstream streams[2];
    CUevent events[2];
    float ms;
    setenv("PTXRUN_DEVICES", "2", 1);
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
        OK(cuCtxSetCurrent(contexts[i]));
        streams[i] = make_stream(1);
        events[i] = make_event(0);
        OK(cuEventRecord(events[i], streams[i]));
    }
    EXPECT(CRT_INVALID_HANDLE, cuEventRecord(events[0], streams[1]));
    OK(cuLaunchHostFunc(streams[0], wait_gate, "a"));
    OK(cuEventRecord(events[0], streams[0]));
    OK(cuStreamWaitEvent(streams[1], events[0], 0));
    OK(cuLaunchHostFunc(streams[1], note, "b"));
    EXPECT(CRT_NOT_READY, cuEventQuery(events[0]));
    EXPECT(CRT_NOT_READY, cuStreamQuery(streams[1]));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(events[0]));
    OK(cuStreamSynchronize(streams[0]));
    OK(cuStreamSynchronize(streams[1]));
    cr_expect_str_eq(history, "ab");
    EXPECT(CRT_INVALID_HANDLE, cuEventElapsedTime(&ms, events[0], events[1]));
    CUdevice device = 9;
    OK(cuStreamGetDevice(streams[1], &device));
    cr_expect_eq(device, 1);
}
