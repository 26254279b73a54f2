/* SPDX-License-Identifier: Apache-2.0
 *
 * See child_launch.h. The launch is made when its parameters are asked for, since they lie in it;
 * it gets its code when they are known.
 */
#include "cudart/core/code/child_launch.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/process.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/code/children.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"

#define MAX_DEPTH 24

/* A device starts children while their parents run. Here a worker may first run some blocks of the
 * parent: the limit that programs know by default is that much wider, which takes 32 MiB at most.
 * What a program has set holds. */
#define DEFAULT_LIMIT 2048
#define DEFAULT_TIMES 8

/* A launch that has not been made, in a list of its grid's. */
struct crt_parameter_buffer {
    struct crt_parameter_buffer *next;
    void *address;             /* that the kernel has */
    struct crt_launch *launch; /* NULL: of a kernel that is not known yet */
    struct crt_launch_config config;
    size_t size_bytes; /* without a launch: of … */
    _Alignas(16) uint8_t bytes[];
};

struct crt_kernel *crt_child_kernel(const struct rt_thread *thread, uint64_t function)
{
    const struct crt_library *library = crt_launch_of(thread->block->launch)->kernel->library;
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        const struct ptx_func *func = library->kernels[i]->func;
        if (func->is_address_taken && (uint64_t)func->handle == function)
            return library->kernels[i];
    }
    return NULL;
}

static crt_graph_launcher graph_launcher;

void crt_child_set_graph_launcher(crt_graph_launcher launcher)
{
    graph_launcher = launcher;
}

uint32_t crt_child_graph(struct rt_thread *thread, uint64_t graph, uint64_t stream)
{
    return graph_launcher(thread, graph, stream);
}

/* ---- buffers ---- */

static struct crt_parameter_buffer *create_buffer(size_t size_bytes)
{
    struct crt_parameter_buffer *buffer;
    if (size_bytes > CRT_OLD_PARAM_BYTES)
        return NULL;
    buffer = aligned_alloc(16, (sizeof *buffer + size_bytes + 15) / 16 * 16);
    if (buffer)
        *buffer = (struct crt_parameter_buffer){.address = buffer->bytes, .size_bytes = size_bytes};
    return buffer;
}

static void free_buffer(struct crt_parameter_buffer *buffer)
{
    if (buffer && buffer->launch)
        crt_launch_destroy(buffer->launch);
    free(buffer);
}

void crt_child_buffers_free(struct crt_children *children)
{
    struct crt_parameter_buffer *buffer;
    while ((buffer = children->buffers)) {
        children->buffers = buffer->next;
        free_buffer(buffer);
    }
}

static uint32_t keep_buffer(struct rt_thread *thread, struct crt_parameter_buffer *buffer,
                            uint64_t *address)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!buffer || !children) {
        free_buffer(buffer);
        return CRT_CHILD_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&children->lock);
    if (children->buffers)
        children->last_buffer->next = buffer;
    else
        children->buffers = buffer;
    children->last_buffer = buffer;
    pthread_mutex_unlock(&children->lock);
    *address = (uint64_t)(uintptr_t)buffer->address;
    return CRT_CHILD_SUCCESS;
}

/* NULL: the kernel has got no such buffer, or has used it. */
static struct crt_parameter_buffer *take_buffer(struct rt_thread *thread, uint64_t address)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    struct crt_parameter_buffer *buffer = NULL;
    if (!children)
        return NULL;
    pthread_mutex_lock(&children->lock);
    struct crt_parameter_buffer *previous = NULL;
    for (buffer = children->buffers; buffer; previous = buffer, buffer = buffer->next)
        if ((uint64_t)(uintptr_t)buffer->address == address)
            break;
    if (buffer)
        *(previous ? &previous->next : &children->buffers) = buffer->next;
    if (buffer && buffer == children->last_buffer)
        children->last_buffer = previous;
    pthread_mutex_unlock(&children->lock);
    return buffer;
}

static size_t buffer_bytes(const struct crt_parameter_buffer *buffer)
{
    return buffer->launch ? buffer->launch->kernel->func->param_bytes : buffer->size_bytes;
}

bool crt_child_buffers_cover(const struct rt_thread *thread, uint64_t address, uint64_t bytes)
{
    const struct crt_launch *launch = crt_launch_of(thread->block->launch);
    struct crt_children *children = atomic_load(&launch->children);
    bool is_covered = false;
    if (!children)
        return false;
    pthread_mutex_lock(&children->lock);
    for (struct crt_parameter_buffer *buffer = children->buffers; buffer && !is_covered;
         buffer = buffer->next) {
        uint64_t place = address - (uint64_t)(uintptr_t)buffer->address;
        size_t size = buffer_bytes(buffer);
        is_covered = place < size && bytes <= size - place;
    }
    pthread_mutex_unlock(&children->lock);
    return is_covered;
}

/* ---- limits ---- */

