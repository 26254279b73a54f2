/* SPDX-License-Identifier: Apache-2.0
 *
 * Many host threads that use streams, events and captures at the same time, of their own and
 * shared ones.
 */
#include <pthread.h>

#include "stream_fixture.h"

enum { THREADS = 6, ROUNDS = 60 };

static struct {
    CUcontext ctx;
    CUevent event;     /* recorded and waited for by all */
    CUstream shared;   /* used by all */
    CUdeviceptr sums;  /* a word for each thread */
    atomic_uint calls; /* of host functions */
} all;

static void count_call(void *arg)
{
    (void)arg;
    atomic_fetch_add(&all.calls, 1);
}

static void use_capture(CUstream stream)
{
    CUgraph graph;
    OK(cuStreamBeginCapture_v2(stream, 2));
    OK(cuLaunchHostFunc(stream, count_call, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
}

/* All that a thread does with a stream of its own leaves its word at ROUNDS. */
static void use_round(CUstream own, CUevent event, CUdeviceptr word, unsigned round)
{
    unsigned value;
    OK(cuStreamWriteValue32(own, word, round, 0));
    OK(cuEventRecord(event, own));
    OK(cuStreamWaitEvent(all.shared, event, 0));
    OK(cuEventRecord(all.event, round % 2 ? all.shared : NULL));
    OK(cuStreamWaitEvent(own, all.event, 0));
    OK(cuLaunchHostFunc(own, count_call, NULL));
    OK(cuStreamWaitValue32(own, word, round, 1));
    OK(cuStreamWriteValue32(own, word, round + 1, 0));
    OK(cuMemcpyDtoHAsync_v2(&value, word, 4, own));
    cr_expect_eq(value, round + 1);
    CUresult result = cuEventQuery(all.event);
    cr_expect(result == CRT_SUCCESS || result == CRT_NOT_READY);
}

static void *use_streams(void *arg)
{
    unsigned index = (unsigned)(uintptr_t)arg;
    CUevent event;
    OK(cuCtxSetCurrent(all.ctx));
    OK(cuEventCreate(&event, 2));
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUstream own = make_stream(index % 2);
        use_round(own, event, all.sums + 4 * index, round);
        /* A capture of a blocking stream keeps others from the null stream. */
        if (index % 2)
            use_capture(own);
        OK(cuStreamDestroy_v2(own));
    }
    OK(cuStreamSynchronize(all.shared));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy_v2(event));
    return NULL;
}

Test(order_threads, threads_share_streams_and_events, .init = make_context, .timeout = 200)
{
    pthread_t threads[THREADS];
    unsigned sums[THREADS];
    OK(cuCtxGetCurrent(&all.ctx));
    all.event = make_event(2);
    all.shared = make_stream(0);
    OK(cuMemAlloc_v2(&all.sums, sizeof sums));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_streams, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(sums, all.sums, sizeof sums));
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(sums[i], ROUNDS);
    cr_expect_eq(atomic_load(&all.calls), THREADS * ROUNDS);
}

/* Null and blocking streams used at once by different threads: no cycle of waits can arise. */
static void *use_null_stream(void *arg)
{
    CUstream stream = arg;
    OK(cuCtxSetCurrent(all.ctx));
    for (int i = 0; i < 1000; i++)
        OK(cuEventRecord(all.event, stream));
    return NULL;
}

Test(order_threads, null_and_blocking_streams_never_wait_for_each_other_in_a_circle,
     .init = make_context, .timeout = 200)
{
    pthread_t threads[4];
    OK(cuCtxGetCurrent(&all.ctx));
    all.event = make_event(2);
    CUstream blocking = make_stream(0);
    OK(cuLaunchHostFunc(blocking, wait_gate, ""));
    pthread_create(&threads[0], NULL, use_null_stream, NULL);
    pthread_create(&threads[1], NULL, use_null_stream, blocking);
    pthread_create(&threads[2], NULL, use_null_stream, CU_STREAM_LEGACY);
    pthread_create(&threads[3], NULL, use_null_stream, make_stream(0));
    sleep_ms(20);
    atomic_store(&gate, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
}
