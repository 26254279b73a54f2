/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of plans: an operation for each step, with the dependencies of the plan.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_LAUNCH_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_LAUNCH_H

#include <stdbool.h>

#include "cudart/core/base/result.h"

struct crt_graph_exec;
struct crt_graph_memory_run;
struct crt_plan;
struct crt_stream;
struct sch_op;

/* Launches the prepared plan of an executable graph in a stream, after its last launch, and puts a
 * reference to its end into *last. `run` is what crt_graph_memory_begin has given. The plan must
 * live until *last has finished. On failure part of it may have been launched: *last is NULL only
 * when nothing was.
 */
enum crt_result crt_plan_launch(struct crt_plan *plan, struct crt_stream *stream,
                                struct crt_graph_exec *exec, const struct crt_graph_memory_run *run,
                                struct sch_op **last);

#endif
