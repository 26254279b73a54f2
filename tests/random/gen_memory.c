/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomics. A thread touches its own cells at any time; words that all threads
 * read are never written; cells that several threads change are changed by atomics whose final
 * value does not depend on the order, and their results are dropped.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

enum own_space { OWN_SHARED, OWN_GLOBAL, OWN_LOCAL, OWN_SPACE_COUNT };

static const char *const space_names[OWN_SPACE_COUNT] = {"shared", "global", "local"};

struct access {
    enum own_space space;
    bool is_generic;
    char address[2 * NAME_BYTES]; /* the text in the brackets */
};

/* ---- addresses ---- */

/* An offset that depends on data, a multiple of align that leaves room for it. */
static void gen_offset(struct gen *g, unsigned align, char name[NAME_BYTES])
{
    char source[NAME_BYTES];
    gen_pool(g, 32, source);
    gen_temp(g, 32, name);
    gen_line(g, "and.b32 %s, %s, %u;", name, source, g->own_bytes - align);
}

static const char *own_base(enum own_space space)
{
    return space == OWN_SHARED ? "%self" : space == OWN_GLOBAL ? "%own" : "box";
}

/* base + offset in a register of 32 (shared) or 64 bits. */
static void gen_sum(struct gen *g, enum own_space space, const char *offset, char name[NAME_BYTES])
{
    char wide[NAME_BYTES];
    if (space == OWN_SHARED) {
        gen_temp(g, 32, name);
        gen_line(g, "add.u32 %s, %%self, %s;", name, offset);
        return;
    }
    gen_temp(g, 64, wide);
    gen_temp(g, 64, name);
    gen_line(g, "cvt.u64.u32 %s, %s;", wide, offset);
    gen_line(g, "mov.u64 %s, %s;", name, own_base(space));
    gen_line(g, "add.u64 %s, %s, %s;", name, name, wide);
}

/* A place in one of the thread's cells. */
static void gen_access(struct gen *g, enum own_space space, unsigned align, struct access *access)
{
    char base[NAME_BYTES];
    unsigned offset = dice_below(&g->dice, g->own_bytes / align) * align;
    access->space = space;
    access->is_generic = dice_chance(&g->dice, 20);
    snprintf(base, sizeof base, "%s", own_base(space));
    if (dice_chance(&g->dice, 40)) {
        char index[NAME_BYTES];
        gen_offset(g, align, index);
        gen_sum(g, space, index, base);
        offset = 0;
    }
    if (access->is_generic && space != OWN_GLOBAL) {
        char generic[NAME_BYTES];
        gen_temp(g, 64, generic);
        gen_line(g, "%s.u64%s %s, %s;", space == OWN_SHARED ? "cvt" : "mov",
                 space == OWN_SHARED ? ".u32" : "", generic, base);
        gen_line(g, "cvta.%s.u64 %s, %s;", space_names[space], generic, generic);
        snprintf(base, sizeof base, "%s", generic);
    }
    if (offset)
        snprintf(access->address, sizeof access->address, "%s+%u", base, offset);
    else
        snprintf(access->address, sizeof access->address, "%s", base);
}

/* ---- loads and stores of own cells ---- */

static const char *gen_order(struct gen *g, enum own_space space, bool is_store)
{
    static const char *const orders[] = {".volatile", ".relaxed.cta", ".relaxed.gpu", ".weak"};
    if (space == OWN_LOCAL || !g->config->has_polls || !dice_chance(&g->dice, 25))
        return "";
    uint32_t which = dice_below(&g->dice, 5);
    return which < 4 ? orders[which] : is_store ? ".release.cta" : ".acquire.cta";
}

static unsigned pool_size(const struct gen *g, unsigned bits)
{
    return bits == 64 ? g->pools.l : bits == 32 ? g->pools.r : g->pools.h;
}

/* Registers of a vector: different ones, in a row. Narrow types may use wider registers. */
static void gen_registers(struct gen *g, unsigned count, unsigned bits, char text[128])
{
    unsigned first = dice_below(&g->dice, pool_size(g, bits) - count + 1);
    char letter = bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
    size_t len = (size_t)snprintf(text, 128, "%s", count > 1 ? "{" : "");
    for (unsigned n = 0; n < count; n++)
        len +=
            (size_t)snprintf(text + len, 128 - len, "%s%%%c%u", n ? ", " : "", letter, first + n);
    snprintf(text + len, 128 - len, "%s", count > 1 ? "}" : "");
}

