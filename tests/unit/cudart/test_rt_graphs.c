/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs of the runtime API: kernels by their host stubs, copies of all forms, nodes of any kind.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "runtime_fixture.h"

static const char program_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 variable[4] = {1, 2, 3, 4};\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry store(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry choose(.param .u64 h, .param .u32 n)\n{\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %rd1, [h]; ld.param.u32 %r1, [n];\n"
    " { .param .b64 a; st.param.b64 [a], %rd1; .param .b32 b; st.param.b32 [b], %r1;\n"
    "   call.uni cudaGraphSetConditional, (a, b); }\n ret;\n}\n";

static void store_stub(void)
{
}
static void choose_stub(void)
{
}
static unsigned host_variable[4];

static unsigned *memory; /* 16 numbers of the device */
static cudaGraph_t graph;
static cudaStream_t stream;

static void setup(void)
{
    void **program = __cudaRegisterFatBinary((void *)(uintptr_t)program_ptx);
    __cudaRegisterFunction(program, (const char *)store_stub, NULL, "store", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(program, (const char *)choose_stub, NULL, "choose", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterVar(program, (char *)host_variable, NULL, "variable", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(program);
    RT_OK(cudaMalloc((void **)&memory, 64));
    RT_OK(cudaMemset(memory, 0, 64));
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaGraphCreate(&graph, 0));
}

static unsigned number_at(int index)
{
    unsigned value = 0;
    RT_OK(cudaMemcpy(&value, memory + index, 4, cudaMemcpyDeviceToHost));
    return value;
}

static cudaGraphExec_t run(void)
{
    cudaGraphExec_t exec;
    RT_OK(cudaGraphInstantiate(&exec, graph, 0));
    RT_OK(cudaGraphLaunch(exec, stream));
    RT_OK(cudaStreamSynchronize(stream));
    return exec;
}

static void run_again(cudaGraphExec_t exec)
{
    RT_OK(cudaGraphLaunch_ptsz(exec, stream));
    RT_OK(cudaStreamSynchronize(stream));
}

static struct cudaKernelNodeParams one_thread(void (*stub)(void), void **values)
{
    return (struct cudaKernelNodeParams){
        .func = (void *)stub, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .kernelParams = values};
}

Test(rt_graphs, kernel_nodes_by_host_stubs, .init = setup)
{
    cudaGraphNode_t node;
    cudaGraphNode_t second;
    unsigned n = 5;
    void *values[] = {&memory, &n};
    struct cudaKernelNodeParams params = one_thread(store_stub, values);
    RT_OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    cudaGraphExec_t exec = run();
    cr_expect_eq(number_at(0), 5);
    n = 6;
    RT_OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    run_again(exec);
    cr_expect_eq(number_at(0), 6);
    struct cudaKernelNodeParams got;
    RT_OK(cudaGraphKernelNodeGetParams(node, &got));
    cr_expect_eq(*(unsigned *)got.kernelParams[1], 5);
    cr_expect_eq(got.blockDim.x, 1);
    n = 7;
    got.kernelParams = values; /* func is as good as the stub */
    RT_OK(cudaGraphKernelNodeSetParams(node, &got));
    run();
    cr_expect_eq(number_at(0), 7);
    CUlaunchAttributeValue value = {.priority = -2};
    CUlaunchAttributeValue read;
    RT_OK(cudaGraphAddKernelNode(&second, graph, &node, 1, &params));
    RT_OK(cudaGraphKernelNodeSetAttribute(node, 8, &value));
    RT_OK(cudaGraphKernelNodeCopyAttributes(second, node));
    RT_OK(cudaGraphKernelNodeGetAttribute(second, 8, &read));
    cr_expect_eq(read.priority, -2);
    RT_OK(cudaGraphExecDestroy(exec));
    RT_OK(cudaGraphDestroy(graph));
}

Test(rt_graphs, copies_of_rows_boxes_and_variables, .init = setup)
{
    cudaGraphNode_t row;
    cudaGraphNode_t to;
    cudaGraphNode_t from;
    cudaGraphNode_t box;
    static unsigned host[4] = {10, 20, 30, 40};
    static unsigned back[4];
    RT_OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, host_variable, host, 8, 8,
                                         cudaMemcpyHostToDevice));
    RT_OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, memory, host_variable, 16, 0,
                                           cudaMemcpyDeviceToDevice));
    struct cudaMemcpy3DParms copy = {.srcPtr = {memory, 16, 4, 1},
                                     .dstPtr = {memory + 4, 16, 4, 1},
                                     .extent = {16, 1, 1},
                                     .kind = cudaMemcpyDeviceToDevice};
    RT_OK(cudaGraphAddMemcpyNode(&box, graph, &from, 1, &copy));
    RT_OK(cudaGraphAddMemcpyNode1D(&row, graph, &box, 1, back, memory + 4, 16,
                                   cudaMemcpyDeviceToHost));
    cudaGraphExec_t exec = run();
    unsigned wanted[4] = {1, 2, 10, 20};
    cr_expect_eq(memcmp(back, wanted, 16), 0);
    struct cudaMemcpy3DParms got;
    RT_OK(cudaGraphMemcpyNodeGetParams(row, &got));
    cr_expect_eq(got.kind, cudaMemcpyDeviceToHost);
    cr_expect_eq(got.dstPtr.ptr, back);
    cr_expect_eq(got.extent.width, 16);
    RT_OK(cudaGraphMemcpyNodeGetParams(to, &got));
    cr_expect_eq(got.kind, cudaMemcpyHostToDevice);

    RT_OK(
        cudaGraphExecMemcpyNodeSetParams1D(exec, row, back, memory + 6, 4, cudaMemcpyDeviceToHost));
    RT_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, host_variable, host + 3, 4, 0,
                                                   cudaMemcpyHostToDevice));
    RT_OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, memory, host_variable, 4, 0,
                                                     cudaMemcpyDeviceToDevice));
    copy.dstPtr.ptr = memory + 8;
    copy.extent.width = 4;
    RT_OK(cudaGraphExecMemcpyNodeSetParams(exec, box, &copy));
    run_again(exec);
    cr_expect_eq(number_at(8), 40);
    cr_expect_eq(back[0], 10);

    RT_OK(cudaGraphMemcpyNodeSetParams1D(row, back, memory + 12, 4, cudaMemcpyDefault));
    RT_OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, host_variable, host + 1, 4, 0,
                                               cudaMemcpyHostToDevice));
    RT_OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, memory, host_variable, 4, 0,
                                                 cudaMemcpyDeviceToDevice));
    copy.dstPtr.ptr = memory + 12;
    RT_OK(cudaGraphMemcpyNodeSetParams(box, &copy));
    run();
    cr_expect_eq(back[0], 20);
    RT_EXPECT(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsToSymbol(
                                         to, host_variable, host, 8, 12, cudaMemcpyHostToDevice));
}

