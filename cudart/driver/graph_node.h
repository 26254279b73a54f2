/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files about graph nodes share: from parameters of the API to work and back.
 */
#ifndef PTXRUN_CUDART_DRIVER_GRAPH_NODE_H
#define PTXRUN_CUDART_DRIVER_GRAPH_NODE_H

#include "cudart/core/graph/graph.h"
#include "cudart/core/graph/graph_exec.h"
#include "cudart/driver/internal.h"

/* Parameters to work, which then belongs to the caller; NULL is CRT_INVALID_VALUE. */
CUresult read_kernel_node(const CUDA_KERNEL_NODE_PARAMS *params, struct crt_work *work);
CUresult read_memcpy_node(const CUDA_MEMCPY3D *copy, struct crt_work *work);
CUresult read_memset_node(const CUDA_MEMSET_NODE_PARAMS *params, struct crt_work *work);
CUresult read_host_node(const CUDA_HOST_NODE_PARAMS *params, struct crt_work *work);
CUresult read_mem_op_node(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct crt_work *work);
CUresult read_event_node(enum crt_node_kind kind, CUevent event, struct crt_work *work);
CUresult read_alloc_node(CUgraph graph, const CUgraphNode *deps, size_t count,
                         const CUDA_MEM_ALLOC_NODE_PARAMS *params, struct crt_work *work);

/* Adds a node when `result`, of making its work, was a success; checks the work first. */
CUresult add_node(CUresult result, CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                  size_t count, struct crt_work *work);

/* The same for what a node or executable node shall do instead. */
CUresult change_node(CUresult result, CUgraphNode node, struct crt_work *work);
CUresult change_exec_node(CUresult result, CUgraphExec exec, CUgraphNode node,
                          struct crt_work *work);

/* Functions about graphs know one code for everything that is wrong with what they are given, but
 * for a few whose documentation lists others. */
static inline CUresult as_value(CUresult result)
{
    return result == CRT_INVALID_HANDLE || result == CRT_INVALID_CONTEXT ? CRT_INVALID_VALUE
                                                                         : result;
}

static inline bool has_kind(CUgraphNode node, enum crt_node_kind kind)
{
    return crt_node_is_valid(node) && node->work.kind == kind;
}

/* CRT_INVALID_VALUE for edges that there cannot be. data NULL: ordinary ones (graph.c). */
CUresult check_edges(const CUgraphNode *from, const CUgraphEdgeData *data, size_t count);
struct crt_edge read_edge(const CUgraphEdgeData *data);

#endif
