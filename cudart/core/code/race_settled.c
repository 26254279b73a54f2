/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of words that need not be told of them (races/strips.h).
 */
#include "cudart/core/code/race_parts.h"

/* Whether the lanes have left the last barrier of all threads: then what was written before it is
 * settled for them. */
static bool have_left(const struct race_block *block, uint32_t thread, uint64_t lanes)
{
    uint32_t last = (thread + crt_highest_lane(lanes)) / RT_WARP_SIZE;
    for (uint32_t warp = (thread + crt_lowest_lane(lanes)) / RT_WARP_SIZE; warp <= last; warp++)
        if (block->warps[warp].row.block < block->whole)
            return false;
    return true;
}

static bool is_weak_read(uint32_t what)
{
    return (what & (RT_ACCESS_MASK | RT_RACE_STRONG)) == RT_ACCESS_READ;
}

static uint64_t run_of(const struct crt_running_block *running, uint32_t what)
{
    return what & RT_RACE_UNTOLD ? running->work : 0;
}

struct race_settling crt_race_settling(const struct crt_race_row *row)
{
    const struct crt_race_access *access = &row->access;
    const struct crt_running_block *running = access->running;
    if (!is_weak_read(access->what) || (access->owner && access->owner != running))
        return (struct race_settling){0};
    bool has_time = have_left(&running->races, access->race.thread, row->lanes);
    return (struct race_settling){.run = access->owner ? 0 : run_of(running, access->what),
                                  .time = has_time ? running->races.time : 0};
}

bool crt_race_are_settled(const struct race_shadow *shadow, const struct race_settling *settling,
                          uint32_t warp, uint64_t begin, uint64_t end)
{
    uint64_t last = (end - 1) / RACE_CELL_BYTES;
    uint64_t word = begin / RACE_CELL_BYTES;
    while (word <= last) {
        uint64_t strip = word / RACE_STRIP_WORDS;
        uint64_t from = word % RACE_STRIP_WORDS;
        uint64_t left = last - word;
        uint64_t to = left < RACE_STRIP_WORDS - from ? from + left : RACE_STRIP_WORDS - 1;
        uint64_t words = (UINT64_C(2) << to) - (UINT64_C(1) << from);
        if (words & ~race_shadow_settled(shadow, strip, settling, warp))
            return false;
        word = (strip + 1) * RACE_STRIP_WORDS;
    }
    return true;
}

/* Of these lanes of a part, the first of which is at that byte, those with other words. */
static uint64_t lanes_beside(const struct crt_race_row *row, uint64_t lanes, int64_t byte,
                             unsigned first, uint64_t words)
{
    uint64_t left = lanes;
    for (; words != 0 && lanes != 0; lanes &= lanes - 1) {
        uint64_t at = (uint64_t)byte + (crt_lowest_lane(lanes) - first) * row->stride;
        uint64_t bytes = crt_lanes_from_to((unsigned)at, (unsigned)(at + row->access.bytes));
        if ((race_words_with(bytes) & ~words) == 0)
            left &= ~(lanes & -lanes);
    }
    return left;
}

uint64_t crt_race_unsettled_lanes(const struct crt_race_row *row, const struct crt_race_part *part,
                                  const struct race_settling *settling, unsigned byte)
{
    uint64_t left = 0;
    if ((settling->run | settling->time) == 0)
        return part->lanes;
    uint64_t words = race_words_with(part->access.bytes);
    for (uint64_t rest = part->lanes, lanes; rest != 0; rest &= ~lanes) {
        uint32_t warp = (row->access.race.thread + crt_lowest_lane(rest)) / RT_WARP_SIZE;
        uint64_t settled = race_shadow_settled(part->shadow, part->strip, settling, warp);
        lanes = crt_race_lanes_of_warp(row, rest);
        if (settled == 0)
            left |= lanes;
        else if ((words & ~settled) != 0)
            left |= lanes_beside(row, lanes, byte, crt_lowest_lane(part->lanes), settled);
    }
    return left;
}

bool crt_race_is_settled(const struct crt_running_block *running, const struct rt_thread *thread,
                         uint64_t lanes, uint64_t address, uint64_t bytes, uint32_t what)
{
    const struct race_block *block = &running->races;
    uint32_t number = crt_thread_number(thread);
    uint32_t warp = (number + crt_lowest_lane(lanes)) / RT_WARP_SIZE;
    bool is_of_one = (number + crt_highest_lane(lanes)) / RT_WARP_SIZE == warp;
    uint64_t place;
    if (!is_weak_read(what) || bytes == 0 || running->work == 0 ||
        !crt_race_place(address, bytes, &place))
        return false;
    const struct race_settling settling = {
        .run = run_of(running, what), .time = have_left(block, number, lanes) ? block->time : 0};
    return crt_race_are_settled(crt_race_shadow(), &settling, is_of_one ? warp : RACE_NO_WARP,
                                place, place + bytes);
}

/* 0 and false: nothing of it is settled. */
static bool may_settle(const struct crt_race_access *access, uint64_t *run)
{
    *run = access->owner ? 0 : run_of(access->running, access->what);
    return is_weak_read(access->what) && (!access->owner || access->owner == access->running);
}

void crt_race_settle(const struct crt_race_access *access, const struct crt_race_part *part)
{
    uint64_t run;
    if (may_settle(access, &run))
        race_shadow_settle(part->shadow, part->strip, part->access.bytes, run,
                           &access->running->races);
}

void crt_race_settle_cell(const struct crt_race_access *access, uint64_t word)
{
    uint64_t run;
    if (may_settle(access, &run))
        race_shadow_settle_cell(crt_race_shadow_of(access), word, run, &access->running->races);
}
