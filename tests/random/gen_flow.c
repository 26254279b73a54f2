/* SPDX-License-Identifier: Apache-2.0
 *
 * Control flow: ifs, loops, switches and graphs without structure, with the facts about the threads
 * inside.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

#define MAX_CASES 6

static enum gen_way choose_way(struct gen *g, const struct gen_scope *scope)
{
    uint32_t roll = dice_below(&g->dice, 100);
    if (scope->level == GEN_BLOCK && roll < 35)
        return WAY_UNIFORM;
    if (scope->level != GEN_FREE && g->config->has_warp_ops && roll < 70)
        return roll % 4 == 0 ? WAY_WARP : WAY_MASKED;
    return WAY_FREE;
}

static struct gen_scope inner(const struct gen_scope *scope, enum gen_way way, const char *mask)
{
    struct gen_scope inside = *scope;
    inside.is_top = false;
    inside.depth++;
    if (way == WAY_MASKED) {
        inside.level = GEN_WARP;
        inside.is_full = false;
        snprintf(inside.mask, sizeof inside.mask, "%s", mask);
    } else if (way == WAY_WARP) {
        inside.level = GEN_WARP;
    } else if (way == WAY_FREE) {
        inside.level = GEN_FREE;
    }
    return inside;
}

struct gen_scope gen_scope_free(const struct gen_scope *scope)
{
    return inner(scope, WAY_FREE, "");
}

static unsigned body_size(struct gen *g)
{
    return 1 + dice_below(&g->dice, 4);
}

static void gen_uniform_source(struct gen *g, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%%u%u", dice_below(&g->dice, g->pools.u));
}

void gen_condition(struct gen *g, enum gen_way way, char name[NAME_BYTES])
{
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const char *compare = compares[dice_below(&g->dice, 6)];
    char a[NAME_BYTES];
    char b[NAME_BYTES];
    gen_temp(g, 1, name);
    if (way == WAY_UNIFORM || way == WAY_WARP) {
        char bits[NAME_BYTES];
        gen_uniform_source(g, a);
        gen_temp(g, 32, bits);
        if (way == WAY_WARP) {
            gen_line(g, "add.u32 %s, %s, %%warp;", bits, a);
            snprintf(a, sizeof a, "%s", bits);
        }
        gen_line(g, "and.b32 %s, %s, %u;", bits, a, 1 + dice_below(&g->dice, 7));
        gen_line(g, "setp.%s.u32 %s, %s, %u;", compare, name, bits, dice_below(&g->dice, 4));
        return;
    }
    if (dice_chance(&g->dice, 40)) {
        gen_pool(g, 1, a);
        gen_line(g, "mov.pred %s, %s;", name, a);
    } else if (dice_chance(&g->dice, 50)) {
        char bits[NAME_BYTES];
        gen_temp(g, 32, bits);
        gen_line(g, "and.b32 %s, %%lane, %u;", bits, 1 + dice_below(&g->dice, 31));
        gen_line(g, "setp.%s.u32 %s, %s, %u;", compare, name, bits, dice_below(&g->dice, 20));
    } else {
        gen_pool(g, 32, a);
        gen_pool(g, 32, b);
        gen_line(g, "setp.%s.s32 %s, %s, %s;", compare, name, a, b);
    }
}

/* ---- if ---- */

static void gen_if(struct gen *g, const struct gen_scope *scope)
{
    enum gen_way way = choose_way(g, scope);
    bool has_else = dice_chance(&g->dice, 60);
    char condition[NAME_BYTES];
    char yes[NAME_BYTES] = "";
    char no[NAME_BYTES] = "";
    char other[NAME_BYTES];
    char join[NAME_BYTES];
    gen_condition(g, way, condition);
    gen_new_label(g, other);
    gen_new_label(g, join);
    if (way == WAY_MASKED) {
        gen_temp(g, 32, yes);
        gen_temp(g, 32, no);
        gen_line(g, "vote.sync.ballot.b32 %s, %s, %s;", yes, condition, scope->mask);
        gen_line(g, "xor.b32 %s, %s, %s;", no, scope->mask, yes);
    }
    gen_line(g, "@!%s bra%s %s;", condition, way == WAY_UNIFORM ? ".uni" : "",
             has_else ? other : join);
    struct gen_scope inside = inner(scope, way, yes);
    g->indent++;
    gen_statements(g, &inside, body_size(g));
    g->indent--;
    if (has_else) {
        gen_line(g, "bra %s;", join);
        gen_label(g, other);
        inside = inner(scope, way, no);
        g->indent++;
        gen_statements(g, &inside, body_size(g));
        g->indent--;
    }
    gen_label(g, join);
}

