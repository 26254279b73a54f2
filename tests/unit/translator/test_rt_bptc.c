/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of BC6H and BC7, all modes, against a decoder that goes through a block from its first bit
 * to its last, with layouts and partitions written out.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_abi/texture.h"
#include "translator/rt/blocks.h"

#define ROUNDS 400 /* of each mode */

static uint64_t state = 1;

static uint8_t next_byte(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint8_t)(state >> 40);
}

/* ---- the reference ---- */

/* By element. */
static const char *const two_parts[64] = {
    "0011001100110011", "0001000100010001", "0111011101110111", "0001001100110111",
    "0000000100010011", "0011011101111111", "0001001101111111", "0000000100110111",
    "0000000000010011", "0011011111111111", "0000000101111111", "0000000000010111",
    "0001011111111111", "0000000011111111", "0000111111111111", "0000000000001111",
    "0000100011101111", "0111000100000000", "0000000010001110", "0111001100010000",
    "0011000100000000", "0000100011001110", "0000000010001100", "0111001100110001",
    "0011000100010000", "0000100010001100", "0110011001100110", "0011011001101100",
    "0001011111101000", "0000111111110000", "0111000110001110", "0011100110011100",
    "0101010101010101", "0000111100001111", "0101101001011010", "0011001111001100",
    "0011110000111100", "0101010110101010", "0110100101101001", "0101101010100101",
    "0111001111001110", "0001001111001000", "0011001001001100", "0011101111011100",
    "0110100110010110", "0011110011000011", "0110011010011001", "0000011001100000",
    "0100111001000000", "0010011100100000", "0000001001110010", "0000010011100100",
    "0110110010010011", "0011011011001001", "0110001110011100", "0011100111000110",
    "0110110011001001", "0110001100111001", "0111111010000001", "0001100011100111",
    "0000111100110011", "0011001111110000", "0010001011101110", "0100010001110111",
};
static const char *const three_parts[64] = {
    "0011001102212222", "0001001122112221", "0000200122112211", "0222002200110111",
    "0000000011221122", "0011001100220022", "0022002211111111", "0011001122112211",
    "0000000011112222", "0000111111112222", "0000111122222222", "0012001200120012",
    "0112011201120112", "0122012201220122", "0011011211221222", "0011200122002220",
    "0001001101121122", "0111001120012200", "0000112211221122", "0022002200221111",
    "0111011102220222", "0001000122212221", "0000001101220122", "0000110022102210",
    "0122012200110000", "0012001211222222", "0110122112210110", "0000011012211221",
    "0022110211020022", "0110011020022222", "0011012201220011", "0000200022112221",
    "0000000211221222", "0222002200120011", "0011001200220222", "0120012001200120",
    "0000111122220000", "0120120120120120", "0120201212010120", "0011220011220011",
    "0011112222000011", "0101010122222222", "0000000021212121", "0022112200221122",
    "0022001100220011", "0220122102201221", "0101222222220101", "0000212121212121",
    "0101010101012222", "0222011102220111", "0002111200021112", "0000211221122112",
    "0222011101110222", "0002111211120002", "0110011001102222", "0000000021122112",
    "0110011022222222", "0022001100110022", "0022112211220022", "0000000000002112",
    "0002000100020001", "0222122202221222", "0101222222222222", "0111201122012220",
};

/* Where the index is a bit short, of the second and the third part. */
static const int second_of_two[64] = {
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2,  8, 2, 2, 8,
    8,  15, 2,  8,  2,  2,  8,  8,  2,  2,  15, 15, 6,  8,  2,  8,  15, 15, 2, 8, 2, 2,
    2,  15, 15, 6,  6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2, 15};
static const int second_of_three[64] = {
    3,  3,  15, 15, 8, 3,  15, 15, 8,  8,  6, 6,  6, 5,  3, 3,  3,  3,  8,  15, 3,  3,
    6,  10, 5,  8,  8, 6,  8,  5,  15, 15, 8, 15, 3, 5,  6, 10, 8,  15, 15, 3,  15, 5,
    15, 15, 15, 15, 3, 15, 5,  5,  5,  8,  5, 10, 5, 10, 8, 13, 15, 12, 3,  3};