static atomic_int calls;

static void call(void *arg)
{
    atomic_fetch_add(&calls, (int)(intptr_t)arg);
}

Test(rt_graphs, fills_host_functions_events_and_children, .init = setup)
{
    cudaGraphNode_t fill;
    cudaGraphNode_t host;
    cudaGraphNode_t record;
    cudaGraphNode_t wait;
    cudaGraphNode_t child;
    cudaGraphNode_t empty;
    cudaGraph_t inner;
    cudaGraph_t got_graph;
    cudaEvent_t event;
    cudaEvent_t got_event;
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaGraphCreate(&inner, 0));
    struct cudaMemsetParams params = {
        .dst = memory, .value = 9, .elementSize = 4, .width = 2, .height = 1};
    struct cudaMemsetParams got;
    RT_OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &params));
    RT_OK(cudaGraphMemsetNodeGetParams(fill, &got));
    cr_expect_eq(memcmp(&got, &params, sizeof got), 0);
    CUDA_HOST_NODE_PARAMS call_params = {call, (void *)1};
    CUDA_HOST_NODE_PARAMS call_got;
    RT_OK(cudaGraphAddHostNode(&host, graph, &fill, 1, &call_params));
    RT_OK(cudaGraphHostNodeGetParams(host, &call_got));
    cr_expect_eq(call_got.userData, (void *)1);
    RT_OK(cudaGraphAddEventRecordNode(&record, graph, &host, 1, event));
    RT_OK(cudaGraphEventRecordNodeGetEvent(record, &got_event));
    cr_expect_eq(got_event, event);
    RT_OK(cudaGraphEventRecordNodeSetEvent(record, event));
    RT_OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    RT_OK(cudaGraphEventWaitNodeGetEvent(wait, &got_event));
    RT_OK(cudaGraphEventWaitNodeSetEvent(wait, event));
    RT_OK(cudaGraphAddHostNode(&empty, inner, NULL, 0, &call_params));
    RT_OK(cudaGraphAddChildGraphNode(&child, graph, &wait, 1, inner));
    RT_OK(cudaGraphChildGraphNodeGetGraph(child, &got_graph));
    cr_expect_neq(got_graph, inner);
    RT_OK(cudaGraphAddEmptyNode(&empty, graph, &child, 1));
    cudaGraphExec_t exec = run();
    cr_expect_eq(atomic_load(&calls), 2);
    cr_expect_eq(number_at(1), 9);
    RT_OK(cudaEventQuery(event));
    params.value = 8;
    RT_OK(cudaGraphExecMemsetNodeSetParams(exec, fill, &params));
    call_params.userData = (void *)10;
    RT_OK(cudaGraphExecHostNodeSetParams(exec, host, &call_params));
    RT_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, event));
    RT_OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, event));
    RT_OK(cudaGraphExecChildGraphNodeSetParams(exec, child, inner));
    run_again(exec);
    cr_expect_eq(number_at(0), 8);
    cr_expect_eq(atomic_load(&calls), 13);
    params.value = 7;
    RT_OK(cudaGraphMemsetNodeSetParams(fill, &params));
    RT_OK(cudaGraphHostNodeSetParams(host, &call_params));
    run();
    cr_expect_eq(number_at(0), 7);
    cr_expect_eq(atomic_load(&calls), 24);
}

