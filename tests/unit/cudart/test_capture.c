/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture: what becomes of the calls of capturing streams, fork and join.
 */
#include "stream_fixture.h"

static CUgraph end_capture(CUstream stream)
{
    CUgraph graph;
    OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void expect_capture_fails(CUresult wanted, CUstream stream)
{
    CUgraph graph = (CUgraph)(uintptr_t)1;
    EXPECT(wanted, cuStreamEndCapture(stream, &graph));
    cr_expect_null(graph);
}

static void launch_and_wait(CUgraph graph)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
}

static size_t count_nodes(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static void expect_nodes_and_destroy(size_t count, CUgraph graph)
{
    cr_expect_eq(count_nodes(graph), count);
    OK(cuGraphDestroy(graph));
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

Test(capture, captured_work_runs_when_the_graph_is_launched, .init = make_context)
{
    CUstream stream = make_stream(1);
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuLaunchHostFunc(stream, note, "a"));
    OK(cuLaunchHostFunc(stream, note, "b"));
    CUgraph graph = end_capture(stream);
    cr_expect_str_eq(history, "");
    launch_and_wait(graph);
    launch_and_wait(graph);
    cr_expect_str_eq(history, "abab");
    OK(cuGraphDestroy(graph));
}

Test(capture, fork_and_join_draw_other_streams_in, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(0);
    CUevent fork = make_event(2);
    CUevent join = make_event(2);
    OK(cuStreamBeginCapture(first));
    OK(cuLaunchHostFunc(first, note, "a"));
    OK(cuEventRecord(fork, first));
    OK(cuStreamWaitEvent(second, fork, 0));
    cr_expect_eq(status_of(second), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuLaunchHostFunc(second, note, "b"));
    OK(cuEventRecord(join, second));
    OK(cuStreamWaitEvent(first, join, 0));
    OK(cuLaunchHostFunc(first, note, "c"));
    CUgraph graph = end_capture(first);
    cr_expect_eq(status_of(second), CU_STREAM_CAPTURE_STATUS_NONE);
    cr_expect_eq(count_nodes(graph), 3);
    launch_and_wait(graph);
    OK(cuGraphDestroy(graph));
    cr_expect_str_eq(history, "abc");
    OK(cuLaunchHostFunc(second, note, "d"));
    OK(cuStreamSynchronize(second));
    cr_expect_str_eq(history, "abcd");
}

Test(capture, a_fork_that_is_not_joined_gives_no_graph, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUevent fork = make_event(2);
    OK(cuStreamBeginCapture(first));
    OK(cuEventRecord(fork, first));
    OK(cuStreamWaitEvent(second, fork, 0));
    OK(cuLaunchHostFunc(second, note, "b"));
    expect_capture_fails(CRT_STREAM_CAPTURE_UNJOINED, first);
    EXPECT(CRT_SUCCESS, cuStreamSynchronize(second));
}

Test(capture, a_stream_that_was_joined_may_be_destroyed, .init = make_context)
{
    CUstream first = make_stream(1);
    CUevent fork = make_event(2);
    CUevent join = make_event(2);
    for (int is_joined = 0; is_joined < 2; is_joined++) {
        CUstream second = make_stream(1);
        OK(cuStreamBeginCapture(first));
        OK(cuEventRecord(fork, first));
        OK(cuStreamWaitEvent(second, fork, 0));
        OK(cuLaunchHostFunc(second, note, "b"));
        OK(cuEventRecord(join, second));
        if (is_joined)
            OK(cuStreamWaitEvent(first, join, 0));
        OK(cuStreamDestroy_v2(second));
        if (is_joined)
            expect_nodes_and_destroy(1, end_capture(first));
        else
            expect_capture_fails(CRT_STREAM_CAPTURE_UNJOINED, first);
    }
}

/* NVIDIA's Warp joins all that is left by name, before it ends a capture. */
Test(capture, what_a_destroyed_stream_has_captured_may_be_joined_later, .init = make_context)
{
    CUstream first = make_stream(1);
    CUevent fork = make_event(2);
    CUevent join = make_event(2);
    for (int by_name = 0; by_name < 2; by_name++) {
        CUstream second = make_stream(1);
        CUgraph graph;
        CUgraphNode node;
        size_t count = 1;
        OK(cuStreamBeginCapture(first));
        OK(cuEventRecord(fork, first));
        OK(cuStreamWaitEvent(second, fork, 0));
        OK(cuLaunchHostFunc(second, note, "b"));
        OK(cuEventRecord(join, second));
        OK(cuStreamDestroy_v2(second));
        CUstreamCaptureStatus status;
        OK(cuStreamGetCaptureInfo_v2(first, &status, NULL, &graph, NULL, NULL));
        OK(cuGraphGetNodes(graph, &node, &count));
        if (by_name)
            OK(cuStreamUpdateCaptureDependencies(first, &node, 1, 0));
        else
            OK(cuStreamWaitEvent(first, join, 0));
        expect_nodes_and_destroy(1, end_capture(first));
    }
}

Test(capture, destroying_the_stream_where_it_began_ends_a_capture, .init = make_context)
{
    CUstream first = make_stream(0);
    CUstream second = make_stream(1);
    CUevent fork = make_event(2);
    OK(cuStreamBeginCapture(first));
    OK(cuEventRecord(fork, first));
    OK(cuStreamWaitEvent(second, fork, 0));
    OK(cuStreamDestroy(first));
    cr_expect_eq(status_of(second), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(CRT_SUCCESS, cuStreamSynchronize(second));
    EXPECT(CRT_SUCCESS, cuStreamSynchronize(NULL));
}

Test(capture, only_the_stream_where_it_began_ends_a_capture, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUevent fork = make_event(2);
    OK(cuStreamBeginCapture(first));
    OK(cuEventRecord(fork, first));
    OK(cuStreamWaitEvent(second, fork, 0));
    expect_capture_fails(CRT_STREAM_CAPTURE_UNMATCHED, second);
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, first);
    expect_capture_fails(CRT_ILLEGAL_STATE, first);
}

Test(capture, two_captures_do_not_merge, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUevent event = make_event(2);
    OK(cuStreamBeginCapture(first));
    OK(cuStreamBeginCapture(second));
    OK(cuEventRecord(event, first));
    EXPECT(CRT_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(second, event, 0));
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, first);
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, second);
}