static const int third_of_three[64] = {
    15, 8, 8, 3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,  15, 8,  15, 3,  15, 8,
    15, 8, 3, 15, 6,  10, 15, 15, 10, 8,  15, 3,  15, 10, 10, 8,  9,  10, 6,  15, 8,  15,
    3,  6, 6, 8,  15, 3,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8};

struct reader {
    const uint8_t *block;
    int at;
};

static int bit(struct reader *reader)
{
    int at = reader->at++;
    return reader->block[at / 8] >> at % 8 & 1;
}

static int number(struct reader *reader, int bits)
{
    int value = 0;
    for (int i = 0; i < bits; i++)
        value += bit(reader) << i;
    return value;
}

static int part_of(int parts, int partition, int element)
{
    const char *const *tables[] = {NULL, NULL, two_parts, three_parts};
    return parts == 1 ? 0 : tables[parts][partition][element] - '0';
}

static bool is_short(int parts, int partition, int element)
{
    return element == 0 || (parts == 2 && element == second_of_two[partition]) ||
           (parts == 3 &&
            (element == second_of_three[partition] || element == third_of_three[partition]));
}

static void take_indices(struct reader *reader, int parts, int partition, int bits, int indices[16])
{
    for (int i = 0; i < 16; i++)
        indices[i] = number(reader, bits - is_short(parts, partition, i));
}

static int weight(int bits, int index)
{
    static const int two[] = {0, 21, 43, 64};
    static const int three[] = {0, 9, 18, 27, 37, 46, 55, 64};
    static const int four[] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};
    return bits == 2 ? two[index] : bits == 3 ? three[index] : four[index];
}

/* ---- BC7 ---- */

/* Parts and bits: partition, rotation, index selection, colour, alpha, P of each end, P of both,
 * index, second index. */
static const int bc7_modes[8][10] = {
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
};

static int to_eight(int value, int bits)
{
    double exact = 0;
    for (int shift = 8 - bits; shift > -bits; shift -= bits)
        exact += shift >= 0 ? value << shift : value >> -shift;
    return (int)exact & 255;
}

static void wanted_bc7(const uint8_t *block, float wanted[16][4])
{
    struct reader reader = {block, 0};
    int mode = 0;
    while (mode < 8 && !bit(&reader))
        mode++;
    memset(wanted, 0, 16 * sizeof wanted[0]);
    if (mode == 8)
        return;
    const int *m = bc7_modes[mode];
    int partition = number(&reader, m[1]);
    int rotation = number(&reader, m[2]);
    int selection = number(&reader, m[3]);
    int ends[6][4];
    int indices[2][16];
    int p = 0;
    for (int c = 0; c < 4; c++)
        for (int e = 0; e < 2 * m[0]; e++)
            ends[e][c] = number(&reader, c < 3 ? m[4] : m[5]);
    for (int e = 0; e < 2 * m[0]; e++) {
        if (m[6] || (m[7] && e % 2 == 0))
            p = bit(&reader);
        for (int c = 0; c < 4; c++) {
            int bits = c < 3 ? m[4] : m[5];
            if (m[6] || m[7])
                ends[e][c] = to_eight(2 * ends[e][c] + p, bits + 1);
            else
                ends[e][c] = bits == 0 ? 255 : to_eight(ends[e][c], bits);
        }
        if (m[5] == 0)
            ends[e][3] = 255;
    }
    take_indices(&reader, m[0], partition, m[8], indices[0]);
    if (m[9])
        take_indices(&reader, 1, 0, m[9], indices[1]);
    cr_assert_eq(reader.at, 128);
    for (int i = 0; i < 16; i++) {
        int part = part_of(m[0], partition, i);
        for (int c = 0; c < 4; c++) {
            int which = m[9] && (c == 3) != (selection == 1);
            int w = weight(which ? m[9] : m[8], indices[which][i]);
            int channel = rotation == 0 ? c : c == 3 ? rotation - 1 : c == rotation - 1 ? 3 : c;
            wanted[i][channel] =
                (float)(((64 - w) * ends[2 * part][c] + w * ends[2 * part + 1][c] + 32) >> 6) /
                255.0f;
        }
    }
}

