/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over matrices, as translator/collapse/tuning/walk.c wants them: a thread has one element
 * of a matrix, or of several behind each other, reads it and its neighbours, computes, and writes
 * its own element. The matrix that is read has a border around it that no thread has.
 */
#include <inttypes.h>

#include "tests/random/gen.h"

/* Elements that are read are this far away at most, along both axes. */
#define REACH 1

/* The shape of what a kernel works on, in elements. */
struct matrix {
    uint32_t width, height, depth; /* as many as threads */
    uint32_t pitch;                /* of rows that are read, with the border */
    uint32_t element_bytes;        /* of what is written */
    uint32_t source_bytes;         /* of what is read */
    uint32_t planes;               /* that are written, one behind the other */
};

static void draw_shape(struct gen *g, struct matrix *matrix)
{
    static const uint32_t blocks[][3] = {{32, 8, 1}, {16, 4, 1}, {8, 8, 1}, {32, 1, 1}, {13, 3, 2},
                                         {64, 2, 1}, {7, 5, 1},  {1, 6, 1}, {24, 2, 3}, {5, 1, 1}};
    static const uint32_t bytes[] = {4, 4, 4, 8, 12, 16, 64};
    struct dice *dice = &g->dice;
    const uint32_t *block = blocks[dice_below(dice, sizeof blocks / sizeof *blocks)];
    for (int d = 0; d < 3; d++)
        g->block[d] = block[d];
    g->grid[0] = 1 + dice_below(dice, 9);
    g->grid[1] = 1 + dice_below(dice, 4);
    g->grid[2] = 1 + dice_below(dice, 2);
    g->threads = g->block[0] * g->block[1] * g->block[2];
    matrix->width = g->grid[0] * g->block[0];
    matrix->height = g->grid[1] * g->block[1];
    matrix->depth = g->grid[2] * g->block[2];
    matrix->pitch = matrix->width + 2 * REACH;
    matrix->element_bytes = bytes[dice_below(dice, sizeof bytes / sizeof *bytes)];
    matrix->source_bytes = 4;
    matrix->planes = 1;
    if (g->config->has_pixels) {
        matrix->source_bytes = 1 + dice_below(dice, 2);
        matrix->element_bytes = 1 + dice_below(dice, 2);
        matrix->planes = g->pools.r + g->pools.h;
    }
}

/* name = %ctaid * %ntid + %tid along the axis. */
static void gen_place(struct gen *g, const char *name, char axis)
{
    char block[NAME_BYTES];
    char width[NAME_BYTES];
    gen_temp(g, 32, block);
    gen_temp(g, 32, width);
    gen_line(g, "mov.u32 %s, %%ctaid.%c;", block, axis);
    gen_line(g, "mov.u32 %s, %%ntid.%c;", width, axis);
    gen_line(g, "mov.u32 %s, %%tid.%c;", name, axis);
    gen_line(g, "mad.lo.u32 %s, %s, %s, %s;", name, block, width, name);
}

/* %gid: the column, %thread: the row, counted through all matrices. */
static void gen_places(struct gen *g, const struct matrix *matrix)
{
    gen_place(g, "%gid", 'x');
    gen_place(g, "%thread", 'y');
    gen_place(g, "%warp", 'z');
    gen_line(g, "mad.lo.u32 %%thread, %%warp, %u, %%thread;", matrix->height);
}

/* Threads beyond a border do nothing. */
static void gen_border(struct gen *g, const struct matrix *matrix, const char *end)
{
    char outside[NAME_BYTES];
    uint32_t roll = dice_below(&g->dice, 5);
    gen_temp(g, 1, outside);
    if (roll == 0)
        return;
    gen_line(g, "setp.ge.s32 %s, %%gid, %u;", outside,
             matrix->width - dice_below(&g->dice, matrix->width));
    if (roll > 2)
        gen_line(g, "setp.lt.or.s32 %s, %%gid, %u, %s;", outside, 1 + dice_below(&g->dice, 2),
                 outside);
    if (roll > 3)
        gen_line(g, "setp.lt.or.s32 %s, %%thread, 1, %s;", outside, outside);
    gen_line(g, "@%s bra %s;", outside, end);
}

/* All pools from elements near the thread's own. */
static void gen_loads(struct gen *g, const struct matrix *matrix)
{
    gen_line(g, "add.u32 %%self, %%thread, %u;", REACH);
    gen_line(g, "mad.lo.u32 %%self, %%self, %u, %%gid;", matrix->pitch);
    if (g->config->has_pixels) {
        gen_pixel_loads(g, matrix->pitch, matrix->source_bytes);
        return;
    }
    gen_line(g, "mul.wide.u32 %%own, %%self, 4;");
    gen_line(g, "add.u64 %%own, %%tab, %%own;");
    for (unsigned n = 0; n < g->pools.r; n++) {
        uint32_t row = dice_below(&g->dice, 2 * REACH + 1);
        uint32_t column = dice_below(&g->dice, 2 * REACH + 1);
        int offset = ((int)row - REACH) * (int)matrix->pitch + (int)column;
        gen_line(g, "ld.global.u32 %%r%u, [%%own+%d];", n, offset * 4);
    }
    for (unsigned n = 0; n < g->pools.l; n++)
        gen_line(g, "mul.wide.u32 %%l%u, %%r%u, %u;", n, n, 1 + dice_below(&g->dice, 9));
    for (unsigned n = 0; n < g->pools.h; n++)
        gen_line(g, "cvt.u16.u32 %%h%u, %%r%u;", n, n);
    for (unsigned n = 0; n < g->pools.p; n++)
        gen_line(g, "setp.lt.s32 %%p%u, %%r%u, %%r%u;", n, n, n + 1);
    for (unsigned n = 0; n < g->pools.u; n++)
        gen_line(g, "mov.u32 %%u%u, %%ctaid.y;", n);
    gen_line(g, "mov.u32 %%acc, %%r0;");
}

