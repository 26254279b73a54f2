/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels whose threads take every so many-th element of an array: i, i + step, and so on, until
 * the array ends. For each they read elements that lie near, far, in rows, backwards or where data
 * say, also in loops that data end, add up and write what belongs to the element. Where the threads
 * of a block turn together, they have tiles in shared memory with a margin, and shuffles. The step,
 * the end and the bounds of inner loops are parameters and constants.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/random/gen.h"

#define MARGIN     3 /* of a tile, on both sides */
#define COUNT_MAX  400
#define TURNS_MAX  6   /* of an inner loop */
#define NEAR       5   /* an element is that far away, at most */
#define SCATTERED  128 /* elements that data choose */
#define BINS       16
#define FIELDS_MAX 4 /* words of an element, read */

/* What a kernel works on. */
struct strides {
    uint32_t count;      /* of elements */
    uint32_t cell_words; /* of what is written for an element */
    bool is_together;    /* the threads of a block take as many turns: there may be barriers */
    bool is_backwards;
    char index[NAME_BYTES];     /* of the element: register */
    char end[NAME_BYTES];       /* the count: register */
    char is_inside[NAME_BYTES]; /* together: whether there is such an element */
    char next[NAME_BYTES];      /* label: the next element */
};

static uint32_t table_words(const struct gen *g, const struct strides *strides)
{
    return (strides->count + g->threads) * (TURNS_MAX + 2) + 2 * SCATTERED;
}

static void draw_shape(struct gen *g, struct strides *strides)
{
    static const uint32_t widths[] = {32, 64, 96, 128, 33, 48, 20, 7};
    struct dice *dice = &g->dice;
    g->block[0] = widths[dice_below(dice, sizeof widths / sizeof *widths)];
    g->block[1] = g->block[2] = 1;
    g->grid[0] = 1 + dice_below(dice, 4);
    g->grid[1] = g->grid[2] = 1;
    g->threads = g->block[0];
    strides->count = 1 + dice_below(dice, COUNT_MAX);
    strides->cell_words = 1u << dice_below(dice, 3);
    strides->is_together = dice_chance(dice, 50);
    strides->is_backwards = !strides->is_together && dice_chance(dice, 25);
}

/* ---- elements ---- */

/* address = base + bytes * index. */
static void gen_address(struct gen *g, const char *base, const char *index, unsigned bytes,
                        char address[NAME_BYTES])
{
    char wide[NAME_BYTES];
    gen_temp(g, 64, address);
    switch (dice_below(&g->dice, 3)) {
    case 0:
        gen_line(g, "mad.wide.u32 %s, %s, %u, %s;", address, index, bytes, base);
        break;
    case 1:
        gen_temp(g, 64, wide);
        gen_line(g, "mul.wide.s32 %s, %s, %u;", wide, index, bytes);
        gen_line(g, "add.s64 %s, %s, %s;", address, base, wide);
        break;
    default:
        gen_temp(g, 64, wide);
        gen_line(g, "cvt.u64.u32 %s, %s;", wide, index);
        gen_line(g, "mad.lo.s64 %s, %s, %u, %s;", address, wide, bytes, base);
        break;
    }
}

/* Where the element's row of a matrix with longer rows lies. */
static void gen_row_place(struct gen *g, const struct strides *strides, const char *place)
{
    static const uint32_t widths[] = {5, 8, 16, 33};
    uint32_t width = widths[dice_below(&g->dice, 4)];
    char row[NAME_BYTES];
    gen_temp(g, 32, row);
    gen_line(g, "div.u32 %s, %s, %u;", row, strides->index, width);
    gen_line(g, "rem.u32 %s, %s, %u;", place, strides->index, width);
    gen_line(g, "mad.lo.u32 %s, %s, %u, %s;", place, row, width + dice_below(&g->dice, width),
             place);
}

