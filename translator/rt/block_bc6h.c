/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of BC6H: halves, signed or not, whose ends are numbers of 6 to 16 bits. All but the first
 * end are differences from it in most modes.
 */
#include <stdbool.h>

#include "translator/rt/block_parts.h"
#include "translator/rt/blocks.h"

#define COLOURS    3
#define ENDS_MAX   4
#define FIELDS_MAX 24
#define MODE_BITS  5

/* Bits of a number, in the order of the block. Numbers as the specification names them: red, green
 * and blue of the ends w, x, y, z. */
enum number { RW, GW, BW, RX, GX, BX, RY, GY, BY, RZ, GZ, BZ };

struct field {
    uint8_t number : 4;
    uint8_t bit : 4; /* where they go in the number */
    uint8_t count;
};
#define F(number, bit, count) {number, bit, count}

struct mode {
    uint8_t code;
    uint8_t code_bits;
    uint8_t bits;            /* of the first end */
    uint8_t others[COLOURS]; /* bits of the other ends */
    uint8_t parts;
    bool is_difference;
    struct field fields[FIELDS_MAX];
};

// clang-format off
static const struct mode modes[] = {
    {0x00, 2, 10, {5, 5, 5}, 2, true,
     {F(GY, 4, 1), F(BY, 4, 1), F(BZ, 4, 1), F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0,
      5), F(GZ, 4, 1), F(GY, 0, 4), F(GX, 0, 5), F(BZ, 0, 1), F(GZ, 0, 4), F(BX, 0, 5), F(BZ, 1,
      1), F(BY, 0, 4), F(RY, 0, 5), F(BZ, 2, 1), F(RZ, 0, 5), F(BZ, 3, 1)}},
    {0x01, 2, 7, {6, 6, 6}, 2, true,
     {F(GY, 5, 1), F(GZ, 4, 1), F(GZ, 5, 1), F(RW, 0, 7), F(BZ, 0, 1), F(BZ, 1, 1), F(BY, 4, 1),
      F(GW, 0, 7), F(BY, 5, 1), F(BZ, 2, 1), F(GY, 4, 1), F(BW, 0, 7), F(BZ, 3, 1), F(BZ, 5, 1),
      F(BZ, 4, 1), F(RX, 0, 6), F(GY, 0, 4), F(GX, 0, 6), F(GZ, 0, 4), F(BX, 0, 6), F(BY, 0, 4),
      F(RY, 0, 6), F(RZ, 0, 6)}},
    {0x02, 5, 11, {5, 4, 4}, 2, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 5), F(RW, 10, 1), F(GY, 0, 4), F(GX, 0,
      4), F(GW, 10, 1), F(BZ, 0, 1), F(GZ, 0, 4), F(BX, 0, 4), F(BW, 10, 1), F(BZ, 1, 1), F(BY,
      0, 4), F(RY, 0, 5), F(BZ, 2, 1), F(RZ, 0, 5), F(BZ, 3, 1)}},
    {0x06, 5, 11, {4, 5, 4}, 2, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 4), F(RW, 10, 1), F(GZ, 4, 1), F(GY, 0,
      4), F(GX, 0, 5), F(GW, 10, 1), F(GZ, 0, 4), F(BX, 0, 4), F(BW, 10, 1), F(BZ, 1, 1), F(BY,
      0, 4), F(RY, 0, 4), F(BZ, 0, 1), F(BZ, 2, 1), F(RZ, 0, 4), F(GY, 4, 1), F(BZ, 3, 1)}},
    {0x0a, 5, 11, {4, 4, 5}, 2, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 4), F(RW, 10, 1), F(BY, 4, 1), F(GY, 0,
      4), F(GX, 0, 4), F(GW, 10, 1), F(BZ, 0, 1), F(GZ, 0, 4), F(BX, 0, 5), F(BW, 10, 1), F(BY,
      0, 4), F(RY, 0, 4), F(BZ, 1, 1), F(BZ, 2, 1), F(RZ, 0, 4), F(BZ, 4, 1), F(BZ, 3, 1)}},
    {0x0e, 5, 9, {5, 5, 5}, 2, true,
     {F(RW, 0, 9), F(BY, 4, 1), F(GW, 0, 9), F(GY, 4, 1), F(BW, 0, 9), F(BZ, 4, 1), F(RX, 0, 5),
      F(GZ, 4, 1), F(GY, 0, 4), F(GX, 0, 5), F(BZ, 0, 1), F(GZ, 0, 4), F(BX, 0, 5), F(BZ, 1, 1),
      F(BY, 0, 4), F(RY, 0, 5), F(BZ, 2, 1), F(RZ, 0, 5), F(BZ, 3, 1)}},
    {0x12, 5, 8, {6, 5, 5}, 2, true,
     {F(RW, 0, 8), F(GZ, 4, 1), F(BY, 4, 1), F(GW, 0, 8), F(BZ, 2, 1), F(GY, 4, 1), F(BW, 0, 8),
      F(BZ, 3, 1), F(BZ, 4, 1), F(RX, 0, 6), F(GY, 0, 4), F(GX, 0, 5), F(BZ, 0, 1), F(GZ, 0, 4),
      F(BX, 0, 5), F(BZ, 1, 1), F(BY, 0, 4), F(RY, 0, 6), F(RZ, 0, 6)}},
    {0x16, 5, 8, {5, 6, 5}, 2, true,
     {F(RW, 0, 8), F(BZ, 0, 1), F(BY, 4, 1), F(GW, 0, 8), F(GY, 5, 1), F(GY, 4, 1), F(BW, 0, 8),
      F(GZ, 5, 1), F(BZ, 4, 1), F(RX, 0, 5), F(GZ, 4, 1), F(GY, 0, 4), F(GX, 0, 6), F(GZ, 0, 4),
      F(BX, 0, 5), F(BZ, 1, 1), F(BY, 0, 4), F(RY, 0, 5), F(BZ, 2, 1), F(RZ, 0, 5), F(BZ, 3, 1)}},
    {0x1a, 5, 8, {5, 5, 6}, 2, true,
     {F(RW, 0, 8), F(BZ, 1, 1), F(BY, 4, 1), F(GW, 0, 8), F(BY, 5, 1), F(GY, 4, 1), F(BW, 0, 8),
      F(BZ, 5, 1), F(BZ, 4, 1), F(RX, 0, 5), F(GZ, 4, 1), F(GY, 0, 4), F(GX, 0, 5), F(BZ, 0, 1),
      F(GZ, 0, 4), F(BX, 0, 6), F(BY, 0, 4), F(RY, 0, 5), F(BZ, 2, 1), F(RZ, 0, 5), F(BZ, 3, 1)}},
    {0x1e, 5, 6, {6, 6, 6}, 2, false,
     {F(RW, 0, 6), F(GZ, 4, 1), F(BZ, 0, 1), F(BZ, 1, 1), F(BY, 4, 1), F(GW, 0, 6), F(GY, 5, 1),
      F(BY, 5, 1), F(BZ, 2, 1), F(GY, 4, 1), F(BW, 0, 6), F(GZ, 5, 1), F(BZ, 3, 1), F(BZ, 5, 1),
      F(BZ, 4, 1), F(RX, 0, 6), F(GY, 0, 4), F(GX, 0, 6), F(GZ, 0, 4), F(BX, 0, 6), F(BY, 0, 4),
      F(RY, 0, 6), F(RZ, 0, 6)}},
    {0x03, 5, 10, {10, 10, 10}, 1, false,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 10), F(GX, 0, 10), F(BX, 0, 10)}},
    {0x07, 5, 11, {9, 9, 9}, 1, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 9), F(RW, 10, 1), F(GX, 0, 9), F(GW,
      10, 1), F(BX, 0, 9), F(BW, 10, 1)}},
    {0x0b, 5, 12, {8, 8, 8}, 1, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 8), F(RW, 11, 1), F(RW, 10, 1), F(GX,
      0, 8), F(GW, 11, 1), F(GW, 10, 1), F(BX, 0, 8), F(BW, 11, 1), F(BW, 10, 1)}},
    {0x0f, 5, 16, {4, 4, 4}, 1, true,
     {F(RW, 0, 10), F(GW, 0, 10), F(BW, 0, 10), F(RX, 0, 4), F(RW, 15, 1), F(RW, 14, 1), F(RW,
      13, 1), F(RW, 12, 1), F(RW, 11, 1), F(RW, 10, 1), F(GX, 0, 4), F(GW, 15, 1), F(GW, 14, 1),
      F(GW, 13, 1), F(GW, 12, 1), F(GW, 11, 1), F(GW, 10, 1), F(BX, 0, 4), F(BW, 15, 1), F(BW,
      14, 1), F(BW, 13, 1), F(BW, 12, 1), F(BW, 11, 1), F(BW, 10, 1)}},
};
// clang-format on
#define MODES ((uint32_t)(sizeof modes / sizeof modes[0]))

