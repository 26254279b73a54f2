/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that allocate and free memory: work upon the blocks of graph_blocks.h.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_MEMORY_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

struct crt_context;
struct crt_graph;
struct crt_node;
struct crt_work;

CRT_API_BEGIN

/* Work that allocates. deps: the node's future dependencies; memory that was freed before these is
 * used again. */
enum crt_result crt_work_alloc(struct crt_graph *graph, struct crt_node *const *deps,
                               size_t dep_count, struct crt_context *ctx, size_t size_bytes,
                               struct crt_work *work);

/* Work that frees memory of this or another graph. */
enum crt_result crt_work_free_memory(const struct crt_graph *graph, uintptr_t base,
                                     struct crt_work *work);

CRT_API_END

#endif
