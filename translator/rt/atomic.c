/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic additions of floating-point numbers, as compare-and-swap loops. Each returns the old
 * value; 16-bit values are passed in 32 bits. Rounding is to nearest even (PTX ISA "atom").
 */
#include "translator/rt/atomic.h"

#include "translator/rt/arith.h"
#include "translator/rt/bits.h"

/* Subnormal numbers become zero and keep their sign. */
static inline uint32_t flush_bits(uint32_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

float rt_atomic_add_f32(uint32_t *cell, float value, uint32_t flushes)
{
    uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint32_t addend = flushes ? flush_bits(bits_f32(value)) : bits_f32(value);
    uint32_t sum;
    do {
        sum = bits_f32(f32_of(flushes ? flush_bits(old) : old) + f32_of(addend));
        sum = flushes ? flush_bits(sum) : sum;
    } while (!__atomic_compare_exchange_n(cell, &old, sum, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return f32_of(old);
}

double rt_atomic_add_f64(uint64_t *cell, double value)
{
    uint64_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint64_t sum;
    do {
        double number;
        __builtin_memcpy(&number, &old, sizeof number);
        number += value;
        __builtin_memcpy(&sum, &number, sizeof sum);
    } while (!__atomic_compare_exchange_n(cell, &old, sum, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    double result;
    __builtin_memcpy(&result, &old, sizeof result);
    return result;
}

static inline uint32_t add_16(uint16_t *cell, uint32_t value, enum rt_half format)
{
    uint16_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint16_t sum;
    do {
        sum = (uint16_t)rt_half_add(old, value, format);
    } while (!__atomic_compare_exchange_n(cell, &old, sum, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/* "the atomicity is guaranteed separately for each of the elements": both at once is more. */
static inline uint32_t add_16x2(uint32_t *cell, uint32_t value, enum rt_half format)
{
    uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint32_t sum;
    do {
        uint32_t low = rt_half_add(old & 0xffff, value & 0xffff, format);
        uint32_t high = rt_half_add(old >> 16, value >> 16, format);
        sum = high << 16 | low;
    } while (!__atomic_compare_exchange_n(cell, &old, sum, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

uint32_t rt_atomic_add_f16(uint16_t *cell, uint32_t value)
{
    return add_16(cell, value, RT_HALF_F16);
}

uint32_t rt_atomic_add_bf16(uint16_t *cell, uint32_t value)
{
    return add_16(cell, value, RT_HALF_BF16);
}

uint32_t rt_atomic_add_f16x2(uint32_t *cell, uint32_t value)
{
    return add_16x2(cell, value, RT_HALF_F16);
}

uint32_t rt_atomic_add_bf16x2(uint32_t *cell, uint32_t value)
{
    return add_16x2(cell, value, RT_HALF_BF16);
}
