/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator's frame: registers and constants, the choice of statements, and the kernel around
 * them.
 */
#include "tests/random/gen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WARP_SIZE 32

/* ---- text ---- */

void gen_line(struct gen *g, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_add(g->out, "%*s%s\n", (int)(g->indent * 4), "", line);
}

void gen_label(struct gen *g, const char *label)
{
    text_add(g->out, "%s:\n", label);
}

void gen_new_label(struct gen *g, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "L%u", g->counts.label++);
}

void gen_open(struct gen *g)
{
    text_add(g->out, "//<\n");
}

void gen_close(struct gen *g)
{
    text_add(g->out, "//>\n");
}

/* ---- registers and constants ---- */

void gen_temp(struct gen *g, unsigned bits, char name[NAME_BYTES])
{
    switch (bits) {
    case 1:
        snprintf(name, NAME_BYTES, "%%tp%u", g->counts.p++);
        break;
    case 16:
        snprintf(name, NAME_BYTES, "%%th%u", g->counts.h++);
        break;
    case 64:
        snprintf(name, NAME_BYTES, "%%tl%u", g->counts.l++);
        break;
    default:
        snprintf(name, NAME_BYTES, "%%tr%u", g->counts.r++);
        break;
    }
}

void gen_pool(struct gen *g, unsigned bits, char name[NAME_BYTES])
{
    switch (bits) {
    case 1:
        snprintf(name, NAME_BYTES, "%%p%u", dice_below(&g->dice, g->pools.p));
        break;
    case 16:
        snprintf(name, NAME_BYTES, "%%h%u", dice_below(&g->dice, g->pools.h));
        break;
    case 64:
        snprintf(name, NAME_BYTES, "%%l%u", dice_below(&g->dice, g->pools.l));
        break;
    default:
        snprintf(name, NAME_BYTES, "%%r%u", dice_below(&g->dice, g->pools.r));
        break;
    }
}

/* Bits of numbers at which instructions change their mind, of 32 or 64 bits. */
static uint64_t edge_float(struct dice *dice, bool is_double)
{
    static const uint32_t singles[] = {
        0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff,
        0x7f7fffff, 0x00800000, 0x00000001, 0x807fffff, 0x4f000000, 0xcf000000, 0x4f800000,
        0x5f000000, 0x3f000000, 0x3effffff, 0x40490fdb, 0x477fe000, 0x33800000,
    };
    static const uint64_t doubles[] = {
        0,
        UINT64_C(0x8000000000000000),
        UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff8000000000000),
        UINT64_C(0x7ff0000000000000),
        UINT64_C(0xfff0000000000000),
        UINT64_C(0x7fffffffffffffff),
        UINT64_C(0x7fefffffffffffff),
        UINT64_C(0x0010000000000000),
        UINT64_C(0x0000000000000001),
        UINT64_C(0x41dfffffffc00000),
        UINT64_C(0x43e0000000000000),
        UINT64_C(0x47efffffe0000000),
        UINT64_C(0x3810000000000000),
        UINT64_C(0x400921fb54442d18),
    };
    if (is_double)
        return doubles[dice_below(dice, sizeof doubles / sizeof *doubles)];
    return singles[dice_below(dice, sizeof singles / sizeof *singles)];
}

static uint64_t edge_int(struct dice *dice, unsigned bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    const uint64_t edges[] = {0,        1,   2,       bits - 1, bits,
                              bits + 1, top, top - 1, top + 1,  ~UINT64_C(0)};
    uint32_t which = dice_below(dice, 14);
    if (which < sizeof edges / sizeof *edges)
        return edges[which];
    return which == 10 ? dice_next(dice) : dice_below(dice, 100);
}

void gen_constant(struct gen *g, enum ptx_type type, char name[NAME_BYTES])
{
    unsigned bits = ptx_type_bits(type);
    if (type == PTX_TYPE_F32) {
        snprintf(name, NAME_BYTES, "0f%08" PRIX64, edge_float(&g->dice, false));
    } else if (type == PTX_TYPE_F64) {
        snprintf(name, NAME_BYTES, "0d%016" PRIX64, edge_float(&g->dice, true));
    } else if (ptx_type_is_signed(type)) {
        int64_t value = (int64_t)(edge_int(&g->dice, bits) << (64 - bits)) >> (64 - bits);
        if (value == INT64_MIN)
            value++;
        snprintf(name, NAME_BYTES, "%" PRId64, value);
    } else {
        uint64_t value = edge_int(&g->dice, bits) << (64 - bits) >> (64 - bits);
        snprintf(name, NAME_BYTES, "0x%" PRIx64, value);
    }
}

