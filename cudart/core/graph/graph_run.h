/* SPDX-License-Identifier: Apache-2.0
 *
 * One launch of a plan.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_RUN_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/memory/graph_blocks.h"

struct crt_context;
struct crt_graph_exec;
struct crt_loop;
struct crt_plan;
struct crt_run;
struct crt_step;
struct crt_stream;
struct rt_thread;
struct sch_op;

struct crt_run_list {
    struct crt_run *first;
    struct crt_run *last;
};

/* A host function of one launch. */
struct crt_host_call {
    const struct crt_run *run;
    const struct crt_step *step;
};

/* One launch of a plan. Freed by the end of its last operation. */
struct crt_run {
    struct crt_plan *plan;
    struct crt_context *ctx;
    struct crt_stream *stream; /* for callbacks; may be destroyed */
    int priority;              /* of the stream */
    bool has_own_priorities;   /* kernels do not have that of the stream */
    struct crt_graph_memory_run memory;
    struct crt_host_call *calls;
    size_t call_count;
    uint64_t number; /* of the first step; */
    uint64_t stride; /* 0: numbers come from counter */
    _Atomic uint64_t *counter;
    uint64_t submit_ns;          /* of the steps to be issued */
    struct sch_op *begin;        /* steps without dependencies wait for it; or NULL */
    struct sch_op **exits;       /* the operation that successors of each step wait for */
    uint8_t *launches;           /* copies of those of the plan */
    struct crt_loop *loop;       /* whose body this is, or NULL */
    bool is_ahead;               /* all issued work has ended, and the next step may run here */
    bool is_incomplete;          /* out of memory: its end may come before that of some operation */
    struct crt_graph_exec *exec; /* NULL: the body of a conditional node */
    struct sch_op *exit; /* finishes when it and what it has launched last have ended; NULL: its
                            last operation does */
    struct crt_run_list tails; /* graphs that its kernels have launched to come last */
    struct crt_run *owner;     /* that it is a tail of, or NULL */
    struct crt_run *next;      /* among the owner's */
    struct sch_op *parent_op;  /* that is held until it ends, or NULL */
};

/* A launch of the plan that nothing is known of yet; NULL: out of memory. Until it has begun it may
 * be freed. */
struct crt_run *crt_run_create(struct crt_plan *plan);
void crt_run_free(struct crt_run *run); /* NULL is allowed */

/* Starts a run in the pool, in no stream. When all its steps have ended: the end of its loop, or of
 * its exit. */
enum crt_result crt_run_start(struct crt_run *run);

/* ---- launches of graphs by kernels (graph_nested.c) ---- */

/* The steps of a run with an exit have ended. */
void crt_run_go_on(struct crt_run *run);

/* The crt_graph_launcher. */
uint32_t crt_run_launch_nested(struct rt_thread *thread, uint64_t graph, uint64_t stream);

/* The exit of a run, to be submitted when all is over. */
struct sch_op *crt_run_create_exit(struct crt_run *run);

#endif
