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
#define PROGRAMS 600
#define BLOCKS   2

struct program {
    unsigned seed;
    struct race_block blocks[BLOCKS];
    struct race_shadow shadow;
    struct race_strip strips[STRIPS];
    struct race_strip_more more[STRIPS];
    struct race_settled settled[STRIPS];
    uint32_t values[WORDS];
    struct race_cell cells[WORDS];
    struct race_cell alone[WORDS]; /* told word by word */
    unsigned whole;                /* how many strips were told at once */
    unsigned together;             /* and words, by lanes of a warp, */
    unsigned lines;                /* and strips by them */
    unsigned all;                  /* and strips by lanes that have all of one */
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
                      const struct race_strip_access *form, unsigned seed)
{
    bool is_race = race_cell_access(race_shadow_cell(&program->shadow, word), 1,
                                    block_of(program, access), access) != NULL;
    cr_assert_eq(is_race, told_alone(program, access, word), "seed %u, word %u", seed, word);
    if (access->flags & RACE_WRITES)
        race_shadow_join(&program->shadow, word, form);
}

static uint32_t value_of(struct program *program)
{
    return number(program, 2);
}

static uint64_t bytes_of_word(unsigned word)
{
    return RACE_WORD_BYTES << (word * RACE_CELL_BYTES);
}

/* Each word of the part alone, and in the strip unless that is told already. */
static void tell_words(struct program *program, struct race_access access, unsigned strip,
                       const struct race_strip_access *part, bool is_told, unsigned seed)
{
    for (unsigned in_strip = 0; in_strip < RACE_STRIP_WORDS; in_strip++) {
        unsigned word = strip * RACE_STRIP_WORDS + in_strip;
        if (!(part->bytes & bytes_of_word(in_strip)))
            continue;
        access.thread = (uint16_t)race_strip_thread(part, in_strip * RACE_CELL_BYTES);
        access.line = part->line + (uint32_t)part->lines[in_strip];
        access.value = value_of(program);
        if (!is_told) {
            tell_word(program, &access, word, part, seed);
            continue;
        }
        if (access.flags & RACE_VALUE)
            program->values[word] = access.value;
        cr_assert(!told_alone(program, &access, word), "seed %u, word %u", seed, word);
    }
}

static struct race_strip_access part_of(const struct race_access *access)
{
    return (struct race_strip_access){.block = access->block,
                                      .stamp = access->stamp,
                                      .line = access->line,
                                      .flags = access->flags};
}

/* By lanes of one warp, all of a strip. */
static bool tell_all(struct program *program, const struct race_access *access, unsigned strip,
                     const struct race_strip_access *part)
{
    uint32_t first = race_strip_thread(part, 0) / RT_WARP_SIZE;
    uint32_t last = race_strip_thread(part, RACE_STRIP_BYTES - 1) / RT_WARP_SIZE;
    return part->bytes == UINT64_MAX && first == last &&
           race_strip_access_all(&program->shadow, strip, 1, block_of(program, access), part);
}

static void tell_strip(struct program *program, struct race_access access, unsigned strip,
                       const struct race_strip_access *part, unsigned seed)
{
    if (tell_all(program, &access, strip, part)) {
        program->all++;
        program->whole++;
        tell_words(program, access, strip, part, true, seed);
        return;
    }
    struct race_strip *place = &program->strips[strip];
    uint64_t split = place->split & part->bytes;
    const struct race_block *block = block_of(program, &access);
    bool is_whole = race_shadow_may_take(&program->shadow, strip, split, block, part) &&
                    race_strip_access(&program->shadow, strip, block, part);
    if (is_whole)
        place->split &= ~split;
    program->whole += is_whole;
    tell_words(program, access, strip, part, is_whole, seed);
}

static uint64_t any_words(struct program *program)
{
    uint64_t bytes = 0;
    if (number(program, 2))
        return UINT64_MAX;
    for (unsigned w = 0; w < RACE_STRIP_WORDS; w++)
        if (number(program, 2))
            bytes |= bytes_of_word(w);
    return bytes ? bytes : bytes_of_word(3);
}

