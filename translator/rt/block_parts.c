/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/rt/block_parts.h"

#define PARTITIONS 64

/* By partition: a bit for each element, its part of two. */
static const uint16_t halves[PARTITIONS] = {
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80,
    0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310,
    0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa,
    0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc,
    0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6,
    0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};

/* Two bits for each element, its part of three. */
static const uint32_t thirds[PARTITIONS] = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
};

/* The element of the second part whose index lacks a bit; in the first part it is element 0. */
static const uint8_t half_anchors[PARTITIONS] = {
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2,  8, 2,  2, 8,
    8,  15, 2,  8,  2,  2,  8,  8,  2,  2,  15, 15, 6,  8,  2,  8,  15, 15, 2, 8,  2, 2,
    2,  15, 15, 6,  6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2, 15,
};

/* Of three parts: those of the second and, in the upper bits, of the third. */
static const uint8_t third_anchors[PARTITIONS] = {
    0xf3, 0x83, 0x8f, 0x3f, 0xf8, 0xf3, 0x3f, 0x8f, 0xf8, 0xf8, 0xf6, 0xf6, 0xf6, 0xf5, 0xf3, 0x83,
    0xf3, 0x83, 0xf8, 0x3f, 0xf3, 0x83, 0xf6, 0x8a, 0x35, 0xf8, 0x68, 0xa6, 0xf8, 0xf5, 0xaf, 0x8f,
    0xf8, 0x3f, 0xf3, 0xa5, 0xa6, 0x8a, 0x98, 0xaf, 0x6f, 0xf3, 0x8f, 0xf5, 0x3f, 0x6f, 0x6f, 0x8f,
    0xf3, 0x3f, 0xf5, 0xf5, 0xf5, 0xf8, 0xf5, 0xfa, 0xf5, 0xfa, 0xf8, 0xfd, 0x3f, 0xfc, 0xf3, 0x83,
};

struct rt_block_bits rt_block_bits_of(const uint8_t *block)
{
    struct rt_block_bits bits = {.at = 0};
    __builtin_memcpy(&bits.low, block, sizeof bits.low);
    __builtin_memcpy(&bits.high, block + sizeof bits.low, sizeof bits.high);
    return bits;
}

uint32_t rt_take_bits(struct rt_block_bits *bits, uint32_t count)
{
    uint32_t at = bits->at;
    uint64_t from = at < 64 ? bits->low >> at : bits->high >> (at - 64);
    if (at > 0 && at < 64)
        from |= bits->high << (64 - at);
    bits->at += count;
    return (uint32_t)(from & ((UINT64_C(1) << count) - 1));
}

uint32_t rt_part_of(uint32_t parts, uint32_t partition, uint32_t element)
{
    if (parts == 1)
        return 0;
    return parts == 2 ? halves[partition] >> element & 1 : thirds[partition] >> 2 * element & 3;
}

/* Of the elements before this one, those whose index lacks a bit; is_short: it does so itself. */
static uint32_t short_before(uint32_t parts, uint32_t partition, uint32_t element,
                             uint32_t *is_short)
{
    uint32_t anchors[RT_BLOCK_PARTS_MAX] = {0};
    uint32_t count = 0;
    if (parts == 2)
        anchors[1] = half_anchors[partition];
    if (parts == 3) {
        anchors[1] = third_anchors[partition] & 15;
        anchors[2] = third_anchors[partition] >> 4;
    }
    *is_short = 0;
    for (uint32_t i = 0; i < parts; i++) {
        count += anchors[i] < element;
        *is_short |= anchors[i] == element;
    }
    return count;
}

uint32_t rt_take_index(struct rt_block_bits *bits, uint32_t parts, uint32_t partition,
                       uint32_t count, uint32_t element)
{
    uint32_t is_short;
    uint32_t lacking = short_before(parts, partition, element, &is_short);
    bits->at += element * count - lacking;
    return rt_take_bits(bits, count - is_short);
}

uint32_t rt_mixture(uint32_t count, uint32_t index)
{
    static const uint8_t mixtures[3][16] = {
        {0, 21, 43, 64},
        {0, 9, 18, 27, 37, 46, 55, 64},
        {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
    };
    return mixtures[count - 2][index];
}
