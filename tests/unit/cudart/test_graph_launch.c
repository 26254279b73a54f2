/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of graphs: order against streams and events, what runs at the same time, conditional
 * nodes, updates.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver_fixture.h"
#include "peer_process.h"

static const char ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    /* *p += n */
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<3>;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    " atom.global.add.u32 %r2, [%rd1], %r1; ret;\n}\n"
    /* The condition becomes n - *p, where *p grows by 1. */
    ".visible .entry count(.param .u64 p, .param .u64 h, .param .u32 n)\n{\n"
    " .reg .b64 %rd<3>; .reg .b32 %r<5>;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [h]; ld.param.u32 %r1, [n];\n"
    " ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3;\n"
    " sub.u32 %r4, %r1, %r3;\n"
    " { .param .b64 a; st.param.b64 [a], %rd2; .param .b32 b; st.param.b32 [b], %r4;\n"
    "   call.uni cudaGraphSetConditional, (a, b); }\n ret;\n}\n"
    /* The condition is whether *p is 0. */
    ".visible .entry until(.param .u64 p, .param .u64 h)\n{\n"
    " .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %q;\n"
    " ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [h];\n"
    " ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %q, %r1, 0; selp.u32 %r2, 1, 0, %q;\n"
    " { .param .b64 a; st.param.b64 [a], %rd2; .param .b32 b; st.param.b32 [b], %r2;\n"
    "   call.uni cudaGraphSetConditional, (a, b); }\n ret;\n}\n"
    /* Says that it is there, and waits until the other one is. */
    ".visible .entry meet(.param .u64 p)\n{\n"
    " .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %q;\n"
    " ld.param.u64 %rd1, [p]; atom.global.add.u32 %r1, [%rd1], 1;\n"
    "again: ld.volatile.global.u32 %r2, [%rd1]; setp.lt.u32 %q, %r2, 2; @%q bra again; ret;\n}\n";

static CUfunction add_kernel;
static CUfunction count_kernel;
static CUfunction meet_kernel;
static CUfunction until_kernel;
static CUdeviceptr cells; /* 16 numbers, 0 */
static CUstream stream;
static CUgraph graph;

static void setup(void)
{
    CUmodule module;
    make_context();
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&add_kernel, module, "add"));
    OK(cuModuleGetFunction(&count_kernel, module, "count"));
    OK(cuModuleGetFunction(&meet_kernel, module, "meet"));
    OK(cuModuleGetFunction(&until_kernel, module, "until"));
    OK(cuMemAlloc_v2(&cells, 64));
    OK(cuMemsetD32_v2(cells, 0, 16));
    OK(cuStreamCreate(&stream, 1));
    OK(cuGraphCreate(&graph, 0));
}

static unsigned cell(int index)
{
    unsigned value;
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, cells + (CUdeviceptr)index * 4, 4));
    return value;
}

static CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction function, void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

/* A node that adds n to a cell. */
static CUgraphNode add_adder(CUgraph to, CUgraphNode dep, int index, unsigned n)
{
    CUgraphNode node;
    CUdeviceptr place = cells + (CUdeviceptr)index * 4;
    void *values[] = {&place, &n};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(add_kernel, values);
    OK(cuGraphAddKernelNode_v2(&node, to, &dep, dep != NULL, &params));
    return node;
}

static CUgraphNode add_counter(CUgraph to, CUgraphNode dep, int index,
                               CUgraphConditionalHandle handle, unsigned n)
{
    CUgraphNode node;
    CUdeviceptr place = cells + (CUdeviceptr)index * 4;
    void *values[] = {&place, &handle, &n};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(count_kernel, values);
    OK(cuGraphAddKernelNode_v2(&node, to, &dep, dep != NULL, &params));
    return node;
}

