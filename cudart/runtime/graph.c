/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of graphs; user objects; memory of graphs.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    return crt_done(crt_enter() ?: cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return crt_done(crt_enter() ?: cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    return crt_done(crt_enter() ?: cuGraphClone(clone, graph));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return crt_done(crt_enter() ?: cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return crt_done(crt_enter() ?: cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              CUgraphEdgeData *data, size_t *count)
{
    return crt_done(crt_enter() ?: cuGraphGetEdges_v2(graph, from, to, data, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const CUgraphEdgeData *data,
                                     size_t count)
{
    return crt_done(crt_enter() ?: cuGraphAddDependencies_v2(graph, from, to, data, count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const CUgraphEdgeData *data,
                                        size_t count)
{
    return crt_done(crt_enter() ?: cuGraphRemoveDependencies_v2(graph, from, to, data, count));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type)
{
    return crt_done(crt_enter() ?: cuGraphNodeGetType(node, type));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    return crt_done(crt_enter() ?: cuGraphNodeGetDependencies_v2(node, nodes, data, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           CUgraphEdgeData *data, size_t *count)
{
    return crt_done(crt_enter() ?: cuGraphNodeGetDependentNodes_v2(node, nodes, data, count));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node,
                                     cudaGraph_t clone)
{
    return crt_done(crt_enter() ?: cuGraphNodeFindInClone(found, node, clone));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return crt_done(crt_enter() ?: cuGraphDestroyNode(node));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    return crt_done(crt_enter() ?: cuGraphDebugDotPrint(graph, path, flags));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *pointer, CUhostFn destroy,
                                 unsigned count, unsigned flags)
{
    return crt_done(crt_enter() ?: cuUserObjectCreate(object, pointer, destroy, count, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    return crt_done(crt_enter() ?: cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    return crt_done(crt_enter() ?: cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags)
{
    return crt_done(crt_enter() ?: cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    return crt_done(crt_enter() ?: cuGraphReleaseUserObject(graph, object, count));
}

cudaError_t cudaGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags)
{
    return crt_done(crt_enter()
                        ?: cuGraphConditionalHandleCreate(handle, graph, NULL, initial, flags));
}

/* The driver's name of a device, which may be no device at all. */
static cudaError_t find_device(int ordinal, CUdevice *device)
{
    if (!crt_is_device(ordinal))
        return cudaErrorInvalidDevice;
    *device = crt_device(ordinal);
    return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    CUdevice own = 0;
    return crt_done(crt_initialize() ?: find_device(device, &own) ?: cuDeviceGraphMemTrim(own));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    CUdevice own = 0;
    return crt_done(crt_initialize() ?: find_device(device, &own)
                        ?: cuDeviceGetGraphMemAttribute(own, attribute, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    CUdevice own = 0;
    return crt_done(crt_initialize() ?: find_device(device, &own)
                        ?: cuDeviceSetGraphMemAttribute(own, attribute, value));
}
