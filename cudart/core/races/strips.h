/* SPDX-License-Identifier: Apache-2.0
 *
 * The last accesses to words that lie side by side, where neighbouring threads have accessed them
 * by one instruction: what a strip says of its words is what their cells would say. A word of which
 * it cannot be said so stands in its cell. Not thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_STRIPS_H
#define PTXRUN_CUDART_CORE_RACES_STRIPS_H

#include "cudart/core/races/cells.h"

#define RACE_STRIP_WORDS 8
#define RACE_STRIP_BYTES (RACE_STRIP_WORDS * RACE_CELL_BYTES)
#define RACE_STRIP_ALL   ((1u << RACE_STRIP_WORDS) - 1)

/* As race_access, of all bytes of several words. */
struct race_strip_access {
    uint32_t block;
    uint32_t stamp;
    uint32_t line;
    int16_t thread; /* of the first word, were it one of them; the next one's from each … */
    uint8_t words;  /* a bit for each; 0: no access */
    uint8_t flags : 6;
    uint8_t shift : 2; /* … 1 << shift words on */
};

struct race_strip {
    uint32_t run;  /* as of a cell */
    uint8_t split; /* words that stand in their cells, whatever else is said here */
    bool has_more;
    bool has_before; /* others may stand in the strip of the run before */
    struct race_strip_access write;
    struct race_strip_access reads[2];
    uint64_t unused; /* a strip is a cache line */
};

/* For other words of the strip: where two accesses meet, and while one follows the other, word by
 * word. */
struct race_strip_more {
    struct race_strip_access write;
    struct race_strip_access read; /* a first one */
};

/* Those of which it says something. */
static inline unsigned race_strip_words(const struct race_strip *strip,
                                        const struct race_strip_more *more)
{
    return strip->write.words | strip->reads[0].words | strip->reads[1].words |
           (strip->has_more ? more->write.words | more->read.words : 0);
}

/* Of some memory; all zero: nobody has accessed it. */
struct race_shadow {
    struct race_strip *strips;
    struct race_strip_more *more; /* of those that have more */
    /* What an earlier run has done to words that the last one has not come to; NULL: that is
     * forgotten. */
    struct race_strip *before;
    struct race_strip_more *more_before;
    uint32_t *values; /* by word: of writes that have one */
    struct race_cell *cells;
};

/* The word's cell, in which it stands from now on; and a copy of what stands there or would. */
struct race_cell *race_shadow_cell(const struct race_shadow *shadow, uint64_t word);
struct race_cell race_shadow_look(const struct race_shadow *shadow, uint64_t word);

/* The strip becomes one of this run, which accesses these words; what is known of them is
 * forgotten, what is known of others stays in the strip before, or goes to cells. */
void race_shadow_begin(const struct race_shadow *shadow, uint64_t strip, uint32_t run,
                       unsigned words);
/* The run, not the strip's own, that words of it stand in the strip before from; 0: none. */
static inline uint32_t race_shadow_before(const struct race_shadow *shadow, uint64_t strip,
                                          unsigned words)
{
    if (!shadow->strips[strip].has_before)
        return 0;
    const struct race_strip *before = &shadow->before[strip];
    return race_strip_words(before, &shadow->more_before[strip]) & words ? before->run : 0;
}

/* … and they are forgotten. */
void race_shadow_forget(const struct race_shadow *shadow, uint64_t strip, unsigned words);

/* Where the last access to the word has written all of it, that stands in the strip again if it
 * can; shift: of the access. */
void race_shadow_join(const struct race_shadow *shadow, uint64_t word, unsigned shift);

/* Of words that stand in their cells, of the strip's run: whether a write of all of them races with
 * none. Then they can stand in the strip again. */
bool race_shadow_may_take(const struct race_shadow *shadow, uint64_t strip, unsigned words,
                          const struct race_block *block, const struct race_strip_access *access);

/* The access to words that all stand in the strip, of its run, as race_cell_access for each of
 * them. False: it races, perhaps, or a strip cannot say what follows. Then nothing is changed. */
bool race_strip_access(const struct race_shadow *shadow, uint64_t strip,
                       const struct race_block *block, const struct race_strip_access *access);

/* The thread that has accessed the word. */
static inline uint32_t race_strip_thread(const struct race_strip_access *access, unsigned word)
{
    return (uint32_t)(access->thread + (int)(word >> access->shift));
}

#endif
