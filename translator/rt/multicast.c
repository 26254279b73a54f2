/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to several blocks of a cluster, whose shared memories lie at one distance from each other.
 */
#include "translator/rt/bulk.h"
#include "translator/rt/mbarrier.h"

/* How far the memory is above that in the thread's own block, in bytes. */
static inline int64_t block_distance(const struct rt_thread *thread, const void *memory)
{
    return ((const uint8_t *)memory - thread->block->shared) >> RT_CLUSTER_DISTANCE_LOG2
                                                                    << RT_CLUSTER_DISTANCE_LOG2;
}

__attribute__((noinline)) uint32_t rt_bulk_multicast(struct rt_thread *thread, uint8_t *to,
                                                     const uint8_t *from, uint32_t bytes,
                                                     uint64_t *object, uint32_t ranks)
{
    uint32_t is_undefined = 0;
    to -= block_distance(thread, to);
    uint8_t *own_object = (uint8_t *)object - block_distance(thread, object);
    for (; ranks != 0; ranks &= ranks - 1) {
        int64_t ahead = (int64_t)__builtin_ctz(ranks) - thread->block->cluster_rank;
        int64_t distance = ahead * (1 << RT_CLUSTER_DISTANCE_LOG2);
        uint64_t *there = (uint64_t *)(void *)(own_object + distance);
        rt_bulk_touch(to + distance, bytes);
        if (to + distance != from)
            rt_bulk_copy(to + distance, from, bytes, RT_BULK_WHOLE);
        uint64_t old = rt_mbarrier_update(thread, there, -bytes, 0, 0);
        is_undefined |= (uint32_t)(old >> RT_MBARRIER_UNDEFINED_BIT) & 1;
    }
    return is_undefined;
}

__attribute__((noinline)) void rt_mark_multicast(struct rt_thread *thread, uint8_t *to,
                                                 const uint8_t *from, uint32_t bytes,
                                                 uint32_t ranks)
{
    to -= block_distance(thread, to);
    for (; ranks != 0; ranks &= ranks - 1) {
        int64_t ahead = (int64_t)__builtin_ctz(ranks) - thread->block->cluster_rank;
        uint8_t *there = to + ahead * (1 << RT_CLUSTER_DISTANCE_LOG2);
        rt_mark_copy(thread, (const char *)there, (const char *)from, bytes);
    }
}
