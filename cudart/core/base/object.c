/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of handles: chunks, and one list of dead objects per kind.
 */
#include "cudart/core/base/object.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/leak.h"

/* Objects that a program makes and must give back; the others are parts, or known by their
 * memory. */
static const char *const nouns[CRT_KIND_COUNT] = {
    [CRT_KIND_CONTEXT] = "context",   [CRT_KIND_STREAM] = "stream",
    [CRT_KIND_EVENT] = "event",       [CRT_KIND_LIBRARY] = "module",
    [CRT_KIND_GRAPH] = "graph",       [CRT_KIND_GRAPH_EXEC] = "executable graph",
    [CRT_KIND_LINK] = "linker state", [CRT_KIND_TEXTURE] = "texture or surface object",
};

/* A chunk begins at a multiple of its size. Objects begin at multiples of a cache line. */
#define CHUNK_BITS   20
#define CHUNK_BYTES  ((size_t)1 << CHUNK_BITS)
#define OBJECT_ALIGN ((size_t)64)

/* Which chunks of the address space hold objects: a directory of leaves, made when needed. */
#define ADDRESS_BITS 48
#define LEAF_BITS    14
#define LEAF_CHUNKS  ((size_t)1 << LEAF_BITS)
#define LEAVES       ((size_t)1 << (ADDRESS_BITS - CHUNK_BITS - LEAF_BITS))

struct leaf {
    atomic_bool has_objects[LEAF_CHUNKS];
};

struct chunk {
    struct chunk *next;
    size_t used_bytes;
};

static _Atomic(struct leaf *) leaves[LEAVES];

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_object *dead[CRT_KIND_COUNT];
    struct chunk *chunks[CRT_KIND_COUNT]; /* the one that has room comes first */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The address is part of it, so that a copy of a head is no head. */
static uint64_t tag_of(const void *object, enum crt_kind kind)
{
    return (UINT64_C(0x7074580000000000) + ((uint64_t)kind << 48)) ^ (uintptr_t)object;
}

static struct leaf *leaf_of(uintptr_t address)
{
    if (address >> ADDRESS_BITS)
        return NULL;
    return atomic_load_explicit(&leaves[address >> (CHUNK_BITS + LEAF_BITS)], memory_order_acquire);
}

static size_t index_in_leaf(uintptr_t address)
{
    return (address >> CHUNK_BITS) % LEAF_CHUNKS;
}

/* Acquire: pairs with the release of the thread that has entered the chunk. */
static bool is_in_chunk(uintptr_t address)
{
    struct leaf *leaf = leaf_of(address);
    return leaf &&
           atomic_load_explicit(&leaf->has_objects[index_in_leaf(address)], memory_order_acquire);
}

/* False when out of memory, or when the system gives addresses that the table does not cover. */
static bool enter_chunk(uintptr_t address)
{
    struct leaf *leaf = leaf_of(address);
    if (!leaf) {
        leaf = address >> ADDRESS_BITS ? NULL : calloc(1, sizeof *leaf);
        if (!leaf)
            return false;
        atomic_store_explicit(&leaves[address >> (CHUNK_BITS + LEAF_BITS)], leaf,
                              memory_order_release);
    }
    atomic_store_explicit(&leaf->has_objects[index_in_leaf(address)], true, memory_order_release);
    return true;
}

static struct chunk *create_chunk(void)
{
    struct chunk *chunk = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);
    if (chunk && !enter_chunk((uintptr_t)chunk)) {
        free(chunk);
        chunk = NULL;
    }
    return chunk;
}

/* Memory for a new object, whose tag is 0; NULL when out of memory. The lock is held. */
static struct crt_object *carve_locked(enum crt_kind kind, size_t size_bytes)
{
    size_t span = (size_bytes + OBJECT_ALIGN - 1) & ~(OBJECT_ALIGN - 1);
    struct chunk *chunk = pool.chunks[kind];
    if (!chunk || CHUNK_BYTES - chunk->used_bytes < span) {
        chunk = create_chunk();
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){.next = pool.chunks[kind], .used_bytes = OBJECT_ALIGN};
        pool.chunks[kind] = chunk;
    }
    struct crt_object *object = (struct crt_object *)((char *)chunk + chunk->used_bytes);
    chunk->used_bytes += span;
    atomic_store_explicit(&object->tag, 0, memory_order_relaxed);
    return object;
}

void *crt_object_create(enum crt_kind kind, size_t size_bytes)
{
    pthread_mutex_lock(&pool.lock);
    struct crt_object *object = pool.dead[kind];
    if (object)
        pool.dead[kind] = object->next_dead;
    else
        object = carve_locked(kind, size_bytes);
    pthread_mutex_unlock(&pool.lock);
    if (!object)
        return NULL;
    /* The tag, which is 0, stays: a thread with an old handle may be reading it right now. */
    memset(&object->next_dead, 0, size_bytes - offsetof(struct crt_object, next_dead));
    atomic_store_explicit(&object->tag, tag_of(object, kind), memory_order_release);
    if (nouns[kind])
        crt_leak_note(nouns[kind], object, 0);
    return object;
}

void crt_object_retire(enum crt_kind kind, void *object)
{
    struct crt_object *head = object;
    if (nouns[kind])
        crt_leak_forget(object);
    atomic_store_explicit(&head->tag, 0, memory_order_relaxed);
}

void crt_object_destroy(enum crt_kind kind, void *object)
{
    struct crt_object *head = object;
    crt_object_retire(kind, object);
    pthread_mutex_lock(&pool.lock);
    head->next_dead = pool.dead[kind];
    pool.dead[kind] = head;
    pthread_mutex_unlock(&pool.lock);
}

bool crt_object_is(const void *object, enum crt_kind kind)
{
    const struct crt_object *head = object;
    return ((uintptr_t)head & (OBJECT_ALIGN - 1)) == 0 && is_in_chunk((uintptr_t)head) &&
           atomic_load_explicit(&head->tag, memory_order_acquire) == tag_of(head, kind);
}
