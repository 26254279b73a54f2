/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to a strip's words at once, and the way to their cells and back.
 */
#include "cudart/core/races/strips.h"

/* ---- a word's cell ---- */

static struct race_access access_of(const struct race_strip_access *strip, unsigned word,
                                    uint32_t value)
{
    if (!(strip->words & 1u << word))
        return (struct race_access){0};
    return (struct race_access){.block = strip->block,
                                .stamp = strip->stamp,
                                .line = strip->line,
                                .value = strip->flags & RACE_VALUE ? value : 0,
                                .thread = (uint16_t)race_strip_thread(strip, word),
                                .bytes = (1u << RACE_CELL_BYTES) - 1,
                                .flags = strip->flags};
}

static void drop(struct race_strip *strip, struct race_strip_more *more, unsigned words)
{
    strip->write.words &= (uint8_t)~words;
    strip->reads[0].words &= (uint8_t)~words;
    strip->reads[1].words &= (uint8_t)~words;
    if (!strip->has_more)
        return;
    more->write.words &= (uint8_t)~words;
    more->read.words &= (uint8_t)~words;
    strip->has_more = (more->write.words | more->read.words) != 0;
}

void race_shadow_forget(const struct race_shadow *shadow, uint64_t strip, unsigned words)
{
    struct race_strip *before = &shadow->before[strip];
    struct race_strip_more *more = &shadow->more_before[strip];
    drop(before, more, words);
    shadow->strips[strip].has_before = race_strip_words(before, more) != 0;
}

static const struct race_strip_access *one_with(const struct race_strip_access *one,
                                                const struct race_strip_access *other,
                                                bool has_other, unsigned bit)
{
    return has_other && other->words & bit ? other : one;
}

struct race_cell race_shadow_look(const struct race_shadow *shadow, uint64_t word)
{
    uint64_t number = word / RACE_STRIP_WORDS;
    const struct race_strip *strip = &shadow->strips[number];
    const struct race_strip_more *more = &shadow->more[number];
    unsigned place = word % RACE_STRIP_WORDS;
    unsigned bit = 1u << place;
    if (strip->split & bit)
        return shadow->cells[word];
    if (race_shadow_before(shadow, number, bit) != 0) {
        strip = &shadow->before[number];
        more = &shadow->more_before[number];
    }
    const struct race_strip_access *write =
        one_with(&strip->write, &more->write, strip->has_more, bit);
    const struct race_strip_access *read =
        one_with(&strip->reads[0], &more->read, strip->has_more, bit);
    return (struct race_cell){
        .run = strip->run,
        .write = access_of(write, place, shadow->values[word]),
        .reads = {access_of(read, place, 0), access_of(&strip->reads[1], place, 0)}};
}

struct race_cell *race_shadow_cell(const struct race_shadow *shadow, uint64_t word)
{
    uint64_t number = word / RACE_STRIP_WORDS;
    struct race_strip *strip = &shadow->strips[number];
    unsigned bit = 1u << word % RACE_STRIP_WORDS;
    struct race_cell *cell = &shadow->cells[word];
    if (strip->split & bit)
        return cell;
    *cell = race_shadow_look(shadow, word);
    strip->split |= (uint8_t)bit;
    drop(strip, &shadow->more[number], bit);
    if (strip->has_before)
        race_shadow_forget(shadow, number, bit);
    return cell;
}

static void split(const struct race_shadow *shadow, uint64_t strip, unsigned words)
{
    for (; words != 0; words &= words - 1)
        race_shadow_cell(shadow, strip * RACE_STRIP_WORDS + (unsigned)__builtin_ctz(words));
}

void race_shadow_begin(const struct race_shadow *shadow, uint64_t number, uint32_t run,
                       unsigned words)
{
    struct race_strip *strip = &shadow->strips[number];
    unsigned others = race_strip_words(strip, &shadow->more[number]) & ~words;
    if (others != 0) {
        struct race_strip *before = &shadow->before[number];
        struct race_strip_more *more = &shadow->more_before[number];
        if (strip->has_before)
            split(shadow, number, race_strip_words(before, more) & ~words);
        *before = *strip;
        if (strip->has_more)
            *more = shadow->more[number];
        drop(before, more, words);
        strip->has_before = true;
    }
    *strip =
        (struct race_strip){.run = run, .split = strip->split, .has_before = strip->has_before};
}

/* ---- who comes before whom ---- */

static bool is_of_same_threads(const struct race_strip_access *a, const struct race_strip_access *b)
{
    return a->block == b->block && a->thread == b->thread && a->shift == b->shift;
}

static bool is_of_one_warp(const struct race_strip_access *access, unsigned words, uint32_t *warp)
{
    unsigned first = (unsigned)__builtin_ctz(words);
    unsigned last = 31 - (unsigned)__builtin_clz(words);
    *warp = race_strip_thread(access, first) / RT_WARP_SIZE;
    return race_strip_thread(access, last) / RT_WARP_SIZE == *warp;
}

