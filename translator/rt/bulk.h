/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies, reductions and fills of many bytes at once (PTX ISA "cp.async.bulk",
 * "cp.reduce.async.bulk", "st.bulk").
 */
#ifndef PTXRUN_TRANSLATOR_RT_BULK_H
#define PTXRUN_TRANSLATOR_RT_BULK_H

#include <stdint.h>

#include "kernel_abi/rt.h"

#define RT_BULK_GRAIN 16 /* addresses and sizes of copies are multiples of it */

#define RT_BULK_WHOLE 0xffff

/* Of every 16 bytes those whose bit is set in mask. bytes: a multiple of 16. */
void rt_bulk_copy(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t mask);

/* multicast.c. A copy to the blocks of the cluster whose ranks are in the set: to the corresponding
 * place in each one's shared memory, and as many transactions complete at the corresponding
 * mbarrier. Whether one of the latter was undefined. `from` may be the place of one of them. */
uint32_t rt_bulk_multicast(struct rt_thread *thread, uint8_t *to, const uint8_t *from,
                           uint32_t bytes, uint64_t *object, uint32_t ranks);

/* Before it, in code that knows what has been written: what it copies is as unwritten there. */
void rt_mark_multicast(struct rt_thread *thread, uint8_t *to, const uint8_t *from, uint32_t bytes,
                       uint32_t ranks);

/* Zeros. bytes: a multiple of 8. */
void rt_bulk_clear(uint64_t *to, uint64_t bytes);

/* Reads the first and the last byte, so that a bad address is known as one of the instruction that
 * calls this. */
void rt_bulk_touch(const volatile uint8_t *memory, uint64_t bytes);

enum rt_bulk_type {
    RT_BULK_U32,
    RT_BULK_S32,
    RT_BULK_U64,
    RT_BULK_S64,
    RT_BULK_F16,
    RT_BULK_BF16,
    RT_BULK_F32,
    RT_BULK_F64
};

enum rt_bulk_op {
    RT_BULK_ADD,
    RT_BULK_MIN,
    RT_BULK_MAX,
    RT_BULK_INC,
    RT_BULK_DEC,
    RT_BULK_AND,
    RT_BULK_OR,
    RT_BULK_XOR
};

/* to[i] = op(to[i], from[i]), each element at once for other processors. Floats: sums of all, min
 * and max of 16 bits; sums of f32 flush subnormal numbers. */
void rt_bulk_reduce(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t op, uint32_t type);

#endif
