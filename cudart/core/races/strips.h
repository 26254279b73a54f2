/* SPDX-License-Identifier: Apache-2.0
 *
 * The last accesses to bytes that lie side by side, where lanes have accessed them by one
 * instruction: what a strip says of its bytes is what their cells would say. A word of which it
 * cannot be said so stands in its cell. Not thread-safe but for race_shadow_settled.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_STRIPS_H
#define PTXRUN_CUDART_CORE_RACES_STRIPS_H

#include <stdatomic.h>

#include "cudart/core/races/cells.h"

#define RACE_STRIP_BYTES 64
#define RACE_STRIP_WORDS (RACE_STRIP_BYTES / RACE_CELL_BYTES)
#define RACE_WORD_BYTES  ((UINT64_C(1) << RACE_CELL_BYTES) - 1)

/* As race_access, of bytes of a strip: the thread of byte b is
 * thread + step * ((b + offset) / unit), the line of word w is line + lines[w]: loops that are
 * unrolled go on from word to word by other lines. */
struct race_strip_access {
    uint64_t bytes; /* a bit for each; 0: no access */
    uint32_t block;
    uint32_t stamp;
    uint32_t line;
    int16_t thread;
    int16_t step;
    uint8_t unit; /* from 1 to RACE_STRIP_BYTES */
    uint8_t offset;
    uint8_t flags;
    int8_t lines[RACE_STRIP_WORDS];
};

/* Two cache lines. */
struct race_strip {
    uint32_t run; /* as of a cell */
    bool has_more;
    bool has_before; /* others may stand in the strip of the run before */
    uint64_t split;  /* bytes of words that stand in their cells, whatever else is said here */
    struct race_strip_access write;
    struct race_strip_access read; /* a first one */
    uint64_t unused[2];
};

/* For other bytes of the strip a write and a first read: where two accesses meet, and while one
 * follows the other, lane by lane. For any a second read, of one access or another. */
struct race_strip_more {
    struct race_strip_access write;
    struct race_strip_access read;
    struct race_strip_access seconds[2];
};

/* Those of which it says something. */
static inline uint64_t race_strip_bytes(const struct race_strip *strip,
                                        const struct race_strip_more *more)
{
    uint64_t bytes = strip->write.bytes | strip->read.bytes;
    return strip->has_more ? bytes | more->write.bytes | more->read.bytes | more->seconds[0].bytes |
                                 more->seconds[1].bytes
                           : bytes;
}

struct race_settled;

/* Of some memory; all zero: nobody has accessed it. */
struct race_shadow {
    struct race_strip *strips;
    struct race_strip_more *more; /* of those that have more */
    /* What an earlier run has done to words that the last one has not come to; NULL: that is
     * forgotten. */
    struct race_strip *before;
    struct race_strip_more *more_before;
    struct race_settled *settled; /* by strip; below */
    uint32_t *values;             /* by word: of writes that have one */
    struct race_cell *cells;
};

/* The word's cell, in which it stands from now on; and a copy of what stands there or would. */
struct race_cell *race_shadow_cell(const struct race_shadow *shadow, uint64_t word);
struct race_cell race_shadow_look(const struct race_shadow *shadow, uint64_t word);

/* The strip becomes one of this run, which accesses these bytes; what is known of them is
 * forgotten, what is known of others stays in the strip before, or goes to cells. */
void race_shadow_begin(const struct race_shadow *shadow, uint64_t strip, uint32_t run,
                       uint64_t bytes);
/* The run, not the strip's own, that bytes of it stand in the strip before from; 0: none. */
static inline uint32_t race_shadow_before(const struct race_shadow *shadow, uint64_t strip,
                                          uint64_t bytes)
{
    if (!shadow->strips[strip].has_before)
        return 0;
    const struct race_strip *before = &shadow->before[strip];
    return race_strip_bytes(before, &shadow->more_before[strip]) & bytes ? before->run : 0;
}

/* … and they are forgotten. */
void race_shadow_forget(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes);

/* Where the last access to the word has written all of it, that stands in the strip again if it
 * can; form: of the access. */
void race_shadow_join(const struct race_shadow *shadow, uint64_t word,
                      const struct race_strip_access *form);

/* Of words that stand in their cells, of the strip's run, given by all their bytes: whether a write
 * of all of them races with none. Then they can stand in the strip again. */
bool race_shadow_may_take(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes,
                          const struct race_block *block, const struct race_strip_access *access);

