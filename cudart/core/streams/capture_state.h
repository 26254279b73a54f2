/* SPDX-License-Identifier: Apache-2.0
 *
 * The captures that run: shared by capture.c, which draws streams and events into them,
 * capture_rules.c, which looks at them, and the code that begins and ends them.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_CAPTURE_STATE_H
#define PTXRUN_CUDART_CORE_STREAMS_CAPTURE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/streams/capture.h"

/* The target of a capture, provided by the code that began it. Called with the lock held. */
struct crt_capture_target {
    /* Makes a node that depends on those of the point; the work is taken over, also on failure, or
     * if the capture is invalid. */
    enum crt_result (*add)(struct crt_capture *capture, const struct crt_capture_point *point,
                           struct crt_work *work, struct crt_node **node);
    /* Nobody will get the graph. */
    void (*drop)(struct crt_capture *capture);
};

/* Runs until it is ended in its origin; freed when no stream and no event refers to it any more. */
struct crt_capture {
    const struct crt_capture_target *target;
    uint64_t id;
    struct crt_graph *graph;
    bool owns_graph; /* false: it was the program's before */
    enum crt_capture_mode mode;
    uint64_t thread_number; /* of the thread that began it */
    struct crt_stream *origin;
    struct crt_stream **streams; /* all streams that capture for it */
    size_t stream_count;
    struct crt_capture_point left; /* where streams stood that were destroyed; names no capture */
    bool is_running;
    bool is_invalid;
    size_t refs;
    struct crt_capture *prev; /* in the list of running ones */
    struct crt_capture *next;
};

/* lock guards all captures and all capture points; capturing is no fast path. running_count tells
 * other code that there is no capture to look for. */
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

/* ---- points and captures; the lock is held ---- */

bool crt_capture_contains(const struct crt_capture_point *point, const struct crt_node *node);

/* Adds nodes to those that the point stands for. */
enum crt_result crt_capture_merge(struct crt_capture_point *point, struct crt_node *const *nodes,
                                  size_t count);

/* Draws a stream into a capture. */
enum crt_result crt_capture_join(struct crt_stream *stream, struct crt_capture *capture,
                                 struct crt_node *const *nodes, size_t count);

/* Puts a capture into the list of those that run. */
void crt_capture_start(struct crt_capture *capture);

/* Takes all streams out of the capture, and the capture out of the list. */
void crt_capture_stop(struct crt_capture *capture);

/* Gives a reference back. */
void crt_capture_release(struct crt_capture *capture);

#endif
