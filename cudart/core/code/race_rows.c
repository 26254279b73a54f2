/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of lanes that have something in common, which strips are told of: to places at one
 * distance from each other, or to one place; and of lanes that have nothing in common.
 */
#include "cudart/core/code/race_parts.h"

#include <string.h>

/* Rows come one after the other, so that the strips of later ones are asked for by now. */
#define STRIPS_AHEAD 4

static bool is_settled(const struct crt_race_row *row, unsigned lane, uint64_t place)
{
    if (!row->access.owner && row->is_known_unsettled)
        return false;
    const struct race_settling settling = crt_race_settling(row);
    return (settling.run | settling.time) != 0 &&
           crt_race_are_settled(crt_race_shadow_of(&row->access), &settling,
                                (row->access.race.thread + lane) / RT_WARP_SIZE, place,
                                place + row->access.bytes);
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
static uint64_t bytes_of(const struct crt_race_row *row, const struct crt_race_part *part,
                         unsigned byte)
{
    unsigned bytes = (unsigned)row->access.bytes;
    unsigned first = crt_lowest_lane(part->lanes);
    uint64_t one = bytes >= RACE_STRIP_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
    unsigned count = crt_highest_lane(part->lanes) - first + 1;
    if (row->stride == bytes && part->lanes == crt_lanes_from_to(first, first + count))
        return crt_lanes_from_to(byte, byte + count * bytes);
    uint64_t all = 0;
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1)
        all |= one << (byte + (int)(crt_lowest_lane(lanes) - first) * (int)row->stride);
    return all;
}

/* Which thread has which byte, where the first of the part's lanes is at that byte. */
static void set_form(const struct crt_race_row *row, struct crt_race_part *part, unsigned byte)
{
    int thread = row->access.race.thread + (int)crt_lowest_lane(part->lanes);
    unsigned unit = (unsigned)distance_of(row);
    int before = (int)(row->stride == row->access.bytes ? byte >> __builtin_ctz(unit)
                                                        : (byte + unit - 1) / unit);
    int step = (int64_t)row->stride < 0 ? -1 : 1;
    part->access.unit = (uint8_t)unit;
    part->access.offset = (uint8_t)((unsigned)before * unit - byte);
    part->access.step = (int16_t)step;
    part->access.thread = (int16_t)(thread - step * before);
}

/* *at: of the first of the part's lanes; those whose words are settled are left out. False: that is
 * all of them. */
static bool leave_out_settled(const struct crt_race_row *row, struct crt_race_part *part,
                              const struct race_settling *settling, uint64_t *at)
{
    unsigned first = crt_lowest_lane(part->lanes);
    unsigned byte = *at % RACE_STRIP_BYTES;
    uint64_t left = crt_race_unsettled_lanes(row, part, settling, byte);
    if (left == part->lanes || left == 0)
        return left != 0;
    part->lanes = left;
    *at += (crt_lowest_lane(left) - first) * row->stride;
    part->access.bytes = bytes_of(row, part, *at % RACE_STRIP_BYTES);
    return true;
}

/* Whether no copy or fill of a page races with lanes that are in it, from that place on. */
static bool may_enter_page(const struct crt_race_row *row, uint64_t place,
                           struct crt_race_walk *walk)
{
    struct race_access found;
    if (row->access.owner || walk->page == place / CRT_RACE_PAGE_BYTES)
        return true;
    if (crt_race_find_page_race(&row->access, place, row->access.bytes, &found) != 0)
        return false;
    walk->page = place / CRT_RACE_PAGE_BYTES;
    return true;
}

/* Whether it is all of a strip, by lanes side by side of one warp. */
static bool is_all(const struct crt_race_row *row, const struct crt_race_part *part)
{
    return part->access.bytes == UINT64_MAX && row->stride == row->access.bytes &&
           crt_race_lanes_of_warp(row, part->lanes) == part->lanes;
}

static bool take_strip(const struct crt_race_row *row, struct crt_race_part *part, uint64_t place,
                       struct crt_race_walk *walk)
{
    const struct crt_race_access *access = &row->access;
    struct crt_running_block *running = access->running;
    const struct race_shadow *shadow = part->shadow;
    uint32_t run = access->owner ? access->owner->races.run : running->work;
    if (!may_enter_page(row, place, walk))
        return false;
    if (access->owner)
        crt_race_enter_shared(access->owner, part->strip * RACE_STRIP_WORDS);
    else
        crt_race_lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    uint32_t last = shadow->strips[part->strip].run;
    if (last != 0 && last != run && !crt_race_work_is_before(running, last))
        return false;
    set_form(row, part, 0);
    if (!race_strip_access_all(shadow, part->strip, run, &running->races, &part->access))
        return false;
    if (row->values)
        memcpy((char *)shadow->values + place,
               row->values + crt_lowest_lane(part->lanes) * access->bytes, RACE_STRIP_BYTES);
    return true;
}

