/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of graphs: what they are told they give back, one by one and through the struct for all
 * kinds; edges, user objects, the DOT output.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry store(.param .u64 p, .param .u32 n)\n{\n"
                          " .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                          " ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
                          " st.global.u32 [%rd1], %r1; ret;\n}\n";

static CUfunction kernel;
static CUdeviceptr memory; /* 1024 bytes */
static CUgraph graph;

static void setup(void)
{
    CUmodule module;
    make_context();
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "store"));
    OK(cuMemAlloc_v2(&memory, 1024));
    OK(cuMemsetD8_v2(memory, 0, 1024));
    OK(cuGraphCreate(&graph, 0));
}

static unsigned number_at(int index)
{
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, memory + (CUdeviceptr)index * 4, 4));
    return value;
}

static CUgraphExec run(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    return exec;
}

static void run_again(CUgraphExec exec)
{
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
}

Test(graph_nodes, kernel_nodes_in_both_versions, .init = setup)
{
    CUgraphNode node;
    unsigned n = 3;
    void *values[] = {&memory, &n};
    CUDA_KERNEL_NODE_PARAMS_v1 params = {.func = kernel,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = values};
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    n = 4; /* was copied */
    CUDA_KERNEL_NODE_PARAMS_v1 got;
    CUDA_KERNEL_NODE_PARAMS wide;
    OK(cuGraphKernelNodeGetParams(node, &got));
    cr_expect_eq(got.func, kernel);
    cr_expect_eq(*(unsigned *)got.kernelParams[1], 3);
    OK(cuGraphKernelNodeGetParams_v2(node, &wide));
    cr_expect_eq(wide.kern, kernel);
    CUgraphExec exec = run();
    cr_expect_eq(number_at(0), 3);
    OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
    run_again(exec);
    cr_expect_eq(number_at(0), 4);
    n = 5;
    OK(cuGraphKernelNodeSetParams(node, &params));
    run_again(exec);
    cr_expect_eq(number_at(0), 4);
    run();
    cr_expect_eq(number_at(0), 5);
    /* The buffer form. */
    struct {
        CUdeviceptr p;
        unsigned n;
    } packed = {memory, 6};
    size_t bytes = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &bytes, NULL};
    wide = (CUDA_KERNEL_NODE_PARAMS){.kern = kernel,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .extra = extra};
    OK(cuGraphKernelNodeSetParams_v2(node, &wide));
    run();
    cr_expect_eq(number_at(0), 6);
}

Test(graph_nodes, attributes_of_kernel_nodes_are_kept_and_copied, .init = setup)
{
    CUgraphNode nodes[2];
    unsigned n = 1;
    void *values[] = {&memory, &n};
    CUDA_KERNEL_NODE_PARAMS params = {.func = kernel,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = values};
    OK(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &params));
    OK(cuGraphAddKernelNode_v2(&nodes[1], graph, NULL, 0, &params));
    CUlaunchAttributeValue value = {.cooperative = 1};
    CUlaunchAttributeValue got;
    OK(cuGraphKernelNodeGetAttribute(nodes[0], 2, &got));
    cr_expect_eq(got.cooperative, 0);
    OK(cuGraphKernelNodeSetAttribute(nodes[0], 2, &value));
    value = (CUlaunchAttributeValue){.priority = -3};
    OK(cuGraphKernelNodeSetAttribute(nodes[0], 8, &value));
    OK(cuGraphKernelNodeCopyAttributes(nodes[1], nodes[0]));
    OK(cuGraphKernelNodeGetAttribute(nodes[1], 8, &got));
    cr_expect_eq(got.priority, -3);
    OK(cuGraphKernelNodeGetAttribute(nodes[1], 2, &got));
    cr_expect_eq(got.cooperative, 1);
    OK(cuGraphKernelNodeSetParams_v2(nodes[1], &params)); /* attributes stay */
    OK(cuGraphKernelNodeGetAttribute(nodes[1], 2, &got));
    cr_expect_eq(got.cooperative, 1);
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 8)); /* priorities of nodes */
    run_again(exec);
    cr_expect_eq(number_at(0), 1);
    cuuint64_t flags;
    OK(cuGraphExecGetFlags(exec, &flags));
    cr_expect_eq(flags, 8);
}

