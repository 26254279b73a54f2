/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to a strip's bytes at once, and the way to their cells and back.
 */
#include "cudart/core/races/strip_forms.h"

/* ---- a word's cell ---- */

/* Of a word whose bytes several threads have accessed, the last one's. */
static struct race_access access_of(const struct race_strip_access *strip, unsigned word,
                                    uint32_t value)
{
    unsigned first = word * RACE_CELL_BYTES;
    uint64_t bytes = strip->bytes & race_bytes_of_word(word);
    if (bytes == 0)
        return (struct race_access){0};
    unsigned last = race_last_of(bytes);
    bytes &= race_bytes_of_unit(strip, last);
    return (struct race_access){.block = strip->block,
                                .stamp = strip->stamp,
                                .line = strip->line + (uint32_t)strip->lines[word],
                                .value = strip->flags & RACE_VALUE ? value : 0,
                                .thread = (uint16_t)race_strip_thread(strip, last),
                                .bytes = (uint8_t)(bytes >> first),
                                .flags = strip->flags};
}

static uint64_t bytes_of_more(const struct race_strip_more *more)
{
    return more->write.bytes | more->read.bytes | more->seconds[0].bytes | more->seconds[1].bytes;
}

static void free_more(struct race_strip *strip, const struct race_strip_more *more)
{
    if (strip->has_more)
        strip->has_more = bytes_of_more(more) != 0;
}

static void drop_reads(struct race_strip *strip, struct race_strip_more *more, uint64_t bytes)
{
    strip->read.bytes &= ~bytes;
    if (!strip->has_more)
        return;
    more->read.bytes &= ~bytes;
    more->seconds[0].bytes &= ~bytes;
    more->seconds[1].bytes &= ~bytes;
    free_more(strip, more);
}

static void drop(struct race_strip *strip, struct race_strip_more *more, uint64_t bytes)
{
    strip->write.bytes &= ~bytes;
    if (strip->has_more)
        more->write.bytes &= ~bytes;
    drop_reads(strip, more, bytes);
}

void race_shadow_forget(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes)
{
    struct race_strip *before = &shadow->before[strip];
    struct race_strip_more *more = &shadow->more_before[strip];
    drop(before, more, bytes);
    shadow->strips[strip].has_before = race_strip_bytes(before, more) != 0;
}

static const struct race_strip_access *one_with(const struct race_strip_access *one,
                                                const struct race_strip_access *other,
                                                bool has_other, uint64_t bytes)
{
    return has_other && other->bytes & bytes ? other : one;
}

struct race_cell race_shadow_look(const struct race_shadow *shadow, uint64_t word)
{
    uint64_t number = word / RACE_STRIP_WORDS;
    const struct race_strip *strip = &shadow->strips[number];
    const struct race_strip_more *more = &shadow->more[number];
    unsigned place = word % RACE_STRIP_WORDS;
    uint64_t bytes = race_bytes_of_word(place);
    if (strip->split & bytes)
        return shadow->cells[word];
    if (!(race_strip_bytes(strip, more) & bytes) &&
        race_shadow_before(shadow, number, bytes) != 0) {
        strip = &shadow->before[number];
        more = &shadow->more_before[number];
    }
    const struct race_strip_access *write =
        one_with(&strip->write, &more->write, strip->has_more, bytes);
    const struct race_strip_access *read =
        one_with(&strip->read, &more->read, strip->has_more, bytes);
    struct race_cell cell = {.run = strip->run,
                             .write = access_of(write, place, shadow->values[word]),
                             .reads[0] = access_of(read, place, 0)};
    if (strip->has_more)
        cell.reads[1] =
            access_of(one_with(&more->seconds[0], &more->seconds[1], true, bytes), place, 0);
    return cell;
}

static void take_words(_Atomic uint64_t *settled, uint64_t words)
{
    uint64_t all = atomic_load_explicit(settled, memory_order_relaxed);
    if (all & words)
        atomic_store_explicit(settled, all & ~words, memory_order_relaxed);
}

