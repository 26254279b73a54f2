/* SPDX-License-Identifier: Apache-2.0
 *
 * What checks of races are told of loops: accesses that the loops make, and of the lanes that read
 * one word the first and the last at least.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "cudart/core/code/race_parts.h"

#define LANES 16
#define WORDS 256
#define BASE  UINT64_C(0x10000)

static uint64_t told[WORDS];
static unsigned rows_told;

/* ---- in place of the other parts: all is told by rows ---- */

struct crt_race_memory crt_race_memory;
struct crt_race_lock crt_race_locks[CRT_RACE_LOCKS];

void crt_race_find_device_memory(void)
{
}

void crt_race_access_row(struct crt_race_row *row)
{
    rows_told++;
    for (uint64_t lanes = row->lanes; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = crt_lowest_lane(lanes);
        uint64_t address =
            row->addresses ? row->addresses[lane] : row->access.address + lane * row->stride;
        cr_assert_lt((address - BASE) / 4, WORDS);
        told[(address - BASE) / 4] |= UINT64_C(1) << lane;
    }
}

bool crt_race_find_memory(struct crt_race_access *access, uint64_t address, uint64_t bytes,
                          uint64_t *place)
{
    (void)access;
    (void)address;
    (void)bytes;
    (void)place;
    return false;
}

struct race_settling crt_race_settling(const struct crt_race_row *row)
{
    (void)row;
    return (struct race_settling){0};
}

bool crt_race_are_settled(const struct race_shadow *shadow, const struct race_settling *settling,
                          uint32_t warp, uint64_t begin, uint64_t end)
{
    (void)shadow;
    (void)settling;
    (void)warp;
    (void)begin;
    (void)end;
    return false;
}

uint32_t crt_race_find_page_race(const struct crt_race_access *access, uint64_t place,
                                 uint64_t bytes, struct race_access *found)
{
    (void)access;
    (void)place;
    (void)bytes;
    (void)found;
    return 0;
}

struct crt_race_part crt_race_part_of(const struct crt_race_row *row)
{
    (void)row;
    return (struct crt_race_part){0};
}

void crt_race_lock_area(struct crt_race_walk *walk, uint64_t area)
{
    walk->area = area;
}

bool crt_race_access_part(const struct crt_race_row *row, const struct crt_race_part *part,
                          uint64_t place)
{
    (void)row;
    (void)part;
    (void)place;
    return false;
}

bool crt_race_access_together(const struct crt_race_row *row, const struct crt_race_part *part,
                              uint32_t first)
{
    (void)row;
    (void)part;
    (void)first;
    return false;
}

/* ---- loops ---- */

struct numbers {
    uint64_t lanes;
    int64_t stride; /* words from lane to lane, … */
    int64_t step;   /* … and from iteration to iteration */
    uint64_t turns;
    uint8_t flags;
};

static int64_t word_of(const struct numbers *n, unsigned lane, uint64_t turn)
{
    return WORDS / 2 + n->stride * (int64_t)lane + n->step * (int64_t)turn;
}

static void tell(const struct numbers *n)
{
    static struct crt_running_block running = {.work = 1};
    static const struct rt_thread thread;
    uint64_t addresses[64], steps[64], turns[64];
    for (unsigned lane = 0; lane < LANES; lane++) {
        addresses[lane] = BASE + 4 * (uint64_t)word_of(n, lane, n->turns - 1);
        steps[lane] = (uint64_t)(4 * n->step);
        turns[lane] = n->turns;
    }
    struct crt_race_loop loop = {
        .row = {.access = {.thread = &thread,
                           .running = &running,
                           .bytes = 4,
                           .race = {.flags = n->flags}},
                .lanes = n->lanes,
                .addresses = addresses},
        .steps = steps,
        .turns = turns,
        .floors = addresses,
    };
    memset(told, 0, sizeof told);
    rows_told = 0;
    crt_race_access_loop(&loop);
}

static void find_lanes(const struct numbers *n, uint64_t *lanes)
{
    memset(lanes, 0, WORDS * sizeof *lanes);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (uint64_t turn = 0; turn < n->turns; turn++)
            if (n->lanes >> lane & 1)
                lanes[word_of(n, lane, turn)] |= UINT64_C(1) << lane;
}

static void expect_all(const struct numbers *n)
{
    uint64_t lanes[WORDS];
    find_lanes(n, lanes);
    tell(n);
    for (unsigned word = 0; word < WORDS; word++)
        cr_expect_eq(told[word], lanes[word], "word %u of stride %d", word, (int)n->stride);
}

static void expect_ends(const struct numbers *n)
{
    uint64_t lanes[WORDS];
    find_lanes(n, lanes);
    tell(n);
    for (unsigned word = 0; word < WORDS; word++) {
        uint64_t ends = 0;
        if (lanes[word] != 0)
            ends = UINT64_C(1) << crt_lowest_lane(lanes[word]) |
                   UINT64_C(1) << crt_highest_lane(lanes[word]);
        cr_expect_eq(told[word] & ~lanes[word], 0, "word %u", word);
        cr_expect_eq(told[word] & ends, ends, "word %u of %u turns", word, (unsigned)n->turns);
    }
}

#define ALL UINT64_C(0xffff)

Test(race_loops, of_lanes_that_follow_each_other_the_ends_are_told)
{
    for (uint64_t turns = 2; turns < 40; turns++)
        for (int64_t direction = -1; direction <= 1; direction += 2) {
            expect_ends(&(struct numbers){ALL, direction, 1, turns, 0});
            expect_ends(&(struct numbers){ALL, direction, -1, turns, 0});
            expect_ends(&(struct numbers){UINT64_C(0x3f8), direction, 1, turns, 0});
        }
    tell(&(struct numbers){ALL, 1, 1, 33, 0});
    unsigned lanes = 0;
    for (unsigned word = 0; word < WORDS; word++)
        lanes += (unsigned)__builtin_popcountll(told[word]);
    cr_expect_lt(lanes, 4 * 33);
}

Test(race_loops, of_others_all_is_told)
{
    static const struct numbers others[] = {
        {ALL, 1, 1, 12, RACE_WRITES | RACE_STRONG},
        {ALL, 1, 1, 12, RACE_STRONG},
        {ALL, 1, 1, 12, RACE_WRITES},
        {UINT64_C(0x3d8), 1, 1, 12, 0},
        {ALL, 2, 1, 12, 0},
        {ALL, 1, 2, 12, 0},
        {ALL, 1, 1, 2, 0},
        {ALL, 0, 3, 12, 0},
        {ALL, 3, -3, 1, 0},
        {ALL, 5, 1, 5, 0},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_all(&others[i]);
}