Test(graph_nodes, copies_and_fills, .init = setup)
{
    CUgraphNode fill;
    CUgraphNode copy;
    static unsigned host[4];
    CUDA_MEMSET_NODE_PARAMS fill_params = {
        .dst = memory, .pitch = 64, .value = 0xabcd, .elementSize = 2, .width = 2, .height = 3};
    OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params, NULL));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = memory,
                         .srcPitch = 64,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = host,
                         .dstPitch = 4,
                         .WidthInBytes = 4,
                         .Height = 3,
                         .Depth = 1};
    OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &box, NULL));
    CUgraphExec exec = run();
    cr_expect_eq(host[0], 0xabcdabcd);
    cr_expect_eq(host[2], 0xabcdabcd);
    cr_expect_eq(number_at(1), 0);
    CUDA_MEMSET_NODE_PARAMS fill_got;
    CUDA_MEMCPY3D box_got;
    OK(cuGraphMemsetNodeGetParams(fill, &fill_got));
    cr_expect_eq(memcmp(&fill_got, &fill_params, sizeof fill_got), 0);
    OK(cuGraphMemcpyNodeGetParams(copy, &box_got));
    cr_expect_eq(box_got.dstHost, host);
    cr_expect_eq(box_got.srcDevice, memory);
    cr_expect_eq(box_got.Height, 3);
    cr_expect_eq(box_got.srcPitch, 64);
    fill_params.value = 1;
    OK(cuGraphExecMemsetNodeSetParams(exec, fill, &fill_params, NULL));
    run_again(exec);
    cr_expect_eq(host[1], 0x00010001);
    /* Only rows can be changed in executable graphs. */
    EXPECT(CRT_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(exec, copy, &box, NULL));
    box.Height = 1;
    OK(cuGraphMemcpyNodeSetParams(copy, &box));
    fill_params.value = 7;
    OK(cuGraphMemsetNodeSetParams(fill, &fill_params));
    exec = run();
    cr_expect_eq(host[0], 0x00070007);
    cr_expect_eq(host[1], 0x00010001);
    box.dstHost = host + 3;
    OK(cuGraphExecMemcpyNodeSetParams(exec, copy, &box, NULL));
    run_again(exec);
    cr_expect_eq(host[3], 0x00070007);
}

static int calls;

static void call(void *arg)
{
    calls += *(int *)arg;
}

Test(graph_nodes, host_functions, .init = setup)
{
    static int one = 1;
    static int ten = 10;
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {.fn = call, .userData = &one};
    CUDA_HOST_NODE_PARAMS got;
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    OK(cuGraphHostNodeGetParams(node, &got));
    cr_expect_eq(got.userData, &one);
    CUgraphExec exec = run();
    params.userData = &ten;
    OK(cuGraphExecHostNodeSetParams(exec, node, &params));
    run_again(exec);
    OK(cuGraphHostNodeSetParams(node, &params));
    run();
    cr_expect_eq(calls, 21);
}

/* ---- any kind ---- */

static CUgraphNodeParams kernel_params(void **values)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_KERNEL,
                               .kernel = {.func = kernel,
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = values}};
}

