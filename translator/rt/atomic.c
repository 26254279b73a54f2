/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic operations on floating-point numbers, as compare-and-swap loops. Each returns the old
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

static inline uint32_t combine(uint32_t old, uint32_t value, uint32_t format, uint32_t op)
{
    if (op == RT_ATOMIC_ADD)
        return rt_half_add(old, value, format);
    return rt_half_minmax(old, value, format, op == RT_ATOMIC_MAX ? RT_MINMAX_MAX : 0);
}

uint32_t rt_atomic_half(uint16_t *cell, uint32_t value, uint32_t format, uint32_t op)
{
    uint16_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint16_t result;
    do {
        result = (uint16_t)combine(old, value, format, op);
    } while (
        !__atomic_compare_exchange_n(cell, &old, result, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/* "the atomicity is guaranteed separately for each of the elements": both at once is more. */
uint32_t rt_atomic_half_x2(uint32_t *cell, uint32_t value, uint32_t format, uint32_t op)
{
    uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint32_t result;
    do {
        uint32_t low = combine(old & 0xffff, value & 0xffff, format, op);
        uint32_t high = combine(old >> 16, value >> 16, format, op);
        result = high << 16 | (low & 0xffff);
    } while (
        !__atomic_compare_exchange_n(cell, &old, result, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}