static void unsettle(const struct race_shadow *shadow, uint64_t strip, uint64_t words)
{
    struct race_settled *settled = &shadow->settled[strip];
    take_words(&settled->run, words);
    take_words(&settled->block, words);
    for (unsigned i = 0; i < RACE_WARPS_BESIDE; i++)
        take_words(&settled->warps[i], words);
}

struct race_cell *race_shadow_cell(const struct race_shadow *shadow, uint64_t word)
{
    uint64_t number = word / RACE_STRIP_WORDS;
    struct race_strip *strip = &shadow->strips[number];
    uint64_t bytes = race_bytes_of_word(word % RACE_STRIP_WORDS);
    struct race_cell *cell = &shadow->cells[word];
    unsettle(shadow, number, UINT64_C(1) << word % RACE_STRIP_WORDS);
    if (strip->split & bytes)
        return cell;
    *cell = race_shadow_look(shadow, word);
    strip->split |= bytes;
    drop(strip, &shadow->more[number], bytes);
    if (strip->has_before)
        race_shadow_forget(shadow, number, bytes);
    return cell;
}

static void split(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes)
{
    while (bytes != 0) {
        unsigned word = race_first_of(bytes) / RACE_CELL_BYTES;
        race_shadow_cell(shadow, strip * RACE_STRIP_WORDS + word);
        bytes &= ~race_bytes_of_word(word);
    }
}

/* Parts of words would be of two runs. */
static uint64_t whole_words(uint64_t bytes)
{
    uint64_t first = (bytes | bytes >> 1 | bytes >> 2 | bytes >> 3) & UINT64_C(0x1111111111111111);
    return first * RACE_WORD_BYTES;
}

void race_shadow_begin(const struct race_shadow *shadow, uint64_t number, uint32_t run,
                       uint64_t bytes)
{
    struct race_strip *strip = &shadow->strips[number];
    uint64_t others = race_strip_bytes(strip, &shadow->more[number]) & ~bytes;
    unsettle(shadow, number, RACE_SETTLED_WORDS);
    if (others != 0) {
        struct race_strip *before = &shadow->before[number];
        struct race_strip_more *more = &shadow->more_before[number];
        if (strip->has_before)
            split(shadow, number, whole_words(race_strip_bytes(before, more) & ~bytes));
        *before = *strip;
        if (strip->has_more)
            *more = shadow->more[number];
        drop(before, more, bytes);
        strip->has_before = true;
    }
    strip->run = run;
    strip->has_more = false;
    strip->write.bytes = strip->read.bytes = 0;
}

/* ---- who comes before whom ---- */

/* Whether no byte has been accessed by its own thread, and nothing has been ordered since. */
static bool are_beside(const struct race_block *block, const struct race_strip_access *access,
                       const struct race_strip_access *earlier)
{
    return earlier->stamp == block->now && access->thread != earlier->thread &&
           access->step == earlier->step &&
           (access->step == 0 ||
            (access->unit == earlier->unit && access->offset == earlier->offset));
}

/* Whether all warps with threads of the access know all that the block did at that stamp. */
static bool all_know(const struct race_block *block, const struct race_strip_access *access,
                     uint64_t bytes, uint32_t stamp)
{
    uint32_t a = race_strip_thread(access, race_first_of(bytes)) / RT_WARP_SIZE;
    uint32_t b = race_strip_thread(access, race_last_of(bytes)) / RT_WARP_SIZE;
    for (uint32_t warp = a < b ? a : b; warp <= (a < b ? b : a); warp++)
        if (stamp >= block->warps[warp].row.block)
            return false;
    return true;
}

/* Bytes of which all or none come behind what their warp knows; false: not known at once. */
static bool find_before(const struct race_block *block, const struct race_strip_access *access,
                        const struct race_strip_access *earlier, uint64_t bytes, uint64_t *before)
{
    uint32_t warp, other;
    *before = bytes;
    if (access->flags & RACE_ARRIVES)
        return true;
    if (earlier->flags & RACE_PENDING) {
        *before = 0;
        return true;
    }
    if (race_is_of_same_threads(access, earlier))
        return true;
    bool is_of_other_block = earlier->block != block->index;
    if (!is_of_other_block && all_know(block, access, bytes, earlier->stamp))
        return true;
    if (!is_of_other_block && are_beside(block, access, earlier)) {
        *before = 0;
        return true;
    }
    if (!race_is_of_one_warp(access, bytes, &warp))
        return false;
    const struct race_row *row = &block->warps[warp].row;
    if (is_of_other_block) {
        *before = 0;
        return !race_knows_others(&row->others);
    }
    return race_is_of_one_warp(earlier, bytes, &other) && earlier->stamp < row->warps[other];
}

