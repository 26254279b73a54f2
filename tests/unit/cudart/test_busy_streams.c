/* SPDX-License-Identifier: Apache-2.0
 *
 * What waits for all streams of a context looks only at those that have work, and misses none.
 */
#include "stream_fixture.h"

#include "cudart/core/streams/context.h"

enum { STREAMS = 2000 };

static struct crt_context *context;

static void make_current(void)
{
    make_context();
    OK(cuCtxGetCurrent(&context));
}

static unsigned listed(int kind)
{
    unsigned count = 0;
    for (struct crt_stream *stream = context->busy.streams[kind]; stream;
         stream = stream->next_busy)
        count++;
    return count;
}

static void append(CUstream stream, CUhostFn fn, char *text)
{
    OK(cuLaunchHostFunc(stream, fn, text));
}

static void open_gate(void)
{
    atomic_store(&gate, 1);
}

Test(busy_streams, streams_without_work_are_not_looked_at, .init = make_current)
{
    static CUstream streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        streams[i] = make_stream(i % 2);
    cr_expect_eq(listed(CRT_BUSY_BLOCKING), 0);
    for (int i = 0; i < STREAMS; i++)
        append(streams[i], note, "");
    cr_expect_eq(listed(CRT_BUSY_BLOCKING), STREAMS / 2);
    cr_expect_eq(listed(CRT_BUSY_OTHERS), STREAMS / 2);
    append(NULL, note, "n");
    cr_expect_eq(listed(CRT_BUSY_BLOCKING), 0);
    OK(cuCtxSynchronize());
    OK(cuCtxSynchronize());
    cr_expect_eq(listed(CRT_BUSY_OTHERS), 0);
    append(streams[0], note, "");
    cr_expect_eq(listed(CRT_BUSY_BLOCKING), 1);
    OK(cuStreamDestroy_v2(streams[0]));
    cr_expect_eq(listed(CRT_BUSY_BLOCKING), 0);
}

Test(busy_streams, later_work_of_the_null_stream_waits_for_what_earlier_work_waits_for,
     .init = make_current)
{
    CUstream held = make_stream(0);
    append(held, wait_gate, "a");
    append(NULL, note, "b");
    append(NULL, note, "c");
    append(held, note, "d");
    append(NULL, note, "e");
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    cr_expect_str_eq(history, "");
    open_gate();
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "abcde");
    EXPECT(CRT_SUCCESS, cuStreamQuery(NULL));
}

Test(busy_streams, the_null_stream_is_busy_while_a_blocking_one_is, .init = make_current)
{
    CUstream held = make_stream(0);
    append(held, wait_gate, "a");
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    open_gate();
    OK(cuStreamSynchronize(NULL));
    cr_expect_str_eq(history, "a");
}

Test(busy_streams, a_context_waits_for_all_kinds_of_streams, .init = make_current)
{
    CUstream others = make_stream(1);
    CUstream blocking = make_stream(0);
    append(others, note, "a");
    append(others, wait_gate, "b");
    append(blocking, note, "c");
    append(NULL, note, "d");
    EXPECT(CRT_NOT_READY, cuStreamQuery(others));
    open_gate();
    OK(cuCtxSynchronize());
    cr_expect_eq(strlen(history), 4, "%s", history);
    /* A second wait finds nothing, a third one what has come since. */
    OK(cuCtxSynchronize());
    append(others, note, "e");
    OK(cuCtxSynchronize());
    cr_expect_eq(strlen(history), 5, "%s", history);
}

Test(busy_streams, work_of_destroyed_streams_is_waited_for, .init = make_current)
{
    CUstream first = make_stream(0);
    CUstream second = make_stream(1);
    append(first, wait_gate, "a");
    append(second, note, "b");
    OK(cuStreamDestroy_v2(first));
    OK(cuStreamDestroy_v2(second));
    EXPECT(CRT_NOT_READY, cuStreamQuery(NULL));
    append(NULL, note, "c");
    cr_expect_null(context->busy.orphans[CRT_BUSY_BLOCKING]);
    open_gate();
    OK(cuCtxSynchronize());
    cr_expect_eq(strlen(history), 3, "%s", history);
    cr_expect_eq(history[2], 'c', "%s", history);
}

/* A program that never uses the null stream must not keep the last work of all its streams. */
Test(busy_streams, finished_work_of_destroyed_streams_is_dropped, .init = make_current)
{
    for (int i = 0; i < STREAMS; i++) {
        CUstream stream = make_stream(i % 2);
        append(stream, note, "");
        OK(cuStreamDestroy_v2(stream));
        if (i % 100 == 99)
            sleep_ms(1);
    }
    append(make_stream(0), note, "");
    sleep_ms(20);
    OK(cuStreamDestroy_v2(make_stream(0)));
    OK(cuStreamDestroy_v2(make_stream(1)));
    cr_expect_null(context->busy.orphans[CRT_BUSY_BLOCKING]);
    cr_expect_null(context->busy.orphans[CRT_BUSY_OTHERS]);
}