/* Words of which all or none come behind what their warp knows; false: not known at once. */
static bool find_before(const struct race_block *block, const struct race_strip_access *access,
                        const struct race_strip_access *earlier, unsigned words, unsigned *before)
{
    uint32_t warp, other;
    if (is_of_same_threads(access, earlier)) {
        *before = words;
        return true;
    }
    if (!is_of_one_warp(access, words, &warp))
        return false;
    const struct race_row *row = &block->warps[warp].row;
    *before = 0;
    if (earlier->block != block->index)
        return !race_knows_others(&row->others);
    if (earlier->stamp == block->now && access->shift == earlier->shift)
        return true;
    *before = words;
    return earlier->stamp < row->block ||
           (is_of_one_warp(earlier, words, &other) && earlier->stamp < row->warps[other]);
}

/* Of these words, those whose earlier access comes before this one. */
static unsigned words_before(const struct race_block *block, const struct race_strip_access *access,
                             const struct race_strip_access *earlier, unsigned words)
{
    unsigned before;
    if (words == 0 || find_before(block, access, earlier, words, &before))
        return words == 0 ? 0 : before;
    before = 0;
    for (unsigned rest = words; rest != 0; rest &= rest - 1) {
        unsigned word = (unsigned)__builtin_ctz(rest);
        if (race_is_before(block, race_strip_thread(access, word), earlier->block,
                           race_strip_thread(earlier, word), earlier->stamp))
            before |= 1u << word;
    }
    return before;
}

/* Unless both write the same, which cells find out. */
static bool may_race(const struct race_block *block, const struct race_strip_access *access,
                     const struct race_strip_access *earlier)
{
    unsigned words = access->words & earlier->words;
    return words != 0 &&
           !race_are_strong(access->flags, access->block, earlier->flags, earlier->block) &&
           words_before(block, access, earlier, words) != words;
}

static unsigned words_of_same_warp(const struct race_strip_access *a,
                                   const struct race_strip_access *b, unsigned words)
{
    uint32_t warp, other;
    unsigned same = 0;
    if (words == 0 || a->block != b->block)
        return 0;
    if (is_of_one_warp(a, words, &warp) && is_of_one_warp(b, words, &other))
        return warp == other ? words : 0;
    for (unsigned rest = words; rest != 0; rest &= rest - 1) {
        unsigned word = (unsigned)__builtin_ctz(rest);
        if (race_strip_thread(a, word) / RT_WARP_SIZE == race_strip_thread(b, word) / RT_WARP_SIZE)
            same |= 1u << word;
    }
    return same;
}

/* ---- what is kept ---- */

/* The strip's writes, or first or second reads. */
struct slot {
    struct race_strip *strip;
    struct race_strip_more *more;
    struct race_strip_access *one;
    struct race_strip_access *other; /* NULL: there is one alone */
};

static bool has_other(const struct slot *slot)
{
    return slot->other && slot->strip->has_more;
}

static unsigned words_in(const struct slot *slot)
{
    return slot->one->words | (has_other(slot) ? slot->other->words : 0);
}

static bool is_alike(const struct race_strip_access *a, const struct race_strip_access *b)
{
    return is_of_same_threads(a, b) && a->stamp == b->stamp && a->line == b->line &&
           a->flags == b->flags;
}

/* Whether these words of the access can stand where others of the strip may stand. */
static bool takes(const struct race_strip_access *place, const struct race_strip_access *access,
                  unsigned words)
{
    return (place->words & ~words) == 0 || is_alike(place, access);
}

static bool fits(const struct slot *slot, const struct race_strip_access *access, unsigned words)
{
    return words == 0 || takes(slot->one, access, words) ||
           (slot->other && (!slot->strip->has_more || takes(slot->other, access, words)));
}

static void put_one(struct race_strip_access *place, const struct race_strip_access *access,
                    unsigned words)
{
    unsigned others = place->words;
    *place = *access;
    place->words = (uint8_t)(words | others);
}

static void make_more(const struct slot *slot)
{
    if (!slot->strip->has_more)
        *slot->more = (struct race_strip_more){0};
    slot->strip->has_more = true;
}

static void put(const struct slot *slot, const struct race_strip_access *access, unsigned words)
{
    if (words == 0)
        return;
    slot->one->words &= (uint8_t)~words;
    if (has_other(slot))
        slot->other->words &= (uint8_t)~words;
    bool is_alike_other =
        has_other(slot) && slot->other->words != 0 && is_alike(slot->other, access);
    if (!is_alike_other && takes(slot->one, access, words)) {
        put_one(slot->one, access, words);
        return;
    }
    make_more(slot);
    put_one(slot->other, access, words);
}

static bool keep_write(const struct slot *writes, struct race_strip *strip,
                       const struct race_strip_access *access)
{
    if (!fits(writes, access, access->words))
        return false;
    put(writes, access, access->words);
    strip->reads[0].words &= (uint8_t)~access->words;
    strip->reads[1].words &= (uint8_t)~access->words;
    if (!strip->has_more)
        return true;
    writes->more->read.words &= (uint8_t)~access->words;
    strip->has_more = (writes->more->read.words | writes->more->write.words) != 0;
    return true;
}

