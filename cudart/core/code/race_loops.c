/* SPDX-License-Identifier: Apache-2.0
 *
 * What lanes do in all iterations of a loop in which nothing orders them. Iterations whose places
 * lie close to each other are told of by strips: of one lane, or of lanes of a warp that all do the
 * same; others iteration by iteration, as rows of lanes.
 */
#include "cudart/core/code/race_parts.h"

/* Of one lane, from the lowest place on. */
struct line {
    uint64_t first;
    uint64_t step; /* less than 2^63 */
    uint64_t count;
    uint32_t line; /* of the PTX, of the first access, */
    int32_t lines; /* and from one to the next */
};

static struct line line_of(const struct crt_race_loop *loop, unsigned lane)
{
    uint64_t last = loop->row.addresses[lane];
    uint64_t step = loop->steps[lane];
    uint64_t turns = loop->turns[lane];
    uint64_t count = step == 0 && turns > 1 ? 1 : turns;
    if ((int64_t)step < 0)
        return (struct line){.first = last,
                             .step = -step,
                             .count = count,
                             .line = loop->row.access.race.line,
                             .lines = -loop->lines};
    return (struct line){.first = last - (count - 1) * step,
                         .step = step,
                         .count = count,
                         .line = loop->row.access.race.line - (uint32_t)(count - 1) * loop->lines,
                         .lines = loop->lines};
}

static uint32_t number_of_line(const struct line *line, uint64_t turn)
{
    return line->line + (uint32_t)turn * (uint32_t)line->lines;
}

/* Bytes from the first of all to behind the last one. */
static uint64_t bytes_of_line(const struct crt_race_row *row, const struct line *line)
{
    return (line->count - 1) * line->step + row->access.bytes;
}

/* Of all lanes. */
struct lines {
    struct line of[64];
    bool are_alike;  /* all do the same at one distance from each other, */
    uint64_t stride; /* which is that */
};

/* Whether the lane's addresses wrap between its first access and its last one. */
static bool wraps(const struct crt_race_loop *loop, unsigned lane)
{
    uint64_t turns = loop->turns[lane];
    int64_t distance;
    if (loop->period == 0 || turns < 2)
        return false;
    if (__builtin_mul_overflow((int64_t)loop->steps[lane], (int64_t)(turns - 1), &distance))
        return true;
    return loop->row.addresses[lane] - (uint64_t)distance - loop->floors[lane] >= loop->period;
}

/* From the last one back. */
static void access_wrapped(const struct crt_race_loop *loop, unsigned lane)
{
    struct crt_race_row one = loop->row;
    uint64_t place = one.addresses[lane] - loop->floors[lane];
    uint64_t step = loop->steps[lane];
    one.addresses = NULL;
    one.stride = 0;
    for (uint64_t turn = 0; turn < loop->turns[lane]; turn++) {
        one.access.address = loop->floors[lane] + place;
        one.lanes = UINT64_C(1) << lane;
        crt_race_access_row(&one);
        place -= step;
        if (place >= loop->period)
            place += (int64_t)step < 0 ? -loop->period : loop->period;
    }
}

/* Leaves out lanes that do nothing, and such as are told of alone. */
static void find_lines(struct crt_race_loop *loop, struct lines *lines)
{
    for (uint64_t lanes = loop->row.lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = crt_lowest_lane(lanes);
        bool is_wrapped = wraps(loop, lane);
        lines->of[lane] = line_of(loop, lane);
        if (is_wrapped)
            access_wrapped(loop, lane);
        if (is_wrapped || lines->of[lane].count == 0)
            loop->row.lanes &= ~(lanes & -lanes);
    }
}

static void find_likeness(const struct crt_race_loop *loop, struct lines *lines)
{
    uint64_t rest = loop->row.lanes & (loop->row.lanes - 1);
    unsigned first = crt_lowest_lane(loop->row.lanes);
    const struct line *one = &lines->of[first];
    lines->stride = rest & UINT64_C(2) << first ? lines->of[first + 1].first - one->first : 0;
    lines->are_alike = true;
    for (; rest != 0 && lines->are_alike; rest &= rest - 1) {
        unsigned lane = crt_lowest_lane(rest);
        const struct line *other = &lines->of[lane];
        lines->are_alike = other->step == one->step && other->count == one->count &&
                           other->first == one->first + (lane - first) * lines->stride;
    }
}

