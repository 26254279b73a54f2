/* SPDX-License-Identifier: Apache-2.0
 *
 * Device-side printf, malloc, free and assert. They run on a CUDA thread's own stack, and a bad
 * pointer given to them faults like any other access of the kernel: so nothing that came from
 * the kernel is read while a lock is held.
 */
#include "cudart/core/device_lib.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "cudart/core/context.h"
#include "cudart/core/launch.h"
#include "cudart/core/module.h"
#include "cudart/core/printf.h"
#include "scheduler/rt.h"

#define HEAP_ALIGN 16

/* A block on the device heap. */
struct heap_block {
    void *pointer;
    size_t size_bytes;
    const struct crt_context *ctx;
    UT_hash_handle hh;
};

/* Guarded by lock. The limit of cudaLimitMallocHeapSize holds for the process. */
static struct {
    pthread_mutex_t lock;
    struct heap_block *blocks; /* by pointer */
    size_t used_bytes;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct jit_symbol crt_device_symbols[] = {
    {"rt_vprintf", (void *)(uintptr_t)rt_vprintf},
    {"rt_malloc", (void *)(uintptr_t)rt_malloc},
    {"rt_free", (void *)(uintptr_t)rt_free},
    {"rt_assertfail", (void *)(uintptr_t)rt_assertfail},
    {"rt_graph_set_conditional", (void *)(uintptr_t)rt_graph_set_conditional},
};

const size_t crt_device_symbol_count = sizeof crt_device_symbols / sizeof crt_device_symbols[0];

/* Launch order of the block: x fastest. */
static uint64_t linear_block(const struct rt_block *block)
{
    const uint32_t *grid = block->launch->grid;
    return ((uint64_t)block->ctaid[2] * grid[1] + block->ctaid[1]) * grid[0] + block->ctaid[0];
}

int32_t rt_vprintf(struct rt_thread *thread, uint64_t format, uint64_t args)
{
    struct crt_context *ctx = crt_launch_of(thread->block->launch)->ctx;
    const char *pattern = (const char *)(uintptr_t)format;
    atomic_store_explicit(&ctx->has_printed, true, memory_order_relaxed);
    if (!pattern)
        return -1;
    char *text;
    size_t len;
    int count = crt_format(pattern, (const uint8_t *)(uintptr_t)args, &text, &len);
    if (!text)
        return -1;
    crt_printf_add(crt_launch_of(thread->block->launch), linear_block(thread->block), text, len);
    free(text);
    return count;
}

uint64_t rt_malloc(struct rt_thread *thread, uint64_t size_bytes)
{
    struct crt_context *ctx = crt_launch_of(thread->block->launch)->ctx;
    size_t limit = atomic_load(&ctx->limits[CRT_LIMIT_MALLOC_HEAP_SIZE]);
    atomic_store_explicit(&ctx->has_allocated, true, memory_order_relaxed);
    if (size_bytes == 0 || size_bytes > limit)
        return 0;
    size_t rounded = ((size_t)size_bytes + HEAP_ALIGN - 1) & ~(size_t)(HEAP_ALIGN - 1);
    struct heap_block *block = malloc(sizeof *block);
    void *pointer = aligned_alloc(HEAP_ALIGN, rounded);
    if (!block || !pointer) {
        free(block);
        free(pointer);
        return 0;
    }
    *block = (struct heap_block){.pointer = pointer, .size_bytes = rounded, .ctx = ctx};
    pthread_mutex_lock(&heap.lock);
    bool fits = heap.used_bytes + rounded <= limit;
    if (fits) {
        heap.used_bytes += rounded;
        HASH_ADD_PTR(heap.blocks, pointer, block);
    }
    pthread_mutex_unlock(&heap.lock);
    if (!fits) {
        free(block);
        free(pointer);
        return 0;
    }
    return (uint64_t)(uintptr_t)pointer;
}

void rt_free(struct rt_thread *thread, uint64_t pointer)
{
    void *key = (void *)(uintptr_t)pointer;
    if (!key)
        return;
    struct heap_block *block;
    pthread_mutex_lock(&heap.lock);
    HASH_FIND_PTR(heap.blocks, &key, block);
    if (block) {
        HASH_DEL(heap.blocks, block);
        heap.used_bytes -= block->size_bytes;
    }
    pthread_mutex_unlock(&heap.lock);
    if (!block)
        rt_fault(thread, PXR_FAULT_ADDRESS, pointer);
    free(block->pointer);
    free(block);
}

void crt_heap_free_owned(const struct crt_context *ctx)
{
    struct heap_block *block;
    struct heap_block *next;
    pthread_mutex_lock(&heap.lock);
    HASH_ITER(hh, heap.blocks, block, next)
    {
        if (block->ctx != ctx)
            continue;
        HASH_DEL(heap.blocks, block);
        heap.used_bytes -= block->size_bytes;
        free(block->pointer);
        free(block);
    }
    pthread_mutex_unlock(&heap.lock);
}

/* The message of device-side assert, in CUDA's own words: scripts look for it. Every thread whose
 * assertion fails says so, as on a device; hence it only ends itself, and the launch fails at its
 * end. */
void rt_assertfail(struct rt_thread *thread, uint64_t message, uint64_t file, uint32_t line,
                   uint64_t function, uint64_t char_bytes)
{
    (void)char_bytes;
    const uint32_t *block = thread->block->ctaid;
    char text[1024];
    int len = snprintf(text, sizeof text,
                       "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                       (const char *)(uintptr_t)file, line, (const char *)(uintptr_t)function,
                       block[0], block[1], block[2], thread->tid[0], thread->tid[1], thread->tid[2],
                       (const char *)(uintptr_t)message);
    size_t size_bytes = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    crt_assert_add(crt_launch_of(thread->block->launch), linear_block(thread->block), text,
                   size_bytes);
}