/* Of these bytes, those whose earlier access comes before this one. */
static uint64_t bytes_before(const struct race_block *block, const struct race_strip_access *access,
                             const struct race_strip_access *earlier, uint64_t bytes)
{
    uint64_t before = 0;
    if (bytes == 0 || find_before(block, access, earlier, bytes, &before))
        return before;
    before = 0;
    while (bytes != 0) {
        unsigned byte = race_first_of(bytes);
        uint64_t units = race_first_units(access, earlier, bytes);
        if (race_is_before(block, race_strip_thread(access, byte), earlier->block,
                           race_strip_thread(earlier, byte), earlier->stamp))
            before |= units;
        bytes &= ~units;
    }
    return before;
}

/* Unless both write the same, which cells find out. */
static bool may_race(const struct race_block *block, const struct race_strip_access *access,
                     const struct race_strip_access *earlier)
{
    uint64_t bytes = access->bytes & earlier->bytes;
    return bytes != 0 &&
           !race_are_strong(access->flags, access->block, earlier->flags, earlier->block) &&
           bytes_before(block, access, earlier, bytes) != bytes;
}

/* Whether all lanes of a warp that knows so much of its block come behind it. */
static bool is_behind(const struct race_block *block, uint32_t known,
                      const struct race_strip_access *earlier)
{
    return earlier->bytes == 0 || (earlier->block == block->index && earlier->stamp < known &&
                                   !(earlier->flags & RACE_PENDING));
}

/* ---- what is kept ---- */

/* The strip's writes, or first or second reads. */
struct slot {
    struct race_strip *strip;
    struct race_strip_more *more;
    struct race_strip_access *one;
    struct race_strip_access *other; /* if it has more */
};

static bool has_other(const struct slot *slot)
{
    return slot->strip->has_more;
}

static uint64_t bytes_in(const struct slot *slot)
{
    return slot->one->bytes | (has_other(slot) ? slot->other->bytes : 0);
}

static bool fits(const struct slot *slot, const struct race_strip_access *access, uint64_t bytes)
{
    struct race_strip_access joined;
    return bytes == 0 || race_strip_takes(slot->one, access, bytes, &joined) ||
           !slot->strip->has_more || race_strip_takes(slot->other, access, bytes, &joined);
}

static void put_one(struct race_strip_access *place, const struct race_strip_access *joined,
                    uint64_t bytes)
{
    uint64_t others = place->bytes;
    *place = *joined;
    place->bytes = bytes | others;
}

/* False: it cannot stand there beside others. */
static bool add(struct race_strip_access *place, const struct race_strip_access *access)
{
    struct race_strip_access joined;
    if ((place->bytes & ~access->bytes) == 0) {
        *place = *access;
        return true;
    }
    if (!race_strip_takes(place, access, access->bytes, &joined))
        return false;
    put_one(place, &joined, access->bytes);
    return true;
}

static void make_more(struct race_strip *strip, struct race_strip_more *more)
{
    if (!strip->has_more)
        more->write.bytes = more->read.bytes = more->seconds[0].bytes = more->seconds[1].bytes = 0;
    strip->has_more = true;
}

/* Where others stand alike, if anywhere: what is free may be wanted by those to come. */
static void put(const struct slot *slot, const struct race_strip_access *access, uint64_t bytes)
{
    struct race_strip_access joined;
    if (bytes == 0)
        return;
    slot->one->bytes &= ~bytes;
    if (has_other(slot)) {
        slot->other->bytes &= ~bytes;
        if (slot->other->bytes != 0 && race_strip_takes(slot->other, access, bytes, &joined)) {
            put_one(slot->other, &joined, bytes);
            return;
        }
    }
    if (race_strip_takes(slot->one, access, bytes, &joined)) {
        put_one(slot->one, &joined, bytes);
        return;
    }
    make_more(slot->strip, slot->more);
    put_one(slot->other, access, bytes);
}

