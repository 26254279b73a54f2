/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs as text in the DOT language: a cluster for each graph, with those inside its nodes in it.
 */
#include <errno.h>
#include <stdio.h>
#include <utlist.h>

#include "cudart/core/code/module.h"
#include "cudart/core/graph/graph.h"
#include "cudart/core/memory/mem_op.h"

/* Numbers of CUgraphDebugDot_flags. */
#define DOT_VERBOSE     (1u << 0)
#define DOT_KERNEL      (1u << 2)
#define DOT_COPY        (1u << 3)
#define DOT_FILL        (1u << 4)
#define DOT_HOST        (1u << 5)
#define DOT_EVENT       (1u << 6)
#define DOT_ATTRIBUTES  (1u << 9)
#define DOT_HANDLES     (1u << 10)
#define DOT_ALLOC       (1u << 11)
#define DOT_FREE        (1u << 12)
#define DOT_MEM_OPS     (1u << 13)
#define DOT_TOPOLOGY    (1u << 14)
#define DOT_CONDITIONAL (1u << 15)

struct printer {
    FILE *out;
    unsigned flags;
    unsigned graphs; /* printed so far */
};

static const char *const kind_names[] = {
    [CRT_NODE_KERNEL] = "KERNEL",         [CRT_NODE_COPY] = "MEMCPY",
    [CRT_NODE_FILL] = "MEMSET",           [CRT_NODE_HOST] = "HOST",
    [CRT_NODE_CHILD] = "GRAPH",           [CRT_NODE_EMPTY] = "EMPTY",
    [CRT_NODE_WAIT_EVENT] = "EVENT_WAIT", [CRT_NODE_RECORD_EVENT] = "EVENT_RECORD",
    [CRT_NODE_ALLOC] = "MEM_ALLOC",       [CRT_NODE_FREE] = "MEM_FREE",
    [CRT_NODE_MEM_OPS] = "BATCH_MEM_OP",  [CRT_NODE_CONDITIONAL] = "CONDITIONAL",
};

static bool wants(const struct printer *printer, unsigned flag)
{
    return (printer->flags & (flag | DOT_VERBOSE)) != 0;
}

static void print_kernel(const struct printer *printer, const struct crt_work *work)
{
    const struct crt_launch_config *config = &work->launch.config;
    bool is_alive = crt_kernel_is_valid(work->launch.kernel);
    fprintf(printer->out, "\\n%s", is_alive ? crt_kernel_name(work->launch.kernel) : "(unloaded)");
    if (wants(printer, DOT_KERNEL))
        fprintf(printer->out, "\\n<<<(%u,%u,%u),(%u,%u,%u),%zu>>>", config->grid[0],
                config->grid[1], config->grid[2], config->block[0], config->block[1],
                config->block[2], config->dynamic_shared_bytes);
    if (wants(printer, DOT_ATTRIBUTES))
        fprintf(printer->out, "\\ncooperative: %d", (int)config->is_cooperative);
    if (wants(printer, DOT_HANDLES))
        fprintf(printer->out, "\\nfunc: %p", (void *)work->launch.kernel);
}

static void print_copy(const struct printer *printer, const struct crt_copy *copy)
{
    fprintf(printer->out, "\\n%#zx to %#zx, %zu x %zu x %zu bytes", copy->src.base, copy->dst.base,
            copy->width_bytes, copy->height, copy->depth);
}

static void print_condition(const struct printer *printer, const struct crt_condition *condition)
{
    static const char *const kinds[] = {"IF", "WHILE", "SWITCH"};
    fprintf(printer->out, "\\n%s, %u bodies, handle %p", kinds[condition->kind],
            condition->body_count, (void *)condition->variable);
}

