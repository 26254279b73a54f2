/* SPDX-License-Identifier: Apache-2.0
 *
 * What strips, and cells of many lanes at once, keep and find: the same as cells that are told of
 * each lane and word alone, in random programs of two blocks.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/races/strips.h"

#define WARPS    3
#define THREADS  (WARPS * RT_WARP_SIZE)
#define STRIPS   4
#define WORDS    (STRIPS * RACE_STRIP_WORDS)
#define LINES    3
#define STEPS    400
#define PROGRAMS 300
#define BLOCKS   2

struct program {
    unsigned seed;
    struct race_block blocks[BLOCKS];
    struct race_shadow shadow;
    struct race_strip strips[STRIPS];
    struct race_strip_more more[STRIPS];
    uint32_t values[WORDS];
    struct race_cell cells[WORDS];
    struct race_cell alone[WORDS]; /* told word by word */
    unsigned whole;                /* how many strips were told at once */
    unsigned together;             /* and words, by lanes of a warp */
};

static unsigned number(struct program *program, unsigned bound)
{
    program->seed = program->seed * 1103515245u + 12345u;
    return (program->seed >> 16) % bound;
}

/* ---- what is kept ---- */

static void expect_access(const struct race_access *is, const struct race_access *should,
                          const char *what, unsigned word, unsigned seed)
{
    bool is_same = is->bytes == should->bytes &&
                   (is->bytes == 0 || (is->block == should->block && is->stamp == should->stamp &&
                                       is->line == should->line && is->thread == should->thread &&
                                       is->flags == should->flags &&
                                       (!(is->flags & RACE_VALUE) || is->value == should->value)));
    cr_assert(is_same, "seed %u, %s of word %u: thread %u line %u, not thread %u line %u", seed,
              what, word, is->thread, is->line, should->thread, should->line);
}

static void compare(const struct program *program, unsigned seed)
{
    for (unsigned w = 0; w < WORDS; w++) {
        struct race_cell cell = race_shadow_look(&program->shadow, w);
        expect_access(&cell.write, &program->alone[w].write, "write", w, seed);
        expect_access(&cell.reads[0], &program->alone[w].reads[0], "first read", w, seed);
        expect_access(&cell.reads[1], &program->alone[w].reads[1], "second read", w, seed);
    }
}

/* ---- accesses ---- */

static const struct race_block *block_of(const struct program *program,
                                         const struct race_access *access)
{
    return &program->blocks[access->block];
}

static bool told_alone(struct program *program, const struct race_access *access, unsigned word)
{
    return race_cell_access(&program->alone[word], 1, block_of(program, access), access) != NULL;
}

static struct race_access any_access(struct program *program)
{
    static const uint8_t flags[] = {
        0, 0, 0, RACE_WRITES, RACE_WRITES | RACE_VALUE, RACE_WRITES | RACE_STRONG, RACE_STRONG};
    uint32_t block = number(program, 16) == 0;
    return (struct race_access){.block = block,
                                .stamp = program->blocks[block].now,
                                .line = 1 + number(program, LINES),
                                .bytes = 0xf,
                                .flags = flags[number(program, sizeof flags)]};
}

/* A word of neighbours' accesses, by strips and alone. */
static void tell_word(struct program *program, const struct race_access *access, unsigned word,
                      unsigned shift, unsigned seed)
{
    bool is_race = race_cell_access(race_shadow_cell(&program->shadow, word), 1,
                                    block_of(program, access), access) != NULL;
    cr_assert_eq(is_race, told_alone(program, access, word), "seed %u, word %u", seed, word);
    if (access->flags & RACE_WRITES)
        race_shadow_join(&program->shadow, word, shift);
}

static uint32_t value_of(struct program *program)
{
    return number(program, 2);
}

/* thread: of the first word. */
static void tell_strip(struct program *program, struct race_access access, unsigned strip,
                       unsigned words, unsigned shift, int thread, unsigned seed)
{
    const struct race_strip_access part = {.block = access.block,
                                           .stamp = access.stamp,
                                           .line = access.line,
                                           .thread = (int16_t)thread,
                                           .words = (uint8_t)words,
                                           .flags = access.flags & 0x3f,
                                           .shift = shift & 3};
    struct race_strip *place = &program->strips[strip];
    unsigned split = place->split & words;
    const struct race_block *block = block_of(program, &access);
    bool is_whole = race_shadow_may_take(&program->shadow, strip, split, block, &part) &&
                    race_strip_access(&program->shadow, strip, block, &part);
    if (is_whole)
        place->split &= (uint8_t)~split;
    program->whole += is_whole;
    for (; words != 0; words &= words - 1) {
        unsigned in_strip = (unsigned)__builtin_ctz(words);
        unsigned word = strip * RACE_STRIP_WORDS + in_strip;
        access.thread = (uint16_t)race_strip_thread(&part, in_strip);
        access.value = value_of(program);
        if (is_whole) {
            if (access.flags & RACE_VALUE)
                program->values[word] = access.value;
            cr_assert(!told_alone(program, &access, word), "seed %u, word %u", seed, word);
        } else {
            tell_word(program, &access, word, shift, seed);
        }
    }
}

/* Of threads side by side, on words side by side. */
static void do_row(struct program *program, unsigned seed)
{
    struct race_access access = any_access(program);
    unsigned shift = number(program, 4) ? 0 : number(program, 4);
    unsigned strip = number(program, STRIPS);
    unsigned words = number(program, 2) ? RACE_STRIP_ALL : 1 + number(program, RACE_STRIP_ALL);
    int first = number(program, 3) ? (int)(8 * number(program, THREADS / 8))
                                   : (int)number(program, THREADS - 8);
    if (shift > 0) /* a thread has all of its words */
        words = RACE_STRIP_ALL;
    tell_strip(program, access, strip, words, shift, first, seed);
}