static bool may_wait_for_turn(struct crt_context *ctx)
{
    size_t limit = atomic_load(&ctx->limits[CRT_LIMIT_PENDING_LAUNCHES]);
    if (limit == DEFAULT_LIMIT)
        limit *= DEFAULT_TIMES;
    return atomic_load(&ctx->child_launches) < limit;
}

/* Tails of a tail become its parent's, and are no deeper than it. */
static bool is_too_deep(const struct crt_launch *parent, struct crt_launch *child, uint64_t stream)
{
    bool is_sibling = parent->child.is_tail && stream == CRT_CHILD_STREAM_TAIL;
    child->depth = parent->depth + !is_sibling;
    return child->depth > MAX_DEPTH;
}

/* ---- launches ---- */

static void drop_launch(struct crt_child *child)
{
    uintptr_t launch = (uintptr_t)child - offsetof(struct crt_launch, child);
    crt_launch_destroy((struct crt_launch *)launch);
}

static uint32_t create_child(struct rt_thread *thread, uint64_t function,
                             const struct crt_launch_config *config, struct crt_launch **launch)
{
    struct crt_launch *parent = crt_launch_of(thread->block->launch);
    struct crt_kernel *kernel = crt_child_kernel(thread, function);
    if (!kernel)
        return CRT_CHILD_INVALID_FUNCTION;
    if (!may_wait_for_turn(parent->ctx))
        return CRT_CHILD_PENDING_COUNT_EXCEEDED;
    enum crt_result result = crt_launch_check(kernel, config);
    if (result == CRT_SUCCESS)
        result = crt_launch_create(kernel, false, launch);
    if (result != CRT_SUCCESS)
        return (uint32_t)result;
    (*launch)->ctx = parent->ctx;
    (*launch)->child = (struct crt_child){.parent = parent, .drop = drop_launch};
    atomic_fetch_add(&parent->ctx->child_launches, 1);
    return CRT_CHILD_SUCCESS;
}

/* The launch becomes the operation's, or is freed. */
static uint32_t submit(struct rt_thread *thread, struct crt_launch *launch,
                       const struct crt_launch_config *config, uint64_t stream)
{
    const struct rt_launch *running = thread->block->launch;
    struct sch_grid grid;
    uint32_t error = CRT_CHILD_MAX_DEPTH_EXCEEDED;
    if (!is_too_deep(crt_launch_of(running), launch, stream))
        error = (uint32_t)crt_launch_find_code(launch, config);
    if (error == CRT_CHILD_SUCCESS) {
        crt_launch_describe(launch, running->slots, config, &grid);
        sch_grid_nest(&grid, sch_op_of(running));
        launch->submit_ns = crt_stats_are_on() ? crt_now_ns() : 0;
        struct sch_op *op = sch_op_grid(&grid, crt_launch_finish, launch);
        error = crt_child_submit(thread, &launch->child, op, stream);
    }
    if (error != CRT_CHILD_SUCCESS)
        crt_launch_destroy(launch);
    return error;
}

uint32_t crt_child_buffer_for(struct rt_thread *thread, uint64_t function,
                              const struct crt_launch_config *config, uint64_t *address)
{
    struct crt_launch *launch;
    uint32_t error = create_child(thread, function, config, &launch);
    if (error != CRT_CHILD_SUCCESS)
        return error;
    struct crt_parameter_buffer *buffer = create_buffer(0);
    if (!buffer) {
        crt_launch_destroy(launch);
        return CRT_CHILD_OUT_OF_MEMORY;
    }
    buffer->launch = launch;
    buffer->config = *config;
    buffer->address = launch->params;
    return keep_buffer(thread, buffer, address);
}

uint32_t crt_child_buffer(struct rt_thread *thread, size_t size_bytes, uint64_t *address)
{
    return keep_buffer(thread, create_buffer(size_bytes), address);
}

uint32_t crt_child_launch(struct rt_thread *thread, uint64_t address, uint64_t stream)
{
    struct crt_parameter_buffer *buffer = take_buffer(thread, address);
    struct crt_launch *launch = buffer ? buffer->launch : NULL;
    uint32_t error = CRT_CHILD_INVALID_VALUE;
    if (launch) {
        buffer->launch = NULL;
        error = submit(thread, launch, &buffer->config, stream);
    }
    free_buffer(buffer);
    return error;
}

uint32_t crt_child_launch_with(struct rt_thread *thread, uint64_t function,
                               const struct crt_launch_config *config, uint64_t address,
                               uint64_t stream)
{
    struct crt_parameter_buffer *buffer = take_buffer(thread, address);
    struct crt_launch *launch = NULL;
    uint32_t error = buffer && !buffer->launch ? create_child(thread, function, config, &launch)
                                               : CRT_CHILD_INVALID_VALUE;
    if (error == CRT_CHILD_SUCCESS) {
        size_t wanted = launch->kernel->func->param_bytes;
        memcpy(launch->params, buffer->bytes,
               buffer->size_bytes < wanted ? buffer->size_bytes : wanted);
        error = submit(thread, launch, config, stream);
    }
    free_buffer(buffer);
    return error;
}