Test(graph_nodes, nodes_of_any_kind_are_made_and_changed_by_one_struct, .init = setup)
{
    CUgraphNode node;
    CUgraphNode first;
    CUevent event;
    CUgraph child;
    unsigned n = 1;
    void *values[] = {&memory, &n};
    CUgraphNodeParams params = kernel_params(values);
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddNode(&first, graph, NULL, 0, &params));
    CUgraphNodeParams fill = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .memset = {.dst = memory + 4, .value = 2, .elementSize = 4, .width = 1, .height = 1}};
    OK(cuGraphAddNode_v2(&node, graph, &first, NULL, 1, &fill));
    CUgraphNodeParams copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    copy.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                             .srcDevice = memory + 4,
                                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                             .dstDevice = memory + 8,
                                             .WidthInBytes = 4,
                                             .Height = 1,
                                             .Depth = 1};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &copy));
    CUgraphNode copy_node = node;
    int three = 3;
    CUgraphNodeParams host = {.type = CU_GRAPH_NODE_TYPE_HOST,
                              .host = {.fn = call, .userData = &three}};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &host));
    CUgraphNodeParams record = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = {event}};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &record));
    CUgraphNodeParams wait = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = {event}};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &wait));
    CUgraphNodeParams empty = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &empty));
    CUgraphNodeParams inner = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {child, 1}};
    OK(cuGraphAddNode_v2(&node, graph, &node, NULL, 1, &inner));
    EXPECT(CRT_INVALID_VALUE, cuGraphDestroy(child)); /* it is the node's now */
    calls = 0;
    CUgraphExec exec = run();
    cr_expect_eq(number_at(2), 2);
    cr_expect_eq(calls, 3);
    n = 50;
    OK(cuGraphExecNodeSetParams(exec, first, &params));
    copy.memcpy.copyParams.dstDevice = memory + 12;
    OK(cuGraphExecNodeSetParams(exec, copy_node, &copy));
    EXPECT(CRT_INVALID_VALUE, cuGraphExecNodeSetParams(exec, copy_node, &params));
    EXPECT(CRT_NOT_SUPPORTED, cuGraphNodeSetParams(node, &inner));
    run_again(exec);
    cr_expect_eq(number_at(0), 50);
    cr_expect_eq(number_at(3), 2);
    n = 60;
    OK(cuGraphNodeSetParams(first, &params));
    run();
    cr_expect_eq(number_at(0), 60);
    empty.reserved2 = 1;
    EXPECT(CRT_INVALID_VALUE, cuGraphAddNode(&node, graph, NULL, 0, &empty));
    CUgraphNodeParams semaphore = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    EXPECT(CRT_NOT_SUPPORTED, cuGraphAddNode(&node, graph, NULL, 0, &semaphore));
}

/* ---- structure ---- */

Test(graph_nodes, edges_have_data_that_is_not_lost_unnoticed, .init = setup)
{
    CUgraphNode nodes[3];
    CUgraphNode from[2];
    CUgraphNode to[2];
    CUgraphEdgeData data[2];
    size_t count = 2;
    unsigned n = 1;
    void *values[] = {&memory, &n};
    CUgraphNodeParams params = kernel_params(values);
    CUgraphEdgeData programmatic = {.from_port = 1, .type = 1};
    OK(cuGraphAddNode(&nodes[0], graph, NULL, 0, &params));
    OK(cuGraphAddNode_v2(&nodes[1], graph, nodes, &programmatic, 1, &params));
    OK(cuGraphAddEmptyNode(&nodes[2], graph, NULL, 0));
    OK(cuGraphAddDependencies_v2(graph, &nodes[0], &nodes[2], &programmatic, 1));
    EXPECT(CRT_LOSSY_QUERY, cuGraphGetEdges(graph, from, to, &count));
    count = 2;
    OK(cuGraphGetEdges_v2(graph, from, to, data, &count));
    cr_expect_eq(count, 2);
    cr_expect_eq(data[0].from_port, 1);
    cr_expect_eq(data[0].type, 1);
    count = 2;
    EXPECT(CRT_LOSSY_QUERY, cuGraphNodeGetDependencies(nodes[1], from, &count));
    count = 2;
    OK(cuGraphNodeGetDependencies_v2(nodes[1], from, data, &count));
    cr_expect_eq(from[0], nodes[0]);
    count = 2;
    EXPECT(CRT_LOSSY_QUERY, cuGraphNodeGetDependentNodes(nodes[0], to, &count));
    count = 2;
    OK(cuGraphNodeGetDependentNodes_v2(nodes[0], to, data, &count));
    cr_expect_eq(count, 2);
    EXPECT(CRT_INVALID_VALUE, cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], 1));
    OK(cuGraphRemoveDependencies_v2(graph, &nodes[0], &nodes[1], &programmatic, 1));
    EXPECT(CRT_INVALID_VALUE,
           cuGraphAddDependencies_v2(graph, &nodes[2], &nodes[1], &programmatic, 1));
    run();
}

