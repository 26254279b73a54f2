/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events and capture through the runtime API.
 */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "driver_fixture.h"
#include "runtime_fixture.h"

static char history[64];
static atomic_int gate;

static void note(void *arg)
{
    strncat(history, arg, sizeof history - strlen(history) - 1);
}

static void wait_gate(void *arg)
{
    while (!atomic_load(&gate))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    note(arg);
}

static cudaStream_t make_stream(unsigned flags)
{
    cudaStream_t stream;
    RT_OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static void remember(CUstream stream, CUresult status, void *arg)
{
    (void)stream;
    if (status == CRT_SUCCESS)
        note(arg);
}

Test(rt_streams, work_runs_in_order_and_queries_follow_it)
{
    cudaStream_t stream;
    cudaEvent_t start;
    cudaEvent_t end;
    float ms = -1;
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaEventCreate(&start));
    RT_OK(cudaEventCreateWithFlags(&end, 1));
    RT_OK(cudaEventRecord(start, stream));
    RT_OK(cudaLaunchHostFunc(stream, wait_gate, "a"));
    RT_OK(cudaStreamAddCallback(stream, remember, "b", 0));
    RT_OK(cudaEventRecordWithFlags(end, stream, 0));
    RT_EXPECT(600, cudaStreamQuery(stream));
    RT_EXPECT(600, cudaEventQuery(end));
    RT_EXPECT(600, cudaStreamQuery(NULL));
    atomic_store(&gate, 1);
    RT_OK(cudaEventSynchronize(end));
    cr_expect_str_eq(history, "ab");
    RT_OK(cudaEventElapsedTime(&ms, start, end));
    cr_expect(ms >= 0);
    RT_OK(cudaEventDestroy(start));
    RT_OK(cudaStreamDestroy(stream));
}

Test(rt_streams, streams_tell_what_they_are)
{
    cudaStream_t stream;
    unsigned flags = 9;
    int priority = 9;
    int device = 9;
    unsigned long long number = 0;
    RT_OK(cudaStreamCreateWithPriority(&stream, 1, -2));
    RT_OK(cudaStreamGetFlags(stream, &flags));
    RT_OK(cudaStreamGetPriority(stream, &priority));
    RT_OK(cudaStreamGetId(stream, &number));
    RT_OK(cudaStreamGetDevice(stream, &device));
    cr_expect_eq(flags, 1);
    cr_expect_eq(priority, -2);
    cr_expect_eq(device, 0);
    cr_expect_neq(number, 0);
}

Test(rt_streams, attributes_are_kept_and_copied)
{
    cudaStream_t stream = make_stream(1);
    cudaStream_t other = make_stream(0);
    CUstreamAttrValue value = {.pad = {0}};
    value.pad[0] = 3;
    RT_OK(cudaStreamSetAttribute(stream, 3, &value));
    RT_OK(cudaStreamCopyAttributes(other, stream));
    RT_OK(cudaStreamCopyAttributes_ptsz(NULL, stream));
    value.pad[0] = 0;
    RT_OK(cudaStreamGetAttribute(other, 3, &value));
    cr_expect_eq(value.pad[0], 3);
    RT_OK(cudaStreamGetAttribute_ptsz(NULL, 3, &value));
    cr_expect_eq(value.pad[0], 3);
    RT_OK(cudaStreamSetAttribute_ptsz(NULL, 3, &value));
    RT_OK(cudaStreamGetAttribute(NULL, 3, &value));
    cr_expect_eq(value.pad[0], 1);
}

Test(rt_streams, capture_gives_a_graph)
{
    cudaStream_t stream = make_stream(1);
    CUstreamCaptureStatus status;
    unsigned long long id = 0;
    CUgraph graph;
    CUgraph captured;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *edges;
    size_t count;
    CUgraphNode node;
    RT_OK(cudaStreamBeginCapture(stream, 0));
    RT_OK(cudaLaunchHostFunc(stream, note, "a"));
    RT_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    cr_expect_neq(id, 0);
    cr_expect_eq(count, 1);
    node = nodes[0];
    RT_OK(cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 1));
    RT_OK(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1, 0));
    RT_OK(cudaStreamEndCapture(stream, &captured));
    cr_expect_eq(captured, graph);
    RT_OK(cudaStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, 2));
    RT_OK(cudaStreamEndCapture(stream, &captured));
    cr_expect_eq(captured, graph);
    cr_expect_str_eq(history, "");
    OK(cuGraphDestroy(graph));
}

Test(rt_streams, per_thread_forms_capture_the_threads_own_stream)
{
    CUstreamCaptureStatus status;
    CUgraph graph;
    const CUgraphNode *nodes;
    size_t count;
    RT_OK(cudaStreamBeginCapture_ptsz(NULL, 0));
    RT_OK(cudaStreamIsCapturing_ptsz(NULL, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    RT_OK(cudaStreamGetCaptureInfo_ptsz(NULL, &status, NULL, NULL, &nodes, NULL, &count));
    RT_OK(cudaStreamUpdateCaptureDependencies_ptsz(NULL, NULL, NULL, 0, 1));
    RT_OK(cudaStreamEndCapture_ptsz(NULL, &graph));
    RT_OK(cudaStreamBeginCaptureToGraph_ptsz(NULL, graph, NULL, NULL, 0, 0));
    RT_OK(cudaStreamEndCapture_ptsz(NULL, &graph));
    OK(cuGraphDestroy(graph));
}

Test(rt_streams, what_a_capture_forbids_is_the_last_error)
{
    cudaStream_t stream = make_stream(1);
    CUstreamCaptureMode mode = 2;
    cudaEvent_t event;
    CUstreamCaptureStatus status;
    CUgraph graph;
    RT_OK(cudaEventCreateWithFlags(&event, 2));
    RT_OK(cudaStreamBeginCapture(stream, 0));
    RT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    RT_OK(cudaEventQuery(event));
    RT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    RT_EXPECT(900, cudaEventQuery(event));
    RT_EXPECT(900, cudaGetLastError());
    RT_OK(cudaStreamIsCapturing(stream, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    RT_EXPECT(901, cudaStreamEndCapture(stream, &graph));
}

Test(rt_streams, per_thread_forms_use_the_threads_own_stream)
{
    cudaEvent_t event;
    unsigned flags = 9;
    int priority = 9;
    int device = 9;
    unsigned long long number;
    unsigned long long legacy;
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaLaunchHostFunc_ptsz(NULL, note, "a"));
    RT_OK(cudaStreamAddCallback_ptsz(NULL, remember, "b", 0));
    RT_OK(cudaEventRecord_ptsz(event, NULL));
    RT_OK(cudaEventRecordWithFlags_ptsz(event, NULL, 0));
    RT_OK(cudaStreamWaitEvent_ptsz(NULL, event, 0));
    RT_OK(cudaStreamWaitEvent(NULL, event, 0));
    RT_OK(cudaStreamSynchronize_ptsz(NULL));
    RT_OK(cudaStreamSynchronize(NULL));
    RT_OK(cudaStreamQuery_ptsz(NULL));
    cr_expect_str_eq(history, "ab");
    RT_OK(cudaStreamGetFlags_ptsz(NULL, &flags));
    RT_OK(cudaStreamGetPriority_ptsz(NULL, &priority));
    RT_OK(cudaStreamGetDevice_ptsz(NULL, &device));
    RT_OK(cudaStreamGetId_ptsz(NULL, &number));
    RT_OK(cudaStreamGetId(NULL, &legacy));
    cr_expect_neq(number, legacy);
    cr_expect_eq(device, 0);
}