/* Of threads side by side, on words side by side, or on one to three of several words each. */
static void do_row(struct program *program, unsigned seed)
{
    static const uint8_t units[] = {4, 4, 4, 4, 8, 12, 20, 32};
    struct race_access access = any_access(program);
    struct race_strip_access part = part_of(&access);
    part.unit = units[number(program, sizeof units)];
    part.offset = (uint8_t)(number(program, part.unit / RACE_CELL_BYTES) * RACE_CELL_BYTES);
    part.step = number(program, 6) ? 1 : -1;
    part.bytes = any_words(program);
    part.thread = number(program, 3) ? (int16_t)(16 + 8 * number(program, THREADS / 8 - 4))
                                     : (int16_t)(16 + number(program, THREADS - 32));
    tell_strip(program, access, number(program, STRIPS), &part, seed);
}

/* Of a thread, or threads of warps one after the other, on word after word. */
static void do_column(struct program *program, unsigned seed)
{
    struct race_access access = any_access(program);
    struct race_strip_access part = part_of(&access);
    unsigned strip = number(program, STRIPS);
    unsigned step = number(program, 2) ? RT_WARP_SIZE : 0;
    part.unit = RACE_CELL_BYTES;
    part.thread = (int16_t)number(program, RT_WARP_SIZE);
    for (unsigned word = number(program, 2); word < WARPS; word++) {
        struct race_strip_access one = part;
        one.bytes = bytes_of_word(word);
        one.thread = (int16_t)(part.thread + (int)(word * step));
        tell_strip(program, access, strip, &one, seed);
        part.line = access.line = access.line + number(program, 3) * number(program, 60);
    }
}

/* Words side by side are of one line, or each of one some lines behind the last one's. */
static void set_lines(struct program *program, struct race_strip_access *part)
{
    int step = number(program, 2) ? 0 : (int)number(program, 17) - 8;
    for (int w = 0; w < RACE_STRIP_WORDS; w++)
        part->lines[w] = (int8_t)(w * step);
}

/* Of a thread, on words anywhere in the strip, as iterations of a loop have them. */
static void do_line(struct program *program, unsigned seed)
{
    struct race_access access = any_access(program);
    struct race_strip_access part = part_of(&access);
    part.unit = RACE_STRIP_BYTES;
    part.thread = (int16_t)number(program, THREADS);
    part.bytes = any_words(program);
    set_lines(program, &part);
    tell_strip(program, access, number(program, STRIPS), &part, seed);
}

/* Of the first and the last of lanes. */
static void tell_lanes_alone(struct program *program, const struct race_access *access,
                             unsigned word, uint64_t lanes, unsigned seed)
{
    struct race_access one = *access;
    one.thread = (uint16_t)(access->thread + 63 - __builtin_clzll(lanes));
    cr_assert(!told_alone(program, &one, word), "seed %u, word %u", seed, word);
    one.thread = (uint16_t)(access->thread + __builtin_ctzll(lanes));
    if (!(access->flags & RACE_WRITES))
        cr_assert(!told_alone(program, &one, word), "seed %u, word %u", seed, word);
}

static bool tell_lanes(struct program *program, const struct race_access *access, unsigned word,
                       uint64_t lanes)
{
    const struct race_block *block = block_of(program, access);
    struct race_strip_access part = part_of(access);
    unsigned strip = word / RACE_STRIP_WORDS;
    part.bytes = bytes_of_word(word % RACE_STRIP_WORDS);
    part.thread = (int16_t)(access->thread + 63 - __builtin_clzll(lanes));
    part.unit = RACE_CELL_BYTES;
    if (access->bytes == 0xf && !(program->strips[strip].split & part.bytes) &&
        race_strip_access_lanes(&program->shadow, strip, block, &part,
                                access->thread + (uint32_t)__builtin_ctzll(lanes)))
        return true;
    struct race_cell *cell = race_shadow_cell(&program->shadow, word);
    if (!race_cell_is_for_lanes(cell, 1, block, access, lanes))
        return false;
    race_cell_access_lanes(cell, 1, block, access, lanes);
    return true;
}

static void tell_place(struct program *program, const struct race_access *access, unsigned word,
                       uint64_t lanes, unsigned seed)
{
    bool is_for_lanes = tell_lanes(program, access, word, lanes);
    program->together += is_for_lanes;
    if (is_for_lanes)
        tell_lanes_alone(program, access, word, lanes, seed);
    for (; !is_for_lanes && lanes != 0; lanes &= lanes - 1) {
        struct race_access one = *access;
        struct race_strip_access form = part_of(&one);
        form.unit = RACE_CELL_BYTES;
        one.thread = (uint16_t)(one.thread + __builtin_ctzll(lanes));
        tell_word(program, &one, word, &form, seed);
    }
}