static CUgraphExec instantiate(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

Test(graph_launch, independent_kernels_run_at_the_same_time, .init = setup, .timeout = 60)
{
    CUgraphNode node;
    void *values[] = {&cells};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(meet_kernel, values);
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    OK(cuGraphLaunch(instantiate(), stream));
    cr_expect_eq(cell(0), 2);
}

static atomic_int gate;

static void wait_at_gate(void *arg)
{
    (void)arg;
    while (!atomic_load(&gate))
        sched_yield();
}

Test(graph_launch, a_graph_is_one_piece_of_its_stream, .init = setup, .timeout = 60)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS host = {.fn = wait_at_gate};
    atomic_store(&gate, 0);
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    add_adder(graph, NULL, 0, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    /* Ready before the host node has ended, were it not behind the whole graph. */
    OK(cuMemsetD32Async(cells, 100, 1, stream));
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    OK(cuGraphExecDestroy(exec));
    atomic_store(&gate, 1);
    cr_expect_eq(cell(0), 100);
}

static CUgraphNode add_fill(CUgraphNode dep, int index, unsigned value)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = {.dst = cells + (CUdeviceptr)index * 4,
                                      .value = value,
                                      .elementSize = 4,
                                      .width = 1,
                                      .height = 1};
    OK(cuGraphAddMemsetNode(&node, graph, &dep, dep != NULL, &params, NULL));
    return node;
}

static CUgraphNode add_copy(CUgraphNode dep, int to, int from)
{
    CUgraphNode node;
    CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = cells + (CUdeviceptr)from * 4,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = cells + (CUdeviceptr)to * 4,
                            .WidthInBytes = 4,
                            .Height = 1,
                            .Depth = 1};
    OK(cuGraphAddMemcpyNode(&node, graph, &dep, 1, &params, NULL));
    return node;
}

static unsigned wrong_turns;

static void check_middle(void *arg)
{
    const unsigned *values = arg;
    wrong_turns += values[0] != 3 || values[1] != 1 || values[2] != 3;
}

/* What can begin at once is done by the launching thread, the rest by the pool: from the second
 * launch on the kernels are known to be small, and the host function is where that ends. */
Test(graph_launch, small_steps_ahead_of_others_keep_the_order, .init = setup, .timeout = 60)
{
    CUevent event;
    CUgraphNode node;
    OK(cuEventCreate(&event, 0));
    node = add_fill(NULL, 0, 0);
    node = add_adder(graph, node, 0, 1);
    node = add_copy(node, 1, 0);
    node = add_adder(graph, node, 0, 2);
    OK(cuGraphAddEventRecordNode(&node, graph, &node, 1, event));
    OK(cuGraphAddEventWaitNode(&node, graph, &node, 1, event));
    node = add_copy(node, 2, 0);
    CUDA_HOST_NODE_PARAMS host = {.fn = check_middle, .userData = (void *)(uintptr_t)cells};
    OK(cuGraphAddHostNode(&node, graph, &node, 1, &host));
    node = add_adder(graph, node, 0, 4);
    node = add_copy(node, 3, 0);
    add_adder(graph, node, 4, 1);
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 100; i++) {
        OK(cuGraphLaunch(exec, stream));
        if (i % 2)
            OK(cuStreamSynchronize(stream));
    }
    OK(cuEventSynchronize(event));
    cr_expect_eq(cell(0), 7);
    cr_expect_eq(cell(3), 7);
    cr_expect_eq(cell(4), 100);
    cr_expect_eq(wrong_turns, 0);
}

Test(graph_launch, a_fault_in_a_small_step_is_an_error_of_the_context, .init = setup)
{
    CUgraphNode first = add_adder(graph, NULL, 0, 1);
    CUgraphNode second = add_adder(graph, first, 0, 1);
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 10; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
    }
    CUdeviceptr nowhere = 16;
    unsigned one = 1;
    CUDA_KERNEL_NODE_PARAMS params = one_thread(add_kernel, (void *[]){&nowhere, &one});
    OK(cuGraphExecKernelNodeSetParams_v2(exec, second, &params));
    CUresult launched = cuGraphLaunch(exec, stream);
    cr_expect(launched == CRT_SUCCESS || launched == CRT_ILLEGAL_ADDRESS);
    EXPECT(CRT_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    cr_expect_eq(*(const unsigned *)(uintptr_t)cells, 21);
}

static atomic_int running;
static atomic_int most_running;

static void count_runs(void *arg)
{
    int now = atomic_fetch_add(&running, 1) + 1;
    if (now > atomic_load(&most_running))
        atomic_store(&most_running, now);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_sub(&running, 1);
    (void)arg;
}

