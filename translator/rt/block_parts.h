/* SPDX-License-Identifier: Apache-2.0
 *
 * What blocks of BC6H and BC7 have in common (Khronos Data Format Specification, "BPTC"): 128 bits,
 * whose elements are in up to three parts; a part has two ends, an element an index of a mixture.
 */
#ifndef PTXRUN_TRANSLATOR_RT_BLOCK_PARTS_H
#define PTXRUN_TRANSLATOR_RT_BLOCK_PARTS_H

#include <stdint.h>

#define RT_BLOCK_ELEMENTS  16
#define RT_BLOCK_PARTS_MAX 3
#define RT_MIXTURE_WHOLE   64

struct rt_block_bits {
    uint64_t low;
    uint64_t high;
    uint32_t at; /* the next bit to be taken */
};

struct rt_block_bits rt_block_bits_of(const uint8_t *block);

/* The next bits, at most 32, the lowest first. */
uint32_t rt_take_bits(struct rt_block_bits *bits, uint32_t count);

/* The element's part: of `parts` in the partition of this number. */
uint32_t rt_part_of(uint32_t parts, uint32_t partition, uint32_t element);

/* The element's index of so many bits. An index of each part lacks its highest bit, which is 0;
 * bits: at the first of all elements. Changes where bits are taken. */
uint32_t rt_take_index(struct rt_block_bits *bits, uint32_t parts, uint32_t partition,
                       uint32_t count, uint32_t element);

/* How much of the second end an index of 2, 3 or 4 bits stands for, of RT_MIXTURE_WHOLE. */
uint32_t rt_mixture(uint32_t count, uint32_t index);

#endif
