/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of BC1 to BC5: two ends, and for each element which mixture of them it is. Others are in
 * files of their own.
 */
#include "translator/rt/blocks.h"
#include "kernel_abi/texture.h"

#define COLOURS 3
#define ALPHA   3

static uint64_t read_word(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    return word;
}

/* ---- colours: BC1, and the second half of BC2 and BC3 ---- */

static void expand(uint32_t packed, float colour[COLOURS])
{
    colour[0] = (float)(packed >> 11) / 31.0f;
    colour[1] = (float)(packed >> 5 & 63) / 63.0f;
    colour[2] = (float)(packed & 31) / 31.0f;
}

/* has_clear: ends in ascending order mean three colours, and nothing as the fourth. */
static void read_colour(const uint8_t *block, uint32_t index, bool has_clear, float value[4])
{
    uint64_t word = read_word(block);
    uint32_t first = (uint32_t)(word & 0xffff);
    uint32_t second = (uint32_t)(word >> 16 & 0xffff);
    uint32_t code = (uint32_t)(word >> (32 + 2 * index) & 3);
    bool has_three = has_clear && first <= second;
    float ends[2][COLOURS];
    expand(first, ends[0]);
    expand(second, ends[1]);
    value[ALPHA] = has_three && code == 3 ? 0.0f : 1.0f;
    for (uint32_t i = 0; i < COLOURS; i++) {
        float a = ends[0][i];
        float b = ends[1][i];
        if (code < 2)
            value[i] = code == 0 ? a : b;
        else if (has_three)
            value[i] = code == 2 ? (a + b) / 2.0f : 0.0f;
        else
            value[i] = code == 2 ? (2.0f * a + b) / 3.0f : (a + 2.0f * b) / 3.0f;
    }
}

/* ---- one channel: BC4, BC5, and the alpha of BC3 ---- */

/* Eight values, or six and the least and the most there are. */
static float mix_channel(float a, float b, bool has_eight, uint32_t code, float least)
{
    float steps = has_eight ? 7.0f : 5.0f;
    if (code < 2)
        return code == 0 ? a : b;
    if (!has_eight && code >= 6)
        return code == 6 ? least : 1.0f;
    float part = (float)(code - 1);
    return ((steps - part) * a + part * b) / steps;
}

static float signed_part(uint8_t byte)
{
    float part = (float)(int8_t)byte / 127.0f;
    return part < -1.0f ? -1.0f : part;
}

static float read_channel(const uint8_t *block, uint32_t index, bool is_signed)
{
    uint32_t code = (uint32_t)(read_word(block) >> (16 + 3 * index) & 7);
    if (!is_signed)
        return mix_channel((float)block[0] / 255.0f, (float)block[1] / 255.0f, block[0] > block[1],
                           code, 0.0f);
    return mix_channel(signed_part(block[0]), signed_part(block[1]),
                       (int8_t)block[0] > (int8_t)block[1], code, -1.0f);
}

/* ---- blocks ---- */

void rt_block_read(uint32_t texel, const uint8_t *block, uint32_t x, uint32_t y, float value[4])
{
    uint32_t index = y * RT_BLOCK_SIDE + x;
    bool is_signed = texel == RT_TEXEL_BC4_SIGNED || texel == RT_TEXEL_BC5_SIGNED;
    value[1] = value[2] = 0.0f;
    value[ALPHA] = 1.0f;
    switch (texel) {
    case RT_TEXEL_BC1:
        read_colour(block, index, true, value);
        break;
    case RT_TEXEL_BC2:
        read_colour(block + 8, index, false, value);
        value[ALPHA] = (float)(read_word(block) >> 4 * index & 15) / 15.0f;
        break;
    case RT_TEXEL_BC3:
        read_colour(block + 8, index, false, value);
        value[ALPHA] = read_channel(block, index, false);
        break;
    case RT_TEXEL_BC5:
    case RT_TEXEL_BC5_SIGNED:
        value[1] = read_channel(block + 8, index, is_signed);
        value[0] = read_channel(block, index, is_signed);
        break;
    case RT_TEXEL_BC6H:
    case RT_TEXEL_BC6H_SIGNED:
        rt_bc6h_read(block, texel == RT_TEXEL_BC6H_SIGNED, index, value);
        break;
    case RT_TEXEL_BC7:
        rt_bc7_read(block, index, value);
        break;
    default:
        value[0] = read_channel(block, index, is_signed);
        break;
    }
}
