/* SPDX-License-Identifier: Apache-2.0
 *
 * Alloc and free nodes of graphs, and what their memory amounts to.
 */
#include "cudart/core/memory/graph_blocks.h"
#include "driver_fixture.h"

#define BYTES ((size_t)1 << 20)

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = 1, .location = {.type = 1, .id = 0}}, .bytesize = bytes};
}

static cuuint64_t attribute(int number)
{
    cuuint64_t bytes = 0;
    OK(cuDeviceGetGraphMemAttribute(0, number, &bytes));
    return bytes;
}

Test(graph_memory, sequential_allocations_share_an_address, .init = make_context)
{
    CUgraph graph;
    CUgraphNode nodes[4];
    CUgraphExec exec;
    CUstream stream;
    OK(cuStreamCreate(&stream, 1));
    OK(cuGraphCreate(&graph, 0));
    CUDA_MEM_ALLOC_NODE_PARAMS a = alloc_params(BYTES);
    CUDA_MEM_ALLOC_NODE_PARAMS b = alloc_params(BYTES);
    OK(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &a));
    OK(cuGraphAddMemFreeNode(&nodes[1], graph, &nodes[0], 1, a.dptr));
    OK(cuGraphAddMemAllocNode(&nodes[2], graph, &nodes[1], 1, &b));
    OK(cuGraphAddMemFreeNode(&nodes[3], graph, &nodes[2], 1, b.dptr));
    cr_expect_eq(a.dptr, b.dptr);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED), BYTES);
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED_HIGH), BYTES);
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_RESERVED), BYTES);
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED), 0);
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_RESERVED), 0);
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_RESERVED_HIGH), BYTES);
    cuuint64_t zero = 0;
    OK(cuDeviceSetGraphMemAttribute(0, CRT_GRAPH_MEMORY_RESERVED_HIGH, &zero));
    OK(cuDeviceSetGraphMemAttribute(0, CRT_GRAPH_MEMORY_USED_HIGH, &zero));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_RESERVED_HIGH), 0);
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED_HIGH), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static CUgraph graph_of_alloc(CUdeviceptr *pointer)
{
    CUgraph graph;
    CUgraphNode nodes[2];
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(BYTES);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &params));
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = params.dptr, .value = 7, .elementSize = 4, .width = BYTES / 4, .height = 1};
    OK(cuGraphAddMemsetNode(&nodes[1], graph, nodes, 1, &fill, NULL));
    CUDA_MEM_ALLOC_NODE_PARAMS got;
    OK(cuGraphMemAllocNodeGetParams(nodes[0], &got));
    cr_expect_eq(got.dptr, params.dptr);
    cr_expect_eq(got.bytesize, BYTES);
    *pointer = params.dptr;
    return graph;
}

static unsigned last_number(CUdeviceptr pointer)
{
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, pointer + BYTES - 4, 4));
    return value;
}

Test(graph_memory, memory_left_allocated_is_the_programs_to_free, .init = make_context)
{
    CUdeviceptr pointer;
    CUgraphExec exec;
    CUgraph graph = graph_of_alloc(&pointer);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer)); /* not allocated yet */
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_eq(last_number(pointer), 7);
    EXPECT(CRT_INVALID_VALUE, cuGraphLaunch(exec, NULL)); /* still allocated */
    OK(cuMemFree_v2(pointer));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemFreeAsync(pointer, NULL));
    OK(cuGraphLaunch(exec, NULL));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED), BYTES);
    /* It outlives the graph. */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    cr_expect_eq(last_number(pointer), 7);
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED), BYTES);
    OK(cuMemFree_v2(pointer));
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(attribute(CRT_GRAPH_MEMORY_USED), 0);
}

Test(graph_memory, a_graph_can_free_before_it_is_launched_again, .init = make_context)
{
    CUdeviceptr pointer;
    CUgraphExec exec;
    CUgraph graph = graph_of_alloc(&pointer);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 1));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_eq(last_number(pointer), 7);
    OK(cuMemFree_v2(pointer));
}

Test(graph_memory, another_graph_may_free_it, .init = make_context)
{
    CUdeviceptr pointer;
    CUdeviceptr got;
    CUgraphExec alloc;
    CUgraphExec release;
    CUgraphNode node;
    CUgraph freeing;
    CUgraph graph = graph_of_alloc(&pointer);
    OK(cuGraphCreate(&freeing, 0));
    OK(cuGraphAddMemFreeNode(&node, freeing, NULL, 0, pointer));
    OK(cuGraphMemFreeNodeGetParams(node, &got));
    cr_expect_eq(got, pointer);
    OK(cuGraphInstantiateWithFlags(&alloc, graph, 0));
    OK(cuGraphInstantiateWithFlags(&release, freeing, 0));
    EXPECT(CRT_INVALID_VALUE, cuGraphLaunch(release, NULL));
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(alloc, NULL));
        OK(cuGraphLaunch(release, NULL));
    }
    OK(cuCtxSynchronize());
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer));
}

Test(graph_memory, graphs_with_memory_nodes_keep_their_shape, .init = make_context)
{
    CUdeviceptr pointer;
    CUgraphExec exec;
    CUgraphExec second;
    CUgraph clone;
    CUgraph around;
    CUgraphNode nodes[2];
    size_t count = 2;
    CUgraph graph = graph_of_alloc(&pointer);
    OK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphClone(&clone, graph));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphDestroyNode(nodes[1]));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], 1));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&second, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphCreate(&around, 0));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphAddChildGraphNode(nodes, around, NULL, 0, graph));
    CUgraphNodeParams moved = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {graph, 1}};
    OK(cuGraphAddNode(nodes, around, NULL, 0, &moved));
    OK(cuGraphInstantiateWithFlags(&exec, around, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    cr_expect_eq(last_number(pointer), 7);
    OK(cuMemFree_v2(pointer));
}

Test(graph_memory, allocations_of_a_capture_become_nodes, .init = make_context)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr pointer;
    CUgraphNode nodes[4];
    size_t count = 4;
    unsigned host = 0;
    int types[4];
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(cuMemAllocAsync(&pointer, BYTES, stream));
    OK(cuMemsetD32Async(pointer, 3, BYTES / 4, stream));
    OK(cuMemcpyDtoHAsync_v2(&host, pointer, 4, stream));
    OK(cuMemFreeAsync(pointer, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    cr_assert_eq(count, 4);
    for (int i = 0; i < 4; i++)
        OK(cuGraphNodeGetType(nodes[i], &types[i]));
    cr_expect_eq(types[0], CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    cr_expect_eq(types[3], CU_GRAPH_NODE_TYPE_MEM_FREE);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(host, 3);
}
