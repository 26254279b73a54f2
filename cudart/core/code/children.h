/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that kernels launch: children of a launch, in the streams that its blocks have. All of it
 * ends with the parent: its operation is held for each child, its handles go when it finishes.
 *
 * Errors are numbers of the runtime API, which is what kernels get.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CHILDREN_H
#define PTXRUN_CUDART_CORE_CODE_CHILDREN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct crt_device_stream;
struct crt_launch;
struct crt_parameter_buffer;
struct rt_thread;
struct sch_op;

/* Streams of kernels that are no handles of their own. */
#define CRT_CHILD_STREAM_NULL            UINT64_C(0)
#define CRT_CHILD_STREAM_LEGACY          UINT64_C(1)
#define CRT_CHILD_STREAM_PER_THREAD      UINT64_C(2)
#define CRT_CHILD_STREAM_TAIL            UINT64_C(3)
#define CRT_CHILD_STREAM_FIRE_AND_FORGET UINT64_C(4)

enum {
    CRT_CHILD_SUCCESS = 0,
    CRT_CHILD_INVALID_VALUE = 1,
    CRT_CHILD_OUT_OF_MEMORY = 2,
    CRT_CHILD_INVALID_CONFIGURATION = 9,
    CRT_CHILD_INVALID_DIRECTION = 21,
    CRT_CHILD_MAX_DEPTH_EXCEEDED = 65,
    CRT_CHILD_PENDING_COUNT_EXCEEDED = 69,
    CRT_CHILD_INVALID_FUNCTION = 98,
    CRT_CHILD_INVALID_DEVICE = 101,
    CRT_CHILD_INVALID_HANDLE = 400
};

/* A piece of work, as its parent knows it. */
struct crt_child {
    struct crt_launch *parent; /* NULL: the host has launched it */
    struct sch_op *parent_op;
    struct crt_device_stream *stream;      /* NULL: in none */
    void (*drop)(struct crt_child *child); /* frees what has not been submitted */
    bool is_tail;
    struct sch_op *op;      /* of a tail that waits for its turn … */
    struct crt_child *next; /* … among the others */
};

struct crt_child_list {
    struct crt_child *first;
    struct crt_child *last;
};

/* What a launch has of this once it calls the device runtime. */
struct crt_children {
    pthread_mutex_t lock; /* innermost; nothing is waited for with it */
    void *streams;        /* trees, by key */
    void *events;
    uint64_t last_handle;
    struct crt_child_list tails;
    struct crt_parameter_buffer *buffers; /* of launches that have not been made, oldest first … */
    struct crt_parameter_buffer *last_buffer; /* … if there are any */
    void *errors;                             /* of threads; a tree */
};

/* Made at the first call; NULL: out of memory. */
struct crt_children *crt_children_of(struct crt_launch *launch);

/* Frees it; whatever has not been submitted is dropped. NULL is allowed. */
void crt_children_destroy(struct crt_children *children);

/* Submits op as work of a running thread's grid, in one of its streams. The reference is taken
 * over; unless it succeeds, the child stays the caller's. */
uint32_t crt_child_submit(struct rt_thread *thread, struct crt_child *child, struct sch_op *op,
                          uint64_t stream);

/* It has finished: called by its done function with a copy. */
void crt_child_end(const struct crt_child *child);

/* The sch_last_fn of launches: starts the next of the tails. */
bool crt_children_go_on(void *launch);

/* Another number for each thread of a grid. */
uint64_t crt_child_thread_key(const struct rt_thread *thread);

/* Which stream a thread means that names none. */
uint64_t crt_child_default_stream(uint64_t stream, bool is_per_thread);

/* Launches an executable graph in one of the streams that are for them; called aside. The folder of
 * graphs says how. */
typedef uint32_t (*crt_graph_launcher)(struct rt_thread *thread, uint64_t graph, uint64_t stream);
void crt_child_set_graph_launcher(crt_graph_launcher launcher);
uint32_t crt_child_graph(struct rt_thread *thread, uint64_t graph, uint64_t stream);

/* ---- streams and events of the thread's grid ---- */

uint32_t crt_child_stream_create(struct rt_thread *thread, uint64_t *handle);
uint32_t crt_child_stream_destroy(struct rt_thread *thread, uint64_t handle);
uint32_t crt_child_event_create(struct rt_thread *thread, uint64_t *handle);
uint32_t crt_child_event_destroy(struct rt_thread *thread, uint64_t handle);
uint32_t crt_child_event_record(struct rt_thread *thread, uint64_t event, uint64_t stream);
uint32_t crt_child_event_wait(struct rt_thread *thread, uint64_t event, uint64_t stream);

#endif