Test(graph_launch, an_executable_graph_does_not_overlap_itself, .init = setup)
{
    CUgraphNode node;
    CUstream other;
    CUDA_HOST_NODE_PARAMS host = {.fn = count_runs};
    OK(cuStreamCreate(&other, 1));
    OK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    CUgraphNode adder = add_adder(graph, node, 0, 1);
    (void)adder;
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 5; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphLaunch(exec, other));
    }
    OK(cuStreamSynchronize(other));
    cr_expect_eq(cell(0), 10);
    cr_expect_eq(atomic_load(&most_running), 1);
}

Test(graph_launch, a_child_graph_stands_between_what_is_around_it, .init = setup)
{
    CUgraph child;
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = cells, .value = 5, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphCreate(&child, 0));
    add_adder(child, NULL, 0, 1);
    add_adder(child, NULL, 0, 2);
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
    OK(cuGraphAddChildGraphNode(&node, graph, &node, 1, child));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = cells,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = cells + 4,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1};
    OK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, NULL));
    CUgraph empty;
    OK(cuGraphCreate(&empty, 0));
    OK(cuGraphAddChildGraphNode(&node, graph, &node, 1, empty));
    add_adder(graph, node, 1, 10);
    OK(cuGraphLaunch(instantiate(), stream));
    cr_expect_eq(cell(0), 8);
    cr_expect_eq(cell(1), 18);
}

Test(graph_launch, events_of_a_graph_are_recorded_and_waited_for_in_it, .init = setup,
     .timeout = 60)
{
    CUgraphNode node;
    CUevent event;
    CUevent before;
    CUevent got;
    CUstream other;
    OK(cuEventCreate(&event, 0));
    OK(cuEventCreate(&before, 0));
    OK(cuStreamCreate(&other, 1));
    atomic_store(&gate, 0);
    OK(cuLaunchHostFunc(other, wait_at_gate, NULL));
    OK(cuEventRecord(before, other));
    OK(cuGraphAddEventWaitNode(&node, graph, NULL, 0, before));
    OK(cuGraphEventWaitNodeGetEvent(node, &got));
    cr_expect_eq(got, before);
    OK(cuGraphEventWaitNodeSetEvent(node, before));
    CUgraphNode adder = add_adder(graph, node, 0, 1);
    OK(cuGraphAddEventRecordNode(&node, graph, &adder, 1, before));
    OK(cuGraphEventRecordNodeSetEvent(node, event));
    OK(cuGraphEventRecordNodeGetEvent(node, &got));
    cr_expect_eq(got, event);
    CUgraphExec exec = instantiate();
    OK(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
    OK(cuGraphLaunch(exec, stream));
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    atomic_store(&gate, 1);
    OK(cuEventSynchronize(event));
    cr_expect_eq(cell(0), 1);
    EXPECT(CRT_INVALID_VALUE, cuGraphExecEventWaitNodeSetEvent(exec, node, before));
}

Test(graph_launch, memory_operations_write_and_wait, .init = setup, .timeout = 60)
{
    CUgraphNode node;
    CUstream other;
    OK(cuStreamCreate(&other, 1));
    CUstreamBatchMemOpParams ops[2] = {0};
    ops[0].waitValue.operation = 1; /* wait, 32 bits */
    ops[0].waitValue.address = cells;
    ops[0].waitValue.value = 7;
    ops[0].waitValue.flags = 1; /* equal */
    ops[1].writeValue.operation = 2;
    ops[1].writeValue.address = cells + 4;
    ops[1].writeValue.value = 9;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 2, .paramArray = ops};
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUDA_BATCH_MEM_OP_NODE_PARAMS got;
    OK(cuGraphBatchMemOpNodeGetParams(node, &got));
    cr_expect_eq(got.count, 2);
    cr_expect_eq(got.paramArray[1].writeValue.value, 9);
    add_adder(graph, node, 1, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    OK(cuStreamWriteValue32(other, cells, 7, 0));
    cr_expect_eq(cell(1), 10);
    ops[1].writeValue.value = 20;
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(1), 21);
}

/* ---- conditional nodes ---- */