/* place: of the first lane. Returns the lanes that are left: some copy or fill races with them. */
static uint64_t access_strips(const struct crt_race_row *row, uint64_t place)
{
    const struct race_settling settling = crt_race_settling(row);
    struct crt_race_part part = crt_race_part_of(row);
    struct crt_race_walk walk = {.page = CRT_RACE_NOWHERE, .area = CRT_RACE_NOWHERE};
    unsigned first = crt_lowest_lane(row->lanes);
    uint64_t rest = row->lanes;
    for (uint64_t lanes; rest != 0; rest &= ~lanes) {
        unsigned lane = crt_lowest_lane(rest);
        uint64_t at = place + (lane - first) * row->stride;
        unsigned byte = at % RACE_STRIP_BYTES;
        part.strip = at / RACE_STRIP_BYTES;
        __builtin_prefetch(&part.shadow->strips[part.strip + STRIPS_AHEAD], 1);
        part.lanes = lanes = rest & crt_lanes_from_to(lane, lane + room_in_strip(row, byte));
        part.access.bytes = bytes_of(row, &part, byte);
        if (is_all(row, &part) && take_strip(row, &part, at, &walk))
            continue;
        if (!leave_out_settled(row, &part, &settling, &at))
            continue;
        if (!may_enter_page(row, at, &walk))
            break;
        set_form(row, &part, at % RACE_STRIP_BYTES);
        crt_race_do_part(row, &part, at, &walk);
    }
    crt_race_lock_area(&walk, CRT_RACE_NOWHERE);
    return rest;
}

/* Returns the lanes that are left: not all of it is in one memory, or some copy or fill races with
 * them. */
static uint64_t access_neighbours(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t first = crt_race_address_of(row, crt_lowest_lane(row->lanes));
    uint64_t last = crt_race_address_of(row, crt_highest_lane(row->lanes));
    uint64_t begin = first < last ? first : last;
    uint64_t bytes = (first < last ? last - first : first - last) + access->bytes;
    uint64_t place;
    if (!crt_race_is_natural(first, access->bytes) || row->stride % access->bytes != 0 ||
        !crt_race_find_memory(access, begin, bytes, &place))
        return row->lanes;
    return access_strips(row, place + (first - begin));
}

/* ---- lanes one after the other ---- */

/* A lane that has nothing to do with its neighbours, whose word stands in a cell from now on. */
static bool take_lane(const struct crt_race_row *row, unsigned lane, uint64_t place,
                      struct crt_race_walk *walk)
{
    const struct crt_race_access *access = &row->access;
    struct race_access race = access->race;
    race.thread = (uint16_t)(race.thread + lane);
    race.bytes = crt_race_bytes_in_word(access->bytes, place);
    race.value = (uint32_t)(crt_race_value_of(row, lane) << (8 * (place % RACE_CELL_BYTES)));
    if (!access->owner)
        crt_race_lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    if (!crt_race_take_word(access, crt_race_shadow_of(access), place / RACE_CELL_BYTES, &race))
        return false;
    crt_race_settle_cell(access, place / RACE_CELL_BYTES);
    return true;
}

/* What most lanes do: no copy or fill of the page races with it. */
static bool access_lane(struct crt_race_row *row, unsigned lane, struct crt_race_part *part,
                        struct crt_race_walk *walk)
{
    struct crt_race_access *access = &row->access;
    uint64_t address = crt_race_address_of(row, lane);
    uint64_t place;
    if (!crt_race_is_natural(address, access->bytes) ||
        !crt_race_find_memory(access, address, access->bytes, &place))
        return false;
    if (is_settled(row, lane, place))
        return true;
    if (!may_enter_page(row, place, walk))
        return false;
    if (access->bytes <= RACE_CELL_BYTES && !row->is_alone)
        return take_lane(row, lane, place, walk);
    unsigned byte = place % RACE_STRIP_BYTES;
    part->shadow = crt_race_shadow_of(access);
    part->strip = place / RACE_STRIP_BYTES;
    part->lanes = UINT64_C(1) << lane;
    part->access.bytes = crt_lanes_from_to(byte, byte + (unsigned)access->bytes);
    part->access.thread = (int16_t)(access->race.thread + lane);
    part->access.unit = (uint8_t)access->bytes;
    crt_race_do_part(row, part, place, walk);
    return true;
}