/* ---- BC6H ---- */

/* The mode's bits; bits of the first end and of the differences; what follows the mode's bits:
 * numbers, and which of their bits. "t": the ends are differences. */
struct bc6h_mode {
    int code, code_bits, bits, others[3];
    bool is_difference;
    const char *layout;
};

static const struct bc6h_mode bc6h_modes[] = {
    {0x00,
     2,
     10,
     {5, 5, 5},
     true,
     "gy4 by4 bz4 rw0:9 gw0:9 bw0:9 rx0:4 gz4 gy0:3 gx0:4 bz0 gz0:3 bx0:4 bz1 by0:3 ry0:4 "
     "bz2 rz0:4 bz3"},
    {0x01,
     2,
     7,
     {6, 6, 6},
     true,
     "gy5 gz4 gz5 rw0:6 bz0 bz1 by4 gw0:6 by5 bz2 gy4 bw0:6 bz3 bz5 bz4 rx0:5 gy0:3 gx0:5 "
     "gz0:3 bx0:5 by0:3 ry0:5 rz0:5"},
    {0x02,
     5,
     11,
     {5, 4, 4},
     true,
     "rw0:9 gw0:9 bw0:9 rx0:4 rw10 gy0:3 gx0:3 gw10 bz0 gz0:3 bx0:3 bw10 bz1 by0:3 ry0:4 "
     "bz2 rz0:4 bz3"},
    {0x06,
     5,
     11,
     {4, 5, 4},
     true,
     "rw0:9 gw0:9 bw0:9 rx0:3 rw10 gz4 gy0:3 gx0:4 gw10 gz0:3 bx0:3 bw10 bz1 by0:3 ry0:3 "
     "bz0 bz2 rz0:3 gy4 bz3"},
    {0x0a,
     5,
     11,
     {4, 4, 5},
     true,
     "rw0:9 gw0:9 bw0:9 rx0:3 rw10 by4 gy0:3 gx0:3 gw10 bz0 gz0:3 bx0:4 bw10 by0:3 ry0:3 "
     "bz1 bz2 rz0:3 bz4 bz3"},
    {0x0e,
     5,
     9,
     {5, 5, 5},
     true,
     "rw0:8 by4 gw0:8 gy4 bw0:8 bz4 rx0:4 gz4 gy0:3 gx0:4 bz0 gz0:3 bx0:4 bz1 by0:3 ry0:4 "
     "bz2 rz0:4 bz3"},
    {0x12,
     5,
     8,
     {6, 5, 5},
     true,
     "rw0:7 gz4 by4 gw0:7 bz2 gy4 bw0:7 bz3 bz4 rx0:5 gy0:3 gx0:4 bz0 gz0:3 bx0:4 bz1 "
     "by0:3 ry0:5 rz0:5"},
    {0x16,
     5,
     8,
     {5, 6, 5},
     true,
     "rw0:7 bz0 by4 gw0:7 gy5 gy4 bw0:7 gz5 bz4 rx0:4 gz4 gy0:3 gx0:5 gz0:3 bx0:4 bz1 "
     "by0:3 ry0:4 bz2 rz0:4 bz3"},
    {0x1a,
     5,
     8,
     {5, 5, 6},
     true,
     "rw0:7 bz1 by4 gw0:7 by5 gy4 bw0:7 bz5 bz4 rx0:4 gz4 gy0:3 gx0:4 bz0 gz0:3 bx0:5 "
     "by0:3 ry0:4 bz2 rz0:4 bz3"},
    {0x1e,
     5,
     6,
     {6, 6, 6},
     false,
     "rw0:5 gz4 bz0 bz1 by4 gw0:5 gy5 by5 bz2 gy4 bw0:5 gz5 bz3 bz5 bz4 rx0:5 gy0:3 gx0:5 "
     "gz0:3 bx0:5 by0:3 ry0:5 rz0:5"},
    {0x03, 5, 10, {10, 10, 10}, false, "rw0:9 gw0:9 bw0:9 rx0:9 gx0:9 bx0:9"},
    {0x07, 5, 11, {9, 9, 9}, true, "rw0:9 gw0:9 bw0:9 rx0:8 rw10 gx0:8 gw10 bx0:8 bw10"},
    {0x0b, 5, 12, {8, 8, 8}, true, "rw0:9 gw0:9 bw0:9 rx0:7 rw11:10 gx0:7 gw11:10 bx0:7 bw11:10"},
    {0x0f, 5, 16, {4, 4, 4}, true, "rw0:9 gw0:9 bw0:9 rx0:3 rw15:10 gx0:3 gw15:10 bx0:3 bw15:10"},
};