static void gen_clamped_place(struct gen *g, const struct strides *strides, const char *place)
{
    uint32_t distance = 1 + dice_below(&g->dice, NEAR);
    if (dice_chance(&g->dice, 50)) {
        gen_line(g, "sub.s32 %s, %s, %u;", place, strides->index, distance);
        gen_line(g, "max.s32 %s, %s, 0;", place, place);
    } else {
        gen_line(g, "add.s32 %s, %s, %u;", place, strides->index, distance);
        gen_line(g, "min.s32 %s, %s, %u;", place, place, strides->count - 1);
    }
}

/* The index of a word of the table, in a register. turn: that counts the turns of an inner loop, or
 * NULL. */
static void gen_place(struct gen *g, const struct strides *strides, const char *turn,
                      char place[NAME_BYTES])
{
    char word[NAME_BYTES];
    gen_temp(g, 32, place);
    switch (dice_below(&g->dice, 6)) {
    case 0:
        gen_line(g, "add.u32 %s, %s, %u;", place, strides->index, dice_below(&g->dice, NEAR));
        break;
    case 1:
        gen_line(g, "mul.lo.u32 %s, %s, %u;", place, strides->index,
                 2 + dice_below(&g->dice, FIELDS_MAX));
        break;
    case 2:
        gen_row_place(g, strides, place);
        break;
    case 3:
        gen_pool(g, 32, word);
        gen_line(g, "and.b32 %s, %s, %u;", place, word, SCATTERED - 1);
        break;
    case 4:
        gen_clamped_place(g, strides, place);
        break;
    default:
        if (turn)
            gen_line(g, "mad.lo.u32 %s, %s, %s, %s;", place, turn, strides->end, strides->index);
        else
            gen_line(g, "add.u32 %s, %s, %s;", place, strides->index, strides->end);
        return;
    }
    if (turn)
        gen_line(g, "add.u32 %s, %s, %s;", place, place, turn);
}

static void gen_load(struct gen *g, const struct strides *strides, const char *turn)
{
    char place[NAME_BYTES];
    char address[NAME_BYTES];
    char to[NAME_BYTES];
    gen_place(g, strides, turn, place);
    gen_address(g, "%tab", place, 4, address);
    gen_pool(g, 32, to);
    const char *guard = dice_chance(&g->dice, 25)   ? "@%p0 "
                        : dice_chance(&g->dice, 10) ? "@!%p0 "
                                                    : "";
    gen_line(g, "%sld.global%s.u32 %s, [%s+%u];", guard, dice_chance(&g->dice, 30) ? ".nc" : "", to,
             address, 4 * dice_below(&g->dice, 4));
}

/* Two or four words that lie side by side. */
static void gen_wide_load(struct gen *g, const struct strides *strides)
{
    char address[NAME_BYTES];
    if (dice_chance(&g->dice, 50)) {
        gen_address(g, "%tab", strides->index, 16, address);
        gen_line(g, "ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%s];", address);
    } else {
        gen_address(g, "%tab", strides->index, 8, address);
        gen_line(g, "ld.global.v2.u32 {%%r2, %%r0}, [%s+8];", address);
    }
}

/* The element's own words are changed. */
static void gen_own_word(struct gen *g, const struct strides *strides)
{
    char address[NAME_BYTES];
    char value[NAME_BYTES];
    char old[NAME_BYTES];
    uint32_t at = 4 * dice_below(&g->dice, strides->cell_words);
    const char *guard = strides->is_together ? "@" : "";
    const char *inside = strides->is_together ? strides->is_inside : "";
    gen_pool(g, 32, value);
    gen_temp(g, 32, old);
    gen_address(g, "%out", strides->index, 4 * strides->cell_words, address);
    gen_line(g, "mov.u32 %s, 1;", old);
    gen_line(g, "%s%s ld.global.u32 %s, [%s+%u];", guard, inside, old, address, at);
    gen_line(g, "mad.lo.u32 %s, %s, 3, %s;", old, old, value);
    gen_line(g, "%s%s st.global.u32 [%s+%u], %s;", guard, inside, address, at, old);
}

