/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs and stream capture, seen through host functions and memory.
 */
#include <string.h>

#include "driver_fixture.h"

static char history[64];

static void note(void *arg)
{
    strncat(history, arg, sizeof history - strlen(history) - 1);
}

static CUgraphNode add_host(CUgraph graph, const CUgraphNode *deps, size_t count, char *text)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {.fn = note, .userData = text};
    OK(cuGraphAddHostNode(&node, graph, deps, count, &params));
    return node;
}

static void launch_and_wait(CUgraph graph)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
}

Test(graphs, nodes_run_after_those_they_depend_on, .init = make_context)
{
    CUgraph graph;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode last = add_host(graph, NULL, 0, "c");
    CUgraphNode middle = add_host(graph, NULL, 0, "b");
    CUgraphNode first = add_host(graph, NULL, 0, "a");
    OK(cuGraphAddDependencies_v2(graph, &middle, &last, NULL, 1));
    OK(cuGraphAddDependencies_v2(graph, &first, &middle, NULL, 1));
    launch_and_wait(graph);
    cr_expect_str_eq(history, "abc");
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    cr_expect_eq(count, 3);
    CUgraphNode roots[2];
    count = 2;
    OK(cuGraphGetRootNodes(graph, roots, &count));
    cr_expect_eq(count, 1);
    cr_expect_eq(roots[0], first);
    OK(cuGraphGetEdges(graph, NULL, NULL, &count));
    cr_expect_eq(count, 2);
    OK(cuGraphDestroy(graph));
    EXPECT(CRT_INVALID_VALUE, cuGraphDestroy(graph));
}

Test(graphs, a_cycle_cannot_be_instantiated, .init = make_context)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode a = add_host(graph, NULL, 0, "a");
    CUgraphNode b = add_host(graph, &a, 1, "b");
    OK(cuGraphAddDependencies(graph, &b, &a, 1));
    EXPECT(CRT_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(CRT_INVALID_VALUE, cuGraphAddDependencies(graph, &b, &b, 1));
    OK(cuGraphRemoveDependencies(graph, &b, &a, 1));
    launch_and_wait(graph);
    cr_expect_str_eq(history, "ab");
}

Test(graphs, an_executable_graph_outlives_its_graph, .init = make_context)
{
    CUgraph graph;
    CUgraph child;
    CUgraphNode node;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&child, 0));
    add_host(child, NULL, 0, "x");
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(cuGraphDestroy(child));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_str_eq(history, "xx");
    OK(cuGraphExecDestroy(exec));
}

Test(graphs, parameters_of_an_executable_node_can_be_changed, .init = make_context)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_host(graph, NULL, 0, "a");
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_HOST_NODE_PARAMS params = {.fn = note, .userData = "z"};
    OK(cuGraphExecHostNodeSetParams(exec, node, &params));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_str_eq(history, "z");
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_str_eq(history, "za");
    add_host(graph, NULL, 0, "b");
    EXPECT(CRT_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, graph, &info));
    cr_expect_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

Test(capture, what_is_captured_runs_only_when_launched, .init = make_context)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    unsigned value = 1;
    CUstreamCaptureStatus status;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&memory, 8));
    OK(cuMemsetD32_v2(memory, 5, 2));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuStreamIsCapturing(stream, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(memory, 9, 1, stream));
    OK(cuMemcpyDtoDAsync_v2(memory + 4, memory, 4, stream));
    OK(cuLaunchHostFunc(stream, note, "h"));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuStreamIsCapturing(stream, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuMemcpyDtoH_v2(&value, memory + 4, 4));
    cr_expect_eq(value, 5);
    cr_expect_str_eq(history, "");
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, memory + 4, 4));
    cr_expect_eq(value, 9);
    cr_expect_str_eq(history, "h");
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

Test(capture, a_stream_that_is_destroyed_takes_its_capture_with_it, .init = make_context)
{
    CUstream stream;
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    size_t count = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuLaunchHostFunc(stream, note, "h"));
    OK(cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, NULL, NULL));
    OK(cuGraphGetNodes(graph, NULL, &count));
    cr_expect_eq(count, 1);
    OK(cuStreamDestroy_v2(stream));
    EXPECT(CRT_INVALID_VALUE, cuGraphGetNodes(graph, NULL, &count));
    cr_expect_str_eq(history, "");
}

Test(capture, an_event_draws_another_stream_in_and_joins_it, .init = make_context)
{
    CUstream first;
    CUstream second;
    CUevent fork;
    CUevent join;
    CUgraph graph;
    OK(cuStreamCreate(&first, 1));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&fork, 2));
    OK(cuEventCreate(&join, 2));
    OK(cuStreamBeginCapture_v2(first, 0));
    OK(cuLaunchHostFunc(first, note, "a"));
    OK(cuEventRecord(fork, first));
    EXPECT(CRT_CAPTURED_EVENT, cuEventQuery(fork));
    OK(cuStreamWaitEvent(second, fork, 0));
    OK(cuLaunchHostFunc(second, note, "b"));
    OK(cuEventRecord(join, second));
    OK(cuStreamWaitEvent(first, join, 0));
    OK(cuLaunchHostFunc(first, note, "c"));
    OK(cuStreamEndCapture(first, &graph));
    size_t edges;
    OK(cuGraphGetEdges(graph, NULL, NULL, &edges));
    cr_expect_eq(edges, 3); /* a-b, a-c, b-c */
    launch_and_wait(graph);
    cr_expect_str_eq(history, "abc");
    EXPECT(CRT_SUCCESS, cuStreamQuery(second));
}

Test(capture, an_unjoined_stream_spoils_the_capture, .init = make_context)
{
    CUstream first;
    CUstream second;
    CUevent fork;
    CUgraph graph;
    OK(cuStreamCreate(&first, 1));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&fork, 2));
    OK(cuStreamBeginCapture_v2(first, 0));
    OK(cuEventRecord(fork, first));
    OK(cuStreamWaitEvent(second, fork, 0));
    OK(cuLaunchHostFunc(second, note, "b"));
    EXPECT(CRT_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(first, &graph));
    cr_expect_null(graph);
    EXPECT(CRT_SUCCESS, cuStreamQuery(second));
}

Test(capture, waiting_for_a_capturing_stream_invalidates_the_capture, .init = make_context)
{
    CUstream stream;
    CUgraph graph;
    OK(cuStreamCreate(&stream, 1));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, 0));
    EXPECT(CRT_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture_v2(stream, 0));
    EXPECT(CRT_ILLEGAL_STATE, cuStreamBeginCapture_v2(stream, 0));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    cr_expect_null(graph);
    EXPECT(CRT_SUCCESS, cuStreamSynchronize(stream));
}
