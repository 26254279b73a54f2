/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of kernel_abi/rt.h for tests without a scheduler.
 */
#include "rt_stub.h"

#include <stdlib.h>

#include "kernel_abi/rt.h"

_Thread_local struct rt_stub_record rt_stub;

void rt_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread;
    rt_stub.bar_sync_calls++;
    rt_stub.bar_sync_id = id;
    rt_stub.bar_sync_count = count;
    rt_stub.return_address = (uintptr_t)__builtin_return_address(0);
}

void rt_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread;
    (void)id;
    (void)count;
}

uint32_t rt_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                    uint32_t op)
{
    rt_bar_sync(thread, id, count);
    return predicate + op;
}

void rt_poll(struct rt_thread *thread)
{
    rt_bar_sync(thread, 0, 0);
}

void rt_nanosleep(struct rt_thread *thread, uint32_t ns)
{
    rt_bar_sync(thread, 0, ns);
}

void rt_exit(struct rt_thread *thread)
{
    (void)thread;
    abort();
}

void rt_unsupported(struct rt_thread *thread, const char *message)
{
    (void)thread;
    (void)message;
    abort();
}

void rt_fault(struct rt_thread *thread, uint32_t status, uint64_t address)
{
    (void)thread;
    (void)status;
    (void)address;
    abort();
}

/* Mixed mode: nothing here runs in it. */
uint64_t rt_block_mix(struct rt_block *block, rt_step_fn step, uint32_t arrived)
{
    (void)block;
    (void)step;
    (void)arrived;
    abort();
}

/* Nobody waits for an mbarrier. */
void rt_give_way(struct rt_thread *thread, uint32_t is_certain)
{
    (void)thread;
    (void)is_certain;
    abort();
}

/* Nor a cluster. */
void rt_cluster_arrive(struct rt_thread *thread)
{
    (void)thread;
    abort();
}

void rt_cluster_leave(struct rt_thread *thread)
{
    rt_cluster_arrive(thread);
}

void rt_block_cluster_wait(struct rt_block *block)
{
    (void)block;
    abort();
}

/* Nor any operation of a warp. */
void rt_stub_abort(void)
{
    abort();
}

#define ABORTS(name) __asm__(".globl " #name "\n.set " #name ", rt_stub_abort\n");
#define STUB_NONE(name)
#define STUB_BARRIER(name)     ABORTS(rt_arrive_##name)
#define STUB_BARRIER_RED(name) ABORTS(rt_arrive_##name)
#define STUB_LINE_UP(name)     ABORTS(rt_arrive_##name) ABORTS(rt_##name)
#define STUB_CLUSTER(name)     ABORTS(rt_arrive_##name) ABORTS(rt_##name)
#define STUB_OTHER(name)       ABORTS(rt_arrive_##name)
#define STUB_WARP(name)        ABORTS(rt_arrive_##name) ABORTS(rt_##name)
ABORTS(rt_arrive_looped_bar_sync)
#define PLACEHOLDER(ID, name, home, gives, takes, sync, ...) STUB_##sync(name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER

uint64_t rt_result(const struct rt_thread *thread)
{
    (void)thread;
    abort();
}

uint64_t rt_clock(void)
{
    return 1;
}

uint64_t rt_globaltimer(void)
{
    return 2;
}
