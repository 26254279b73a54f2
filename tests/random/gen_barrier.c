/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements of the threads of a block together: barriers, exchanges through shared memory, and
 * barriers that threads come to on different ways, as often as each other.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

void gen_barrier(struct gen *g)
{
    static const char *const forms[] = {"bar.sync", "barrier.sync", "bar.cta.sync",
                                        "barrier.cta.sync"};
    /* Aligned forms want all threads of a warp: they are for blocks whose threads are together. */
    const char *form = forms[dice_below(&g->dice, 4)];
    unsigned id = dice_below(&g->dice, 16);
    if (g->threads % 32 == 0 && !g->config->has_exits && dice_chance(&g->dice, 30))
        gen_line(g, "%s %u, %u;", form, id, g->threads);
    else
        gen_line(g, "%s %u;", form, id);
}

/* Warps with an even number arrive and go on, the others wait for them and read what they wrote. */
void gen_split_barrier(struct gen *g)
{
    unsigned at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    unsigned id = 1 + dice_below(&g->dice, 15);
    char r[NAME_BYTES];
    char is_odd[NAME_BYTES];
    char number[NAME_BYTES];
    char waits[NAME_BYTES];
    char join[NAME_BYTES];
    if (g->threads % 64 != 0 || g->config->has_exits) {
        gen_barrier(g);
        return;
    }
    gen_pool(g, 32, r);
    gen_temp(g, 1, is_odd);
    gen_temp(g, 32, number);
    gen_new_label(g, waits);
    gen_new_label(g, join);
    gen_line(g, "st.shared.u32 [%%self+%u], %s;", at, r);
    gen_line(g, "and.b32 %s, %%warp, 1;", number);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", is_odd, number);
    gen_line(g, "@%s bra %s;", is_odd, waits);
    gen_line(g, "bar%s.arrive %u, %u;", dice_chance(&g->dice, 50) ? ".cta" : "", id, g->threads);
    gen_line(g, "bra %s;", join);
    gen_label(g, waits);
    gen_line(g, "mov.u32 %s, %u;", number, id);
    gen_line(g, "bar.sync %s, %u;", number, g->threads);
    gen_pool(g, 32, r);
    gen_line(g, "sub.u32 %s, %%self, %u;", number, 32 * g->own_bytes);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", r, number, at);
    gen_label(g, join);
    gen_line(g, "bar.sync 0;");
}

/* Own cell, barrier, the cell of another thread, barrier. */
void gen_block_exchange(struct gen *g)
{
    unsigned bytes = dice_chance(&g->dice, 70) ? 4 : 8;
    unsigned at = dice_below(&g->dice, g->own_bytes / bytes) * bytes;
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    gen_pool(g, bytes * 8, r);
    gen_line(g, "st.shared.u%u [%%self+%u], %s;", bytes * 8, at, r);
    gen_pool(g, 32, r);
    gen_temp(g, 32, other);
    if (dice_chance(&g->dice, 50))
        gen_line(g, "add.u32 %s, %%thread, %u;", other, 1 + dice_below(&g->dice, 100));
    else
        gen_line(g, "xor.b32 %s, %s, %%thread;", other, r);
    gen_line(g, "rem.u32 %s, %s, %u;", other, other, g->threads);
    gen_line(g, "sub.u32 %s, %s, %%thread;", other, other);
    gen_line(g, "mad.lo.u32 %s, %s, %u, %%self;", other, other, g->own_bytes);
    gen_barrier(g);
    gen_pool(g, bytes * 8, r);
    gen_line(g, "ld.shared.u%u %s, [%s+%u];", bytes * 8, r, other, at);
    gen_barrier(g);
}

void gen_barrier_red(struct gen *g)
{
    char p[NAME_BYTES];
    char d[NAME_BYTES];
    const char *sign = dice_chance(&g->dice, 30) ? "!" : "";
    const char *form = dice_chance(&g->dice, 50) ? "bar" : "barrier";
    unsigned id = dice_below(&g->dice, 16);
    gen_pool(g, 1, p);
    if (dice_chance(&g->dice, 40)) {
        gen_pool(g, 1, d);
        gen_line(g, "%s.red.%s.pred %s, %u, %s%s;", form, dice_chance(&g->dice, 50) ? "and" : "or",
                 d, id, sign, p);
        return;
    }
    /* Every thread gets the same: the only data that loops with barriers may depend on. */
    snprintf(d, sizeof d, "%%u%u", dice_below(&g->dice, g->pools.u));
    gen_line(g, "%s.red.popc.u32 %s, %u, %s%s;", form, d, id, sign, p);
    if (dice_chance(&g->dice, 50)) {
        char r[NAME_BYTES];
        gen_pool(g, 32, r);
        gen_line(g, "add.u32 %s, %s, %s;", r, r, d);
    }
}

