/* SPDX-License-Identifier: Apache-2.0
 *
 * Which work waits for which, and which may run at the same time: kernels and copies in several
 * streams. What may run at once is shown by kernels that can only end together.
 */
#include <pthread.h>
#include <stdlib.h>

#include "stream_fixture.h"

/* Holds a stream up until gate is opened. */
static void hold(CUstream stream)
{
    OK(cuLaunchHostFunc(stream, wait_gate, ""));
}

static void open_gate(void)
{
    atomic_store(&gate, 1);
}

/* ---- orders that must hold ---- */

Test(order, kernels_of_one_stream_run_one_after_the_other, .init = make_context)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *word = make_words(1);
    for (unsigned digit = 1; digit < 10; digit++)
        launch_add(stream, word, digit);
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(*word, 123456789);
}

/* A kernel in a stream waits for what was in that stream and in the null stream at launch. */
Test(order, a_kernel_waits_for_its_stream_and_the_null_stream, .init = make_context)
{
    CUstream stream = make_stream(0);
    CUstream other = make_stream(0);
    _Atomic(unsigned) *word = make_words(2);
    hold(NULL);
    launch_add(NULL, &word[0], 1);
    launch_add(stream, &word[0], 2);
    launch_put(other, &word[1], 1);
    sleep_ms(20);
    cr_expect_eq(word[0], 0);
    cr_expect_eq(word[1], 0);
    open_gate();
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(word[0], 12);
    OK(cuStreamSynchronize(other));
    cr_expect_eq(word[1], 1);
}

/* A null-stream launch waits for what was in every blocking stream at launch. */
Test(order, a_kernel_in_the_null_stream_waits_for_all_blocking_streams, .init = make_context)
{
    CUstream streams[3] = {make_stream(0), make_stream(0), CU_STREAM_PER_THREAD};
    _Atomic(unsigned) *word = make_words(1);
    CUevent chain = make_event(2);
    hold(streams[0]);
    for (unsigned i = 0; i < 3; i++) {
        OK(cuStreamWaitEvent(streams[i], chain, 0));
        launch_add(streams[i], word, i + 1);
        OK(cuEventRecord(chain, streams[i]));
    }
    launch_add(NULL, word, 4);
    launch_add(streams[1], word, 5);
    sleep_ms(20);
    cr_expect_eq(*word, 0);
    open_gate();
    OK(cuStreamSynchronize(streams[1]));
    cr_expect_eq(*word, 12345);
}

Test(order, what_is_launched_later_in_another_stream_is_not_waited_for, .init = make_context)
{
    CUstream first = make_stream(0);
    CUstream second = make_stream(0);
    _Atomic(unsigned) *word = make_words(1);
    launch_put(first, word, 7);
    hold(second);
    OK(cuStreamSynchronize(first));
    cr_expect_eq(*word, 7);
    open_gate();
}

Test(order, events_order_streams_as_recorded_last, .init = make_context)
{
    CUstream first = make_stream(1);
    CUstream second = make_stream(1);
    CUstream third = make_stream(1);
    CUevent event = make_event(0);
    _Atomic(unsigned) *word = make_words(1);
    hold(first);
    launch_add(first, word, 1);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuEventRecord(event, third)); /* does not change what second waits for */
    OK(cuEventSynchronize(event));
    launch_add(second, word, 2);
    sleep_ms(20);
    cr_expect_eq(*word, 0);
    open_gate();
    OK(cuStreamSynchronize(second));
    cr_expect_eq(*word, 12);
}

Test(order, the_order_reaches_through_callbacks_and_copies, .init = make_context)
{
    CUstream stream = make_stream(1);
    _Atomic(unsigned) *pinned = make_words(2);
    CUdeviceptr memory;
    OK(cuMemAlloc_v2(&memory, 4));
    pinned[0] = 1;
    hold(stream);
    OK(cuMemcpyHtoDAsync_v2(memory, (void *)&pinned[0], 4, stream));
    launch_add(stream, (void *)(uintptr_t)memory, 2);
    OK(cuMemcpyDtoHAsync_v2((void *)&pinned[1], memory, 4, stream));
    launch_add(stream, &pinned[1], 3);
    cr_expect_eq(pinned[1], 0);
    open_gate();
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(pinned[1], 123);
}

