/* SPDX-License-Identifier: Apache-2.0
 *
 * What core/races takes for ordered, against full vector clocks of single threads, in random
 * programs of two blocks; and what cells keep.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/races/cells.h"

#define WARPS    3
#define THREADS  (WARPS * RT_WARP_SIZE) /* of a block */
#define BLOCKS   2
#define ALL      (BLOCKS * THREADS)
#define ACCESSES 400
#define STEPS    600
#define PROGRAMS 60
#define PLACES   3

/* ---- the oracle: for each thread what it knows of each other one ---- */

struct oracle {
    uint32_t known[ALL][ALL];
};

static void join(struct oracle *oracle, const bool *takes_part)
{
    static uint32_t joined[ALL];
    memset(joined, 0, sizeof joined);
    for (unsigned t = 0; t < ALL; t++)
        for (unsigned u = 0; takes_part[t] && u < ALL; u++)
            if (joined[u] < oracle->known[t][u])
                joined[u] = oracle->known[t][u];
    for (unsigned t = 0; t < ALL; t++)
        if (takes_part[t]) {
            memcpy(oracle->known[t], joined, sizeof joined);
            oracle->known[t][t]++;
        }
}

static void oracle_release(struct oracle *oracle, unsigned thread, uint32_t place[ALL])
{
    for (unsigned u = 0; u < ALL; u++)
        if (place[u] < oracle->known[thread][u])
            place[u] = oracle->known[thread][u];
    oracle->known[thread][thread]++;
}

static void oracle_acquire(struct oracle *oracle, unsigned thread, const uint32_t place[ALL])
{
    for (unsigned u = 0; u < ALL; u++)
        if (u != thread && oracle->known[thread][u] < place[u])
            oracle->known[thread][u] = place[u];
}

/* ---- a program ---- */

struct access {
    unsigned thread; /* of all */
    uint32_t stamp;
    uint32_t time; /* the oracle's */
};

struct program {
    unsigned seed;
    struct race_block blocks[BLOCKS];
    struct oracle oracle;
    struct access accesses[ACCESSES];
    unsigned count;
    struct race_clock places[PLACES];
    uint32_t oracle_places[PLACES][ALL];
    unsigned missed; /* ordered, says core/races, and is not */
};

static unsigned number(struct program *program, unsigned bound)
{
    program->seed = program->seed * 1103515245u + 12345u;
    return (program->seed >> 16) % bound;
}

static bool is_before(const struct program *program, unsigned thread, const struct access *access)
{
    return race_is_before(&program->blocks[thread / THREADS], thread % THREADS,
                          access->thread / THREADS, access->thread % THREADS, access->stamp);
}

static void compare(struct program *program, unsigned thread)
{
    for (unsigned i = 0; i < program->count; i++) {
        const struct access *access = &program->accesses[i];
        bool is_ordered = thread == access->thread ||
                          access->time <= program->oracle.known[thread][access->thread];
        bool is_taken_for = is_before(program, thread, access);
        cr_assert(is_taken_for || !is_ordered, "thread %u, access of %u at %u", thread,
                  access->thread, access->stamp);
        program->missed += is_taken_for && !is_ordered;
    }
}

/* The time of an access is that of its thread, which the others come to know when it passes it on.
 */
static void do_access(struct program *program)
{
    unsigned thread = number(program, ALL);
    compare(program, thread);
    if (program->count < ACCESSES)
        program->accesses[program->count++] =
            (struct access){.thread = thread,
                            .stamp = program->blocks[thread / THREADS].now,
                            .time = program->oracle.known[thread][thread]};
}

/* Threads from the first on, in order, that arrive: as many as are told together. */
static unsigned arrive(struct program *program, unsigned block, const unsigned *threads,
                       unsigned left, unsigned id, unsigned count)
{
    unsigned together = 1;
    uint64_t lanes = 1;
    unsigned most = 1 + number(program, 2) * number(program, 64);
    while (together < left && together < most && threads[together] - threads[0] < 64)
        lanes |= UINT64_C(1) << (threads[together++] - threads[0]);
    if (together == 1)
        race_barrier_arrive(&program->blocks[block], threads[0], id, count);
    else
        race_barrier_arrive_lanes(&program->blocks[block], threads[0], lanes, id, count);
    return together;
}