void gen_source(struct gen *g, enum ptx_type type, char name[NAME_BYTES])
{
    enum ptx_type_class class = ptx_type_table[type].class;
    unsigned bits = ptx_type_bits(type);
    bool is_float = class == PTX_CLASS_FLOAT;
    bool takes_constant = is_float ? type == PTX_TYPE_F32 || type == PTX_TYPE_F64
                                   : type != PTX_TYPE_U16X2 && type != PTX_TYPE_S16X2;
    if (bits > 1 && takes_constant && dice_chance(&g->dice, 22))
        gen_constant(g, type, name);
    else
        gen_pool(g, bits <= 1 ? 1 : bits <= 16 ? 16 : bits, name);
}

/* ---- statements ---- */

typedef void (*plain_fn)(struct gen *g);

/* Statements that ask nothing of their place. */
static void gen_plain(struct gen *g)
{
    static const struct {
        plain_fn fn;
        unsigned weight;
    } kinds[] = {
        {gen_inst, 58},      {gen_carry_chain, 4}, {gen_memory, 18}, {gen_pack, 4},
        {gen_own_atomic, 3}, {gen_fence, 1},       {gen_mix, 12},
    };
    if (g->config->has_chains && g->config->has_floats && dice_chance(&g->dice, 4)) {
        gen_half_chain(g);
        return;
    }
    uint32_t roll = dice_below(&g->dice, 100);
    for (size_t n = 0;; n++) {
        if (roll < kinds[n].weight) {
            kinds[n].fn(g);
            return;
        }
        roll -= kinds[n].weight;
    }
}