Test(graph_nodes, clones_know_what_their_nodes_were_made_from, .init = setup)
{
    CUgraph clone;
    CUgraphNode node;
    CUgraphNode second;
    CUgraphNode found;
    size_t count = 1;
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&second, graph, &node, 1));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, second, clone));
    OK(cuGraphNodeGetDependencies(found, &found, &count));
    CUgraphNode copy;
    OK(cuGraphNodeFindInClone(&copy, node, clone));
    cr_expect_eq(found, copy);
    OK(cuGraphDestroyNode(node));
    EXPECT(CRT_INVALID_VALUE, cuGraphDestroyNode(node));
    OK(cuGraphGetNodes(graph, NULL, &count));
    cr_expect_eq(count, 1);
    OK(cuGraphNodeGetDependencies(second, NULL, &count));
    cr_expect_eq(count, 0);
}

static atomic_int destroyed;

static void note_end(void *pointer)
{
    atomic_fetch_add((atomic_int *)pointer, 1);
}

Test(graph_nodes, user_objects_live_as_long_as_graphs_that_use_them, .init = setup)
{
    CUuserObject object;
    CUgraph clone;
    OK(cuUserObjectCreate(&object, &destroyed, note_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRetain(object, 2));
    OK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuGraphReleaseUserObject(graph, object, 2));
    EXPECT(CRT_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
    OK(cuUserObjectRelease(object, 1));
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    cr_expect_eq(atomic_load(&destroyed), 0);
    OK(cuGraphExecDestroy(exec));
    while (!atomic_load(&destroyed))
        usleep(1000);
    EXPECT(CRT_INVALID_VALUE, cuUserObjectRetain(object, 1));
}

Test(graph_nodes, dot_output_names_nodes_kernels_and_edges, .init = setup)
{
    char path[] = "/tmp/ptxrun-graph-XXXXXX";
    char text[8192] = "";
    CUgraphNode node;
    CUgraph child;
    unsigned n = 1;
    void *values[] = {&memory, &n};
    CUgraphNodeParams params = kernel_params(values);
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddEmptyNode(&node, child, NULL, 0));
    OK(cuGraphAddNode(&node, graph, NULL, 0, &params));
    OK(cuGraphAddChildGraphNode(&node, graph, &node, 1, child));
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    OK(cuGraphDebugDotPrint(graph, path, 0));
    cr_assert_gt(read(file, text, sizeof text - 1), 0);
    cr_expect_eq(strncmp(text, "digraph", 7), 0);
    cr_expect(strstr(text, "store"));
    cr_expect(strstr(text, "\"graph_1_node_0\" -> \"graph_1_node_1\""));
    cr_expect(strstr(text, "cluster_2"));
    cr_expect(!strstr(text, "<<<"));
    OK(cuGraphDebugDotPrint(graph, path, 1));
    memset(text, 0, sizeof text);
    cr_assert_gt(pread(file, text, sizeof text - 1, 0), 0);
    cr_expect(strstr(text, "<<<(1,1,1),(1,1,1),0>>>"));
    EXPECT(CRT_INVALID_VALUE, cuGraphDebugDotPrint(graph, "/nowhere/graph", 0));
    close(file);
    unlink(path);
}
