/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of lanes that have something in common, which strips are told of: to places at one
 * distance from each other, or to one place; and of lanes that have nothing in common.
 */
#include <string.h>

#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_memory.h"

/* Whether it is an access as instructions do, which lies in one strip. */
static bool is_natural(uint64_t address, uint64_t bytes)
{
    return bytes != 0 && bytes <= RACE_STRIP_BYTES && (bytes & (bytes - 1)) == 0 &&
           address % bytes == 0;
}

static bool is_one_lane(uint64_t lanes)
{
    return (lanes & (lanes - 1)) == 0;
}

static unsigned lowest(uint64_t lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

static unsigned highest(uint64_t lanes)
{
    return 63 - (unsigned)__builtin_clzll(lanes);
}

static uint64_t lanes_from_to(unsigned first, unsigned end)
{
    uint64_t below_end = end >= 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return below_end & UINT64_MAX << first;
}

/* ---- lanes in one strip ---- */

/* Part of a row in one strip. */
struct part {
    const struct race_shadow *shadow;
    uint64_t strip;
    uint64_t lanes;
    struct race_strip_access access;
};

/* Rows come one after the other, so that the strips of later ones are asked for by now. */
#define STRIPS_AHEAD 4

/* Whether the bytes stand in the strip, of the running block's run, or can: what another run has
 * done comes before, and other words' accesses by it go to their cells. */
static bool enter_global(const struct part *part, struct crt_running_block *running)
{
    const struct race_shadow *shadow = part->shadow;
    struct race_strip *strip = &shadow->strips[part->strip];
    const struct race_cell *cells = &shadow->cells[part->strip * RACE_STRIP_WORDS];
    uint64_t bytes = part->access.bytes;
    if (strip->run != running->work) {
        if (strip->run != 0 && !crt_race_work_is_before(running, strip->run))
            return false;
        race_shadow_begin(shadow, part->strip, running->work, bytes);
    }
    uint32_t before = race_shadow_before(shadow, part->strip, bytes);
    if (before != 0) {
        if (!crt_race_work_is_before(running, before))
            return false;
        race_shadow_forget(shadow, part->strip, bytes);
    }
    uint64_t rest = bytes & strip->split;
    while (rest != 0) {
        unsigned word = lowest(rest) / RACE_CELL_BYTES;
        uint64_t in_word = RACE_WORD_BYTES << word * RACE_CELL_BYTES;
        rest &= ~in_word;
        if (cells[word].run == running->work)
            continue;
        if (!crt_race_work_is_before(running, cells[word].run))
            return false;
        strip->split &= ~in_word;
    }
    return true;
}

static bool enter(const struct crt_race_row *row, const struct part *part)
{
    if (!row->access.owner)
        return enter_global(part, row->access.running);
    crt_race_enter_shared(row->access.owner, part->strip * RACE_STRIP_WORDS);
    return true;
}

static void put_values(const struct crt_race_row *row, const struct part *part, uint64_t place)
{
    uint64_t bytes = row->access.bytes;
    char *to = (char *)part->shadow->values;
    unsigned first = lowest(part->lanes);
    unsigned count = highest(part->lanes) - first + 1;
    if (row->stride == bytes && part->lanes == lanes_from_to(first, first + count)) {
        memcpy(to + place, row->values + first * bytes, count * bytes);
        return;
    }
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = lowest(lanes);
        uint64_t at = place + (lane - first) * row->stride;
        memcpy(to + at, row->values + lane * bytes, bytes);
    }
}

/* place: of the first lane. False: word by word. */
static bool access_part(const struct crt_race_row *row, const struct part *part, uint64_t place)
{
    const struct race_block *block = &row->access.running->races;
    struct race_strip *strip = &part->shadow->strips[part->strip];
    if (!enter(row, part))
        return false;
    uint64_t split = strip->split & part->access.bytes;
    if ((split != 0 &&
         !race_shadow_may_take(part->shadow, part->strip, split, block, &part->access)) ||
        !race_strip_access(part->shadow, part->strip, block, &part->access))
        return false;
    strip->split &= ~split;
    if (row->values)
        put_values(row, part, place);
    crt_race_settle(&row->access, part->strip);
    return true;
}

/* Each lane's word alone, of what is locked. The lanes that race, perhaps, or have several words.
 * place: of the first lane. */