Test(rt_graphs, structure, .init = setup)
{
    cudaGraphNode_t nodes[3];
    cudaGraphNode_t from[3];
    cudaGraphNode_t to[3];
    cudaGraph_t clone;
    size_t count = 3;
    int type = -1;
    char path[] = "/tmp/ptxrun-rt-graph-XXXXXX";
    for (int i = 0; i < 3; i++)
        RT_OK(cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    RT_OK(cudaGraphAddDependencies(graph, nodes, nodes + 1, NULL, 2));
    RT_OK(cudaGraphGetEdges(graph, from, to, NULL, &count));
    cr_expect_eq(count, 2);
    RT_OK(cudaGraphGetRootNodes(graph, from, &count));
    cr_expect_eq(count, 1);
    cr_expect_eq(from[0], nodes[0]);
    RT_OK(cudaGraphNodeGetDependencies(nodes[2], from, NULL, &count));
    cr_expect_eq(from[0], nodes[1]);
    RT_OK(cudaGraphNodeGetDependentNodes(nodes[0], to, NULL, &count));
    cr_expect_eq(to[0], nodes[1]);
    RT_OK(cudaGraphRemoveDependencies(graph, nodes, nodes + 1, NULL, 1));
    RT_OK(cudaGraphNodeGetType(nodes[0], &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_EMPTY);
    RT_OK(cudaGraphClone(&clone, graph));
    RT_OK(cudaGraphNodeFindInClone(&from[0], nodes[2], clone));
    RT_OK(cudaGraphDestroyNode(nodes[2]));
    RT_OK(cudaGraphGetNodes(graph, NULL, &count));
    cr_expect_eq(count, 2);
    int file = mkstemp(path);
    RT_OK(cudaGraphDebugDotPrint(graph, path, 0));
    cr_expect_gt(lseek(file, 0, SEEK_END), 20);
    close(file);
    unlink(path);
}

Test(rt_graphs, executables_flags_updates_and_switches, .init = setup)
{
    cudaGraphNode_t node;
    cudaGraph_t other;
    cudaGraphExec_t exec;
    unsigned n = 5;
    unsigned is_enabled = 0;
    unsigned long long flags = 0;
    void *values[] = {&memory, &n};
    struct cudaKernelNodeParams params = one_thread(store_stub, values);
    RT_OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    RT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 8));
    RT_OK(cudaGraphExecGetFlags(exec, &flags));
    cr_expect_eq(flags, 8);
    RT_OK(cudaGraphUpload(exec, stream));
    RT_OK(cudaGraphUpload_ptsz(exec, NULL));
    RT_OK(cudaGraphNodeSetEnabled(exec, node, 0));
    RT_OK(cudaGraphNodeGetEnabled(exec, node, &is_enabled));
    cr_expect_eq(is_enabled, 0);
    run_again(exec);
    cr_expect_eq(number_at(0), 0);
    RT_OK(cudaGraphNodeSetEnabled(exec, node, 1));
    n = 6;
    RT_OK(cudaGraphCreate(&other, 0));
    RT_OK(cudaGraphAddKernelNode(&node, other, NULL, 0, &params));
    CUgraphExecUpdateResultInfo info;
    RT_OK(cudaGraphExecUpdate(exec, other, &info));
    run_again(exec);
    cr_expect_eq(number_at(0), 6);
    RT_OK(cudaGraphAddEmptyNode(&node, other, NULL, 0));
    RT_EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    CUDA_GRAPH_INSTANTIATE_PARAMS with = {.flags = 2, .hUploadStream = stream};
    RT_OK(cudaGraphInstantiateWithParams(&exec, other, &with));
    cr_expect_eq(with.result_out, 0);
    RT_OK(cudaGraphInstantiateWithParams_ptsz(&exec, other, &with));
}

static cudaGraphNode_t add_any(cudaGraphNode_t after, struct cudaGraphNodeParams *params)
{
    cudaGraphNode_t node = NULL;
    RT_OK(cudaGraphAddNode(&node, graph, &after, NULL, after != NULL, params));
    return node;
}