/* Of all warps of a block, or of some, which name their number. */
static void do_barrier(struct program *program)
{
    unsigned block = number(program, BLOCKS);
    unsigned warps = 1 + number(program, (1u << WARPS) - 1);
    bool takes_part[ALL] = {false};
    unsigned threads[THREADS];
    unsigned count = 0;
    for (unsigned t = 0; t < THREADS; t++)
        if (warps >> (t / RT_WARP_SIZE) & 1) {
            takes_part[block * THREADS + t] = true;
            threads[count++] = t;
        }
    bool is_whole = count == THREADS && number(program, 2);
    unsigned id = number(program, RACE_BARRIERS_MAX);
    for (unsigned i = 0; i < count;)
        i += arrive(program, block, threads + i, count - i, id, is_whole ? 0 : count);
    if (warps == (1u << WARPS) - 1 && number(program, 2)) {
        race_barrier_leave_lanes(&program->blocks[block], 0, UINT64_MAX, id);
        race_barrier_leave_lanes(&program->blocks[block], 64, UINT32_MAX, id);
        count = 0;
    }
    for (unsigned i = count; i > 0; i--) {
        unsigned pick = number(program, i);
        race_barrier_leave(&program->blocks[block], threads[pick], id);
        threads[pick] = threads[i - 1];
    }
    join(&program->oracle, takes_part);
}

static void do_meeting(struct program *program)
{
    unsigned block = number(program, BLOCKS);
    unsigned first = number(program, WARPS) * RT_WARP_SIZE;
    unsigned mask = number(program, 2) ? UINT32_MAX : number(program, 1u << 16) << 8 | 1;
    bool takes_part[ALL] = {false};
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
        takes_part[block * THREADS + first + lane] = mask >> lane & 1;
    for (unsigned lane = RT_WARP_SIZE; lane > 0; lane--)
        if (mask >> (lane - 1) & 1)
            race_lanes_met(&program->blocks[block], first + lane - 1, mask);
    join(&program->oracle, takes_part);
}

/* By an instruction that orders, or behind and before a fence. */
static void do_message(struct program *program)
{
    unsigned place = number(program, PLACES);
    unsigned thread = number(program, ALL);
    struct race_block *block = &program->blocks[thread / THREADS];
    bool is_ordered = number(program, 2);
    if (number(program, 2)) {
        if (!is_ordered)
            race_fence(block, thread % THREADS);
        race_release(block, thread % THREADS, is_ordered, &program->places[place]);
        oracle_release(&program->oracle, thread, program->oracle_places[place]);
        return;
    }
    race_acquire(block, thread % THREADS, is_ordered, &program->places[place]);
    if (!is_ordered)
        race_fence(block, thread % THREADS);
    oracle_acquire(&program->oracle, thread, program->oracle_places[place]);
}

static unsigned run(unsigned seed, bool has_messages)
{
    struct program *program = calloc(1, sizeof *program);
    cr_assert_not_null(program);
    program->seed = seed;
    for (unsigned b = 0; b < BLOCKS; b++)
        race_block_begin(&program->blocks[b], 1, b, THREADS);
    for (unsigned t = 0; t < ALL; t++)
        program->oracle.known[t][t] = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned what = number(program, 10);
        if (what == 0)
            do_barrier(program);
        else if (what == 1)
            do_meeting(program);
        else if (what == 2 && has_messages)
            do_message(program);
        else
            do_access(program);
    }
    unsigned missed = program->missed;
    for (unsigned b = 0; b < BLOCKS; b++)
        race_block_free(&program->blocks[b]);
    for (unsigned p = 0; p < PLACES; p++)
        race_clock_free(&program->places[p]);
    free(program);
    return missed;
}

/* By barriers and meetings of lanes alone, nothing is taken for ordered but what is. */
Test(races, order_by_barriers_is_exact)
{
    for (unsigned seed = 0; seed < PROGRAMS; seed++)
        cr_expect_eq(run(seed, false), 0, "seed %u", seed);
}

/* A message speaks for the whole warp: orders are taken for granted, but none is overlooked. */
Test(races, order_by_messages_is_never_overlooked)
{
    for (unsigned seed = 0; seed < PROGRAMS; seed++)
        run(seed, true);
}

/* ---- cells ---- */

struct cells {
    struct race_block block;
    struct race_cell cell;
};

static struct cells *make_cells(void)
{
    struct cells *made = calloc(1, sizeof *made);
    cr_assert_not_null(made);
    race_block_begin(&made->block, 1, 0, THREADS);
    return made;
}

static bool races(struct cells *cells, unsigned thread, unsigned bytes, unsigned flags)
{
    struct race_access access = {.stamp = cells->block.now,
                                 .thread = (uint16_t)thread,
                                 .bytes = (uint8_t)bytes,
                                 .flags = (uint8_t)flags};
    return race_cell_access(&cells->cell, 1, &cells->block, &access) != NULL;
}

Test(races, writes_race_with_reads_and_writes)
{
    struct cells *cells = make_cells();
    cr_expect(!races(cells, 0, 0xf, 0));
    cr_expect(!races(cells, 1, 0xf, 0), "two reads");
    cr_expect(races(cells, 2, 0xf, RACE_WRITES), "reads before");
    cr_expect(races(cells, 3, 0xf, RACE_WRITES), "a write before");
    cr_expect(!races(cells, 3, 0xf, 0), "its own");
    cr_expect(races(cells, 4, 0xf, 0), "another's");
    free(cells);
}