static bool keep_write(const struct slot *writes, const struct race_strip_access *access)
{
    bool is_added = !writes->strip->has_more && add(writes->one, access);
    if (!is_added && !fits(writes, access, access->bytes))
        return false;
    if (!is_added)
        put(writes, access, access->bytes);
    drop_reads(writes->strip, writes->more, access->bytes);
    return true;
}

/* Bytes whose read in the slot is of the access's warp. */
static uint64_t bytes_of_warp(const struct slot *slot, const struct race_strip_access *access,
                              uint64_t bytes)
{
    uint64_t same = race_bytes_of_same_warp(access, slot->one, bytes & slot->one->bytes);
    if (has_other(slot))
        same |= race_bytes_of_same_warp(access, slot->other, bytes & slot->other->bytes);
    return same;
}

/* Bytes whose read in the slot is none, or comes before the access. */
static uint64_t free_bytes(const struct slot *slot, const struct race_block *block,
                           const struct race_strip_access *access, uint64_t bytes)
{
    uint64_t are_free = bytes & ~bytes_in(slot);
    if (bytes & slot->one->bytes)
        are_free |= bytes_before(block, access, slot->one, bytes & slot->one->bytes);
    if (has_other(slot))
        are_free |= bytes_before(block, access, slot->other, bytes & slot->other->bytes);
    return are_free;
}

/* Each byte's read goes where it would in a cell: where the earlier one comes before it, else where
 * that is of its warp. */
static bool keep_read(const struct slot *first, const struct slot *second,
                      const struct race_block *block, const struct race_strip_access *access)
{
    uint64_t to_first = free_bytes(first, block, access, access->bytes);
    uint64_t to_second = 0;
    uint64_t rest = access->bytes & ~to_first;
    if (rest != 0) {
        to_second = free_bytes(second, block, access, rest);
        rest &= ~to_second;
        uint64_t same = bytes_of_warp(first, access, rest);
        to_first |= same;
        to_second |= rest & ~same;
    }
    if (!fits(first, access, to_first) || !fits(second, access, to_second))
        return false;
    put(first, access, to_first);
    put(second, access, to_second);
    return true;
}

/* What most reads find: the bytes have not been read, or it comes behind that. */
static bool reads_first(struct race_strip *strip, const struct race_block *block,
                        const struct race_strip_access *access)
{
    uint64_t both = access->bytes & strip->read.bytes;
    return (both == 0 || bytes_before(block, access, &strip->read, both) == both) &&
           add(&strip->read, access);
}

static bool reads(struct race_strip *strip, struct race_strip_more *more,
                  const struct race_block *block, const struct race_strip_access *access)
{
    const struct slot first = {strip, more, &strip->read, &more->read};
    const struct slot second = {strip, more, &more->seconds[0], &more->seconds[1]};
    if (!strip->has_more && reads_first(strip, block, access))
        return true;
    make_more(strip, more);
    bool is_kept = keep_read(&first, &second, block, access);
    free_more(strip, more);
    return is_kept;
}

static bool may_race_with_writes(const struct race_strip *strip, const struct race_strip_more *more,
                                 const struct race_block *block,
                                 const struct race_strip_access *access)
{
    return may_race(block, access, &strip->write) ||
           (strip->has_more && may_race(block, access, &more->write));
}

static bool may_race_with_reads(const struct race_strip *strip, const struct race_strip_more *more,
                                const struct race_block *block,
                                const struct race_strip_access *access)
{
    return may_race(block, access, &strip->read) ||
           (strip->has_more &&
            (may_race(block, access, &more->read) || may_race(block, access, &more->seconds[0]) ||
             may_race(block, access, &more->seconds[1])));
}

