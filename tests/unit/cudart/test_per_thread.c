/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms in which stream 0 is the calling thread's own. For those that put something into a
 * stream: while the thread's stream captures, each call with stream 0 makes a node of its graph; in
 * the null stream it would be an error.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver_fixture.h"

#define BYTES 4096

struct things {
    CUdeviceptr a;
    CUdeviceptr b;
    CUdeviceptr managed;
    char *host;
    CUcontext ctx;
    CUevent event;
    CUstream stream;
    CUfunction kernel;
    CUgraphExec exec;
    CUmemoryPool pool;
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D deep;
    CUDA_MEMCPY3D_PEER peer;
};

static const char kernel_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry empty() { ret; }\n";

static void make_things(struct things *t)
{
    CUmodule module;
    CUgraph graph;
    CUgraphNode node;
    make_context();
    *t = (struct things){0};
    OK(cuCtxGetCurrent(&t->ctx));
    OK(cuMemAlloc_v2(&t->a, BYTES));
    OK(cuMemAlloc_v2(&t->b, BYTES));
    OK(cuMemAllocManaged(&t->managed, BYTES, 1));
    OK(cuMemAllocHost_v2((void **)&t->host, BYTES));
    OK(cuEventCreate(&t->event, 0));
    OK(cuStreamCreate(&t->stream, 1));
    OK(cuModuleLoadData(&module, kernel_ptx));
    OK(cuModuleGetFunction(&t->kernel, module, "empty"));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&t->exec, graph, 0));
    OK(cuDeviceGetDefaultMemPool(&t->pool, 0));
    t->flat = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = t->a,
                              .srcPitch = 64,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = t->b,
                              .dstPitch = 64,
                              .WidthInBytes = 16,
                              .Height = 4};
    t->deep = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = t->a,
                              .srcPitch = 64,
                              .srcHeight = 4,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = t->b,
                              .dstPitch = 64,
                              .dstHeight = 4,
                              .WidthInBytes = 16,
                              .Height = 4,
                              .Depth = 2};
    t->peer = (CUDA_MEMCPY3D_PEER){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .srcDevice = t->a,
                                   .srcContext = t->ctx,
                                   .srcPitch = 64,
                                   .srcHeight = 4,
                                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .dstDevice = t->b,
                                   .dstContext = t->ctx,
                                   .dstPitch = 64,
                                   .dstHeight = 4,
                                   .WidthInBytes = 16,
                                   .Height = 4,
                                   .Depth = 2};
}

static void host_function(void *arg)
{
    (void)arg;
}

static void callback(CUstream stream, CUresult result, void *arg)
{
    (void)stream;
    (void)result;
    (void)arg;
}

/* ROW(call, nodes): how many nodes the call makes. */
#define ROWS                                                                                       \
    ROW(cuMemcpyAsync_ptsz(t->b, t->a, 64, NULL), 1)                                               \
    ROW(cuMemcpyPeerAsync_ptsz(t->b, t->ctx, t->a, t->ctx, 64, NULL), 1)                           \
    ROW(cuMemcpyHtoDAsync_v2_ptsz(t->a, t->host, 64, NULL), 1)                                     \
    ROW(cuMemcpyDtoHAsync_v2_ptsz(t->host, t->a, 64, NULL), 1)                                     \
    ROW(cuMemcpyDtoDAsync_v2_ptsz(t->b, t->a, 64, NULL), 1)                                        \
    ROW(cuMemcpy2DAsync_v2_ptsz(&t->flat, NULL), 1)                                                \
    ROW(cuMemcpy3DAsync_v2_ptsz(&t->deep, NULL), 1)                                                \
    ROW(cuMemcpy3DPeerAsync_ptsz(&t->peer, NULL), 1)                                               \
    ROW(cuMemsetD8Async_ptsz(t->a, 1, 64, NULL), 1)                                                \
    ROW(cuMemsetD16Async_ptsz(t->a, 1, 32, NULL), 1)                                               \
    ROW(cuMemsetD32Async_ptsz(t->a, 1, 16, NULL), 1)                                               \
    ROW(cuMemsetD2D8Async_ptsz(t->a, 64, 1, 16, 2, NULL), 1)                                       \
    ROW(cuMemsetD2D16Async_ptsz(t->a, 64, 1, 16, 2, NULL), 1)                                      \
    ROW(cuMemsetD2D32Async_ptsz(t->a, 64, 1, 16, 2, NULL), 1)                                      \
    ROW(cuMemsetD16Async(t->a, 1, 32, CU_STREAM_PER_THREAD), 1)                                    \
    ROW(cuMemsetD2D8Async(t->a, 64, 1, 16, 2, CU_STREAM_PER_THREAD), 1)                            \
    ROW(cuMemsetD2D16Async(t->a, 64, 1, 16, 2, CU_STREAM_PER_THREAD), 1)                           \
    ROW(cuMemsetD2D32Async(t->a, 64, 1, 16, 2, CU_STREAM_PER_THREAD), 1)                           \
    ROW(cuLaunchKernel_ptsz(t->kernel, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL), 1)                  \
    ROW(cuLaunchKernelEx_ptsz(&one, t->kernel, none, NULL), 1)                                     \
    ROW(cuLaunchCooperativeKernel_ptsz(t->kernel, 1, 1, 1, 1, 1, 1, 0, NULL, none), 1)             \
    ROW(cuLaunchHostFunc_ptsz(NULL, host_function, NULL), 1)                                       \
    ROW(cuStreamIsCapturing_ptsz(NULL, &status), 0)                                                \
    ROW(cuStreamGetCaptureInfo_ptsz(NULL, &status, &id), 0)

