/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes in one strip: together where it can be said so, else word by word.
 */
#include "cudart/core/code/race_parts.h"

#include <string.h>

/* ---- lanes in one strip ---- */

/* Whether the bytes stand in the strip, of the running block's run, or can: what another run has
 * done comes before, and other words' accesses by it go to their cells. */
static bool enter_global(const struct crt_race_part *part, struct crt_running_block *running)
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
        unsigned word = crt_lowest_lane(rest) / RACE_CELL_BYTES;
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

static bool enter(const struct crt_race_row *row, const struct crt_race_part *part)
{
    if (!row->access.owner)
        return enter_global(part, row->access.running);
    crt_race_enter_shared(row->access.owner, part->strip * RACE_STRIP_WORDS);
    return true;
}

static void put_values(const struct crt_race_row *row, const struct crt_race_part *part,
                       uint64_t place)
{
    uint64_t bytes = row->access.bytes;
    char *to = (char *)part->shadow->values;
    unsigned first = crt_lowest_lane(part->lanes);
    unsigned count = crt_highest_lane(part->lanes) - first + 1;
    if (row->stride == bytes && part->lanes == crt_lanes_from_to(first, first + count)) {
        memcpy(to + place, row->values + first * bytes, count * bytes);
        return;
    }
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = crt_lowest_lane(lanes);
        uint64_t at = place + (lane - first) * row->stride;
        memcpy(to + at, row->values + lane * bytes, bytes);
    }
}

/* place: of the first lane. False: word by word. */
bool crt_race_access_part(const struct crt_race_row *row, const struct crt_race_part *part,
                          uint64_t place)
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
    crt_race_settle(&row->access, part);
    return true;
}

bool crt_race_access_together(const struct crt_race_row *row, const struct crt_race_part *part,
                              uint32_t first)
{
    if (!enter(row, part) || part->shadow->strips[part->strip].split & part->access.bytes ||
        !race_strip_access_lanes(part->shadow, part->strip, &row->access.running->races,
                                 &part->access, first))
        return false;
    crt_race_settle(&row->access, part);
    return true;
}

/* Each lane's word alone, of what is locked. The lanes that race, perhaps, or have several words.
 * place: of the first lane. */
static uint64_t take_words(const struct crt_race_row *row, const struct crt_race_part *part,
                           uint64_t place)
{
    uint64_t left = 0;
    unsigned first = crt_lowest_lane(part->lanes);
    if (row->access.bytes > RACE_CELL_BYTES)
        return part->lanes;
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = crt_lowest_lane(lanes);
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
static void access_left(const struct crt_race_row *row, const struct crt_race_part *part,
                        uint64_t place, uint64_t left)
{
    unsigned first = crt_lowest_lane(part->lanes);
    for (; left != 0; left &= left - 1) {
        unsigned lane = crt_lowest_lane(left);
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

void crt_race_lock_area(struct crt_race_walk *walk, uint64_t area)
{
    if (walk->area == area)
        return;
    if (walk->area != CRT_RACE_NOWHERE)
        crt_race_unlock(walk->area * CRT_RACE_LOCK_BYTES);
    if (area != CRT_RACE_NOWHERE)
        crt_race_lock(area * CRT_RACE_LOCK_BYTES);
    walk->area = area;
}

/* The part's lanes whose words stand in the strip, and not in cells. */
static struct crt_race_part part_beside_cells(const struct crt_race_row *row,
                                              const struct crt_race_part *part, uint64_t place)
{
    struct crt_race_part beside = *part;
    uint64_t one = crt_lanes_from_to(0, (unsigned)row->access.bytes);
    uint64_t split = part->shadow->strips[part->strip].split;
    unsigned first = crt_lowest_lane(part->lanes);
    for (uint64_t lanes = part->lanes; lanes != 0; lanes &= lanes - 1) {
        uint64_t at = place + (crt_lowest_lane(lanes) - first) * row->stride;
        uint64_t bytes = one << at % RACE_STRIP_BYTES;
        if (!(split & bytes))
            continue;
        beside.lanes &= ~(lanes & -lanes);
        beside.access.bytes &= ~bytes;
    }
    return beside;
}

/* *place: of the first lane. */
static void leave_out(const struct crt_race_row *row, struct crt_race_part *part, uint64_t lanes,
                      uint64_t *place)
{
    unsigned first = crt_lowest_lane(part->lanes);
    part->lanes &= ~lanes;
    if (part->lanes != 0)
        *place += (crt_lowest_lane(part->lanes) - first) * row->stride;
}

void crt_race_do_part(const struct crt_race_row *row, const struct crt_race_part *whole,
                      uint64_t place, struct crt_race_walk *walk)
{
    if (!row->access.owner)
        crt_race_lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    if (crt_race_access_part(row, whole, place))
        return;
    struct crt_race_part part = *whole;
    struct crt_race_part beside = part_beside_cells(row, whole, place);
    if (beside.lanes != 0 && beside.lanes != whole->lanes) {
        uint64_t at =
            place + (crt_lowest_lane(beside.lanes) - crt_lowest_lane(whole->lanes)) * row->stride;
        if (crt_race_access_part(row, &beside, at))
            leave_out(row, &part, beside.lanes, &place);
    }
    uint64_t left = take_words(row, &part, place);
    if (left == 0)
        return;
    crt_race_lock_area(walk, CRT_RACE_NOWHERE);
    access_left(row, &part, place, left);
}

struct crt_race_part crt_race_part_of(const struct crt_race_row *row)
{
    const struct race_access *race = &row->access.race;
    return (struct crt_race_part){
        .shadow = crt_race_shadow_of(&row->access),
        .access = {
            .block = race->block, .stamp = race->stamp, .line = race->line, .flags = race->flags}};
}