/* Whether cells may have to keep a strong write as a plain one. */
static bool may_hide(const struct race_block *block, const struct race_strip_access *access,
                     const struct race_strip_access *earlier)
{
    uint64_t bytes = access->bytes & earlier->bytes;
    if (earlier->flags & RACE_STRONG || earlier->block != block->index)
        return false;
    while (bytes != 0) {
        unsigned byte = race_first_of(bytes);
        if (!race_has_passed_on(block, race_strip_thread(earlier, byte), earlier->stamp))
            return true;
        bytes &= ~race_bytes_of_unit(earlier, byte);
    }
    return false;
}

static bool may_hide_writes(const struct race_strip *strip, const struct race_strip_more *more,
                            const struct race_block *block, const struct race_strip_access *access)
{
    return access->flags & RACE_STRONG &&
           (may_hide(block, access, &strip->write) ||
            (strip->has_more && may_hide(block, access, &more->write)));
}

bool race_strip_access(const struct race_shadow *shadow, uint64_t number,
                       const struct race_block *block, const struct race_strip_access *access)
{
    struct race_strip *strip = &shadow->strips[number];
    struct race_strip_more *more = &shadow->more[number];
    if (may_race_with_writes(strip, more, block, access))
        return false;
    if (!(access->flags & RACE_WRITES))
        return reads(strip, more, block, access);
    const struct slot writes = {strip, more, &strip->write, &more->write};
    if (may_race_with_reads(strip, more, block, access) ||
        may_hide_writes(strip, more, block, access) || !keep_write(&writes, access))
        return false;
    unsettle(shadow, number, RACE_SETTLED_WORDS);
    return true;
}

/* ---- all of a strip ---- */

static bool are_behind(const struct race_strip *strip, const struct race_strip_more *more,
                       const struct race_block *block, uint32_t known)
{
    return is_behind(block, known, &strip->write) && is_behind(block, known, &strip->read) &&
           (!strip->has_more ||
            (is_behind(block, known, &more->write) && is_behind(block, known, &more->read) &&
             is_behind(block, known, &more->seconds[0]) &&
             is_behind(block, known, &more->seconds[1])));
}

bool race_strip_access_all(const struct race_shadow *shadow, uint64_t number, uint32_t run,
                           const struct race_block *block, const struct race_strip_access *access)
{
    struct race_strip *strip = &shadow->strips[number];
    bool is_write = access->flags & RACE_WRITES;
    uint32_t known = block->warps[race_strip_thread(access, 0) / RT_WARP_SIZE].row.block;
    if (strip->has_before || strip->split != 0)
        return false;
    if (strip->run == run && (!is_write || !are_behind(strip, &shadow->more[number], block, known)))
        return false;
    unsettle(shadow, number, RACE_SETTLED_WORDS);
    strip->run = run;
    strip->has_more = false;
    strip->write.bytes = strip->read.bytes = 0;
    *(is_write ? &strip->write : &strip->read) = *access;
    return true;
}

/* ---- lanes at one place ---- */

/* As race_cell_is_for_lanes. */
static bool is_harmless(const struct race_block *block, uint32_t warp,
                        const struct race_strip_access *access,
                        const struct race_strip_access *earlier)
{
    uint64_t bytes = access->bytes & earlier->bytes;
    if (bytes == 0 || race_are_strong(access->flags, access->block, earlier->flags, earlier->block))
        return true;
    if (earlier->flags & RACE_PENDING)
        return false;
    if (is_behind(block, block->warps[warp].row.block, earlier))
        return true;
    while (bytes != 0) {
        unsigned byte = race_first_of(bytes);
        if (!race_is_before_warp(block, warp, earlier->block, race_strip_thread(earlier, byte),
                                 earlier->stamp))
            return false;
        bytes &= ~race_bytes_of_unit(earlier, byte);
    }
    return true;
}

static bool are_harmless(const struct race_strip *strip, const struct race_strip_more *more,
                         const struct race_block *block, const struct race_strip_access *access)
{
    uint32_t warp = (uint32_t)access->thread / RT_WARP_SIZE;
    bool is_write = access->flags & RACE_WRITES;
    return is_harmless(block, warp, access, &strip->write) &&
           (!is_write || is_harmless(block, warp, access, &strip->read)) &&
           (!strip->has_more ||
            (is_harmless(block, warp, access, &more->write) &&
             (!is_write || (is_harmless(block, warp, access, &more->read) &&
                            is_harmless(block, warp, access, &more->seconds[0]) &&
                            is_harmless(block, warp, access, &more->seconds[1])))));
}

