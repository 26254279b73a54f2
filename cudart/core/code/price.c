/* SPDX-License-Identifier: Apache-2.0
 *
 * See price.h.
 */
#include "cudart/core/code/price.h"

#include <math.h>

/* Fitted to the kernels in docs/tiers.md. The size of quick code tells of helpers, local arrays and
 * wide operations, of which the number of instructions says nothing. */
#define INSTRUCTION_NS UINT64_C(270000)
#define BYTE_NS        UINT64_C(2200)

/* The geometric mean of that and of a multiple of what quick code has taken. The latter is as far
 * off for single kernels, but knows the machine. */
#define OF_ROOT 2.65

/* So much of what was predicted is believed before anything has been compiled; no machine and no
 * kernels are further off than the other factor. */
#define BELIEF_NS      UINT64_C(50000000)
#define CORRECTION_MAX 8

/* A promise counts when a half of the price has been earned, and if it is worth twice the price. */
#define EARNED_SHARE   2
#define PROMISE_FACTOR 2

uint64_t crt_price_predict(uint32_t instructions, size_t quick_bytes, uint64_t quick_ns)
{
    uint64_t by_size_ns = instructions * INSTRUCTION_NS + quick_bytes * BYTE_NS;
    if (quick_ns == 0)
        return by_size_ns;
    return (uint64_t)(OF_ROOT * sqrt((double)by_size_ns * (double)quick_ns));
}

uint64_t crt_price_correct(uint64_t price_ns, uint64_t predicted_ns, uint64_t took_ns)
{
    double factor = (double)(took_ns + BELIEF_NS) / (double)(predicted_ns + BELIEF_NS);
    if (factor > CORRECTION_MAX)
        factor = CORRECTION_MAX;
    if (factor < 1.0 / CORRECTION_MAX)
        factor = 1.0 / CORRECTION_MAX;
    return (uint64_t)((double)price_ns * factor);
}

uint64_t crt_price_promise(uint64_t grid_ns, uint64_t blocks_done, uint64_t blocks_left)
{
    if (blocks_done == 0)
        return 0;
    double promise = (double)grid_ns / (double)blocks_done * (double)blocks_left;
    return promise < (double)(UINT64_MAX / 2) ? (uint64_t)promise : UINT64_MAX / 2;
}

bool crt_price_is_earned(uint64_t price_ns, uint64_t ran_ns, uint64_t promised_ns)
{
    if (ran_ns >= price_ns)
        return true;
    return ran_ns >= price_ns / EARNED_SHARE && promised_ns / PROMISE_FACTOR >= price_ns;
}
