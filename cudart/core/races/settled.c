/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of which it is known enough who reads them.
 */
#include "cudart/core/races/strip_forms.h"

/* A bit for each word, of which the first byte's is set or not. */
static uint64_t words_from(uint64_t first)
{
    uint64_t words = first & UINT64_C(0x1111111111111111);
    words = (words | words >> 3) & UINT64_C(0x0303030303030303);
    words = (words | words >> 6) & UINT64_C(0x000f000f000f000f);
    words = (words | words >> 12) & UINT64_C(0x000000ff000000ff);
    return (words | words >> 24) & RACE_SETTLED_WORDS;
}

/* Those of which all bytes are there. */
static uint64_t words_of(uint64_t bytes)
{
    return words_from(bytes & bytes >> 1 & bytes >> 2 & bytes >> 3);
}

uint64_t race_words_with(uint64_t bytes)
{
    return words_from(bytes | bytes >> 1 | bytes >> 2 | bytes >> 3);
}

static void settle(_Atomic uint64_t *place, uint64_t key, uint64_t words)
{
    uint64_t settled = atomic_load_explicit(place, memory_order_relaxed);
    if (words == 0)
        return;
    if (settled >> RACE_STRIP_WORDS == key)
        words |= settled & RACE_SETTLED_WORDS;
    atomic_store_explicit(place, key << RACE_STRIP_WORDS | words, memory_order_relaxed);
}

static void settle_for_block(const struct race_shadow *shadow, uint64_t strip,
                             const struct race_block *block, uint64_t words)
{
    const struct race_settling settling = {.time = block->time};
    settle(&shadow->settled[strip].block, race_key_of_block(&settling), words);
}

static void settle_for_warp(const struct race_shadow *shadow, uint64_t strip,
                            const struct race_block *block, uint32_t warp, uint64_t words)
{
    const struct race_settling settling = {.time = block->time};
    settle(&shadow->settled[strip].warps[warp % RACE_WARPS_BESIDE],
           race_key_of_warp(&settling, warp), words);
}

/* Whether all threads of the block that may read come behind what was written at that stamp. */
static bool is_behind(const struct race_block *block, uint32_t other_block, uint32_t stamp)
{
    return other_block == block->index && stamp < block->whole;
}

static bool is_of_now(const struct race_block *block, uint32_t other_block, uint32_t stamp)
{
    return other_block == block->index && stamp == block->now;
}

/* ---- strips ---- */

/* Bytes that no write has, or one that comes before what all threads of the block do now. */
static uint64_t bytes_behind_writes(const struct race_block *block,
                                    const struct race_strip_access *write, uint64_t bytes)
{
    return is_behind(block, write->block, write->stamp) ? bytes : bytes & ~write->bytes;
}

/* The same of all lanes of the warp. */
static uint64_t bytes_behind_writes_of_warp(const struct race_block *block, uint32_t warp,
                                            const struct race_strip_access *write, uint64_t bytes)
{
    uint64_t both = bytes & write->bytes;
    if (both == 0 || (write->block == block->index && write->stamp < block->warps[warp].row.block))
        return bytes;
    uint64_t behind = bytes & ~both;
    while (both != 0) {
        unsigned byte = race_first_of(both);
        uint64_t unit = race_bytes_of_unit(write, byte) & both;
        if (race_is_before_warp(block, warp, write->block, race_strip_thread(write, byte),
                                write->stamp))
            behind |= unit;
        both &= ~unit;
    }
    return behind;
}

/* The strip's writes, of which the second may be none. */
struct writes {
    const struct race_strip_access *of[2];
};

/* Of these bytes, those that the warp of the first one has read. */
static uint64_t bytes_of_first_warp(const struct race_strip_access *read, uint64_t bytes,
                                    uint32_t *warp)
{
    uint64_t of_warp = 0;
    uint32_t first;
    if (race_is_of_one_warp(read, bytes, warp))
        return bytes;
    first = race_strip_thread(read, race_first_of(bytes)) / RT_WARP_SIZE;
    while (bytes != 0) {
        unsigned byte = race_first_of(bytes);
        uint64_t unit = race_bytes_of_unit(read, byte) & bytes;
        if (race_strip_thread(read, byte) / RT_WARP_SIZE == first)
            of_warp |= unit;
        bytes &= ~unit;
    }
    *warp = first;
    return of_warp;
}