/* ---- threads on different ways ---- */

void gen_other_cell(struct gen *g, char other[NAME_BYTES])
{
    gen_temp(g, 32, other);
    gen_line(g, "add.u32 %s, %%thread, %u;", other, 1 + dice_below(&g->dice, 100));
    gen_line(g, "rem.u32 %s, %s, %u;", other, other, g->threads);
    gen_line(g, "sub.u32 %s, %s, %%thread;", other, other);
    gen_line(g, "mad.lo.u32 %s, %s, %u, %%self;", other, other, g->own_bytes);
}

/* The cell of another thread, at an offset, between two barriers that need not be aligned. */
static void gen_meeting(struct gen *g, const unsigned ids[2], unsigned at)
{
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    gen_other_cell(g, other);
    gen_pool(g, 32, r);
    gen_line(g, "barrier.sync %u;", ids[0]);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", r, other, at);
    gen_line(g, "barrier.sync %u;", ids[1]);
}

/* Threads take one of two arms; both hold the same barriers. */
void gen_barrier_arms(struct gen *g, const struct gen_scope *scope)
{
    const struct gen_scope inside = gen_scope_free(scope);
    unsigned at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    const unsigned ids[2] = {dice_below(&g->dice, 16), dice_below(&g->dice, 16)};
    char condition[NAME_BYTES];
    char other[NAME_BYTES];
    char join[NAME_BYTES];
    gen_condition(g, WAY_FREE, condition);
    gen_new_label(g, other);
    gen_new_label(g, join);
    gen_line(g, "@%s bra %s;", condition, other);
    for (int arm = 0; arm < 2; arm++) {
        g->indent++;
        gen_statements(g, &inside, dice_below(&g->dice, 3));
        gen_meeting(g, ids, at);
        gen_statements(g, &inside, dice_below(&g->dice, 3));
        g->indent--;
        if (arm == 0) {
            gen_line(g, "bra %s;", join);
            gen_label(g, other);
        }
    }
    gen_label(g, join);
}

/* while (count != 0) { statements; red; count-- } */
static void gen_red_loop(struct gen *g, const struct gen_scope *inside, unsigned id,
                         const char *count, const char *d)
{
    char p[NAME_BYTES];
    char is_over[NAME_BYTES];
    char head[NAME_BYTES];
    char done[NAME_BYTES];
    gen_temp(g, 1, is_over);
    gen_new_label(g, head);
    gen_new_label(g, done);
    gen_label(g, head);
    gen_line(g, "setp.eq.u32 %s, %s, 0;", is_over, count);
    gen_line(g, "@%s bra %s;", is_over, done);
    g->indent++;
    gen_statements(g, inside, dice_below(&g->dice, 3));
    gen_pool(g, 1, p);
    gen_line(g, "barrier.red.popc.u32 %s, %u, %s;", d, id, p);
    gen_statements(g, inside, dice_below(&g->dice, 2));
    g->indent--;
    gen_line(g, "sub.u32 %s, %s, 1;", count, count);
    gen_line(g, "bra %s;", head);
    gen_label(g, done);
}

/* Two loops, one behind the other, with the same barrier: threads go around them as often as each
 * other in all, but leave the first in different turns. */
void gen_barrier_loops(struct gen *g, const struct gen_scope *scope)
{
    struct gen_scope inside = gen_scope_free(scope);
    unsigned turns = gen_turns_left(g, scope);
    unsigned id = dice_below(&g->dice, 16);
    char first[NAME_BYTES];
    char second[NAME_BYTES];
    char source[NAME_BYTES];
    char d[NAME_BYTES];
    inside.turns = scope->turns * turns;
    gen_temp(g, 32, first);
    gen_temp(g, 32, second);
    gen_pool(g, 32, source);
    gen_line(g, "rem.u32 %s, %s, %u;", first, source, turns + 1);
    gen_line(g, "sub.u32 %s, %u, %s;", second, turns, first);
    /* Behind both, the last barrier's result is the same for all. */
    if (dice_chance(&g->dice, 50))
        gen_pool(g, 32, d);
    else
        snprintf(d, sizeof d, "%%u%u", dice_below(&g->dice, g->pools.u));
    gen_red_loop(g, &inside, id, first, d);
    gen_red_loop(g, &inside, id, second, d);
}