static void gen_own_access(struct gen *g)
{
    static const enum ptx_type types[] = {
        PTX_TYPE_U8,  PTX_TYPE_S8,  PTX_TYPE_B8,  PTX_TYPE_U16, PTX_TYPE_S16,
        PTX_TYPE_B16, PTX_TYPE_U32, PTX_TYPE_S32, PTX_TYPE_B32, PTX_TYPE_F32,
        PTX_TYPE_U64, PTX_TYPE_S64, PTX_TYPE_B64, PTX_TYPE_F64,
    };
    enum ptx_type type = types[dice_below(&g->dice, sizeof types / sizeof *types)];
    enum own_space space = (enum own_space)dice_below(&g->dice, OWN_SPACE_COUNT);
    bool is_store = dice_chance(&g->dice, 50);
    unsigned bits = ptx_type_bits(type);
    unsigned count = 1U << (dice_chance(&g->dice, 30) ? 1 + dice_below(&g->dice, 2) : 0);
    if (count * bits > 128)
        count = 2;
    unsigned reg_bits = bits < 16 ? 16 : bits;
    bool is_widened = bits < 64 && !ptx_type_is_float(type) && dice_chance(&g->dice, 30);
    if (is_widened && pool_size(g, reg_bits * 2) >= count)
        reg_bits *= 2;
    struct access access;
    char registers[128];
    gen_access(g, space, count * bits / 8, &access);
    gen_registers(g, count, reg_bits, registers);
    const char *order = gen_order(g, space, is_store);
    char head[64];
    snprintf(head, sizeof head, "%s%s%s%s%s.%s", is_store ? "st" : "ld", order,
             access.is_generic ? "" : ".", access.is_generic ? "" : space_names[space],
             count == 2   ? ".v2"
             : count == 4 ? ".v4"
                          : "",
             ptx_type_table[type].name);
    if (is_store)
        gen_line(g, "%s [%s], %s;", head, access.address, registers);
    else
        gen_line(g, "%s %s, [%s];", head, registers, access.address);
}

/* ---- words that all threads read ---- */