/* In all iterations of a loop. False: nothing has been told. */
static bool tell_places(struct program *program, const struct race_access *access, unsigned strip,
                        const struct race_strip_access *part, uint64_t lanes)
{
    return !(program->strips[strip].split & part->bytes) &&
           race_strip_access_lanes(&program->shadow, strip, block_of(program, access), part,
                                   access->thread + (uint32_t)__builtin_ctzll(lanes));
}

/* Of lanes of a warp, on one word, or on several in one strip. */
static void do_place(struct program *program, unsigned seed)
{
    struct race_access access = any_access(program);
    unsigned word = number(program, WORDS);
    unsigned strip = word / RACE_STRIP_WORDS;
    uint64_t lanes = number(program, 2) ? 0xffff : 3 + number(program, 0xffff - 3);
    if ((lanes & (lanes - 1)) == 0)
        lanes |= 0x10000;
    access.thread = (uint16_t)(number(program, WARPS) * RT_WARP_SIZE + 8 * number(program, 2));
    access.flags &= (uint8_t)~RACE_VALUE;
    if (access.flags == RACE_WRITES)
        access.flags |= RACE_STRONG;
    access.bytes = number(program, 4) ? 0xf : 0x2;
    if (number(program, 3) || access.bytes != 0xf) {
        tell_place(program, &access, word, lanes, seed);
        return;
    }
    struct race_strip_access part = part_of(&access);
    part.bytes = any_words(program);
    part.thread = (int16_t)(access.thread + 63 - __builtin_clzll(lanes));
    part.unit = RACE_STRIP_BYTES;
    set_lines(program, &part);
    bool is_told = tell_places(program, &access, strip, &part, lanes);
    program->lines += is_told;
    for (unsigned w = 0; w < RACE_STRIP_WORDS; w++) {
        if (!(part.bytes & bytes_of_word(w)))
            continue;
        access.line = part.line + (uint32_t)part.lines[w];
        if (is_told)
            tell_lanes_alone(program, &access, strip * RACE_STRIP_WORDS + w, lanes, seed);
        else
            tell_place(program, &access, strip * RACE_STRIP_WORDS + w, lanes, seed);
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
                                           .settled = program->settled,
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
        else if (what == 8)
            do_column(program, seed);
        else if (what == 9)
            do_line(program, seed);
        else
            do_row(program, seed);
        compare(program, seed);
    }
    return program;
}

Test(race_strips, know_what_cells_would)
{
    unsigned whole = 0, together = 0, lines = 0, all = 0;
    for (unsigned seed = 0; seed < PROGRAMS; seed++) {
        struct program *program = run(seed);
        whole += program->whole;
        together += program->together;
        lines += program->lines;
        all += program->all;
        end(program);
    }
    cr_expect_gt(whole, PROGRAMS * STEPS / 40, "told at once: %u", whole);
    cr_expect_gt(together, PROGRAMS * STEPS / 20, "told together: %u", together);
    cr_expect_gt(lines, PROGRAMS, "strips told together: %u", lines);
    cr_expect_gt(all, PROGRAMS, "strips told as a whole: %u", all);
}

/* Its own accesses are not, unless it writes behind a barrier. */
Test(race_strips, are_taken_as_a_whole_by_another_run)
{
    struct program *program = begin(0);
    const struct race_block *block = &program->blocks[0];
    struct race_access access = {.stamp = block->now, .line = 1, .bytes = 0xf};
    struct race_strip_access part = part_of(&access);
    part.bytes = UINT64_MAX;
    part.unit = RACE_CELL_BYTES;
    part.step = 1;
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(tell_all(program, &access, 0, &part), i != 0);
        cr_expect_eq(race_strip_access_all(&program->shadow, 0, 2 + i, block, &part), true);
        cr_expect_eq(program->strips[0].run, 2 + i);
        cr_expect_eq(program->strips[0].read.bytes, UINT64_MAX * !(part.flags & RACE_WRITES));
        cr_expect_eq(program->strips[0].write.bytes, UINT64_MAX * (part.flags & RACE_WRITES));
        cr_expect_not(race_strip_access_all(&program->shadow, 0, 2 + i, block, &part));
        part.flags = RACE_WRITES;
    }
    do_barrier(&program->blocks[0]);
    cr_expect(race_strip_access_all(&program->shadow, 0, 3, block, &part));
    end(program);
}