static uint64_t take_words(const struct crt_race_row *row, const struct part *part, uint64_t place)
{
    uint64_t left = 0;
    unsigned first = lowest(part->lanes);
    if (row->access.bytes > RACE_CELL_BYTES)
        return part->lanes;
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = lowest(lanes);
        uint64_t at = place + (lane - first) * row->stride;
        uint64_t word = at / RACE_CELL_BYTES;
        struct race_access access = row->access.race;
        access.thread = (uint16_t)(access.thread + lane);
        access.bytes = crt_race_bytes_in_word(row->access.bytes, at);
        access.value = (uint32_t)(crt_race_value_of(row, lane) << (8 * (at % RACE_CELL_BYTES)));
        if (!crt_race_take_word(&row->access, part->shadow, word, &access))
            left |= lanes & -lanes;
        else if (access.flags & RACE_WRITES)
            race_shadow_join(part->shadow, word, &part->access);
        else
            crt_race_settle_cell(&row->access, word);
    }
    return left;
}

/* Word by word, of what is not locked; what has been written so stands in strips again. */
static void access_left(const struct crt_race_row *row, const struct part *part, uint64_t place,
                        uint64_t left)
{
    unsigned first = lowest(part->lanes);
    for (; left != 0; left &= left - 1) {
        unsigned lane = lowest(left);
        uint64_t at = place + (lane - first) * row->stride;
        struct crt_race_access access = crt_race_access_of(row, lane);
        crt_race_check_words(&access, at);
        if (!(access.race.flags & RACE_WRITES))
            continue;
        if (!access.owner)
            crt_race_lock(at);
        for (uint64_t done = 0; done < access.bytes; done += RACE_CELL_BYTES)
            race_shadow_join(part->shadow, (at + done) / RACE_CELL_BYTES, &part->access);
        if (!access.owner)
            crt_race_unlock(at);
    }
}

/* ---- what is locked ---- */

#define NOWHERE UINT64_MAX

/* What lanes one after the other have in common. */
struct walk {
    uint64_t page; /* the last one that has been entered */
    uint64_t area; /* that is locked */
};

static void lock_area(struct walk *walk, uint64_t area)
{
    if (walk->area == area)
        return;
    if (walk->area != NOWHERE)
        crt_race_unlock(walk->area * CRT_RACE_LOCK_BYTES);
    if (area != NOWHERE)
        crt_race_lock(area * CRT_RACE_LOCK_BYTES);
    walk->area = area;
}

/* The part's lanes whose words stand in the strip, and not in cells. */
static struct part part_beside_cells(const struct crt_race_row *row, const struct part *part,
                                     uint64_t place)
{
    struct part beside = *part;
    uint64_t one = lanes_from_to(0, (unsigned)row->access.bytes);
    uint64_t split = part->shadow->strips[part->strip].split;
    unsigned first = lowest(part->lanes);
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        uint64_t at = place + (lowest(lanes) - first) * row->stride;
        uint64_t bytes = one << at % RACE_STRIP_BYTES;
        if (!(split & bytes))
            continue;
        beside.lanes &= ~(lanes & -lanes);
        beside.access.bytes &= ~bytes;
    }
    return beside;
}

/* *place: of the first lane. */
static void leave_out(const struct crt_race_row *row, struct part *part, uint64_t lanes,
                      uint64_t *place)
{
    unsigned first = lowest(part->lanes);
    part->lanes &= ~lanes;
    if (part->lanes != 0)
        *place += (lowest(part->lanes) - first) * row->stride;
}

static void do_part(const struct crt_race_row *row, const struct part *whole, uint64_t place,
                    struct walk *walk)
{
    if (!row->access.owner)
        lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    if (access_part(row, whole, place))
        return;
    struct part part = *whole;
    struct part beside = part_beside_cells(row, whole, place);
    if (beside.lanes != 0 && beside.lanes != whole->lanes) {
        uint64_t at = place + (lowest(beside.lanes) - lowest(whole->lanes)) * row->stride;
        if (access_part(row, &beside, at))
            leave_out(row, &part, beside.lanes, &place);
    }
    uint64_t left = take_words(row, &part, place);
    if (left == 0)
        return;
    lock_area(walk, NOWHERE);
    access_left(row, &part, place, left);
}

static struct part part_of(const struct crt_race_row *row)
{
    const struct race_access *race = &row->access.race;
    return (struct part){
        .shadow = crt_race_shadow_of(&row->access),
        .access = {
            .block = race->block, .stamp = race->stamp, .line = race->line, .flags = race->flags}};
}