static int sign_extended(int value, int bits)
{
    return value >= 1 << (bits - 1) ? value - (1 << bits) : value;
}

static void take_layout(struct reader *reader, const char *layout, int ends[4][3])
{
    for (const char *at = layout; *at != '\0';) {
        int colour = (int)(strchr("rgb", at[0]) - "rgb");
        int end = (int)(strchr("wxyz", at[1]) - "wxyz");
        char *next;
        int first = (int)strtol(at + 2, &next, 10);
        int last = *next == ':' ? (int)strtol(next + 1, &next, 10) : first;
        for (int i = first; first <= last ? i <= last : i >= last; i += first <= last ? 1 : -1)
            ends[end][colour] |= bit(reader) << i;
        at = *next == ' ' ? next + 1 : next;
    }
}

static int unquantised(int value, int bits, bool is_signed)
{
    if (!is_signed) {
        if (bits >= 15 || value == 0)
            return value;
        return value == (1 << bits) - 1 ? 0xffff : ((value << 15) + 0x4000) >> (bits - 1);
    }
    if (value < 0)
        return -unquantised(-value, bits, true);
    if (bits >= 16 || value == 0)
        return value;
    return value >= (1 << (bits - 1)) - 1 ? 0x7fff : ((value << 15) + 0x4000) >> (bits - 1);
}

static float finished(int value, bool is_signed)
{
    uint16_t bits;
    _Float16 half;
    if (!is_signed)
        bits = (uint16_t)((value * 31) >> 6);
    else if (value < 0)
        bits = (uint16_t)(((-value * 31) >> 5) | 0x8000);
    else
        bits = (uint16_t)((value * 31) >> 5);
    memcpy(&half, &bits, sizeof half);
    return (float)half;
}

static const struct bc6h_mode *mode_of(const uint8_t *block, struct reader *reader)
{
    for (size_t i = 0; i < sizeof bc6h_modes / sizeof bc6h_modes[0]; i++) {
        *reader = (struct reader){block, 0};
        if (number(reader, bc6h_modes[i].code_bits) == bc6h_modes[i].code)
            return &bc6h_modes[i];
    }
    return NULL;
}

static void wanted_bc6h(const uint8_t *block, bool is_signed, float wanted[16][4])
{
    struct reader reader;
    const struct bc6h_mode *mode = mode_of(block, &reader);
    int ends[4][3] = {{0}};
    int indices[16];
    memset(wanted, 0, 16 * sizeof wanted[0]);
    for (int i = 0; i < 16; i++)
        wanted[i][3] = 1;
    if (mode == NULL)
        return;
    take_layout(&reader, mode->layout, ends);
    int parts = strchr(mode->layout, 'y') != NULL ? 2 : 1;
    int partition = parts == 2 ? number(&reader, 5) : 0;
    int bits = parts == 2 ? 3 : 4;
    take_indices(&reader, parts, partition, bits, indices);
    cr_assert_eq(reader.at, 128);
    for (int e = 3; e >= 0; e--)
        for (int c = 0; c < 3; c++) {
            if (e > 0 && mode->is_difference)
                ends[e][c] = (ends[0][c] + sign_extended(ends[e][c], mode->others[c])) &
                             ((1 << mode->bits) - 1);
            if (is_signed)
                ends[e][c] = sign_extended(ends[e][c], mode->bits);
            ends[e][c] = unquantised(ends[e][c], mode->bits, is_signed);
        }
    for (int i = 0; i < 16; i++) {
        int part = part_of(parts, partition, i);
        int w = weight(bits, indices[i]);
        for (int c = 0; c < 3; c++)
            wanted[i][c] = finished(
                ((64 - w) * ends[2 * part][c] + w * ends[2 * part + 1][c] + 32) >> 6, is_signed);
    }
}

