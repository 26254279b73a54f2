/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of launches: sizes from the launch, from the kernel's text and from its attributes, in
 * streams and in graphs; which cannot be; occupancy. Each block adds to out[rank] and counts the
 * clusters at out[16].
 */
#include <stdlib.h>
#include <string.h>

#include "driver_fixture.h"

#define BODY                                                                                       \
    "{\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"            \
    "mov.u32 %r1, %cluster_ctarank; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;\n"        \
    "red.global.add.u32 [%rd2], 1; mov.u32 %r2, %cluster_nctarank; add.u32 %r1, %r1, 1;\n"         \
    "setp.eq.u32 %p, %r1, %r2; @%p red.global.add.u32 [%rd1+64], 1; mov.pred %p, "                 \
    "%is_explicit_cluster;\n@%p red.global.add.u32 [%rd1+68], 1; ret;\n}\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 out) "

static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n" ENTRY("plain")
    BODY ENTRY("fours") ".reqnctapercluster 2, 2 " BODY ENTRY("open") ".explicitcluster " BODY
        ENTRY("small") ".maxclusterrank 4 " BODY ENTRY(
            "counted") ".blocksareclusters .reqnctapercluster 3 .reqntid 1 " BODY;

enum { WIDTH = 11, HEIGHT, DEPTH, NON_PORTABLE, POLICY }; /* function attributes */

static CUmodule module;
static CUdeviceptr out;

static void start(void)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    make_context();
    OK(cuModuleLoadData(&module, ptx));
    OK(cuMemAlloc_v2(&out, 256));
}

static CUfunction kernel_of(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static CUlaunchAttribute cluster_of(unsigned x, unsigned y, unsigned z)
{
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {x, y, z}};
}

static CUlaunchConfig config_of(unsigned x, unsigned y, CUlaunchAttribute *attribute)
{
    return (CUlaunchConfig){.gridDimX = x,
                            .gridDimY = y,
                            .gridDimZ = 1,
                            .blockDimX = 1,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .attrs = attribute,
                            .numAttrs = attribute != NULL};
}

static CUresult launch(const char *name, unsigned x, unsigned y, CUlaunchAttribute *attribute)
{
    CUlaunchConfig config = config_of(x, y, attribute);
    void *params[] = {&out};
    OK(cuMemsetD8_v2(out, 0, 256));
    return cuLaunchKernelEx(&config, kernel_of(name), params, NULL);
}

/* What the launch has done: so many clusters of so many blocks. */
static void expect_ran(unsigned clusters, unsigned blocks, bool is_explicit)
{
    unsigned counts[18];
    OK(cuMemcpyDtoH_v2(counts, out, sizeof counts));
    for (unsigned rank = 0; rank < 16; rank++)
        cr_expect_eq(counts[rank], rank < blocks ? clusters : 0, "rank %u: %u", rank, counts[rank]);
    cr_expect_eq(counts[16], clusters);
    cr_expect_eq(counts[17], is_explicit ? clusters * blocks : 0);
}

Test(clusters, the_launch_says_how_large_they_are, .init = start)
{
    CUlaunchAttribute eight = cluster_of(2, 4, 1), one = cluster_of(1, 1, 1);
    OK(launch("plain", 6, 8, &eight));
    expect_ran(6, 8, true);
    OK(launch("plain", 6, 8, NULL));
    expect_ran(48, 1, false);
    OK(launch("plain", 6, 8, &one));
    expect_ran(48, 1, true);
}

Test(clusters, the_kernel_says_how_large_they_are, .init = start)
{
    CUlaunchAttribute same = cluster_of(2, 2, 1), other = cluster_of(4, 1, 1);
    OK(launch("fours", 4, 6, NULL));
    expect_ran(6, 4, true);
    OK(launch("fours", 4, 6, &same));
    expect_ran(6, 4, true);
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("fours", 4, 6, &other));
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("fours", 5, 6, NULL));
}

Test(clusters, a_kernel_may_leave_it_to_the_launch_but_not_do_without, .init = start)
{
    CUlaunchAttribute three = cluster_of(3, 1, 1);
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("open", 6, 1, NULL));
    OK(launch("open", 6, 1, &three));
    expect_ran(2, 3, true);
}

Test(clusters, attributes_of_the_function_say_how_large_they_are, .init = start)
{
    CUfunction function = kernel_of("plain");
    int value = 0;
    OK(cuFuncSetAttribute(function, WIDTH, 2));
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("plain", 4, 1, NULL));
    OK(cuFuncSetAttribute(function, HEIGHT, 1));
    OK(cuFuncSetAttribute(function, DEPTH, 1));
    OK(launch("plain", 4, 1, NULL));
    expect_ran(2, 2, true);
    OK(cuFuncGetAttribute(&value, WIDTH, function));
    cr_expect_eq(value, 2);
    EXPECT(CRT_INVALID_VALUE, cuFuncSetAttribute(function, WIDTH, -1));
    EXPECT(CRT_NOT_PERMITTED, cuFuncSetAttribute(kernel_of("fours"), WIDTH, 2));
    OK(cuFuncGetAttribute(&value, HEIGHT, kernel_of("fours")));
    cr_expect_eq(value, 2);
    EXPECT(CRT_INVALID_VALUE, cuFuncSetAttribute(function, POLICY, 3));
    OK(cuFuncSetAttribute(function, POLICY, 2));
}