static void print_work(const struct printer *printer, const struct crt_work *work)
{
    switch (work->kind) {
    case CRT_NODE_KERNEL:
        print_kernel(printer, work);
        break;
    case CRT_NODE_COPY:
        if (wants(printer, DOT_COPY))
            print_copy(printer, &work->copy);
        break;
    case CRT_NODE_FILL:
        if (wants(printer, DOT_FILL))
            fprintf(printer->out, "\\n%#zx, %zu x %zu of %u bytes, value %u", work->fill.base,
                    work->fill.width, work->fill.height, work->fill.elem_bytes, work->fill.value);
        break;
    case CRT_NODE_HOST:
        if (wants(printer, DOT_HOST))
            fprintf(printer->out, "\\nfn %#zx(%p)", (uintptr_t)work->host.fn, work->host.arg);
        break;
    case CRT_NODE_WAIT_EVENT:
    case CRT_NODE_RECORD_EVENT:
        if (wants(printer, DOT_EVENT))
            fprintf(printer->out, "\\nevent %p", (void *)work->event);
        break;
    case CRT_NODE_ALLOC:
        if (wants(printer, DOT_ALLOC))
            fprintf(printer->out, "\\n%#zx, %zu bytes", work->memory.base, work->memory.size_bytes);
        break;
    case CRT_NODE_FREE:
        if (wants(printer, DOT_FREE))
            fprintf(printer->out, "\\n%#zx", work->memory.base);
        break;
    case CRT_NODE_MEM_OPS:
        if (wants(printer, DOT_MEM_OPS))
            fprintf(printer->out, "\\n%zu operations", work->mem_ops.count);
        break;
    case CRT_NODE_CONDITIONAL:
        if (wants(printer, DOT_CONDITIONAL))
            print_condition(printer, &work->condition);
        break;
    case CRT_NODE_CHILD:
    case CRT_NODE_EMPTY:
        break;
    }
}

static void print_graph(struct printer *printer, const struct crt_graph *graph);

static void print_node(struct printer *printer, const struct crt_node *node, unsigned graph_number,
                       size_t number)
{
    const struct crt_work *work = &node->work;
    fprintf(printer->out, "\"graph_%u_node_%zu\"[style=\"%s\" shape=\"%s\" label=\"%zu\\n%s",
            graph_number, number, work->kind == CRT_NODE_KERNEL ? "bold" : "solid",
            work->kind == CRT_NODE_KERNEL ? "octagon" : "rectangle", number,
            kind_names[work->kind]);
    print_work(printer, work);
    if (wants(printer, DOT_HANDLES))
        fprintf(printer->out, "\\nnode: %p", (const void *)node);
    fputs("\"];\n", printer->out);
    if (work->kind == CRT_NODE_CHILD)
        print_graph(printer, work->child);
    for (unsigned i = 0; work->kind == CRT_NODE_CONDITIONAL && i < work->condition.body_count; i++)
        print_graph(printer, work->condition.bodies[i]);
}

static size_t place_of(const struct crt_graph *graph, const struct crt_node *node)
{
    size_t place = 0;
    const struct crt_node *other;
    DL_FOREACH(graph->nodes, other)
    {
        if (other == node)
            break;
        place++;
    }
    return place;
}

static void print_edges(const struct printer *printer, const struct crt_graph *graph,
                        const struct crt_node *node, unsigned graph_number, size_t number)
{
    for (size_t i = 0; i < node->dep_count; i++) {
        fprintf(printer->out, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"", graph_number,
                place_of(graph, node->deps[i]), graph_number, number);
        if (wants(printer, DOT_TOPOLOGY))
            fprintf(printer->out, " [headlabel=%zu]", i);
        fputs(";\n", printer->out);
    }
}

static void print_graph(struct printer *printer, const struct crt_graph *graph)
{
    unsigned graph_number = ++printer->graphs;
    size_t number = 0;
    const struct crt_node *node;
    fprintf(printer->out, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n",
            graph_number, graph_number);
    DL_FOREACH(graph->nodes, node)
    print_node(printer, node, graph_number, number++);
    number = 0;
    DL_FOREACH(graph->nodes, node)
    print_edges(printer, graph, node, graph_number, number++);
    fputs("}\n", printer->out);
}

enum crt_result crt_graph_print(const struct crt_graph *graph, const char *path, unsigned flags)
{
    if (!crt_graph_is_valid(graph) || !path)
        return CRT_INVALID_VALUE;
    struct printer printer = {.out = fopen(path, "w"), .flags = flags};
    if (!printer.out)
        return errno == ENOENT || errno == EACCES ? CRT_INVALID_VALUE : CRT_OPERATING_SYSTEM;
    fputs("digraph dot {\n", printer.out);
    print_graph(&printer, graph);
    fputs("}\n", printer.out);
    bool is_written = !ferror(printer.out);
    is_written = fclose(printer.out) == 0 && is_written;
    return is_written ? CRT_SUCCESS : CRT_OPERATING_SYSTEM;
}