static void gen_arithmetic(struct gen *g)
{
    if (g->config->has_pixels) {
        gen_pixel_statement(g);
        return;
    }
    gen_open(g);
    uint32_t roll = dice_below(&g->dice, 10);
    if (roll < 8)
        gen_inst(g);
    else
        (roll == 8 ? gen_mix : gen_carry_chain)(g);
    gen_close(g);
}

/* Some threads skip a few instructions. */
static void gen_parted(struct gen *g)
{
    char join[NAME_BYTES];
    char condition[NAME_BYTES];
    gen_open(g);
    gen_pool(g, 1, condition);
    gen_new_label(g, join);
    gen_line(g, "@%s bra %s;", condition, join);
    for (unsigned n = dice_below(&g->dice, 4); n > 0; n--)
        gen_arithmetic(g);
    gen_label(g, join);
    gen_close(g);
}

static void gen_stores(struct gen *g, const struct matrix *matrix)
{
    char word[NAME_BYTES];
    if (g->config->has_pixels) {
        gen_line(g, "mad.lo.u32 %%self, %%thread, %u, %%gid;", matrix->width);
        gen_pixel_stores(g, matrix->width * matrix->height * matrix->depth, matrix->element_bytes);
        return;
    }
    gen_temp(g, 32, word);
    for (unsigned n = 0; n < g->pools.r; n++)
        gen_line(g, "mad.lo.u32 %%acc, %%acc, 5, %%r%u;", n);
    for (unsigned n = 0; n < g->pools.l; n++) {
        gen_line(g, "cvt.u32.u64 %s, %%l%u;", word, n);
        gen_line(g, "xor.b32 %%acc, %%acc, %s;", word);
    }
    gen_line(g, "mad.lo.u32 %%self, %%thread, %u, %%gid;", matrix->width);
    gen_line(g, "mul.wide.u32 %%own, %%self, %u;", matrix->element_bytes);
    gen_line(g, "add.u64 %%own, %%out, %%own;");
    gen_line(g, "st.global.u32 [%%own], %%acc;");
    if (matrix->element_bytes > 4)
        gen_line(g, "st.global.u32 [%%own+4], %%r0;");
}

static void gen_stencil_body(struct gen *g, const struct matrix *matrix)
{
    char end[NAME_BYTES];
    gen_new_label(g, end);
    gen_line(g, "ld.param.u64 %%tab, [p_table];");
    gen_line(g, "ld.param.u64 %%out, [p_out];");
    gen_places(g, matrix);
    gen_border(g, matrix, end);
    gen_loads(g, matrix);
    for (unsigned n = 0; n < g->config->statements; n++) {
        if (dice_chance(&g->dice, 20))
            gen_parted(g);
        else
            gen_arithmetic(g);
    }
    gen_stores(g, matrix);
    gen_label(g, end);
    gen_line(g, "ret;");
}

static void add_matrix_header(const struct gen *g, const struct matrix *matrix, struct text *text)
{
    uint32_t rows = matrix->height * matrix->depth;
    text_add(text, "// Random kernel %" PRIu64 ".\n//\n", g->config->seed);
    text_add(text, "// launch: grid %u %u %u block %u %u %u\n", g->grid[0], g->grid[1], g->grid[2],
             g->block[0], g->block[1], g->block[2]);
    uint32_t read = matrix->pitch * (rows + 2 * REACH) * matrix->source_bytes;
    uint32_t written = matrix->width * rows * matrix->element_bytes * matrix->planes;
    text_add(text, "// buffer: u32 x %u = hash(i)\n", (read + 3) / 4);
    text_add(text, "// buffer: u32 x %u = 7\n", (written + 3) / 4);
    text_add(text, ".version 8.6\n.target sm_90\n.address_size 64\n\n");
}

void gen_stencil(struct gen *g, struct text *text)
{
    struct text body = {0};
    struct matrix matrix;
    draw_shape(g, &matrix);
    add_matrix_header(g, &matrix, text);
    g->out = &body;
    gen_stencil_body(g, &matrix);
    text_add(text, ".visible .entry random(.param .u64 p_table, .param .u64 p_out)\n{\n");
    gen_declare(g, text);
    text_add_bytes(text, body.bytes, body.len);
    text_add(text, "}\n");
    text_fini(&body);
}