Test(per_thread, calls_go_into_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    CUlaunchConfig one = {.gridDimX = 1,
                          .gridDimY = 1,
                          .gridDimZ = 1,
                          .blockDimX = 1,
                          .blockDimY = 1,
                          .blockDimZ = 1};
    CUstreamCaptureStatus status;
    cuuint64_t id;
    void *none[1] = {NULL};
    make_things(t);
#define ROW(call, nodes)                                                                           \
    {                                                                                              \
        CUgraph graph = NULL;                                                                      \
        size_t count = 99;                                                                         \
        OK(cuStreamBeginCapture_v2_ptsz(NULL, 2 /* relaxed */));                                   \
        EXPECT(CRT_SUCCESS, call);                                                                 \
        EXPECT(CRT_SUCCESS, cuStreamEndCapture_ptsz(NULL, &graph));                                \
        cr_assert_not_null(graph, "%s", #call);                                                    \
        OK(cuGraphGetNodes(graph, NULL, &count));                                                  \
        cr_expect_eq(count, (size_t)(nodes), "%s made %zu nodes", #call, count);                   \
        OK(cuGraphDestroy(graph));                                                                 \
    }
    ROWS
#undef ROW
}

Test(per_thread, events_and_waits_draw_the_stream_of_the_thread_into_a_capture)
{
    struct things things;
    struct things *t = &things;
    CUgraph graph;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    make_things(t);
    OK(cuStreamBeginCapture_v2(t->stream, 2));
    OK(cuEventRecord(t->event, t->stream));
    OK(cuStreamWaitEvent_ptsz(NULL, t->event, 0));
    OK(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuEventRecord_ptsz(t->event, NULL));
    OK(cuStreamWaitEvent(t->stream, t->event, 0));
    OK(cuStreamEndCapture(t->stream, &graph));
    OK(cuStreamBeginCapture_ptsz(NULL));
    OK(cuEventRecordWithFlags_ptsz(t->event, NULL, 0));
    EXPECT(CRT_CAPTURED_EVENT, cuEventQuery(t->event));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture_ptsz(NULL, &graph));
}

Test(per_thread, questions_are_about_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    unsigned long long id = 0;
    unsigned long long own_id = 1;
    unsigned flags = 99;
    unsigned own_flags = 98;
    int priority = 99;
    CUcontext ctx = NULL;
    CUdevice device = 99;
    make_things(t);
    OK(cuStreamGetId_ptsz(NULL, &id));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own_id));
    cr_expect_eq(id, own_id);
    OK(cuStreamGetId(NULL, &own_id));
    cr_expect_neq(id, own_id);
    OK(cuStreamGetFlags_ptsz(NULL, &flags));
    OK(cuStreamGetFlags(CU_STREAM_PER_THREAD, &own_flags));
    cr_expect_eq(flags, own_flags);
    OK(cuStreamGetPriority_ptsz(NULL, &priority));
    cr_expect_eq(priority, 0);
    OK(cuStreamGetCtx_ptsz(NULL, &ctx));
    cr_expect_eq(ctx, t->ctx);
    OK(cuStreamGetDevice_ptsz(NULL, &device));
    cr_expect_eq(device, 0);
    OK(cuStreamGetCtx(t->stream, &ctx));
    cr_expect_eq(ctx, t->ctx);
    OK(cuStreamGetDevice(t->stream, &device));
    cr_expect_eq(device, 0);
    OK(cuStreamGetPriority(t->stream, &priority));
    cr_expect_eq(priority, 0);
}

Test(per_thread, captures_are_told_of_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    cuuint64_t same = 1;
    CUgraph graph = NULL;
    const CUgraphNode *deps = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 99;
    make_things(t);
    OK(cuStreamBeginCapture_v2_ptsz(NULL, 2));
    OK(cuMemsetD8Async_ptsz(t->a, 1, 4, NULL));
    OK(cuStreamGetCaptureInfo_v2_ptsz(NULL, &status, &id, &graph, &deps, &count));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    cr_expect_eq(count, 1);
    OK(cuStreamGetCaptureInfo_v3_ptsz(NULL, &status, &same, &graph, &deps, &edges, &count));
    cr_expect_eq(same, id);
    OK(cuStreamGetCaptureInfo(CU_STREAM_PER_THREAD, &status, &same));
    cr_expect_eq(same, id);
    OK(cuStreamGetCaptureInfo_v3(CU_STREAM_PER_THREAD, &status, &same, &graph, &deps, &edges,
                                 &count));
    cr_expect_eq(same, id);
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery_ptsz(NULL));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture_ptsz(NULL, &graph));
    OK(cuStreamQuery_ptsz(NULL));
    OK(cuStreamSynchronize_ptsz(NULL));
}

