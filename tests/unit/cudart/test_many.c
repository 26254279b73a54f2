/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects made and destroyed again and again: memory stays where it was.
 */
#include <stdio.h>
#include <unistd.h>

#include "stream_fixture.h"

enum { ROUNDS = 400, AT_ONCE = 64 };

/* Sanitizers keep what is freed for a while. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLACK_BYTES ((long)1 << 40)
#else
#define SLACK_BYTES ((long)3 << 20)
#endif

static long resident_bytes(void)
{
    long all = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/* What a tenth of the rounds needs must do for all of them. */
static void expect_bounded(void (*round)(void))
{
    long before = 0;
    for (int i = 0; i < ROUNDS; i++) {
        round();
        if (i == ROUNDS / 10)
            before = resident_bytes();
    }
    long grown = resident_bytes() - before;
    cr_expect(grown < SLACK_BYTES, "%ld bytes more", grown);
}

static CUgraph make_graph(int nodes)
{
    CUDA_HOST_NODE_PARAMS params = {.fn = note, .userData = ""};
    CUgraph graph;
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < nodes; i++)
        OK(cuGraphAddHostNode(&node, graph, &node, node != NULL, &params));
    return graph;
}

/* 10,000 instantiations altogether, each launched and destroyed while it may still run. */
static void use_executable_graphs(void)
{
    CUgraphExec exec;
    CUgraph graph = make_graph(8);
    for (int i = 0; i < 25; i++) {
        OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cuGraphLaunch(exec, NULL));
        OK(cuGraphExecDestroy(exec));
    }
    OK(cuGraphDestroy(graph));
    OK(cuCtxSynchronize());
}

/* 25,000 streams and events, and as many graphs, captured. */
static void use_streams(void)
{
    CUstream streams[AT_ONCE];
    CUevent events[AT_ONCE];
    CUgraph graphs[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        streams[i] = make_stream(i % 2);
        events[i] = make_event(2);
        OK(cuStreamBeginCapture_v2(streams[i], 2));
        OK(cuLaunchHostFunc(streams[i], note, ""));
        OK(cuStreamEndCapture(streams[i], &graphs[i]));
        OK(cuEventRecord(events[i], streams[i]));
        OK(cuStreamWaitEvent(streams[0], events[i], 0));
    }
    for (int i = 0; i < AT_ONCE; i++) {
        OK(cuStreamDestroy_v2(streams[i]));
        OK(cuEventDestroy_v2(events[i]));
        OK(cuGraphDestroy(graphs[i]));
    }
    OK(cuCtxSynchronize());
}

static void use_contexts(void)
{
    CUcontext ctx;
    CUmodule module;
    CUdeviceptr memory;
    OK(cuCtxCreate_v2(&ctx, 0, 0));
    OK(cuModuleLoadData(&module, stream_ptx));
    OK(cuMemAlloc_v2(&memory, 4096));
    OK(cuMemAllocAsync(&memory, 4096, NULL));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, ""));
    OK(cuCtxDestroy_v2(ctx));
}

Test(many, executable_graphs, .init = make_context, .timeout = 120)
{
    expect_bounded(use_executable_graphs);
}

Test(many, streams_events_and_graphs, .init = make_context, .timeout = 120)
{
    expect_bounded(use_streams);
}

Test(many, contexts_with_what_they_own, .init = make_context, .timeout = 120)
{
    expect_bounded(use_contexts);
}