/* ---- loops ---- */

unsigned gen_turns_left(struct gen *g, const struct gen_scope *scope)
{
    unsigned limit = g->in_function ? 4 : g->config->max_turns;
    unsigned left = limit / (scope->turns ? scope->turns : 1);
    return left > 8 ? 8 : left ? left : 1;
}

/* The number of turns in a fresh register: 0 to limit, or 1 to limit. */
static void gen_turns(struct gen *g, enum gen_way way, unsigned limit, bool may_be_zero,
                      char name[NAME_BYTES])
{
    char source[NAME_BYTES];
    gen_temp(g, 32, name);
    if (way == WAY_UNIFORM || way == WAY_WARP)
        gen_uniform_source(g, source);
    else
        gen_pool(g, 32, source);
    if (way == WAY_WARP) {
        gen_line(g, "add.u32 %s, %s, %%warp;", name, source);
        snprintf(source, sizeof source, "%s", name);
    }
    if (way == WAY_UNIFORM && dice_chance(&g->dice, 50))
        gen_line(g, "mov.u32 %s, %u;", name, may_be_zero ? dice_below(&g->dice, limit + 1) : limit);
    else
        gen_line(g, "rem.u32 %s, %s, %u;", name, source, may_be_zero ? limit + 1 : limit);
    if (!may_be_zero)
        gen_line(g, "max.u32 %s, %s, 1;", name, name);
}

/* A way out of the loop, or to its next turn, for some. */
static void gen_jump(struct gen *g, enum gen_way way, const char *label)
{
    char condition[NAME_BYTES];
    gen_open(g);
    gen_condition(g, way, condition);
    gen_line(g, "@%s bra %s;", condition, label);
    gen_close(g);
}

/* Out of several loops and ifs at once. */
void gen_escape(struct gen *g, const struct gen_scope *scope)
{
    gen_jump(g, WAY_FREE, scope->escape);
}

/* while (count != 0) { body; next: count--; }  or  do { … } while (--count) */
static void gen_counted_loop(struct gen *g, const struct gen_scope *scope, enum gen_way way)
{
    bool is_do = dice_chance(&g->dice, 50);
    unsigned limit = gen_turns_left(g, scope);
    char count[NAME_BYTES];
    char goes_on[NAME_BYTES];
    char head[NAME_BYTES];
    char next[NAME_BYTES];
    char done[NAME_BYTES];
    gen_turns(g, way, limit, !is_do, count);
    gen_temp(g, 1, goes_on);
    gen_new_label(g, head);
    gen_new_label(g, next);
    gen_new_label(g, done);
    gen_label(g, head);
    if (!is_do) {
        gen_line(g, "setp.eq.u32 %s, %s, 0;", goes_on, count);
        gen_line(g, "@%s bra %s;", goes_on, done);
    }
    struct gen_scope inside = inner(scope, way, "");
    inside.turns = scope->turns * limit;
    if (way == WAY_FREE && !(inside.escape[0] && dice_chance(&g->dice, 50)))
        snprintf(inside.escape, sizeof inside.escape, "%s", done);
    g->indent++;
    gen_statements(g, &inside, body_size(g));
    if (dice_chance(&g->dice, 40))
        gen_jump(g, way, dice_chance(&g->dice, 50) ? next : done);
    gen_statements(g, &inside, dice_below(&g->dice, 3));
    g->indent--;
    gen_label(g, next);
    gen_line(g, "sub.u32 %s, %s, 1;", count, count);
    if (is_do) {
        gen_line(g, "setp.ne.u32 %s, %s, 0;", goes_on, count);
        gen_line(g, "@%s bra %s;", goes_on, head);
    } else {
        gen_line(g, "bra %s;", head);
    }
    gen_label(g, done);
}

