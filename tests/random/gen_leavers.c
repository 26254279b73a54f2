/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that part and meet at barriers of the same numbers at different places of the text, and
 * of which some exit after fewer meetings than others. If an implementation forgets that they have
 * exited, they come back and change memory.
 */
#include <string.h>

#include "tests/random/gen.h"

#define MEETINGS_MAX 6

/* Shared by all arms of one statement. Threads may write their cells before an even meeting and
 * behind an odd one, and read each other's behind an even one. */
struct parting {
    bool is_by_warp;   /* all threads of a warp take the same arm */
    unsigned meetings; /* of those that stay: even */
    unsigned ids[MEETINGS_MAX];
    const char *reduction[2]; /* of even and odd meetings; NULL: bar.sync */
    unsigned at;              /* of the cell that others read */
    int counted; /* number of a barrier that some arrive at without waiting; -1: none */
    struct gen_scope inside;
};

static void draw_parting(struct gen *g, const struct gen_scope *scope, struct parting *parting)
{
    static const char *const reductions[] = {NULL, NULL, "popc.u32", "and.pred", "or.pred"};
    bool may_part_lanes = scope->is_top || !g->config->has_warp_ops;
    bool is_same_id = dice_chance(&g->dice, 60);
    unsigned id = dice_below(&g->dice, 16);
    bool is_first = scope->is_top && !g->has_left && g->threads % 32 == 0;
    parting->is_by_warp = !may_part_lanes || (g->threads > 32 && dice_chance(&g->dice, 70));
    parting->meetings = 2 * (1 + dice_below(&g->dice, g->config->arm_meetings / 2));
    for (unsigned n = 0; n < MEETINGS_MAX; n++)
        parting->ids[n] = is_same_id ? id : dice_below(&g->dice, 15);
    for (unsigned n = 0; n < 2; n++)
        parting->reduction[n] = reductions[dice_below(&g->dice, 5)];
    parting->at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    parting->counted = is_first && parting->is_by_warp && dice_chance(&g->dice, 25) ? 15 : -1;
    if (parting->counted >= 0 && is_same_id && id == 15)
        parting->counted = 14;
    parting->inside = *scope;
    if (!parting->is_by_warp)
        parting->inside = gen_scope_free(scope);
    parting->inside.level = parting->is_by_warp ? GEN_WARP : GEN_FREE;
    parting->inside.is_top = false;
    parting->inside.depth++;
    parting->inside.escape[0] = '\0'; /* all must come to their meetings */
}

static void gen_meet(struct gen *g, const struct parting *parting, unsigned meeting)
{
    const char *form = parting->is_by_warp && dice_chance(&g->dice, 50) ? "bar" : "barrier";
    const char *reduction = parting->reduction[meeting % 2];
    char d[NAME_BYTES];
    char p[NAME_BYTES];
    if (reduction == NULL) {
        gen_line(g, "%s.sync %u;", form, parting->ids[meeting]);
        return;
    }
    gen_pool(g, strcmp(reduction, "popc.u32") == 0 ? 32 : 1, d);
    gen_pool(g, 1, p);
    gen_line(g, "%s.red.%s %s, %u, %s;", form, reduction, d, parting->ids[meeting], p);
}

/* A thread's work behind a meeting. */
static void gen_behind(struct gen *g, const struct parting *parting, unsigned meeting)
{
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    if (meeting % 2 != 0) {
        gen_statements(g, &parting->inside, dice_below(&g->dice, g->config->is_spare ? 2 : 3));
        return;
    }
    gen_other_cell(g, other);
    gen_pool(g, 32, r);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", r, other, parting->at);
}

/* Meetings one after the other, `count` of them. */
static void gen_row(struct gen *g, const struct parting *parting, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        gen_meet(g, parting, n);
        gen_behind(g, parting, n);
    }
}

/* Two meetings in each turn of a loop; those that leave choose how often they go around. All
 * meetings have one number. */
static void gen_round(struct gen *g, const struct parting *parting, bool is_leaving)
{
    char count[NAME_BYTES];
    char source[NAME_BYTES];
    char is_over[NAME_BYTES];
    char head[NAME_BYTES];
    char done[NAME_BYTES];
    unsigned turns = parting->meetings / 2;
    gen_temp(g, 32, count);
    gen_temp(g, 1, is_over);
    gen_new_label(g, head);
    gen_new_label(g, done);
    gen_pool(g, 32, source);
    if (is_leaving)
        gen_line(g, "rem.u32 %s, %s, %u;", count, parting->is_by_warp ? "%warp" : source,
                 turns + 1);
    else
        gen_line(g, "mov.u32 %s, %u;", count, turns);
    gen_label(g, head);
    gen_line(g, "setp.eq.u32 %s, %s, 0;", is_over, count);
    gen_line(g, "@%s bra %s;", is_over, done);
    g->indent++;
    gen_row(g, parting, 2);
    g->indent--;
    gen_line(g, "sub.u32 %s, %s, 1;", count, count);
    gen_line(g, "bra %s;", head);
    gen_label(g, done);
}

