/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that refer to other objects: child graphs, events, variables of conditional nodes; and user
 * objects, which graphs keep alive.
 */
#include <limits.h>

#include "cudart/core/graph/user_object.h"
#include "cudart/core/streams/event.h"
#include "cudart/driver/graph_node.h"

/* ---- child graphs ---- */

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t count, CUgraph child)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    return add_node(crt_work_child(child, false, &work), node, graph, deps, count, &work);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!child || !has_kind(node, CRT_NODE_CHILD))
        return CRT_INVALID_VALUE;
    *child = node->work.child;
    return CRT_SUCCESS;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    return crt_check_ready() ?: crt_graph_exec_update_child(exec, node, child);
}

/* ---- events ---- */

CUresult read_event_node(enum crt_node_kind kind, CUevent event, struct crt_work *work)
{
    *work = (struct crt_work){.kind = kind, .event = event};
    return crt_event_is_valid(event) ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

static CUresult get_event(CUgraphNode node, enum crt_node_kind kind, CUevent *event)
{
    if (!event || !has_kind(node, kind))
        return CRT_INVALID_VALUE;
    *event = node->work.event;
    return CRT_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t count, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(read_event_node(CRT_NODE_RECORD_EVENT, event, &work), node, graph, deps, count,
                    &work);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return crt_check_ready() ?: get_event(node, CRT_NODE_RECORD_EVENT, event);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_event_node(CRT_NODE_RECORD_EVENT, event, &work), node, &work);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_exec_node(read_event_node(CRT_NODE_RECORD_EVENT, event, &work), exec, node,
                            &work);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(read_event_node(CRT_NODE_WAIT_EVENT, event, &work), node, graph, deps, count,
                    &work);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return crt_check_ready() ?: get_event(node, CRT_NODE_WAIT_EVENT, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_event_node(CRT_NODE_WAIT_EVENT, event, &work), node, &work);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_exec_node(read_event_node(CRT_NODE_WAIT_EVENT, event, &work), exec, node, &work);
}

/* ---- conditional nodes ---- */

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext ctx, unsigned initial, unsigned flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!handle)
        return CRT_INVALID_VALUE;
    ctx = ctx ? crt_context_behind(ctx) : crt_context_get_current();
    if (!crt_context_is_valid(ctx))
        return CRT_INVALID_VALUE;
    struct crt_conditional *variable;
    result = crt_conditional_create(graph, ctx, initial, flags, &variable);
    if (result == CRT_SUCCESS)
        *handle = (CUgraphConditionalHandle)(uintptr_t)variable;
    return result;
}

/* ---- user objects ---- */

CUresult cuUserObjectCreate(CUuserObject *object, void *pointer, CUhostFn destroy, unsigned count,
                            unsigned flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!object || !destroy || !count || count > INT_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CRT_INVALID_VALUE;
    return crt_user_object_create(pointer, destroy, count, object);
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return count <= INT_MAX ? crt_user_object_retain(object, count) : CRT_INVALID_VALUE;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return count <= INT_MAX ? crt_user_object_release(object, count) : CRT_INVALID_VALUE;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || count > INT_MAX || (flags & ~CU_GRAPH_USER_OBJECT_MOVE))
        return CRT_INVALID_VALUE;
    return crt_user_reference_add(&graph->users, object, count,
                                  (flags & CU_GRAPH_USER_OBJECT_MOVE) != 0);
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    return crt_user_reference_remove(&graph->users, object, count);
}