static CUgraphConditionalHandle add_variable(unsigned initial)
{
    CUgraphConditionalHandle handle;
    OK(cuGraphConditionalHandleCreate(&handle, graph, NULL, initial, CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static CUgraphNode add_conditional(CUgraph to, CUgraphNode dep, CUgraphConditionalHandle handle,
                                   int type, unsigned size, CUgraph **bodies)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                .conditional = {.handle = handle, .type = type, .size = size}};
    OK(cuGraphAddNode_v2(&node, to, &dep, NULL, dep != NULL, &params));
    *bodies = params.conditional.phGraph_out;
    return node;
}

Test(graph_launch, a_while_node_runs_its_body_until_the_condition_is_0, .init = setup)
{
    CUgraph *bodies;
    CUgraphConditionalHandle handle = add_variable(1);
    CUgraphNode node = add_conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &bodies);
    add_counter(bodies[0], NULL, 0, handle, 5);
    add_adder(graph, node, 1, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 5);
    cr_expect_eq(cell(1), 1);
    OK(cuMemsetD32_v2(cells, 0, 1));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemsetD32Async(cells, 2, 1, stream));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 5);
    cr_expect_eq(cell(1), 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

Test(graph_launch, an_if_node_chooses_between_two_bodies, .init = setup)
{
    CUgraph *bodies;
    CUgraphConditionalHandle handle = add_variable(0);
    CUgraphNode first = add_counter(graph, NULL, 0, handle, 2);
    CUgraphNode node = add_conditional(graph, first, handle, CU_GRAPH_COND_TYPE_IF, 2, &bodies);
    add_adder(bodies[0], NULL, 1, 1);
    add_adder(bodies[1], NULL, 2, 1);
    add_adder(graph, node, 3, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream)); /* 2 - 1: true */
    cr_expect_eq(cell(1), 1);
    cr_expect_eq(cell(2), 0);
    OK(cuGraphLaunch(exec, stream)); /* 2 - 2: false */
    cr_expect_eq(cell(1), 1);
    cr_expect_eq(cell(2), 1);
    cr_expect_eq(cell(3), 2);
}

Test(graph_launch, a_switch_node_runs_the_body_of_its_number_or_none, .init = setup)
{
    CUgraph *bodies;
    CUgraphConditionalHandle handle = add_variable(0);
    CUgraphNode first = add_counter(graph, NULL, 0, handle, 4);
    add_conditional(graph, first, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, &bodies);
    for (int i = 0; i < 3; i++)
        add_adder(bodies[i], NULL, 1 + i, 1);
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 4; i++) /* conditions 3, 2, 1, 0 */
        OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 4);
    cr_expect_eq(cell(1), 1);
    cr_expect_eq(cell(2), 1);
    cr_expect_eq(cell(3), 1);
}

Test(graph_launch, loops_may_be_in_loops, .init = setup)
{
    CUgraph *outer;
    CUgraph *inner;
    CUgraphConditionalHandle outer_handle = add_variable(1);
    CUgraphConditionalHandle inner_handle = add_variable(1);
    add_conditional(graph, NULL, outer_handle, CU_GRAPH_COND_TYPE_WHILE, 1, &outer);
    /* Each turn: the inner loop counts to 3 from 0, then the outer count. */
    CUgraphNode fill;
    CUDA_MEMSET_NODE_PARAMS zero = {.dst = cells + 4, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, outer[0], NULL, 0, &zero, NULL));
    CUgraphNode first = add_counter(outer[0], fill, 1, inner_handle, 3);
    CUgraphNode loop =
        add_conditional(outer[0], first, inner_handle, CU_GRAPH_COND_TYPE_WHILE, 1, &inner);
    add_adder(inner[0], add_counter(inner[0], NULL, 1, inner_handle, 3), 2, 1);
    add_counter(outer[0], loop, 0, outer_handle, 4);
    OK(cuGraphLaunch(instantiate(), stream));
    cr_expect_eq(cell(0), 4);
    cr_expect_eq(cell(1), 3);
    cr_expect_eq(cell(2), 8); /* 2 turns of the inner loop in each of 4 */
}

Test(graph_launch, a_loop_may_wait_for_the_thread_that_launched_it, .init = setup, .timeout = 60)
{
    CUgraph *bodies;
    CUgraphNode node;
    _Atomic(unsigned) *flag;
    CUdeviceptr place;
    OK(cuMemHostAlloc((void **)&flag, 4, 0));
    OK(cuMemHostGetDevicePointer_v2(&place, flag, 0));
    CUgraphConditionalHandle handle = add_variable(1);
    add_conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &bodies);
    void *values[] = {&place, &handle};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(until_kernel, values);
    OK(cuGraphAddKernelNode_v2(&node, bodies[0], NULL, 0, &params));
    CUgraphExec exec = instantiate();
    atomic_store(flag, 1);
    for (int i = 0; i < 20; i++) /* that it is known to be a short kernel */
        OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    atomic_store(flag, 0);
    OK(cuGraphLaunch(exec, stream));
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    atomic_store(flag, 1);
    OK(cuStreamSynchronize(stream));
    OK(cuMemFreeHost(flag));
}

