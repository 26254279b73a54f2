/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: the nodes of a graph and of its children as one list of steps, each with the steps that
 * it waits for, and with everything a launch can have ready beforehand. Bodies of conditional
 * nodes are plans of their own.
 *
 * Constant while a launch of it runs, except for what preparing changes, which no launch reads.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_PLAN_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/graph/graph.h"
#include "cudart/core/memory/graph_blocks.h"
#include "scheduler/scheduler.h"

struct crt_plan;

struct crt_step {
    struct crt_work work;  /* its parts belong to the graph, except for a reference to a variable */
    struct crt_node *node; /* NULL: the end of a child graph */
    size_t first_dep;      /* in deps of the plan; none: it waits for the beginning */
    size_t dep_count;
    bool has_successor;

    /* Kernels: */
    struct crt_module *module;
    uint64_t module_ctx_id; /* id of its context */
    size_t launch_offset;   /* of its struct crt_launch in launches of the plan */
    bool has_priority;      /* of its own */
    int priority;
    struct sch_grid grid;

    struct crt_plan **bodies; /* of a conditional */
};

struct crt_plan {
    struct crt_step *steps; /* each after those it waits for */
    size_t count;
    size_t cap;
    size_t *deps;
    size_t dep_count;
    size_t dep_cap;
    uint8_t *launches; /* every struct crt_launch with its parameters, to be copied by a launch */
    size_t launch_bytes;
    size_t host_count;
    size_t condition_count;
    bool calls_runtime;                   /* some kernel does, and may launch graphs */
    struct crt_graph_memory_step *memory; /* of alloc and free nodes */
    size_t memory_count;
    _Atomic(void *) spare; /* memory of a launch that has ended, for the next one; from malloc */
};

/* The plan of a graph, which must stay as long. CRT_INVALID_VALUE when it has a cycle; *culprit is
 * the node to blame, or NULL. */
enum crt_result crt_plan_create(struct crt_graph *graph, struct crt_plan **plan,
                                struct crt_node **culprit);
void crt_plan_destroy(struct crt_plan *plan); /* NULL is allowed */

/* Finds the code of every kernel for a launch in ctx. */
enum crt_result crt_plan_prepare(struct crt_plan *plan, struct crt_context *ctx,
                                 struct crt_node **culprit);

/* Takes over the new work of a node. False: that needs another plan. Not while a launch runs. */
bool crt_plan_change(struct crt_plan *plan, const struct crt_node *node);

/* The launch of a kernel's step among these. */
static inline struct crt_launch *crt_step_launch(const struct crt_step *step, uint8_t *launches)
{
    return (struct crt_launch *)(void *)(launches + step->launch_offset);
}

#endif