Test(rt_graphs, nodes_of_any_kind, .init = setup)
{
    cudaEvent_t event;
    cudaGraph_t inner;
    CUgraphConditionalHandle handle;
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaGraphCreate(&inner, 0));
    RT_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 1));
    unsigned n = 1;
    void *values[] = {&handle, &n};
    struct cudaGraphNodeParams kernel = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    kernel.kernel = one_thread(choose_stub, values);
    cudaGraphNode_t first = add_any(NULL, &kernel);
    struct cudaGraphNodeParams condition = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    condition.conditional.handle = handle;
    condition.conditional.type = CU_GRAPH_COND_TYPE_IF;
    condition.conditional.size = 2;
    cudaGraphNode_t last = add_any(first, &condition);
    struct cudaGraphNodeParams fill = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .memset = {.dst = memory, .value = 1, .elementSize = 4, .width = 1, .height = 1}};
    cudaGraphNode_t node;
    RT_OK(cudaGraphAddNode(&node, condition.conditional.phGraph_out[0], NULL, NULL, 0, &fill));
    fill.memset.value = 2;
    RT_OK(cudaGraphAddNode(&node, condition.conditional.phGraph_out[1], NULL, NULL, 0, &fill));
    struct cudaGraphNodeParams copy = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    copy.memcpy.copyParams = (struct cudaMemcpy3DParms){.srcPtr = {memory, 4, 1, 1},
                                                        .dstPtr = {memory + 1, 4, 1, 1},
                                                        .extent = {4, 1, 1},
                                                        .kind = cudaMemcpyDefault};
    last = add_any(last, &copy);
    cudaGraphNode_t copy_node = last;
    struct cudaGraphNodeParams host = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {call, (void *)1}};
    last = add_any(last, &host);
    struct cudaGraphNodeParams record = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = {event}};
    last = add_any(last, &record);
    struct cudaGraphNodeParams empty = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    last = add_any(last, &empty);
    struct cudaGraphNodeParams child = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {inner, 0}};
    last = add_any(last, &child);
    cudaGraphExec_t exec = run();
    cr_expect_eq(number_at(1), 1);
    n = 0;
    RT_OK(cudaGraphExecNodeSetParams(exec, first, &kernel));
    copy.memcpy.copyParams.dstPtr.ptr = memory + 2;
    RT_OK(cudaGraphExecNodeSetParams(exec, copy_node, &copy));
    run_again(exec);
    cr_expect_eq(number_at(2), 2);
    cr_expect_eq(number_at(1), 1);
    RT_OK(cudaGraphNodeSetParams(copy_node, &copy));
    RT_EXPECT(cudaErrorInvalidValue, cudaGraphNodeSetParams(copy_node, &fill));
}

Test(rt_graphs, memory_nodes_and_their_footprint, .init = setup)
{
    cudaGraphNode_t alloc;
    cudaGraphNode_t node;
    uint64_t bytes = 1;
    void *freed = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = 1, .location = {.type = 1, .id = 0}}, .bytesize = 65536};
    CUDA_MEM_ALLOC_NODE_PARAMS got;
    RT_OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    RT_OK(cudaGraphMemAllocNodeGetParams(alloc, &got));
    cr_expect_eq(got.dptr, params.dptr);
    RT_OK(cudaGraphAddMemFreeNode(&node, graph, &alloc, 1, (void *)(uintptr_t)params.dptr));
    RT_OK(cudaGraphMemFreeNodeGetParams(node, &freed));
    cr_expect_eq((uintptr_t)freed, params.dptr);
    RT_OK(cudaDeviceGetGraphMemAttribute(0, 0, &bytes));
    cr_expect_eq(bytes, 0);
    run();
    RT_OK(cudaDeviceGetGraphMemAttribute(0, 0, &bytes));
    cr_expect_eq(bytes, 65536);
    RT_OK(cudaDeviceGraphMemTrim(0));
    bytes = 0;
    RT_OK(cudaDeviceSetGraphMemAttribute(0, 1, &bytes));
    RT_OK(cudaDeviceGetGraphMemAttribute(0, 1, &bytes));
    cr_expect_eq(bytes, 0);
    struct cudaGraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = params};
    any.alloc.dptr = 0;
    RT_OK(cudaGraphAddNode(&node, graph, &node, NULL, 1, &any));
    cr_expect_neq(any.alloc.dptr, 0);
}

Test(rt_graphs, user_objects, .init = setup)
{
    cudaUserObject_t object;
    RT_OK(cudaUserObjectCreate(&object, (void *)1, call, 1, 1));
    RT_OK(cudaUserObjectRetain(object, 1));
    RT_OK(cudaGraphRetainUserObject(graph, object, 1, 1));
    RT_OK(cudaUserObjectRelease(object, 1));
    cr_expect_eq(atomic_load(&calls), 0);
    RT_OK(cudaGraphReleaseUserObject(graph, object, 1));
    while (!atomic_load(&calls))
        usleep(1000);
}