/* One instruction on 32 bits, or a truth value of two registers: where little code is wanted. */
void gen_short(struct gen *g)
{
    bool is_shared = dice_chance(&g->dice, 50);
    const char *space = is_shared ? "shared" : "global";
    const char *cell = is_shared ? "%self" : "%own";
    unsigned at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    char p[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_pool(g, 32, other);
    gen_pool(g, 1, p);
    switch (dice_below(&g->dice, 5)) {
    case 0:
        gen_line(g, "mad.lo.u32 %s, %s, %u, %s;", r, r, dice_below(&g->dice, 1000) | 1, other);
        break;
    case 1:
        gen_line(g, "mad.lo.u32 %%acc, %%acc, 33, %s;", r);
        break;
    case 2:
        gen_line(g, "setp.%s.u32 %s, %s, %s;", dice_chance(&g->dice, 50) ? "lt" : "ne", p, r,
                 other);
        break;
    case 3:
        gen_line(g, "st.%s.u32 [%s+%u], %s;", space, cell, at, r);
        break;
    default:
        gen_line(g, "ld.%s.u32 %s, [%s+%u];", space, r, cell, at);
        break;
    }
}

static void gen_block_meeting(struct gen *g, const struct gen_scope *scope)
{
    if (g->config->has_leavers && dice_chance(&g->dice, 40)) {
        gen_leavers(g, scope);
        return;
    }
    if (g->config->has_mbarriers && !g->in_function && dice_chance(&g->dice, 30)) {
        gen_mbarrier(g);
        return;
    }
    uint32_t roll = dice_below(&g->dice, 14);
    bool is_deep = scope->depth >= g->config->max_depth;
    if (roll < 1)
        gen_split_barrier(g);
    else if (roll < 6 || (roll < 8 && is_deep))
        gen_block_exchange(g);
    else if (roll < 7)
        gen_barrier_arms(g, scope);
    else if (roll < 8)
        gen_barrier_loops(g, scope);
    else if (roll < 11)
        gen_barrier_red(g);
    else
        gen_barrier(g);
}

/* Statements for threads that are known to be together. */
static bool gen_together(struct gen *g, const struct gen_scope *scope)
{
    const struct generator_config *config = g->config;
    uint32_t roll = dice_below(&g->dice, 100);
    /* All blocks must come there. */
    if (config->has_clusters && scope->is_top && scope->depth == 0 && roll < 50) {
        gen_cluster(g);
        return true;
    }
    if (scope->level == GEN_BLOCK && config->has_barriers && roll < 12 * config->meetings) {
        gen_block_meeting(g, scope);
        return true;
    }
    if (scope->level != GEN_FREE && config->has_warp_ops && roll >= 12 && roll < 32) {
        if (roll < 27)
            gen_warp_op(g, scope);
        else
            gen_warp_exchange(g, scope);
        return true;
    }
    /* Without masks that others rely on, threads may exit anywhere. */
    if ((scope->is_top || !config->has_warp_ops) && config->has_exits && roll >= 97) {
        gen_exit(g, scope);
        return true;
    }
    if (scope->escape[0] && roll >= 40 && roll < 45) {
        gen_escape(g, scope);
        return true;
    }
    return false;
}

static void gen_statement(struct gen *g, const struct gen_scope *scope)
{
    uint32_t roll = dice_below(&g->dice, 100);
    gen_open(g);
    if (roll < 16 && scope->depth < g->config->max_depth)
        gen_flow(g, scope);
    else if (roll >= 16 && roll < 21 && !g->config->is_spare)
        gen_call(g, scope);
    else if (roll >= 21 && roll < 24 && g->config->has_atomics)
        gen_atomic(g);
    else if (!gen_together(g, scope))
        (g->config->is_spare ? gen_short : gen_plain)(g);
    gen_close(g);
}

void gen_statements(struct gen *g, const struct gen_scope *scope, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        gen_statement(g, scope);
}

/* ---- what kernel and functions have in common ---- */

void gen_declare(const struct gen *g, struct text *text)
{
    text_add(text, "    .reg .b16 %%h<%u>, %%th<%u>;\n", g->pools.h > 0 ? g->pools.h : 1,
             g->counts.h + 1);
    text_add(text, "    .reg .b32 %%r<%u>, %%tr<%u>, %%u<%u>;\n", g->pools.r, g->counts.r + 1,
             g->pools.u);
    text_add(text, "    .reg .b64 %%l<%u>, %%tl<%u>;\n", g->pools.l, g->counts.l + 1);
    text_add(text, "    .reg .pred %%p<%u>, %%tp<%u>;\n", g->pools.p, g->counts.p + 1);
    text_add(text, "    .reg .b32 %%lane, %%warp, %%thread, %%gid, %%self, %%mask0, %%acc;\n");
    text_add(text, "    .reg .b64 %%cells, %%own, %%tab, %%atoms, %%out, %%zero;\n");
    text_add(text, "    .local .align 16 .b8 box[%u];\n", g->own_bytes);
}

/* Numbers of the thread, addresses of its cells, an empty box. */
void gen_frame(struct gen *g)
{
    gen_line(g, "mov.u32 %%lane, %%tid.y;");
    gen_line(g, "mov.u32 %%thread, %%tid.z;");
    gen_line(g, "mad.lo.u32 %%lane, %%thread, %u, %%lane;", g->block[1]);
    gen_line(g, "mov.u32 %%thread, %%tid.x;");
    gen_line(g, "mad.lo.u32 %%thread, %%lane, %u, %%thread;", g->block[0]);
    gen_line(g, "and.b32 %%lane, %%thread, 31;");
    gen_line(g, "shr.u32 %%warp, %%thread, 5;");
    gen_line(g, "mov.u32 %%self, cell;");
    gen_line(g, "mad.lo.u32 %%self, %%thread, %u, %%self;", g->own_bytes);
    gen_line(g, "mov.u32 %%gid, %%ctaid.x;");
    gen_line(g, "mad.lo.u32 %%gid, %%gid, %u, %%thread;", g->threads);
    gen_line(g, "mul.wide.u32 %%own, %%gid, %u;", g->own_bytes);
    gen_line(g, "add.u64 %%own, %%cells, %%own;");
    gen_line(g, "mov.u64 %%zero, 0;");
    for (unsigned at = 0; at < g->own_bytes; at += 16)
        gen_line(g, "st.local.v2.u64 [box+%u], {%%zero, %%zero};", at);
}

/* A register of a pool from a word of the table. */
static void gen_fill_from_table(struct gen *g, unsigned bits, const char *name, const char *salt,
                                const char *word, const char *address)
{
    gen_line(g, "mad.lo.u32 %s, %s, %u, %u;", word, salt, dice_below(&g->dice, 40),
             dice_below(&g->dice, TABLE_WORDS));
    gen_line(g, "and.b32 %s, %s, %u;", word, word, TABLE_WORDS - 2);
    gen_line(g, "mul.wide.u32 %s, %s, 4;", address, word);
    gen_line(g, "add.u64 %s, %%tab, %s;", address, address);
    gen_line(g, "ld.global.u%u %s, [%s%s];", bits, name, address, bits == 16 ? "+2" : "");
}

/* ... or from the last one that was loaded, or a constant. */
static void gen_fill_cheaply(struct gen *g, unsigned bits, const char *name, const char *from)
{
    char constant[NAME_BYTES];
    gen_constant(g, bits == 16 ? PTX_TYPE_U16 : bits == 32 ? PTX_TYPE_U32 : PTX_TYPE_U64, constant);
    if (dice_chance(&g->dice, 30))
        gen_line(g, "mov.u%u %s, %s;", bits, name, constant);
    else if (bits == 64)
        gen_line(g, "mad.wide.u32 %s, %s, %u, %s;", name, from, dice_below(&g->dice, 99), constant);
    else if (bits == 16)
        gen_line(g, "cvt.u16.u32 %s, %s;", name, from);
    else
        gen_line(g, "mad.lo.u32 %s, %s, %u, %s;", name, from, 1 + dice_below(&g->dice, 99),
                 constant);
}

/* Pools from words of the table. */
void gen_fill_pools(struct gen *g, const char *salt)
{
    char word[NAME_BYTES];
    char address[NAME_BYTES];
    char from[NAME_BYTES];
    gen_temp(g, 32, word);
    gen_temp(g, 64, address);
    snprintf(from, sizeof from, "%s", salt);
    unsigned words = g->pools.r;
    unsigned wide = words + g->pools.l; /* and words */
    for (unsigned n = 0; n < wide + g->pools.h; n++) {
        unsigned bits = n < words ? 32 : n < wide ? 64 : 16;
        unsigned index = bits == 32 ? n : bits == 64 ? n - words : n - wide;
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%%%c%u", bits == 32 ? 'r' : bits == 64 ? 'l' : 'h', index);
        if (g->config->is_lean && n != 0 && (g->config->is_spare || dice_chance(&g->dice, 85))) {
            gen_fill_cheaply(g, bits, name, from);
            continue;
        }
        gen_fill_from_table(g, bits, name, salt, word, address);
        if (bits == 32)
            snprintf(from, sizeof from, "%s", name);
    }
    for (unsigned n = 0; n < g->pools.p; n++)
        gen_line(g, "setp.%s.s32 %%p%u, %%r%u, %%r%u;", n % 2 ? "lt" : "ge", n, n, n + 1);
    gen_line(g, "mov.u32 %%acc, %s;", salt);
}

/* ---- the kernel ---- */

/* The bytes of a thread's output; a multiple of 8. */
static unsigned out_bytes(const struct gen *g)
{
    const struct generator_pools *pools = &g->pools;
    return (pools->l * 8 + (pools->r + pools->h + 1 + pools->p + pools->u) * 4 + 7) / 8 * 8;
}

static void gen_shape(struct gen *g)
{
    static const uint32_t few[] = {1, 2, 7, 31, 32, 32, 32, 33, 48, 63, 64, 64};
    struct dice *dice = &g->dice;
    uint32_t threads = few[dice_below(dice, sizeof few / sizeof *few)];
    if (dice_chance(dice, 12))
        threads = 1 + dice_below(dice, g->config->max_threads);
    if (threads > g->config->max_threads)
        threads = g->config->max_threads;
    if (g->config->has_matrices)
        threads = (threads + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    for (int n = 0; n < 3; n++)
        g->block[n] = g->grid[n] = 1;
    g->grid[0] = 1 + (dice_chance(dice, 40) ? 1 + dice_below(dice, 2) : 0);
    g->block[0] = threads;
    bool is_flat = !dice_chance(dice, 25) || threads < 8;
    if (!is_flat && g->config->has_matrices) {
        g->block[0] = 8;
        g->block[1] = threads / 8;
    } else if (!is_flat) {
        g->block[0] = 1 + dice_below(dice, 8);
        g->block[1] = 1 + dice_below(dice, threads / g->block[0]);
        g->block[2] = threads / (g->block[0] * g->block[1]);
    }
    g->threads = g->block[0] * g->block[1] * g->block[2];
    if (g->config->has_clusters) {
        g->cluster = 2 + dice_below(dice, 3);
        g->grid[0] *= g->cluster;
    }
}

/* The lanes that this warp has: fewer than 32 in the last one. */
static void gen_first_mask(struct gen *g)
{
    char count[NAME_BYTES];
    gen_temp(g, 32, count);
    gen_line(g, "shl.b32 %s, %%warp, 5;", count);
    gen_line(g, "sub.u32 %s, %u, %s;", count, g->threads, count);
    gen_line(g, "mov.u32 %%mask0, 1;");
    gen_line(g, "shl.b32 %%mask0, %%mask0, %s;", count);
    gen_line(g, "sub.u32 %%mask0, %%mask0, 1;");
}

/* Thread 0 sets the cells that atomics of the block meet in; or copies them out. */
static void gen_tally(struct gen *g, bool is_end)
{
    char first[NAME_BYTES];
    char value[NAME_BYTES];
    char address[NAME_BYTES];
    char skip[NAME_BYTES];
    gen_temp(g, 1, first);
    gen_temp(g, 64, value);
    gen_temp(g, 64, address);
    gen_new_label(g, skip);
    if (is_end)
        gen_line(g, "barrier.sync 0;");
    gen_line(g, "setp.ne.u32 %s, %%thread, 0;", first);
    gen_line(g, "@%s bra %s;", first, skip);
    gen_line(g, "ld.param.u64 %s, [p_tallies];", address);
    gen_line(g, "mov.u32 %%warp, %%ctaid.x;");
    gen_line(g, "mul.wide.u32 %s, %%warp, %u;", value, ATOMIC_SLOTS * 8);
    gen_line(g, "add.u64 %s, %s, %s;", address, address, value);
    for (unsigned slot = 0; slot < ATOMIC_SLOTS; slot++) {
        gen_line(g, "ld.%s.u64 %s, [%s+%u];", is_end ? "shared" : "global", value,
                 is_end ? "tally" : address, slot * 8);
        gen_line(g, "st.%s.u64 [%s+%u], %s;", is_end ? "global" : "shared",
                 is_end ? address : "tally", slot * 8, value);
    }
    gen_label(g, skip);
    gen_line(g, "shr.u32 %%warp, %%thread, 5;");
    if (!is_end)
        gen_line(g, "barrier.sync 0;");
}

/* One more result. Lean: those of all threads lie next to each other, so that loops over vectors
 * of threads need few instructions for them. */
static void gen_result(struct gen *g, unsigned bytes, const char *suffix, const char *name,
                       unsigned *at)
{
    uint32_t total = g->threads * g->grid[0];
    gen_line(g, "st.global.u%s [%%out+%u], %s;", suffix, *at, name);
    *at += bytes * (g->config->is_lean ? total : 1);
}

/* Every pool register of the thread goes to memory. */
static void gen_results(struct gen *g)
{
    unsigned at = 0;
    char word[NAME_BYTES];
    char name[NAME_BYTES];
    gen_temp(g, 32, word);
    gen_line(g, "ld.param.u64 %%out, [p_out];");
    gen_line(g, "mad.wide.u32 %%out, %%gid, %u, %%out;", g->config->is_lean ? 8 : out_bytes(g));
    for (unsigned n = 0; n < g->pools.l; n++) {
        snprintf(name, sizeof name, "%%l%u", n);
        gen_result(g, 8, "64", name, &at);
    }
    if (g->config->is_lean) {
        gen_line(g, "mul.wide.u32 %%zero, %%gid, 4;");
        gen_line(g, "sub.u64 %%out, %%out, %%zero;");
    }
    for (unsigned n = 0; n < g->pools.r; n++) {
        snprintf(name, sizeof name, "%%r%u", n);
        gen_result(g, 4, "32", name, &at);
    }
    for (unsigned n = 0; n < g->pools.h; n++) {
        snprintf(name, sizeof name, "%%h%u", n);
        gen_result(g, 4, "16", name, &at);
    }
    for (unsigned n = 0; n < g->pools.p; n++) {
        gen_line(g, "selp.u32 %s, 1, 0, %%p%u;", word, n);
        gen_result(g, 4, "32", word, &at);
    }
    for (unsigned n = 0; n < g->pools.u; n++) {
        snprintf(name, sizeof name, "%%u%u", n);
        gen_result(g, 4, "32", name, &at);
    }
    gen_result(g, 4, "32", "%acc", &at);
}

static void gen_all_statements(struct gen *g, const struct gen_scope *top)
{
    for (unsigned n = 0; n < g->config->partings; n++) {
        gen_statements(g, top, dice_below(&g->dice, 2));
        gen_open(g);
        gen_leavers(g, top);
        gen_close(g);
    }
    for (unsigned n = 0; n < g->config->matrices; n++) {
        gen_statements(g, top, dice_below(&g->dice, 2));
        gen_open(g);
        gen_matrix(g);
        gen_close(g);
    }
    gen_rows(g, top);
    gen_statements(g, top, g->config->statements);
}

static void gen_kernel_body(struct gen *g)
{
    const struct gen_scope top = {
        .level = GEN_BLOCK,
        .mask = "%mask0",
        .is_full = g->threads % 32 == 0 && !g->config->has_exits,
        .is_top = true,
        .turns = 1,
    };
    gen_line(g, "ld.param.u64 %%cells, [p_cells];");
    gen_line(g, "ld.param.u64 %%tab, [p_table];");
    gen_line(g, "ld.param.u64 %%atoms, [p_atoms];");
    gen_frame(g);
    gen_fill_pools(g, "%gid");
    for (unsigned n = 0; n < g->pools.u; n++) {
        gen_line(g, "mov.u32 %%u%u, %%ctaid.x;", n);
        gen_line(g, "mad.lo.u32 %%u%u, %%u%u, %u, %u;", n, n, dice_below(&g->dice, 9),
                 dice_below(&g->dice, 50));
    }
    gen_first_mask(g);
    for (unsigned at = 0; at < g->own_bytes; at += 16)
        gen_line(g, "st.shared.v2.u64 [%%self+%u], {%%zero, %%l%u};", at, at / 16 % g->pools.l);
    bool has_tally = g->config->has_barriers && (g->config->has_atomics || !g->config->is_lean);
    if (has_tally)
        gen_tally(g, false);
    gen_all_statements(g, &top);
    if (has_tally)
        gen_tally(g, true);
    gen_results(g);
    gen_line(g, "ret;");
}

/* ---- the case ---- */

static void add_word_list(struct gen *g, struct text *text, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        uint64_t word = dice_next(&g->dice);
        uint32_t roll = dice_below(&g->dice, 4);
        if (roll == 0)
            word = edge_float(&g->dice, false);
        else if (roll == 1)
            word = edge_int(&g->dice, 32);
        else if (roll == 2)
            word = word % 4 ? edge_float(&g->dice, true) >> 32 : word & 0xff;
        text_add(text, "%s0x%" PRIx32, n == 0 ? "" : n % 8 ? ", " : ",\n//   ", (uint32_t)word);
    }
}

/* First values of the cells for atomics, by slot: see gen_memory.c. */
static void add_atom_list(struct text *text)
{
    static const char *const values[ATOMIC_SLOTS] = {
        "0", "0x7fffffff",         "0", "0xffffffff", "0", "0", "5", "0x8000000000000000", "0",
        "0", "0xffffffffffffffff", "0",
    };
    for (unsigned n = 0; n < ATOMIC_SLOTS; n++)
        text_add(text, "%s%s", n ? ", " : "", values[n]);
}

static void add_header(struct gen *g, struct text *text)
{
    uint32_t total = g->threads * g->grid[0];
    text_add(text, "// Random kernel %" PRIu64 ".\n//\n", g->config->seed);
    text_add(text, "// launch: grid %u block %u %u %u\n", g->grid[0], g->block[0], g->block[1],
             g->block[2]);
    text_add(text, "// buffer: u32 x %u = hash(i)\n", total * g->own_bytes / 4);
    text_add(text, "// buffer: u32 x %u = { ", TABLE_WORDS);
    add_word_list(g, text, TABLE_WORDS);
    text_add(text, " }\n// buffer: u64 x %u = { ", ATOMIC_SLOTS);
    add_atom_list(text);
    text_add(text, " }\n// buffer: u32 x %u = 0\n", total * out_bytes(g) / 4);
    text_add(text, "// buffer: u64 x %u = { ", ATOMIC_SLOTS * g->grid[0]);
    add_atom_list(text);
    text_add(text, " }\n.version 8.6\n.target sm_90\n.address_size 64\n\n");
    text_add(text, ".shared .align 16 .b8 cell[%u];\n", g->threads * g->own_bytes);
    text_add(text, ".shared .align 8 .b8 tally[%u];\n", ATOMIC_SLOTS * 8);
    text_add(text, ".const .align 8 .b32 words[%u] = {", TABLE_WORDS);
    for (unsigned n = 0; n < TABLE_WORDS; n++)
        text_add(text, "%s%u", n ? ", " : "", (uint32_t)dice_next(&g->dice) >> (n % 32));
    text_add(text, "};\n\n");
}

void generator_make(const struct generator_config *config, struct text *text)
{
    struct text body = {0};
    struct gen g = {
        .dice = {config->seed * 2 + 1},
        .config = config,
        .forms = gen_forms_get(),
        .pools = config->pools,
        .own_bytes = config->own_bytes,
        .indent = 1,
    };
    if (config->is_matrix || config->is_strided) {
        (config->is_matrix ? gen_stencil : gen_strides)(&g, text);
        text_fini(&body);
        return;
    }
    gen_shape(&g);
    add_header(&g, text);
    gen_functions(&g, text);
    g.counts = (struct gen_counts){0};
    g.in_function = false;
    g.function = config->functions;
    g.out = &body;
    gen_kernel_body(&g);
    text_add(text, ".visible .entry random(.param .u64 p_cells, .param .u64 p_table, "
                   ".param .u64 p_atoms,\n    .param .u64 p_out, .param .u64 p_tallies)");
    if (g.cluster > 0)
        text_add(text, " .reqnctapercluster %u", g.cluster);
    text_add(text, "\n{\n");
    gen_declare(&g, text);
    text_add_bytes(text, body.bytes, body.len);
    text_add(text, "}\n");
    text_fini(&body);
}

struct generator_config generator_config_from_seed(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x5eed5eed5eed5eed)};
    bool is_plain = dice_chance(&dice, 12);
    struct generator_config config = {
        .seed = seed,
        .statements = 8 + dice_below(&dice, 25),
        .functions = dice_below(&dice, 4),
        .max_depth = 1 + dice_below(&dice, 3),
        .max_turns = 1 + dice_below(&dice, 16),
        .max_threads = dice_chance(&dice, 10) ? 256 : 96,
        .has_barriers = !is_plain && dice_chance(&dice, 80),
        .has_warp_ops = !is_plain && dice_chance(&dice, 80),
        .has_atomics = dice_chance(&dice, 60),
        .has_floats = dice_chance(&dice, 80),
        .has_exits = dice_chance(&dice, 40),
        .meetings = dice_chance(&dice, 40) ? 3 : 1,
        .arms = 4,
        .arm_meetings = 6,
        .own_bytes = 64,
        .pools = {.h = 5, .r = 8, .l = 5, .p = 5, .u = 3},
        .has_chains = true,
        .has_polls = dice_chance(&dice, 35),
        .has_recursion = dice_chance(&dice, 35),
        .has_pointers = dice_chance(&dice, 35),
    };
    config.has_leavers = config.has_exits && config.has_barriers && dice_chance(&dice, 60);
    config.has_mbarriers = !config.has_exits && config.has_barriers && dice_chance(&dice, 50);
    config.has_matrices = !config.has_exits && config.has_warp_ops && dice_chance(&dice, 50);
    config.is_flushed = config.has_floats && dice_chance(&dice, 30);
    return config;
}