Test(races, bytes_that_differ_do_not_race)
{
    struct cells *cells = make_cells();
    cr_expect(!races(cells, 0, 0x3, RACE_WRITES));
    cr_expect(!races(cells, 1, 0xc, RACE_WRITES));
    cr_expect(races(cells, 2, 0x8, RACE_WRITES));
    free(cells);
}

Test(races, bytes_that_are_read_are_kept_until_they_are_written)
{
    struct cells *cells = make_cells();
    for (unsigned byte = 0; byte < RACE_CELL_BYTES; byte++)
        cr_expect(!races(cells, 0, 1u << byte, 0));
    for (unsigned byte = 0; byte < RACE_CELL_BYTES; byte++)
        cr_expect(races(cells, 1 + byte, 1u << byte, RACE_WRITES), "byte %u", byte);
    cr_expect(!races(cells, 4, 0x8, RACE_WRITES), "its own");
    free(cells);
}

Test(races, strong_accesses_race_with_weak_ones_only)
{
    struct cells *cells = make_cells();
    cr_expect(!races(cells, 0, 0xf, RACE_WRITES | RACE_STRONG));
    cr_expect(!races(cells, 1, 0xf, RACE_WRITES | RACE_STRONG));
    cr_expect(races(cells, 2, 0xf, 0));
    free(cells);
}

Test(races, a_strong_write_hides_no_plain_one_of_its_thread)
{
    struct cells *cells = make_cells();
    cr_expect(!races(cells, 0, 0xf, RACE_WRITES));
    race_fence(&cells->block, 0);
    cr_expect(!races(cells, 0, 0xf, RACE_WRITES | RACE_STRONG));
    cr_expect(races(cells, 1, 0xf, RACE_WRITES | RACE_STRONG));
    free(cells);
}

Test(races, a_strong_write_stands_for_what_others_know)
{
    struct cells *cells = make_cells();
    cr_expect(!races(cells, 0, 0xf, RACE_WRITES));
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
        race_lanes_met(&cells->block, lane, UINT32_MAX);
    cr_expect(!races(cells, 0, 0xf, RACE_WRITES | RACE_STRONG));
    cr_expect(!races(cells, 1, 0xf, RACE_WRITES | RACE_STRONG));
    free(cells);
}

Test(races, the_same_value_twice_is_no_race)
{
    struct cells *cells = make_cells();
    struct race_access access = {
        .stamp = 1, .bytes = 0xf, .flags = RACE_WRITES | RACE_VALUE, .value = 7};
    cr_expect_null(race_cell_access(&cells->cell, 1, &cells->block, &access));
    access.thread = 1;
    cr_expect_null(race_cell_access(&cells->cell, 1, &cells->block, &access));
    access.thread = 2;
    access.value = 8;
    cr_expect_not_null(race_cell_access(&cells->cell, 1, &cells->block, &access));
    free(cells);
}

/* Of many readers those are kept that are furthest apart. */
Test(races, a_reader_of_another_warp_is_kept)
{
    struct cells *cells = make_cells();
    races(cells, 40, 0xf, 0);
    for (unsigned t = 0; t < RT_WARP_SIZE; t++)
        races(cells, t, 0xf, 0);
    for (unsigned t = 0; t < RT_WARP_SIZE; t++)
        race_lanes_met(&cells->block, t, UINT32_MAX);
    cr_expect(races(cells, 0, 0xf, RACE_WRITES));
    free(cells);
}

static bool conflicts(unsigned flags, unsigned earlier)
{
    const struct race_cell cell = {
        .write = {.bytes = 0xf, .flags = (uint8_t)(RACE_WRITES | earlier)}};
    const struct race_access access = {.bytes = 0xf, .flags = (uint8_t)flags};
    return race_cell_conflict(&cell, &access) != NULL;
}

Test(races, what_is_strong_for_the_device_is_not_for_the_host)
{
    cr_expect(!conflicts(RACE_STRONG, RACE_STRONG));
    cr_expect(conflicts(RACE_STRONG, RACE_STRONG | RACE_BLOCK));
    cr_expect(conflicts(0, RACE_HOST));
    cr_expect(conflicts(RACE_STRONG, RACE_HOST));
    cr_expect(!conflicts(RACE_STRONG | RACE_SYSTEM, RACE_HOST));
    cr_expect(conflicts(RACE_HOST, RACE_STRONG));
    cr_expect(!conflicts(RACE_HOST, RACE_STRONG | RACE_SYSTEM));
    cr_expect(!conflicts(RACE_HOST, RACE_HOST));
}

Test(races, another_run_forgets)
{
    struct cells *cells = make_cells();
    races(cells, 0, 0xf, RACE_WRITES);
    struct race_access access = {.stamp = 1, .thread = 1, .bytes = 0xf, .flags = RACE_WRITES};
    cr_expect_null(race_cell_access(&cells->cell, 2, &cells->block, &access));
    free(cells);
}
