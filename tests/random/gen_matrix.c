/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a whole warp on matrices: products, often many in a row, and rows of the threads'
 * own cells in shared memory. Any bits are numbers; a NaN that comes out is the canonical one.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

#define REGISTERS_MAX   4
#define LIST_BYTES      (REGISTERS_MAX * NAME_BYTES)

#define LOADS_MAX       3

#define CHAIN_MAX       12
#define CHAIN_SPARE     8
#define CHAIN_LONG      70 /* more than the words of a warp have room for */
#define CHAIN_REGISTERS (CHAIN_LONG * REGISTERS_MAX)

static void put_list(unsigned count, char names[REGISTERS_MAX][NAME_BYTES], char list[LIST_BYTES])
{
    size_t length = 0;
    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(list + length, LIST_BYTES - length, "%s%s", i == 0 ? "{" : ", ",
                                   names[i]);
    snprintf(list + length, LIST_BYTES - length, "}");
}

/* A list in braces: registers of the pool, or fresh ones. */
static void gen_list(struct gen *g, unsigned count, bool is_fresh,
                     char names[REGISTERS_MAX][NAME_BYTES], char list[LIST_BYTES])
{
    for (unsigned i = 0; i < count; i++) {
        if (is_fresh)
            gen_temp(g, 32, names[i]);
        else
            gen_pool(g, 32, names[i]);
    }
    put_list(count, names, list);
}

/* What fresh registers hold goes into the pool. */
static void gen_keep(struct gen *g, unsigned count, char names[REGISTERS_MAX][NAME_BYTES])
{
    for (unsigned i = 0; i < count; i++) {
        char r[NAME_BYTES];
        gen_pool(g, 32, r);
        gen_line(g, "xor.b32 %s, %s, %s;", r, r, names[i]);
    }
}

/* ---- products ---- */

/* Registers of a lane; of sparse matrices, how many sparsity selectors there are. */
struct shape {
    const char *text;
    unsigned d, a, b, c;
    unsigned selectors;
};

static const struct shape shapes[] = {
    {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16", 4, 2, 2, 4, 0},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, 0},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, 0},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4, 0},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, 0},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, 4, 0},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 4, 2, 4, 0},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 2, 1, 1, 2, 0},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2, 0},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32", 2, 1, 1, 2, 0},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 2, 4, 4},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", 2, 4, 4, 2, 2},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32", 4, 4, 4, 4, 1},
};

