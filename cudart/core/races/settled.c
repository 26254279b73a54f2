/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of which it is known enough who reads them.
 */
#include "cudart/core/races/strip_forms.h"

/* A bit for each word of which all bytes are there. */
static uint64_t words_of(uint64_t bytes)
{
    uint64_t words = bytes & bytes >> 1 & bytes >> 2 & bytes >> 3 & UINT64_C(0x1111111111111111);
    words = (words | words >> 3) & UINT64_C(0x0303030303030303);
    words = (words | words >> 6) & UINT64_C(0x000f000f000f000f);
    words = (words | words >> 12) & UINT64_C(0x000000ff000000ff);
    return (words | words >> 24) & RACE_SETTLED_WORDS;
}

uint64_t race_words_with(uint64_t bytes)
{
    uint64_t first = (bytes | bytes >> 1 | bytes >> 2 | bytes >> 3) & UINT64_C(0x1111111111111111);
    return words_of(first * RACE_WORD_BYTES);
}

static void settle(const struct race_shadow *shadow, uint64_t strip, uint64_t key, uint64_t words)
{
    uint64_t settled = atomic_load_explicit(&shadow->settled[strip], memory_order_relaxed);
    if (words == 0)
        return;
    if (settled >> RACE_STRIP_WORDS == key)
        words |= settled;
    atomic_store_explicit(&shadow->settled[strip],
                          key << RACE_STRIP_WORDS | (words & RACE_SETTLED_WORDS),
                          memory_order_relaxed);
}

/* Whether all threads that may read come behind what somebody has written at that stamp. */
static bool is_behind(const struct race_block *block, uint32_t other_block, uint32_t stamp)
{
    return block && other_block == block->index && stamp < block->whole;
}

static bool is_of_now(const struct race_block *block, uint32_t other_block, uint32_t stamp)
{
    return other_block == block->index && stamp == block->now;
}

/* Bytes of which these two reads say enough. */
static uint64_t settling_bytes(const struct race_block *block, const struct race_strip_access *a,
                               const struct race_strip_access *b)
{
    uint64_t bytes = a->bytes & b->bytes;
    uint32_t warp, other;
    if (bytes == 0 || (a->flags | b->flags) & RACE_STRONG)
        return 0;
    bool is_far = block ? is_of_now(block, a->block, a->stamp) &&
                              is_of_now(block, b->block, b->stamp) &&
                              race_is_of_one_warp(a, bytes, &warp) &&
                              race_is_of_one_warp(b, bytes, &other) && warp != other
                        : a->block != b->block;
    return is_far ? bytes : 0;
}

void race_shadow_settle(const struct race_shadow *shadow, uint64_t number, uint64_t key,
                        const struct race_block *block)
{
    const struct race_strip *strip = &shadow->strips[number];
    const struct race_strip_more *more = &shadow->more[number];
    const struct race_strip_access *firsts[] = {&strip->read, &more->read};
    const struct race_strip_access *writes[] = {&strip->write, &more->write};
    uint64_t bytes = 0;
    if (!strip->has_more)
        return;
    for (unsigned i = 0; i < 4; i++)
        bytes |= settling_bytes(block, firsts[i / 2], &more->seconds[i % 2]);
    for (unsigned i = 0; i < 2; i++)
        if (!is_behind(block, writes[i]->block, writes[i]->stamp))
            bytes &= ~writes[i]->bytes;
    settle(shadow, number, key, words_of(bytes));
}

void race_shadow_settle_cell(const struct race_shadow *shadow, uint64_t word, uint64_t key,
                             const struct race_block *block)
{
    const struct race_cell *cell = &shadow->cells[word];
    const struct race_access *a = &cell->reads[0];
    const struct race_access *b = &cell->reads[1];
    if ((a->bytes & b->bytes) != RACE_WORD_BYTES || (a->flags | b->flags) & RACE_STRONG)
        return;
    bool is_far = block ? is_of_now(block, a->block, a->stamp) &&
                              is_of_now(block, b->block, b->stamp) &&
                              a->thread / RT_WARP_SIZE != b->thread / RT_WARP_SIZE
                        : a->block != b->block;
    if (is_far &&
        (cell->write.bytes == 0 || is_behind(block, cell->write.block, cell->write.stamp)))
        settle(shadow, word / RACE_STRIP_WORDS, key, UINT64_C(1) << word % RACE_STRIP_WORDS);
}