static void gen_bin(struct gen *g, const struct strides *strides)
{
    static const char *const kinds[] = {"red.global.add.u32", "red.global.add.u32",
                                        "red.global.xor.b32"};
    char bin[NAME_BYTES];
    char address[NAME_BYTES];
    char value[NAME_BYTES];
    gen_temp(g, 32, bin);
    gen_pool(g, 32, value);
    uint32_t kind = dice_below(&g->dice, 3);
    gen_line(g, "and.b32 %s, %s, %u;", bin, value, kind == 2 ? 0 : BINS / 2 - 1);
    gen_line(g, "add.u32 %s, %s, %u;", bin, bin, kind == 2 ? BINS - 1 : 0);
    gen_address(g, "%atoms", bin, 4, address);
    if (strides->is_together)
        gen_line(g, "@%s %s [%s], %s;", strides->is_inside, kinds[kind], address,
                 dice_chance(&g->dice, 50) ? "1" : value);
    else
        gen_line(g, "%s [%s], %s;", kinds[kind], address, dice_chance(&g->dice, 50) ? "1" : value);
}

/* ---- tiles ---- */

/* The address of a word of the tile that is so far from the thread's own. */
static void gen_tile_place(struct gen *g, const char *index, char address[NAME_BYTES])
{
    gen_temp(g, 32, address);
    gen_line(g, "mad.lo.u32 %s, %s, 4, %%self;", address, index);
}

/* A word of the tile: a neighbour's, that of a thread in another order, or a sum. */
static void gen_tile_read(struct gen *g)
{
    char index[NAME_BYTES];
    char address[NAME_BYTES];
    char to[NAME_BYTES];
    gen_temp(g, 32, index);
    switch (dice_below(&g->dice, 3)) {
    case 0:
        gen_line(g, "mov.u32 %s, %%tid.x;", index);
        break;
    case 1:
        gen_line(g, "sub.u32 %s, %u, %%tid.x;", index, g->threads - 1);
        break;
    default:
        gen_line(g, "mov.u32 %s, %%tid.x;", index);
        gen_line(g, "mul.lo.u32 %s, %s, %u;", index, index, 2 + dice_below(&g->dice, 32));
        gen_line(g, "rem.u32 %s, %s, %u;", index, index, g->threads);
        break;
    }
    gen_tile_place(g, index, address);
    gen_pool(g, 32, to);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", to, address,
             4 * dice_below(&g->dice, 2 * MARGIN + 1));
}

static void gen_tile(struct gen *g)
{
    char own[NAME_BYTES];
    char address[NAME_BYTES];
    char value[NAME_BYTES];
    char is_margin[NAME_BYTES];
    gen_open(g);
    gen_temp(g, 32, own);
    gen_temp(g, 1, is_margin);
    gen_line(g, "mov.u32 %s, %%tid.x;", own);
    gen_tile_place(g, own, address);
    gen_pool(g, 32, value);
    gen_line(g, "bar.sync 0;");
    gen_line(g, "st.shared.u32 [%s+%u], %s;", address, 4 * MARGIN, value);
    gen_line(g, "setp.lt.u32 %s, %s, %u;", is_margin, own, MARGIN);
    gen_pool(g, 32, value);
    gen_line(g, "@%s st.shared.u32 [%s], %s;", is_margin, address, value);
    gen_pool(g, 32, value);
    gen_line(g, "@%s st.shared.u32 [%s+%u], %s;", is_margin, address, 4 * (MARGIN + g->threads),
             value);
    gen_line(g, "bar.sync 0;");
    for (unsigned n = 1 + dice_below(&g->dice, 3); n > 0; n--)
        gen_tile_read(g);
    gen_close(g);
}

static void gen_shuffle(struct gen *g)
{
    static const char *const kinds[] = {"bfly", "down", "up", "idx"};
    char from[NAME_BYTES];
    char to[NAME_BYTES];
    uint32_t kind = dice_below(&g->dice, 4);
    gen_pool(g, 32, from);
    gen_pool(g, 32, to);
    gen_line(g, "shfl.sync.%s.b32 %s, %s, %u, %u, -1;", kinds[kind], to, from,
             dice_below(&g->dice, 32), kind == 2 ? 0 : 31);
}

/* ---- statements ---- */

