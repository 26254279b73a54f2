/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of lanes: those to neighbouring words by strips, others word by word.
 */
#include "cudart/core/code/race_access.h"

#include <string.h>

#include "cudart/core/code/race_memory.h"
#include "scheduler/scheduler.h"

/* ---- one thread, word by word ---- */

/* The strip of shared memory; what another block has done there is forgotten. */
static struct race_strip *enter_shared(const struct crt_running_block *owner, uint64_t word)
{
    struct race_strip *strip = &owner->shadow.strips[word / RACE_STRIP_WORDS];
    if (strip->run != owner->races.run)
        *strip = (struct race_strip){.run = owner->races.run};
    return strip;
}

/* In a cell of shared memory no other worker looks. */
static bool check_shared(const struct crt_race_access *access, uint64_t word,
                         struct race_access *found)
{
    const struct crt_running_block *owner = access->owner;
    enter_shared(owner, word);
    const struct race_access *race =
        race_cell_access(race_shadow_cell(&owner->shadow, word), owner->races.run,
                         &access->running->races, &access->race);
    if (race)
        *found = *race;
    return race != NULL;
}

/* *other: the work that the access is of that it races with; 0: its own launch. */
static bool check_global(const struct crt_race_access *access, uint64_t place,
                         struct race_access *found, uint32_t *other)
{
    struct crt_running_block *running = access->running;
    const struct race_access *race = NULL;
    struct race_cell *cell = crt_race_lock_cell(place);
    if (cell->run != running->work && !crt_race_work_is_before(running, cell->run)) {
        race = race_cell_conflict(cell, &access->race);
        if (race) {
            *other = cell->run;
            *found = *race;
        }
    }
    bool is_race = race != NULL;
    race = race_cell_access(cell, running->work, &running->races, &access->race);
    if (race) {
        *other = 0;
        *found = *race;
    }
    crt_race_unlock(place);
    return is_race || race;
}

/* Bytes [first, first + count) of what is written, from byte `place` of a word on. */
static uint32_t word_of(uint64_t value, uint64_t first, unsigned count, unsigned place)
{
    if (first >= sizeof value)
        return 0;
    uint64_t bytes = value >> (8 * first) & ((UINT64_C(1) << (8 * count)) - 1);
    return (uint32_t)(bytes << (8 * place));
}

/* place: in the memory of which the cells are. */
static void check_words(struct crt_race_access *access, uint64_t place)
{
    struct race_access found = {0};
    uint32_t other = 0;
    bool is_race = false;
    for (uint64_t done = 0; done < access->bytes;) {
        unsigned from = (place + done) % RACE_CELL_BYTES;
        uint64_t left = access->bytes - done;
        unsigned here = RACE_CELL_BYTES - from;
        if (here > left)
            here = (unsigned)left;
        access->race.bytes = (uint8_t)(((1u << here) - 1) << from);
        access->race.value = word_of(access->value, done, here, from);
        if (access->owner)
            is_race |= check_shared(access, (place + done) / RACE_CELL_BYTES, &found);
        else
            is_race |= check_global(access, place + done, &found, &other);
        done += here;
    }
    if (is_race && other != 0)
        crt_race_add_stream_finding(access, other, &found);
    else if (is_race)
        crt_race_add_finding(access, &found);
}

/* Copies and fills of whole pages, which the bytes lie in. */
static uint32_t find_page_race(const struct crt_race_access *access, uint64_t place, uint64_t bytes,
                               struct race_access *found)
{
    uint8_t flags = access->race.flags;
    uint32_t other = crt_race_enter_page(place, access->running, flags, found);
    if (other == 0 && bytes > 1)
        other = crt_race_enter_page(place + bytes - 1, access->running, flags, found);
    return other;
}

static void check_pages(const struct crt_race_access *access, uint64_t place)
{
    struct race_access found;
    uint32_t other = find_page_race(access, place, access->bytes, &found);
    if (other != 0)
        crt_race_add_stream_finding(access, other, &found);
}

/* ---- whose memory it is ---- */

/* Whether all of it lies in this memory; *place: where. */
static bool is_within(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t size_bytes,
                      uint64_t *place)
{
    *place = address - begin;
    return *place < size_bytes && bytes <= size_bytes - *place;
}

static bool is_in_shared(uint64_t address, uint64_t bytes, const struct rt_block *rt,
                         const struct crt_running_block *owner, uint64_t *place)
{
    return is_within(address, bytes, (uint64_t)(uintptr_t)rt->shared,
                     (uint64_t)owner->word_count * RACE_CELL_BYTES, place);
}