/* Lanes leave one after the other; those that stay know who stays. */
static void gen_masked_loop(struct gen *g, const struct gen_scope *scope)
{
    unsigned limit = gen_turns_left(g, scope);
    char count[NAME_BYTES];
    char mask[NAME_BYTES];
    char staying[NAME_BYTES];
    char stays[NAME_BYTES];
    char head[NAME_BYTES];
    char done[NAME_BYTES];
    gen_turns(g, WAY_MASKED, limit, true, count);
    gen_temp(g, 32, mask);
    gen_temp(g, 32, staying);
    gen_temp(g, 1, stays);
    gen_new_label(g, head);
    gen_new_label(g, done);
    gen_line(g, "mov.b32 %s, %s;", mask, scope->mask);
    gen_label(g, head);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", stays, count);
    gen_line(g, "vote.sync.ballot.b32 %s, %s, %s;", staying, stays, mask);
    gen_line(g, "@!%s bra %s;", stays, done);
    gen_line(g, "mov.b32 %s, %s;", mask, staying);
    struct gen_scope inside = inner(scope, WAY_MASKED, mask);
    inside.turns = scope->turns * limit;
    g->indent++;
    gen_statements(g, &inside, body_size(g));
    g->indent--;
    gen_line(g, "sub.u32 %s, %s, 1;", count, count);
    gen_line(g, "bra %s;", head);
    gen_label(g, done);
}

/* Two entries. */
static void gen_irreducible(struct gen *g, const struct gen_scope *scope)
{
    unsigned limit = gen_turns_left(g, scope);
    struct gen_scope inside = inner(scope, WAY_FREE, "");
    char count[NAME_BYTES];
    char condition[NAME_BYTES];
    char goes_on[NAME_BYTES];
    char first[NAME_BYTES];
    char second[NAME_BYTES];
    gen_turns(g, WAY_FREE, limit, false, count);
    gen_condition(g, WAY_FREE, condition);
    gen_temp(g, 1, goes_on);
    gen_new_label(g, first);
    gen_new_label(g, second);
    inside.turns = scope->turns * limit;
    gen_line(g, "@%s bra %s;", condition, second);
    gen_label(g, first);
    gen_statements(g, &inside, body_size(g));
    gen_label(g, second);
    gen_statements(g, &inside, body_size(g));
    gen_line(g, "sub.u32 %s, %s, 1;", count, count);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", goes_on, count);
    gen_line(g, "@%s bra %s;", goes_on, first);
}

/* As nvcc unrolls a loop over a grid: the number of turns is a quotient of the thread's place, one
 * more before some place than behind it. A remainder of them comes first, then two at a time. */
static void gen_remainder_loop(struct gen *g, const struct gen_scope *scope)
{
    struct gen_scope inside = inner(scope, WAY_FREE, "");
    unsigned limit = gen_turns_left(g, scope);
    unsigned divisor = dice_chance(&g->dice, 50) ? 1024 : 1000;
    char threads[NAME_BYTES];
    char turns[NAME_BYTES];
    char few[NAME_BYTES];
    char goes_on[NAME_BYTES];
    char labels[3][NAME_BYTES];
    gen_temp(g, 32, threads);
    gen_temp(g, 32, turns);
    gen_temp(g, 32, few);
    gen_temp(g, 1, goes_on);
    for (int n = 0; n < 3; n++)
        gen_new_label(g, labels[n]);
    gen_line(g, "mov.u32 %s, %u;", threads, divisor);
    if (dice_chance(&g->dice, 50)) { /* nobody knows it */
        char source[NAME_BYTES];
        gen_uniform_source(g, source);
        gen_line(g, "bfi.b32 %s, %s, %s, 0, 4;", threads, source, threads);
    }
    gen_line(g, "mad.lo.u32 %s, %s, %u, %u;", turns, threads, dice_below(&g->dice, limit),
             dice_below(&g->dice, 64));
    gen_line(g, "add.u32 %s, %s, %s;", turns, turns, threads);
    gen_line(g, "sub.u32 %s, %s, %%thread;", turns, turns);
    gen_line(g, "div.u32 %s, %s, %s;", turns, turns, threads);
    gen_line(g, "min.u32 %s, %s, %u;", turns, turns, limit);
    gen_line(g, "and.b32 %s, %s, 1;", few, turns);
    gen_line(g, "setp.eq.u32 %s, %s, 0;", goes_on, few);
    gen_line(g, "@%s bra %s;", goes_on, labels[1]);
    inside.turns = scope->turns * limit;
    gen_label(g, labels[0]);
    gen_statements(g, &inside, body_size(g));
    gen_line(g, "sub.u32 %s, %s, 1;", few, few);
    gen_line(g, "setp.ne.u32 %s, %s, 0;", goes_on, few);
    gen_line(g, "@%s bra %s;", goes_on, labels[0]);
    gen_label(g, labels[1]);
    gen_line(g, "setp.lt.u32 %s, %s, 2;", goes_on, turns);
    gen_line(g, "@%s bra %s;", goes_on, labels[2]);
    gen_statements(g, &inside, body_size(g));
    gen_line(g, "sub.u32 %s, %s, 2;", turns, turns);
    gen_line(g, "bra %s;", labels[1]);
    gen_label(g, labels[2]);
}

