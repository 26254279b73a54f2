/* SPDX-License-Identifier: Apache-2.0
 *
 * Green contexts: shares of a device, whose memory, kernels and errors are the primary context's,
 * and whose streams are waited for alone.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/stream.h"
#include "stream_fixture.h"

static void start(void)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    make_context();
}

/* A green context with the first of the device's shares of 8 multiprocessors. */
static CUgreenCtx make_green(void)
{
    CUdevResource all;
    CUdevResource part;
    unsigned count = 1;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 8));
    OK(cuDevResourceGenerateDesc(&desc, &part, 1));
    OK(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static CUstream make_green_stream(CUgreenCtx green)
{
    CUstream stream;
    OK(cuGreenCtxStreamCreate(&stream, green, CRT_STREAM_NON_BLOCKING, 0));
    return stream;
}

static CUcontext context_of(CUgreenCtx green)
{
    CUcontext ctx;
    OK(cuCtxFromGreenCtx(&ctx, green));
    return ctx;
}

/* ---- shares ---- */

Test(green, a_device_is_split_into_shares_and_a_rest, .init = start)
{
    CUdevResource all;
    CUdevResource parts[3];
    CUdevResource rest;
    unsigned possible = 0;
    unsigned count = 3;
    int multiprocessors;
    OK(cuDeviceGetAttribute(&multiprocessors, 16, 0));
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    cr_expect_eq(all.sm.smCount, (unsigned)multiprocessors);
    cr_expect_eq(all.sm.minSmPartitionSize, 8);
    OK(cuDevSmResourceSplitByCount(NULL, &possible, &all, NULL, 0, 9)); /* 16, by 8 */
    cr_expect_eq(possible, all.sm.smCount / 16);
    OK(cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 3));
    cr_expect_eq(count, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(parts[i].sm.smCount, 8);
    cr_expect_eq(rest.sm.smCount, all.sm.smCount - 24);
    unsigned flags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
    OK(cuDevSmResourceSplitByCount(parts, &count, &all, NULL, flags, 3));
    cr_expect_eq(parts[0].sm.smCount, 4);
}

Test(green, a_split_without_a_rest_leaves_none, .init = start)
{
    CUdevResource all;
    CUdevResource part;
    CUdevResource rest;
    unsigned count = 1;
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevSmResourceSplitByCount(&part, &count, &all, &rest, 0, all.sm.smCount / 8 * 8));
    cr_expect_eq(count, 1);
    cr_expect_eq(rest.type == CU_DEV_RESOURCE_TYPE_INVALID, all.sm.smCount % 8 == 0);
}

Test(green, wrong_shares_are_refused, .init = start)
{
    CUdevResource all;
    CUdevResource parts[2];
    CUdevResource more[2];
    CUdevResource none = {0};
    CUdevResourceDesc desc;
    unsigned count = 2;
    EXPECT(CRT_INVALID_DEVICE, cuDeviceGetDevResource(7, &all, CU_DEV_RESOURCE_TYPE_SM));
    EXPECT(CRT_INVALID_RESOURCE_TYPE, cuDeviceGetDevResource(0, &all, 9));
    EXPECT(CRT_INVALID_VALUE, cuDeviceGetDevResource(0, NULL, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    EXPECT(CRT_INVALID_VALUE,
           cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 0, all.sm.smCount + 1));
    EXPECT(CRT_INVALID_VALUE, cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 4, 8));
    EXPECT(CRT_INVALID_RESOURCE_TYPE,
           cuDevSmResourceSplitByCount(parts, &count, &none, NULL, 0, 0));
    OK(cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 0, 8));
    OK(cuDevSmResourceSplitByCount(more, &count, &all, NULL, 0, 8));
    EXPECT(CRT_INVALID_RESOURCE_CONFIGURATION,
           cuDevSmResourceSplitByCount(more, &count, &parts[0], NULL, 0, 8));
    OK(cuDevResourceGenerateDesc(&desc, parts, 2));
    more[0] = parts[0];
    EXPECT(CRT_INVALID_RESOURCE_CONFIGURATION, cuDevResourceGenerateDesc(&desc, more, 2));
    EXPECT(CRT_INVALID_RESOURCE_TYPE, cuDevResourceGenerateDesc(&desc, &none, 1));
    EXPECT(CRT_INVALID_VALUE, cuDevResourceGenerateDesc(&desc, parts, 0));
}

/* ---- contexts ---- */