/* Threads side by side have all of the strip, from this one on. */
static void tell_turn(struct program *program, uint8_t flags, uint32_t line, unsigned strip,
                      unsigned thread)
{
    struct race_access access = {
        .stamp = program->blocks[0].now, .line = line, .bytes = 0xf, .flags = flags};
    struct race_strip_access part = part_of(&access);
    part.bytes = UINT64_MAX;
    part.unit = RACE_CELL_BYTES;
    part.step = 1;
    part.thread = (int16_t)thread;
    tell_strip(program, access, strip, &part, 0);
}

/* Threads that go round and round between barriers, as tiles do, leave nothing in cells. */
Test(race_strips, stay_whole_between_barriers)
{
    struct program *program = begin(0);
    for (unsigned turn = 0; turn < 4; turn++) {
        for (unsigned s = 0; s < STRIPS; s++)
            tell_turn(program, RACE_WRITES, 1, s, s * RACE_STRIP_WORDS);
        do_barrier(&program->blocks[0]);
        for (unsigned s = 0; s < STRIPS; s++)
            tell_turn(program, 0, 2, s, (s + 1) % STRIPS * RACE_STRIP_WORDS);
        do_barrier(&program->blocks[0]);
    }
    compare(program, 0);
    cr_expect_eq(program->whole, 4 * 2 * STRIPS);
    end(program);
}

/* What lanes of one instruction after another have read or written of a strip stands in it. */
static unsigned told_by_one(unsigned step, unsigned unit, uint64_t bytes, unsigned count)
{
    struct program *program = begin(0);
    for (unsigned i = 0; i < count; i++) {
        struct race_access access = {.stamp = 1, .line = 1 + i, .bytes = 0xf};
        struct race_strip_access part = part_of(&access);
        part.bytes = bytes << RACE_CELL_BYTES * i;
        part.unit = (uint8_t)unit;
        part.step = unit > RACE_CELL_BYTES;
        part.offset = (uint8_t)(unit > RACE_CELL_BYTES ? (unit - RACE_CELL_BYTES * i) % unit : 0);
        part.thread = (int16_t)(step * i + 8 - (part.offset != 0));
        tell_strip(program, access, 0, &part, 0);
    }
    compare(program, 0);
    unsigned whole = program->whole;
    cr_expect_eq(program->strips[0].has_more, false);
    end(program);
    return whole;
}

Test(race_strips, take_a_row_of_one_thread)
{
    cr_expect_eq(told_by_one(0, RACE_CELL_BYTES, RACE_WORD_BYTES, RACE_STRIP_WORDS),
                 RACE_STRIP_WORDS);
}

Test(race_strips, take_a_column_of_threads)
{
    cr_expect_eq(told_by_one(5, RACE_CELL_BYTES, RACE_WORD_BYTES, RACE_STRIP_WORDS),
                 RACE_STRIP_WORDS);
}

/* Of 12 bytes each, member by member. */
Test(race_strips, take_structures_of_threads)
{
    cr_expect_eq(told_by_one(0, 12, UINT64_C(0xf00f00f00f), 3), 3);
}

/* ---- settled words ---- */

#define RUN 77

/* Whether a warp of the block need not tell that it reads the first word. */
static bool is_settled(const struct program *program, unsigned block, uint32_t warp)
{
    const struct race_settling settling = {.run = RUN, .time = program->blocks[block].time};
    return race_shadow_settled(&program->shadow, 0, &settling, warp) & 1;
}

static bool is_settled_for_run(const struct program *program, uint64_t run)
{
    const struct race_settling settling = {.run = run};
    return race_shadow_settled(&program->shadow, 0, &settling, RACE_NO_WARP) & 1;
}

/* The first word, all of a warp at once; the blocks know nothing of each other. */
static void read_by(struct program *program, unsigned block, unsigned warp)
{
    const struct race_access access = {.block = block,
                                       .stamp = program->blocks[block].now,
                                       .thread = (uint16_t)(warp * RT_WARP_SIZE),
                                       .bytes = 0xf};
    cr_assert(tell_lanes(program, &access, 0, UINT32_MAX));
    race_shadow_settle(&program->shadow, 0, RACE_WORD_BYTES, RUN, &program->blocks[block]);
}