/* As blocks load their tiles: each thread counts from its own number, in steps of about as many as
 * there are threads. WAY_UNIFORM: all of them equally often. */
static void gen_strided_loop(struct gen *g, const struct gen_scope *scope, enum gen_way way)
{
    struct gen_scope inside = inner(scope, way, "");
    unsigned limit = gen_turns_left(g, scope);
    unsigned turns = 1 + dice_below(&g->dice, limit);
    unsigned step = way == WAY_UNIFORM ? g->threads : 1 + dice_below(&g->dice, 2 * g->threads);
    unsigned end = step * turns - (way == WAY_UNIFORM ? 0 : dice_below(&g->dice, step));
    unsigned before = dice_chance(&g->dice, 50) ? step : dice_below(&g->dice, 8);
    const char *type = dice_chance(&g->dice, 50) ? "s32" : before == 0 ? "u32" : "s32";
    char counter[NAME_BYTES];
    char goes_on[NAME_BYTES];
    char head[NAME_BYTES];
    char done[NAME_BYTES];
    gen_temp(g, 32, counter);
    gen_temp(g, 1, goes_on);
    gen_new_label(g, head);
    gen_new_label(g, done);
    gen_line(g, "setp.ge.u32 %s, %%thread, %u;", goes_on, end);
    if (way != WAY_UNIFORM)
        gen_line(g, "@%s bra %s;", goes_on, done);
    gen_line(g, "sub.u32 %s, %%thread, %u;", counter, before);
    inside.turns = scope->turns * limit;
    gen_label(g, head);
    gen_statements(g, &inside, body_size(g));
    gen_line(g, "add.u32 %s, %s, %u;", counter, counter, step);
    gen_line(g, "setp.lt.%s %s, %s, %d;", type, goes_on, counter, (int)end - (int)before);
    gen_line(g, "@%s bra %s;", goes_on, head);
    gen_label(g, done);
}

static void gen_loop(struct gen *g, const struct gen_scope *scope)
{
    enum gen_way way = choose_way(g, scope);
    bool may_stride = way == WAY_FREE || way == WAY_UNIFORM;
    if (may_stride && !g->in_function && dice_chance(&g->dice, 15))
        gen_strided_loop(g, scope, way);
    else if (way == WAY_MASKED)
        gen_masked_loop(g, scope);
    else if (way == WAY_FREE && g->config->has_chains && dice_chance(&g->dice, 15))
        gen_remainder_loop(g, scope);
    else if (way == WAY_FREE && dice_chance(&g->dice, 25))
        gen_irreducible(g, scope);
    else
        gen_counted_loop(g, scope, way);
}

/* ---- branches to one of several ---- */

