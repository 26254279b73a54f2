/* SPDX-License-Identifier: Apache-2.0
 *
 * What captures forbid: to whom, by the modes of the capture and of the thread; the null stream;
 * whole contexts.
 */
#include <pthread.h>

#include "stream_fixture.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };

/* Querying an event outside of all captures is potentially unsafe. */
static CUresult do_unsafe(void)
{
    return cuEventQuery(make_event(2));
}

struct asking {
    int mode; /* of the thread that asks */
    CUresult result;
};

static void *ask_in_mode(void *arg)
{
    struct asking *asking = arg;
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    int mode = asking->mode;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    cr_expect_eq(mode, GLOBAL); /* with which every thread begins */
    asking->result = do_unsafe();
    return NULL;
}

static CUresult ask_elsewhere(int mode)
{
    struct asking asking = {.mode = mode};
    pthread_t thread;
    pthread_create(&thread, NULL, ask_in_mode, &asking);
    pthread_join(thread, NULL);
    return asking.result;
}

static CUresult ask_here(int mode)
{
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CUresult result = do_unsafe();
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    return result;
}

/* Whether the call is refused, and so makes the capture invalid. */
static void expect_refused(bool wanted, int capture_mode, int thread_mode, bool is_elsewhere)
{
    CUstream stream = make_stream(1);
    CUgraph graph;
    OK(cuStreamBeginCapture_v2(stream, capture_mode));
    CUresult got = is_elsewhere ? ask_elsewhere(thread_mode) : ask_here(thread_mode);
    cr_expect_eq(got, wanted ? CRT_STREAM_CAPTURE_UNSUPPORTED : CRT_SUCCESS,
                 "capture %d, thread %d, elsewhere %d: %d", capture_mode, thread_mode, is_elsewhere,
                 (int)got);
    EXPECT(wanted ? CRT_STREAM_CAPTURE_INVALIDATED : CRT_SUCCESS,
           cuStreamEndCapture(stream, &graph));
    if (graph)
        OK(cuGraphDestroy(graph));
}

Test(capture_modes, unsafe_calls_are_refused_as_the_modes_say, .init = make_context)
{
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        expect_refused(mode != RELAXED, mode, GLOBAL, false);
        expect_refused(mode != RELAXED, mode, THREAD_LOCAL, false);
        expect_refused(false, mode, RELAXED, false);
        expect_refused(mode == GLOBAL, mode, GLOBAL, true);
        expect_refused(false, mode, THREAD_LOCAL, true);
        expect_refused(false, mode, RELAXED, true);
    }
}

/* What is loaded in a capture can be launched in it, as with drivers since CUDA 12.3. */
Test(capture_modes, modules_may_be_loaded_in_captures, .init = make_context)
{
    CUresult (*const loads[])(CUmodule *, const void *) = {cuModuleLoadData, cuModuleLoadFatBinary};
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        for (int i = 0; i < 2; i++) {
            CUstream stream = make_stream(1);
            CUgraph graph;
            CUmodule module;
            OK(cuStreamBeginCapture_v2(stream, mode));
            OK(loads[i](&module, stream_ptx));
            OK(cuStreamEndCapture(stream, &graph));
            OK(cuGraphDestroy(graph));
            OK(cuModuleUnload(module));
        }
    }
}

/* What was launched before may need them still. */
Test(capture_modes, modules_are_unloaded_outside_of_captures, .init = make_context)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, stream_ptx));
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        CUresult wanted = mode == RELAXED ? CRT_SUCCESS : CRT_STREAM_CAPTURE_UNSUPPORTED;
        CUstream stream = make_stream(1);
        CUgraph graph;
        OK(cuStreamBeginCapture_v2(stream, mode));
        EXPECT(wanted, cuModuleUnload(module));
        EXPECT(wanted == CRT_SUCCESS ? CRT_SUCCESS : CRT_STREAM_CAPTURE_INVALIDATED,
               cuStreamEndCapture(stream, &graph));
    }
}

