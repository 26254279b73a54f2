/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: work described once and launched many times. A graph is a set of nodes with
 * dependencies. Executable graphs are in graph_exec.h.
 *
 * A graph is not thread-safe, as CUDA says; its owner serialises.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/work.h"

struct crt_user_reference;

#define CRT_CONDITION_ASSIGN_DEFAULT 1u
#define CRT_CONDITION_BODIES_MAX     4096

/* When and how far a dependency holds; all 0 for an ordinary one. */
struct crt_edge {
    uint8_t from_port;
    uint8_t to_port;
    uint8_t type;
};

struct crt_node {
    struct crt_object object;
    uint64_t id;
    struct crt_graph *graph;
    struct crt_work work;
    struct crt_node **deps;
    struct crt_edge *edges; /* one for each of deps */
    size_t dep_count;
    size_t index;            /* scratch: place in some order */
    struct crt_node *copy;   /* scratch of cloning */
    bool is_disabled;        /* in an executable graph */
    struct crt_node *origin; /* in a clone: the node it was made from … */
    uint64_t origin_id;      /* … and its id, as nodes die */
    struct crt_node *twin;   /* in an executable graph: that of the last update */
    uint64_t twin_id;
    struct crt_node *prev;
    struct crt_node *next;
};

/* How many executable graphs of one graph live. It belongs to the graph and to them together:
 * either may be destroyed first, by different threads. */
struct crt_instances {
    atomic_uint live;
    atomic_uint holders; /* the graph, while it lives, and the executable graphs */
};

struct crt_graph {
    struct crt_object object;
    uint64_t id;
    struct crt_node *owner; /* node whose child or body this is, or NULL */
    bool is_moved;          /* into its owner: has been a graph of the program's own */
    struct crt_node *nodes; /* in the order in which they were added */
    size_t node_count;
    struct crt_conditional *conditionals;
    struct crt_user_reference *users; /* user objects kept alive */
    struct crt_instances *instances;  /* NULL before the first */
};

CRT_API_BEGIN

enum crt_result crt_graph_create(struct crt_graph **graph);
/* CRT_NOT_SUPPORTED: it has conditional or memory nodes, which have no copies. */
enum crt_result crt_graph_clone(const struct crt_graph *graph, struct crt_graph **clone);
/* CRT_INVALID_VALUE if it is no graph or belongs to a node. */
enum crt_result crt_graph_destroy(struct crt_graph *graph);

/* Whether the graph, or a graph inside it, has a node of such a kind. */
bool crt_graph_contains(const struct crt_graph *graph, enum crt_node_kind kind);

/* ---- work ---- */

/* The variable of a conditional node. */
enum crt_result crt_conditional_create(struct crt_graph *graph, struct crt_context *ctx,
                                       uint32_t initial, unsigned flags,
                                       struct crt_conditional **variable);

/* Work that runs a copy of child, or takes child over. */
enum crt_result crt_work_child(struct crt_graph *child, bool is_moved, struct crt_work *work);

/* A conditional with empty bodies; the variable must be graph's or of one around it. */
enum crt_result crt_work_conditional(struct crt_graph *graph, struct crt_conditional *variable,
                                     enum crt_condition_kind kind, unsigned body_count,
                                     struct crt_work *work);

void crt_work_free(struct crt_work *work);

/* Whether the work could be done now; otherwise the error that launching it would give. */
enum crt_result crt_work_check(const struct crt_work *work);

/* ---- nodes ---- */

/* Adds a node; the work becomes the graph's, also on failure. edges may be NULL. */
enum crt_result crt_graph_add_edges(struct crt_graph *graph, struct crt_node *const *deps,
                                    const struct crt_edge *edges, size_t dep_count,
                                    struct crt_work *work, struct crt_node **node);
enum crt_result crt_graph_add(struct crt_graph *graph, struct crt_node *const *deps,
                              size_t dep_count, struct crt_work *work, struct crt_node **node);
enum crt_result crt_node_destroy(struct crt_node *node);

/* Replaces a node's work by other work of the same kind, which it takes over also on failure. */
enum crt_result crt_node_set_work(struct crt_node *node, struct crt_work *work);

enum crt_result crt_node_depend(struct crt_node *node, struct crt_node *dep,
                                const struct crt_edge *edge);
enum crt_result crt_node_forget(struct crt_node *node, struct crt_node *dep);
bool crt_node_depends_on(const struct crt_node *node, const struct crt_node *dep);

/* The attribute of a kernel node; values not set are 0. CRT_INVALID_VALUE for other nodes. */
enum crt_result crt_node_get_attribute(const struct crt_node *node, int attribute, void *value);
enum crt_result crt_node_set_attribute(struct crt_node *node, int attribute, const void *value);
enum crt_result crt_node_copy_attributes(struct crt_node *node, const struct crt_node *from);

/* Writes a description in the DOT language. */
enum crt_result crt_graph_print(const struct crt_graph *graph, const char *path, unsigned flags);

bool crt_graph_is_valid(const struct crt_graph *graph);
bool crt_node_is_valid(const struct crt_node *node);

CRT_API_END

/* Counts one more executable graph of this graph; NULL when out of memory. Given back by
 * crt_instances_leave. */
struct crt_instances *crt_instances_join(struct crt_graph *graph);
void crt_instances_leave(struct crt_instances *instances);
bool crt_graph_has_instances(const struct crt_graph *graph);

/* As crt_graph_clone, whatever the nodes are: memory and variables are shared by the copies. */
enum crt_result crt_graph_copy(const struct crt_graph *graph, struct crt_graph **copy);

/* Destroys any graph, also those that crt_graph_destroy refuses. */
void crt_graph_free(struct crt_graph *graph);

enum crt_result crt_work_copy(const struct crt_work *work, struct crt_work *copy);

/* The body to run next, -1: none. */
int crt_condition_choose(const struct crt_condition *condition);

/* Numbers the nodes so that each has a higher index than those it depends on, and puts them in
 * that order. CRT_INVALID_VALUE when there is a cycle; *culprit is a node of it. */
enum crt_result crt_graph_sort(struct crt_graph *graph, struct crt_node **order,
                               struct crt_node **culprit);

#endif
