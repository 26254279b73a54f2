/* SPDX-License-Identifier: Apache-2.0
 *
 * The captures that run, for capture.c, which begins and ends them, and capture_rules.c, which
 * looks at them.
 */
#ifndef PTXRUN_CUDART_CORE_CAPTURE_STATE_H
#define PTXRUN_CUDART_CORE_CAPTURE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/capture.h"

/* Runs until it is ended in its origin; freed when no stream and no event refers to it any more. */
struct crt_capture {
    uint64_t id;
    struct crt_graph *graph;
    bool owns_graph; /* false: it was the program's before */
    enum crt_capture_mode mode;
    uint64_t thread_number; /* of who began it */
    struct crt_stream *origin;
    struct crt_stream **streams; /* all that capture for it */
    size_t stream_count;
    bool is_running;
    bool is_invalid;
    bool is_unjoined; /* a stream was destroyed before it was joined */
    size_t refs;
    struct crt_capture *prev; /* in the list of running ones */
    struct crt_capture *next;
};

/* lock guards all captures and all capture points; capturing is no fast path. The others see from
 * running_count that there is nothing to look for. */
struct crt_captures {
    pthread_mutex_t lock;
    struct crt_capture *running;
    atomic_uint running_count;
};

extern struct crt_captures crt_captures;

/* The calling thread's own number, never 0. */
uint64_t crt_capture_thread_number(void);

static inline bool crt_capture_is_any_running(void)
{
    return atomic_load_explicit(&crt_captures.running_count, memory_order_relaxed) > 0;
}

static inline struct crt_capture *crt_capture_of(const struct crt_capture_point *point)
{
    return atomic_load_explicit(&point->capture, memory_order_relaxed);
}

#endif
