/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp whose live lanes have all come to the same one, but have not all named each
 * other in their masks: rarely needed, so not inlined (translator/collapse/warp_ops.c has the
 * rest). Also reductions of barriers to which all live threads of the block have come. The rules
 * are those of scheduler/warp.c and barrier.c, where lanes come one by one.
 */
#include "translator/rt/fused.h"

#define NOT_INLINED __attribute__((noinline))

/* A lane outside of its own mask acts alone, but in shuffles and votes. */
static inline uint32_t partners(const struct rt_fused_op *op, uint32_t live, uint32_t lane)
{
    return op->mask[lane] >> lane & 1 ? op->mask[lane] & live : UINT32_C(1) << lane;
}

NOT_INLINED uint32_t rt_fused_masks_agree(struct rt_fused_op *op, uint32_t live)
{
    uint32_t agree = 1;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < RT_WARP_SIZE; k++)
            same |= (uint32_t)(op->mask[k] == op->mask[i]) << k;
        uint32_t missing = partners(op, live, i) & ~same;
        agree &= !(live >> i & 1) || missing == 0;
    }
    return agree;
}

NOT_INLINED uint32_t rt_fused_shfl(struct rt_fused_op *op, uint32_t live)
{
    uint32_t predicates = 0;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        bool is_member = op->mask[i] >> i & 1;
        uint32_t lanes = is_member ? op->mask[i] & live : live;
        bool is_in_range;
        uint32_t source = rt_shfl_source(op->mode[i], i, op->b[i], op->c[i], &is_in_range);
        uint32_t own = (uint32_t)op->value[i];
        uint32_t other = lanes >> source & 1 ? (uint32_t)op->value[source] : 0;
        op->result[i] = is_in_range ? other : own;
        predicates |= (uint32_t)is_in_range << i;
    }
    return predicates;
}

NOT_INLINED uint32_t rt_fused_vote(struct rt_fused_op *op, uint32_t live)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        set |= (uint32_t)(op->value[i] != 0) << i;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t lanes = op->mask[i] & live;
        op->result[i] = rt_vote_result(op->mode[i], set & lanes, lanes);
    }
    return 0;
}

NOT_INLINED uint32_t rt_fused_match(struct rt_fused_op *op, uint32_t live)
{
    uint32_t predicates = 0;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t lanes = partners(op, live, i);
        uint32_t same = 0;
        for (uint32_t k = 0; k < RT_WARP_SIZE; k++)
            same |= (uint32_t)(op->value[k] == op->value[i]) << k;
        same &= lanes;
        bool is_all = op->mode[i] != 0;
        op->result[i] = !is_all || same == lanes ? same : 0;
        predicates |= (uint32_t)(is_all && same == lanes) << i;
    }
    return predicates;
}

NOT_INLINED uint32_t rt_fused_redux(struct rt_fused_op *op, uint32_t live)
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        if (!(live >> i & 1))
            continue;
        uint32_t lanes = partners(op, live, i);
        uint32_t first = (uint32_t)__builtin_ctz(lanes);
        uint32_t sum = (uint32_t)op->value[first];
        for (uint32_t k = first + 1; k < RT_WARP_SIZE; k++)
            if (lanes >> k & 1)
                sum = rt_redux_step(op->mode[i], sum, (uint32_t)op->value[k]);
        op->result[i] = rt_redux_end(op->mode[i], sum);
    }
    return 0;
}

NOT_INLINED uint32_t rt_fused_elect(struct rt_fused_op *op, uint32_t live)
{
    uint32_t leaders = 0;
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++) {
        uint32_t lanes = partners(op, live, i);
        op->result[i] = (uint32_t)__builtin_ctz(lanes | UINT32_C(1) << 31);
        leaders |= (uint32_t)(op->result[i] == i) << i;
    }
    return leaders;
}

NOT_INLINED uint32_t rt_fused_next_entry(const uint16_t *entries, uint32_t *left)
{
    uint32_t entry = entries[__builtin_ctz(*left)];
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        *left &= ~((uint32_t)(entries[i] == entry) << i);
    return entry;
}

NOT_INLINED void rt_fused_put(uint8_t *array, const uint8_t *lanes, uint32_t bytes,
                              const uint16_t *entries, uint32_t entry)
{
    for (uint32_t i = 0; i < RT_WARP_SIZE; i++)
        if (entries[i] == entry)
            for (uint32_t k = 0; k < bytes; k++)
                array[i * bytes + k] = lanes[i * bytes + k];
}

uint32_t rt_fused_bar_red(const uint16_t *entries, uint32_t count, const uint64_t *predicate,
                          uint64_t constant, uint32_t op)
{
    uint32_t threads = 0, set = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (entries && entries[i] == RT_ENTRY_EXITED)
            continue;
        threads++;
        set += (predicate ? predicate[i] : constant) != 0;
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
