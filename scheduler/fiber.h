/* SPDX-License-Identifier: Apache-2.0
 *
 * Fibers: stacks of their own for code that stops in the middle, and the switch between them.
 * Knows nothing of grids or CUDA threads. A fiber belongs to one worker and never moves.
 */
#ifndef PTXRUN_SCHEDULER_FIBER_H
#define PTXRUN_SCHEDULER_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/pages.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SCH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SCH_ASAN)
#define SCH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(SCH_TSAN)
#define SCH_TSAN 1
#endif

/* Functions that run in a signal handler before it is known where the signal came: perhaps in
 * ThreadSanitizer, which holds a lock that every access it watches would wait for. */
#ifdef SCH_TSAN
#define SCH_IN_HANDLER __attribute__((disable_sanitizer_instrumentation))
#else
#define SCH_IN_HANDLER
#endif

#ifdef SCH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SCH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* A suspended computation: the rest of it lies on its stack. */
struct sch_context {
    void *sp;
    bool was_forced; /* the fault handler resumed it, without the suspending side's annotations */
    const void *stack_low;
    size_t stack_bytes;
    void *asan_fake_stack;
    void *tsan_fiber;
};

/* fiber_<arch>.S */
void sch_context_swap(void **save_sp, void *load_sp);
void sch_context_load(void *load_sp) __attribute__((noreturn));
void sch_context_start(void);
void sch_context_restart(void *stack_top, void (*fn)(void *), void *arg) __attribute__((noreturn));

#define SCH_STACK_CLASSES   16
#define SCH_STACK_BYTES_MIN ((size_t)64 * 1024)

/* Below each stack, and above the last one of a slab. With the stack it is no power of two: the
 * pages that threads use most would then compete for the same few places in the cache of address
 * translations. */
static inline size_t sch_stack_guard_bytes(void)
{
    return (size_t)64 * 1024 + pxr_page_bytes();
}

struct sch_fiber {
    _Alignas(64) struct sch_context ctx;
    struct sch_fiber *next; /* in the free list of its class */
    uint8_t *low;           /* lowest usable byte; the guard ends here */
    uint8_t *top;           /* one past the highest usable byte, 16-byte aligned */
    uint32_t size_class;    /* stack of SCH_STACK_BYTES_MIN << size_class bytes */
    bool is_dirty;          /* used since its pages were last given back */
    bool is_reusable;       /* suspended where it can take over another owner; no prepare needed */
    void *owner;            /* its user: struct sch_thread */
};

/* A worker's stacks. Owned by that worker; not thread-safe. */
struct sch_fiber_pool {
    struct sch_fiber *free[SCH_STACK_CLASSES]; /* last used first: warm in the cache */
    bool has_slab;                             /* has grown before */
};

/* The class whose stacks have at least stack_bytes, or SCH_STACK_CLASSES if there is none. */
uint32_t sch_stack_class(size_t stack_bytes);

/* A fiber from the free list, NULL if that is empty. Takes no memory, no locks. */
struct sch_fiber *sch_fiber_take(struct sch_fiber_pool *pool, uint32_t size_class);

/* Maps more stacks for the class; false when out of memory. */
bool sch_fiber_grow(struct sch_fiber_pool *pool, uint32_t size_class);

/* Returns it to the free list. The caller may still run on the fiber until it next switches;
 * is_reusable: the code after that switch looks for a new owner. */
void sch_fiber_put(struct sch_fiber_pool *pool, struct sch_fiber *fiber, bool is_reusable);

/* Makes the fiber start with fn(arg) when it is switched to. fn must call sch_context_arrived
 * first. It may end the fiber by returning the stack pointer of its successor, which it has
 * announced: processors predict the returns of the first switch's callers then, unlike behind a
 * second switch. */
void sch_fiber_prepare(struct sch_fiber *fiber, void *(*fn)(void *), void *arg);

/* Drops the contents of the running fiber's stack and continues with fn(arg), which never returns,
 * without sch_context_arrived. */
void sch_fiber_restart(struct sch_fiber *fiber, void (*fn)(void *), void *arg)
    __attribute__((noreturn));

/* Gives the memory of unused large stacks back to the system. For a worker with nothing to do. */
void sch_fiber_trim(struct sch_fiber_pool *pool);

/* Describes the calling thread's own stack, so that fibers can switch back to it. */
void sch_context_init_thread(struct sch_context *ctx);

/* For sanitizers, after the swap. */
static inline void sch_context_arrived(struct sch_context *ctx)
{
#ifdef SCH_ASAN
    __sanitizer_finish_switch_fiber(ctx->asan_fake_stack, NULL, NULL);
    ctx->asan_fake_stack = NULL;
#else
    (void)ctx;
#endif
}

/* For sanitizers, before the swap. */
static inline void sch_context_announce(struct sch_context *from, struct sch_context *to,
                                        bool is_last)
{
    (void)from;
    (void)to;
    (void)is_last;
#ifdef SCH_ASAN
    __sanitizer_start_switch_fiber(is_last ? NULL : &from->asan_fake_stack, to->stack_low,
                                   to->stack_bytes);
#endif
#ifdef SCH_TSAN
    __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
}

/* Suspends `from`, which is running, and resumes `to`. is_last: `from` is never resumed. Code that
 * keeps the stack pointers elsewhere does the three steps itself. Without sanitizers the swap is
 * the only one, and can be a tail call. */
static inline void sch_context_switch(struct sch_context *from, struct sch_context *to,
                                      bool is_last)
{
    sch_context_announce(from, to, is_last);
    sch_context_swap(&from->sp, to->sp);
    sch_context_arrived(from);
}

/* As sch_context_arrived, where the fault handler may have resumed the context. */
static inline void sch_context_returned(struct sch_context *from)
{
    if (from->was_forced) {
        from->was_forced = false;
#ifdef SCH_ASAN
        __sanitizer_start_switch_fiber(NULL, from->stack_low, from->stack_bytes);
#endif
#ifdef SCH_TSAN
        __tsan_switch_to_fiber(from->tsan_fiber, 0);
#endif
    }
    sch_context_arrived(from);
}

#endif