/* The access to bytes that all stand in the strip, of its run, as race_cell_access for each of
 * them. False: it races, perhaps, or a strip cannot say what follows. Then nothing is changed. */
bool race_strip_access(const struct race_shadow *shadow, uint64_t strip,
                       const struct race_block *block, const struct race_strip_access *access);

/* The same for all of a strip, by lanes of one warp, whatever its run is: what most rows find that
 * come to it first, or write it anew behind a barrier. What another run has done comes before. */
bool race_strip_access_all(const struct race_shadow *shadow, uint64_t strip, uint32_t run,
                           const struct race_block *block, const struct race_strip_access *access);

/* The same, of lanes of one warp from `first` to the access's thread, which all access the same
 * bytes, and read, or are strong. */
bool race_strip_access_lanes(const struct race_shadow *shadow, uint64_t strip,
                             const struct race_block *block, const struct race_strip_access *access,
                             uint32_t first);

/* 2^16 divided by units, rounded up: exact for the places of bytes. */
extern const uint32_t race_strip_parts[RACE_STRIP_BYTES + 1];

/* In which of the access's units the byte is. */
static inline unsigned race_strip_unit(const struct race_strip_access *access, unsigned byte)
{
    return (byte + access->offset) * race_strip_parts[access->unit] >> 16;
}

/* The thread that has accessed the byte. */
static inline uint32_t race_strip_thread(const struct race_strip_access *access, unsigned byte)
{
    return (uint32_t)(access->thread + access->step * (int)race_strip_unit(access, byte));
}

/* ---- words that need not be told of reads ----
 *
 * Of the readers of a word two are kept. They say enough, until somebody writes,
 *   for a run: if both are weak, and of different blocks, of which none ever knows what another
 *     one does: whatever writes to the word races with one of them;
 *   for a block, until anything orders its threads again: if both are of two of its warps;
 *   for a warp, likewise: if both are of it.
 * Then the word is settled for these. */

#define RACE_SETTLED_WORDS ((UINT64_C(1) << RACE_STRIP_WORDS) - 1)
#define RACE_WARPS_BESIDE  2 /* of which a strip can say something at a time */
#define RACE_NO_WARP       UINT32_MAX

/* By strip, for each of these: a key, and a bit for each word. */
struct race_settled {
    _Atomic uint64_t run;
    _Atomic uint64_t block;
    _Atomic uint64_t warps[RACE_WARPS_BESIDE]; /* with an even number, with an odd one */
};

/* For whom words may have been settled that somebody reads now; 0: for nobody. */
struct race_settling {
    uint64_t run; /* below 2^32 */
    uint64_t time;
};

static inline uint64_t race_key_of_block(const struct race_settling *settling)
{
    return UINT64_C(1) << 47 | settling->time;
}

static inline uint64_t race_key_of_warp(const struct race_settling *settling, uint32_t warp)
{
    return race_key_of_block(settling) | (uint64_t)(warp + 1) << RACE_TIME_BITS;
}

static inline uint64_t race_words_under(const _Atomic uint64_t *settled, uint64_t key)
{
    uint64_t words = atomic_load_explicit(settled, memory_order_relaxed);
    return words >> RACE_STRIP_WORDS == key ? words & RACE_SETTLED_WORDS : 0;
}

/* The strip's words that lanes of the warp need not tell of, a bit for each. */
static inline uint64_t race_shadow_settled(const struct race_shadow *shadow, uint64_t strip,
                                           const struct race_settling *settling, uint32_t warp)
{
    const struct race_settled *settled = &shadow->settled[strip];
    uint64_t words = race_words_under(&settled->run, settling->run);
    if (settling->time != 0)
        words |= race_words_under(&settled->block, race_key_of_block(settling)) |
                 race_words_under(&settled->warps[warp % RACE_WARPS_BESIDE],
                                  race_key_of_warp(settling, warp));
    return words;
}

/* A bit for each word of which any of these bytes is. */
uint64_t race_words_with(uint64_t bytes);

/* Behind a read that does not race, by the block: of these bytes of the strip, or of this word,
 * which stands in its cell. run: 0 unless blocks of it know nothing of each other. */
void race_shadow_settle(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes,
                        uint64_t run, const struct race_block *block);
void race_shadow_settle_cell(const struct race_shadow *shadow, uint64_t word, uint64_t run,
                             const struct race_block *block);

#endif