static void gen_arithmetic(struct gen *g)
{
    gen_open(g);
    gen_inst(g);
    gen_close(g);
}

/* Up to TURNS_MAX turns, as many for all threads or not; data may end it, and the element's words
 * may be changed in it. */
static void gen_inner_loop(struct gen *g, const struct strides *strides)
{
    char turn[NAME_BYTES];
    char bound[NAME_BYTES];
    char is_next[NAME_BYTES];
    char condition[NAME_BYTES];
    char value[NAME_BYTES];
    char head[NAME_BYTES];
    char behind[NAME_BYTES];
    gen_open(g);
    gen_temp(g, 32, turn);
    gen_temp(g, 32, bound);
    gen_temp(g, 1, is_next);
    gen_temp(g, 1, condition);
    gen_new_label(g, head);
    gen_new_label(g, behind);
    if (dice_chance(&g->dice, 50))
        gen_line(g, "mov.u32 %s, %u;", bound, 1 + dice_below(&g->dice, TURNS_MAX));
    else
        gen_line(g, "and.b32 %s, %s, 3;", bound,
                 dice_chance(&g->dice, 50) ? "%u0" : strides->index);
    gen_line(g, "mov.u32 %s, 0;", turn);
    gen_label(g, head);
    gen_load(g, strides, turn);
    if (dice_chance(&g->dice, 40)) {
        gen_pool(g, 32, value);
        gen_line(g, "setp.%s.u32 %s, %s, 0x%x;", dice_chance(&g->dice, 50) ? "gt" : "lt", condition,
                 value, (uint32_t)dice_next(&g->dice));
        gen_line(g, "@%s bra %s;", condition, behind);
    }
    for (unsigned n = dice_below(&g->dice, 3); n > 0; n--)
        gen_arithmetic(g);
    gen_pool(g, 32, value);
    gen_line(g, "mad.lo.u32 %%acc, %%acc, 7, %s;", value);
    if (dice_chance(&g->dice, 30))
        gen_own_word(g, strides);
    gen_line(g, "add.u32 %s, %s, 1;", turn, turn);
    gen_line(g, "setp.lt.u32 %s, %s, %s;", is_next, turn, bound);
    gen_line(g, "@%s bra %s;", is_next, head);
    gen_label(g, behind);
    gen_close(g);
}

/* Threads leave out a few statements; where they need not turn together, the rest of the turn. */
static void gen_parted(struct gen *g, const struct strides *strides)
{
    char condition[NAME_BYTES];
    char join[NAME_BYTES];
    gen_open(g);
    gen_pool(g, 1, condition);
    gen_new_label(g, join);
    gen_line(g, "@%s bra %s;", condition, join);
    if (!strides->is_together && dice_chance(&g->dice, 25))
        gen_line(g, "bra %s;", strides->next);
    for (unsigned n = 1 + dice_below(&g->dice, 3); n > 0; n--)
        gen_arithmetic(g);
    if (dice_chance(&g->dice, 40))
        gen_load(g, strides, NULL);
    if (dice_chance(&g->dice, 30))
        gen_own_word(g, strides);
    gen_label(g, join);
    gen_close(g);
}

/* All or some of the element's own words. */
static void gen_own_words(struct gen *g, const struct strides *strides)
{
    char guard[NAME_BYTES + 2] = "";
    if (strides->is_together)
        snprintf(guard, sizeof guard, "@%s ", strides->is_inside);
    gen_fields_store(g, strides->index, strides->cell_words, guard);
}

static void gen_statement(struct gen *g, const struct strides *strides)
{
    uint32_t roll = dice_below(&g->dice, 100);
    if (roll < 9) {
        gen_fields_load(g, strides->index);
    } else if (roll < 20) {
        gen_open(g);
        gen_load(g, strides, NULL);
        gen_close(g);
    } else if (roll < 27) {
        gen_open(g);
        gen_wide_load(g, strides);
        gen_close(g);
    } else if (roll < 31) {
        gen_own_words(g, strides);
    } else if (roll < 37) {
        gen_open(g);
        gen_own_word(g, strides);
        gen_close(g);
    } else if (roll < 42) {
        gen_open(g);
        gen_bin(g, strides);
        gen_close(g);
    } else if (roll < 56) {
        gen_inner_loop(g, strides);
    } else if (roll < 66) {
        gen_parted(g, strides);
    } else if (roll < 76 && strides->is_together) {
        gen_tile(g);
    } else if (roll < 80 && strides->is_together && g->threads % 32 == 0) {
        gen_open(g);
        gen_shuffle(g);
        gen_close(g);
    } else {
        gen_arithmetic(g);
    }
}

