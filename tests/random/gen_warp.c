/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements of the lanes of a warp together: warp operations, exchanges through shared memory; and
 * exits.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

/* A predicate for a lane's number: is it in the mask? */
static void gen_in_mask(struct gen *g, const struct gen_scope *scope, const char *lane,
                        char name[NAME_BYTES])
{
    char bit[NAME_BYTES];
    gen_temp(g, 32, bit);
    gen_temp(g, 1, name);
    gen_line(g, "shr.u32 %s, %s, %s;", bit, scope->mask, lane);
    gen_line(g, "and.b32 %s, %s, 1;", bit, bit);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", name, bit);
}

/* A lane of the mask that depends on data; the lane itself where that is none of the mask. */
static void gen_partner(struct gen *g, const struct gen_scope *scope, char name[NAME_BYTES])
{
    char source[NAME_BYTES];
    char is_there[NAME_BYTES];
    gen_pool(g, 32, source);
    gen_temp(g, 32, name);
    switch (dice_below(&g->dice, 3)) {
    case 0:
        gen_line(g, "xor.b32 %s, %%lane, %u;", name, 1 + dice_below(&g->dice, 31));
        break;
    case 1:
        gen_line(g, "add.u32 %s, %%lane, %u;", name, 1 + dice_below(&g->dice, 31));
        break;
    default:
        gen_line(g, "mov.b32 %s, %s;", name, source);
        break;
    }
    gen_line(g, "and.b32 %s, %s, 31;", name, name);
    gen_in_mask(g, scope, name, is_there);
    gen_line(g, "selp.b32 %s, %s, %%lane, %s;", name, name, is_there);
}

/* ---- shuffles ---- */

/* The mask is full: every source lane takes part, so any distance and any segment will do. */
static void gen_shuffle_full(struct gen *g)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const unsigned segments[] = {0, 0x1800, 0x1c00, 0x1e00, 0x1000, 0x0300, 0x1f00, 0x0807};
    unsigned mode = dice_below(&g->dice, 4);
    unsigned segment = segments[dice_below(&g->dice, 8)];
    char d[NAME_BYTES];
    char p[NAME_BYTES];
    char a[NAME_BYTES];
    char b[NAME_BYTES];
    gen_pool(g, 32, d);
    gen_pool(g, 1, p);
    gen_source(g, PTX_TYPE_B32, a);
    gen_source(g, PTX_TYPE_U32, b);
    if (mode != 0 && dice_chance(&g->dice, 80))
        segment |= 0x1f;
    gen_line(g, "shfl.sync.%s.b32 %s|%s, %s, %s, %u, 0xffffffff;", modes[mode], d, p, a, b,
             segment);
}

static void gen_shuffle(struct gen *g, const struct gen_scope *scope)
{
    if (scope->is_full && dice_chance(&g->dice, 60)) {
        gen_shuffle_full(g);
        return;
    }
    char partner[NAME_BYTES];
    char d[NAME_BYTES];
    char p[NAME_BYTES];
    char a[NAME_BYTES];
    gen_partner(g, scope, partner);
    gen_pool(g, 32, d);
    gen_pool(g, 1, p);
    gen_source(g, PTX_TYPE_B32, a);
    gen_line(g, "shfl.sync.idx.b32 %s|%s, %s, %s, 31, %s;", d, p, a, partner, scope->mask);
}

/* Distances up and down, with the lanes whose source does not take part corrected. */
static void gen_shuffle_distance(struct gen *g, const struct gen_scope *scope)
{
    static const char *const modes[] = {"up", "down", "bfly"};
    static const char *const sums[] = {"sub.u32", "add.u32", "xor.b32"};
    unsigned mode = dice_below(&g->dice, 3);
    unsigned distance = dice_below(&g->dice, 32);
    char d[NAME_BYTES];
    char in_range[NAME_BYTES];
    char a[NAME_BYTES];
    char from[NAME_BYTES];
    char is_there[NAME_BYTES];
    gen_pool(g, 32, d);
    gen_pool(g, 32, a);
    gen_temp(g, 32, from);
    gen_temp(g, 1, in_range);
    gen_line(g, "%s %s, %%lane, %u;", sums[mode], from, distance);
    gen_line(g, "setp.lt.u32 %s, %s, 32;", in_range, from);
    gen_line(g, "selp.b32 %s, %s, %%lane, %s;", from, from, in_range);
    gen_in_mask(g, scope, from, is_there);
    gen_line(g, "shfl.sync.%s.b32 %s|%s, %s, %u, %u, %s;", modes[mode], d, in_range, a, distance,
             mode ? 31 : 0, scope->mask);
    gen_line(g, "selp.b32 %s, %s, %u, %s;", d, d, dice_below(&g->dice, 1000), is_there);
    gen_line(g, "@%s add.u32 %s, %s, 1;", in_range, d, d);
}