Test(per_thread, what_cannot_be_captured_runs_in_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    CUgraphExec exec = NULL;
    CUgraph graph;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    make_things(t);
    OK(cuMemAllocAsync_ptsz(&first, 64, NULL));
    OK(cuMemAllocFromPoolAsync_ptsz(&second, 64, t->pool, NULL));
    OK(cuMemsetD8Async_ptsz(first, 1, 64, NULL));
    OK(cuMemcpyDtoDAsync_v2_ptsz(second, first, 64, NULL));
    OK(cuMemcpyDtoHAsync_v2_ptsz(t->host, second, 64, NULL));
    OK(cuMemFreeAsync_ptsz(first, NULL));
    OK(cuMemFreeAsync_ptsz(second, NULL));
    OK(cuStreamAddCallback_ptsz(NULL, callback, NULL, 0));
    OK(cuStreamAttachMemAsync_ptsz(NULL, t->managed, 0, 4));
    OK(cuStreamAttachMemAsync(t->stream, t->managed, 0, 4));
    OK(cuMemPrefetchAsync_ptsz(t->managed, BYTES, 0, NULL));
    OK(cuMemPrefetchAsync_v2_ptsz(t->managed, BYTES, (CUmemLocation){1, 0}, 0, NULL));
    OK(cuGraphUpload_ptsz(t->exec, NULL));
    OK(cuGraphLaunch_ptsz(t->exec, NULL));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphInstantiateWithParams_ptsz(&exec, graph, &params));
    OK(cuStreamSynchronize_ptsz(NULL));
    cr_expect(t->host[0] == 1 && t->host[63] == 1);
}

/* ---- the forms that have finished when they return ---- */

static unsigned char byte_at(CUdeviceptr address)
{
    unsigned char value = 0;
    OK(cuMemcpyDtoH_v2_ptds(&value, address, 1));
    return value;
}

Test(per_thread, copies_that_wait_have_finished)
{
    struct things things;
    struct things *t = &things;
    make_things(t);
    memset(t->host, 7, BYTES);
    OK(cuMemcpyHtoD_v2_ptds(t->a, t->host, BYTES));
    cr_expect_eq(byte_at(t->a + BYTES - 1), 7);
    OK(cuMemcpyDtoD_v2_ptds(t->b, t->a, 100));
    cr_expect_eq(byte_at(t->b + 99), 7);
    OK(cuMemsetD8_v2_ptds(t->a, 1, BYTES));
    OK(cuMemcpy_ptds(t->b, t->a, 100));
    cr_expect_eq(byte_at(t->b + 99), 1);
    OK(cuMemsetD8_v2_ptds(t->a, 2, BYTES));
    OK(cuMemcpyPeer_ptds(t->b, t->ctx, t->a, t->ctx, 100));
    cr_expect_eq(byte_at(t->b + 99), 2);
    OK(cuMemsetD8_v2_ptds(t->a, 3, BYTES));
    OK(cuMemcpy2D_v2_ptds(&t->flat));
    cr_expect_eq(byte_at(t->b + 3 * 64 + 15), 3);
    OK(cuMemsetD8_v2_ptds(t->a, 4, BYTES));
    OK(cuMemcpy2DUnaligned_v2_ptds(&t->flat));
    cr_expect_eq(byte_at(t->b + 3 * 64 + 15), 4);
    OK(cuMemsetD8_v2_ptds(t->a, 5, BYTES));
    OK(cuMemcpy3D_v2_ptds(&t->deep));
    cr_expect_eq(byte_at(t->b + 7 * 64 + 15), 5);
    OK(cuMemsetD8_v2_ptds(t->a, 6, BYTES));
    OK(cuMemcpy3DPeer_ptds(&t->peer));
    cr_expect_eq(byte_at(t->b + 7 * 64 + 15), 6);
}

Test(per_thread, fills_that_wait_have_finished)
{
    struct things things;
    struct things *t = &things;
    make_things(t);
    OK(cuMemsetD16_v2_ptds(t->a, 0x0102, 8));
    cr_expect(byte_at(t->a) == 2 && byte_at(t->a + 15) == 1);
    OK(cuMemsetD32_v2_ptds(t->a, 0x01020304, 4));
    cr_expect(byte_at(t->a) == 4 && byte_at(t->a + 15) == 1);
    OK(cuMemsetD2D8_v2_ptds(t->a, 64, 9, 3, 2));
    cr_expect(byte_at(t->a + 66) == 9 && byte_at(t->a + 3) == 1);
    OK(cuMemsetD2D16_v2_ptds(t->a, 64, 0x0a0b, 3, 2));
    cr_expect(byte_at(t->a + 69) == 0x0a && byte_at(t->a + 4) == 0x0b);
    OK(cuMemsetD2D32_v2_ptds(t->a, 64, 0x0a0b0c0d, 3, 2));
    cr_expect(byte_at(t->a + 75) == 0x0a && byte_at(t->a + 8) == 0x0d);
}
