/* SPDX-License-Identifier: Apache-2.0
 *
 * The common head of everything a program holds a handle of.
 *
 * Handles are pointers that programs pass back, sometimes after they have destroyed the object.
 * The memory of a kind is therefore never given back to malloc: a dead object keeps a readable
 * head whose kind says so, and is used again for an object of the same kind.
 */
#ifndef PTXRUN_CUDART_CORE_OBJECT_H
#define PTXRUN_CUDART_CORE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/result.h"

enum crt_kind {
    CRT_KIND_CONTEXT,
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
    CRT_KIND_POOL,
    CRT_KIND_PHYSICAL,
    CRT_KIND_CONDITIONAL,
    CRT_KIND_USER_OBJECT,
    CRT_KIND_COUNT
};

struct crt_object {
    _Atomic uint32_t tag; /* CRT_TAG(kind) while alive, 0 when dead */
    struct crt_object *next_dead;
};

#define CRT_TAG(kind) (UINT32_C(0x70745800) + (uint32_t)(kind))

CRT_API_BEGIN

/* Zeroed object of size_bytes, always the same for one kind. NULL when out of memory. */
void *crt_object_create(enum crt_kind kind, size_t size_bytes);

/* Marks it dead and keeps its memory for the next of its kind. */
void crt_object_destroy(enum crt_kind kind, void *object);

CRT_API_END

/* Whether a handle is a live object of this kind; NULL is not. Acquire: who asks about a handle
 * whose memory has become another object's sees that object as it was created. */
static inline bool crt_object_is(const void *object, enum crt_kind kind)
{
    const struct crt_object *head = object;
    return head && ((uintptr_t)head & 7) == 0 && (uintptr_t)head > 4095 &&
           atomic_load_explicit(&head->tag, memory_order_acquire) == CRT_TAG(kind);
}

#endif