static void make_lean(struct generator_config *config, struct dice *dice)
{
    config->statements = 3 + dice_below(dice, 8);
    config->functions = dice_chance(dice, 25) ? 1 + dice_below(dice, 2) : 0;
    config->max_depth = 1 + dice_below(dice, 2);
    config->has_atomics = dice_chance(dice, 30);
    config->is_lean = true;
}

struct generator_config generator_config_small(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x5ea11e55)};
    struct generator_config config = generator_config_from_seed(seed);
    if (!dice_chance(&dice, 10))
        make_lean(&config, &dice);
    return config;
}

static void make_spare(struct generator_config *config, struct dice *dice)
{
    config->statements = dice_below(dice, 2);
    config->functions = 0;
    config->max_depth = 1;
    config->own_bytes = 16;
    config->pools = (struct generator_pools){.r = 3, .l = 1, .p = 2, .u = 1};
    config->has_atomics = config->has_chains = false;
    config->is_lean = config->is_spare = true;
}

static void make_spare_parting(struct generator_config *config, struct dice *dice)
{
    config->partings += dice_chance(dice, 10);
    make_spare(config, dice);
    config->arms = dice_chance(dice, 40) ? 3 : 2;
    config->arm_meetings = dice_chance(dice, 40) ? 4 : 2;
}

