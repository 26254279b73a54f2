/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on mbarrier objects. All threads of a block run on one processor thread and none is
 * pre-empted, so each is atomic by itself; not inlined, it stays so in loops over vectors of
 * threads.
 */
#include "translator/rt/mbarrier.h"

#include <stdbool.h>

#define NOT_INLINED __attribute__((noinline))

static const uint64_t exists = UINT64_C(1) << RT_MBARRIER_EXISTS_BIT;
static const uint64_t phase_bit = UINT64_C(1) << RT_MBARRIER_PHASE_BIT;

struct object {
    int64_t pending;
    int64_t expected;
    int64_t transactions;
};

static inline struct object unpack(uint64_t word)
{
    return (struct object){
        .pending = (int64_t)(word & RT_MBARRIER_MAX_COUNT),
        .expected = (int64_t)(word >> RT_MBARRIER_EXPECTED_BIT & RT_MBARRIER_MAX_COUNT),
        .transactions = (int64_t)(word << (64 - RT_MBARRIER_TX_BIT - RT_MBARRIER_TX_BITS)) >>
                        (64 - RT_MBARRIER_TX_BITS),
    };
}

static inline uint64_t pack(const struct object *object, uint64_t rest)
{
    uint64_t pending = (uint64_t)object->pending & RT_MBARRIER_MAX_COUNT;
    uint64_t expected = (uint64_t)object->expected & RT_MBARRIER_MAX_COUNT;
    uint64_t transactions =
        (uint64_t)object->transactions & ((UINT64_C(1) << RT_MBARRIER_TX_BITS) - 1);
    return pending | expected << RT_MBARRIER_EXPECTED_BIT | transactions << RT_MBARRIER_TX_BIT |
           rest;
}

static inline bool is_transaction_count(int64_t count)
{
    return count >= -RT_MBARRIER_MAX_COUNT && count <= RT_MBARRIER_MAX_COUNT;
}

NOT_INLINED uint64_t rt_mbarrier_update(struct rt_thread *thread, volatile uint64_t *object,
                                        uint32_t transactions, uint32_t arrivals, uint32_t how)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t old = *object;
    struct object next = unpack(old);
    next.transactions += (int32_t)transactions;
    next.pending -= arrivals;
    if (how & RT_MBARRIER_DROPS)
        next.expected -= arrivals;
    bool is_complete = next.pending == 0 && next.transactions == 0;
    bool is_defined = is_transaction_count((int32_t)transactions) &&
                      is_transaction_count(next.transactions) && next.pending >= 0 &&
                      next.expected >= 0 && (arrivals != 0 || !(how & RT_MBARRIER_ARRIVES)) &&
                      !(is_complete && (how & RT_MBARRIER_NO_COMPLETE));
    if ((old & exists) && !is_defined)
        return old | UINT64_C(1) << RT_MBARRIER_UNDEFINED_BIT;
    if (is_complete)
        next.pending = next.expected;
    *object = pack(&next, (old & (exists | phase_bit)) ^ (is_complete ? phase_bit : 0));
    ++*thread->block->progress;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return old;
}

NOT_INLINED uint32_t rt_mbarrier_ask(struct rt_thread *thread, volatile uint64_t *object,
                                     uint32_t phase)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t word = *object;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (word >> RT_MBARRIER_PHASE_BIT == (phase & 1))
        return RT_MBARRIER_INCOMPLETE;
    ++*thread->block->progress;
    return RT_MBARRIER_COMPLETE;
}

NOT_INLINED uint32_t rt_mbarrier_exists(struct rt_thread *thread, volatile uint64_t *object)
{
    (void)thread;
    return (*object & exists) != 0;
}