/* The block of the thread's cluster in whose shared memory it lies, and where; NULL: in none. */
static struct crt_running_block *find_owner(const struct crt_race_access *access, uint64_t address,
                                            uint64_t bytes, uint64_t *place)
{
    const struct rt_block *rt = access->thread->block;
    struct crt_running_block *owner = access->running;
    if (is_in_shared(address, bytes, rt, owner, place))
        return owner;
    if (rt->launch->cluster_blocks < 2)
        return NULL;
    const struct rt_block *other = sch_find_block(access->thread, address, bytes);
    owner = other ? crt_running_beside(other) : NULL;
    return owner && is_in_shared(address, bytes, other, owner, place) ? owner : NULL;
}

/* False: a thread's own, or memory that nobody checks here: the host's. */
static bool find_memory(struct crt_race_access *access, uint64_t address, uint64_t bytes,
                        uint64_t *place)
{
    access->owner = find_owner(access, address, bytes, place);
    return access->owner || crt_race_place(address, bytes, place);
}

/* ---- lanes, one after the other ---- */

static uint64_t address_of(const struct crt_race_row *row, unsigned lane)
{
    return row->addresses ? row->addresses[lane] : row->access.address + lane * row->stride;
}

static uint64_t value_of(const struct crt_race_row *row, unsigned lane)
{
    uint64_t value = 0;
    if (row->values)
        memcpy(&value, row->values + lane * row->access.bytes, row->access.bytes);
    return value;
}

static struct crt_race_access access_of(const struct crt_race_row *row, unsigned lane)
{
    struct crt_race_access access = row->access;
    access.thread =
        (const struct rt_thread *)((const char *)access.thread + (size_t)lane * RT_THREAD_STRIDE);
    access.race.thread = (uint16_t)(access.race.thread + lane);
    access.address = address_of(row, lane);
    access.value = value_of(row, lane);
    return access;
}

static void access_lanes(const struct crt_race_row *row, uint64_t lanes)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        struct crt_race_access access = access_of(row, (unsigned)__builtin_ctzll(lanes));
        uint64_t place;
        if (!find_memory(&access, access.address, access.bytes, &place))
            continue;
        if (!access.owner)
            check_pages(&access, place);
        check_words(&access, place);
    }
}

/* Whether it is an access as instructions do, which lies in one strip. */
static bool is_natural(uint64_t address, uint64_t bytes)
{
    return bytes != 0 && bytes <= RACE_STRIP_BYTES && (bytes & (bytes - 1)) == 0 &&
           address % bytes == 0;
}

/* ---- lanes side by side ---- */

/* Part of a row in one strip. */
struct part {
    const struct race_shadow *shadow;
    uint64_t strip;
    int lane; /* of its first word, were it one of them */
    unsigned shift;
    unsigned words;
};

static void lock_part(const struct crt_race_row *row, const struct part *part)
{
    if (!row->access.owner)
        crt_race_lock(part->strip * RACE_STRIP_BYTES);
}

static void unlock_part(const struct crt_race_row *row, const struct part *part)
{
    if (!row->access.owner)
        crt_race_unlock(part->strip * RACE_STRIP_BYTES);
}

/* Words of these lanes, the first one's lowest. */
static unsigned words_of(unsigned lanes, unsigned shift)
{
    unsigned words = 0;
    if (shift == 0)
        return lanes;
    for (; lanes != 0; lanes &= lanes - 1)
        words |= ((1u << (1u << shift)) - 1) << ((unsigned)__builtin_ctz(lanes) << shift);
    return words;
}

static void put_values(const struct crt_race_row *row, const struct part *part)
{
    uint32_t *to = &part->shadow->values[part->strip * RACE_STRIP_WORDS];
    const char *from = row->values + part->lane * (int64_t)row->access.bytes;
    if (part->words == RACE_STRIP_ALL) {
        memcpy(to, from, RACE_STRIP_BYTES);
        return;
    }
    for (unsigned rest = part->words; rest != 0; rest &= rest - 1) {
        unsigned word = (unsigned)__builtin_ctz(rest);
        memcpy(&to[word], from + (size_t)word * sizeof *to, sizeof *to);
    }
}

/* Whether the words stand in the strip, of the running block's run, or can: what another run has
 * done comes before, and other words' accesses by it go to their cells. */
