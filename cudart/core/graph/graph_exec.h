/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: a private copy of a graph, its plan, and launches of it. In its stream a
 * launch is one piece: it begins after all earlier work, and later work waits for all of it.
 * Inside, nodes that do not depend on each other run at the same time.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_EXEC_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_EXEC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/graph/graph.h"

struct crt_plan;

/* Numbers of CUgraphInstantiate_flags. */
#define CRT_INSTANTIATE_AUTO_FREE     1u
#define CRT_INSTANTIATE_UPLOAD        2u
#define CRT_INSTANTIATE_DEVICE_LAUNCH 4u
#define CRT_INSTANTIATE_NODE_PRIORITY 8u

struct crt_graph_exec {
    struct crt_object object;
    pthread_mutex_t lock;    /* guards everything below, against launches from several threads */
    struct crt_graph *graph; /* a private copy of the graph that was instantiated */
    struct crt_plan *plan;   /* NULL: nodes have changed, make another */
    struct sch_op *last;     /* end of the newest launch, or NULL */
    struct crt_instances *instances; /* of the graph it was made of */
    uint64_t flags;
    atomic_uint nested; /* launches by kernels that have not ended */
};

/* Numbers of CUgraphInstantiateResult. */
enum crt_instantiate_answer {
    CRT_INSTANTIATED,
    CRT_INSTANTIATE_ERROR,
    CRT_INSTANTIATE_INVALID_STRUCTURE,
    CRT_INSTANTIATE_UNSUPPORTED_NODE,
    CRT_INSTANTIATE_SEVERAL_CONTEXTS,
    CRT_INSTANTIATE_UNUSED_CONDITIONAL
};

struct crt_instantiate_info {
    enum crt_instantiate_answer answer;
    struct crt_node *culprit; /* of the graph given, or NULL */
};

/* Numbers of CUgraphExecUpdateResult. */
enum crt_update_answer {
    CRT_UPDATED,
    CRT_UPDATE_ERROR,
    CRT_UPDATE_TOPOLOGY_CHANGED,
    CRT_UPDATE_KIND_CHANGED,
    CRT_UPDATE_FUNCTION_CHANGED,
    CRT_UPDATE_PARAMETERS_CHANGED,
    CRT_UPDATE_NOT_SUPPORTED,
    CRT_UPDATE_FUNCTION_UNSUPPORTED,
    CRT_UPDATE_ATTRIBUTES_CHANGED
};

struct crt_update_info {
    enum crt_update_answer answer;
    struct crt_node *node; /* to blame, or where an edge leads that makes the difference */
    struct crt_node *from; /* where that edge comes from */
};

CRT_API_BEGIN

/* Compiles the kernels as well when the calling thread has a context. CRT_INVALID_VALUE,
 * CRT_NOT_SUPPORTED, or the error that launching a node would give. */
enum crt_result crt_graph_instantiate(struct crt_graph *graph, uint64_t flags,
                                      struct crt_graph_exec **exec,
                                      struct crt_instantiate_info *info);

/* Launches in flight go on. */
enum crt_result crt_graph_exec_destroy(struct crt_graph_exec *exec);

enum crt_result crt_graph_exec_launch(struct crt_graph_exec *exec, struct crt_stream *stream);

/* Prepares everything that the first launch would. */
enum crt_result crt_graph_exec_upload(struct crt_graph_exec *exec, struct crt_stream *stream);

/* The node of an executable graph that was made from this one, or NULL. */
struct crt_node *crt_graph_exec_find(const struct crt_graph_exec *exec,
                                     const struct crt_node *origin);

/* Replaces the work of the node that was made from origin in later launches; takes the new work
 * over, also on failure. */
enum crt_result crt_graph_exec_set_work(struct crt_graph_exec *exec, const struct crt_node *origin,
                                        struct crt_work *work);

/* A disabled kernel, copy or fill does nothing. */
enum crt_result crt_graph_exec_enable(struct crt_graph_exec *exec, const struct crt_node *origin,
                                      bool is_enabled);

/* Takes over the work of the nodes of a graph of the same shape. CRT_GRAPH_EXEC_UPDATE_FAILURE:
 * info says why, and nothing has changed. */
enum crt_result crt_graph_exec_update(struct crt_graph_exec *exec, struct crt_graph *graph,
                                      struct crt_update_info *info);

/* The same for a child graph node alone; CRT_INVALID_VALUE when the shapes differ. */
enum crt_result crt_graph_exec_update_child(struct crt_graph_exec *exec,
                                            const struct crt_node *origin, struct crt_graph *child);

bool crt_graph_exec_is_valid(const struct crt_graph_exec *exec);

CRT_API_END

/* Makes its plan ready for a launch in ctx. The lock is held. */
enum crt_result crt_graph_exec_prepare(struct crt_graph_exec *exec, struct crt_context *ctx);

/* For changes of its nodes: later launches use another plan. The lock is held. */
void crt_graph_exec_forget_plan(struct crt_graph_exec *exec);

#endif
