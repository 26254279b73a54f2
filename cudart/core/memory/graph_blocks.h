/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that graphs allocate and free. An alloc node has its address from its creation on; a
 * launch only changes who may use it. The range is given back when the last graph that has
 * such a node is gone.
 *
 * Allocated and freed are states in the order of calls of the host, as in a stream. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_GRAPH_BLOCKS_H
#define PTXRUN_CUDART_CORE_MEMORY_GRAPH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/streams/work.h"

struct crt_context;
struct crt_stream;

/* Numbers of CUgraphMem_attribute. */
enum crt_graph_memory_attribute {
    CRT_GRAPH_MEMORY_USED,
    CRT_GRAPH_MEMORY_USED_HIGH,
    CRT_GRAPH_MEMORY_RESERVED,
    CRT_GRAPH_MEMORY_RESERVED_HIGH,
    CRT_GRAPH_MEMORY_ATTRIBUTES
};

CRT_API_BEGIN

/* Allocating and freeing asked of a stream that captures. */
enum crt_result crt_graph_capture_alloc(struct crt_stream *stream, size_t size_bytes,
                                        uintptr_t *base);
enum crt_result crt_graph_capture_free(struct crt_stream *stream, uintptr_t base);

/* Frees memory that a graph has left allocated. False: it is no memory of graphs; else *result is
 * the answer. */
bool crt_graph_memory_release(uintptr_t base, enum crt_result *result);

uint64_t crt_graph_memory_get(int device, enum crt_graph_memory_attribute attribute);
/* Sets a high mark back to the present. */
void crt_graph_memory_reset_high(int device, enum crt_graph_memory_attribute attribute);
void crt_graph_memory_trim(int device);

CRT_API_END

/* A block that no launch has allocated yet, with one reference. */
enum crt_result crt_graph_block_create(struct crt_context *ctx, size_t size_bytes,
                                       struct crt_graph_block **block);
void crt_graph_block_retain(struct crt_graph_block *block);
void crt_graph_block_release(struct crt_graph_block *block); /* NULL is allowed */
bool crt_graph_block_exists(uintptr_t base);

/* Work that allocates the block, whose reference it takes over. */
struct crt_work crt_graph_block_work(struct crt_graph_block *block);

/* An alloc or free node of an executable graph, in its order. */
struct crt_graph_memory_step {
    uintptr_t base;
    bool is_alloc;
};

/* The memory that one launch uses until it has ended. */
struct crt_graph_memory_run {
    uint64_t stream_id;
    size_t bytes; /* allocated and freed by it */
    int device;
};

/* A launch with these steps begins. CRT_INVALID_VALUE when something is allocated that has not been
 * freed, unless is_auto_free, or freed that has not been allocated: nothing has changed then. */
enum crt_result crt_graph_memory_begin(const struct crt_graph_memory_step *steps, size_t count,
                                       bool is_auto_free, uint64_t stream_id,
                                       struct crt_graph_memory_run *run);
void crt_graph_memory_end(const struct crt_graph_memory_run *run);

#endif