/* The runtime loads a program's kernels when they are launched first, be it in a capture. */
Test(capture_modes, a_kernel_may_be_launched_for_the_first_time_in_a_capture, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUgraph graph;
    CUgraphExec exec;
    _Atomic(unsigned) *words = make_words(1);
    OK(cuStreamBeginCapture_v2(stream, GLOBAL));
    launch_put(stream, (const void *)words, 7);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(words[0], 7);
}

struct ending {
    CUstream stream;
    CUresult result;
    CUgraph graph;
};

static void *end_elsewhere(void *arg)
{
    struct ending *ending = arg;
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    ending->result = cuStreamEndCapture(ending->stream, &ending->graph);
    return NULL;
}

Test(capture_modes, only_a_relaxed_capture_can_be_ended_by_another_thread, .init = make_context)
{
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        struct ending ending = {.stream = make_stream(1)};
        pthread_t thread;
        CUgraph graph = NULL;
        OK(cuStreamBeginCapture_v2(ending.stream, mode));
        pthread_create(&thread, NULL, end_elsewhere, &ending);
        pthread_join(thread, NULL);
        cr_expect_eq(ending.result,
                     mode == RELAXED ? CRT_SUCCESS : CRT_STREAM_CAPTURE_WRONG_THREAD);
        EXPECT(mode == RELAXED ? CRT_ILLEGAL_STATE : CRT_SUCCESS,
               cuStreamEndCapture(ending.stream, &graph));
        OK(cuGraphDestroy(graph ? graph : ending.graph));
    }
}

Test(capture_modes, the_null_stream_is_unusable_while_a_blocking_stream_captures,
     .init = make_context)
{
    CUstream stream = make_stream(0);
    CUstreamCaptureStatus status;
    CUgraph graph;
    unsigned flags;
    OK(cuStreamBeginCapture_v2(stream, RELAXED));
    /* Asking does no harm. */
    EXPECT(CRT_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(NULL, &status));
    EXPECT(CRT_STREAM_CAPTURE_IMPLICIT, cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL));
    OK(cuStreamGetFlags(NULL, &flags));
    OK(cuStreamIsCapturing(stream, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    /* Using it does. */
    EXPECT(CRT_STREAM_CAPTURE_IMPLICIT, cuLaunchHostFunc(NULL, note, "a"));
    OK(cuStreamIsCapturing(stream, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT(CRT_STREAM_CAPTURE_IMPLICIT, cuStreamSynchronize(NULL));
    EXPECT(CRT_STREAM_CAPTURE_IMPLICIT, cuStreamQuery(NULL));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    EXPECT(CRT_SUCCESS, cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "");
}

Test(capture_modes, the_null_stream_works_beside_a_capture_of_a_non_blocking_stream,
     .init = make_context)
{
    CUstream stream = make_stream(1);
    CUgraph graph;
    OK(cuStreamBeginCapture_v2(stream, GLOBAL));
    OK(cuLaunchHostFunc(NULL, note, "a"));
    OK(cuLaunchHostFunc(stream, note, "b"));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "a");
}

Test(capture_modes, the_null_stream_cannot_be_captured, .init = make_context)
{
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, RELAXED));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(CU_STREAM_LEGACY, GLOBAL));
    CUstream stream = make_stream(1);
    CUevent event = make_event(2);
    CUgraph graph;
    OK(cuStreamBeginCapture(stream));
    OK(cuEventRecord(event, stream));
    EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, cuStreamWaitEvent(NULL, event, 0));
    EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
}

Test(capture_modes, a_context_with_a_capture_is_neither_recorded_nor_waited_for,
     .init = make_context)
{
    CUcontext ctx;
    CUgraph graph;
    OK(cuCtxGetCurrent(&ctx));
    CUevent event = make_event(2);
    CUresult (*const calls[])(CUcontext, CUevent) = {cuCtxRecordEvent, cuCtxWaitEvent};
    for (int i = 0; i < 2; i++) {
        CUstream stream = make_stream(1);
        OK(cuStreamBeginCapture_v2(stream, RELAXED));
        EXPECT(CRT_STREAM_CAPTURE_UNSUPPORTED, calls[i](ctx, event));
        EXPECT(CRT_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
        OK(calls[i](ctx, event));
    }
}