/* What most find: nobody has read the bytes. */
static bool add_two_reads(struct race_strip *strip, struct race_strip_more *more,
                          const struct race_strip_access *first,
                          const struct race_strip_access *second)
{
    uint64_t bytes = first->bytes;
    struct race_strip_access joined;
    make_more(strip, more);
    if ((strip->read.bytes | more->read.bytes | more->seconds[0].bytes | more->seconds[1].bytes) &
            bytes ||
        !race_strip_takes(&more->seconds[0], second, bytes, &joined) || !add(&strip->read, first)) {
        free_more(strip, more);
        return false;
    }
    put_one(&more->seconds[0], &joined, bytes);
    return true;
}

bool race_strip_access_lanes(const struct race_shadow *shadow, uint64_t number,
                             const struct race_block *block, const struct race_strip_access *access,
                             uint32_t first)
{
    struct race_strip *strip = &shadow->strips[number];
    struct race_strip_more *more = &shadow->more[number];
    struct race_strip_access lowest = *access;
    lowest.thread = (int16_t)first;
    if (!are_harmless(strip, more, block, access))
        return false;
    if (access->flags & RACE_WRITES)
        return race_strip_access(shadow, number, block, access);
    if (add_two_reads(strip, more, access, &lowest))
        return true;
    struct race_strip was = *strip;
    struct race_strip_more more_was = {0};
    if (strip->has_more)
        more_was = *more;
    if (race_strip_access(shadow, number, block, access) &&
        race_strip_access(shadow, number, block, &lowest))
        return true;
    *strip = was;
    if (strip->has_more)
        *more = more_was;
    return false;
}

/* ---- to cells and back ---- */

bool race_shadow_may_take(const struct race_shadow *shadow, uint64_t strip, uint64_t bytes,
                          const struct race_block *block, const struct race_strip_access *access)
{
    if (bytes == 0 || !(access->flags & RACE_WRITES) || (bytes & ~access->bytes) != 0)
        return bytes == 0;
    for (; bytes != 0; bytes &= ~race_bytes_of_word(race_first_of(bytes) / RACE_CELL_BYTES)) {
        unsigned word = race_first_of(bytes) / RACE_CELL_BYTES;
        const struct race_access alone = access_of(access, word, 0);
        if (alone.bytes != RACE_WORD_BYTES ||
            !race_cell_is_harmless(&shadow->cells[strip * RACE_STRIP_WORDS + word], block, &alone))
            return false;
    }
    return true;
}

void race_shadow_join(const struct race_shadow *shadow, uint64_t word,
                      const struct race_strip_access *form)
{
    struct race_strip *strip = &shadow->strips[word / RACE_STRIP_WORDS];
    struct race_strip_more *more = &shadow->more[word / RACE_STRIP_WORDS];
    const struct slot writes = {strip, more, &strip->write, &more->write};
    const struct race_cell *cell = &shadow->cells[word];
    unsigned first = word % RACE_STRIP_WORDS * RACE_CELL_BYTES;
    const struct race_access *write = &cell->write;
    struct race_strip_access access = *form;
    access.bytes = race_bytes_of_word(word % RACE_STRIP_WORDS);
    access.block = write->block;
    access.stamp = write->stamp;
    access.line = write->line - (uint32_t)form->lines[word % RACE_STRIP_WORDS];
    access.flags = write->flags;
    access.thread = (int16_t)(form->thread + write->thread - (int)race_strip_thread(form, first));
    bool is_last =
        write->bytes == RACE_WORD_BYTES && cell->reads[0].bytes == 0 && cell->reads[1].bytes == 0;
    if (!(strip->split & access.bytes) || !is_last || cell->run != strip->run ||
        !race_is_of_one_thread(&access, access.bytes) || !fits(&writes, &access, access.bytes))
        return;
    put(&writes, &access, access.bytes);
    strip->split &= ~access.bytes;
    shadow->values[word] = write->value;
}
