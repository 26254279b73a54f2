/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp whose live lanes have all come to the same one, and reductions of barriers
 * that all live threads of the block have come to (translator/collapse/warp_ops.c). The rules are
 * those of scheduler/warp.c and barrier.c, where lanes come one by one.
 *
 * Calls are inlined, so that modes and constants decide at compile time.
 */
#include "translator/rt/fused.h"

#define AT(name, i) ((name) ? (name)[i] : name##_constant)

uint32_t rt_fused_live(const uint16_t *entries, uint32_t count)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < count; i++)
        live |= (uint32_t)(entries[i] != RT_ENTRY_EXITED) << i;
    return live;
}

/* A lane outside of its own mask acts alone. */
static inline uint32_t partners(uint32_t live, uint32_t mask, uint32_t lane)
{
    return mask >> lane & 1 ? mask & live : UINT32_C(1) << lane;
}

uint32_t rt_fused_masks_agree(uint32_t live, OPERAND(mask))
{
    uint32_t agree = 1;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < RT_WARP_SIZE; k++)
            same |= (uint32_t)((uint32_t)AT(mask, k) == (uint32_t)AT(mask, i)) << k;
        uint32_t missing = partners(live, (uint32_t)AT(mask, i), i) & ~same;
        agree &= !(live >> i & 1) || missing == 0;
    }
    return agree;
}

void rt_fused_shfl(uint64_t *result, uint32_t live, OPERAND(mode), OPERAND(value), OPERAND(b),
                   OPERAND(c), OPERAND(mask))
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t lanes = partners(live, (uint32_t)AT(mask, i), i);
        bool is_in_range;
        uint32_t source = rt_shfl_source((uint32_t)AT(mode, i), i, (uint32_t)AT(b, i),
                                         (uint32_t)AT(c, i), &is_in_range);
        uint32_t own = (uint32_t)AT(value, i);
        uint32_t other = lanes >> source & 1 ? (uint32_t)AT(value, source) : 0;
        result[i] = is_in_range ? RT_PREDICATE_BIT | other : own;
    }
}

static uint32_t ballot(uint32_t live, OPERAND(predicate))
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        set |= (uint32_t)(AT(predicate, i) != 0) << i;
    return set & live;
}

uint32_t rt_fused_vote_all(uint32_t live, uint32_t mode, OPERAND(predicate))
{
    return rt_vote_result(mode, ballot(live, predicate, predicate_constant), live);
}

void rt_fused_vote(uint64_t *result, uint32_t live, OPERAND(mode), OPERAND(predicate),
                   OPERAND(mask))
{
    uint32_t set = ballot(live, predicate, predicate_constant);
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t lanes = partners(live, (uint32_t)AT(mask, i), i);
        result[i] = rt_vote_result((uint32_t)AT(mode, i), set & lanes, lanes);
    }
}

void rt_fused_match(uint64_t *result, uint32_t live, OPERAND(all), OPERAND(value), OPERAND(mask))
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        if (!(live >> i & 1))
            continue;
        uint32_t lanes = partners(live, (uint32_t)AT(mask, i), i);
        uint32_t same = 0;
        for (uint32_t k = 0; k < RT_WARP_SIZE; k++)
            same |= (uint32_t)(AT(value, k) == AT(value, i)) << k;
        same &= lanes;
        if (AT(all, i) != 0)
            result[i] = same == lanes ? RT_PREDICATE_BIT | lanes : 0;
        else
            result[i] = same;
    }
}

static uint32_t reduce_lanes(uint32_t lanes, uint32_t op, OPERAND(value))
{
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    uint32_t sum = (uint32_t)AT(value, first);
    for (uint32_t i = first + 1; i < RT_WARP_SIZE; i++)
        if (lanes >> i & 1)
            sum = rt_redux_step(op, sum, (uint32_t)AT(value, i));
    return rt_redux_end(op, sum);
}

uint32_t rt_fused_redux_all(uint32_t live, uint32_t op, OPERAND(value))
{
    return reduce_lanes(live, op, value, value_constant);
}

void rt_fused_redux(uint64_t *result, uint32_t live, OPERAND(op), OPERAND(value), OPERAND(mask))
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        if (live >> i & 1)
            result[i] = reduce_lanes(partners(live, (uint32_t)AT(mask, i), i), (uint32_t)AT(op, i),
                                     value, value_constant);
}

void rt_fused_elect(uint64_t *result, uint32_t live, OPERAND(mask))
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t leader =
            (uint32_t)__builtin_ctz(partners(live, (uint32_t)AT(mask, i), i) | UINT32_C(1) << 31);
        result[i] = leader | (i == leader ? RT_PREDICATE_BIT : 0);
    }
}

uint32_t rt_fused_bar_red(const uint16_t *entries, uint32_t count, OPERAND(predicate), uint32_t op)
{
    uint32_t threads = 0, set = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (entries && entries[i] == RT_ENTRY_EXITED)
            continue;
        threads++;
        set += AT(predicate, i) != 0;
    }
    return rt_barrier_reduction(op, threads, set);
}

void rt_fused_fill(uint64_t *result, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        result[i] = value;
}

void rt_fused_spin(struct rt_thread *thread)
{
    if (__builtin_expect(--thread->poll_budget < 0, 0))
        rt_poll(thread);
}