static bool enter_global(const struct part *part, struct crt_running_block *running)
{
    struct race_strip *strip = &part->shadow->strips[part->strip];
    const struct race_cell *cells = &part->shadow->cells[part->strip * RACE_STRIP_WORDS];
    if (strip->run != running->work) {
        if (strip->run != 0 && !crt_race_work_is_before(running, strip->run))
            return false;
        race_shadow_split(part->shadow, part->strip, ~part->words);
        *strip = (struct race_strip){.run = running->work, .split = strip->split};
    }
    for (unsigned rest = part->words & strip->split; rest != 0; rest &= rest - 1) {
        unsigned word = (unsigned)__builtin_ctz(rest);
        if (cells[word].run == running->work || !crt_race_work_is_before(running, cells[word].run))
            return false;
        strip->split &= (uint8_t)~(1u << word);
    }
    return true;
}

static bool is_in_strip(const struct part *part, const struct crt_running_block *owner)
{
    return !(enter_shared(owner, part->strip * RACE_STRIP_WORDS)->split & part->words);
}

/* False: word by word. */
static bool access_part(const struct crt_race_row *row, const struct part *part)
{
    struct crt_running_block *running = row->access.running;
    const struct race_access *race = &row->access.race;
    const struct race_strip_access access = {.block = race->block,
                                             .stamp = race->stamp,
                                             .line = race->line,
                                             .thread = (int16_t)(race->thread + part->lane),
                                             .words = (uint8_t)part->words,
                                             .flags = race->flags & 0x3f,
                                             .shift = part->shift & 3};
    if (row->access.owner ? !is_in_strip(part, row->access.owner) : !enter_global(part, running))
        return false;
    if (!race_strip_access(&part->shadow->strips[part->strip], &running->races, &access))
        return false;
    if (row->values)
        put_values(row, part);
    return true;
}

/* What lanes have written word by word stands in strips again. */
static void join_part(const struct crt_race_row *row, const struct part *part)
{
    lock_part(row, part);
    for (unsigned rest = part->words; rest != 0; rest &= rest - 1)
        race_shadow_join(part->shadow,
                         part->strip * RACE_STRIP_WORDS + (unsigned)__builtin_ctz(rest),
                         part->shift);
    unlock_part(row, part);
}

static void access_part_by_lanes(struct crt_race_row *row, const struct part *part, uint64_t place,
                                 uint64_t lanes)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        struct crt_race_access access = access_of(row, lane);
        check_words(&access, place + lane * row->access.bytes);
    }
    if (row->access.race.flags & RACE_WRITES)
        join_part(row, part);
}

/* place: of lane 0, whether it takes part or not. */
static void access_strips(struct crt_race_row *row, uint64_t place, uint64_t end)
{
    const struct crt_running_block *owner = row->access.owner;
    unsigned shift = (unsigned)__builtin_ctzll(row->access.bytes / RACE_CELL_BYTES);
    unsigned lanes_max = RACE_STRIP_WORDS >> shift;
    uint64_t first = place + (uint64_t)__builtin_ctzll(row->lanes) * row->access.bytes;
    struct part part = {.shadow = owner ? &owner->shadow : crt_race_shadow(), .shift = shift};
    for (part.strip = first / RACE_STRIP_BYTES; part.strip * RACE_STRIP_BYTES < end; part.strip++) {
        part.lane =
            (int)((int64_t)(part.strip * RACE_STRIP_BYTES - place) / (int64_t)row->access.bytes);
        uint64_t lanes = part.lane < 0 ? row->lanes << -part.lane : row->lanes >> part.lane;
        lanes &= (UINT64_C(1) << lanes_max) - 1;
        part.words = words_of((unsigned)lanes, shift);
        if (lanes == 0)
            continue;
        lock_part(row, &part);
        bool is_done = access_part(row, &part);
        unlock_part(row, &part);
        if (!is_done)
            access_part_by_lanes(row, &part, place,
                                 part.lane < 0 ? lanes >> -part.lane : lanes << part.lane);
    }
}

/* False: not all of it is in one memory, or some copy or fill races with it. */
static bool access_neighbours(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t first = (uint64_t)__builtin_ctzll(row->lanes);
    uint64_t last = 63 - (uint64_t)__builtin_clzll(row->lanes);
    uint64_t begin = address_of(row, (unsigned)first);
    uint64_t bytes = (last - first + 1) * access->bytes;
    uint64_t place;
    struct race_access found;
    if (access->bytes < RACE_CELL_BYTES || !is_natural(begin, access->bytes) ||
        !find_memory(access, begin, bytes, &place))
        return false;
    if (!access->owner && find_page_race(access, place, bytes, &found) != 0)
        return false;
    access_strips(row, place - first * access->bytes, place + bytes);
    return true;
}