/* Of lanes of a warp, on one word. */
static void do_place(struct program *program, unsigned seed)
{
    struct race_access access = any_access(program);
    unsigned word = number(program, WORDS);
    uint64_t lanes = number(program, 2) ? 0xffff : 3 + number(program, 0xffff - 3);
    if ((lanes & (lanes - 1)) == 0)
        lanes |= 0x10000;
    struct race_cell *cell = race_shadow_cell(&program->shadow, word);
    access.thread = (uint16_t)(number(program, WARPS) * RT_WARP_SIZE + 8 * number(program, 2));
    access.flags &= (uint8_t)~RACE_VALUE;
    if (access.flags == RACE_WRITES)
        access.flags |= RACE_STRONG;
    access.bytes = number(program, 4) ? 0xf : 0x2;
    const struct race_block *block = block_of(program, &access);
    bool is_for_lanes = race_cell_is_for_lanes(cell, 1, block, &access, lanes);
    if (is_for_lanes)
        race_cell_access_lanes(cell, 1, block, &access, lanes);
    program->together += is_for_lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
        struct race_access one = access;
        one.thread = (uint16_t)(one.thread + __builtin_ctzll(lanes));
        if (is_for_lanes)
            cr_assert(!told_alone(program, &one, word), "seed %u, word %u", seed, word);
        else
            tell_word(program, &one, word, 0, seed);
    }
}

/* ---- what orders ---- */

static struct race_block *any_block(struct program *program)
{
    return &program->blocks[number(program, BLOCKS)];
}

static void do_barrier(struct race_block *block)
{
    for (unsigned t = 0; t < THREADS; t++)
        race_barrier_arrive(block, t, 0, 0);
    for (unsigned t = 0; t < THREADS; t++)
        race_barrier_leave(block, t, 0);
}

static void do_meeting(struct program *program)
{
    struct race_block *block = any_block(program);
    unsigned first = number(program, WARPS) * RT_WARP_SIZE;
    unsigned mask = number(program, 2) ? UINT32_MAX : 1 + number(program, 0xffff);
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
        if (mask >> lane & 1)
            race_lanes_met(block, first + lane, mask);
}

/* Of warps, which name their number. */
static void do_counted_barrier(struct race_block *block)
{
    for (unsigned t = 0; t < 2 * RT_WARP_SIZE; t++)
        race_barrier_arrive(block, t, 1, 2 * RT_WARP_SIZE);
    for (unsigned t = 0; t < 2 * RT_WARP_SIZE; t++)
        race_barrier_leave(block, t, 1);
}

static struct program *begin(unsigned seed)
{
    struct program *program = calloc(1, sizeof *program);
    cr_assert_not_null(program);
    program->seed = seed;
    program->shadow = (struct race_shadow){.strips = program->strips,
                                           .more = program->more,
                                           .values = program->values,
                                           .cells = program->cells};
    for (unsigned b = 0; b < BLOCKS; b++)
        race_block_begin(&program->blocks[b], 1, b, THREADS);
    for (unsigned i = 0; i < STRIPS; i++)
        program->strips[i].run = 1;
    return program;
}

static void end(struct program *program)
{
    for (unsigned b = 0; b < BLOCKS; b++)
        race_block_free(&program->blocks[b]);
    free(program);
}

static struct program *run(unsigned seed)
{
    struct program *program = begin(seed);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned what = number(program, 16);
        if (what < 4)
            do_barrier(any_block(program));
        else if (what == 4)
            do_meeting(program);
        else if (what == 5)
            do_counted_barrier(any_block(program));
        else if (what < 8)
            do_place(program, seed);
        else
            do_row(program, seed);
        compare(program, seed);
    }
    return program;
}

Test(race_strips, know_what_cells_would)
{
    unsigned whole = 0, together = 0;
    for (unsigned seed = 0; seed < PROGRAMS; seed++) {
        struct program *program = run(seed);
        whole += program->whole;
        together += program->together;
        end(program);
    }
    cr_expect_gt(whole, PROGRAMS * STEPS / 40, "told at once: %u", whole);
    cr_expect_gt(together, PROGRAMS * STEPS / 20, "told together: %u", together);
}

/* Threads that go round and round between barriers, as tiles do, leave nothing in cells. */
Test(race_strips, stay_whole_between_barriers)
{
    struct program *program = begin(0);
    for (unsigned turn = 0; turn < 4; turn++) {
        struct race_access access = {.line = 1, .bytes = 0xf, .flags = RACE_WRITES};
        access.stamp = program->blocks[0].now;
        for (unsigned s = 0; s < STRIPS; s++)
            tell_strip(program, access, s, RACE_STRIP_ALL, 0, (int)(s * RACE_STRIP_WORDS), 0);
        do_barrier(&program->blocks[0]);
        access = (struct race_access){.stamp = program->blocks[0].now, .line = 2, .bytes = 0xf};
        for (unsigned s = 0; s < STRIPS; s++)
            tell_strip(program, access, s, RACE_STRIP_ALL, 0,
                       (int)((s + 1) % STRIPS * RACE_STRIP_WORDS), 0);
        do_barrier(&program->blocks[0]);
    }
    compare(program, 0);
    cr_expect_eq(program->whole, 4 * 2 * STRIPS);
    end(program);
}