static const struct mode *find_mode(struct rt_block_bits *bits)
{
    struct rt_block_bits look = *bits;
    uint32_t code = rt_take_bits(&look, MODE_BITS);
    for (uint32_t i = 0; i < MODES; i++)
        if ((code & ((1u << modes[i].code_bits) - 1)) == modes[i].code) {
            bits->at += modes[i].code_bits;
            return &modes[i];
        }
    return 0;
}

static int32_t extend(uint32_t value, uint32_t bits)
{
    uint32_t sign = 1u << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

/* Ends as the block has them become whole numbers. */
static void complete_ends(const struct mode *mode, bool is_signed,
                          const uint32_t raw[ENDS_MAX][COLOURS], int32_t ends[ENDS_MAX][COLOURS])
{
    uint32_t mask = (1u << mode->bits) - 1;
    for (uint32_t end = 0; end < 2u * mode->parts; end++)
        for (uint32_t colour = 0; colour < COLOURS; colour++) {
            uint32_t value = raw[end][colour];
            if (end > 0 && mode->is_difference)
                value = (raw[0][colour] + (uint32_t)extend(value, mode->others[colour])) & mask;
            ends[end][colour] = is_signed ? extend(value, mode->bits) : (int32_t)value;
        }
}

static int32_t spread_unsigned(int32_t value, uint32_t bits)
{
    if (bits >= 15 || value == 0)
        return value;
    if (value == (1 << bits) - 1)
        return 0xffff;
    return ((value << 16) + 0x8000) >> bits;
}

static int32_t spread_signed(int32_t value, uint32_t bits)
{
    int32_t size = value < 0 ? -value : value;
    if (bits < 16 && size != 0)
        size = size >= (1 << (bits - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (bits - 1);
    return value < 0 ? -size : size;
}

/* The bits of a half: of the sign and the size, of which the largest is the largest finite one. */
static uint16_t half_of(int32_t value, bool is_signed)
{
    if (!is_signed)
        return (uint16_t)(value * 31 / 64);
    return (uint16_t)(value < 0 ? 0x8000 | -value * 31 / 32 : value * 31 / 32);
}

static float mix(int32_t first, int32_t second, uint32_t bits, bool is_signed, uint32_t mixture)
{
    int32_t a = is_signed ? spread_signed(first, bits) : spread_unsigned(first, bits);
    int32_t b = is_signed ? spread_signed(second, bits) : spread_unsigned(second, bits);
    int32_t weighted = a * (RT_MIXTURE_WHOLE - (int32_t)mixture) + b * (int32_t)mixture;
    uint16_t bits_of_half = half_of((weighted + RT_MIXTURE_WHOLE / 2) >> 6, is_signed);
    _Float16 half;
    __builtin_memcpy(&half, &bits_of_half, sizeof half);
    return (float)half;
}

/* Of a mode that does not exist: black. */
void rt_bc6h_read(const uint8_t *block, bool is_signed, uint32_t element, float value[4])
{
    struct rt_block_bits bits = rt_block_bits_of(block);
    const struct mode *mode = find_mode(&bits);
    uint32_t raw[ENDS_MAX][COLOURS] = {{0}};
    int32_t ends[ENDS_MAX][COLOURS] = {{0}};
    value[0] = value[1] = value[2] = 0.0f;
    value[3] = 1.0f;
    if (mode == 0)
        return;
    for (uint32_t i = 0; i < FIELDS_MAX && mode->fields[i].count != 0; i++) {
        const struct field *field = &mode->fields[i];
        raw[field->number / COLOURS][field->number % COLOURS] |= rt_take_bits(&bits, field->count)
                                                                 << field->bit;
    }
    uint32_t partition = mode->parts == 2 ? rt_take_bits(&bits, 5) : 0;
    uint32_t width = mode->parts == 2 ? 3 : 4;
    uint32_t mixture =
        rt_mixture(width, rt_take_index(&bits, mode->parts, partition, width, element));
    uint32_t first = 2 * rt_part_of(mode->parts, partition, element);
    complete_ends(mode, is_signed, raw, ends);
    for (uint32_t colour = 0; colour < COLOURS; colour++)
        value[colour] =
            mix(ends[first][colour], ends[first + 1][colour], mode->bits, is_signed, mixture);
}
