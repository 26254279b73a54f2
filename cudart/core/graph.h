/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: work described once and launched many times. A graph is a set of nodes with
 * dependencies; an executable graph is their work in an order that respects them, issued to one
 * stream at each launch. Nodes that could run at the same time therefore run one after the other.
 *
 * A graph is not thread-safe, as CUDA says; its owner serialises.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_H
#define PTXRUN_CUDART_CORE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/copy.h"
#include "cudart/core/launch.h"
#include "cudart/core/object.h"
#include "cudart/core/result.h"
#include "cudart/core/stream.h"

/* Numbers of CUgraphNodeType. */
enum crt_node_kind {
    CRT_NODE_KERNEL,
    CRT_NODE_COPY,
    CRT_NODE_FILL,
    CRT_NODE_HOST,
    CRT_NODE_CHILD,
    CRT_NODE_EMPTY,
    CRT_NODE_WAIT_EVENT,
    CRT_NODE_RECORD_EVENT
};

struct crt_graph;

/* What a node does. */
struct crt_work {
    enum crt_node_kind kind;
    union {
        struct {
            struct crt_kernel *kernel;
            struct crt_launch_config config;
            void **params; /* one block: a pointer for each parameter, then their values */
        } launch;
        struct crt_copy copy;
        struct crt_fill fill;
        struct {
            crt_host_fn fn;
            crt_callback_fn callback; /* one of the two */
            void *arg;
        } host;
        struct crt_graph *child; /* owned */
        struct crt_event *event;
    };
};

struct crt_node {
    struct crt_object object;
    struct crt_graph *graph;
    struct crt_work work;
    struct crt_node **deps;
    size_t dep_count;
    size_t order;            /* scratch of the topological sort */
    struct crt_node *origin; /* in a clone: the node it was made from */
    struct crt_node *prev;
    struct crt_node *next;
};

struct crt_graph {
    struct crt_object object;
    struct crt_node *nodes; /* in the order in which they were added */
    size_t node_count;
};

struct crt_graph_exec {
    struct crt_object object;
    struct crt_graph *graph; /* a private copy of what was instantiated */
    struct crt_node **order; /* its nodes, each after those it depends on */
    uint64_t flags;
};

CRT_API_BEGIN

enum crt_result crt_graph_create(struct crt_graph **graph);
enum crt_result crt_graph_clone(const struct crt_graph *graph, struct crt_graph **clone);
enum crt_result crt_graph_destroy(struct crt_graph *graph);

/* Makes the work of a kernel launch, with copies of the parameters (params or extra, as in a
 * launch). The other kinds of work are plain values. */
enum crt_result crt_work_launch(struct crt_kernel *kernel, const struct crt_launch_config *config,
                                void *const *params, void *const *extra, struct crt_work *work);

/* Adds a node; the work becomes the graph's, also on failure. */
enum crt_result crt_graph_add(struct crt_graph *graph, struct crt_node *const *deps,
                              size_t dep_count, struct crt_work *work, struct crt_node **node);
enum crt_result crt_node_destroy(struct crt_node *node);

/* Replaces a node's work by other work of the same kind. */
enum crt_result crt_node_set_work(struct crt_node *node, struct crt_work *work);

enum crt_result crt_node_depend(struct crt_node *node, struct crt_node *dep);
enum crt_result crt_node_forget(struct crt_node *node, struct crt_node *dep);
bool crt_node_depends_on(const struct crt_node *node, const struct crt_node *dep);

/* CRT_INVALID_VALUE when the graph has a cycle. */
enum crt_result crt_graph_instantiate(const struct crt_graph *graph, uint64_t flags,
                                      struct crt_graph_exec **exec);
enum crt_result crt_graph_exec_launch(struct crt_graph_exec *exec, struct crt_stream *stream);
enum crt_result crt_graph_exec_destroy(struct crt_graph_exec *exec);

/* The node of an executable graph that was made from this one, or NULL. */
struct crt_node *crt_graph_exec_find(const struct crt_graph_exec *exec,
                                     const struct crt_node *origin);

/* Takes over the work of a graph of the same shape; *culprit is the node that differs.
 * CRT_GRAPH_EXEC_UPDATE_FAILURE when the shapes differ. */
enum crt_result crt_graph_exec_update(struct crt_graph_exec *exec, const struct crt_graph *graph,
                                      struct crt_node **culprit);

bool crt_graph_is_valid(const struct crt_graph *graph);
bool crt_node_is_valid(const struct crt_node *node);
bool crt_graph_exec_is_valid(const struct crt_graph_exec *exec);

CRT_API_END

#endif
