/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms of functions that programs seldom use beside their better known sisters: each does what it
 * says.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "driver_fixture.h"

#define BYTES 256

static const char kernel_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 out)\n"
    "{\n .reg .b64 %rd<4>; .reg .b32 %r<3>;\n ld.param.u64 %rd1, [out];\n"
    " mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " mov.u32 %r2, %ntid.x; st.global.u32 [%rd3], %r2; ret;\n}\n";

static CUdeviceptr filled(unsigned char value)
{
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, BYTES));
    OK(cuMemsetD8_v2(memory, value, BYTES));
    return memory;
}

static unsigned char last_byte(CUdeviceptr memory)
{
    unsigned char value;
    OK(cuMemcpyDtoH_v2(&value, memory + BYTES - 1, 1));
    return value;
}

Test(plain, copies_of_unified_addresses, .init = make_context)
{
    unsigned char host[BYTES];
    CUdeviceptr from = filled(3);
    CUdeviceptr to = filled(0);
    OK(cuMemcpy(to, from, BYTES));
    cr_expect_eq(last_byte(to), 3);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)host, to, BYTES));
    cr_expect_eq(host[BYTES - 1], 3);
    memset(host, 4, sizeof host);
    OK(cuMemcpyAsync(to, (CUdeviceptr)(uintptr_t)host, BYTES, NULL));
    OK(cuCtxSynchronize());
    cr_expect_eq(last_byte(to), 4);
    OK(cuMemcpyDtoD_v2(to, from, BYTES));
    cr_expect_eq(last_byte(to), 3);
}

Test(plain, fills_of_two_bytes, .init = make_context)
{
    CUdeviceptr memory = filled(0);
    OK(cuMemsetD16_v2(memory, 0x0506, BYTES / 2));
    cr_expect_eq(last_byte(memory), 5);
}

Test(plain, launches_by_a_description, .init = make_context)
{
    CUdeviceptr memory = filled(0);
    CUmodule module;
    CUfunction store;
    CUstream stream;
    unsigned words[BYTES / 4];
    void *params[] = {&memory};
    CUlaunchAttribute hint = {.id = 0};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &hint,
                             .numAttrs = 1};
    int least;
    int greatest;
    int priority = 1;
    int blocks = 0;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&stream, 1, greatest));
    OK(cuStreamGetPriority(stream, &priority));
    cr_expect_eq(priority, greatest);
    OK(cuModuleLoadDataEx(&module, kernel_ptx, 0, NULL, NULL));
    OK(cuModuleGetFunction(&store, module, "store"));
    config.hStream = stream;
    OK(cuLaunchKernelEx(&config, store, params, NULL));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(words, memory, BYTES));
    cr_expect(words[0] == 32 && words[31] == 32 && words[32] == 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, store, 32, 0, 1));
    cr_expect_gt(blocks, 0);
}

Test(plain, waits_for_a_context_and_time_between_events, .init = make_context)
{
    CUcontext ctx;
    CUevent start;
    CUevent end;
    float ms = -1;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, NULL));
    filled(1);
    OK(cuEventRecord(end, NULL));
    OK(cuCtxSynchronize_v2(ctx));
    OK(cuEventElapsedTime_v2(&ms, start, end));
    cr_expect(ms >= 0 && ms < 60000);
}

Test(plain, early_ways_to_instantiate_a_graph, .init = make_context)
{
    CUgraph graph;
    CUgraph child;
    CUgraph inner = NULL;
    CUgraphNode node;
    CUgraphNode child_node;
    CUgraphExec exec;
    char log[100] = "x";
    size_t count = 0;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddEmptyNode(&node, child, NULL, 0));
    OK(cuGraphAddChildGraphNode(&child_node, graph, NULL, 0, child));
    OK(cuGraphChildGraphNodeGetGraph(child_node, &inner));
    OK(cuGraphGetNodes(inner, NULL, &count));
    cr_expect_eq(count, 1);
    OK(cuGraphInstantiate(&exec, graph, &node, log, sizeof log));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiate_v2(&exec, graph, &node, log, sizeof log));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
}

Test(plain, attributes_of_a_stream_can_be_copied, .init = make_context)
{
    CUstream from;
    CUstream to;
    OK(cuStreamCreate(&from, 1));
    OK(cuStreamCreate(&to, 1));
    OK(cuStreamCopyAttributes(to, from));
}

/* The static runtime takes it out of a number on its stack that it has not set. */
Test(plain, whether_a_pointer_is_managed_fills_a_whole_int, .init = make_context)
{
    CUdeviceptr memory;
    int is_managed = -1;
    OK(cuMemAlloc_v2(&memory, 64));
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    cr_expect_eq(is_managed, 0);
    is_managed = -1;
    OK(cuMemAllocManaged(&memory, 64, 1));
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    cr_expect_eq(is_managed, 1);
}

Test(plain, several_attributes_of_a_pointer_at_once, .init = make_context)
{
    CUdeviceptr memory = filled(0);
    CUdeviceptr base = 0;
    CUmemorytype type = 0;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *values[] = {&type, &base};
    CUmemoryPool pool = NULL;
    OK(cuPointerGetAttributes(2, attributes, values, memory + 5));
    cr_expect(type == CU_MEMORYTYPE_DEVICE && base == memory);
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    cr_expect_not_null(pool);
}