/* ---- the kernel ---- */

static void gen_begin(struct gen *g)
{
    gen_line(g, "ld.param.u64 %%tab, [p_table];");
    gen_line(g, "ld.param.u64 %%out, [p_out];");
    gen_line(g, "ld.param.u64 %%atoms, [p_bins];");
    gen_line(g, "mov.u32 %%self, tile;");
    gen_line(g, "mov.u32 %%thread, %%tid.x;");
    gen_line(g, "mov.u32 %%gid, %%ctaid.x;");
    gen_line(g, "mov.u32 %%warp, %%ntid.x;");
    gen_line(g, "mad.lo.u32 %%gid, %%gid, %%warp, %%thread;");
    gen_line(g, "mad.wide.u32 %%own, %%gid, 4, %%tab;");
    for (unsigned n = 0; n < g->pools.r; n++)
        gen_line(g, "ld.global.u32 %%r%u, [%%own+%u];", n, 4 * n);
    for (unsigned n = 0; n < g->pools.l; n++)
        gen_line(g, "mul.wide.u32 %%l%u, %%r%u, %u;", n, n, 1 + dice_below(&g->dice, 9));
    for (unsigned n = 0; n < g->pools.h; n++)
        gen_line(g, "cvt.u16.u32 %%h%u, %%r%u;", n, n);
    for (unsigned n = 0; n < g->pools.p; n++)
        gen_line(g, "setp.lt.s32 %%p%u, %%r%u, %%r%u;", n, n, n + 1);
    for (unsigned n = 0; n < g->pools.u; n++)
        gen_line(g, "ld.global.u32 %%u%u, [%%tab+%u];", n, 4 * n);
    gen_line(g, "mov.u32 %%acc, %%r0;");
}

/* What all registers hold, in %acc and in the element's first word, or in all of its words. */
static void gen_result(struct gen *g, const struct strides *strides)
{
    char address[NAME_BYTES];
    char guard[NAME_BYTES + 2] = "";
    if (strides->is_together)
        snprintf(guard, sizeof guard, "@%s ", strides->is_inside);
    for (unsigned n = 0; n < g->pools.r; n++)
        gen_line(g, "mad.lo.u32 %%acc, %%acc, 5, %%r%u;", n);
    gen_address(g, "%out", strides->index, 4 * strides->cell_words, address);
    if (strides->cell_words == 4 && dice_chance(&g->dice, 50))
        gen_line(g, "%sst.global.v4.u32 [%s], {%%acc, %%r0, %%r1, %%r2};", guard, address);
    else
        gen_line(g, "%sst.global.u32 [%s], %%acc;", guard, address);
}

/* The first element of the thread, or of the block where its threads turn together; the step to the
 * next. */
static void gen_first(struct gen *g, const struct strides *strides, const char *first,
                      const char *step)
{
    char blocks[NAME_BYTES];
    gen_temp(g, 32, blocks);
    gen_line(g, "mov.u32 %s, %%nctaid.x;", blocks);
    gen_line(g, "mul.lo.u32 %s, %s, %%warp;", step, blocks);
    if (strides->is_together)
        gen_line(g, "sub.u32 %s, %%gid, %%thread;", first);
    else if (strides->is_backwards)
        gen_line(g, "sub.s32 %s, %s, %%gid;\n    sub.s32 %s, %s, 1;", first, strides->end, first,
                 first);
    else
        gen_line(g, "mov.u32 %s, %%gid;", first);
}