/* ---- the other operations ---- */

static void gen_vote(struct gen *g, const struct gen_scope *scope)
{
    static const char *const modes[] = {"all", "any", "uni"};
    char d[NAME_BYTES];
    char p[NAME_BYTES];
    uint32_t mode = dice_below(&g->dice, 5);
    const char *sign = dice_chance(&g->dice, 30) ? "!" : "";
    gen_pool(g, 1, p);
    gen_pool(g, mode < 3 ? 1 : 32, d);
    if (mode < 3)
        gen_line(g, "vote.sync.%s.pred %s, %s%s, %s;", modes[mode], d, sign, p, scope->mask);
    else
        gen_line(g, "vote.sync.ballot.b32 %s, %s%s, %s;", d, sign, p, scope->mask);
}

static void gen_match(struct gen *g, const struct gen_scope *scope)
{
    unsigned bits = dice_chance(&g->dice, 50) ? 32 : 64;
    char d[NAME_BYTES];
    char p[NAME_BYTES];
    char a[NAME_BYTES];
    char key[NAME_BYTES];
    gen_pool(g, 32, d);
    gen_pool(g, 1, p);
    gen_pool(g, bits, a);
    gen_temp(g, bits, key);
    gen_line(g, "and.b%u %s, %s, %u;", bits, key, a, dice_below(&g->dice, 8));
    if (dice_chance(&g->dice, 50))
        gen_line(g, "match.any.sync.b%u %s, %s, %s;", bits, d, key, scope->mask);
    else
        gen_line(g, "match.all.sync.b%u %s|%s, %s, %s;", bits, d, p, key, scope->mask);
}

static void gen_redux(struct gen *g, const struct gen_scope *scope)
{
    static const char *const forms[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                        "max.s32", "and.b32", "or.b32",  "xor.b32"};
    char d[NAME_BYTES];
    char a[NAME_BYTES];
    gen_pool(g, 32, d);
    gen_pool(g, 32, a);
    gen_line(g, "redux.sync.%s %s, %s, %s;", forms[dice_below(&g->dice, 9)], d, a, scope->mask);
}

void gen_warp_op(struct gen *g, const struct gen_scope *scope)
{
    if (g->config->has_matrices && scope->is_full && dice_chance(&g->dice, 50)) {
        gen_matrix(g);
        return;
    }
    switch (dice_below(&g->dice, 7)) {
    case 0:
    case 1:
        gen_shuffle(g, scope);
        break;
    case 2:
        gen_shuffle_distance(g, scope);
        break;
    case 3:
        gen_vote(g, scope);
        break;
    case 4:
        gen_match(g, scope);
        break;
    case 5:
        gen_redux(g, scope);
        break;
    default:
        gen_line(g, "bar.warp.sync %s;", scope->mask);
        break;
    }
}

/* ---- exchanges ---- */

/* Own cell, meet, read the cell of a lane that takes part, meet. */
void gen_warp_exchange(struct gen *g, const struct gen_scope *scope)
{
    unsigned at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    char r[NAME_BYTES];
    char partner[NAME_BYTES];
    gen_partner(g, scope, partner);
    gen_line(g, "sub.u32 %s, %s, %%lane;", partner, partner);
    gen_line(g, "mad.lo.u32 %s, %s, %u, %%self;", partner, partner, g->own_bytes);
    gen_pool(g, 32, r);
    gen_line(g, "st.shared.u32 [%%self+%u], %s;", at, r);
    gen_line(g, "bar.warp.sync %s;", scope->mask);
    gen_pool(g, 32, r);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", r, partner, at);
    gen_line(g, "bar.warp.sync %s;", scope->mask);
}

/* ---- exits ---- */

/* Some threads end here, never the first of the block; the others know which are left. */
void gen_exit(struct gen *g, const struct gen_scope *scope)
{
    char p[NAME_BYTES];
    char leaves[NAME_BYTES];
    g->has_left = true;
    gen_pool(g, 1, p);
    gen_temp(g, 1, leaves);
    gen_line(g, "setp.ne.and.u32 %s, %%thread, 0, %s;", leaves, p);
    if (g->config->has_warp_ops)
        gen_line(g, "vote.sync.ballot.b32 %s, !%s, %s;", scope->mask, leaves, scope->mask);
    gen_line(g, "@%s %s;", leaves, !g->in_function && dice_chance(&g->dice, 50) ? "ret" : "exit");
}
