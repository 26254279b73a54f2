/* SPDX-License-Identifier: Apache-2.0
 *
 * After the fault of a kernel: every call that has to do with the context says so, also those that
 * give something back; what has nothing to do with it works.
 */
#include "stream_fixture.h"

/* What existed before the fault. */
struct objects {
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    void *host;
    CUmodule module;
    CUfunction function;
    CUgraph graph;
    CUgraphExec exec;
    CUarray array;
};

static struct objects have;

static void make_objects(void)
{
    CUgraphNode node;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 4, .Height = 4, .Format = 1, .NumChannels = 1};
    have.stream = make_stream(1);
    have.event = make_event(2);
    OK(cuMemAlloc_v2(&have.memory, 64));
    OK(cuMemHostAlloc(&have.host, 64, 0));
    OK(cuModuleLoadData(&have.module, stream_ptx));
    OK(cuModuleGetFunction(&have.function, have.module, "stop"));
    OK(cuGraphCreate(&have.graph, 0));
    OK(cuGraphAddEmptyNode(&node, have.graph, NULL, 0));
    OK(cuGraphInstantiateWithFlags(&have.exec, have.graph, 0));
    OK(cuArrayCreate_v2(&have.array, &shape));
}

static void fail(void)
{
    make_context();
    make_objects();
    OK(launch_one(have.function, have.stream, NULL));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamSynchronize(have.stream));
}

Test(sticky, calls_that_give_something_back_tell_of_the_fault, .init = fail)
{
    EXPECT(CRT_LAUNCH_FAILED, cuMemFree_v2(have.memory));
    EXPECT(CRT_LAUNCH_FAILED, cuMemFreeHost(have.host));
    EXPECT(CRT_LAUNCH_FAILED, cuMemFreeHost(NULL));
    EXPECT(CRT_LAUNCH_FAILED, cuArrayDestroy(have.array));
    EXPECT(CRT_LAUNCH_FAILED, cuEventDestroy_v2(have.event));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamDestroy_v2(have.stream));
    EXPECT(CRT_LAUNCH_FAILED, cuGraphExecDestroy(have.exec));
    EXPECT(CRT_LAUNCH_FAILED, cuModuleUnload(have.module));
}

Test(sticky, calls_that_ask_or_make_tell_of_the_fault, .init = fail)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec;
    CUmodule module;
    CUevent event;
    size_t bytes;
    int value;
    EXPECT(CRT_LAUNCH_FAILED, cuModuleLoadData(&module, stream_ptx));
    EXPECT(CRT_LAUNCH_FAILED, cuModuleGetFunction(&have.function, have.module, "put"));
    EXPECT(CRT_LAUNCH_FAILED, cuFuncGetAttribute(&value, 0, have.function));
    EXPECT(CRT_LAUNCH_FAILED, cuFuncSetCacheConfig(have.function, 0));
    EXPECT(CRT_LAUNCH_FAILED, cuMemcpyHtoD_v2(have.memory, &value, 4));
    EXPECT(CRT_LAUNCH_FAILED, cuMemsetD8_v2(have.memory, 0, 4));
    EXPECT(CRT_LAUNCH_FAILED, cuMemGetInfo_v2(&bytes, &bytes));
    EXPECT(CRT_LAUNCH_FAILED, cuMemHostUnregister(have.host));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamQuery(have.stream));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamWaitEvent(have.stream, have.event, 0));
    EXPECT(CRT_LAUNCH_FAILED, cuEventCreate(&event, 0));
    EXPECT(CRT_LAUNCH_FAILED, cuEventQuery(have.event));
    EXPECT(CRT_LAUNCH_FAILED, cuEventSynchronize(have.event));
    EXPECT(CRT_LAUNCH_FAILED, cuGraphInstantiateWithFlags(&exec, have.graph, 0));
    EXPECT(CRT_LAUNCH_FAILED, cuGraphExecUpdate_v2(have.exec, have.graph, &info));
    EXPECT(CRT_LAUNCH_FAILED, cuGraphLaunch(have.exec, have.stream));
    EXPECT(CRT_LAUNCH_FAILED, cuCtxSynchronize());
    EXPECT(CRT_LAUNCH_FAILED, cuStreamDestroy_v2((CUstream)&info)); /* before what else is wrong */
}

Test(sticky, calls_without_a_context_work_and_a_reset_forgets_the_fault, .init = fail)
{
    CUcontext ctx;
    CUdevice device;
    int count;
    EXPECT(CRT_SUCCESS, cuDeviceGetCount(&count));
    EXPECT(CRT_SUCCESS, cuCtxGetCurrent(&ctx));
    EXPECT(CRT_SUCCESS, cuCtxGetDevice(&device));
    EXPECT(CRT_SUCCESS, cuGraphDestroy(have.graph));
    EXPECT(CRT_SUCCESS, cuDevicePrimaryCtxReset(0));
    make_context();
    make_objects();
    EXPECT(CRT_SUCCESS, cuMemFreeHost(have.host));
    EXPECT(CRT_SUCCESS, cuStreamDestroy_v2(have.stream));
}

/* A fault belongs to its context: another one does not hear of it, whoever's thread it is. */
Test(sticky, another_context_works_on_but_not_with_streams_of_the_failed_one, .init = fail)
{
    CUcontext other;
    CUdeviceptr memory;
    OK(cuCtxCreate_v2(&other, 0, 0));
    EXPECT(CRT_SUCCESS, cuMemAlloc_v2(&memory, 64));
    EXPECT(CRT_SUCCESS, cuMemFree_v2(memory));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamQuery(have.stream));
    EXPECT(CRT_LAUNCH_FAILED, cuEventDestroy_v2(have.event));
    EXPECT(CRT_LAUNCH_FAILED, cuStreamDestroy_v2(have.stream));
    EXPECT(CRT_SUCCESS, cuCtxDestroy_v2(other));
}