/* Two places of four, four bits each: any of the six meanings. */
static uint32_t gen_metadata(struct gen *g)
{
    static const uint32_t pairs[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
    uint32_t metadata = 0;
    for (unsigned bit = 0; bit < 32; bit += 4)
        metadata |= pairs[dice_below(&g->dice, 6)] << bit;
    return metadata;
}

/* Products in a row, of which later ones take what earlier ones computed. */
struct chain {
    char names[CHAIN_REGISTERS][NAME_BYTES]; /* results */
    bool is_taken[CHAIN_REGISTERS];
    unsigned count;
    bool has_rows; /* the cells hold rows, which may be loaded */
    unsigned rows; /* where in a cell */
};

static void gen_factor(struct gen *g, struct chain *chain, char name[NAME_BYTES])
{
    if (chain->count == 0 || dice_chance(&g->dice, 40)) {
        gen_pool(g, 32, name);
        return;
    }
    unsigned which = dice_below(&g->dice, chain->count);
    chain->is_taken[which] = true;
    memcpy(name, chain->names[which], NAME_BYTES);
}

static void gen_factors(struct gen *g, struct chain *chain, unsigned count,
                        char names[REGISTERS_MAX][NAME_BYTES])
{
    for (unsigned i = 0; i < count; i++)
        gen_factor(g, chain, names[i]);
}

/* A fresh one, which later ones may take. */
static void gen_link(struct gen *g, struct chain *chain, char name[NAME_BYTES])
{
    gen_temp(g, 32, name);
    if (chain->count == CHAIN_REGISTERS)
        return;
    memcpy(chain->names[chain->count], name, NAME_BYTES);
    chain->is_taken[chain->count++] = false;
}

/* Fresh registers, and the place of a result that nobody wants; or those of C, as accumulators are
 * written. */
static void gen_sums(struct gen *g, struct chain *chain, unsigned count, unsigned c_count,
                     char c[REGISTERS_MAX][NAME_BYTES], char names[REGISTERS_MAX][NAME_BYTES])
{
    bool is_c = count == c_count && dice_chance(&g->dice, 40);
    for (unsigned i = 0; i < count; i++) {
        bool is_repeated = false;
        for (unsigned j = 0; j < i; j++)
            is_repeated |= is_c && strcmp(names[j], c[i]) == 0;
        if (is_c && !is_repeated) {
            memcpy(names[i], c[i], NAME_BYTES);
            continue;
        }
        if (i > 0 && dice_chance(&g->dice, 10))
            memcpy(names[i], "_", sizeof "_");
        else
            gen_link(g, chain, names[i]);
    }
}

static void gen_product(struct gen *g, struct chain *chain)
{
    const struct shape *shape = &shapes[dice_below(&g->dice, sizeof shapes / sizeof *shapes)];
    char names[4][REGISTERS_MAX][NAME_BYTES];
    char d[LIST_BYTES];
    char a[LIST_BYTES];
    char b[LIST_BYTES];
    char c[LIST_BYTES];
    char rest[NAME_BYTES] = "";
    gen_factors(g, chain, shape->a, names[0]);
    gen_factors(g, chain, shape->b, names[1]);
    gen_factors(g, chain, shape->c, names[2]);
    gen_sums(g, chain, shape->d, shape->c, names[2], names[3]);
    if (shape->selectors != 0)
        snprintf(rest, sizeof rest, ", 0x%x, %u", gen_metadata(g),
                 dice_below(&g->dice, shape->selectors));
    put_list(shape->a, names[0], a);
    put_list(shape->b, names[1], b);
    put_list(shape->c, names[2], c);
    put_list(shape->d, names[3], d);
    gen_line(g, "%s %s, %s, %s, %s%s;", shape->text, d, a, b, c, rest);
}

/* ---- what stands between them ---- */

/* It changes what is multiplied, or not always does. */
static void gen_change(struct gen *g)
{
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_pool(g, 32, other);
    gen_line(g, "add.u32 %s, %s, %s;", r, r, other);
}

/* Something is computed of results, for later products. */
static void gen_conversion(struct gen *g, struct chain *chain)
{
    char a[NAME_BYTES];
    char b[NAME_BYTES];
    char d[NAME_BYTES];
    gen_factor(g, chain, a);
    gen_factor(g, chain, b);
    gen_link(g, chain, d);
    switch (dice_below(&g->dice, 3)) {
    case 0:
        gen_line(g, "cvt.rna.tf32.f32 %s, %s;", d, a);
        break;
    case 1:
        gen_line(g, "prmt.b32 %s, %s, %s, 0x7032;", d, a, b);
        break;
    default:
        gen_line(g, "sub.u32 %s, %s, %s;", d, a, b);
        break;
    }
}

/* A result, or what was computed of it, becomes something else, for some lanes or for all. */
static void gen_overwriting(struct gen *g, struct chain *chain)
{
    char a[NAME_BYTES];
    char b[NAME_BYTES];
    char p[NAME_BYTES];
    gen_factor(g, chain, a);
    gen_factor(g, chain, b);
    const char *d = chain->count == 0 ? a : chain->names[dice_below(&g->dice, chain->count)];
    if (dice_chance(&g->dice, 50)) {
        gen_line(g, "xor.b32 %s, %s, %s;", d, a, b);
        return;
    }
    gen_temp(g, 1, p);
    gen_line(g, "setp.lt.u32 %s, %s, %s;", p, a, b);
    gen_line(g, "@%s add.u32 %s, %s, 1;", p, d, b);
}

/* The carry goes from one to the other. */
static void gen_carry(struct gen *g, struct chain *chain)
{
    char a[NAME_BYTES];
    char b[NAME_BYTES];
    char low[NAME_BYTES];
    char high[NAME_BYTES];
    gen_factor(g, chain, a);
    gen_factor(g, chain, b);
    gen_link(g, chain, low);
    gen_link(g, chain, high);
    gen_line(g, "add.cc.u32 %s, %s, %s;", low, a, b);
    gen_line(g, "addc.u32 %s, %s, 0;", high, a);
}

/* The address may come of a result, too. */
static void gen_row_load(struct gen *g, struct chain *chain)
{
    char names[REGISTERS_MAX][NAME_BYTES];
    char list[LIST_BYTES];
    char address[NAME_BYTES];
    char a[NAME_BYTES];
    gen_temp(g, 32, address);
    gen_factor(g, chain, a);
    gen_line(g, "and.b32 %s, %s, 0;", address, a);
    gen_line(g, "add.u32 %s, %%self, %s;", address, dice_chance(&g->dice, 30) ? address : "0");
    for (unsigned i = 0; i < 2; i++)
        gen_link(g, chain, names[i]);
    put_list(2, names, list);
    gen_line(g, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 %s, [%s+%u];", list, address,
             chain->rows);
}

static void gen_between(struct gen *g, struct chain *chain)
{
    switch (dice_below(&g->dice, chain->has_rows ? 6 : 4)) {
    case 0:
        gen_change(g);
        break;
    case 1:
        gen_conversion(g, chain);
        break;
    case 2:
        gen_overwriting(g, chain);
        break;
    case 3:
        gen_carry(g, chain);
        break;
    default:
        gen_row_load(g, chain);
        break;
    }
}

static void gen_rows_before(struct gen *g, struct chain *chain)
{
    char names[REGISTERS_MAX][NAME_BYTES];
    char row[LIST_BYTES];
    chain->has_rows = true;
    chain->rows = dice_below(&g->dice, g->own_bytes / 16) * 16;
    gen_list(g, 4, false, names, row);
    gen_line(g, "st.shared.v4.b32 [%%self+%u], %s;", chain->rows, row);
    gen_line(g, "bar.warp.sync 0xffffffff;");
}

/* Some results go nowhere but into other products. */
static void gen_products(struct gen *g)
{
    struct chain chain = {.count = 0};
    bool is_spare = g->config->is_spare;
    unsigned count = dice_chance(&g->dice, 50)
                         ? 1
                         : 1 + dice_below(&g->dice, is_spare ? CHAIN_SPARE : CHAIN_MAX);
    uint32_t share = dice_chance(&g->dice, 50) ? 30 : 90;
    if (dice_chance(&g->dice, is_spare ? 1 : 4))
        count = CHAIN_LONG;
    if (dice_chance(&g->dice, 30))
        gen_rows_before(g, &chain);
    for (unsigned i = 0; i < count; i++) {
        while (i > 0 && dice_chance(&g->dice, share / 2))
            gen_between(g, &chain);
        gen_product(g, &chain);
    }
    if (chain.has_rows)
        gen_line(g, "bar.warp.sync 0xffffffff;");
    for (unsigned i = 0; i < chain.count; i++)
        if (!chain.is_taken[i] || dice_chance(&g->dice, 50))
            gen_keep(g, 1, &chain.names[i]);
}

/* In a few turns, or in one, in which sums may stay where they are. */
static void gen_products_in_turns(struct gen *g)
{
    char left[NAME_BYTES];
    char goes_on[NAME_BYTES];
    char label[NAME_BYTES];
    if (!dice_chance(&g->dice, 40)) {
        gen_products(g);
        return;
    }
    gen_temp(g, 32, left);
    gen_temp(g, 1, goes_on);
    gen_new_label(g, label);
    gen_line(g, "mov.u32 %s, %u;", left, 1 + dice_below(&g->dice, 3));
    gen_label(g, label);
    for (unsigned times = 1 + dice_below(&g->dice, 2); times > 0; times--)
        gen_products(g);
    gen_line(g, "sub.u32 %s, %s, 1;", left, left);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", goes_on, left);
    gen_line(g, "@%s bra.uni %s;", goes_on, label);
}

/* ---- rows of 16 bytes, in the threads' own cells ---- */

/* Of each lane's row, or of others': together, and without a meeting behind what may go before. */
static void gen_loads(struct gen *g, unsigned at, const char *form)
{
    char names[LOADS_MAX][REGISTERS_MAX][NAME_BYTES];
    unsigned counts[LOADS_MAX];
    unsigned loads = 1 + dice_below(&g->dice, LOADS_MAX);
    if (dice_chance(&g->dice, 50))
        gen_products(g);
    for (unsigned i = 0; i < loads; i++) {
        char list[LIST_BYTES];
        counts[i] = 1u << dice_below(&g->dice, 3);
        gen_list(g, counts[i], true, names[i], list);
        gen_line(g, "ldmatrix.sync.aligned.m8n8.x%u%s %s, [%%self+%u];", counts[i], form, list, at);
    }
    for (unsigned i = 0; i < loads; i++)
        gen_keep(g, counts[i], names[i]);
}

static void gen_store(struct gen *g, unsigned at, const char *form)
{
    char names[REGISTERS_MAX][NAME_BYTES];
    char list[LIST_BYTES];
    unsigned count = 1u << dice_below(&g->dice, 3);
    gen_list(g, count, false, names, list);
    gen_line(g, "stmatrix.sync.aligned.m8n8.x%u%s [%%self+%u], %s;", count, form, at, list);
}

/* Own row, meet; rows of others, or into those of others; meet. */
static void gen_rows_of_cells(struct gen *g)
{
    const char *form = dice_chance(&g->dice, 40) ? ".trans.shared.b16" : ".shared.b16";
    unsigned at = dice_below(&g->dice, g->own_bytes / 16) * 16;
    char names[REGISTERS_MAX][NAME_BYTES];
    char row[LIST_BYTES];
    gen_list(g, 4, false, names, row);
    gen_line(g, "st.shared.v4.b32 [%%self+%u], %s;", at, row);
    gen_line(g, "bar.warp.sync 0xffffffff;");
    if (dice_chance(&g->dice, 40))
        gen_store(g, at, form);
    else
        gen_loads(g, at, form);
    gen_line(g, "bar.warp.sync 0xffffffff;");
}

static void gen_transposition(struct gen *g)
{
    char d[NAME_BYTES];
    char a[NAME_BYTES];
    gen_pool(g, 32, d);
    gen_pool(g, 32, a);
    gen_line(g, "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s;", d, a);
}

void gen_matrix(struct gen *g)
{
    uint32_t roll = dice_below(&g->dice, 10);
    if (roll < 6)
        gen_products_in_turns(g);
    else if (roll < 9)
        gen_rows_of_cells(g);
    else
        gen_transposition(g);
}