Test(clusters, more_than_eight_blocks_must_be_allowed, .init = start)
{
    CUlaunchAttribute nine = cluster_of(9, 1, 1), sixteen = cluster_of(16, 1, 1),
                      large = cluster_of(17, 1, 1), five = cluster_of(5, 1, 1);
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("plain", 9, 1, &nine));
    OK(cuFuncSetAttribute(kernel_of("plain"), NON_PORTABLE, 1));
    OK(launch("plain", 9, 1, &nine));
    expect_ran(1, 9, true);
    OK(launch("plain", 48, 1, &sixteen));
    expect_ran(3, 16, true);
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("plain", 34, 1, &large));
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("small", 5, 1, &five));
}

Test(clusters, grids_may_be_counted_in_clusters, .init = start)
{
    OK(launch("counted", 5, 1, NULL));
    expect_ran(5, 3, true);
}

Test(clusters, devices_before_9_0_have_none)
{
    static const char old[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry plain(.param .u64 out) { ret; }\n";
    CUlaunchAttribute two = cluster_of(2, 1, 1), one = cluster_of(1, 1, 1);
    int has = -1;
    setenv("PTXRUN_COMPUTE_CAPABILITY", "8.0", 1);
    make_context();
    OK(cuModuleLoadData(&module, old));
    OK(cuMemAlloc_v2(&out, 256));
    EXPECT(CRT_INVALID_CLUSTER_SIZE, launch("plain", 4, 1, &two));
    OK(launch("plain", 4, 1, &one));
    OK(cuDeviceGetAttribute(&has, 120, 0));
    cr_expect_eq(has, 0);
}

Test(clusters, nodes_of_graphs_have_them_too, .init = start)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    void *params[] = {&out};
    CUDA_KERNEL_NODE_PARAMS node_params = {.func = kernel_of("plain"),
                                           .gridDimX = 8,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = params};
    CUlaunchAttributeValue four = {.clusterDim = {4, 1, 1}}, got = {.clusterDim = {9, 9, 9}};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &node_params));
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &four));
    OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &got));
    cr_expect_eq(got.clusterDim.x, 4);
    OK(cuGraphKernelNodeSetParams_v2(node, &node_params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemsetD8_v2(out, 0, 256));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    expect_ran(2, 4, true);
}

Test(clusters, occupancy_counts_whole_ones, .init = start)
{
    CUlaunchAttribute four = cluster_of(4, 1, 1), nine = cluster_of(9, 1, 1);
    CUlaunchConfig config = config_of(36, 1, &four);
    CUfunction function = kernel_of("plain");
    int size = 0, clusters = 0, blocks = 0, multiprocessors = 0;
    OK(cuOccupancyMaxPotentialClusterSize(&size, function, &config));
    cr_expect_eq(size, 8);
    OK(cuOccupancyMaxPotentialClusterSize(&size, kernel_of("small"), &config));
    cr_expect_eq(size, 4);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1, 0));
    OK(cuDeviceGetAttribute(&multiprocessors, 16, 0));
    OK(cuOccupancyMaxActiveClusters(&clusters, function, &config));
    cr_expect_eq(clusters, blocks * multiprocessors / 4);
    config.attrs = &nine;
    EXPECT(CRT_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&clusters, function, &config));
    OK(cuFuncSetAttribute(function, NON_PORTABLE, 1));
    OK(cuOccupancyMaxPotentialClusterSize(&size, function, &config));
    cr_expect_eq(size, 16);
    OK(cuOccupancyMaxActiveClusters(&clusters, function, &config));
    cr_expect_eq(clusters, blocks * multiprocessors / 9);
}

Test(clusters, events_of_launches_are_recorded, .init = start)
{
    CUevent event;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    OK(cuEventCreate(&event, 0));
    attribute.value.event = event;
    OK(cuEventRecord(event, NULL));
    OK(cuEventSynchronize(event));
    OK(launch("plain", 3, 1, &attribute));
    OK(cuEventSynchronize(event));
    expect_ran(3, 1, false);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    OK(launch("plain", 4, 1, &attribute));
    expect_ran(4, 1, false);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attribute.value.event = NULL;
    EXPECT(CRT_INVALID_HANDLE, launch("plain", 4, 1, &attribute));
}