/* ---- comparisons ---- */

static void expect_block(uint32_t texel, const uint8_t *block, float wanted[16][4])
{
    for (uint32_t i = 0; i < 16; i++) {
        float got[4];
        rt_block_read(texel, block, i % 4, i / 4, got);
        cr_assert_arr_eq(got, wanted[i], sizeof got,
                         "element %u, block %02x %02x %02x …: %g %g %g %g, should be %g %g %g %g",
                         i, block[0], block[1], block[2], (double)got[0], (double)got[1],
                         (double)got[2], (double)got[3], (double)wanted[i][0], (double)wanted[i][1],
                         (double)wanted[i][2], (double)wanted[i][3]);
    }
}

/* The lowest bits are these. */
static void fill(uint8_t block[16], unsigned code, unsigned bits)
{
    for (int i = 0; i < 16; i++)
        block[i] = next_byte();
    block[0] = (uint8_t)((block[0] & ~((1u << bits) - 1)) | code);
}

Test(rt_bptc, every_mode_of_bc7)
{
    uint8_t block[16];
    float wanted[16][4];
    for (unsigned mode = 0; mode <= 8; mode++)
        for (int round = 0; round < ROUNDS; round++) {
            fill(block, mode < 8 ? 1u << mode : 0, mode < 8 ? mode + 1 : 8);
            wanted_bc7(block, wanted);
            expect_block(RT_TEXEL_BC7, block, wanted);
        }
}

/* Five bits have all modes, and those that there are not. */
Test(rt_bptc, every_mode_of_bc6h)
{
    uint8_t block[16];
    float wanted[16][4];
    for (unsigned code = 0; code < 32; code++)
        for (int round = 0; round < ROUNDS; round++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                fill(block, code, 5);
                wanted_bc6h(block, is_signed, wanted);
                expect_block(is_signed ? RT_TEXEL_BC6H_SIGNED : RT_TEXEL_BC6H, block, wanted);
            }
}

/* ---- known answers ---- */

static void put(uint8_t block[16], int *at, unsigned value, int bits)
{
    for (int i = 0; i < bits; i++, (*at)++)
        block[*at / 8] |= (uint8_t)((value >> i & 1) << *at % 8);
}

/* Mode 5: seven bits of each colour, of which the highest comes again, and eight of alpha. */
Test(rt_bptc, a_colour_of_bc7)
{
    static const unsigned colours[3] = {64, 1, 127};
    static const int expected[4] = {129, 2, 255, 77};
    uint8_t block[16] = {0};
    int at = 0;
    float got[4];
    put(block, &at, 1u << 5, 8);
    for (int i = 0; i < 6; i++)
        put(block, &at, colours[i / 2], 7);
    put(block, &at, 77, 8);
    put(block, &at, 77, 8);
    rt_block_read(RT_TEXEL_BC7, block, 3, 2, got);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(got[i], (float)expected[i] / 255.0f);
}

/* Mode 3 has ends of ten bits, as they are: 1, the largest number and the least but 0. */
Test(rt_bptc, a_colour_of_bc6h)
{
    static const unsigned ends[3] = {495, 1023, 1};
    static const float expected[4] = {1.0f, 65504.0f, 46.0f * 0x1p-24f, 1.0f};
    uint8_t block[16] = {0};
    int at = 0;
    float got[4];
    put(block, &at, 3, 5);
    for (int i = 0; i < 6; i++)
        put(block, &at, ends[i % 3], 10);
    rt_block_read(RT_TEXEL_BC6H, block, 1, 3, got);
    cr_expect_arr_eq(got, expected, sizeof got);
}