/* ---- lanes at one distance, which is less than a strip ---- */

static uint64_t distance_of(const struct crt_race_row *row)
{
    return (int64_t)row->stride < 0 ? -row->stride : row->stride;
}

/* So many lanes, from one at that byte of a strip on, are in it. */
static unsigned room_in_strip(const struct crt_race_row *row, unsigned byte)
{
    unsigned distance = (unsigned)distance_of(row);
    if (row->stride == row->access.bytes)
        return (RACE_STRIP_BYTES - byte) >> __builtin_ctzll(row->access.bytes);
    if ((int64_t)row->stride < 0)
        return byte / distance + 1;
    return (RACE_STRIP_BYTES - byte + distance - 1) / distance;
}

/* Bytes of the part's lanes, the first of which is at that byte. */
static uint64_t bytes_of(const struct crt_race_row *row, const struct part *part, unsigned byte)
{
    unsigned bytes = (unsigned)row->access.bytes;
    unsigned first = lowest(part->lanes);
    uint64_t one = bytes >= RACE_STRIP_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
    unsigned count = highest(part->lanes) - first + 1;
    if (row->stride == bytes && part->lanes == lanes_from_to(first, first + count))
        return lanes_from_to(byte, byte + count * bytes);
    uint64_t all = 0;
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1)
        all |= one << (byte + (int)(lowest(lanes) - first) * (int)row->stride);
    return all;
}

/* Which thread has which byte, where the first of the part's lanes is at that byte. */
static void set_form(const struct crt_race_row *row, struct part *part, unsigned byte)
{
    int thread = row->access.race.thread + (int)lowest(part->lanes);
    unsigned unit = (unsigned)distance_of(row);
    int before = (int)(row->stride == row->access.bytes ? byte >> __builtin_ctz(unit)
                                                        : (byte + unit - 1) / unit);
    int step = (int64_t)row->stride < 0 ? -1 : 1;
    part->access.unit = (uint8_t)unit;
    part->access.offset = (uint8_t)((unsigned)before * unit - byte);
    part->access.step = (int16_t)step;
    part->access.thread = (int16_t)(thread - step * before);
}

/* place: of the first lane. */
static void access_strips(const struct crt_race_row *row, uint64_t place)
{
    struct part part = part_of(row);
    struct walk walk = {.page = NOWHERE, .area = NOWHERE};
    unsigned first = lowest(row->lanes);
    uint64_t rest = row->lanes;
    while (rest != 0) {
        unsigned lane = lowest(rest);
        uint64_t at = place + (lane - first) * row->stride;
        unsigned byte = at % RACE_STRIP_BYTES;
        part.strip = at / RACE_STRIP_BYTES;
        __builtin_prefetch(&part.shadow->strips[part.strip + STRIPS_AHEAD], 1);
        part.lanes = rest & lanes_from_to(lane, lane + room_in_strip(row, byte));
        part.access.bytes = bytes_of(row, &part, byte);
        set_form(row, &part, byte);
        do_part(row, &part, at, &walk);
        rest &= ~part.lanes;
    }
    lock_area(&walk, NOWHERE);
}

/* False: not all of it is in one memory, or some copy or fill races with it. */
static bool access_neighbours(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t first = crt_race_address_of(row, lowest(row->lanes));
    uint64_t last = crt_race_address_of(row, highest(row->lanes));
    uint64_t begin = first < last ? first : last;
    uint64_t bytes = (first < last ? last - first : first - last) + access->bytes;
    uint64_t place;
    struct race_access found;
    if (!is_natural(first, access->bytes) || row->stride % access->bytes != 0 ||
        !crt_race_find_memory(access, begin, bytes, &place))
        return false;
    if (crt_race_row_is_settled(row, place, place + bytes))
        return true;
    if (!access->owner && crt_race_find_page_race(access, place, bytes, &found) != 0)
        return false;
    access_strips(row, place + (first - begin));
    return true;
}

/* ---- lanes one after the other ---- */