static void settle_warps(const struct race_shadow *shadow, uint64_t strip,
                         const struct race_block *block, const struct writes *writes,
                         const struct race_strip_access *read, uint64_t bytes)
{
    while (bytes != 0) {
        uint32_t warp;
        uint64_t of_warp = bytes_of_first_warp(read, bytes, &warp);
        bytes &= ~of_warp;
        for (unsigned i = 0; i < 2; i++)
            of_warp = bytes_behind_writes_of_warp(block, warp, writes->of[i], of_warp);
        settle_for_warp(shadow, strip, block, warp, words_of(of_warp));
    }
}

/* Of these bytes, words that these two have read. */
static void settle_pair(const struct race_shadow *shadow, uint64_t strip, uint64_t run,
                        const struct race_block *block, const struct writes *writes,
                        const struct race_strip_access *a, const struct race_strip_access *b,
                        uint64_t bytes)
{
    bytes &= a->bytes & b->bytes;
    uint64_t unwritten = bytes & ~writes->of[0]->bytes & ~writes->of[1]->bytes;
    if (bytes == 0 || (a->flags | b->flags) & RACE_STRONG)
        return;
    if (run != 0 && a->block != b->block)
        settle(&shadow->settled[strip].run, run, words_of(unwritten));
    if (!is_of_now(block, a->block, a->stamp) || !is_of_now(block, b->block, b->stamp))
        return;
    uint64_t same = race_bytes_of_same_warp(a, b, bytes);
    uint64_t apart = bytes & ~same;
    for (unsigned i = 0; i < 2; i++)
        apart = bytes_behind_writes(block, writes->of[i], apart);
    if (apart != 0)
        settle_for_block(shadow, strip, block, words_of(apart));
    settle_warps(shadow, strip, block, writes, a, same);
}

void race_shadow_settle(const struct race_shadow *shadow, uint64_t number, uint64_t bytes,
                        uint64_t run, const struct race_block *block)
{
    const struct race_strip *strip = &shadow->strips[number];
    const struct race_strip_more *more = &shadow->more[number];
    const struct race_strip_access *firsts[] = {&strip->read, &more->read};
    const struct writes writes = {{&strip->write, &more->write}};
    if (!strip->has_more)
        return;
    for (unsigned i = 0; i < 4; i++)
        settle_pair(shadow, number, run, block, &writes, firsts[i / 2], &more->seconds[i % 2],
                    bytes);
}

/* ---- cells ---- */

void race_shadow_settle_cell(const struct race_shadow *shadow, uint64_t word, uint64_t run,
                             const struct race_block *block)
{
    const struct race_cell *cell = &shadow->cells[word];
    const struct race_access *a = &cell->reads[0];
    const struct race_access *b = &cell->reads[1];
    const struct race_access *write = &cell->write;
    uint64_t strip = word / RACE_STRIP_WORDS;
    uint64_t words = UINT64_C(1) << word % RACE_STRIP_WORDS;
    uint32_t warp = a->thread / RT_WARP_SIZE;
    if ((a->bytes & b->bytes) != RACE_WORD_BYTES || (a->flags | b->flags) & RACE_STRONG)
        return;
    if (run != 0 && a->block != b->block && write->bytes == 0)
        settle(&shadow->settled[strip].run, run, words);
    if (!is_of_now(block, a->block, a->stamp) || !is_of_now(block, b->block, b->stamp))
        return;
    if (warp != b->thread / RT_WARP_SIZE) {
        if (write->bytes == 0 || is_behind(block, write->block, write->stamp))
            settle_for_block(shadow, strip, block, words);
    } else if (write->bytes == 0 ||
               race_is_before_warp(block, warp, write->block, write->thread, write->stamp)) {
        settle_for_warp(shadow, strip, block, warp, words);
    }
}
