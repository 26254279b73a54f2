/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries that runtimes store with a context. Looked up at every call of a runtime, without a
 * lock.
 */
#include "cudart/core/streams/context.h"

#include "cudart/core/streams/green.h"

void crt_storage_end(struct crt_context *ctx)
{
    for (int i = 0; i < CRT_STORAGE_SLOTS; i++) {
        struct crt_storage_slot *slot = &ctx->storage[i];
        pthread_mutex_lock(&ctx->storage_lock);
        void *key = atomic_exchange(&slot->key, NULL);
        void *value = atomic_load(&slot->value);
        crt_storage_dtor dtor = slot->dtor;
        pthread_mutex_unlock(&ctx->storage_lock);
        /* Without the lock: the runtime may come back into the storage. */
        if (key && dtor)
            dtor(ctx, key, value);
    }
}

static enum crt_result storage_context(struct crt_context **ctx)
{
    if (crt_context_is_valid(*ctx))
        return CRT_SUCCESS;
    *ctx = *ctx ? crt_context_behind(*ctx) : crt_context_get_current();
    return crt_context_is_valid(*ctx) ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
}

static struct crt_storage_slot *find_slot(struct crt_context *ctx, const void *key)
{
    for (int i = 0; i < CRT_STORAGE_SLOTS; i++)
        if (atomic_load_explicit(&ctx->storage[i].key, memory_order_acquire) == key)
            return &ctx->storage[i];
    return NULL;
}

enum crt_result crt_storage_put(struct crt_context *ctx, void *key, void *value,
                                crt_storage_dtor dtor)
{
    if (!key)
        return CRT_INVALID_VALUE;
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&ctx->storage_lock);
    struct crt_storage_slot *slot = find_slot(ctx, key);
    if (!slot)
        slot = find_slot(ctx, NULL);
    if (slot) {
        atomic_store_explicit(&slot->value, value, memory_order_relaxed);
        slot->dtor = dtor;
        atomic_store_explicit(&slot->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->storage_lock);
    return slot ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

enum crt_result crt_storage_remove(struct crt_context *ctx, void *key)
{
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS || !key)
        return result;
    pthread_mutex_lock(&ctx->storage_lock);
    struct crt_storage_slot *slot = find_slot(ctx, key);
    if (slot)
        atomic_store_explicit(&slot->key, NULL, memory_order_release);
    pthread_mutex_unlock(&ctx->storage_lock);
    return slot ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

enum crt_result crt_storage_get(struct crt_context *ctx, void *key, void **value)
{
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_storage_slot *slot = key ? find_slot(ctx, key) : NULL;
    if (!slot)
        return CRT_INVALID_HANDLE;
    *value = atomic_load_explicit(&slot->value, memory_order_relaxed);
    return CRT_SUCCESS;
}
