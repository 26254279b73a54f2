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

void rt_warp_sync(struct rt_thread *thread, uint32_t mask)
{
    rt_bar_sync(thread, mask, 0);
}

uint64_t rt_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                 uint32_t mask)
{
    rt_bar_sync(thread, mode, mask);
    return value + b + c;
}

uint32_t rt_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask)
{
    rt_bar_sync(thread, mode, mask);
    return predicate;
}

uint64_t rt_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask)
{
    rt_bar_sync(thread, all, mask);
    return value;
}

uint32_t rt_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask)
{
    rt_bar_sync(thread, op, mask);
    return value;
}

uint32_t rt_activemask(struct rt_thread *thread, uint32_t site)
{
    rt_bar_sync(thread, site, 0);
    return 1;
}

void rt_warp_converge(struct rt_thread *thread, uint32_t site)
{
    rt_bar_sync(thread, site, 0);
}

uint64_t rt_elect(struct rt_thread *thread, uint32_t mask)
{
    rt_bar_sync(thread, 0, mask);
    return 0;
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

void rt_arrive_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread;
    (void)id;
    (void)count;
    abort();
}

void rt_arrive_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread;
    (void)id;
    (void)count;
    abort();
}

void rt_arrive_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                       uint32_t op)
{
    (void)thread;
    (void)id;
    (void)count;
    (void)predicate;
    (void)op;
    abort();
}

void rt_arrive_warp_sync(struct rt_thread *thread, uint32_t mask)
{
    (void)thread;
    (void)mask;
    abort();
}

void rt_arrive_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                    uint32_t mask)
{
    (void)thread;
    (void)mode;
    (void)value;
    (void)b;
    (void)c;
    (void)mask;
    abort();
}

void rt_arrive_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask)
{
    (void)thread;
    (void)mode;
    (void)predicate;
    (void)mask;
    abort();
}

void rt_arrive_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask)
{
    (void)thread;
    (void)all;
    (void)value;
    (void)mask;
    abort();
}

void rt_arrive_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask)
{
    (void)thread;
    (void)op;
    (void)value;
    (void)mask;
    abort();
}

void rt_arrive_activemask(struct rt_thread *thread, uint32_t site)
{
    (void)thread;
    (void)site;
    abort();
}

void rt_arrive_elect(struct rt_thread *thread, uint32_t mask)
{
    (void)thread;
    (void)mask;
    abort();
}

void rt_arrive_warp_converge(struct rt_thread *thread, uint32_t site)
{
    (void)thread;
    (void)site;
    abort();
}

void rt_arrive_poll(struct rt_thread *thread)
{
    (void)thread;
    abort();
}

void rt_arrive_nanosleep(struct rt_thread *thread, uint32_t ns)
{
    (void)thread;
    (void)ns;
    abort();
}

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
