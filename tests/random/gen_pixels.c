/* SPDX-License-Identifier: Apache-2.0
 *
 * What image filters do: stencils (gen_stencil.c) of bytes and short integers, computed in 16 and
 * 32 bits, nearly all of which are zero (translator/module/narrow_values.c).
 */
#include "tests/random/gen.h"

#define CHOOSE(dice, list) ((list)[dice_below(dice, sizeof(list) / sizeof *(list))])

void gen_pixel_loads(struct gen *g, uint32_t pitch, uint32_t bytes)
{
    static const char *const types[][2] = {{"u8", "s8"}, {"u16", "s16"}};
    unsigned registers = g->pools.r + g->pools.h;
    gen_line(g, "mul.wide.u32 %%own, %%self, %u;", bytes);
    gen_line(g, "add.u64 %%own, %%tab, %%own;");
    for (unsigned n = 0; n < registers; n++) {
        int row = (int)dice_below(&g->dice, 3) - 1;
        int offset = row * (int)pitch + (int)dice_below(&g->dice, 3);
        bool is_short = n >= g->pools.r;
        gen_line(g, "ld.global.%s %%%c%u, [%%own+%d];", types[bytes - 1][dice_chance(&g->dice, 25)],
                 is_short ? 'h' : 'r', is_short ? n - g->pools.r : n, offset * (int)bytes);
    }
    for (unsigned n = 0; n < g->pools.p; n++)
        gen_line(g, "setp.lt.u32 %%p%u, %%r%u, %%r%u;", n, n, n + 1);
}

/* d = a op b, or op a small constant. */
static void gen_plain(struct gen *g, unsigned bits)
{
    static const char *const operations[] = {"add.s", "add.u", "sub.s", "min.u",   "min.s",
                                             "max.u", "max.s", "and.b", "or.b",    "xor.b",
                                             "sub.s", "add.s", "min.s", "mul.lo.u"};
    static const unsigned numbers[] = {1, 2, 3, 7, 15, 16, 77, 127, 128, 255, 256, 1020};
    char d[NAME_BYTES], a[NAME_BYTES], b[NAME_BYTES];
    gen_pool(g, bits, d);
    gen_pool(g, bits, a);
    gen_pool(g, bits, b);
    const char *operation = CHOOSE(&g->dice, operations);
    if (dice_chance(&g->dice, 40))
        gen_line(g, "%s%u %s, %s, %u;", operation, bits, d, a, CHOOSE(&g->dice, numbers));
    else
        gen_line(g, "%s%u %s, %s, %s;", operation, bits, d, a, b);
}

static void gen_shift(struct gen *g, unsigned bits)
{
    static const char *const operations[] = {"shl.b", "shr.u", "shr.s"};
    char d[NAME_BYTES], a[NAME_BYTES];
    gen_pool(g, bits, d);
    gen_pool(g, bits, a);
    gen_line(g, "%s%u %s, %s, %u;", CHOOSE(&g->dice, operations), bits, d, a,
             1 + dice_below(&g->dice, 8));
}

/* |a - b| */
static void gen_difference(struct gen *g, unsigned bits)
{
    char d[NAME_BYTES], a[NAME_BYTES], b[NAME_BYTES];
    gen_pool(g, bits, d);
    gen_pool(g, bits, a);
    gen_pool(g, bits, b);
    gen_line(g, "sub.s%u %s, %s, %s;", bits, d, a, b);
    gen_line(g, "abs.s%u %s, %s;", bits, d, d);
}

static void gen_choice(struct gen *g, unsigned bits)
{
    static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    char d[NAME_BYTES], a[NAME_BYTES], b[NAME_BYTES], p[NAME_BYTES];
    gen_pool(g, bits, d);
    gen_pool(g, bits, a);
    gen_pool(g, bits, b);
    gen_pool(g, 1, p);
    gen_line(g, "setp.%s.%c%u %s, %s, %s;", CHOOSE(&g->dice, tests),
             dice_chance(&g->dice, 50) ? 's' : 'u', bits, p, a, b);
    if (dice_chance(&g->dice, 70))
        gen_line(g, "selp.b%u %s, %s, %s, %s;", bits, d, dice_chance(&g->dice, 50) ? a : "1", b, p);
}

/* From one pool to the other, by which the number is cut. */
static void gen_cut(struct gen *g, unsigned bits)
{
    static const char *const to_long[] = {"u32.u16", "s32.s16", "u32.u8", "s32.s8"};
    static const char *const to_short[] = {"u16.u32", "s16.s32", "u16.u8", "s16.s8"};
    char d[NAME_BYTES], a[NAME_BYTES];
    gen_pool(g, bits, d);
    gen_pool(g, 48 - bits, a);
    gen_line(g, "cvt.%s %s, %s;",
             bits == 32 ? CHOOSE(&g->dice, to_long) : CHOOSE(&g->dice, to_short), d, a);
}

/* 0 to 255, of a register of the pool. */
static void gen_clamp(struct gen *g, unsigned bits)
{
    char d[NAME_BYTES];
    gen_pool(g, bits, d);
    if (dice_chance(&g->dice, 60)) {
        gen_line(g, "max.s%u %s, %s, 0;", bits, d, d);
        gen_line(g, "min.s%u %s, %s, 255;", bits, d, d);
    } else {
        gen_line(g, "min.u%u %s, %s, 255;", bits, d, d);
    }
}

/* One of the first registers from those behind them, which keep what was loaded. */
static void gen_filter(struct gen *g, unsigned bits)
{
    static const char *const operations[] = {"min.u", "max.u", "min.s", "max.s", "add.s", "sub.s"};
    char letter = bits == 32 ? 'r' : 'h';
    unsigned count = bits == 32 ? g->pools.r : g->pools.h;
    unsigned d = dice_below(&g->dice, count), a = dice_below(&g->dice, count);
    gen_line(g, "%s%u %%%c%u, %%%c%u, %%%c%u;", CHOOSE(&g->dice, operations), bits, letter, d,
             letter, a, letter, count - 1);
    if (dice_chance(&g->dice, 30))
        gen_line(g, "abs.s%u %%%c%u, %%%c%u;", bits, letter, d, letter, d);
}

/* Of half of the kernels no number grows much: no products, and few shifts. */
void gen_pixel_statement(struct gen *g)
{
    static void (*const any[])(struct gen *, unsigned) = {
        gen_plain, gen_plain, gen_plain, gen_shift, gen_difference, gen_choice, gen_cut, gen_clamp};
    static void (*const short_ones[])(struct gen *, unsigned) = {
        gen_filter, gen_filter, gen_filter, gen_difference, gen_choice, gen_clamp};
    unsigned bits = dice_chance(&g->dice, 60) ? 32 : 16;
    gen_open(g);
    if (g->config->seed % 2 == 0)
        CHOOSE(&g->dice, any)(g, bits);
    else
        CHOOSE(&g->dice, short_ones)(g, bits);
    gen_close(g);
}

/* Each register a plane of its own: with a word for all, nothing would stay short. */
void gen_pixel_stores(struct gen *g, uint32_t elements, uint32_t bytes)
{
    gen_line(g, "mul.wide.u32 %%own, %%self, %u;", bytes);
    gen_line(g, "add.u64 %%own, %%out, %%own;");
    for (unsigned n = 0; n < g->pools.r + g->pools.h; n++) {
        bool is_short = n >= g->pools.r;
        gen_line(g, "st.global.u%u [%%own+%u], %%%c%u;", 8 * bytes, n * elements * bytes,
                 is_short ? 'h' : 'r', is_short ? n - g->pools.r : n);
    }
}