/* "Captures all the activities of the context", "all future work submitted to it waits". */
Test(order, a_context_can_be_recorded_and_can_wait, .init = make_context)
{
    CUcontext ctx;
    CUstream streams[2] = {make_stream(1), make_stream(0)};
    CUevent before = make_event(2);
    CUevent all = make_event(2);
    _Atomic(unsigned) *word = make_words(1);
    OK(cuCtxGetCurrent(&ctx));
    hold(streams[0]);
    OK(cuEventRecord(before, streams[0]));
    OK(cuCtxRecordEvent(ctx, all));
    EXPECT(CRT_NOT_READY, cuEventQuery(all));
    OK(cuCtxWaitEvent(ctx, before));
    launch_add(streams[1], word, 1);
    CUstream created_later = make_stream(1);
    EXPECT(CRT_NOT_READY, cuStreamQuery(created_later));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    sleep_ms(20);
    cr_expect_eq(*word, 0);
    open_gate();
    OK(cuStreamSynchronize(created_later));
    OK(cuEventSynchronize(all));
    OK(cuCtxSynchronize());
    cr_expect_eq(*word, 1);
}

static void *use_null_of_thread(void *arg)
{
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    _Atomic(unsigned) *words = arg;
    unsigned value = 5;
    void *out = (void *)&words[1];
    OK(cuLaunchKernel_ptsz(get_kernel("put"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out, &value},
                           NULL));
    OK(cuStreamSynchronize_ptsz(NULL));
    return NULL;
}

Test(order, per_thread_default_streams_do_not_wait_for_each_other, .init = make_context)
{
    _Atomic(unsigned) *words = make_words(2);
    pthread_t thread;
    get_kernel("put");
    OK(cuLaunchHostFunc_ptsz(NULL, wait_gate, ""));
    pthread_create(&thread, NULL, use_null_of_thread, (void *)words);
    pthread_join(thread, NULL);
    cr_expect_eq(words[1], 5);
    EXPECT(CRT_NOT_READY, cuStreamQuery_ptsz(NULL));
    open_gate();
    OK(cuStreamSynchronize_ptsz(NULL));
}

/* ---- what may run at the same time ---- */

Test(order, kernels_of_two_streams_meet, .init = make_context, .timeout = 60)
{
    for (unsigned flags = 0; flags < 2; flags++) {
        _Atomic(unsigned) *words = make_words(2);
        CUstream first = make_stream(flags);
        CUstream second = make_stream(flags);
        launch_meet(first, &words[0], &words[1]);
        launch_meet(second, &words[1], &words[0]);
        OK(cuStreamSynchronize(first));
        OK(cuStreamSynchronize(second));
    }
}

Test(order, a_copy_overlaps_a_kernel, .init = make_context, .timeout = 60)
{
    _Atomic(unsigned) *words = make_words(2);
    CUstream kernels = make_stream(1);
    CUstream copies = make_stream(1);
    CUdeviceptr flag;
    unsigned one = 1;
    _Atomic(unsigned) *place;
    OK(cuMemAlloc_v2(&flag, 4));
    OK(cuMemsetD32_v2(flag, 0, 1));
    place = (_Atomic(unsigned) *)(uintptr_t)flag;
    launch_meet(kernels, &words[0], place);
    while (!words[0])
        sleep_ms(1); /* the kernel runs, and ends only after the copy */
    OK(cuMemcpyHtoDAsync_v2(flag, &one, 4, copies));
    OK(cuStreamSynchronize(copies));
    OK(cuStreamSynchronize(kernels));
}

static void set_word(void *arg)
{
    *(_Atomic(unsigned) *)arg = 1;
}

Test(order, a_host_function_overlaps_a_kernel, .init = make_context, .timeout = 60)
{
    _Atomic(unsigned) *words = make_words(2);
    CUstream kernels = make_stream(1);
    CUstream functions = make_stream(1);
    launch_meet(kernels, &words[0], &words[1]);
    OK(cuLaunchHostFunc(functions, set_word, (void *)&words[1]));
    OK(cuStreamSynchronize(kernels));
}

/* ---- when calls return ---- */

/* However short its launches before were, and after whatever it is launched. */
Test(order, a_launch_does_not_wait_for_a_kernel_that_waits_for_the_host, .init = make_context,
     .timeout = 60)
{
    _Atomic(unsigned) *words = make_words(2);
    CUstream stream = make_stream(1);
    words[1] = 1;
    for (int i = 0; i < 20; i++)
        launch_meet(stream, &words[0], &words[1]);
    OK(cuStreamSynchronize(stream));
    words[1] = 0;
    launch_meet(stream, &words[0], &words[1]);
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    words[1] = 1;
    OK(cuStreamSynchronize(stream));
}

