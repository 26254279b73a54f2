/* SPDX-License-Identifier: Apache-2.0
 *
 * Bulk copies. Not inlined, so that a lane that makes one does not make all lanes go through its
 * loop.
 */
#include "translator/rt/bulk.h"

#include <stdbool.h>

#include "translator/rt/arith.h"
#include "translator/rt/atomic.h"

#define NOT_INLINED __attribute__((noinline))
#define LINE_BYTES  64

static inline void copy_masked(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t mask)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (mask >> (i % RT_BULK_GRAIN) & 1)
            to[i] = from[i];
}

NOT_INLINED void rt_bulk_copy(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t mask)
{
    if ((mask & RT_BULK_WHOLE) != RT_BULK_WHOLE) {
        copy_masked(to, from, bytes, mask);
        return;
    }
    uint32_t i = 0;
    for (; bytes - i >= LINE_BYTES; i += LINE_BYTES)
        __builtin_memcpy(to + i, from + i, LINE_BYTES);
    for (; i < bytes; i += RT_BULK_GRAIN)
        __builtin_memcpy(to + i, from + i, RT_BULK_GRAIN);
}

void rt_bulk_touch(const volatile uint8_t *memory, uint64_t bytes)
{
    if (bytes != 0) {
        (void)memory[0];
        (void)memory[bytes - 1];
    }
}

NOT_INLINED void rt_bulk_clear(uint64_t *to, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof *to; i++)
        to[i] = 0;
}

/* ---- reductions ---- */

static inline uint32_t element_bytes(uint32_t type)
{
    switch (type) {
    case RT_BULK_F16:
    case RT_BULK_BF16:
        return 2;
    case RT_BULK_U64:
    case RT_BULK_S64:
    case RT_BULK_F64:
        return 8;
    default:
        return 4;
    }
}

/* Of integers, extended to 64 bits as their type says; the result's low bits count. */
static inline uint64_t combine(uint64_t old, uint64_t value, uint32_t op, bool is_signed)
{
    bool is_less = is_signed ? (int64_t)value < (int64_t)old : value < old;
    switch (op) {
    case RT_BULK_ADD:
        return old + value;
    case RT_BULK_MIN:
        return is_less ? value : old;
    case RT_BULK_MAX:
        return is_less ? old : value;
    case RT_BULK_INC:
        return old >= value ? 0 : old + 1;
    case RT_BULK_DEC:
        return old == 0 || old > value ? value : old - 1;
    case RT_BULK_AND:
        return old & value;
    case RT_BULK_OR:
        return old | value;
    default:
        return old ^ value;
    }
}

static inline uint64_t extend(uint32_t value, bool is_signed)
{
    return is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

static inline void reduce_32(uint32_t *cell, uint32_t value, uint32_t op, bool is_signed)
{
    uint32_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint32_t result;
    do
        result = (uint32_t)combine(extend(old, is_signed), extend(value, is_signed), op, is_signed);
    while (!__atomic_compare_exchange_n(cell, &old, result, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static inline void reduce_64(uint64_t *cell, uint64_t value, uint32_t op, bool is_signed)
{
    uint64_t old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint64_t result;
    do
        result = combine(old, value, op, is_signed);
    while (!__atomic_compare_exchange_n(cell, &old, result, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static inline enum rt_atomic_op half_op(uint32_t op)
{
    return op == RT_BULK_ADD ? RT_ATOMIC_ADD : op == RT_BULK_MIN ? RT_ATOMIC_MIN : RT_ATOMIC_MAX;
}

static inline void reduce_element(uint8_t *to, uint64_t bits, uint32_t op, uint32_t type)
{
    float f32;
    double f64;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case RT_BULK_F16:
    case RT_BULK_BF16:
        rt_atomic_half((uint16_t *)(void *)to, low,
                       type == RT_BULK_F16 ? RT_HALF_F16 : RT_HALF_BF16, half_op(op));
        break;
    case RT_BULK_F32:
        __builtin_memcpy(&f32, &low, sizeof f32);
        rt_atomic_add_f32((uint32_t *)(void *)to, f32, 1);
        break;
    case RT_BULK_F64:
        __builtin_memcpy(&f64, &bits, sizeof f64);
        rt_atomic_add_f64((uint64_t *)(void *)to, f64);
        break;
    case RT_BULK_U64:
    case RT_BULK_S64:
        reduce_64((uint64_t *)(void *)to, bits, op, type == RT_BULK_S64);
        break;
    default:
        reduce_32((uint32_t *)(void *)to, low, op, type == RT_BULK_S32);
        break;
    }
}

NOT_INLINED void rt_bulk_reduce(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t op,
                                uint32_t type)
{
    uint32_t step = element_bytes(type);
    for (uint32_t i = 0; i < bytes; i += step) {
        uint64_t bits = 0;
        for (uint32_t k = 0; k < step; k++)
            bits |= (uint64_t)from[i + k] << (8 * k);
        reduce_element(to + i, bits, op, type);
    }
}