/* What most loops are: all lanes do the same, and wrap nowhere. */
static bool find_alike(const struct crt_race_loop *loop, struct lines *lines)
{
    const uint64_t *addresses = loop->row.addresses;
    unsigned first = crt_lowest_lane(loop->row.lanes);
    unsigned count = crt_highest_lane(loop->row.lanes) - first + 1;
    if (loop->row.lanes != crt_lanes_from_to(first, first + count) || loop->turns[first] == 0)
        return false;
    uint64_t stride = count > 1 ? addresses[first + 1] - addresses[first] : 0;
    uint64_t others = 0;
    for (unsigned i = first; i < first + count; i++)
        others |= (loop->steps[i] ^ loop->steps[first]) | (loop->turns[i] ^ loop->turns[first]) |
                  (addresses[i] - addresses[first] - (i - first) * stride);
    for (unsigned i = first; loop->period != 0 && i < first + count; i++)
        others |= wraps(loop, i);
    const struct line line = line_of(loop, first);
    for (unsigned i = first; others == 0 && i < first + count; i++) {
        lines->of[i] = line;
        lines->of[i].first += (i - first) * stride;
    }
    lines->are_alike = true;
    lines->stride = stride;
    return others == 0;
}

/* ---- a line ---- */

/* Whether strips can be told of it. */
static bool is_of_strips(const struct crt_race_row *row, const struct line *line)
{
    uint64_t bytes = row->access.bytes;
    return line->count > 1 && crt_race_is_natural(line->first, bytes) && line->step % bytes == 0;
}

/* … and there are some accesses for each. */
static bool is_close(const struct crt_race_row *row, const struct line *line)
{
    return is_of_strips(row, line) && line->step < RACE_STRIP_BYTES;
}

/* One after the other, of the row's lanes. */
static void access_each(const struct crt_race_row *row, const struct line *line, uint64_t from,
                        uint64_t count)
{
    struct crt_race_row one = *row;
    one.addresses = NULL;
    one.stride = 0;
    for (uint64_t i = from; i < from + count; i++) {
        one.access.address = line->first + i * line->step;
        one.access.race.line = number_of_line(line, i);
        one.lanes = row->lanes;
        crt_race_access_row(&one);
    }
}

/* False: nothing has been told. */
static bool access_strip(const struct crt_race_row *row, const struct crt_race_part *part,
                         const struct race_settling *settling, struct crt_race_walk *walk)
{
    uint64_t place = part->strip * RACE_STRIP_BYTES;
    uint32_t warp = (uint32_t)part->access.thread / RT_WARP_SIZE;
    struct race_access found;
    if ((race_words_with(part->access.bytes) &
         ~race_shadow_settled(part->shadow, part->strip, settling, warp)) == 0)
        return true;
    if (!row->access.owner && walk->page != place / CRT_RACE_PAGE_BYTES) {
        if (crt_race_find_page_race(&row->access, place, RACE_STRIP_BYTES, &found) != 0)
            return false;
        walk->page = place / CRT_RACE_PAGE_BYTES;
    }
    if (!row->access.owner)
        crt_race_lock_area(walk, place / CRT_RACE_LOCK_BYTES);
    if (crt_is_one_lane(row->lanes))
        return crt_race_access_part(row, part, place);
    return crt_race_access_together(row, part,
                                    row->access.race.thread + crt_lowest_lane(row->lanes));
}

/* Of so many accesses, the first one at that byte of a strip. */
static uint64_t bytes_of(const struct crt_race_row *row, const struct line *line, unsigned byte,
                         uint64_t count)
{
    unsigned bytes = (unsigned)row->access.bytes;
    unsigned step = (unsigned)line->step;
    if (step == bytes)
        return crt_lanes_from_to(byte, byte + (unsigned)count * bytes);
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++)
        all |= crt_lanes_from_to(byte + i * step, byte + i * step + bytes);
    return all;
}

/* Of the same accesses, the first of which is this one. False: they are too far from each other. */
static bool set_lines(const struct crt_race_row *row, const struct line *line, uint64_t first,
                      uint64_t count, struct race_strip_access *access)
{
    unsigned byte = crt_lowest_lane(access->bytes);
    int64_t distance = (int64_t)(count - 1) * line->lines;
    access->line = number_of_line(line, first);
    if (line->lines == 0)
        return true;
    if (distance != (int8_t)distance)
        return false;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = byte + i * (unsigned)line->step;
        for (unsigned word = at / RACE_CELL_BYTES;
             word * RACE_CELL_BYTES < at + (unsigned)row->access.bytes; word++)
            access->lines[word] = (int8_t)((int)i * line->lines);
    }
    return true;
}