Test(capture, an_event_from_outside_cannot_be_waited_for, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUevent event = make_event(2);
    OK(cuStreamBeginCapture(stream));
    OK(cuStreamWaitEvent(stream, event, 0)); /* stands for nothing yet */
    OK(cuGraphDestroy(end_capture(stream)));
    OK(cuEventRecord(event, stream));
    OK(cuStreamBeginCapture(stream));
    EXPECT(CRT_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream, event, 0));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuLaunchHostFunc(stream, note, "a"));
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, stream);
}

Test(capture, a_captured_event_cannot_be_asked, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUevent event = make_event(0);
    float ms;
    OK(cuStreamBeginCapture(stream));
    OK(cuEventRecord(event, stream));
    EXPECT(CRT_CAPTURED_EVENT, cuEventQuery(event));
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, stream);
    EXPECT(CRT_CAPTURED_EVENT, cuEventSynchronize(event));
    EXPECT(CRT_CAPTURED_EVENT, cuEventElapsedTime(&ms, event, event));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventElapsedTime(&ms, event, event));
}

Test(capture, external_events_become_nodes, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUstream other = make_stream(1);
    CUevent start = make_event(2);
    CUevent end = make_event(2);
    OK(cuEventRecord(start, other));
    OK(cuStreamBeginCapture(stream));
    OK(cuStreamWaitEvent(stream, start, 1));
    OK(cuLaunchHostFunc(stream, note, "a"));
    OK(cuEventRecordWithFlags(end, stream, 1));
    CUgraph graph = end_capture(stream);
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    expect_nodes_and_destroy(3, graph);
    OK(cuLaunchHostFunc(other, wait_gate, "x"));
    OK(cuEventRecord(start, other));
    OK(cuGraphLaunch(exec, stream));
    EXPECT(CRT_NOT_READY, cuEventQuery(end));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(end));
    cr_expect_str_eq(history, "xa");
    OK(cuGraphExecDestroy(exec));
    EXPECT(CRT_INVALID_VALUE, cuEventRecordWithFlags(end, stream, 1));
    EXPECT(CRT_INVALID_VALUE, cuStreamWaitEvent(stream, end, 1));
}