Test(order, an_asynchronous_copy_between_known_memory_does_not_wait, .init = make_context)
{
    enum { BYTES = 4 << 20 };
    CUstream stream = make_stream(1);
    CUdeviceptr memory;
    char *pinned;
    OK(cuMemAlloc_v2(&memory, BYTES));
    OK(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    OK(cuMemsetD8_v2(memory, 5, BYTES));
    OK(cuCtxSynchronize());
    memset(pinned, 0, BYTES);
    hold(stream);
    OK(cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, stream));
    OK(cuMemcpyDtoDAsync_v2(memory, memory + BYTES / 2, BYTES / 2, stream));
    OK(cuMemsetD8Async(memory, 6, BYTES, stream));
    OK(cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, stream));
    cr_expect_eq(pinned[0], 0);
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    open_gate();
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(pinned[BYTES - 1], 5);
}

static void *open_later(void *arg)
{
    sleep_ms(30);
    *(_Atomic(int) *)arg = 1; /* before the gate: who comes past it sees this */
    open_gate();
    return NULL;
}

Test(order, a_copy_to_pageable_memory_returns_when_it_is_done, .init = make_context)
{
    CUstream stream = make_stream(1);
    CUdeviceptr memory;
    unsigned host = 0;
    _Atomic(int) was_opened = 0;
    pthread_t thread;
    OK(cuMemAlloc_v2(&memory, 4));
    OK(cuMemsetD32_v2(memory, 9, 1));
    OK(cuCtxSynchronize());
    hold(stream);
    pthread_create(&thread, NULL, open_later, (void *)&was_opened);
    OK(cuMemcpyDtoHAsync_v2(&host, memory, 4, stream));
    cr_expect_eq(was_opened, 1);
    cr_expect_eq(host, 9);
    pthread_join(thread, NULL);
}

Test(order, a_large_pageable_source_is_read_before_the_copy_returns, .init = make_context)
{
    enum { BYTES = 8 << 20 };
    CUstream stream = make_stream(1);
    CUdeviceptr memory;
    _Atomic(int) was_opened = 0;
    pthread_t thread;
    unsigned char *host = malloc(BYTES);
    unsigned char last;
    memset(host, 3, BYTES);
    OK(cuMemAlloc_v2(&memory, BYTES));
    hold(stream);
    pthread_create(&thread, NULL, open_later, (void *)&was_opened);
    OK(cuMemcpyHtoDAsync_v2(memory, host, BYTES, stream));
    memset(host, 9, BYTES);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&last, memory + BYTES - 1, 1));
    cr_expect_eq(last, 3);
    pthread_join(thread, NULL);
    free(host);
}

/* ---- errors and callbacks ---- */

static struct {
    atomic_int calls;
    atomic_int status;
    CUstream stream;
} called;

static void remember(CUstream stream, CUresult status, void *arg)
{
    (void)arg;
    called.stream = stream;
    atomic_store(&called.status, (int)status);
    atomic_fetch_add(&called.calls, 1);
}

static void count_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&called.calls, 1);
}

/* "Callbacks are executed in case of an error"; host functions are not. */
Test(order, a_callback_learns_of_a_fault_and_a_host_function_does_not_run, .init = make_context)
{
    CUstream stream = make_stream(1);
    void *none[1];
    hold(stream);
    OK(launch_one(get_kernel("stop"), stream, none));
    OK(cuStreamAddCallback(stream, remember, NULL, 0));
    OK(cuLaunchHostFunc(stream, count_call, NULL));
    open_gate();
    CUresult result = cuStreamSynchronize(stream);
    cr_expect_neq(result, CRT_SUCCESS);
    cr_expect_eq(atomic_load(&called.calls), 1);
    cr_expect_eq(atomic_load(&called.status), (int)result);
    cr_expect_eq(called.stream, stream);
    EXPECT(result, cuStreamQuery(stream));
    EXPECT(result, cuStreamAddCallback(stream, remember, NULL, 0));
}

Test(order, per_thread_forms_use_the_threads_own_stream, .init = make_context)
{
    CUevent event = make_event(0);
    OK(cuStreamAddCallback_ptsz(NULL, remember, NULL, 0));
    OK(cuEventRecord_ptsz(event, NULL));
    OK(cuEventRecordWithFlags_ptsz(event, NULL, 0));
    OK(cuStreamWaitEvent_ptsz(NULL, event, 0));
    OK(cuStreamSynchronize_ptsz(NULL));
    cr_expect_null(atomic_load(&called.status) ? called.stream : NULL);
    cr_expect_eq(atomic_load(&called.calls), 1);
    OK(cuEventDestroy(event));
}