static bool is_one_barrier(const struct parting *parting)
{
    for (unsigned n = 1; n < parting->meetings; n++)
        if (parting->ids[n] != parting->ids[0])
            return false;
    return true;
}

/* Before all others: everybody arrives, some go on at once. */
static void gen_counted(struct gen *g, const struct parting *parting, bool waits)
{
    if (parting->counted >= 0)
        gen_line(g, "bar.%s %d, %u;", waits ? "sync" : "arrive", parting->counted, g->threads);
}

static void gen_last_words(struct gen *g, const struct parting *parting)
{
    char r[NAME_BYTES];
    gen_pool(g, 32, r);
    if (dice_chance(&g->dice, 60))
        gen_line(g, "st.global.u32 [%%own+%u], %s;", parting->at, r);
    gen_line(g, "%s;", !g->in_function && dice_chance(&g->dice, 50) ? "ret" : "exit");
}

/* Arm 0 is for those that stay. Another goes on with them now and then, if it has met them as often
 * and nobody has counted on its end. */
static void gen_arm(struct gen *g, const struct parting *parting, unsigned arm, const char *join)
{
    unsigned count = arm == 0 ? parting->meetings : dice_below(&g->dice, parting->meetings + 1);
    bool is_loop = is_one_barrier(parting) && dice_chance(&g->dice, 35);
    bool goes_on = arm == 0 || (parting->is_by_warp && !is_loop && count == parting->meetings &&
                                dice_chance(&g->dice, 50));
    g->indent++;
    gen_statements(g, &parting->inside, dice_below(&g->dice, 2));
    gen_counted(g, parting, arm == 0 || dice_chance(&g->dice, 50));
    if (is_loop)
        gen_round(g, parting, arm != 0);
    else
        gen_row(g, parting, count);
    if (goes_on)
        gen_line(g, "bra %s;", join);
    else
        gen_last_words(g, parting);
    g->indent--;
}

/* The arm of the thread; the first of the block, and its warp, stay. */
static void gen_choice(struct gen *g, const struct gen_scope *scope, const struct parting *parting,
                       unsigned arms, char which[NAME_BYTES])
{
    char stays[NAME_BYTES];
    char source[NAME_BYTES];
    gen_temp(g, 32, which);
    gen_temp(g, 1, stays);
    gen_pool(g, 32, source);
    if (parting->is_by_warp)
        gen_line(g, "add.u32 %s, %%warp, %u;", which, dice_below(&g->dice, 4));
    else
        gen_line(g, "add.u32 %s, %s, %%lane;", which, source);
    gen_line(g, "rem.u32 %s, %s, %u;", which, which, arms);
    gen_line(g, "setp.eq.u32 %s, %s, 0;", stays, parting->is_by_warp ? "%warp" : "%thread");
    gen_line(g, "selp.b32 %s, 0, %s, %s;", which, which, stays);
    if (!parting->is_by_warp && g->config->has_warp_ops) {
        gen_line(g, "setp.eq.u32 %s, %s, 0;", stays, which);
        gen_line(g, "vote.sync.ballot.b32 %s, %s, %s;", scope->mask, stays, scope->mask);
    }
}

void gen_leavers(struct gen *g, const struct gen_scope *scope)
{
    struct parting parting = {0};
    unsigned arms = 2 + dice_below(&g->dice, g->config->arms - 1);
    char which[NAME_BYTES];
    char is_here[NAME_BYTES];
    char next[NAME_BYTES];
    char join[NAME_BYTES];
    draw_parting(g, scope, &parting);
    gen_line(g, "st.shared.u32 [%%self+%u], %%r%u;", parting.at, dice_below(&g->dice, g->pools.r));
    gen_choice(g, scope, &parting, arms, which);
    gen_new_label(g, join);
    for (unsigned n = 0; n < arms; n++) {
        unsigned arm = arms - 1 - n;
        gen_temp(g, 1, is_here);
        gen_new_label(g, next);
        if (arm != 0)
            gen_line(g, "setp.ne.u32 %s, %s, %u;", is_here, which, arm);
        if (arm != 0)
            gen_line(g, "@%s bra %s;", is_here, next);
        gen_arm(g, &parting, arm, join);
        gen_label(g, next);
    }
    gen_label(g, join);
    g->has_left = true;
}
