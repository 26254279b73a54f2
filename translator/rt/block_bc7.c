/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of BC7: of eight modes, which differ in how many parts there are and how exact their ends
 * and indices.
 */
#include <stdbool.h>

#include "translator/rt/block_parts.h"
#include "translator/rt/blocks.h"

#define CHANNELS 4
#define ALPHA    3
#define ENDS_MAX (2 * RT_BLOCK_PARTS_MAX)

/* Bits of: */
struct mode {
    uint8_t parts; /* how many there are */
    uint8_t partition;
    uint8_t rotation;
    uint8_t choice; /* which of two indices is the colours' */
    uint8_t colour;
    uint8_t alpha;  /* 0: it is 1 */
    uint8_t lowest; /* ends of one lowest bit each: 2 of a part, 1 for both, or 0 */
    uint8_t index;
    uint8_t second; /* index, 0: there is one for all channels */
};

static const struct mode modes[] = {
    {3, 4, 0, 0, 4, 0, 2, 3, 0}, {2, 6, 0, 0, 6, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 2, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 2, 4, 0}, {2, 6, 0, 0, 5, 5, 2, 2, 0},
};
#define MODES ((uint32_t)(sizeof modes / sizeof modes[0]))

struct ends {
    uint32_t of[ENDS_MAX][CHANNELS];
};

static uint32_t bits_of_channel(const struct mode *mode, uint32_t channel)
{
    return channel == ALPHA ? mode->alpha : mode->colour;
}

/* The highest bits come again as the lowest. */
static uint32_t expand(uint32_t value, uint32_t bits)
{
    value <<= 8 - bits;
    return value | value >> bits;
}

static void take_ends(struct rt_block_bits *bits, const struct mode *mode, struct ends *ends)
{
    uint32_t count = 2u * mode->parts;
    uint32_t lowest = 0;
    for (uint32_t channel = 0; channel < CHANNELS; channel++)
        for (uint32_t i = 0; i < count; i++)
            ends->of[i][channel] = rt_take_bits(bits, bits_of_channel(mode, channel));
    for (uint32_t i = 0; i < count; i++) {
        if (mode->lowest == 2 || (mode->lowest == 1 && i % 2 == 0))
            lowest = rt_take_bits(bits, 1);
        for (uint32_t channel = 0; channel < CHANNELS; channel++) {
            uint32_t width = bits_of_channel(mode, channel);
            uint32_t *end = &ends->of[i][channel];
            if (width == 0)
                *end = 255;
            else if (mode->lowest != 0)
                *end = expand(*end << 1 | lowest, width + 1);
            else
                *end = expand(*end, width);
        }
    }
}

static void mix(const struct ends *ends, uint32_t part, const uint32_t mixtures[CHANNELS],
                float value[CHANNELS])
{
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        uint32_t first = ends->of[2 * part][channel] * (RT_MIXTURE_WHOLE - mixtures[channel]);
        uint32_t second = ends->of[2 * part + 1][channel] * mixtures[channel];
        value[channel] =
            (float)((first + second + RT_MIXTURE_WHOLE / 2) / RT_MIXTURE_WHOLE) / 255.0f;
    }
}

/* Alpha and another channel change places. */
static void rotate(uint32_t rotation, float value[CHANNELS])
{
    if (rotation == 0)
        return;
    float alpha = value[ALPHA];
    value[ALPHA] = value[rotation - 1];
    value[rotation - 1] = alpha;
}

static void read_mode(struct rt_block_bits *bits, const struct mode *mode, uint32_t element,
                      float value[CHANNELS])
{
    struct ends ends;
    uint32_t partition = rt_take_bits(bits, mode->partition);
    uint32_t rotation = rt_take_bits(bits, mode->rotation);
    bool is_second = rt_take_bits(bits, mode->choice) != 0;
    take_ends(bits, mode, &ends);
    struct rt_block_bits behind = *bits;
    behind.at += RT_BLOCK_ELEMENTS * mode->index - mode->parts;
    uint32_t colour =
        rt_mixture(mode->index, rt_take_index(bits, mode->parts, partition, mode->index, element));
    uint32_t alpha = colour;
    if (mode->second != 0)
        alpha = rt_mixture(mode->second, rt_take_index(&behind, 1, 0, mode->second, element));
    if (is_second) {
        uint32_t first = colour;
        colour = alpha;
        alpha = first;
    }
    mix(&ends, rt_part_of(mode->parts, partition, element),
        (const uint32_t[CHANNELS]){colour, colour, colour, alpha}, value);
    rotate(rotation, value);
}

/* The mode is how many bits are 0 before the first that is not; without such a bit there is
 * nothing. */
void rt_bc7_read(const uint8_t *block, uint32_t element, float value[4])
{
    struct rt_block_bits bits = rt_block_bits_of(block);
    uint32_t mode = 0;
    while (mode < MODES && rt_take_bits(&bits, 1) == 0)
        mode++;
    if (mode < MODES) {
        read_mode(&bits, &modes[mode], element, value);
        return;
    }
    for (uint32_t channel = 0; channel < CHANNELS; channel++)
        value[channel] = 0.0f;
}
