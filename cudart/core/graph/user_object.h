/* SPDX-License-Identifier: Apache-2.0
 *
 * User objects: objects of the program's that live as long as there are references to them, held by
 * the program, by graphs and by launches of graphs. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_USER_OBJECT_H
#define PTXRUN_CUDART_CORE_GRAPH_USER_OBJECT_H

#include <stdbool.h>

#include "cudart/core/base/result.h"
#include "cudart/core/streams/stream.h"

struct crt_user_object;

/* References that one graph holds. */
struct crt_user_reference {
    struct crt_user_object *object;
    unsigned count;
    struct crt_user_reference *next;
};

CRT_API_BEGIN

/* destroy(pointer) is called, by the thread for host functions, when the last reference goes. */
enum crt_result crt_user_object_create(void *pointer, crt_host_fn destroy, unsigned count,
                                       struct crt_user_object **object);

/* CRT_INVALID_VALUE if it is no user object, and for a count of 0 or larger than the number of
 * references. */
enum crt_result crt_user_object_retain(struct crt_user_object *object, unsigned count);
enum crt_result crt_user_object_release(struct crt_user_object *object, unsigned count);

/* A graph's references; moved ones come from the caller. */
enum crt_result crt_user_reference_add(struct crt_user_reference **list,
                                       struct crt_user_object *object, unsigned count,
                                       bool is_moved);
enum crt_result crt_user_reference_remove(struct crt_user_reference **list,
                                          struct crt_user_object *object, unsigned count);

CRT_API_END

enum crt_result crt_user_references_copy(const struct crt_user_reference *list,
                                         struct crt_user_reference **copy);
void crt_user_references_drop(struct crt_user_reference **list);

#endif
