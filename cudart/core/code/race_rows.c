/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of lanes that have something in common: to neighbouring words, which strips are told of,
 * or to one place.
 */
#include <string.h>

#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_memory.h"

#define ALL_BYTES ((1u << RACE_CELL_BYTES) - 1)

/* Whether it is an access as instructions do, which lies in one strip. */
static bool is_natural(uint64_t address, uint64_t bytes)
{
    return bytes != 0 && bytes <= RACE_STRIP_BYTES && (bytes & (bytes - 1)) == 0 &&
           address % bytes == 0;
}

/* ---- lanes side by side ---- */

/* Rows come one after the other, so that the strips of later ones are asked for by now. */
#define STRIPS_AHEAD 8

/* Part of a row in one strip. */
struct part {
    const struct race_shadow *shadow;
    uint64_t strip;
    int lane; /* of its first word, were it one of them */
    unsigned shift;
    unsigned words;
};

/* Words of a lane, as a power of two. */
static unsigned shift_of(const struct crt_race_row *row)
{
    return (unsigned)__builtin_ctzll(row->access.bytes / RACE_CELL_BYTES);
}

/* The lane of the strip's first word, were it one of the row's, of which lane 0 is at `place`. */
static int lane_at(const struct crt_race_row *row, uint64_t place, uint64_t strip)
{
    int64_t distance = (int64_t)(strip * RACE_STRIP_BYTES - place);
    return (int)(distance >> __builtin_ctzll(row->access.bytes));
}

static uint64_t move_lanes(uint64_t lanes, int up)
{
    return up < 0 ? lanes >> -up : lanes << up;
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
        race_shadow_begin(part->shadow, part->strip, running->work, part->words);
    }
    uint32_t before = race_shadow_before(part->shadow, part->strip, part->words);
    if (before != 0) {
        if (!crt_race_work_is_before(running, before))
            return false;
        race_shadow_forget(part->shadow, part->strip, part->words);
    }
    for (unsigned rest = part->words & strip->split; rest != 0; rest &= rest - 1) {
        unsigned word = (unsigned)__builtin_ctz(rest);
        if (cells[word].run == running->work)
            continue;
        if (!crt_race_work_is_before(running, cells[word].run))
            return false;
        strip->split &= (uint8_t)~(1u << word);
    }
    return true;
}

/* False: word by word. */
static bool access_part(const struct crt_race_row *row, const struct part *part,
                        struct race_strip_access *access)
{
    struct crt_running_block *running = row->access.running;
    struct race_strip *strip = &part->shadow->strips[part->strip];
    access->thread = (int16_t)(row->access.race.thread + part->lane);
    access->words = (uint8_t)part->words;
    if (row->access.owner)
        crt_race_enter_shared(row->access.owner, part->strip * RACE_STRIP_WORDS);
    else if (!enter_global(part, running))
        return false;
    unsigned split = strip->split & part->words;
    if (split != 0 &&
        !race_shadow_may_take(part->shadow, part->strip, split, &running->races, access))
        return false;
    if (!race_strip_access(part->shadow, part->strip, &running->races, access))
        return false;
    strip->split &= (uint8_t)~split;
    if (row->values)
        put_values(row, part);
    return true;
}

/* Each lane's word alone, of what is locked. The lanes that race, perhaps, or have several words.
 */
static uint64_t take_words(const struct crt_race_row *row, const struct part *part, uint64_t lanes)
{
    uint64_t left = 0;
    if (part->shift > 0)
        return lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        uint64_t word = part->strip * RACE_STRIP_WORDS + (uint64_t)(lane - part->lane);
        struct race_access access = row->access.race;
        access.thread = (uint16_t)(access.thread + lane);
        access.bytes = ALL_BYTES;
        access.value = (uint32_t)crt_race_value_of(row, (unsigned)lane);
        if (!crt_race_take_word(&row->access, part->shadow, word, &access))
            left |= lanes & -lanes;
        else if (access.flags & RACE_WRITES)
            race_shadow_join(part->shadow, word, 0);
    }
    return left;
}