Test(green, a_green_context_knows_its_share_and_can_be_split_again, .init = start)
{
    CUgreenCtx green = make_green();
    CUcontext primary;
    CUdevResource share;
    CUdevResource whole;
    CUdevResource half;
    unsigned count = 1;
    OK(cuCtxGetCurrent(&primary));
    OK(cuGreenCtxGetDevResource(green, &share, CU_DEV_RESOURCE_TYPE_SM));
    cr_expect_eq(share.sm.smCount, 8);
    OK(cuDevSmResourceSplitByCount(&half, &count, &share, NULL,
                                   CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 4));
    cr_expect_eq(half.sm.smCount, 4);
    memset(&share, 0, sizeof share);
    OK(cuCtxGetDevResource(context_of(green), &share, CU_DEV_RESOURCE_TYPE_SM));
    cr_expect_eq(share.sm.smCount, 8);
    OK(cuCtxGetDevResource(primary, &whole, CU_DEV_RESOURCE_TYPE_SM));
    cr_expect_gt(whole.sm.smCount, 8);
}

Test(green, it_becomes_current_and_has_the_memory_of_the_primary_one, .init = start)
{
    CUgreenCtx green = make_green();
    CUcontext primary;
    CUcontext ctx;
    CUcontext owner;
    CUdeviceptr memory;
    CUdevice device = -1;
    OK(cuCtxGetCurrent(&primary));
    OK(cuCtxPushCurrent_v2(context_of(green)));
    OK(cuCtxGetCurrent(&ctx));
    cr_expect_eq(ctx, context_of(green));
    cr_expect_neq(ctx, primary);
    OK(cuCtxGetDevice(&device));
    cr_expect_eq(device, 0);
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuPointerGetAttribute(&owner, 1, memory));
    cr_expect_eq(owner, primary);
    OK(cuCtxPopCurrent_v2(&ctx));
    cr_expect_eq(ctx, context_of(green));
    OK(cuGreenCtxDestroy(green));
    OK(cuMemFree_v2(memory));
}

Test(green, each_has_an_id, .init = start)
{
    CUgreenCtx green[] = {make_green(), make_green()};
    CUcontext primary;
    unsigned long long id[3];
    unsigned long long current;
    OK(cuCtxGetCurrent(&primary));
    OK(cuGreenCtxGetId(green[0], &id[0]));
    OK(cuGreenCtxGetId(green[1], &id[1]));
    OK(cuCtxGetId(primary, &id[2]));
    cr_expect(id[0] != id[1] && id[0] != id[2] && id[1] != id[2]);
    EXPECT(CRT_INVALID_CONTEXT, cuGreenCtxGetId(NULL, &current));
    OK(cuCtxSetCurrent(context_of(green[1])));
    OK(cuGreenCtxGetId(NULL, &current));
    cr_expect_eq(current, id[1]);
    OK(cuCtxGetId(NULL, &current));
    cr_expect_eq(current, id[1]);
}

Test(green, it_keeps_the_primary_context_until_it_ends)
{
    CUgreenCtx green;
    unsigned flags;
    int is_active;
    OK(cuInit(0));
    green = make_green();
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    cr_expect(is_active);
    OK(cuCtxSetCurrent(context_of(green)));
    OK(cuGreenCtxDestroy(green));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
    cr_expect(!is_active);
    CUdeviceptr memory;
    EXPECT(CRT_CONTEXT_IS_DESTROYED, cuMemAlloc_v2(&memory, 64));
    EXPECT(CRT_INVALID_CONTEXT, cuGreenCtxDestroy(green));
}

