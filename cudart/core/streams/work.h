/* SPDX-License-Identifier: Apache-2.0
 *
 * Work for a stream, as a value: a stream that captures hands it to its capture, and the node of a
 * graph holds it until the graph is launched. Each kind of work is made, checked and done in the
 * folder that it belongs to.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_WORK_H
#define PTXRUN_CUDART_CORE_STREAMS_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/streams/stream.h"

struct crt_array;
struct crt_conditional;
struct crt_context;
struct crt_event;
struct crt_graph;
struct crt_graph_block;
struct crt_kernel;
struct crt_mem_op;

/* Numbers of CUgraphNodeType. */
enum crt_node_kind {
    CRT_NODE_KERNEL,
    CRT_NODE_COPY,
    CRT_NODE_FILL,
    CRT_NODE_HOST,
    CRT_NODE_CHILD,
    CRT_NODE_EMPTY,
    CRT_NODE_WAIT_EVENT,
    CRT_NODE_RECORD_EVENT,
    CRT_NODE_ALLOC = 10,
    CRT_NODE_FREE,
    CRT_NODE_MEM_OPS,
    CRT_NODE_CONDITIONAL
};

/* ---- launches ---- */

struct crt_launch_config {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3]; /* 0: what the kernel says */
    size_t dynamic_shared_bytes;
    bool is_cooperative;
};

/* Takes over what does not come with the parameters of a kernel node. */
static inline void crt_launch_keep_attributes(struct crt_launch_config *config,
                                              const struct crt_launch_config *from)
{
    config->is_cooperative = from->is_cooperative;
    for (int i = 0; i < 3; i++)
        config->cluster[i] = from->cluster[i];
}

/* Attributes of kernel nodes, by their number in the API; each value is of this size. */
#define CRT_NODE_ATTRIBUTES      18
#define CRT_NODE_ATTRIBUTE_BYTES 64

struct crt_node_attributes {
    uint32_t is_set; /* a bit for each */
    uint8_t values[CRT_NODE_ATTRIBUTES][CRT_NODE_ATTRIBUTE_BYTES];
};

/* ---- copies and fills ---- */

/* The caller's claim about a pointer. */
enum crt_place {
    CRT_PLACE_HOST,   /* taken as it is */
    CRT_PLACE_DEVICE, /* must lie in an allocation */
    CRT_PLACE_UNIFIED /* either: an address the API does not know is host memory */
};

/* One side of a copy: row y of slice z starts at base + z * slice_bytes + y * pitch_bytes. */
struct crt_side {
    uintptr_t base;
    size_t pitch_bytes;
    size_t slice_bytes;
    enum crt_place place;
    struct crt_array *array; /* contains base; NULL: none does */
};

struct crt_copy {
    struct crt_side dst;
    struct crt_side src;
    size_t width_bytes;
    size_t height; /* 1 for a plain copy */
    size_t depth;  /* 1 unless three-dimensional */
};

/* Elements of elem_bytes (1, 2 or 4) with the low bytes of value. */
struct crt_fill {
    uintptr_t base;
    size_t pitch_bytes;
    size_t width; /* in elements */
    size_t height;
    uint32_t value;
    unsigned elem_bytes;
};

/* ---- conditional nodes ---- */

/* Numbers of CUgraphConditionalNodeType. */
enum crt_condition_kind { CRT_CONDITION_IF, CRT_CONDITION_WHILE, CRT_CONDITION_SWITCH };

/* The work of a conditional node. */
struct crt_condition {
    struct crt_conditional *variable;
    enum crt_condition_kind kind;
    unsigned body_count;
    struct crt_graph **bodies; /* owned */
};

/* ---- all of them ---- */

struct crt_work {
    enum crt_node_kind kind;
    struct crt_context *ctx; /* the kernel's context; NULL: that of the launch's stream */
    union {
        struct {
            struct crt_kernel *kernel;
            struct crt_launch_config config;
            void **params; /* one block: a pointer for each parameter, then their values */
            struct crt_node_attributes *attributes; /* owned; NULL: none was set */
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
        struct {
            struct crt_graph_block *block; /* of an alloc: a reference */
            uintptr_t base;
            size_t size_bytes;
            int device;
        } memory;
        struct {
            struct crt_mem_op *ops; /* owned */
            size_t count;
            unsigned flags;
        } mem_ops;
        struct crt_condition condition; /* owns its bodies, has a reference to its variable */
    };
};

#endif