/* Words whose read in the slot is of the access's warp. */
static unsigned words_of_warp(const struct slot *slot, const struct race_strip_access *access,
                              unsigned words)
{
    unsigned same = words_of_same_warp(access, slot->one, words & slot->one->words);
    if (has_other(slot))
        same |= words_of_same_warp(access, slot->other, words & slot->other->words);
    return same;
}

/* Words whose read in the slot is none, or comes before the access. */
static unsigned free_words(const struct slot *slot, const struct race_block *block,
                           const struct race_strip_access *access, unsigned words)
{
    unsigned are_free = words & ~words_in(slot);
    if (words & slot->one->words)
        are_free |= words_before(block, access, slot->one, words & slot->one->words);
    if (has_other(slot))
        are_free |= words_before(block, access, slot->other, words & slot->other->words);
    return are_free;
}

/* Each word's read goes where it would in a cell: where the earlier one comes before it, else where
 * that is of its warp. */
static bool keep_read(const struct slot *first, const struct slot *second,
                      const struct race_block *block, const struct race_strip_access *access)
{
    unsigned to_first = free_words(first, block, access, access->words);
    unsigned to_second = 0;
    unsigned rest = access->words & ~to_first;
    if (rest != 0) {
        to_second = free_words(second, block, access, rest);
        rest &= ~to_second;
        unsigned same = words_of_warp(first, access, rest);
        to_first |= same;
        to_second |= rest & ~same;
    }
    if (!fits(first, access, to_first) || !fits(second, access, to_second))
        return false;
    put(first, access, to_first);
    put(second, access, to_second);
    return true;
}

/* What most reads find: the words have not been read, or it comes behind that. */
static bool reads_first(struct race_strip *strip, const struct race_block *block,
                        const struct race_strip_access *access)
{
    struct race_strip_access *read = &strip->reads[0];
    unsigned both = access->words & read->words;
    if (!takes(read, access, access->words) ||
        (both != 0 && words_before(block, access, read, both) != both))
        return false;
    put_one(read, access, access->words);
    return true;
}

bool race_strip_access(const struct race_shadow *shadow, uint64_t number,
                       const struct race_block *block, const struct race_strip_access *access)
{
    struct race_strip *strip = &shadow->strips[number];
    struct race_strip_more *more = &shadow->more[number];
    const struct slot writes = {strip, more, &strip->write, &more->write};
    const struct slot first = {strip, more, &strip->reads[0], &more->read};
    const struct slot second = {strip, more, &strip->reads[1], NULL};
    if (may_race(block, access, &strip->write) ||
        (strip->has_more && may_race(block, access, &more->write)))
        return false;
    if (!(access->flags & RACE_WRITES))
        return (!strip->has_more && reads_first(strip, block, access)) ||
               keep_read(&first, &second, block, access);
    return !may_race(block, access, &strip->reads[0]) &&
           !may_race(block, access, &strip->reads[1]) &&
           !(strip->has_more && may_race(block, access, &more->read)) &&
           keep_write(&writes, strip, access);
}

bool race_shadow_may_take(const struct race_shadow *shadow, uint64_t strip, unsigned words,
                          const struct race_block *block, const struct race_strip_access *access)
{
    if (!(access->flags & RACE_WRITES))
        return words == 0;
    for (; words != 0; words &= words - 1) {
        unsigned word = (unsigned)__builtin_ctz(words);
        const struct race_access alone = access_of(access, word, 0);
        if (!race_cell_is_harmless(&shadow->cells[strip * RACE_STRIP_WORDS + word], block, &alone))
            return false;
    }
    return true;
}

void race_shadow_join(const struct race_shadow *shadow, uint64_t word, unsigned shift)
{
    uint64_t number = word / RACE_STRIP_WORDS;
    struct race_strip *strip = &shadow->strips[number];
    struct race_strip_more *more = &shadow->more[number];
    const struct slot writes = {strip, more, &strip->write, &more->write};
    const struct race_cell *cell = &shadow->cells[word];
    unsigned place = word % RACE_STRIP_WORDS;
    const struct race_access *write = &cell->write;
    const struct race_strip_access access = {.block = write->block,
                                             .stamp = write->stamp,
                                             .line = write->line,
                                             .thread = (int16_t)(write->thread - (place >> shift)),
                                             .words = (uint8_t)(1u << place),
                                             .flags = write->flags & 0x3f,
                                             .shift = shift & 3};
    bool is_last = write->bytes == (1u << RACE_CELL_BYTES) - 1 && cell->reads[0].bytes == 0 &&
                   cell->reads[1].bytes == 0;
    if (!(strip->split & access.words) || !is_last || cell->run != strip->run ||
        !fits(&writes, &access, access.words))
        return;
    put(&writes, &access, access.words);
    strip->split &= (uint8_t)~access.words;
    shadow->values[word] = write->value;
}
