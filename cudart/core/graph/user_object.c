/* SPDX-License-Identifier: Apache-2.0
 *
 * User objects.
 */
#include "cudart/core/graph/user_object.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/process.h"
#include "scheduler/scheduler.h"

struct crt_user_object {
    struct crt_object object;
    _Atomic uint64_t refs;
    crt_host_fn destroy;
    void *pointer;
};

static bool is_object(const struct crt_user_object *object)
{
    return crt_object_is(object, CRT_KIND_USER_OBJECT);
}

enum crt_result crt_user_object_create(void *pointer, crt_host_fn destroy, unsigned count,
                                       struct crt_user_object **object)
{
    struct crt_user_object *created = crt_object_create(CRT_KIND_USER_OBJECT, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    atomic_store(&created->refs, count);
    created->destroy = destroy;
    created->pointer = pointer;
    *object = created;
    return CRT_SUCCESS;
}

enum crt_result crt_user_object_retain(struct crt_user_object *object, unsigned count)
{
    if (!is_object(object) || !count)
        return CRT_INVALID_VALUE;
    atomic_fetch_add(&object->refs, count);
    return CRT_SUCCESS;
}

/* Takes up to count references away; true: it was the last one. */
static bool drop(struct crt_user_object *object, uint64_t count)
{
    return atomic_fetch_sub_explicit(&object->refs, count, memory_order_acq_rel) == count;
}

/* The destructor may be slow and must not call CUDA: it is a host function. */
static void end_object(struct crt_user_object *object)
{
    crt_host_fn destroy = object->destroy;
    void *pointer = object->pointer;
    crt_object_destroy(CRT_KIND_USER_OBJECT, object);
    struct sch_op *op =
        crt_start_workers() == CRT_SUCCESS ? sch_op_host(destroy, NULL, pointer) : NULL;
    if (!op) {
        destroy(pointer);
        return;
    }
    sch_op_submit(op);
    sch_op_release(op);
}

enum crt_result crt_user_object_release(struct crt_user_object *object, unsigned count)
{
    if (!is_object(object) || !count || count > atomic_load(&object->refs))
        return CRT_INVALID_VALUE;
    if (drop(object, count))
        end_object(object);
    return CRT_SUCCESS;
}

static struct crt_user_reference *find(struct crt_user_reference *list,
                                       const struct crt_user_object *object)
{
    struct crt_user_reference *reference;
    LL_FOREACH(list, reference)
    if (reference->object == object)
        return reference;
    return NULL;
}

enum crt_result crt_user_reference_add(struct crt_user_reference **list,
                                       struct crt_user_object *object, unsigned count,
                                       bool is_moved)
{
    if (!is_object(object) || !count || (is_moved && count > atomic_load(&object->refs)))
        return CRT_INVALID_VALUE;
    struct crt_user_reference *reference = find(*list, object);
    if (!reference) {
        reference = calloc(1, sizeof *reference);
        if (!reference)
            return CRT_OUT_OF_MEMORY;
        reference->object = object;
        LL_PREPEND(*list, reference);
    }
    reference->count += count;
    if (!is_moved)
        atomic_fetch_add(&object->refs, count);
    return CRT_SUCCESS;
}

enum crt_result crt_user_reference_remove(struct crt_user_reference **list,
                                          struct crt_user_object *object, unsigned count)
{
    struct crt_user_reference *reference = find(*list, object);
    if (!reference || !count || count > reference->count)
        return CRT_INVALID_VALUE;
    reference->count -= count;
    if (!reference->count) {
        LL_DELETE(*list, reference);
        free(reference);
    }
    return crt_user_object_release(object, count);
}

enum crt_result crt_user_references_copy(const struct crt_user_reference *list,
                                         struct crt_user_reference **copy)
{
    const struct crt_user_reference *reference;
    LL_FOREACH(list, reference)
    {
        enum crt_result result =
            crt_user_reference_add(copy, reference->object, reference->count, false);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

void crt_user_references_drop(struct crt_user_reference **list)
{
    while (*list) {
        struct crt_user_reference *reference = *list;
        LL_DELETE(*list, reference);
        if (drop(reference->object, reference->count))
            end_object(reference->object);
        free(reference);
    }
}