/* Of lanes that access a part of the row, [begin, end), those which have to do it word by word.
 * place: of lane 0, whether it takes part or not. */
static uint64_t access_strips(const struct crt_race_row *row, const struct race_shadow *shadow,
                              uint64_t place, uint64_t begin, uint64_t end)
{
    struct part part = {.shadow = shadow, .shift = shift_of(row)};
    const struct race_access *race = &row->access.race;
    struct race_strip_access access = {.block = race->block,
                                       .stamp = race->stamp,
                                       .line = race->line,
                                       .flags = race->flags & 0x3f,
                                       .shift = part.shift & 3};
    unsigned lanes_max = RACE_STRIP_WORDS >> part.shift;
    uint64_t left = 0;
    for (part.strip = begin / RACE_STRIP_BYTES; part.strip * RACE_STRIP_BYTES < end; part.strip++) {
        part.lane = lane_at(row, place, part.strip);
        uint64_t lanes = move_lanes(row->lanes, -part.lane) & ((UINT64_C(1) << lanes_max) - 1);
        part.words = words_of((unsigned)lanes, part.shift);
        __builtin_prefetch(&shadow->strips[part.strip + STRIPS_AHEAD], 1);
        if (lanes != 0 && !access_part(row, &part, &access))
            left |= take_words(row, &part, move_lanes(lanes, part.lane));
    }
    return left;
}

/* Word by word; what has been written so stands in strips again. */
static void access_left(const struct crt_race_row *row, const struct race_shadow *shadow,
                        uint64_t place, uint64_t left)
{
    for (; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t at = place + lane * row->access.bytes;
        struct crt_race_access access = crt_race_access_of(row, lane);
        crt_race_check_words(&access, at);
        if (!(access.race.flags & RACE_WRITES))
            continue;
        if (!access.owner)
            crt_race_lock(at);
        for (uint64_t done = 0; done < access.bytes; done += RACE_CELL_BYTES)
            race_shadow_join(shadow, (at + done) / RACE_CELL_BYTES, shift_of(row));
        if (!access.owner)
            crt_race_unlock(at);
    }
}

static void access_shared_row(const struct crt_race_row *row, uint64_t place, uint64_t begin,
                              uint64_t end)
{
    const struct race_shadow *shadow = &row->access.owner->shadow;
    access_left(row, shadow, place, access_strips(row, shadow, place, begin, end));
}

/* What one lock is for, after the other. */
static void access_global_row(const struct crt_race_row *row, uint64_t place, uint64_t begin,
                              uint64_t end)
{
    const struct race_shadow *shadow = crt_race_shadow();
    while (begin < end) {
        uint64_t area_end = (begin / CRT_RACE_LOCK_BYTES + 1) * CRT_RACE_LOCK_BYTES;
        uint64_t part_end = end < area_end ? end : area_end;
        crt_race_lock(begin);
        uint64_t left = access_strips(row, shadow, place, begin, part_end);
        crt_race_unlock(begin);
        access_left(row, shadow, place, left);
        begin = part_end;
    }
}

static bool is_one_lane(const struct crt_race_row *row)
{
    return (row->lanes & (row->lanes - 1)) == 0;
}

/* Whether it is a single word of shared memory that stands in its cell. */
static bool is_split(const struct crt_race_row *row, uint64_t place)
{
    const struct crt_running_block *owner = row->access.owner;
    uint64_t word = place / RACE_CELL_BYTES;
    return owner && is_one_lane(row) && row->access.bytes == RACE_CELL_BYTES &&
           crt_race_enter_shared(owner, word)->split & 1u << word % RACE_STRIP_WORDS;
}

/* False: not all of it is in one memory, or some copy or fill races with it, or it need not be
 * asked. */