static void gen_table_read(struct gen *g)
{
    bool is_const = dice_chance(&g->dice, 50);
    unsigned bytes = dice_chance(&g->dice, 30) ? 8 : 4;
    char index[NAME_BYTES];
    char address[NAME_BYTES];
    char base[NAME_BYTES];
    char r[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_temp(g, 32, index);
    gen_temp(g, 64, address);
    gen_temp(g, 64, base);
    gen_line(g, "and.b32 %s, %s, %u;", index, r, TABLE_WORDS * 4 - bytes);
    gen_line(g, "cvt.u64.u32 %s, %s;", address, index);
    gen_line(g, "mov.u64 %s, %s;", base, is_const ? "words" : "%tab");
    gen_line(g, "add.u64 %s, %s, %s;", address, base, address);
    gen_pool(g, bytes * 8, r);
    gen_line(g, "ld.%s.%s %s, [%s];",
             is_const                    ? "const"
             : dice_chance(&g->dice, 50) ? "global.nc"
                                         : "global",
             bytes == 8 ? "u64" : "u32", r, address);
}

void gen_memory(struct gen *g)
{
    if (dice_chance(&g->dice, 20))
        gen_table_read(g);
    else
        gen_own_access(g);
}

/* ---- atomics ---- */

/* The only operations of the threads of a block (shared) or of the grid on a slot. */
static const struct {
    const char *op;
    enum ptx_type type;
} slots[ATOMIC_SLOTS] = {
    {"add", PTX_TYPE_U32}, {"min", PTX_TYPE_S32}, {"max", PTX_TYPE_U32}, {"and", PTX_TYPE_B32},
    {"or", PTX_TYPE_B32},  {"xor", PTX_TYPE_B32}, {"add", PTX_TYPE_U64}, {"max", PTX_TYPE_S64},
    {"or", PTX_TYPE_B64},  {"inc", PTX_TYPE_U32}, {"min", PTX_TYPE_U64}, {"cas", PTX_TYPE_B32},
};

/* old = cell; do seen = old, old = cas(cell, seen, seen * 1 + value) until no other thread came
 * between. */
static void gen_cas_loop(struct gen *g, const char *space, const char *address)
{
    char old[NAME_BYTES];
    char seen[NAME_BYTES];
    char next[NAME_BYTES];
    char differs[NAME_BYTES];
    char label[NAME_BYTES];
    char value[NAME_BYTES];
    gen_pool(g, 32, value);
    gen_temp(g, 32, old);
    gen_temp(g, 32, seen);
    gen_temp(g, 32, next);
    gen_temp(g, 1, differs);
    gen_new_label(g, label);
    gen_line(g, "ld.relaxed.gpu.%s.u32 %s, [%s];", space, old, address);
    gen_label(g, label);
    gen_line(g, "mov.u32 %s, %s;", seen, old);
    gen_line(g, "add.u32 %s, %s, %s;", next, seen, value);
    gen_line(g, "atom.%s.cas.b32 %s, [%s], %s, %s;", space, old, address, seen, next);
    gen_line(g, "setp.ne.u32 %s, %s, %s;", differs, old, seen);
    gen_line(g, "@%s bra %s;", differs, label);
}

void gen_atomic(struct gen *g)
{
    static const char *const orders[] = {"", ".relaxed.gpu", ".release.gpu", ".release.sys"};
    unsigned slot = dice_below(&g->dice, ATOMIC_SLOTS);
    bool is_shared = g->config->has_barriers && dice_chance(&g->dice, 50);
    const char *space = is_shared ? "shared" : "global";
    const char *order = orders[dice_below(&g->dice, 4)];
    const char *type = ptx_type_table[slots[slot].type].name;
    unsigned bits = ptx_type_bits(slots[slot].type);
    char address[NAME_BYTES];
    char value[NAME_BYTES];
    char old[NAME_BYTES];
    snprintf(address, sizeof address, "%s+%u", is_shared ? "tally" : "%atoms", slot * 8);
    if (strcmp(slots[slot].op, "cas") == 0) {
        if (g->config->has_polls)
            gen_cas_loop(g, space, address);
        return;
    }
    gen_pool(g, bits, value);
    if (strcmp(slots[slot].op, "inc") == 0)
        snprintf(value, sizeof value, "1000");
    if (dice_chance(&g->dice, 50)) {
        gen_line(g, "red%s.%s.%s.%s [%s], %s;", order, space, slots[slot].op, type, address, value);
        return;
    }
    gen_temp(g, bits, old);
    gen_line(g, "atom%s.%s.%s.%s %s, [%s], %s;", order, space, slots[slot].op, type, old, address,
             value);
}

/* Exchange and compare-and-swap, with which programs wait for others. */
#define POLLING_KINDS 5

/* On the thread's own cell, so that the result is defined. */
void gen_own_atomic(struct gen *g)
{
    static const struct {
        const char *op;
        enum ptx_type type;
    } kinds[] = {
        {"add", PTX_TYPE_U32},  {"add", PTX_TYPE_S32},  {"add", PTX_TYPE_U64},
        {"min", PTX_TYPE_S32},  {"min", PTX_TYPE_U64},  {"max", PTX_TYPE_U32},
        {"max", PTX_TYPE_S64},  {"and", PTX_TYPE_B32},  {"or", PTX_TYPE_B64},
        {"xor", PTX_TYPE_B32},  {"inc", PTX_TYPE_U32},  {"dec", PTX_TYPE_U32},
        {"exch", PTX_TYPE_B32}, {"exch", PTX_TYPE_B64}, {"cas", PTX_TYPE_B32},
        {"cas", PTX_TYPE_B64},  {"cas", PTX_TYPE_B16},
    };
    uint32_t count = sizeof kinds / sizeof *kinds;
    uint32_t kind = dice_below(&g->dice, g->config->has_polls ? count : count - POLLING_KINDS);
    unsigned bits = ptx_type_bits(kinds[kind].type);
    bool is_cas = strcmp(kinds[kind].op, "cas") == 0;
    struct access access;
    char d[NAME_BYTES];
    char b[NAME_BYTES];
    char c[NAME_BYTES];
    gen_access(g, (enum own_space)dice_below(&g->dice, OWN_LOCAL), bits / 8, &access);
    gen_pool(g, bits, d);
    gen_source(g, kinds[kind].type, b);
    gen_source(g, kinds[kind].type, c);
    gen_line(g, "atom%s%s.%s.%s %s, [%s], %s%s%s;", access.is_generic ? "" : ".",
             access.is_generic ? "" : space_names[access.space], kinds[kind].op,
             ptx_type_table[kinds[kind].type].name, d, access.address, b, is_cas ? ", " : "",
             is_cas ? c : "");
}

void gen_fence(struct gen *g)
{
    static const char *const fences[] = {
        "membar.cta;",   "membar.gl;",         "membar.sys;",      "fence.acq_rel.cta;",
        "fence.sc.gpu;", "fence.acq_rel.sys;", "nanosleep.u32 1;",
    };
    uint32_t count = sizeof fences / sizeof *fences;
    gen_line(g, "%s", fences[dice_below(&g->dice, g->config->has_polls ? count : count - 1)]);
}
