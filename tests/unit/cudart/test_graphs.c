/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of graphs, seen through host functions.
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
