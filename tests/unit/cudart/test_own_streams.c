/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads' own default streams: how long they live.
 */
#include <pthread.h>

#include "cudart/core/streams/context.h"
#include "stream_fixture.h"

static CUcontext ctx;

static void start(void)
{
    make_context();
    OK(cuCtxGetCurrent(&ctx));
}

static void run_thread(void *(*run)(void *), void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, arg);
    pthread_join(thread, NULL);
}

static void *use_own_stream(void *arg)
{
    OK(cuCtxSetCurrent(ctx));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, arg));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

Test(own_streams, a_thread_s_stream_ends_with_it, .init = start, .timeout = 60)
{
    unsigned before = ctx->stream_count;
    for (int i = 0; i < 50; i++)
        run_thread(use_own_stream, i % 10 == 0 ? "a" : "");
    cr_expect_eq(ctx->stream_count, before);
    cr_expect_str_eq(history, "aaaaa");
}

static void *leave_work(void *arg)
{
    OK(cuCtxSetCurrent(ctx));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, wait_gate, arg));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, "b"));
    return NULL;
}

/* The stream is a blocking one: the null stream still waits for what is left of it. */
Test(own_streams, work_left_by_a_thread_runs_and_keeps_its_order, .init = start, .timeout = 60)
{
    run_thread(leave_work, "a");
    OK(cuLaunchHostFunc(NULL, note, "c"));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "abc");
}

static void *leave_capture(void *arg)
{
    (void)arg;
    OK(cuCtxSetCurrent(ctx));
    OK(cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, 0));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, "a"));
    return NULL;
}

Test(own_streams, a_capture_in_it_ends_too, .init = start, .timeout = 60)
{
    run_thread(leave_capture, NULL);
    OK(cuLaunchHostFunc(NULL, note, "b")); /* no blocking stream captures any more */
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "b");
}

static void *use_several_contexts(void *arg)
{
    CUcontext other;
    use_own_stream(arg);
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, arg));
    OK(cuCtxDestroy_v2(other)); /* and with it the stream in it */
    return use_own_stream(arg);
}

/* Threads end while contexts end in which they had streams. */
Test(own_streams, threads_and_contexts_may_end_in_any_order, .init = start, .timeout = 120)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    unsigned before = ctx->stream_count;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, use_several_contexts, "");
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    cr_expect_eq(ctx->stream_count, before);
}

static pthread_key_t late_key;

/* Runs when the own stream has ended already, or before: either way there is one. */
static void use_late(void *arg)
{
    OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, arg));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static void *have_late_destructor(void *arg)
{
    use_own_stream("a");
    pthread_setspecific(late_key, arg);
    return NULL;
}

Test(own_streams, destructors_of_a_thread_may_use_its_stream, .init = start, .timeout = 60)
{
    unsigned before = ctx->stream_count;
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD)); /* so that our destructor comes first */
    pthread_key_create(&late_key, use_late);
    before = ctx->stream_count;
    run_thread(have_late_destructor, "b");
    cr_expect_eq(ctx->stream_count, before);
    cr_expect_str_eq(history, "ab");
}