/* A lane that has nothing to do with its neighbours, whose word stands in a cell from now on. */
static bool take_lane(const struct crt_race_row *row, unsigned lane, uint64_t place,
                      struct walk *walk)
{
    const struct crt_race_access *access = &row->access;
    struct race_access race = access->race;
    race.thread = (uint16_t)(race.thread + lane);
    race.bytes = crt_race_bytes_in_word(access->bytes, place);
    race.value = (uint32_t)(crt_race_value_of(row, lane) << (8 * (place % RACE_CELL_BYTES)));
    if (!access->owner)
        lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    if (!crt_race_take_word(access, crt_race_shadow_of(access), place / RACE_CELL_BYTES, &race))
        return false;
    crt_race_settle_cell(access, place / RACE_CELL_BYTES);
    return true;
}

/* What most lanes do: no copy or fill of the page races with it. */
static bool access_lane(struct crt_race_row *row, unsigned lane, struct part *part,
                        struct walk *walk)
{
    struct crt_race_access *access = &row->access;
    uint64_t address = crt_race_address_of(row, lane);
    uint64_t place;
    struct race_access found;
    if (!is_natural(address, access->bytes) ||
        !crt_race_find_memory(access, address, access->bytes, &place))
        return false;
    if (crt_race_row_is_settled(row, place, place + access->bytes))
        return true;
    if (!access->owner && walk->page != place / CRT_RACE_PAGE_BYTES) {
        if (crt_race_find_page_race(access, place, access->bytes, &found) != 0)
            return false;
        walk->page = place / CRT_RACE_PAGE_BYTES;
    }
    if (access->bytes <= RACE_CELL_BYTES && !row->is_alone)
        return take_lane(row, lane, place, walk);
    unsigned byte = place % RACE_STRIP_BYTES;
    part->shadow = crt_race_shadow_of(access);
    part->strip = place / RACE_STRIP_BYTES;
    part->lanes = UINT64_C(1) << lane;
    part->access.bytes = lanes_from_to(byte, byte + (unsigned)access->bytes);
    part->access.thread = (int16_t)(access->race.thread + lane);
    part->access.unit = (uint8_t)access->bytes;
    do_part(row, part, place, walk);
    return true;
}

static void access_lanes(struct crt_race_row *row, uint64_t lanes)
{
    struct part part = part_of(row);
    struct walk walk = {.page = NOWHERE, .area = NOWHERE};
    for (; lanes != 0; lanes &= lanes - 1) {
        if (row->access.running->work != 0 && access_lane(row, lowest(lanes), &part, &walk))
            continue;
        lock_area(&walk, NOWHERE);
        crt_race_access_alone(row, lowest(lanes));
    }
    lock_area(&walk, NOWHERE);
}

/* ---- lanes at one place ---- */

/* Of those, the lanes that are of the first one's warp. */
static uint64_t lanes_of_warp(const struct crt_race_row *row, uint64_t lanes)
{
    unsigned first = lowest(lanes);
    unsigned room = RT_WARP_SIZE - (row->access.race.thread + first) % RT_WARP_SIZE;
    return lanes & lanes_from_to(first, first + room);
}

static bool can_be_told_together(const struct crt_race_row *row)
{
    uint8_t flags = row->access.race.flags;
    return !is_one_lane(row->lanes) && (!(flags & RACE_WRITES) || flags & RACE_STRONG);
}

/* Its words, which are locked, each in its cell. */
static bool access_cells(struct crt_race_row *row, uint64_t place)
{
    struct crt_race_access *access = &row->access;
    const struct race_shadow *shadow = crt_race_shadow_of(access);
    const struct race_block *block = &access->running->races;
    uint32_t run = access->owner ? access->owner->races.run : access->running->work;
    uint64_t first = place / RACE_CELL_BYTES;
    uint64_t last = (place + access->bytes - 1) / RACE_CELL_BYTES;
    access->race.bytes = crt_race_bytes_in_word(access->bytes, place);
    for (uint64_t word = first; word <= last; word++) {
        const struct race_cell *cell = race_shadow_cell(shadow, word);
        bool is_known =
            access->owner || cell->run == 0 || crt_race_work_is_before(access->running, cell->run);
        if (!is_known || !race_cell_is_for_lanes(cell, run, block, &access->race, row->lanes))
            return false;
    }
    for (uint64_t word = first; word <= last; word++) {
        race_cell_access_lanes(&shadow->cells[word], run, block, &access->race, row->lanes);
        crt_race_settle_cell(access, word);
    }
    return true;
}