Test(capture, work_can_be_captured_into_a_graph_of_the_program, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUgraph graph;
    CUgraph captured;
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {.fn = note, .userData = "a"};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    OK(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, 0));
    OK(cuLaunchHostFunc(stream, note, "b"));
    EXPECT(CRT_INVALID_VALUE,
           cuStreamBeginCaptureToGraph(make_stream(1), graph, &node, NULL, 1, 0));
    OK(cuStreamEndCapture(stream, &captured));
    cr_expect_eq(captured, graph);
    cr_expect_eq(count_nodes(graph), 2);
    launch_and_wait(graph);
    cr_expect_str_eq(history, "ab");
    OK(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 0));
    OK(cuStreamEndCapture(stream, NULL));

    /* A capture that fails leaves the graph to the program. */
    OK(cuStreamBeginCaptureToGraph_ptsz(NULL, graph, NULL, NULL, 0, 0));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery_ptsz(NULL));
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, CU_STREAM_PER_THREAD);
    cr_expect_eq(count_nodes(graph), 2);
    OK(cuGraphDestroy(graph));
}

Test(capture, dependencies_of_the_next_node_can_be_read_and_changed, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    cuuint64_t other_id = 0;
    CUgraph graph;
    const CUgraphNode *deps;
    const CUgraphEdgeData *edges;
    size_t count = 9;
    CUgraphNode empty;
    OK(cuStreamGetCaptureInfo(stream, &status, &id));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamBeginCapture(stream));
    OK(cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &deps, &count));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    cr_expect_eq(count, 0);
    OK(cuLaunchHostFunc(stream, note, "a"));
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cuStreamUpdateCaptureDependencies(stream, &empty, 1, 0));
    OK(cuStreamGetCaptureInfo_v3(stream, &status, &other_id, NULL, &deps, &edges, &count));
    cr_expect_eq(other_id, id);
    cr_expect_eq(count, 2);
    cr_expect_eq(deps[1], empty);
    cr_expect_eq(edges[1].type, 0);
    OK(cuStreamUpdateCaptureDependencies_v2(stream, &empty, NULL, 1, 1));
    OK(cuStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &deps, &count));
    cr_expect_eq(count, 1);
    cr_expect_eq(deps[0], empty);
    OK(cuLaunchHostFunc(stream, note, "b"));
    expect_nodes_and_destroy(3, end_capture(stream));
}

Test(capture, per_thread_forms_mean_the_threads_own_stream, .init = make_context)
{
    CUstreamCaptureStatus status;
    CUgraph graph;
    const CUgraphNode *deps;
    const CUgraphEdgeData *edges;
    size_t count;
    cuuint64_t id;
    CUgraphNode node;
    OK(cuStreamBeginCapture_v2_ptsz(NULL, 2));
    OK(cuStreamIsCapturing_ptsz(NULL, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamGetCaptureInfo_ptsz(NULL, &status, &id));
    OK(cuStreamGetCaptureInfo_v2_ptsz(NULL, &status, &id, &graph, &deps, &count));
    OK(cuStreamGetCaptureInfo_v3_ptsz(NULL, &status, &id, &graph, &deps, &edges, &count));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuStreamUpdateCaptureDependencies_ptsz(NULL, &node, 1, 1));
    OK(cuStreamUpdateCaptureDependencies_v2_ptsz(NULL, &node, NULL, 1, 1));
    OK(cuStreamEndCapture_ptsz(NULL, &graph));
    expect_nodes_and_destroy(1, graph);
    OK(cuStreamBeginCapture_ptsz(NULL));
    OK(cuStreamEndCapture_ptsz(NULL, &graph));
    expect_nodes_and_destroy(0, graph);
}

Test(capture, an_invalid_capture_refuses_everything_until_its_end, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUevent event = make_event(2);
    CUgraphNode node = NULL;
    OK(cuStreamBeginCapture(stream));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    cr_expect_eq(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuLaunchHostFunc(stream, note, "a"));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuEventRecord(event, stream));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamQuery(stream));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamUpdateCaptureDependencies(stream, &node, 0, 0));
    EXPECT(CRT_ILLEGAL_STATE, cuStreamBeginCapture(stream));
    expect_capture_fails(CRT_STREAM_CAPTURE_INVALIDATED, stream);
    OK(cuStreamBeginCapture(stream));
    OK(cuGraphDestroy(end_capture(stream)));
}