/* The targets are cases in any order, some of them several times, and the place behind them. */
static void gen_switch(struct gen *g, const struct gen_scope *scope)
{
    enum gen_way way =
        scope->level == GEN_BLOCK && dice_chance(&g->dice, 30) ? WAY_UNIFORM : WAY_FREE;
    struct gen_scope inside = inner(scope, way, "");
    unsigned cases = 1 + dice_below(&g->dice, MAX_CASES);
    unsigned targets = cases + dice_below(&g->dice, 3);
    char labels[MAX_CASES + 1][NAME_BYTES];
    char index[NAME_BYTES];
    char source[NAME_BYTES];
    char list[NAME_BYTES];
    struct text names = {0};
    for (unsigned n = 0; n <= cases; n++)
        gen_new_label(g, labels[n]);
    gen_new_label(g, list);
    for (unsigned n = 0; n < targets; n++)
        text_add(&names, "%s%s", n ? ", " : "",
                 labels[n < cases ? n : dice_below(&g->dice, cases + 1)]);
    gen_temp(g, 32, index);
    if (way == WAY_UNIFORM)
        gen_uniform_source(g, source);
    else
        gen_pool(g, 32, source);
    gen_line(g, "rem.u32 %s, %s, %u;", index, source, targets);
    gen_line(g, "%s: .branchtargets %s;", list, names.bytes);
    gen_line(g, "brx.idx %s, %s;", index, list);
    for (unsigned n = 0; n < cases; n++) {
        gen_label(g, labels[n]);
        g->indent++;
        gen_statements(g, &inside, 1 + dice_below(&g->dice, 2));
        g->indent--;
        if (n + 1 < cases && dice_chance(&g->dice, 70))
            gen_line(g, "bra %s;", labels[cases]);
    }
    gen_label(g, labels[cases]);
    text_fini(&names);
}

/* Two arms; some go from the beginning of one into the other. */
static void gen_crossing(struct gen *g, const struct gen_scope *scope)
{
    struct gen_scope inside = inner(scope, WAY_FREE, "");
    char condition[NAME_BYTES];
    char right[NAME_BYTES];
    char in_left[NAME_BYTES];
    char in_right[NAME_BYTES];
    char join[NAME_BYTES];
    gen_condition(g, WAY_FREE, condition);
    gen_new_label(g, right);
    gen_new_label(g, in_left);
    gen_new_label(g, in_right);
    gen_new_label(g, join);
    gen_line(g, "@%s bra %s;", condition, right);
    gen_statements(g, &inside, 1);
    gen_jump(g, WAY_FREE, in_right);
    gen_label(g, in_left);
    gen_statements(g, &inside, 1);
    gen_line(g, "bra %s;", join);
    gen_label(g, right);
    gen_statements(g, &inside, 1);
    gen_condition(g, WAY_FREE, condition);
    gen_line(g, "@!%s bra %s;", condition, in_right);
    gen_statements(g, &inside, 1);
    gen_line(g, "bra %s;", in_left);
    gen_label(g, in_right);
    gen_statements(g, &inside, 1);
    gen_label(g, join);
}

/* A state machine: every turn a switch says where to go on, until the turns are used up. */
static void gen_machine(struct gen *g, const struct gen_scope *scope)
{
    unsigned limit = gen_turns_left(g, scope);
    struct gen_scope inside = inner(scope, WAY_FREE, "");
    char state[NAME_BYTES];
    char turns[NAME_BYTES];
    char is_over[NAME_BYTES];
    char source[NAME_BYTES];
    char labels[5][NAME_BYTES];
    inside.turns = scope->turns * limit;
    gen_temp(g, 32, state);
    gen_temp(g, 1, is_over);
    gen_turns(g, WAY_FREE, limit, true, turns);
    for (int n = 0; n < 5; n++)
        gen_new_label(g, labels[n]);
    gen_line(g, "bra %s;", labels[0]);
    for (int n = 1; n < 3; n++) {
        gen_label(g, labels[n]);
        gen_statements(g, &inside, 1);
        gen_line(g, "sub.u32 %s, %s, 1;", turns, turns);
        if (n == 1 && dice_chance(&g->dice, 50))
            gen_line(g, "bra %s;", labels[0]);
    }
    gen_label(g, labels[0]);
    gen_pool(g, 32, source);
    gen_line(g, "and.b32 %s, %s, 1;", state, source);
    gen_line(g, "setp.lt.s32 %s, %s, 2;", is_over, turns);
    gen_line(g, "selp.b32 %s, 2, %s, %s;", state, state, is_over);
    gen_line(g, "%s: .branchtargets %s, %s, %s;", labels[4], labels[1], labels[2], labels[3]);
    gen_line(g, "brx.idx %s, %s;", state, labels[4]);
    gen_label(g, labels[3]);
}

void gen_flow(struct gen *g, const struct gen_scope *scope)
{
    uint32_t roll = dice_below(&g->dice, 100);
    if (roll < 40)
        gen_if(g, scope);
    else if (roll < 75)
        gen_loop(g, scope);
    else if (roll < 87)
        gen_switch(g, scope);
    else if (roll < 94)
        gen_crossing(g, scope);
    else
        gen_machine(g, scope);
}
