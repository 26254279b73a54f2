/* SPDX-License-Identifier: Apache-2.0
 *
 * The common head of all objects that a program holds handles of.
 *
 * Handles are pointers that programs pass back, sometimes after they have destroyed the object, and
 * sometimes pointers that were never handles. Objects therefore live in chunks of memory that are
 * never given back, and a table says which addresses lie in one, so that a handle is read only
 * where that is possible. A dead object keeps its place, which is used again for one of its kind.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_OBJECT_H
#define PTXRUN_CUDART_CORE_BASE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

enum crt_kind {
    CRT_KIND_CONTEXT,
    CRT_KIND_GREEN,
    CRT_KIND_STREAM,
    CRT_KIND_EVENT,
    CRT_KIND_LIBRARY,
    CRT_KIND_MODULE,
    CRT_KIND_KERNEL,
    CRT_KIND_GRAPH,
    CRT_KIND_NODE,
    CRT_KIND_GRAPH_EXEC,
    CRT_KIND_LINK,
    CRT_KIND_ARRAY,
    CRT_KIND_MIPMAP,
    CRT_KIND_TEXTURE,
    CRT_KIND_REFERENCE, /* to a texture or surface */
    CRT_KIND_POOL,
    CRT_KIND_PHYSICAL,
    CRT_KIND_EXTERNAL_MEMORY,
    CRT_KIND_SEMAPHORE,
    CRT_KIND_RESOURCES, /* a share of a device */
    CRT_KIND_CONDITIONAL,
    CRT_KIND_USER_OBJECT,
    CRT_KIND_COUNT
};

struct crt_object {
    _Atomic uint64_t tag; /* of its kind and address while alive, 0 when dead */
    struct crt_object *next_dead;
};

CRT_API_BEGIN

/* Zeroed object of size_bytes, always the same for one kind. NULL when out of memory. */
void *crt_object_create(enum crt_kind kind, size_t size_bytes);

/* Marks it dead: the handle is no longer one. Its memory stays until it is destroyed. */
void crt_object_retire(enum crt_kind kind, void *object);

/* Marks it dead and keeps its memory for the next of its kind. */
void crt_object_destroy(enum crt_kind kind, void *object);

/* Whether a handle, which may be any address at all, is a live object of this kind. If the handle's
 * memory has become another object, a caller sees that object as it was created. */
bool crt_object_is(const void *object, enum crt_kind kind);

CRT_API_END

#endif
