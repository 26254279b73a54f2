/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that run in order with a stream: tasks of ours, host functions and callbacks of the
 * program.
 */
#include <stdlib.h>

#include "cudart/core/base/process.h"
#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/stream.h"
#include "cudart/core/streams/work.h"
#include "scheduler/scheduler.h"

static void free_task(void *task, const struct sch_fault *fault)
{
    (void)fault;
    free(task);
}

/* Appends an operation whose done function is free_task; NULL: out of memory. */
static enum crt_result submit_task(struct crt_stream *stream, struct sch_op *op, void *task)
{
    enum crt_result result = op ? crt_stream_submit(stream, op, NULL) : CRT_OUT_OF_MEMORY;
    if (result != CRT_SUCCESS)
        free(task);
    return result;
}

enum crt_result crt_stream_task(struct crt_stream *stream, void (*run)(void *task), void *task)
{
    return submit_task(stream, sch_op_task(run, free_task, task), task);
}

/* A call of the program's own function, in order with a stream. */
struct host_call {
    crt_host_fn fn;
    crt_callback_fn callback;
    void *arg;
    struct crt_stream *handle;
    struct crt_context *ctx;
};

static void run_host_call(void *arg)
{
    struct host_call *call = arg;
    enum crt_result sticky = crt_context_sticky(call->ctx);
    if (call->callback)
        call->callback(call->handle, sticky, call->arg);
    else if (sticky == CRT_SUCCESS)
        call->fn(call->arg);
}

static enum crt_result submit_host_call(struct crt_stream *stream, struct host_call call)
{
    if (stream->captured.capture) {
        struct crt_work work = {
            .kind = CRT_NODE_HOST,
            .host = {.fn = call.fn, .callback = call.callback, .arg = call.arg}};
        return crt_capture_add(stream, &work);
    }
    enum crt_result result = crt_start_workers();
    if (result != CRT_SUCCESS)
        return result;
    struct host_call *copy = malloc(sizeof *copy);
    if (!copy)
        return CRT_OUT_OF_MEMORY;
    *copy = call;
    copy->ctx = stream->ctx;
    return submit_task(stream, sch_op_host(run_host_call, free_task, copy), copy);
}

enum crt_result crt_stream_host_function(struct crt_stream *stream, crt_host_fn fn, void *arg)
{
    return submit_host_call(stream, (struct host_call){.fn = fn, .arg = arg});
}

enum crt_result crt_stream_callback(struct crt_stream *stream, struct crt_stream *handle,
                                    crt_callback_fn fn, void *arg)
{
    return submit_host_call(stream,
                            (struct host_call){.callback = fn, .arg = arg, .handle = handle});
}
