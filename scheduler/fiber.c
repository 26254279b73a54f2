/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of fibers: mapped in slabs, kept per worker and size class, used again last in first
 * out. Pages are touched (and cost memory) only as deep as a stack has been used.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/fiber.h"
#include "util/guard.h"

#define SLAB_BYTES ((size_t)2 * 1024 * 1024)
/* Fused kernels need one stack for a block, and each costs two calls of the system. */
#define FIRST_SLAB_BYTES ((size_t)128 * 1024)
#define COLOURS          32
#define COLOUR_BYTES     128
#define KEEP_BYTES       ((size_t)16 * 1024)
#define KEEP_FIBERS      1024

#if defined(__x86_64__)
#define FRAME_WORDS  7
#define FRAME_ARG    3 /* r12 */
#define FRAME_FN     2 /* r13 */
#define FRAME_RETURN 6
#elif defined(__aarch64__)
#define FRAME_WORDS  20
#define FRAME_ARG    0  /* x19 */
#define FRAME_FN     1  /* x20 */
#define FRAME_RETURN 11 /* x30 */
#else
#error "fiber_<arch>.S and this frame layout exist for x86-64 and AArch64"
#endif

uint32_t sch_stack_class(size_t stack_bytes)
{
    uint32_t size_class = 0;
    while (size_class < SCH_STACK_CLASSES && (SCH_STACK_BYTES_MIN << size_class) < stack_bytes)
        size_class++;
    return size_class;
}

bool sch_fiber_grow(struct sch_fiber_pool *pool, uint32_t size_class)
{
    size_t stack_bytes = SCH_STACK_BYTES_MIN << size_class;
    size_t guard_bytes = sch_stack_guard_bytes();
    size_t stride = stack_bytes + guard_bytes;
    size_t slab_stacks = pool->has_slab ? SLAB_BYTES : FIRST_SLAB_BYTES;
    size_t count = stack_bytes < slab_stacks ? slab_stacks / stack_bytes : 1;
    struct sch_fiber *fibers = aligned_alloc(_Alignof(struct sch_fiber), count * sizeof *fibers);
    if (!fibers)
        return false;
    memset(fibers, 0, count * sizeof *fibers);
    size_t slab_bytes = count * stride + guard_bytes;
    uint8_t *slab = mmap(NULL, slab_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) {
        free(fibers);
        return false;
    }
    pool->has_slab = true;
    /* One touched page per stack must not become one touched huge page. */
    madvise(slab, slab_bytes, MADV_NOHUGEPAGE);
    pxr_guard_install(slab + count * stride, guard_bytes);
    for (size_t i = count; i-- > 0;) {
        struct sch_fiber *fiber = &fibers[i];
        pxr_guard_install(slab + i * stride, guard_bytes);
        fiber->low = slab + i * stride + guard_bytes;
        /* Stacks a power of two apart would all keep their hot frames in the same cache sets. */
        fiber->top = fiber->low + stack_bytes - (i % COLOURS) * COLOUR_BYTES;
        fiber->size_class = size_class;
        fiber->ctx.stack_low = fiber->low;
        fiber->ctx.stack_bytes = (size_t)(fiber->top - fiber->low);
        fiber->next = pool->free[size_class];
        pool->free[size_class] = fiber;
    }
    return true;
}

struct sch_fiber *sch_fiber_take(struct sch_fiber_pool *pool, uint32_t size_class)
{
    struct sch_fiber *fiber = pool->free[size_class];
    if (fiber)
        pool->free[size_class] = fiber->next;
    return fiber;
}

void sch_fiber_put(struct sch_fiber_pool *pool, struct sch_fiber *fiber, bool is_reusable)
{
    fiber->is_reusable = is_reusable;
    fiber->is_dirty = true;
    fiber->owner = NULL;
    fiber->next = pool->free[fiber->size_class];
    pool->free[fiber->size_class] = fiber;
}

void sch_fiber_prepare(struct sch_fiber *fiber, void *(*fn)(void *), void *arg)
{
#ifdef SCH_ASAN
    /* Frames that were abandoned have left their red zones behind. */
    ASAN_UNPOISON_MEMORY_REGION(fiber->low, (size_t)(fiber->top - fiber->low));
    fiber->ctx.asan_fake_stack = NULL;
#endif
#ifdef SCH_TSAN
    /* Abandoned frames never left the shadow call stack; a new one starts empty. */
    if (fiber->ctx.tsan_fiber)
        __tsan_destroy_fiber(fiber->ctx.tsan_fiber);
    fiber->ctx.tsan_fiber = __tsan_create_fiber(0);
#endif
    /* Both ABIs want the stack pointer to be a multiple of 16 where sch_context_start runs. */
    uintptr_t *frame = (uintptr_t *)(void *)fiber->top - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_ARG] = (uintptr_t)arg;
    frame[FRAME_FN] = (uintptr_t)fn;
    frame[FRAME_RETURN] = (uintptr_t)sch_context_start;
    fiber->ctx.sp = frame;
}

void sch_fiber_restart(struct sch_fiber *fiber, void (*fn)(void *), void *arg)
{
#ifdef SCH_ASAN
    ASAN_UNPOISON_MEMORY_REGION(fiber->low, (size_t)(fiber->top - fiber->low));
#endif
    sch_context_restart(fiber->top, fn, arg);
}

void sch_fiber_trim(struct sch_fiber_pool *pool)
{
    for (uint32_t size_class = 0; size_class < SCH_STACK_CLASSES; size_class++) {
        /* Dirty fibers come first: the list is last in, first out. Of the small ones those of one
         * block stay as they are. */
        unsigned keep = size_class == 0 ? KEEP_FIBERS : 0;
        size_t keep_bytes = size_class == 0 ? 0 : KEEP_BYTES;
        struct sch_fiber *fiber = pool->free[size_class];
        for (; fiber && fiber->is_dirty; fiber = fiber->next) {
            if (keep > 0) {
                keep--;
                continue;
            }
            madvise(fiber->low, (SCH_STACK_BYTES_MIN << size_class) - keep_bytes, MADV_DONTNEED);
            fiber->is_dirty = false;
            fiber->is_reusable = false;
        }
    }
}

void sch_context_init_thread(struct sch_context *ctx)
{
    *ctx = (struct sch_context){0};
#ifdef SCH_ASAN
    pthread_attr_t attr;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &bytes);
        pthread_attr_destroy(&attr);
    }
    ctx->stack_low = low;
    ctx->stack_bytes = bytes;
#endif
#ifdef SCH_TSAN
    ctx->tsan_fiber = __tsan_get_current_fiber();
#endif
}