/* Whether there is an element at the place. */
static void gen_test(struct gen *g, const struct strides *strides, const char *is_there,
                     const char *place)
{
    if (strides->is_backwards)
        gen_line(g, "setp.ge.s32 %s, %s, 0;", is_there, place);
    else
        gen_line(g, "setp.lt.%s32 %s, %s, %s;", dice_chance(&g->dice, 50) ? "s" : "u", is_there,
                 place, strides->end);
}

static void gen_turns(struct gen *g, struct strides *strides)
{
    char first[NAME_BYTES];
    char step[NAME_BYTES];
    char is_there[NAME_BYTES];
    char head[NAME_BYTES];
    char done[NAME_BYTES];
    gen_temp(g, 32, first);
    gen_temp(g, 32, step);
    gen_temp(g, 32, strides->end);
    gen_temp(g, 1, is_there);
    gen_new_label(g, head);
    gen_new_label(g, done);
    gen_new_label(g, strides->next);
    gen_line(g, "ld.param.u32 %s, [p_count];", strides->end);
    gen_first(g, strides, first, step);
    gen_test(g, strides, is_there, first);
    gen_line(g, "@!%s bra %s;", is_there, done);
    gen_label(g, head);
    if (strides->is_together) {
        gen_temp(g, 32, strides->index);
        gen_temp(g, 1, strides->is_inside);
        gen_line(g, "add.u32 %s, %s, %%thread;", strides->index, first);
        gen_line(g, "setp.lt.u32 %s, %s, %s;", strides->is_inside, strides->index, strides->end);
    } else {
        snprintf(strides->index, sizeof strides->index, "%s", first);
    }
    for (unsigned n = 0; n < g->config->statements; n++)
        gen_statement(g, strides);
    gen_result(g, strides);
    gen_label(g, strides->next);
    gen_line(g, "%s.u32 %s, %s, %s;", strides->is_backwards ? "sub" : "add", first, first, step);
    gen_test(g, strides, is_there, first);
    gen_line(g, "@%s bra %s;", is_there, head);
    gen_label(g, done);
}

static void gen_strides_body(struct gen *g, struct strides *strides)
{
    char last[NAME_BYTES];
    gen_begin(g);
    gen_turns(g, strides);
    gen_temp(g, 64, last);
    gen_line(g, "ld.param.u64 %s, [p_last];", last);
    gen_line(g, "mad.wide.u32 %s, %%gid, 4, %s;", last, last);
    gen_line(g, "st.global.u32 [%s], %%acc;", last);
    gen_line(g, "ret;");
}

static void add_strides_header(const struct gen *g, const struct strides *strides,
                               struct text *text)
{
    text_add(text, "// Random kernel %" PRIu64 ".\n//\n", g->config->seed);
    text_add(text, "// launch: grid %u block %u\n", g->grid[0], g->block[0]);
    text_add(text, "// buffer: u32 x %u = hash(i)\n", table_words(g, strides));
    text_add(text, "// buffer: u32 x %u = 7\n", strides->count * strides->cell_words);
    text_add(text, "// buffer: u32 x %u = 0\n", BINS);
    text_add(text, "// buffer: u32 x %u = 1\n", g->grid[0] * g->threads);
    text_add(text, "// value: u32 = %u\n", strides->count);
    text_add(text, ".version 8.6\n.target sm_90\n.address_size 64\n\n");
    text_add(text, ".shared .align 16 .b8 tile[%u];\n\n", 4 * (g->threads + 2 * MARGIN + NEAR));
}

void gen_strides(struct gen *g, struct text *text)
{
    struct text body = {0};
    struct strides strides;
    draw_shape(g, &strides);
    add_strides_header(g, &strides, text);
    g->out = &body;
    gen_strides_body(g, &strides);
    text_add(text,
             ".visible .entry random(.param .u64 p_table, .param .u64 p_out, .param .u64 p_bins,\n"
             "    .param .u64 p_last, .param .u32 p_count)\n{\n");
    gen_declare(g, text);
    text_add_bytes(text, body.bytes, body.len);
    text_add(text, "}\n");
    text_fini(&body);
}
