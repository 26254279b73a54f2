/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of single lanes, word by word.
 */
#include "cudart/core/code/race_access.h"

#include <string.h>

#include "cudart/core/code/race_memory.h"
#include "scheduler/scheduler.h"

/* ---- one thread, word by word ---- */

/* The strip of shared memory; what another block has done there is forgotten. */
struct race_strip *crt_race_enter_shared(const struct crt_running_block *owner, uint64_t word)
{
    struct race_strip *strip = &owner->shadow.strips[word / RACE_STRIP_WORDS];
    if (strip->run == owner->races.run)
        return strip;
    strip->run = owner->races.run;
    strip->split = strip->write.bytes = strip->read.bytes = 0;
    strip->has_more = strip->has_before = false;
    return strip;
}

/* In a cell of shared memory no other worker looks. */
static bool check_shared(const struct crt_race_access *access, uint64_t word,
                         struct race_access *found)
{
    const struct crt_running_block *owner = access->owner;
    crt_race_enter_shared(owner, word);
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
void crt_race_check_words(struct crt_race_access *access, uint64_t place)
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

/* What is done in a word that is locked, unless it races, or may. */
bool crt_race_take_word(const struct crt_race_access *access, const struct race_shadow *shadow,
                        uint64_t word, const struct race_access *race)
{
    struct crt_running_block *running = access->running;
    if (access->owner) {
        crt_race_enter_shared(access->owner, word);
        return race_cell_take(race_shadow_cell(shadow, word), access->owner->races.run,
                              &running->races, race);
    }
    struct race_cell *cell = race_shadow_cell(shadow, word);
    return (cell->run == running->work || crt_race_work_is_before(running, cell->run)) &&
           race_cell_take(cell, running->work, &running->races, race);
}

/* Copies and fills of whole pages, which the bytes lie in. */
uint32_t crt_race_find_page_race(const struct crt_race_access *access, uint64_t place,
                                 uint64_t bytes, struct race_access *found)
{
    uint8_t flags = access->race.flags;
    uint32_t other = crt_race_enter_page(place, access->running, flags, found);
    if (other == 0 && !crt_race_is_in_page(place, bytes))
        other = crt_race_enter_page(place + bytes - 1, access->running, flags, found);
    return other;
}

static void check_pages(const struct crt_race_access *access, uint64_t place)
{
    struct race_access found;
    uint32_t other = crt_race_find_page_race(access, place, access->bytes, &found);
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
bool crt_race_find_memory(struct crt_race_access *access, uint64_t address, uint64_t bytes,
                          uint64_t *place)
{
    access->owner = find_owner(access, address, bytes, place);
    return access->owner || crt_race_place(address, bytes, place);
}

/* ---- lanes, one after the other ---- */

uint64_t crt_race_address_of(const struct crt_race_row *row, unsigned lane)
{
    return row->addresses ? row->addresses[lane] : row->access.address + lane * row->stride;
}

uint64_t crt_race_value_of(const struct crt_race_row *row, unsigned lane)
{
    uint64_t value = 0;
    if (row->values)
        memcpy(&value, row->values + lane * row->access.bytes, row->access.bytes);
    return value;
}

struct crt_race_access crt_race_access_of(const struct crt_race_row *row, unsigned lane)
{
    struct crt_race_access access = row->access;
    access.thread =
        (const struct rt_thread *)((const char *)access.thread + (size_t)lane * RT_THREAD_STRIDE);
    access.race.thread = (uint16_t)(access.race.thread + lane);
    access.address = crt_race_address_of(row, lane);
    access.value = crt_race_value_of(row, lane);
    return access;
}

void crt_race_access_alone(const struct crt_race_row *row, unsigned lane)
{
    struct crt_race_access access = crt_race_access_of(row, lane);
    uint64_t place;
    if (!crt_race_find_memory(&access, access.address, access.bytes, &place))
        return;
    if (!access.owner)
        check_pages(&access, place);
    crt_race_check_words(&access, place);
}

/* Bytes of the word in which they begin, a bit for each. */
uint8_t crt_race_bytes_in_word(uint64_t bytes, uint64_t place)
{
    unsigned all = bytes >= RACE_CELL_BYTES ? RACE_CELL_BYTES : (unsigned)bytes;
    return (uint8_t)(((1u << all) - 1) << place % RACE_CELL_BYTES);
}