Test(graph_launch, conditional_graphs_have_one_instance_and_no_clone, .init = setup)
{
    CUgraph *bodies;
    CUgraph clone;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraphConditionalHandle handle = add_variable(0);
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    EXPECT(CRT_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &params));
    cr_expect_eq(params.result_out, 5); /* the variable is not used */
    add_conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &bodies);
    EXPECT(CRT_NOT_SUPPORTED, cuGraphClone(&clone, graph));
    EXPECT(CRT_INVALID_VALUE, cuGraphDestroy(bodies[0]));
    EXPECT(CRT_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, bodies[0], 0));
    exec = instantiate();
    CUgraphExec second;
    EXPECT(CRT_NOT_SUPPORTED, cuGraphInstantiateWithFlags(&second, graph, 0));
    OK(cuGraphExecDestroy(exec));
    exec = instantiate();
    OK(cuGraphExecDestroy(exec));
    CUDA_HOST_NODE_PARAMS host = {.fn = count_runs};
    OK(cuGraphAddHostNode(&node, bodies[0], NULL, 0, &host));
    EXPECT(CRT_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &params));
    cr_expect_eq(params.result_out, 2);
    cr_expect_eq(params.hErrNode_out, node);
}

/* ---- changes ---- */

Test(graph_launch, changed_parameters_hold_for_later_launches_only, .init = setup, .timeout = 60)
{
    CUgraphNode hold;
    CUDA_HOST_NODE_PARAMS host = {.fn = wait_at_gate};
    atomic_store(&gate, 0);
    OK(cuGraphAddHostNode(&hold, graph, NULL, 0, &host));
    CUgraphNode node = add_adder(graph, hold, 0, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    unsigned n = 10;
    void *values[] = {&cells, &n};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(add_kernel, values);
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    OK(cuGraphLaunch(exec, stream));
    atomic_store(&gate, 1);
    cr_expect_eq(cell(0), 11);
    n = 100;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params)); /* nothing runs: in its place */
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 111);
}

Test(graph_launch, a_disabled_node_does_nothing, .init = setup)
{
    unsigned is_enabled = 2;
    CUgraphNode node = add_adder(graph, NULL, 0, 1);
    add_adder(graph, node, 0, 2);
    CUgraphExec exec = instantiate();
    OK(cuGraphNodeGetEnabled(exec, node, &is_enabled));
    cr_expect_eq(is_enabled, 1);
    OK(cuGraphNodeSetEnabled(exec, node, 0));
    OK(cuGraphNodeGetEnabled(exec, node, &is_enabled));
    cr_expect_eq(is_enabled, 0);
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 2);
    OK(cuGraphNodeSetEnabled(exec, node, 1));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 5);
}

Test(graph_launch, an_update_says_what_is_different, .init = setup)
{
    CUgraph other;
    CUgraphNode first = add_adder(graph, NULL, 0, 1);
    CUgraphNode second = add_adder(graph, first, 0, 2);
    CUgraphExec exec = instantiate();
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&other, 0));
    CUgraphNode other_first = add_adder(other, NULL, 1, 5);
    CUgraphNode other_second = add_adder(other, NULL, 1, 6);
    EXPECT(CRT_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, other, &info));
    cr_expect_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    cr_expect_eq(info.errorNode, other_second);
    OK(cuGraphAddDependencies(other, &other_first, &other_second, 1));
    OK(cuGraphExecUpdate_v2(exec, other, &info));
    cr_expect_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 0);
    cr_expect_eq(cell(1), 11);
    /* Nodes of both graphs now lead to those of the executable one. */
    unsigned n = 100;
    void *values[] = {&cells, &n};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(add_kernel, values);
    OK(cuGraphExecKernelNodeSetParams_v2(exec, second, &params));
    OK(cuGraphExecKernelNodeSetParams_v2(exec, other_first, &params));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 200);

    CUgraph third;
    CUgraphNode empty;
    CUgraphNode culprit;
    CUgraphExecUpdateResult answer;
    OK(cuGraphCreate(&third, 0));
    CUgraphNode third_first = add_adder(third, NULL, 1, 5);
    OK(cuGraphAddEmptyNode(&empty, third, &third_first, 1));
    EXPECT(CRT_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, third, &culprit, &answer));
    cr_expect_eq(answer, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    cr_expect_eq(culprit, empty);
}