/* Of a lane, or of lanes of a warp that all do the same, and read or are strong. */
static void access_line(struct crt_race_row *row, const struct line *line)
{
    struct crt_race_walk walk = {.page = CRT_RACE_NOWHERE, .area = CRT_RACE_NOWHERE};
    uint64_t place;
    if (!is_of_strips(row, line) || row->access.running->work == 0 ||
        !crt_race_find_memory(&row->access, line->first, bytes_of_line(row, line), &place)) {
        access_each(row, line, 0, line->count);
        return;
    }
    struct crt_race_part part = crt_race_part_of(row);
    const struct race_settling settling = crt_race_settling(row);
    part.lanes = row->lanes;
    part.access.thread = (int16_t)(row->access.race.thread + crt_highest_lane(row->lanes));
    part.access.unit = RACE_STRIP_BYTES;
    for (uint64_t i = 0, count; i < line->count; i += count) {
        uint64_t at = place + i * line->step;
        unsigned byte = at % RACE_STRIP_BYTES;
        uint64_t room = (RACE_STRIP_BYTES - byte + line->step - 1) / line->step;
        count = line->count - i < room ? line->count - i : room;
        part.strip = at / RACE_STRIP_BYTES;
        part.access.bytes = bytes_of(row, line, byte, count);
        if (set_lines(row, line, i, count, &part.access) &&
            access_strip(row, &part, &settling, &walk))
            continue;
        crt_race_lock_area(&walk, CRT_RACE_NOWHERE);
        access_each(row, line, i, count);
    }
    crt_race_lock_area(&walk, CRT_RACE_NOWHERE);
}

/* ---- lines of all lanes ---- */

/* Whether all of them are close, and no two lanes come to one place: each is behind the one before,
 * or each before it. */
static bool are_close_and_apart(const struct crt_race_row *row, const struct lines *lines)
{
    uint64_t begin = 0;
    uint64_t end = 0;
    bool grows = true;
    bool falls = true;
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= lanes - 1) {
        const struct line *line = &lines->of[crt_lowest_lane(lanes)];
        bool is_first = lanes == row->lanes;
        if (!is_close(row, line))
            return false;
        grows &= is_first || line->first >= end;
        falls &= is_first || line->first + bytes_of_line(row, line) <= begin;
        begin = line->first;
        end = begin + bytes_of_line(row, line);
    }
    return grows || falls;
}

static void access_by_lanes(const struct crt_race_row *all, const struct lines *lines)
{
    for (uint64_t lanes = all->lanes; lanes != 0; lanes &= lanes - 1) {
        struct crt_race_row row = *all;
        row.lanes = lanes & -lanes;
        access_line(&row, &lines->of[crt_lowest_lane(lanes)]);
    }
}

static void access_by_warps(const struct crt_race_row *all, const struct line *line)
{
    struct crt_race_row row = *all;
    for (uint64_t lanes = all->lanes; lanes != 0; lanes &= ~row.lanes) {
        row.lanes = crt_race_lanes_of_warp(all, lanes);
        access_line(&row, line);
    }
}

/* ---- iteration by iteration ---- */

#define ROWS_AHEAD 2

/* Rows of lanes at one distance, where they lie side by side in one memory. */
struct rows {
    bool are_known;
    uint64_t place; /* of the lowest lane in the first iteration */
    uint64_t bytes; /* of a row */
};

static struct rows rows_of(struct crt_race_row *row, const struct lines *lines)
{
    unsigned first = crt_lowest_lane(row->lanes);
    unsigned last = crt_highest_lane(row->lanes);
    const struct line *lowest = &lines->of[(int64_t)lines->stride < 0 ? last : first];
    uint64_t distance = (int64_t)lines->stride < 0 ? -lines->stride : lines->stride;
    struct rows rows = {.bytes = (last - first) * distance + row->access.bytes};
    uint64_t bytes = (lowest->count - 1) * lowest->step + rows.bytes;
    rows.are_known = distance < RACE_STRIP_BYTES && row->access.bytes != 0 &&
                     row->access.running->work != 0 &&
                     crt_race_find_memory(&row->access, lowest->first, bytes, &rows.place);
    return rows;
}

/* Of rows far apart, so that the strips of later ones are asked for by now. */
static void prefetch(const struct race_shadow *shadow, uint64_t place, uint64_t bytes)
{
    for (uint64_t strip = place / RACE_STRIP_BYTES; strip <= (place + bytes - 1) / RACE_STRIP_BYTES;
         strip++)
        __builtin_prefetch(&shadow->strips[strip], 1);
}

/* RACE_NO_WARP: they are several. */
static uint32_t warp_of_all(const struct crt_race_row *row)
{
    uint32_t warp = (row->access.race.thread + crt_lowest_lane(row->lanes)) / RT_WARP_SIZE;
    bool is_one = row->lanes == crt_race_lanes_of_warp(row, row->lanes);
    return is_one ? warp : RACE_NO_WARP;
}