static void access_lanes(struct crt_race_row *row, uint64_t lanes)
{
    struct crt_race_part part = crt_race_part_of(row);
    struct crt_race_walk walk = {.page = CRT_RACE_NOWHERE, .area = CRT_RACE_NOWHERE};
    for (; lanes != 0; lanes &= lanes - 1) {
        if (row->access.running->work != 0 &&
            access_lane(row, crt_lowest_lane(lanes), &part, &walk))
            continue;
        crt_race_lock_area(&walk, CRT_RACE_NOWHERE);
        crt_race_access_alone(row, crt_lowest_lane(lanes));
    }
    crt_race_lock_area(&walk, CRT_RACE_NOWHERE);
}

/* ---- lanes at one place ---- */

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
    struct crt_race_part part = crt_race_part_of(row);
    unsigned byte = place % RACE_STRIP_BYTES;
    uint32_t thread = row->access.race.thread;
    part.strip = place / RACE_STRIP_BYTES;
    part.access.bytes = crt_lanes_from_to(byte, byte + (unsigned)row->access.bytes);
    part.access.thread = (int16_t)(thread + crt_highest_lane(row->lanes));
    part.access.unit = (uint8_t)row->access.bytes;
    return crt_race_access_together(row, &part, thread + crt_lowest_lane(row->lanes)) ||
           access_cells(row, place);
}

static bool access_place(struct crt_race_row *row)
{
    struct crt_race_access *access = &row->access;
    uint64_t address = crt_race_address_of(row, crt_lowest_lane(row->lanes));
    uint64_t place;
    struct race_access found;
    if (!crt_race_can_be_told_together(row) || !crt_race_is_natural(address, access->bytes) ||
        !crt_race_find_memory(access, address, access->bytes, &place))
        return false;
    if (is_settled(row, crt_lowest_lane(row->lanes), place))
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
        row->lanes = crt_race_lanes_of_warp(row, lanes);
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
    unsigned lane = crt_lowest_lane(*lanes);
    uint64_t rest = *lanes ^ taken;
    uint64_t last = row->addresses[lane];
    unsigned count = 1;
    *stride = row->access.bytes;
    for (; rest != 0 && crt_lowest_lane(rest) == lane + 1; rest &= rest - 1, count++) {
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
static uint64_t unsettled_lanes(struct crt_race_row *row)
{
    const struct race_shadow *shadow = crt_race_shadow();
    uint64_t bytes = row->access.bytes;
    uint64_t left = row->lanes;
    const struct race_settling settling = crt_race_settling(row);
    bool may_be_settled = bytes != 0 && (settling.run | settling.time) != 0;
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = crt_lowest_lane(lanes);
        uint32_t warp = (row->access.race.thread + lane) / RT_WARP_SIZE;
        uint64_t place;
        if (!crt_race_place(row->addresses[lane], bytes, &place))
            continue;
        if (may_be_settled && crt_race_are_settled(shadow, &settling, warp, place, place + bytes)) {
            left &= ~(lanes & -lanes);
            continue;
        }
        __builtin_prefetch(&shadow->strips[place / RACE_STRIP_BYTES], 1);
        __builtin_prefetch(&shadow->cells[place / RACE_CELL_BYTES], 1);
    }
    row->is_known_unsettled = true;
    return left;
}

static void access_together(struct crt_race_row *row)
{
    bool has_work = row->access.running->work != 0;
    row->is_alone = crt_is_one_lane(row->lanes) && row->addresses == NULL;
    if (crt_is_one_lane(row->lanes))
        access_lanes(row, row->lanes);
    else if (has_work && row->stride == 0)
        access_place_by_warps(row);
    else if (!has_work || distance_of(row) < row->access.bytes ||
             distance_of(row) >= RACE_STRIP_BYTES)
        access_lanes(row, row->lanes);
    else
        access_lanes(row, access_neighbours(row));
}

void crt_race_access_row(struct crt_race_row *row)
{
    if (!row->addresses) {
        access_together(row);
        return;
    }
    uint64_t lanes = row->lanes;
    while (lanes != 0) {
        row->lanes = take_lanes(row, &lanes, &row->stride);
        if (!crt_is_one_lane(row->lanes) || lanes == 0 || row->is_known_unsettled) {
            access_together(row);
            continue;
        }
        row->lanes |= lanes;
        lanes = unsettled_lanes(row);
    }
}