Test(graph_launch, a_child_of_an_executable_graph_can_be_replaced, .init = setup)
{
    CUgraph child;
    CUgraph other;
    CUgraphNode node;
    OK(cuGraphCreate(&child, 0));
    add_adder(child, NULL, 0, 1);
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CUgraphExec exec = instantiate();
    OK(cuGraphCreate(&other, 0));
    CUgraphNode inner = add_adder(other, NULL, 0, 10);
    OK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 10);
    add_adder(other, inner, 0, 10);
    EXPECT(CRT_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, other));
}

Test(graph_launch, a_launch_in_a_capture_becomes_a_child, .init = setup)
{
    CUgraph captured;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    size_t count = 2;
    int type = -1;
    add_adder(graph, NULL, 0, 3);
    CUgraphExec inner = instantiate();
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuGraphLaunch(inner, stream));
    OK(cuMemsetD32Async(cells + 4, 1, 1, stream));
    OK(cuStreamEndCapture(stream, &captured));
    OK(cuGraphGetNodes(captured, nodes, &count));
    cr_expect_eq(count, 2);
    OK(cuGraphNodeGetType(nodes[0], &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_GRAPH);
    OK(cuGraphInstantiateWithFlags(&exec, captured, 0));
    OK(cuGraphExecDestroy(inner));
    OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 3);
}

Test(graph_launch, a_kernel_of_an_unloaded_module_cannot_be_launched, .init = setup)
{
    CUmodule module;
    CUfunction function;
    CUgraphNode node;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "add"));
    unsigned n = 1;
    void *values[] = {&cells, &n};
    CUDA_KERNEL_NODE_PARAMS params = one_thread(function, values);
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuModuleUnload(module));
    EXPECT(CRT_INVALID_HANDLE, cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 1);
}

Test(graph_launch, after_a_reset_variables_are_the_new_ones, .init = setup)
{
    static const char counting[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .global .align 4 .u32 counter = 5;\n"
                                   ".visible .entry bump() { .reg .b32 %r<2>;\n"
                                   " atom.global.add.u32 %r1, [counter], 1; ret; }\n";
    CUlibrary library;
    CUkernel kernel;
    CUgraphNode node;
    CUcontext ctx;
    CUdeviceptr counter;
    unsigned value;
    OK(cuLibraryLoadData(&library, counting, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    CUDA_KERNEL_NODE_PARAMS params = one_thread(kernel, NULL);
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, NULL));
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    OK(cuMemcpyDtoH_v2(&value, counter, 4));
    cr_expect_eq(value, 7);
}

Test(graph_launch, a_long_chain_and_a_wide_fan_are_complete, .init = setup)
{
    CUgraphNode last = NULL;
    for (int i = 0; i < 2000; i++)
        last = add_adder(graph, last, 0, 1);
    for (int i = 0; i < 2000; i++)
        add_adder(graph, NULL, 1, 1);
    CUgraphExec exec = instantiate();
    OK(cuGraphUpload(exec, stream));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, stream));
    cr_expect_eq(cell(0), 6000);
    cr_expect_eq(cell(1), 6000);
}

#define THREADS 4