/* One iteration; all: as row, which is changed. */
static void access_turn(struct crt_race_row *row, const struct crt_race_row *all,
                        const struct lines *lines, uint64_t turn)
{
    unsigned first = crt_lowest_lane(all->lanes);
    const struct line *line = &lines->of[first];
    row->access.address = line->first + turn * line->step - first * lines->stride;
    row->access.race.line = number_of_line(line, turn);
    row->addresses = NULL;
    row->stride = lines->stride;
    row->lanes = all->lanes;
    crt_race_access_row(row);
}

static void access_rows(const struct crt_race_row *all, const struct lines *lines)
{
    struct crt_race_row row = *all;
    const struct rows rows = rows_of(&row, lines);
    const struct race_shadow *shadow = crt_race_shadow_of(&row.access);
    const struct line *line = &lines->of[crt_lowest_lane(row.lanes)];
    const struct race_settling settling = crt_race_settling(&row);
    uint32_t warp = warp_of_all(&row);
    for (uint64_t turn = 0; turn < line->count; turn++) {
        uint64_t place = rows.place + turn * line->step;
        if (rows.are_known &&
            crt_race_are_settled(shadow, &settling, warp, place, place + rows.bytes))
            continue;
        if (rows.are_known && turn + ROWS_AHEAD < line->count)
            prefetch(shadow, place + ROWS_AHEAD * line->step, rows.bytes);
        access_turn(&row, all, lines, turn);
    }
}

/* ---- lanes that follow each other through the same places ---- */

/* From so many iterations on it is less to tell. */
#define FOLLOWED_TURNS 5

/* Whether a lane reads in the next iteration what its neighbour reads in this one, as those of a
 * filter do. */
static bool follow_each_other(const struct crt_race_row *row, const struct lines *lines)
{
    const struct line *line = &lines->of[crt_lowest_lane(row->lanes)];
    uint64_t lanes = row->lanes >> crt_lowest_lane(row->lanes);
    bool is_weak_read = !(row->access.race.flags & (RACE_WRITES | RACE_STRONG));
    return lines->are_alike && is_weak_read && (lanes & (lanes + 1)) == 0 &&
           line->count >= FOLLOWED_TURNS && is_close(row, line) &&
           (line->step == lines->stride || line->step == -lines->stride);
}

/* Of those that read a place the first lane and the last one say enough. They come to it in the
 * first iteration, or in the last one, or are the first or the last lane of all. */
static void access_ends(const struct crt_race_row *all, const struct lines *lines)
{
    unsigned ends[] = {crt_lowest_lane(all->lanes), crt_highest_lane(all->lanes)};
    uint64_t turns[] = {0, lines->of[ends[0]].count - 1};
    for (unsigned i = 0; i < 2; i++) {
        struct crt_race_row row = *all;
        access_turn(&row, all, lines, turns[i]);
        row = *all;
        row.lanes = UINT64_C(1) << ends[i];
        access_line(&row, &lines->of[ends[i]]);
    }
}

/* ---- lanes one after the other in each iteration ---- */

static void access_by_turns(const struct crt_race_row *all, const struct lines *lines)
{
    uint64_t addresses[64];
    uint64_t left = all->lanes;
    for (uint64_t turn = 0; left != 0; turn++) {
        struct crt_race_row row = *all;
        row.lanes = left;
        row.addresses = addresses;
        row.access.race.line = number_of_line(&lines->of[crt_lowest_lane(left)], turn);
        for (uint64_t lanes = row.lanes; lanes != 0; lanes &= lanes - 1) {
            unsigned lane = crt_lowest_lane(lanes);
            addresses[lane] = lines->of[lane].first + turn * lines->of[lane].step;
            if (turn + 1 == lines->of[lane].count)
                left &= ~(lanes & -lanes);
        }
        crt_race_access_row(&row);
    }
}

void crt_race_access_loop(struct crt_race_loop *loop)
{
    struct crt_race_row *row = &loop->row;
    struct lines lines;
    if (!find_alike(loop, &lines)) {
        find_lines(loop, &lines);
        if (row->lanes == 0)
            return;
        find_likeness(loop, &lines);
    }
    const struct line *first = &lines.of[crt_lowest_lane(row->lanes)];
    if (crt_is_one_lane(row->lanes) && is_close(row, first))
        access_line(row, first);
    else if (crt_is_one_lane(row->lanes))
        access_each(row, first, 0, first->count);
    else if (lines.are_alike && lines.stride == 0 && is_of_strips(row, first) &&
             crt_race_can_be_told_together(row))
        access_by_warps(row, first);
    else if (are_close_and_apart(row, &lines))
        access_by_lanes(row, &lines);
    else if (follow_each_other(row, &lines))
        access_ends(row, &lines);
    else if (lines.are_alike)
        access_rows(row, &lines);
    else
        access_by_turns(row, &lines);
}