/* What is locked. */
static bool access_place_at(struct crt_race_row *row, uint64_t place)
{
    struct part part = part_of(row);
    unsigned byte = place % RACE_STRIP_BYTES;
    uint32_t thread = row->access.race.thread;
    part.strip = place / RACE_STRIP_BYTES;
    part.access.bytes = lanes_from_to(byte, byte + (unsigned)row->access.bytes);
    part.access.thread = (int16_t)(thread + highest(row->lanes));
    part.access.unit = (uint8_t)row->access.bytes;
    if (enter(row, &part) && !(part.shadow->strips[part.strip].split & part.access.bytes) &&
        race_strip_access_lanes(part.shadow, part.strip, &row->access.running->races, &part.access,
                                thread + lowest(row->lanes))) {
        crt_race_settle(&row->access, part.strip);
        return true;
    }
    return access_cells(row, place);
}

static bool access_place(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t address = crt_race_address_of(row, lowest(row->lanes));
    uint64_t place;
    struct race_access found;
    if (!can_be_told_together(row) || !is_natural(address, access->bytes) ||
        !crt_race_find_memory(access, address, access->bytes, &place))
        return false;
    if (crt_race_row_is_settled(row, place, place + access->bytes))
        return true;
    if (access->owner)
        return access_place_at(row, place);
    if (crt_race_find_page_race(access, place, access->bytes, &found) != 0)
        return false;
    crt_race_lock(place);
    bool is_done = access_place_at(row, place);
    crt_race_unlock(place);
    return is_done;
}

static void access_place_by_warps(struct crt_race_row *row)
{
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= ~row->lanes) {
        row->lanes = lanes_of_warp(row, lanes);
        if (!access_place(row))
            access_lanes(row, row->lanes);
    }
}

/* ---- any lanes ---- */

/* Lanes from the first one on of which each is so far from the one before it; *lanes: the others.
 * Two lanes are always at one distance. */
static uint64_t take_lanes(const struct crt_race_row *row, uint64_t *lanes, uint64_t *stride)
{
    uint64_t taken = *lanes & -*lanes;
    unsigned lane = lowest(*lanes);
    uint64_t rest = *lanes ^ taken;
    uint64_t last = row->addresses[lane];
    unsigned count = 1;
    *stride = row->access.bytes;
    for (; rest != 0 && lowest(rest) == lane + 1; rest &= rest - 1, count++) {
        uint64_t distance = row->addresses[++lane] - last;
        if (count == 1)
            *stride = distance;
        if (distance != *stride)
            break;
        last = row->addresses[lane];
        taken |= rest & -rest;
    }
    if (count == 2 && *stride != 0 && *stride != row->access.bytes)
        taken &= -taken;
    *lanes &= ~taken;
    return taken;
}

/* Lanes whose words are not settled. Lanes that are far apart ask for memory one after the other:
 * they wait for all of it at once. */
static uint64_t unsettled_lanes(const struct crt_race_row *row)
{
    const struct race_shadow *shadow = crt_race_shadow();
    uint64_t bytes = row->access.bytes;
    uint64_t left = row->lanes;
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= lanes - 1) {
        uint64_t place;
        if (!crt_race_place(row->addresses[lowest(lanes)], bytes, &place))
            continue;
        if (bytes != 0 && crt_race_row_is_settled(row, place, place + bytes)) {
            left &= ~(lanes & -lanes);
            continue;
        }
        __builtin_prefetch(&shadow->strips[place / RACE_STRIP_BYTES], 1);
        __builtin_prefetch(&shadow->cells[place / RACE_CELL_BYTES], 1);
    }
    return left;
}

static void access_together(struct crt_race_row *row)
{
    bool has_work = row->access.running->work != 0;
    row->is_alone = is_one_lane(row->lanes) && row->addresses == NULL;
    if (is_one_lane(row->lanes))
        access_lanes(row, row->lanes);
    else if (has_work && row->stride == 0)
        access_place_by_warps(row);
    else if (!has_work || distance_of(row) < row->access.bytes ||
             distance_of(row) >= RACE_STRIP_BYTES || !access_neighbours(row))
        access_lanes(row, row->lanes);
}

void crt_race_access_row(struct crt_race_row *row)
{
    if (!row->addresses) {
        access_together(row);
        return;
    }
    uint64_t lanes = unsettled_lanes(row);
    while (lanes != 0) {
        row->lanes = take_lanes(row, &lanes, &row->stride);
        access_together(row);
    }
}