static bool access_neighbours(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t first = (uint64_t)__builtin_ctzll(row->lanes);
    uint64_t last = 63 - (uint64_t)__builtin_clzll(row->lanes);
    uint64_t begin = crt_race_address_of(row, (unsigned)first);
    uint64_t bytes = (last - first + 1) * access->bytes;
    uint64_t place;
    struct race_access found;
    if (access->bytes < RACE_CELL_BYTES || !is_natural(begin, access->bytes) ||
        !crt_race_find_memory(access, begin, bytes, &place) || is_split(row, place))
        return false;
    if (!access->owner && crt_race_find_page_race(access, place, bytes, &found) != 0)
        return false;
    if (access->owner)
        access_shared_row(row, place - first * access->bytes, place, place + bytes);
    else
        access_global_row(row, place - first * access->bytes, place, place + bytes);
    return true;
}

/* ---- lanes at one place ---- */

/* Of those, the lanes that are of the first one's warp. */
static uint64_t lanes_of_warp(const struct crt_race_row *row, uint64_t lanes)
{
    unsigned first = (unsigned)__builtin_ctzll(lanes);
    unsigned room = RT_WARP_SIZE - (row->access.race.thread + first) % RT_WARP_SIZE;
    return first + room < 64 ? lanes & ((UINT64_C(1) << (first + room)) - 1) : lanes;
}

static bool can_be_told_together(const struct crt_race_row *row)
{
    uint8_t flags = row->access.race.flags;
    return (row->lanes & (row->lanes - 1)) != 0 && (!(flags & RACE_WRITES) || flags & RACE_STRONG);
}

/* Its words, which are locked. */
static bool access_place_locked(struct crt_race_row *row, const struct race_shadow *shadow,
                                uint32_t run, uint64_t place)
{
    const struct race_block *block = &row->access.running->races;
    uint64_t first = place / RACE_CELL_BYTES;
    uint64_t last = (place + row->access.bytes - 1) / RACE_CELL_BYTES;
    row->access.race.bytes = crt_race_bytes_in_word(row->access.bytes, place);
    if (row->access.owner)
        crt_race_enter_shared(row->access.owner, first);
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
    uint64_t address = crt_race_address_of(row, (unsigned)__builtin_ctzll(row->lanes));
    uint64_t place;
    struct race_access found;
    if (!can_be_told_together(row) || !is_natural(address, access->bytes) ||
        !crt_race_find_memory(access, address, access->bytes, &place))
        return false;
    if (access->owner)
        return access_place_locked(row, &access->owner->shadow, access->owner->races.run, place);
    if (crt_race_find_page_race(access, place, access->bytes, &found) != 0)
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

/* Lanes that are far apart ask for memory one after the other: they wait for all of it at once. */
static void ask_ahead(const struct crt_race_row *row)
{
    const struct race_shadow *shadow = crt_race_shadow();
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= lanes - 1) {
        uint64_t place;
        if (!crt_race_place(row->addresses[__builtin_ctzll(lanes)], 1, &place))
            continue;
        __builtin_prefetch(&shadow->strips[place / RACE_STRIP_BYTES], 1);
        __builtin_prefetch(&shadow->cells[place / RACE_CELL_BYTES], 1);
    }
}

static void access_place_by_warps(struct crt_race_row *row)
{
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= ~row->lanes) {
        row->lanes = lanes_of_warp(row, lanes);
        if (!access_place(row))
            crt_race_access_lanes(row, row->lanes);
    }
}

static void access_together(struct crt_race_row *row)
{
    if (row->access.running->work != 0 && row->stride == 0 && !is_one_lane(row))
        access_place_by_warps(row);
    else if (row->access.running->work == 0 ||
             (!is_one_lane(row) && row->stride != row->access.bytes) || !access_neighbours(row))
        crt_race_access_lanes(row, row->lanes);
}

void crt_race_access_row(struct crt_race_row *row)
{
    uint64_t lanes = row->lanes;
    if (!row->addresses) {
        access_together(row);
        return;
    }
    ask_ahead(row);
    while (lanes != 0) {
        row->lanes = take_lanes(row, &lanes, &row->stride);
        if (is_one_lane(row))
            crt_race_access_lanes(row, row->lanes);
        else
            access_together(row);
    }
}