struct generator_config generator_config_matrices(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x3a721ce5)};
    struct generator_config config = generator_config_small(seed);
    uint32_t size = dice_below(&dice, 100);
    config.has_exits = config.has_leavers = false;
    config.has_warp_ops = config.has_matrices = true;
    config.matrices = 1 + dice_below(&dice, 6);
    config.meetings = 3;
    if (size >= 10) {
        make_spare(&config, &dice);
        config.matrices = 2 + dice_below(&dice, 2);
        config.pools.r = 5;
    }
    return config;
}

struct generator_config generator_config_leavers(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x1ea7e125)};
    struct generator_config config = generator_config_from_seed(seed);
    uint32_t size = dice_below(&dice, 200);
    config.has_barriers = config.has_exits = config.has_leavers = true;
    config.has_matrices = false;
    config.has_chains = false;
    config.meetings = 3;
    config.partings = 1;
    if (size >= 20)
        make_spare_parting(&config, &dice);
    else if (size > 0)
        make_lean(&config, &dice);
    return config;
}

struct generator_config generator_config_clusters(uint64_t seed)
{
    struct generator_config config = generator_config_small(seed);
    config.statements = 3 + config.statements / 2;
    config.has_barriers = config.has_clusters = true;
    config.has_exits = config.has_leavers = false;
    return config;
}