/* One lane of the first warp. */
static void read_by_lane(struct program *program, unsigned lane)
{
    const struct race_access access = {
        .stamp = program->blocks[0].now, .thread = (uint16_t)lane, .bytes = 0xf};
    struct race_cell *cell = race_shadow_cell(&program->shadow, 0);
    race_cell_access(cell, 1, &program->blocks[0], &access);
    race_shadow_settle_cell(&program->shadow, 0, RUN, &program->blocks[0]);
}

static void write_by(struct program *program, unsigned block, unsigned thread)
{
    struct race_access access = {.block = block,
                                 .stamp = program->blocks[block].now,
                                 .thread = (uint16_t)thread,
                                 .bytes = 0xf,
                                 .flags = RACE_WRITES};
    race_cell_access(race_shadow_cell(&program->shadow, 0), 1, &program->blocks[block], &access);
}

Test(race_strips, are_settled_when_two_blocks_have_read)
{
    struct program *program = begin(0);
    read_by(program, 0, 0);
    read_by(program, 0, 1);
    cr_expect(!is_settled_for_run(program, RUN), "one block");
    read_by(program, 1, 0);
    cr_expect(is_settled_for_run(program, RUN));
    cr_expect(!is_settled_for_run(program, RUN + 1), "another run");
    const struct race_settling settling = {.run = RUN};
    cr_expect_eq(race_shadow_settled(&program->shadow, 0, &settling, 0), 1, "another word");
    write_by(program, 0, 0);
    cr_expect(!is_settled_for_run(program, RUN), "written");
    end(program);
}

Test(race_strips, are_not_settled_once_the_run_has_written)
{
    struct program *program = begin(0);
    write_by(program, 0, 0);
    do_barrier(&program->blocks[0]);
    struct race_cell *cell = race_shadow_cell(&program->shadow, 0);
    const struct race_access reads[] = {{.block = 0, .stamp = 2, .bytes = 0xf},
                                        {.block = 1, .stamp = 1, .bytes = 0xf}};
    cell->reads[0] = reads[0];
    cell->reads[1] = reads[1];
    race_shadow_settle_cell(&program->shadow, 0, RUN, &program->blocks[0]);
    cr_expect(!is_settled_for_run(program, RUN));
    cell->write.bytes = 0;
    race_shadow_settle_cell(&program->shadow, 0, RUN, &program->blocks[0]);
    cr_expect(is_settled_for_run(program, RUN));
    end(program);
}

/* What the first thread writes, behind which a barrier comes. */
static struct program *begin_with_write(void)
{
    struct program *program = begin(0);
    struct race_access access = {.stamp = 1, .line = 1, .bytes = 0xf, .flags = RACE_WRITES};
    struct race_strip_access part = part_of(&access);
    part.bytes = RACE_WORD_BYTES;
    part.unit = RACE_CELL_BYTES;
    tell_strip(program, access, 0, &part, 0);
    do_barrier(&program->blocks[0]);
    return program;
}

Test(race_strips, are_settled_for_a_block_when_two_warps_have_read)
{
    struct program *program = begin_with_write();
    read_by(program, 0, 0);
    cr_expect(!is_settled(program, 0, 1), "one warp");
    read_by(program, 0, 1);
    cr_expect(is_settled(program, 0, 2));
    cr_expect(!is_settled(program, 1, 2), "another block");
    do_barrier(&program->blocks[0]);
    cr_expect(!is_settled(program, 0, 2), "behind a barrier");
    end(program);
}

Test(race_strips, are_settled_for_a_warp_when_two_lanes_have_read)
{
    struct program *program = begin_with_write();
    read_by_lane(program, 3);
    cr_expect(!is_settled(program, 0, 0), "one lane");
    read_by_lane(program, 9);
    cr_expect(is_settled(program, 0, 0));
    cr_expect(!is_settled(program, 0, 1), "another warp");
    cr_expect(!is_settled(program, 0, 2), "another warp with an even number");
    write_by(program, 0, 40);
    cr_expect(!is_settled(program, 0, 0), "written");
    end(program);
}

Test(race_strips, are_not_settled_for_a_warp_that_has_written)
{
    struct program *program = begin(0);
    write_by(program, 0, 0);
    read_by_lane(program, 0);
    read_by_lane(program, 1);
    cr_expect(!is_settled(program, 0, 0));
    end(program);
}