Test(green, wrong_ones_are_refused, .init = start)
{
    CUgreenCtx green = make_green();
    CUgreenCtx other;
    CUcontext primary;
    CUstream stream;
    CUdevResource all;
    CUdevResourceDesc desc;
    OK(cuCtxGetCurrent(&primary));
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevResourceGenerateDesc(&desc, &all, 1));
    EXPECT(CRT_INVALID_VALUE, cuGreenCtxCreate(&other, desc, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuGreenCtxCreate(&other, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    EXPECT(CRT_INVALID_CONTEXT, cuGreenCtxDestroy((CUgreenCtx)primary));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxDestroy_v2(context_of(green)));
    EXPECT(CRT_INVALID_VALUE, cuGreenCtxStreamCreate(&stream, green, 0, 0));
}

/* ---- streams ---- */

Test(green, streams_know_their_context, .init = start)
{
    CUgreenCtx green = make_green();
    CUgreenCtx found;
    CUcontext primary;
    CUcontext ctx;
    CUstream stream = make_green_stream(green);
    CUstream plain = make_stream(0);
    OK(cuCtxGetCurrent(&primary));
    OK(cuStreamGetGreenCtx(stream, &found));
    cr_expect_eq(found, green);
    OK(cuStreamGetCtx(stream, &ctx));
    cr_expect_eq(ctx, context_of(green));
    OK(cuStreamGetCtx_v2(stream, &ctx, &found));
    cr_expect(ctx == primary && found == green);
    OK(cuStreamGetGreenCtx(plain, &found));
    cr_expect_null(found);
    OK(cuCtxSetCurrent(context_of(green)));
    OK(cuStreamGetGreenCtx(make_stream(0), &found));
    cr_expect_eq(found, green);
    OK(cuStreamGetGreenCtx(NULL, &found));
    cr_expect_eq(found, green);
    OK(cuStreamGetGreenCtx(plain, &found));
    cr_expect_null(found);
}

Test(green, a_kernel_of_the_primary_context_runs_in_its_streams, .init = start)
{
    _Atomic(unsigned) *words = make_words(2);
    CUgreenCtx green = make_green();
    CUstream stream = make_green_stream(green);
    launch_put(stream, &words[0], 5);
    OK(cuCtxSetCurrent(context_of(green)));
    launch_put(NULL, &words[1], 7);
    OK(cuCtxSynchronize());
    cr_expect_eq(words[0], 5);
    cr_expect_eq(words[1], 7);
}

Test(green, its_work_is_waited_for_alone, .init = start)
{
    _Atomic(unsigned) *words = make_words(1);
    CUgreenCtx green = make_green();
    CUstream others = make_stream(CRT_STREAM_NON_BLOCKING);
    OK(cuLaunchHostFunc(others, wait_gate, "o")); /* until this test lets it go */
    launch_put(make_green_stream(green), &words[0], 5);
    OK(cuCtxSynchronize_v2(context_of(green)));
    cr_expect_eq(words[0], 5);
    EXPECT(CRT_NOT_READY, cuStreamQuery(others));
    atomic_store(&gate, 1);
    OK(cuCtxSynchronize());
}

Test(green, its_work_is_recorded_alone, .init = start)
{
    CUgreenCtx green = make_green();
    CUgreenCtx idle = make_green();
    CUevent event = make_event(0);
    CUevent early = make_event(0);
    OK(cuLaunchHostFunc(make_green_stream(green), wait_gate, "g"));
    OK(cuGreenCtxRecordEvent(idle, early));
    OK(cuGreenCtxRecordEvent(green, event));
    OK(cuEventSynchronize(early));
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(event));
    cr_expect_str_eq(history, "g");
}

Test(green, its_streams_wait_for_an_event_and_others_do_not, .init = start)
{
    _Atomic(unsigned) *words = make_words(3);
    CUgreenCtx green = make_green();
    CUstream slow = make_stream(CRT_STREAM_NON_BLOCKING);
    CUstream first = make_green_stream(green);
    CUstream other = make_stream(CRT_STREAM_NON_BLOCKING);
    CUevent event = make_event(0);
    OK(cuLaunchHostFunc(slow, wait_gate, "s"));
    OK(cuEventRecord(event, slow));
    OK(cuGreenCtxWaitEvent(green, event));
    CUstream later = make_green_stream(green);
    launch_put(first, &words[0], 1);
    launch_put(later, &words[1], 1);
    launch_put(other, &words[2], 1);
    OK(cuStreamSynchronize(other));
    cr_expect(words[0] == 0 && words[1] == 0 && words[2] == 1);
    atomic_store(&gate, 1);
    OK(cuCtxSynchronize());
    cr_expect(words[0] == 1 && words[1] == 1);
}

Test(green, its_streams_end_with_it, .init = start)
{
    CUgreenCtx green = make_green();
    CUstream stream = make_green_stream(green);
    CUstream plain = make_stream(0);
    OK(cuGreenCtxDestroy(green));
    EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(plain));
}

Test(green, a_capture_in_it_forbids_to_wait_for_it, .init = start)
{
    CUgreenCtx green = make_green();
    CUgreenCtx idle = make_green();
    CUstream stream = make_green_stream(green);
    CUgraph graph;
    OK(cuStreamBeginCapture_v2(stream, CRT_CAPTURE_RELAXED));
    OK(cuCtxSynchronize_v2(context_of(idle)));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture_v2(stream, CRT_CAPTURE_RELAXED));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize_v2(context_of(green)));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
}