/* ---- lanes at one place ---- */

static bool can_be_told_together(const struct crt_race_row *row)
{
    unsigned first = (unsigned)__builtin_ctzll(row->lanes);
    unsigned last = 63 - (unsigned)__builtin_clzll(row->lanes);
    const struct race_access *race = &row->access.race;
    bool is_of_warp = (race->thread + first) / RT_WARP_SIZE == (race->thread + last) / RT_WARP_SIZE;
    return first != last && is_of_warp &&
           (!(race->flags & RACE_WRITES) || race->flags & RACE_STRONG);
}

static uint8_t bytes_in_word(uint64_t bytes, uint64_t place)
{
    unsigned all = bytes >= RACE_CELL_BYTES ? RACE_CELL_BYTES : (unsigned)bytes;
    return (uint8_t)(((1u << all) - 1) << place % RACE_CELL_BYTES);
}

/* Its words, which are locked. */
static bool access_place_locked(struct crt_race_row *row, const struct race_shadow *shadow,
                                uint32_t run, uint64_t place)
{
    const struct race_block *block = &row->access.running->races;
    uint64_t first = place / RACE_CELL_BYTES;
    uint64_t last = (place + row->access.bytes - 1) / RACE_CELL_BYTES;
    row->access.race.bytes = bytes_in_word(row->access.bytes, place);
    if (row->access.owner)
        enter_shared(row->access.owner, first);
    for (uint64_t word = first; word <= last; word++) {
        const struct race_cell *cell = race_shadow_cell(shadow, word);
        bool is_known = row->access.owner || cell->run == 0 ||
                        crt_race_work_is_before(row->access.running, cell->run);
        if (!is_known || !race_cell_is_for_lanes(cell, run, block, &row->access.race, row->lanes))
            return false;
    }
    for (uint64_t word = first; word <= last; word++)
        race_cell_access_lanes(&shadow->cells[word], run, block, &row->access.race, row->lanes);
    return true;
}

static bool access_place(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t address = address_of(row, (unsigned)__builtin_ctzll(row->lanes));
    uint64_t place;
    struct race_access found;
    if (!can_be_told_together(row) || !is_natural(address, access->bytes) ||
        !find_memory(access, address, access->bytes, &place))
        return false;
    if (access->owner)
        return access_place_locked(row, &access->owner->shadow, access->owner->races.run, place);
    if (find_page_race(access, place, access->bytes, &found) != 0)
        return false;
    crt_race_lock(place);
    bool is_done = access_place_locked(row, crt_race_shadow(), access->running->work, place);
    crt_race_unlock(place);
    return is_done;
}

/* ---- any lanes ---- */

/* Lanes from the first one on of which each is so far from the one before it; *lanes: the others.
 */
static uint64_t take_lanes(const struct crt_race_row *row, uint64_t *lanes, uint64_t *stride)
{
    uint64_t taken = *lanes & -*lanes;
    unsigned lane = (unsigned)__builtin_ctzll(*lanes);
    uint64_t rest = *lanes ^ taken;
    uint64_t last = row->addresses[lane];
    *stride = row->access.bytes;
    while (rest != 0 && (unsigned)__builtin_ctzll(rest) == lane + 1) {
        uint64_t distance = row->addresses[++lane] - last;
        bool is_first = (taken & (taken - 1)) == 0;
        if (is_first && distance == 0)
            *stride = 0;
        if (distance != *stride)
            break;
        last = row->addresses[lane];
        taken |= rest & -rest;
        rest &= rest - 1;
    }
    *lanes = rest;
    return taken;
}

static void access_together(struct crt_race_row *row)
{
    bool is_one = (row->lanes & (row->lanes - 1)) == 0;
    bool is_done = false;
    if (row->access.running->work == 0)
        is_done = false;
    else if (is_one || row->stride == row->access.bytes)
        is_done = access_neighbours(row);
    else if (row->stride == 0)
        is_done = access_place(row);
    if (!is_done)
        access_lanes(row, row->lanes);
}

void crt_race_access_row(struct crt_race_row *row)
{
    uint64_t lanes = row->lanes;
    if (!row->addresses) {
        access_together(row);
        return;
    }
    while (lanes != 0) {
        row->lanes = take_lanes(row, &lanes, &row->stride);
        access_together(row);
    }
}