/* Builds, launches, changes and destroys graphs of its own, some with memory of graphs. */
static void *use_graphs(void *arg)
{
    int index = (int)(intptr_t)arg;
    CUcontext ctx;
    CUstream own;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuStreamCreate(&own, 1));
    for (int round = 0; round < 20; round++) {
        CUgraph mine;
        CUgraphExec exec;
        CUgraphNode alloc;
        CUgraphNode free_node;
        CUDA_MEM_ALLOC_NODE_PARAMS params = {
            .poolProps = {.allocType = 1, .location = {.type = 1, .id = 0}}, .bytesize = 4096};
        OK(cuGraphCreate(&mine, 0));
        OK(cuGraphAddMemAllocNode(&alloc, mine, NULL, 0, &params));
        CUgraphNode node = add_adder(mine, alloc, index, 1);
        OK(cuGraphAddMemFreeNode(&free_node, mine, &node, 1, params.dptr));
        add_adder(mine, NULL, index, 1);
        OK(cuGraphInstantiateWithFlags(&exec, mine, 0));
        OK(cuGraphDestroy(mine));
        for (int i = 0; i < 5; i++)
            OK(cuGraphLaunch(exec, own));
        OK(cuGraphExecDestroy(exec));
    }
    OK(cuStreamSynchronize(own));
    OK(cuStreamDestroy_v2(own));
    return NULL;
}

#define PAIRS 200

static CUgraphExec orphans[PAIRS];

static void *destroy_orphans(void *arg)
{
    for (int i = 0; i < PAIRS; i++)
        OK(cuGraphExecDestroy(orphans[i]));
    return arg;
}

/* Graphs are made again in the memory of those that the orphans came from. */
Test(graph_launch, executable_graphs_do_not_look_at_graphs_destroyed_before_them, .init = setup)
{
    CUgraph graphs[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        CUgraphNode node;
        OK(cuGraphCreate(&graphs[i], 0));
        OK(cuGraphAddEmptyNode(&node, graphs[i], NULL, 0));
        OK(cuGraphInstantiateWithFlags(&orphans[i], graphs[i], 0));
    }
    for (int i = 0; i < PAIRS; i++)
        OK(cuGraphDestroy(graphs[i]));
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, destroy_orphans, NULL), 0);
    for (int i = 0; i < PAIRS; i++)
        OK(cuGraphCreate(&graphs[i], 0));
    pthread_join(thread, NULL);
    for (int i = 0; i < PAIRS; i++)
        OK(cuGraphDestroy(graphs[i]));
}

static CUgraphExec shared_exec;

static void *launch_shared(void *arg)
{
    CUcontext ctx;
    CUstream own;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuStreamCreate(&own, 1));
    for (int i = 0; i < 50; i++)
        OK(cuGraphLaunch(shared_exec, own));
    OK(cuStreamSynchronize(own));
    return arg;
}

Test(graph_launch, threads_with_graphs_of_their_own_do_not_disturb_each_other, .init = setup)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, use_graphs, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(cell(i), 200);
}

Test(graph_launch, one_executable_graph_may_be_launched_by_several_threads, .init = setup)
{
    CUgraphNode node = add_adder(graph, NULL, 0, 1);
    add_adder(graph, node, 0, 1);
    shared_exec = instantiate();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_shared, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(cell(0), 2 * 50 * THREADS);
}

/* Launches a chain of small kernels, and says how long that took; --stats is printed at exit. */
static void run_chain(int socket)
{
    struct timespec start;
    struct timespec end;
    CUgraphNode last = NULL;
    setenv("PTXRUN_STATS", "1", 1);
    setup();
    for (int i = 0; i < 300; i++)
        last = add_adder(graph, last, 0, 1);
    CUgraphExec exec = instantiate();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 20; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double took_ms =
        1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
    tell(socket, &took_ms, sizeof took_ms);
    exit(0);
}

/* Kernels that follow each other take no longer together than all of them. */
Test(graph_launch, statistics_count_the_time_of_each_step_once)
{
    FILE *printed = tmpfile();
    int errors = dup(STDERR_FILENO);
    cr_assert_not_null(printed);
    dup2(fileno(printed), STDERR_FILENO);
    struct peer peer = start_peer(run_chain);
    double took_ms = 0;
    bool is_told = hear(peer.socket, &took_ms, sizeof took_ms);
    expect_peer_succeeds(&peer);
    dup2(errors, STDERR_FILENO);
    cr_assert(is_told);
    char line[256];
    double sum_ms = -1;
    unsigned calls = 0;
    rewind(printed);
    while (fgets(line, sizeof line, printed))
        if (strstr(line, " add\n"))
            sscanf(line, "ptxrun: %*f %lf %u", &sum_ms, &calls);
    fclose(printed);
    cr_expect_eq(calls, 300 * 20);
    cr_expect(sum_ms > 0 && sum_ms <= took_ms, "%g ms of kernels in %g ms", sum_ms, took_ms);
}