struct generator_config generator_config_rows(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x70e5)};
    struct generator_config config = generator_config_small(seed);
    config.has_barriers = true;
    config.statements = dice_below(&dice, 4);
    config.functions = 0;
    config.row = 20 + dice_below(&dice, dice_chance(&dice, 20) ? 100 : 30);
    config.row_conditions = dice_chance(&dice, 50) ? dice_below(&dice, 9) : 0;
    config.pools.r = 8 + dice_below(&dice, 26);
    config.is_lean = true;
    return config;
}

struct generator_config generator_config_stencils(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x3a7e1c)};
    return (struct generator_config){
        .seed = seed,
        .statements = 1 + dice_below(&dice, 9),
        .has_floats = dice_chance(&dice, 80),
        .own_bytes = 16,
        .pools = {.h = 2, .r = 3 + dice_below(&dice, 6), .l = 2, .p = 2, .u = 1},
        .is_matrix = true,
    };
}

struct generator_config generator_config_pixels(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x9188e15)};
    return (struct generator_config){
        .seed = seed,
        .statements = 3 + dice_below(&dice, 30),
        .own_bytes = 16,
        .pools =
            {.h = 1 + dice_below(&dice, 4), .r = 3 + dice_below(&dice, 4), .l = 1, .p = 2, .u = 1},
        .is_matrix = true,
        .has_pixels = true,
    };
}

struct generator_config generator_config_strides(uint64_t seed)
{
    struct dice dice = {seed ^ UINT64_C(0x57a1de)};
    return (struct generator_config){
        .seed = seed,
        .statements = 2 + dice_below(&dice, 7),
        .has_floats = dice_chance(&dice, 60),
        .own_bytes = 16,
        .pools = {.h = 2, .r = 4 + dice_below(&dice, 4), .l = 2, .p = 3, .u = 1},
        .is_strided = true,
    };
}
