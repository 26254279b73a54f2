/* SPDX-License-Identifier: Apache-2.0
 *
 * Device-side printf, malloc, free and assert. They run on a CUDA thread's own stack, and a bad
 * pointer given to them faults like any other access of the kernel: so nothing that came from
 * the kernel is read while a lock is held.
 */
#include "cudart/core/code/device_lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/conditional.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/heap_leaks.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/printf.h"
#include "cudart/core/streams/context.h"
#include "kernel_abi/rt.h"
#include "scheduler/scheduler.h"

#define FROM_SCHEDULER(name)
#define FROM_HOST(name) {"rt_" #name, (void *)(uintptr_t)rt_##name},
#define FROM_CODE(name)

const struct jit_symbol crt_device_symbols[] = {
#define FROM_NATIVE(name)
#define PLACEHOLDER(ID, name, home, ...) FROM_##home(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
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
    const struct crt_launch *launch = crt_launch_of(thread->block->launch);
    struct crt_context *ctx = launch->ctx;
    size_t limit = atomic_load(&ctx->limits[CRT_LIMIT_MALLOC_HEAP_SIZE]);
    atomic_store_explicit(&ctx->has_allocated, true, memory_order_relaxed);
    if (size_bytes == 0)
        return 0;
    struct crt_heap_user *user = crt_heap_user(launch->kernel->func->name);
    return (uint64_t)(uintptr_t)crt_heap_take(ctx, user, (size_t)size_bytes, limit);
}

void rt_free(struct rt_thread *thread, uint64_t pointer)
{
    void *block = (void *)(uintptr_t)pointer;
    if (block && !crt_heap_give(block))
        rt_fault(thread, PXR_FAULT_ADDRESS, pointer);
}

/* Others may fail, too, before those that wait for what does not come any more are ended. */
#define POLLS_NS 100000000

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
    sch_grid_end_polls(thread, POLLS_NS);
}
